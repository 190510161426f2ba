//! Failures that do not look like one, and successes that must not be trusted (spec 4.3, the reverse faults).
//!
//! In: the rows of all sessions with their verdicts. Out: [`Masked`], one list per kind, in order of session and attempt.
//! Every list is found in one pass over the attempts of a session; a look-up between two attempts is a binary search.

use std::collections::HashMap;

use super::codes::SupportedCode;
use super::verdict::{AT_WINDOW, Judgement, Verdict, Verdicts};
use crate::session::{AttemptRow, OVERFLOW, Outcome, SessionRows, TokenEstimate};

#[cfg(test)]
mod tests;

/// Share of the window at which the harness compacts by default (`thresholdRatio`).
pub const PRESSURE_THRESHOLD: f64 = 0.8;

/// Everything that hides behind another name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Masked {
    /// Overflows hidden by a switch to a larger model.
    pub route_switches: Vec<RouteSwitch>,
    /// Overflows under another code.
    pub coded_otherwise: Vec<CodedOtherwise>,
    /// Answers cut at a full window that nobody treated as an overflow.
    pub missed_overflows: Vec<MissedOverflow>,
    /// Steps whose request jumped across the compaction threshold up to the window.
    pub step_jumps: Vec<StepJump>,
    /// Reports of usage that cannot be right.
    pub untrusted_usage: Vec<UntrustedUsage>,
    /// Context destroyed for an overflow that was none.
    pub false_compactions: Vec<FalseCompaction>,
}

/// A request went to another route without any compaction and succeeded there, although the window of the first route
/// could not hold it: the success says nothing about the first route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RouteSwitch {
    /// Index of the session.
    pub session: usize,
    /// Last attempt on the first route.
    pub before: usize,
    /// Whether that attempt failed; otherwise the switch avoided an overflow.
    pub before_failed: bool,
    /// First success on the second route.
    pub after: usize,
    /// Prompt of that success, tokens.
    pub tokens: u64,
    /// Window of the first route, tokens.
    pub first_window: u64,
    /// Window of the second route, tokens, where known.
    pub second_window: Option<u64>,
}

/// What shows that a failure under another code was an overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverflowSign {
    /// The error text names it.
    Text,
    /// The text says nothing, and the request with its reserved output filled the window: a suspicion, no proof.
    Fill,
}

/// A failure with another code that is an overflow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodedOtherwise {
    /// Index of the session.
    pub session: usize,
    /// Index of the failed attempt.
    pub attempt: usize,
    /// What shows it.
    pub sign: OverflowSign,
    /// Best estimate of the prompt, tokens.
    pub tokens: Option<TokenEstimate>,
    /// Window in force, tokens.
    pub window: Option<u64>,
}

/// An answer that ended at the output limit while prompt and answer filled the window: the harness takes it for a success
/// and goes on with half an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissedOverflow {
    /// Index of the session.
    pub session: usize,
    /// Index of the attempt.
    pub attempt: usize,
    /// Prompt as reported, tokens.
    pub prompt: u64,
    /// Answer as reported, tokens.
    pub output: u64,
    /// Window in force, tokens.
    pub window: u64,
    /// Whether the context shrank before the next attempt of the session.
    pub shrunk_after: bool,
}

/// Between two requests of one route, with nothing taken away, the size went from below the threshold to the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepJump {
    /// Index of the session.
    pub session: usize,
    /// Attempt before the jump.
    pub before: usize,
    /// First attempt after it.
    pub after: usize,
    /// Prompt before, tokens.
    pub tokens_before: u64,
    /// Prompt after, tokens.
    pub tokens_after: u64,
    /// Window, tokens.
    pub window: u64,
    /// Whether the attempt after it failed.
    pub failed: bool,
}

/// A report that cannot be right for the size of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntrustedUsage {
    /// Index of the session.
    pub session: usize,
    /// Index of the attempt.
    pub attempt: usize,
    /// Prompt as reported, tokens.
    pub reported: u64,
    /// The harness's own estimate, tokens.
    pub harness_tokens: Option<u64>,
    /// Bytes of the body.
    pub body_bytes: Option<u64>,
}

/// What the harness took out of the context because of an overflow code that the evidence contradicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FalseCompaction {
    /// Index of the session.
    pub session: usize,
    /// Index of the failed attempt that caused it.
    pub attempt: usize,
    /// Index of the compaction; `None` where tool results alone were cut.
    pub compaction: Option<usize>,
    /// Tokens that a summary replaced (`shadowedTokenCount`, the harness's own meter).
    pub summarised_tokens: Option<u64>,
    /// Tokens of cut tool results, by the same meter.
    pub pruned_tokens: u64,
}

