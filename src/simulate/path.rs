//! The states of a route over time: up or down, as a list of moments at which it changes.

/// One course of a route. Times are milliseconds on the clock of the evidence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Path {
    /// Whether the route is down before the first switch.
    pub starts_down: bool,
    /// Moments at which the state changes, ascending.
    pub switches: Vec<f64>,
}

impl Path {
    /// Switches at or before the time: the place of a [`Cursor`].
    #[must_use]
    pub fn place(&self, time_ms: f64) -> usize {
        self.switches.partition_point(|switch| *switch <= time_ms)
    }

    /// Whether the route is down with so many switches behind it.
    #[must_use]
    pub fn is_down_at_place(&self, place: usize) -> bool {
        self.starts_down ^ (place % 2 == 1)
    }

    /// Whether the route is down at the time.
    #[must_use]
    pub fn is_down(&self, time_ms: f64) -> bool {
        self.is_down_at_place(self.place(time_ms))
    }

    /// The place for each of many ascending times, in one pass.
    #[must_use]
    pub fn places(&self, times_ms: impl Iterator<Item = f64>) -> Vec<u32> {
        let mut cursor = Cursor { place: 0 };
        times_ms
            .map(|time| {
                cursor.advance(self, time);
                u32::try_from(cursor.place).unwrap_or(u32::MAX)
            })
            .collect()
    }
}

/// A place on a path that only moves forward, as the attempts of a chain do.
#[derive(Debug, Clone, Copy)]
pub struct Cursor {
    /// Switches behind it.
    pub place: usize,
}

impl Cursor {
    /// Moves to the time. Short moves step, long ones search.
    pub fn advance(&mut self, path: &Path, time_ms: f64) {
        const STEPS: usize = 8;
        let rest = path.switches.get(self.place..).unwrap_or_default();
        for (step, switch) in rest.iter().take(STEPS).enumerate() {
            if *switch > time_ms {
                self.place += step;
                return;
            }
        }
        self.place += rest.partition_point(|switch| *switch <= time_ms);
    }

    /// The next change of state, if any.
    #[must_use]
    pub fn next_switch(self, path: &Path) -> Option<f64> {
        path.switches.get(self.place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_sees_what_a_search_sees() {
        let path = Path { starts_down: false, switches: (1..50).map(|k| f64::from(k) * 10.0).collect() };
        let mut cursor = Cursor { place: 0 };
        for time in [0.0, 9.9, 10.0, 10.1, 35.0, 480.0, 1000.0] {
            cursor.advance(&path, time);
            assert_eq!(cursor.place, path.place(time), "{time}");
            assert_eq!(path.is_down_at_place(cursor.place), path.is_down(time));
        }
        assert!(path.is_down(10.0) && !path.is_down(9.9) && !path.is_down(20.0));
    }
}
