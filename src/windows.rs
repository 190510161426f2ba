//! Windows after a compaction: `8ev` (events), `3att` (attempts), `60s` (seconds).

use std::fmt;
use std::str::FromStr;

use crate::message;
use crate::report::lang::Said;
use crate::session::SinceCompaction;

/// The clock of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Logged events; comparable within one log format only.
    Events,
    /// Attempts of the agent loop.
    Attempts,
    /// Seconds.
    Seconds,
}

/// A window after the end of a compaction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Its clock.
    pub clock: Clock,
    /// Its length on that clock.
    pub length: f64,
}

impl Window {
    /// Whether an attempt at this distance lies inside.
    pub fn contains(&self, since: &SinceCompaction) -> bool {
        match self.clock {
            Clock::Events => since.events as f64 <= self.length,
            Clock::Attempts => since.attempts as f64 <= self.length,
            Clock::Seconds => since.ms.is_some_and(|ms| (0.0..=self.length * 1000.0).contains(&(ms as f64))),
        }
    }
}

impl FromStr for Window {
    type Err = Said;

    fn from_str(text: &str) -> Result<Self, Said> {
        let shown = format!("{text:?}");
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let clock = match &text[digits.len()..] {
            "ev" => Clock::Events,
            "att" => Clock::Attempts,
            "s" => Clock::Seconds,
            _ => return Err(Said(message!("usage.no-window", text = shown))),
        };
        let no_number = |_| Said(message!("usage.no-number", text = &shown, digits = format!("{digits:?}")));
        let length: f64 = digits.parse().map_err(no_number)?;
        if !length.is_finite() || length <= 0.0 {
            return Err(Said(message!("usage.empty-window", text = shown)));
        }
        Ok(Self { clock, length })
    }
}

impl fmt::Display for Window {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.clock {
            Clock::Events => "ev",
            Clock::Attempts => "att",
            Clock::Seconds => "s",
        };
        write!(formatter, "{}{unit}", self.length)
    }
}
