//! Puts the code of every failed attempt on trial with the evidence of the whole archive.
//!
//! In: the rows of all sessions. Out: a [`Judgement`] per failed attempt. One pass builds an index of the successes per
//! route; each failure then costs a look-up, so the whole is linear in the attempts.

use std::borrow::Cow;
use std::collections::HashMap;

use super::codes::{FixableBy, Route, SupportedCode, retried_by_default};
use super::supports::{Supported, supports};
use crate::event::Failure;
use crate::session::{AttemptRow, Fate, OVERFLOW, Outcome, SessionRows};

#[cfg(test)]
mod tests;

/// Below this fill, output included, an overflow cannot be (the upper end of the interval counts).
const FAR_BELOW: f64 = 0.5;
/// Above this fill an overflow wording needs no further witness (the lower end counts).
pub(super) const AT_WINDOW: f64 = 0.97;
/// Longest wait the harness takes by default, milliseconds.
const DEFAULT_MAX_DELAY_MS: f64 = 10_000.0;

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

/// One plain fact for or against the code.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Fact {
    /// Kind: `identical-request`, `larger-success`, `fill`, `wording`, `numbers`, `later-success`.
    pub kind: &'static str,
    /// `for` or `against` the code, or `neutral`.
    pub direction: &'static str,
    /// The fact as a sentence.
    pub text: String,
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
        Self::of_codes(sessions, |_, failure| Cow::Borrowed(&failure.code))
    }

    /// Judges every failed attempt as if it had been given another code: the one of another release, say.
    pub fn of_codes<'s>(
        sessions: &'s [SessionRows],
        code: impl Fn(&'s AttemptRow, &'s Failure) -> Cow<'s, str>,
    ) -> Self {
        let successes = Successes::of(sessions);
        let mut texts: HashMap<(&str, Option<u16>, Route), Supported> = HashMap::new();
        let mut judgements = HashMap::new();
        for (session_index, session) in sessions.iter().enumerate() {
            let identical = identical_successes(session);
            for (index, attempt) in session.attempts.iter().enumerate() {
                let Some(failure) = attempt.failure.as_ref().filter(|_| attempt.outcome == Outcome::Failed) else {
                    continue;
                };
                let route = adapter(&attempt.route.provider);
                let text = texts
                    .entry((&failure.message, failure.status, route))
                    .or_insert_with(|| supports(&failure.message, failure.status, route));
                let trial = Trial { session, attempt, text, successes: &successes, identical: &identical };
                judgements.insert((session_index, index), trial.judge(&code(attempt, failure)));
            }
        }
        Self { judgements }
    }

    /// The judgement of one attempt.
    pub fn get(&self, session: usize, attempt: usize) -> Option<&Judgement> {
        self.judgements.get(&(session, attempt))
    }
}

/// The adapter behind a provider: `deepseek-official` has its own, everything else goes through pi-ai.
pub fn adapter(provider: &str) -> Route {
    if provider == "deepseek-official" { Route::DeepSeek } else { Route::PiAi }
}

/// The largest trusted reported prompt that succeeded, by provider, model and window.
struct Successes {
    largest: HashMap<(String, String, Option<u64>), u64>,
}

impl Successes {
    fn of(sessions: &[SessionRows]) -> Self {
        let mut largest: HashMap<(String, String, Option<u64>), u64> = HashMap::new();
        for attempt in sessions.iter().flat_map(|s| &s.attempts).filter(|a| a.outcome == Outcome::Succeeded) {
            let Some(prompt) = attempt.trusted_prompt() else { continue };
            let key = (attempt.route.provider.clone(), attempt.route.model.clone(), attempt.window);
            let entry = largest.entry(key).or_default();
            *entry = prompt.max(*entry);
        }
        Self { largest }
    }

    fn largest(&self, attempt: &AttemptRow) -> Option<u64> {
        let key = (attempt.route.provider.clone(), attempt.route.model.clone(), attempt.window);
        self.largest.get(&key).copied()
    }
}

/// Successes of a session by what was sent, and to which route.
type Identical<'a> = HashMap<(&'a str, &'a str, u64), Vec<u64>>;

fn identical_successes(session: &SessionRows) -> Identical<'_> {
    let mut found: Identical<'_> = HashMap::new();
    for attempt in session.attempts.iter().filter(|a| a.outcome == Outcome::Succeeded) {
        if let Some(request) = &attempt.request {
            let key = (attempt.route.provider.as_str(), attempt.route.model.as_str(), request.identity);
            found.entry(key).or_default().push(attempt.ordinal);
        }
    }
    found
}

struct Trial<'a> {
    session: &'a SessionRows,
    attempt: &'a AttemptRow,
    text: &'a Supported,
    successes: &'a Successes,
    identical: &'a Identical<'a>,
}

