//! What else happened on the route: other sessions at the same time, and the next answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::verdict::comparisons::NEIGHBOUR_MS;
use crate::evidence::verdict::failure_of;
use crate::session::{AttemptRow, Outcome, SessionRows};

/// The first success that followed on the route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Milliseconds after the failure.
    pub after_ms: i64,
    /// Whether it was the same session.
    pub same_session: bool,
    /// Its prompt, tokens, as reported.
    pub tokens: Option<u64>,
    /// Whether the identical request was answered: the same session, surface and header.
    pub identical: bool,
}

/// The route around the failure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vicinity {
    /// Other sessions with an attempt within a minute.
    pub sessions: usize,
    /// Of those, sessions with a failure.
    pub failing_sessions: usize,
    /// Their attempts.
    pub attempts: usize,
    /// Of those, failed ones.
    pub failures: usize,
    /// Codes of the failures, most frequent first.
    pub codes: Vec<(String, usize)>,
    /// The next success on the route in any session; the identical request before others.
    pub answer: Option<Answer>,
}

pub(super) fn of(sessions: &[SessionRows], session_index: usize, index: usize) -> Vicinity {
    let attempt = &sessions[session_index].attempts[index];
    let mut found = Vicinity::default();
    let Some(time) = attempt.time else { return found };
    let (mut near, mut failing, mut codes) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::<&str, usize>::new());
    for (other_index, session) in sessions.iter().enumerate() {
        for other in session.attempts.iter().filter(|a| a.route == attempt.route) {
            let Some(at) = other.time else { continue };
            if other_index != session_index && (at - time).abs() <= NEIGHBOUR_MS {
                near.insert(other_index);
                found.attempts += 1;
                if let Some(failure) = failure_of(other) {
                    failing.insert(other_index);
                    found.failures += 1;
                    *codes.entry(&failure.code).or_default() += 1;
                }
            }
            let later = other.outcome == Outcome::Succeeded && at > time;
            if later {
                found.answer =
                    Some(better(found.answer, answer(attempt, other, other_index == session_index, at - time)));
            }
        }
    }
    found.sessions = near.len();
    found.failing_sessions = failing.len();
    found.codes = codes.into_iter().map(|(code, count)| (code.to_owned(), count)).collect();
    found.codes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found
}

fn answer(attempt: &AttemptRow, other: &AttemptRow, same_session: bool, after_ms: i64) -> Answer {
    let identity = |a: &AttemptRow| a.request.as_ref().map(|r| r.identity);
    Answer {
        after_ms,
        same_session,
        tokens: other.trusted_prompt(),
        identical: same_session && identity(attempt).is_some() && identity(attempt) == identity(other),
    }
}

fn better(known: Option<Answer>, new: Answer) -> Answer {
    match known {
        Some(known) if (!known.identical, known.after_ms) <= (!new.identical, new.after_ms) => known,
        _ => new,
    }
}
