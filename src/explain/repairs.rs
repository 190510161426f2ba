//! What each repair alone would have changed on this chain. A different course is never certain: each result says what it rests on.

use super::decision::previous_retries;
use super::vicinity::Vicinity;
use crate::evidence::verdict::layers::policy_in_force;
use crate::evidence::verdict::{failure_of, is_overflow};
use crate::evidence::{FixableBy, Judgement, SupportedCode, is_bodyless, supports};
use crate::policy::engine::FixedGiveUp;
use crate::policy::model::proposed_delay_ms;
use crate::policy::{
    Candidate, ChainState, FailedAttempt, FixedDecision, RetryMode, RouteState, apply_edit, decide_with_fixes,
};
use crate::session::{AttemptRow, Fate, Outcome, SessionRows};

/// Most retries that a repair is followed through, and the longest time.
const MOST_RETRIES: u32 = 40;
const LONGEST_MS: f64 = 3_600_000.0;

/// How likely the retry would have helped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chance {
    /// Waiting does not heal this kind of failure.
    FailsAgain,
    /// The route answered after this many milliseconds, within the time the repair keeps trying.
    Answered {
        /// Milliseconds after the failure.
        after_ms: i64,
        /// Whether the identical request was answered.
        identical: bool,
    },
    /// The route answered in time, but a smaller request, and the failure may be about size: cannot be known.
    AnsweredSmaller {
        /// Milliseconds after the failure.
        after_ms: i64,
    },
    /// The route answered only later than the repair keeps trying: cannot be known.
    AnsweredLater {
        /// When the repair tries for the last time, milliseconds after the failure.
        last_try_ms: f64,
        /// When the log shows the next answer, milliseconds after the failure.
        after_ms: i64,
    },
    /// The log shows no later answer: cannot be known.
    Unknown,
}

/// What the repaired policy does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// It gives up as well.
    GivesUp(FixedGiveUp),
    /// It tries again.
    Retries {
        /// First wait, milliseconds.
        delay_ms: f64,
        /// See [`Chance`].
        chance: Chance,
    },
}

/// One repair.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// The edit, as `policy what-if` takes it.
    pub edit: String,
    /// Whether settings of today can do it.
    pub today: bool,
    /// What it changes.
    pub effect: Effect,
}

/// Where the chain was decided: its last failed attempt, or this one where a compaction took over.
pub(super) fn deciding<'a>(session: &'a SessionRows, attempt: &'a AttemptRow) -> &'a AttemptRow {
    if attempt.fate == Some(Fate::RecoveredByCompaction) {
        return attempt;
    }
    let step = (attempt.turn, attempt.step);
    let last = session.attempts.iter().rfind(|a| (a.turn, a.step) == step && a.outcome == Outcome::Failed);
    last.unwrap_or(attempt)
}

pub(super) fn of(
    session: &SessionRows,
    attempt: &AttemptRow,
    judgement: &Judgement,
    vicinity: &Vicinity,
) -> Vec<Repair> {
    if attempt.fate == Some(Fate::RecoveredByRetry) {
        return Vec::new();
    }
    let last = deciding(session, attempt);
    let Some(failure) = failure_of(last) else { return Vec::new() };
    let policy = policy_in_force(session, last).policy;
    let (previous_retry, cancelled_retries) = previous_retries(session, last);
    let route = crate::evidence::verdict::adapter(&last.route.provider);
    let stated = supports(&failure.message, failure.status, route).numbers.retry_after_ms.map(|ms| ms as f64);
    let status = is_bodyless(&failure.message).or(failure.status.filter(|_| failure.message.trim().is_empty()));
    let failed = FailedAttempt {
        code: &failure.code,
        retry_after_ms: failure.retry_after_ms,
        hidden_retry_after_ms: stated.filter(|_| failure.retry_after_ms.is_none()),
        bodyless_client_error: matches!(status, Some(400 | 413)),
        fill: upper_fill(last),
        now_ms: 0.0,
        elapsed_ms: elapsed(session, last),
        previous_retry,
        cancelled_retries,
    };
    let base = Candidate::plain("recorded", "the policy of the log", policy);
    let outlook = Outlook { attempt: last, judgement, vicinity };
    edits(&base, &failed)
        .into_iter()
        .filter_map(|(edit, today)| {
            let mut candidate = base.clone();
            apply_edit(&mut candidate, &edit).ok()?;
            Some(Repair { effect: follow(&candidate, &failed, &outlook), edit, today })
        })
        .collect()
}