/// Codes that a classifier gives when nothing else fits.
fn is_fallback(code: &str) -> bool {
    matches!(code, "PI_AI_ERROR" | "UNKNOWN" | "STREAM_CLOSED" | "MALFORMED_RESPONSE") || code.starts_with("HTTP_")
}

/// Passing faults of one route: which of the three is named matters little, all heal with time and all are retried.
fn is_passing(code: &str) -> bool {
    matches!(code, "SERVER" | "TRANSPORT" | "TIMEOUT")
}

impl Trial<'_> {
    fn judge(&self, code: &str) -> Judgement {
        let mut facts = Vec::new();
        let (verdict, supported_code, confidence, fixable_by) =
            if code == OVERFLOW { self.overflow(&mut facts) } else { self.other(code, &mut facts) };
        Judgement { verdict, supported_code, confidence, fixable_by, layers: self.layers(code, verdict), facts }
    }

    /// An identical request (same surface, same header, same route) that succeeded.
    fn identical_success(&self, facts: &mut Vec<Fact>) -> bool {
        let Some(request) = &self.attempt.request else { return false };
        let route = &self.attempt.route;
        let key = (route.provider.as_str(), route.model.as_str(), request.identity);
        let Some(count) = self.identical.get(&key).map(Vec::len).filter(|n| *n > 0) else { return false };
        facts.push(Fact {
            kind: "identical-request",
            direction: "against",
            text: format!(
                "the identical request succeeded ({count} time{}): the failure was no property of the request",
                if count == 1 { "" } else { "s" }
            ),
        });
        true
    }

    fn larger_success(&self, facts: &mut Vec<Fact>) -> bool {
        let Some(size) = self.attempt.request.as_ref().and_then(|r| r.tokens) else { return false };
        let Some(largest) = self.successes.largest(self.attempt).filter(|l| *l >= size.high) else { return false };
        facts.push(Fact {
            kind: "larger-success",
            direction: "against",
            text: format!(
                "a request of {largest} tokens succeeded on the same route; this one had about {} ({} to {})",
                size.value, size.low, size.high
            ),
        });
        true
    }

    /// Interval of the fill with the reserved output, and whether the window is known.
    fn fill(&self) -> Option<(f64, f64)> {
        let request = self.attempt.request.as_ref()?;
        let (size, window) = (request.tokens?, self.attempt.window.filter(|w| *w > 0)? as f64);
        let reserved = request.reserved_output.unwrap_or(0) as f64;
        Some(((size.low as f64 + reserved) / window, (size.high as f64 + reserved) / window))
    }

    fn overflow(&self, facts: &mut Vec<Fact>) -> (Verdict, SupportedCode, f64, FixableBy) {
        use SupportedCode::{ContextWindowExceeded, GatewayFault, Undetermined};
        let identical = self.identical_success(facts);
        let larger = self.larger_success(facts);
        let fill = self.fill();
        if let Some((low, high)) = fill {
            let direction = if high < FAR_BELOW {
                "against"
            } else if low > AT_WINDOW {
                "for"
            } else {
                "neutral"
            };
            facts.push(Fact {
                kind: "fill",
                direction,
                text: format!(
                    "the request and its reserved output filled {:.0} to {:.0} % of the logged window",
                    low * 100.0,
                    high * 100.0
                ),
            });
        }
        let numbers = &self.text.numbers;
        let stated = numbers.requested_tokens.zip(numbers.limit_tokens).filter(|(requested, limit)| requested > limit);
        match self.text.code {
            ContextWindowExceeded => {
                facts.push(Fact {
                    kind: "wording",
                    direction: "for",
                    text: "the message names an overflow".to_owned(),
                });
                if let Some((requested, limit)) = stated {
                    facts.push(Fact {
                        kind: "numbers",
                        direction: "for",
                        text: format!("the message says {requested} tokens were asked for and {limit} are allowed"),
                    });
                }
                let far_below = fill.is_some_and(|(_, high)| high < FAR_BELOW);
                if identical || (far_below && larger && stated.is_none()) {
                    (Verdict::Contradicted, GatewayFault, 0.8, FixableBy::Time)
                } else if stated.is_some() || fill.is_some_and(|(low, _)| low > AT_WINDOW) {
                    (Verdict::Supported, ContextWindowExceeded, 0.95, self.text.fixable_by)
                } else if far_below {
                    (Verdict::Contradicted, Undetermined, 0.6, FixableBy::Unknown)
                } else if larger {
                    (Verdict::Undetermined, Undetermined, 0.4, FixableBy::Unknown)
                } else {
                    (Verdict::Supported, ContextWindowExceeded, 0.6, self.text.fixable_by)
                }
            }
            Undetermined => {
                facts.push(Fact {
                    kind: "wording",
                    direction: "neutral",
                    text: "the message says nothing about the cause".to_owned(),
                });
                if identical {
                    (Verdict::Contradicted, GatewayFault, 0.95, FixableBy::Time)
                } else if larger {
                    (Verdict::Contradicted, GatewayFault, 0.8, FixableBy::Time)
                } else if fill.is_some_and(|(_, high)| high < FAR_BELOW) {
                    (Verdict::Contradicted, Undetermined, 0.8, FixableBy::Unknown)
                } else {
                    (Verdict::Undetermined, Undetermined, 0.3, FixableBy::Unknown)
                }
            }
            other => {
                facts.push(Fact {
                    kind: "wording",
                    direction: "against",
                    text: format!("the message speaks of {}", other.as_str()),
                });
                (Verdict::Contradicted, other, 0.8, self.text.fixable_by)
            }
        }
    }

    fn other(&self, code: &str, facts: &mut Vec<Fact>) -> (Verdict, SupportedCode, f64, FixableBy) {
        let text = self.text;
        let named = text.code.as_str();
        if text.code == SupportedCode::Undetermined {
            facts.push(Fact {
                kind: "wording",
                direction: "neutral",
                text: "the message says nothing about the cause".to_owned(),
            });
            if matches!(code, "INVALID_REQUEST") && self.identical_success(facts) {
                return (Verdict::Contradicted, SupportedCode::GatewayFault, 0.95, FixableBy::Time);
            }
            let verdict = if is_fallback(code) { Verdict::Uninformative } else { Verdict::Undetermined };
            return (verdict, SupportedCode::Undetermined, 0.3, FixableBy::Unknown);
        }
        if is_fallback(code) {
            facts.push(Fact {
                kind: "wording",
                direction: "neutral",
                text: format!("{code} is a fallback; the message speaks of {named}"),
            });
            return (Verdict::Uninformative, text.code, 0.8, text.fixable_by);
        }
        let server_status =
            code == "SERVER" && self.attempt.failure.as_ref().and_then(|f| f.status).is_some_and(|s| s >= 500);
        if named == code || server_status || (is_passing(code) && is_passing(named)) {
            if code == "QUOTA" && self.later_success(facts) {
                return (Verdict::Undetermined, SupportedCode::Undetermined, 0.4, FixableBy::Time);
            }
            facts.push(Fact { kind: "wording", direction: "for", text: "the message agrees with the code".to_owned() });
            let supported = SupportedCode::from_name(code).unwrap_or(text.code);
            return (Verdict::Supported, supported, 0.9, text.fixable_by);
        }
        facts.push(Fact {
            kind: "wording",
            direction: "against",
            text: format!("the message speaks of {named}, not of {code}"),
        });
        (Verdict::Contradicted, text.code, 0.8, text.fixable_by)
    }

    /// Vendors use "quota" for an empty balance and for a full minute budget; a success soon after tells them apart.
    fn later_success(&self, facts: &mut Vec<Fact>) -> bool {
        let attempt = self.attempt;
        let hour_later = |time: Option<i64>| {
            time.zip(attempt.time).is_some_and(|(later, now)| (0..3_600_000).contains(&(later - now)))
        };
        let found = self
            .session
            .attempts
            .iter()
            .skip(attempt.ordinal as usize + 1)
            .any(|a| a.outcome == Outcome::Succeeded && a.route == attempt.route && hour_later(a.time));
        if found {
            facts.push(Fact {
                kind: "later-success",
                direction: "against",
                text: "the route answered the same session again within an hour: not an empty account".to_owned(),
            });
        }
        found
    }

    fn layers(&self, code: &str, verdict: Verdict) -> Vec<&'static str> {
        let attempt = self.attempt;
        if attempt.retry.is_some() || !matches!(attempt.fate, Some(Fate::GaveUp)) {
            return Vec::new();
        }
        let mut layers = Vec::new();
        let retries: Vec<_> = self
            .session
            .retries
            .iter()
            .filter(|r| (r.retry.turn, r.retry.step) == (attempt.turn, attempt.step))
            .collect();
        let retried = retried_by_default(code) || !retries.is_empty();
        if matches!(verdict, Verdict::Contradicted | Verdict::Uninformative) && !retried_by_default(code) {
            layers.push("L1");
        }
        if retries.iter().any(|r| !r.started) {
            layers.push("L2");
        }
        let retry_after = attempt.failure.as_ref().and_then(|f| f.retry_after_ms);
        let too_long = retry_after.is_some_and(|wait| wait > DEFAULT_MAX_DELAY_MS);
        if retried && !too_long {
            layers.push("L3");
        }
        if too_long {
            layers.push("L4");
        }
        layers.push("L5");
        layers
    }
}
