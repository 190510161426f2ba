//! The rules of the trial (`docs/methods.md`, "Verdicts").

use super::comparisons::{Comparisons, Identical, Overlap};
use super::facts::{self, AGAINST, FOR, Fact, NEUTRAL};
use super::{AT_WINDOW, FAR_BELOW, Judgement, Verdict, is_fallback, is_overflow, layers};
use crate::evidence::codes::{FixableBy, SupportedCode};
use crate::evidence::supports::Supported;
use crate::session::{AttemptRow, Fate, Outcome, SessionRows, TokenEstimate, TokenMethod};

/// The idle limit of both adapters and of the runtime's own fetch, milliseconds (spec 2.8).
const DEADLINE_MS: i64 = 300_000;
/// How far from it an attempt may end and still have met it, milliseconds.
const DEADLINE_SLACK_MS: i64 = 6_000;
/// A size in a text this many times off the rebuilt size is about something else.
const STATED_FACTOR: f64 = 1.5;
/// Fewest other sessions that failed before the neighbours count as evidence.
const FAILING_NEIGHBOURS: usize = 2;
/// A logged window and a stated one this near are the same.
const SAME_WINDOW: f64 = 0.02;

/// Verdict, supported code, confidence, who can fix it.
type Outcome4 = (Verdict, SupportedCode, f64, FixableBy);

pub(super) struct Trial<'a> {
    pub(super) session: &'a SessionRows,
    pub(super) session_index: usize,
    pub(super) index: usize,
    pub(super) attempt: &'a AttemptRow,
    pub(super) failure: &'a crate::event::Failure,
    pub(super) text: &'a Supported,
    pub(super) comparisons: &'a Comparisons<'a>,
    pub(super) identical: &'a Identical<'a>,
}

/// Passing faults of one route: which of the three is named matters little, all heal with time and all are retried.
fn is_passing(code: &str) -> bool {
    matches!(code, "SERVER" | "TRANSPORT" | "TIMEOUT")
}

/// What an overflow label is measured against.
struct Witnesses {
    identical: bool,
    larger: bool,
    overlap: Option<Overlap>,
    fill: Option<(f64, f64)>,
}

impl Witnesses {
    fn far_below(&self) -> bool {
        self.fill.is_some_and(|(_, high)| high < FAR_BELOW)
    }

    fn at_window(&self) -> bool {
        self.fill.is_some_and(|(low, _)| low > AT_WINDOW)
    }

    fn hidden_limit(&self) -> bool {
        self.overlap.is_some_and(|o| o.limit)
    }
}

