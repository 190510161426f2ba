//! The surface: the ordered list of nodes that the harness sends to the model.

/// An ordered list of nodes, each named by the seq of the event that put it there.
#[derive(Debug)]
pub struct Surface<N> {
    nodes: Vec<(u64, N)>,
}

impl<N> Default for Surface<N> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

impl<N> Surface<N> {
    /// Adds a node at the tail.
    pub fn append(&mut self, seq: u64, node: N) {
        self.nodes.push((seq, node));
    }

    /// Puts `node` in place of the span between two nodes **by position** (`start` may be numerically greater than
    /// `end`) and returns what it took away. A span whose ends are both unknown (a log that begins late) takes nothing
    /// away: the node goes to the tail.
    pub fn replace(&mut self, start: u64, end: u64, seq: u64, node: N) -> Vec<N> {
        // From the tail: after a fork of the log two nodes can bear one seq, and the later one is on the surface.
        let place = |wanted: u64| self.nodes.iter().rposition(|(seq, _)| *seq == wanted);
        let (first, last) = match (place(start), place(end)) {
            (Some(a), Some(b)) => (a.min(b), a.max(b)),
            (Some(a), None) | (None, Some(a)) => (a, a),
            (None, None) => {
                self.append(seq, node);
                return Vec::new();
            }
        };
        self.nodes.splice(first..=last, [(seq, node)]).map(|(_, node)| node).collect()
    }

    /// Takes away the nodes of events from `seq` on: another writer continued the log from there.
    pub fn rewind(&mut self, seq: u64) -> Vec<N> {
        let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.nodes).into_iter().partition(|(s, _)| *s < seq);
        self.nodes = kept;
        gone.into_iter().map(|(_, node)| node).collect()
    }

    /// The nodes in order.
    pub fn nodes(&self) -> impl Iterator<Item = &N> {
        self.nodes.iter().map(|(_, node)| node)
    }
}

#[cfg(test)]
mod tests {
    use super::Surface;

    #[test]
    fn a_span_is_replaced_by_position_not_by_number() {
        let mut surface = Surface::default();
        for (seq, node) in [(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')] {
            surface.append(seq, node);
        }
        assert_eq!(surface.replace(2, 2, 9, 'B'), ['b']);
        // Node 9 stands before node 3: the span from 9 to 3 is two nodes.
        assert_eq!(surface.replace(9, 3, 10, 'S'), ['B', 'c']);
        assert_eq!(surface.nodes().collect::<String>(), "aSd");
        assert!(surface.replace(77, 78, 11, 'x').is_empty());
        assert_eq!(surface.rewind(10), ['S', 'x']);
        assert_eq!(surface.nodes().collect::<String>(), "ad");
    }
}