impl FalseCompaction {
    /// Tokens of context destroyed, as far as the log says.
    pub fn destroyed_tokens(&self) -> u64 {
        self.summarised_tokens.unwrap_or(0).saturating_add(self.pruned_tokens)
    }
}

/// Finds every masked kind. `verdicts` must be those of the same sessions.
pub fn of(sessions: &[SessionRows], verdicts: &Verdicts) -> Masked {
    let mut masked = Masked::default();
    for (index, session) in sessions.iter().enumerate() {
        let view = View { index, session, shrinks: shrinks(session) };
        view.route_switches(&mut masked.route_switches);
        view.coded_otherwise(verdicts, &mut masked.coded_otherwise);
        view.missed_overflows(&mut masked.missed_overflows);
        view.step_jumps(&mut masked.step_jumps);
        view.untrusted_usage(&mut masked.untrusted_usage);
        view.false_compactions(verdicts, &mut masked.false_compactions);
    }
    masked
}

/// Seqs at which something left the surface, sorted.
fn shrinks(session: &SessionRows) -> Vec<u64> {
    let compacted = session.compactions.iter().filter_map(|c| c.end_seq);
    let mut seqs: Vec<u64> = compacted.chain(session.prunes.iter().map(|p| p.seq)).collect();
    seqs.sort_unstable();
    seqs
}

struct View<'a> {
    index: usize,
    session: &'a SessionRows,
    shrinks: Vec<u64>,
}

/// Tokens of the prompt: reported and trusted, else estimated.
fn prompt(attempt: &AttemptRow) -> Option<TokenEstimate> {
    attempt.request.as_ref()?.tokens
}

/// Share of the window that the prompt's lower end and its reserved output fill.
fn low_fill_with_output(attempt: &AttemptRow) -> Option<f64> {
    let window = attempt.window.filter(|w| *w > 0)?;
    let reserved = attempt.request.as_ref()?.reserved_output.unwrap_or(0);
    Some(prompt(attempt)?.low.saturating_add(reserved) as f64 / window as f64)
}

