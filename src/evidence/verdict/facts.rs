//! The facts of a trial: each a sentence with numbers, for or against the code, or neither.

use super::comparisons::{Neighbours, Overlap};
use crate::message;
use crate::message::Message;
use crate::report::numbers::{grouped, span};
use crate::session::TokenEstimate;

/// One plain fact for or against the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Kind: `identical-request`, `larger-success`, `overlap`, `hidden-limit`, `fill`, `wording`, `numbers`,
    /// `stated-size`, `stated-window`, `later-success`, `after-compaction`, `deadline`, `silence`, `neighbours`.
    pub kind: &'static str,
    /// `for` or `against` the code, or `neutral`.
    pub direction: &'static str,
    /// The fact as a sentence.
    pub message: Message,
}

pub(super) const FOR: &str = "for";
pub(super) const AGAINST: &str = "against";
pub(super) const NEUTRAL: &str = "neutral";

fn fact(kind: &'static str, direction: &'static str, message: Message) -> Fact {
    Fact { kind, direction, message }
}

pub(super) fn identical_request(successes: usize) -> Fact {
    fact("identical-request", AGAINST, message!("evidence.identical-request", n = successes))
}

pub(super) fn larger_success(largest: u64, size: TokenEstimate, count: usize) -> Fact {
    let message = message!(
        "evidence.larger-success",
        largest = grouped(largest),
        value = grouped(size.value),
        low = grouped(size.low),
        high = grouped(size.high),
        n = count,
    );
    fact("larger-success", AGAINST, message)
}

pub(super) fn overlap(overlap: Overlap) -> Fact {
    let message = message!(
        "evidence.overlap",
        n = overlap.failures,
        below = overlap.failures_below,
        smallest = grouped(overlap.smallest_failing),
        largest = grouped(overlap.largest_succeeding),
    );
    fact("overlap", AGAINST, message)
}

pub(super) fn hidden_limit(overlap: Overlap) -> Fact {
    let message = message!(
        "evidence.hidden-limit",
        failures = overlap.failures,
        successes = overlap.successes,
        smallest = grouped(overlap.smallest_failing),
        largest = grouped(overlap.largest_succeeding),
    );
    fact("hidden-limit", FOR, message)
}

pub(super) fn fill(low: f64, high: f64, direction: &'static str) -> Fact {
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    let message = if percent(low) == percent(high) {
        message!("evidence.fill-exact", share = percent(low))
    } else {
        message!("evidence.fill", low = percent(low), high = percent(high))
    };
    fact("fill", direction, message)
}

pub(super) fn names_overflow() -> Fact {
    fact("wording", FOR, message!("evidence.names-overflow"))
}

pub(super) fn says_nothing() -> Fact {
    fact("wording", NEUTRAL, message!("evidence.says-nothing"))
}

pub(super) fn speaks_of(code: &str) -> Fact {
    fact("wording", AGAINST, message!("evidence.speaks-of", code = code))
}

pub(super) fn speaks_of_not(supported: &str, code: &str) -> Fact {
    fact("wording", AGAINST, message!("evidence.speaks-of-not", supported = supported, code = code))
}

pub(super) fn fallback(code: &str, supported: &str) -> Fact {
    fact("wording", NEUTRAL, message!("evidence.fallback", code = code, supported = supported))
}

pub(super) fn agrees() -> Fact {
    fact("wording", FOR, message!("evidence.agrees"))
}

pub(super) fn stated_numbers(requested: u64, limit: u64) -> Fact {
    fact("numbers", FOR, message!("evidence.stated-numbers", requested = grouped(requested), limit = grouped(limit)))
}

/// `stated`: the size by the text; the rebuilt request with what it reserved for the answer lies beside it.
pub(super) fn stated_size(stated: u64, rebuilt: u64, agrees: bool) -> Fact {
    let (direction, message) = if agrees {
        let message = message!("evidence.stated-size-agrees", stated = grouped(stated), rebuilt = grouped(rebuilt));
        (FOR, message)
    } else {
        let message = message!("evidence.stated-size-differs", stated = grouped(stated), rebuilt = grouped(rebuilt));
        (AGAINST, message)
    };
    fact("stated-size", direction, message)
}

pub(super) fn stated_window(stated: u64, logged: u64) -> Fact {
    fact(
        "stated-window",
        NEUTRAL,
        message!("evidence.stated-window", stated = grouped(stated), logged = grouped(logged)),
    )
}

pub(super) fn later_success() -> Fact {
    fact("later-success", AGAINST, message!("evidence.later-success"))
}

/// A smaller request after the compaction of the same step succeeded; `repeats`: failed sendings of the identical one.
pub(super) fn after_compaction(repeats: usize) -> Fact {
    if repeats > 1 {
        fact("after-compaction", FOR, message!("evidence.after-compaction-repeated", n = repeats))
    } else {
        fact("after-compaction", NEUTRAL, message!("evidence.after-compaction"))
    }
}

pub(super) fn deadline(duration_ms: i64, direction: &'static str) -> Fact {
    fact("deadline", direction, message!("evidence.deadline", duration = span(duration_ms)))
}

pub(super) fn silence(gap_ms: i64, duration_ms: i64) -> Fact {
    fact("silence", FOR, message!("evidence.silence", gap = span(gap_ms), duration = span(duration_ms)))
}

pub(super) fn neighbours(near: Neighbours, direction: &'static str) -> Fact {
    let message = message!(
        "evidence.neighbours",
        failing = near.failing_sessions,
        sessions = near.sessions,
        failures = near.failures,
        attempts = near.attempts,
    );
    fact("neighbours", direction, message)
}