/// The repairs that are about this failure, with whether today's settings have them.
fn edits(base: &Candidate, failed: &FailedAttempt<'_>) -> Vec<(String, bool)> {
    let policy = &base.policy;
    let mut edits = Vec::new();
    let listed = policy.retries_code(failed.code);
    if !listed {
        edits.push((format!("retry {}", failed.code), true));
    }
    if failed.bodyless_client_error {
        edits.push(("gateway-503".to_owned(), false));
    }
    if is_overflow(failed.code) {
        edits.push(("evidence-guard 0.5".to_owned(), false));
    }
    let asked = failed.retry_after_ms.filter(|wait| listed && *wait > policy.backoff.max_delay_ms);
    if let Some(wait) = asked {
        if let Some(longest) = proposed_delay_ms(wait) {
            edits.push((format!("maxDelayMs {longest}"), true));
        }
        edits.push(("clamp".to_owned(), false));
    }
    if listed && asked.is_none() && policy.mode == RetryMode::Normal && failed.previous_retry >= policy.max_retries {
        edits.push((format!("maxRetries {}", policy.max_retries.saturating_mul(2).max(10)), true));
        edits.push(("time-budget 30m".to_owned(), false));
    }
    if failed.hidden_retry_after_ms.is_some() {
        edits.push(("expose-retry-after".to_owned(), false));
    }
    if failed.cancelled_retries > 0 {
        edits.push(("uncounted-cancelled".to_owned(), false));
    }
    if policy.mode == RetryMode::Normal {
        edits.push(("mode always".to_owned(), true));
    }
    edits
}

fn upper_fill(attempt: &AttemptRow) -> Option<f64> {
    let request = attempt.request.as_ref()?;
    let window = attempt.window.filter(|w| *w > 0)?;
    Some(request.tokens?.high.saturating_add(request.reserved_output?) as f64 / window as f64)
}

/// Milliseconds since the first failure of the step.
fn elapsed(session: &SessionRows, last: &AttemptRow) -> f64 {
    let step = (last.turn, last.step);
    let first = session.attempts.iter().find(|a| (a.turn, a.step) == step && a.outcome == Outcome::Failed);
    let span = first.and_then(|a| a.time).zip(last.time).map_or(0, |(first, last)| last.saturating_sub(first));
    span.max(0) as f64
}

/// Follows one candidate from the failure on, every try failing until the log shows an answer.
fn follow(candidate: &Candidate, failed: &FailedAttempt<'_>, outlook: &Outlook<'_>) -> Effect {
    let (mut chain, mut route, mut now) = (ChainState::default(), RouteState::default(), 0.0);
    let mut attempt = *failed;
    let mut first_delay = None;
    for _ in 0..MOST_RETRIES {
        match decide_with_fixes(candidate, &attempt, &mut chain, &mut route, 0.5) {
            FixedDecision::Retry { retry, delay_ms, .. } => {
                first_delay.get_or_insert(delay_ms);
                now += delay_ms;
                attempt.now_ms += delay_ms;
                attempt.elapsed_ms += delay_ms;
                attempt.previous_retry = retry;
                attempt.cancelled_retries = 0;
            }
            FixedDecision::GiveUp { reason } if first_delay.is_none() => return Effect::GivesUp(reason),
            FixedDecision::GiveUp { .. } | FixedDecision::FailOver { .. } => break,
        }
        if now > LONGEST_MS {
            break;
        }
    }
    Effect::Retries { delay_ms: first_delay.unwrap_or(0.0), chance: outlook.chance(now) }
}

/// What the log shows of the time after the failure.
struct Outlook<'a> {
    attempt: &'a AttemptRow,
    judgement: &'a Judgement,
    vicinity: &'a Vicinity,
}

impl Outlook<'_> {
    fn chance(&self, last_try_ms: f64) -> Chance {
        match self.judgement.fixable_by {
            FixableBy::Time | FixableBy::Unknown => {}
            FixableBy::Request | FixableBy::BodySize | FixableBy::Account | FixableBy::Config | FixableBy::User => {
                return Chance::FailsAgain;
            }
        }
        let Some(answer) = self.vicinity.answer else { return Chance::Unknown };
        let after_ms = answer.after_ms;
        if after_ms as f64 > last_try_ms {
            Chance::AnsweredLater { last_try_ms, after_ms }
        } else if answer.identical || !self.may_be_size() || answer.tokens >= self.smallest() {
            Chance::Answered { after_ms, identical: answer.identical }
        } else {
            Chance::AnsweredSmaller { after_ms }
        }
    }

    /// Whether the size of the request could still be the cause: the cause is open.
    fn may_be_size(&self) -> bool {
        self.judgement.supported_code == SupportedCode::Undetermined
    }

    fn smallest(&self) -> Option<u64> {
        self.attempt.request.as_ref()?.tokens.map(|t| t.low)
    }
}
