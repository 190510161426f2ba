//! Puts the code of every failed attempt on trial with the evidence of the whole archive.
//!
//! In: the rows of all sessions. Out: a [`Judgement`] per failed attempt. [`Comparisons`] sorts what each route saw once;
//! each failure then costs a few binary searches, so the whole is near-linear in the attempts.

use std::collections::HashMap;

use super::codes::{FixableBy, Route, SupportedCode};
use super::supports::{Supported, supports};
use crate::event::Failure;
use crate::session::{AttemptRow, OVERFLOW, Outcome, SessionRows};

pub mod comparisons;
pub mod facts;
pub mod layers;
mod rules;
#[cfg(test)]
mod tests;

use comparisons::{Comparisons, Identical};
pub use facts::Fact;
use rules::Trial;

/// Below this fill, output included, an overflow cannot be (the upper end of the interval counts).
pub const FAR_BELOW: f64 = 0.5;
/// Above this fill an overflow wording needs no further witness (the lower end counts).
pub const AT_WINDOW: f64 = 0.97;

/// Does the code agree with the evidence?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The evidence agrees with the code.
    Supported,
    /// The evidence speaks against the code.
    Contradicted,
    /// The evidence does not decide.
    Undetermined,
    /// The code is a fallback and claims nothing.
    Uninformative,
}

impl Verdict {
    /// The name used in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Contradicted => "contradicted",
            Self::Undetermined => "undetermined",
            Self::Uninformative => "uninformative",
        }
    }
}

/// The outcome of the trial of one failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Does the code agree with the evidence?
    pub verdict: Verdict,
    /// The code that the evidence supports.
    pub supported_code: SupportedCode,
    /// 0 to 1: how far the evidence decides. Not a probability; 0.95 direct, 0.8 by comparison, 0.6 by wording alone.
    pub confidence: f64,
    /// Who can fix it.
    pub fixable_by: FixableBy,
    /// The facts.
    pub facts: Vec<Fact>,
    /// Layers that kept the failure from recovering (`docs/methods.md`).
    pub layers: Vec<&'static str>,
}

/// Judgements by session and attempt index.
#[derive(Debug, Default)]
pub struct Verdicts {
    judgements: HashMap<(usize, usize), Judgement>,
}

impl Verdicts {
    /// Judges every failed attempt.
    pub fn of(sessions: &[SessionRows]) -> Self {
        Self::of_codes(sessions, |_, _| None)
    }

    /// Judges every failed attempt as if it had been given another code (the one of another release, say); `None`: the
    /// recorded one.
    pub fn of_codes(sessions: &[SessionRows], code: impl Fn(&AttemptRow, &Failure) -> Option<String>) -> Self {
        let comparisons = Comparisons::of(sessions);
        let mut texts: HashMap<(&str, Option<u16>, Route), Supported> = HashMap::new();
        let mut judgements = HashMap::new();
        for (session_index, session) in sessions.iter().enumerate() {
            let identical = Identical::of(session);
            for (index, attempt) in session.attempts.iter().enumerate() {
                let Some(failure) = failure_of(attempt) else { continue };
                let route = adapter(&attempt.route.provider);
                let text = texts
                    .entry((&failure.message, failure.status, route))
                    .or_insert_with(|| supports(&failure.message, failure.status, route));
                let recoded = code(attempt, failure).map(|code| Failure { code, ..failure.clone() });
                let trial = Trial {
                    session,
                    session_index,
                    index,
                    attempt,
                    failure: recoded.as_ref().unwrap_or(failure),
                    text,
                    comparisons: &comparisons,
                    identical: &identical,
                };
                judgements.insert((session_index, index), trial.judge());
            }
        }
        Self { judgements }
    }

    /// The judgements of one session, as if it were the only one.
    pub fn of_one(&self, session: usize) -> Self {
        let own = self.judgements.iter().filter(|((index, _), _)| *index == session);
        Self { judgements: own.map(|((_, attempt), judged)| ((0, *attempt), judged.clone())).collect() }
    }

    /// The judgement of one attempt.
    pub fn get(&self, session: usize, attempt: usize) -> Option<&Judgement> {
        self.judgements.get(&(session, attempt))
    }
}

/// The failure of a failed attempt.
pub fn failure_of(attempt: &AttemptRow) -> Option<&crate::event::Failure> {
    attempt.failure.as_ref().filter(|_| attempt.outcome == Outcome::Failed)
}

/// The adapter behind a provider: `deepseek-official` has its own, everything else goes through pi-ai.
pub fn adapter(provider: &str) -> Route {
    if provider == "deepseek-official" { Route::DeepSeek } else { Route::PiAi }
}

/// Codes that a classifier gives when nothing else fits.
pub fn is_fallback(code: &str) -> bool {
    matches!(code, "PI_AI_ERROR" | "UNKNOWN" | "STREAM_CLOSED" | "MALFORMED_RESPONSE") || code.starts_with("HTTP_")
}

/// Whether the code says that the request did not fit the window.
pub fn is_overflow(code: &str) -> bool {
    code == OVERFLOW
}