impl View<'_> {
    fn shrank_between(&self, after_seq: u64, before_seq: u64) -> bool {
        let next = self.shrinks.partition_point(|seq| *seq <= after_seq);
        self.shrinks.get(next).is_some_and(|seq| *seq < before_seq)
    }

    fn route_switches(&self, found: &mut Vec<RouteSwitch>) {
        let attempts = &self.session.attempts;
        // The last attempt on a route that another one has taken over without a success so far.
        let mut left: Option<usize> = None;
        for (after, attempt) in attempts.iter().enumerate().skip(1) {
            if attempts[after - 1].route != attempt.route {
                left = Some(after - 1);
            }
            let Some(before) = left.filter(|_| attempt.outcome == Outcome::Succeeded) else { continue };
            left = None;
            let first = &attempts[before];
            let (Some(window), Some(size)) = (first.window, prompt(attempt)) else { continue };
            let larger = attempt.window.is_none_or(|second| second > window);
            if larger && size.low > window && !self.shrank_between(first.seq, attempt.first_seq) {
                found.push(RouteSwitch {
                    session: self.index,
                    before,
                    before_failed: first.outcome == Outcome::Failed,
                    after,
                    tokens: size.value,
                    first_window: window,
                    second_window: attempt.window,
                });
            }
        }
    }

    fn coded_otherwise(&self, verdicts: &Verdicts, found: &mut Vec<CodedOtherwise>) {
        for (index, attempt) in self.session.attempts.iter().enumerate() {
            let Some(judgement) = verdicts.get(self.index, index) else { continue };
            if attempt.failure.as_ref().is_none_or(|f| f.code == OVERFLOW) {
                continue;
            }
            let sign = match judgement.supported_code {
                SupportedCode::ContextWindowExceeded => OverflowSign::Text,
                SupportedCode::Undetermined if fills_the_window(attempt, judgement) => OverflowSign::Fill,
                _ => continue,
            };
            let tokens = prompt(attempt);
            found.push(CodedOtherwise { session: self.index, attempt: index, sign, tokens, window: attempt.window });
        }
    }

    fn missed_overflows(&self, found: &mut Vec<MissedOverflow>) {
        let attempts = &self.session.attempts;
        for (index, attempt) in attempts.iter().enumerate() {
            let cut = attempt.cut_at_limit && attempt.outcome == Outcome::Succeeded;
            let report = attempt.trusted_prompt().zip(attempt.usage).zip(attempt.window.filter(|w| *w > 0));
            let Some(((prompt, usage), window)) = report.filter(|_| cut) else { continue };
            let full = AT_WINDOW * window as f64;
            // An answer as long as was asked for ended at its own limit, unless the prompt alone left it no room.
            let short = attempt.max_tokens.is_none_or(|asked| usage.output < asked);
            let at_window = prompt as f64 >= full || (short && prompt.saturating_add(usage.output) as f64 >= full);
            if at_window {
                let next = attempts.get(index + 1).map_or(u64::MAX, |a| a.first_seq);
                found.push(MissedOverflow {
                    session: self.index,
                    attempt: index,
                    prompt,
                    output: usage.output,
                    window,
                    shrunk_after: self.shrank_between(attempt.seq, next),
                });
            }
        }
    }

    fn step_jumps(&self, found: &mut Vec<StepJump>) {
        let attempts = &self.session.attempts;
        for (after, attempt) in attempts.iter().enumerate().skip(1) {
            let before = after - 1;
            let earlier = &attempts[before];
            let same_route = earlier.route == attempt.route && earlier.window == attempt.window;
            let (Some(small), Some(large), Some(window)) = (prompt(earlier), prompt(attempt), attempt.window) else {
                continue;
            };
            let below = small.high < (PRESSURE_THRESHOLD * window as f64) as u64
                && low_fill_with_output(earlier).is_some_and(|fill| fill <= AT_WINDOW);
            let at_window = low_fill_with_output(attempt).is_some_and(|fill| fill > AT_WINDOW);
            let new_step = (earlier.turn, earlier.step) != (attempt.turn, attempt.step);
            if same_route && new_step && below && at_window && !self.shrank_between(earlier.seq, attempt.first_seq) {
                found.push(StepJump {
                    session: self.index,
                    before,
                    after,
                    tokens_before: small.value,
                    tokens_after: large.value,
                    window,
                    failed: attempt.outcome == Outcome::Failed,
                });
            }
        }
    }

    fn untrusted_usage(&self, found: &mut Vec<UntrustedUsage>) {
        for (index, attempt) in self.session.attempts.iter().enumerate().filter(|(_, a)| a.usage_untrusted) {
            let Some(reported) = attempt.reported_prompt() else { continue };
            let request = attempt.request.as_ref();
            found.push(UntrustedUsage {
                session: self.index,
                attempt: index,
                reported,
                harness_tokens: request.map(|r| r.harness_tokens),
                body_bytes: request.and_then(|r| r.body_bytes),
            });
        }
    }

    fn false_compactions(&self, verdicts: &Verdicts, found: &mut Vec<FalseCompaction>) {
        let session = self.session;
        let caused: HashMap<u64, usize> = session
            .compactions
            .iter()
            .enumerate()
            .filter_map(|(index, compaction)| Some((compaction.caused_by_failure_seq?, index)))
            .collect();
        let mut prunes: Vec<(u64, u64)> =
            session.prunes.iter().map(|p| (p.seq, p.shadowed_tokens.unwrap_or(0))).collect();
        prunes.sort_unstable();
        for (index, attempt) in session.attempts.iter().enumerate() {
            let overflow = attempt.failure.as_ref().is_some_and(|f| f.code == OVERFLOW);
            let contradicted = verdicts.get(self.index, index).is_some_and(|j| j.verdict == Verdict::Contradicted);
            if !overflow || !contradicted {
                continue;
            }
            let compaction = caused.get(&attempt.seq).copied();
            let pruned_tokens = self.pruned_in_step(&prunes, index);
            if compaction.is_none() && pruned_tokens == 0 {
                continue;
            }
            found.push(FalseCompaction {
                session: self.index,
                attempt: index,
                compaction,
                summarised_tokens: compaction.and_then(|c| session.compactions[c].shadowed_tokens),
                pruned_tokens,
            });
        }
    }

    /// Tokens of the tool results cut between a failed attempt and the next attempt of its step.
    fn pruned_in_step(&self, prunes: &[(u64, u64)], index: usize) -> u64 {
        let attempts = &self.session.attempts;
        let failed = &attempts[index];
        let next = attempts.get(index + 1).filter(|a| (a.turn, a.step) == (failed.turn, failed.step));
        let Some(next) = next else { return 0 };
        let start = prunes.partition_point(|(seq, _)| *seq <= failed.seq);
        prunes[start..].iter().take_while(|(seq, _)| *seq < next.first_seq).map(|(_, tokens)| tokens).sum()
    }
}

/// A text that names no cause, on a request that left the window no room, and that nothing shows to be sound.
fn fills_the_window(attempt: &AttemptRow, judgement: &Judgement) -> bool {
    let spoken_for = judgement.facts.iter().any(|f| matches!(f.kind, "identical-request" | "larger-success"));
    !spoken_for && low_fill_with_output(attempt).is_some_and(|fill| fill > AT_WINDOW)
}