impl Trial<'_> {
    pub(super) fn judge(&self) -> Judgement {
        let mut facts = Vec::new();
        let code = self.failure.code.as_str();
        let (verdict, supported_code, confidence, fixable_by) =
            if is_overflow(code) { self.overflow(&mut facts) } else { self.other(code, &mut facts) };
        self.circumstances(code, &mut facts);
        let mut judgement = Judgement { verdict, supported_code, confidence, fixable_by, layers: Vec::new(), facts };
        judgement.layers = layers::blocking(self.session, self.attempt, &judgement, self.text);
        judgement
    }

    fn size(&self) -> Option<TokenEstimate> {
        self.attempt.request.as_ref()?.tokens
    }

    /// An identical request (same surface, same header, same route) that succeeded.
    fn identical_success(&self, facts: &mut Vec<Fact>) -> bool {
        let (successes, _) = self.identical.counts(self.attempt);
        if successes > 0 {
            facts.push(facts::identical_request(successes));
        }
        successes > 0
    }

    fn larger_success(&self, facts: &mut Vec<Fact>) -> bool {
        let Some(size) = self.size() else { return false };
        let Some(largest) = self.comparisons.largest_success(self.attempt).filter(|l| *l >= size.high) else {
            return false;
        };
        facts.push(facts::larger_success(largest, size, self.comparisons.successes_from(self.attempt, size.high)));
        true
    }

    /// Failures with the same text and successes of the route, where they say something together.
    fn overlap(&self, facts: &mut Vec<Fact>) -> Option<Overlap> {
        let overlap = self.comparisons.overlap(self.attempt)?;
        if overlap.limit {
            facts.push(facts::hidden_limit(overlap));
        } else if overlap.failures > 1 && overlap.failures_below > 0 {
            facts.push(facts::overlap(overlap));
        }
        Some(overlap)
    }

    /// Interval of the fill with the reserved output; `None` where the window is unknown.
    fn fill(&self) -> Option<(f64, f64)> {
        let request = self.attempt.request.as_ref()?;
        let (size, window) = (request.tokens?, self.attempt.window.filter(|w| *w > 0)? as f64);
        let reserved = request.reserved_output.unwrap_or(0) as f64;
        Some(((size.low as f64 + reserved) / window, (size.high as f64 + reserved) / window))
    }

    fn overflow(&self, facts: &mut Vec<Fact>) -> Outcome4 {
        let witnesses = Witnesses {
            identical: self.identical_success(facts),
            larger: self.larger_success(facts),
            overlap: self.overlap(facts),
            fill: self.fill(),
        };
        if let Some((low, high)) = witnesses.fill {
            let direction = match () {
                () if high < FAR_BELOW => AGAINST,
                () if low > AT_WINDOW => FOR,
                () => NEUTRAL,
            };
            facts.push(facts::fill(low, high, direction));
        }
        let outcome = match self.text.code {
            SupportedCode::ContextWindowExceeded => self.named_overflow(&witnesses, facts),
            SupportedCode::Undetermined => self.silent_overflow(&witnesses, facts),
            other => {
                facts.push(facts::speaks_of(other.as_str()));
                (Verdict::Contradicted, other, 0.8, self.text.fixable_by)
            }
        };
        self.after_compaction(facts);
        outcome
    }

    /// An overflow code on a text that names an overflow.
    fn named_overflow(&self, witnesses: &Witnesses, facts: &mut Vec<Fact>) -> Outcome4 {
        use SupportedCode::{ContextWindowExceeded, GatewayFault, Undetermined};
        facts.push(facts::names_overflow());
        let stated = self.stated(facts);
        if witnesses.identical || (witnesses.far_below() && witnesses.larger && !stated) {
            (Verdict::Contradicted, GatewayFault, 0.8, FixableBy::Time)
        } else if stated || witnesses.at_window() {
            (Verdict::Supported, ContextWindowExceeded, 0.95, self.text.fixable_by)
        } else if witnesses.far_below() {
            (Verdict::Contradicted, Undetermined, 0.6, FixableBy::Unknown)
        } else if witnesses.larger {
            (Verdict::Undetermined, Undetermined, 0.4, FixableBy::Unknown)
        } else {
            (Verdict::Supported, ContextWindowExceeded, 0.6, self.text.fixable_by)
        }
    }

    /// An overflow code on a text that says nothing: comparisons decide.
    fn silent_overflow(&self, witnesses: &Witnesses, facts: &mut Vec<Fact>) -> Outcome4 {
        use SupportedCode::{ContextWindowExceeded, GatewayFault, Undetermined};
        facts.push(facts::says_nothing());
        if witnesses.identical {
            (Verdict::Contradicted, GatewayFault, 0.95, FixableBy::Time)
        } else if witnesses.larger {
            (Verdict::Contradicted, GatewayFault, 0.8, FixableBy::Time)
        } else if witnesses.far_below() {
            (Verdict::Contradicted, Undetermined, 0.8, FixableBy::Unknown)
        } else if witnesses.hidden_limit() {
            (Verdict::Supported, ContextWindowExceeded, 0.6, FixableBy::Request)
        } else if self.sizes_overlap(witnesses) {
            (Verdict::Contradicted, GatewayFault, 0.6, FixableBy::Time)
        } else {
            (Verdict::Undetermined, Undetermined, 0.3, FixableBy::Unknown)
        }
    }

    /// The same text came to requests surely smaller than one that succeeded, mostly, and this request lies within the
    /// range of the successes: the text is not about size.
    fn sizes_overlap(&self, witnesses: &Witnesses) -> bool {
        let Some((overlap, size)) = witnesses.overlap.zip(self.size()) else { return false };
        let most_below = overlap.failures_below >= 2 && overlap.failures_below * 2 > overlap.failures;
        most_below && size.low <= overlap.largest_succeeding && !witnesses.at_window()
    }

    /// Whether the text states a size above a limit that fits the rebuilt request.
    fn stated(&self, facts: &mut Vec<Fact>) -> bool {
        let numbers = &self.text.numbers;
        if let Some((limit, window)) = numbers.limit_tokens.zip(self.attempt.window)
            && (limit as f64 - window as f64).abs() > SAME_WINDOW * window as f64
        {
            facts.push(facts::stated_window(limit, window));
        }
        let both = numbers.requested_tokens.zip(numbers.limit_tokens).filter(|(requested, limit)| requested > limit);
        let Some((requested, limit)) = both else { return false };
        facts.push(facts::stated_numbers(requested, limit));
        let Some(size) = self.size() else { return true };
        let reserved = self.attempt.request.as_ref().and_then(|r| r.reserved_output).unwrap_or(0);
        // Providers state the input alone, or with the answer that was reserved: either may fit.
        let fits = |low: u64, high: u64| {
            (low as f64 / STATED_FACTOR..=high as f64 * STATED_FACTOR).contains(&(requested as f64))
        };
        let alone = fits(size.low, size.high);
        let agrees = alone || fits(size.low.saturating_add(reserved), size.high.saturating_add(reserved));
        let rebuilt = if alone { size.value } else { size.value.saturating_add(reserved) };
        facts.push(facts::stated_size(requested, rebuilt, agrees));
        // A guess from the text alone is no ground to disbelieve a provider that counts.
        agrees || size.method == TokenMethod::Counted
    }

    /// The step's next attempt was a smaller request after a compaction, and succeeded.
    fn after_compaction(&self, facts: &mut Vec<Fact>) {
        let attempt = self.attempt;
        if attempt.fate != Some(Fate::RecoveredByCompaction) {
            return;
        }
        let Some(next) = self.session.attempts.get(self.index + 1) else { return };
        let same_step = (next.turn, next.step) == (attempt.turn, attempt.step);
        let smaller = match (next.request.as_ref(), attempt.request.as_ref()) {
            (Some(next), Some(own)) => next.harness_tokens < own.harness_tokens,
            _ => false,
        };
        if same_step && smaller && next.outcome == Outcome::Succeeded {
            facts.push(facts::after_compaction(self.identical.counts(attempt).1));
        }
    }

    fn other(&self, code: &str, facts: &mut Vec<Fact>) -> Outcome4 {
        let text = self.text;
        let named = text.code.as_str();
        if text.code == SupportedCode::Undetermined {
            facts.push(facts::says_nothing());
            if code == "INVALID_REQUEST" && self.identical_success(facts) {
                return (Verdict::Contradicted, SupportedCode::GatewayFault, 0.95, FixableBy::Time);
            }
            let verdict = if is_fallback(code) { Verdict::Uninformative } else { Verdict::Undetermined };
            return (verdict, SupportedCode::Undetermined, 0.3, FixableBy::Unknown);
        }
        if is_fallback(code) {
            facts.push(facts::fallback(code, named));
            return (Verdict::Uninformative, text.code, 0.8, text.fixable_by);
        }
        let server_status = code == "SERVER" && self.failure.status.is_some_and(|s| s >= 500);
        if named == code || server_status || (is_passing(code) && is_passing(named)) {
            if code == "QUOTA" && self.later_success(facts) {
                return (Verdict::Undetermined, SupportedCode::Undetermined, 0.4, FixableBy::Time);
            }
            facts.push(facts::agrees());
            let supported = SupportedCode::from_name(code).unwrap_or(text.code);
            return (Verdict::Supported, supported, 0.9, text.fixable_by);
        }
        facts.push(facts::speaks_of_not(named, code));
        (Verdict::Contradicted, text.code, 0.8, text.fixable_by)
    }

    /// Vendors use "quota" for an empty balance and for a full minute budget; a success soon after tells them apart.
    fn later_success(&self, facts: &mut Vec<Fact>) -> bool {
        let attempt = self.attempt;
        let hour_later = |time: Option<i64>| {
            time.zip(attempt.time).is_some_and(|(later, now)| (0..3_600_000).contains(&(later - now)))
        };
        let later = self.session.attempts.iter().skip(self.index + 1);
        let found = later
            .take_while(|a| a.time.is_none() || hour_later(a.time))
            .any(|a| a.outcome == Outcome::Succeeded && a.route == attempt.route && hour_later(a.time));
        if found {
            facts.push(facts::later_success());
        }
        found
    }

    /// Facts that go with any code and decide none: time and neighbours.
    fn circumstances(&self, code: &str, facts: &mut Vec<Fact>) {
        let attempt = self.attempt;
        let timed = matches!(code, "TIMEOUT" | "TRANSPORT");
        if let Some(duration) = attempt.duration_ms() {
            if (duration - DEADLINE_MS).abs() <= DEADLINE_SLACK_MS {
                let direction = match () {
                    () if timed => FOR,
                    () if is_overflow(code) => AGAINST,
                    () => NEUTRAL,
                };
                facts.push(facts::deadline(duration, direction));
            }
            // Most of the attempt was one silence.
            if timed && attempt.chunks > 1 && attempt.longest_gap_ms * 2 > duration && duration > 0 {
                facts.push(facts::silence(attempt.longest_gap_ms, duration));
            }
        }
        let near = self.comparisons.neighbours(self.session_index, attempt);
        if near.failing_sessions >= FAILING_NEIGHBOURS && near.failures * 2 >= near.attempts {
            let direction = match () {
                () if timed || matches!(code, "SERVER" | "RATE_LIMIT") => FOR,
                () => NEUTRAL,
            };
            facts.push(facts::neighbours(near, direction));
        }
    }
}
