//! Finds which of a few hundred short substrings occur in a text, in one pass.

/// Substrings with the rows of the catalogue they belong to, by their first two bytes.
///
/// A set of regular expressions does the same, but more slowly by far: it has to follow all needles at once,
/// while most pairs of bytes begin none.
#[derive(Debug)]
pub(crate) struct Needles {
    /// For each pair of bytes: one more than the number of its bucket, or 0.
    table: Vec<u16>,
    buckets: Vec<Vec<(&'static [u8], usize)>>,
    rows: usize,
}

impl Needles {
    /// Takes needles of two bytes or more (shorter ones are left out, which a test excludes) with their rows.
    pub(crate) fn new(needles: impl Iterator<Item = (&'static str, usize)>) -> Self {
        let mut table = vec![0_u16; 1 << 16];
        let mut buckets: Vec<Vec<(&'static [u8], usize)>> = Vec::new();
        let mut rows = 0;
        for (needle, row) in needles {
            let needle = needle.as_bytes();
            let &[first, second, ..] = needle else {
                continue;
            };
            let slot = &mut table[pair(first, second)];
            if *slot == 0 {
                buckets.push(Vec::new());
                *slot = u16::try_from(buckets.len()).unwrap_or(u16::MAX);
            }
            buckets[usize::from(*slot) - 1].push((needle, row));
            rows = rows.max(row + 1);
        }
        Self { table, buckets, rows }
    }

    /// The rows of which a needle occurs, rising.
    pub(crate) fn rows_in(&self, text: &str) -> Vec<usize> {
        let text = text.as_bytes();
        let mut seen = vec![false; self.rows];
        for (at, bytes) in text.windows(2).enumerate() {
            let slot = self.table[pair(bytes[0], bytes[1])];
            if slot == 0 {
                continue;
            }
            for (needle, row) in &self.buckets[usize::from(slot) - 1] {
                if !seen[*row] && text[at..].starts_with(needle) {
                    seen[*row] = true;
                }
            }
        }
        (0..self.rows).filter(|row| seen[*row]).collect()
    }
}

fn pair(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_needle_is_found_wherever_it_stands() {
        let needles = Needles::new([("ab", 2), ("abc", 0), ("余额", 1), ("余", 3)].into_iter());
        for (text, rows) in [
            ("", vec![]),
            ("a", vec![]),
            ("xxab", vec![2]),
            ("abc", vec![0, 2]),
            ("xab余额", vec![1, 2, 3]),
            ("余", vec![3]),
        ] {
            assert_eq!(needles.rows_in(text), rows, "{text}");
        }
    }
}
