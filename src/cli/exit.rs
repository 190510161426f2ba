//! Exit statuses, in one place. `docs/exit-status.md` says the same for users.

use std::process::ExitCode;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to report: no finding at or above the gate, all input read.
    Clean = 0,
    /// Findings at or above the gate.
    Findings = 1,
    /// The command line is wrong, or the tool itself failed.
    Usage = 2,
    /// There was nothing to read.
    NoInput = 3,
    /// Some input could not be read; the numbers leave it out.
    Partial = 4,
    /// `check --bisect`: too little evidence to say whether it is good or bad (what `git bisect run` skips).
    Inconclusive = 125,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
