//! Retries sent earlier than the provider asked for.

use crate::evidence::{FixableBy, Route as Adapter, supports, verdict};
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit, route_name};
use crate::message;
use crate::report::numbers::{grouped, span};
use crate::session::{AttemptRow, Outcome, RetryRow, SessionRows};

rule!("retry-before-retry-after", Warning, Stable);

/// Waits this much shorter than asked for are rounding.
const ROUNDING: f64 = 0.9;

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut found: Vec<(&SessionRows, &RetryRow, &AttemptRow, f64)> = Vec::new();
    for session in context.sessions() {
        for (retry, attempt) in context.retries(session).filter(|(retry, _)| retry.started) {
            if let Some(asked) = asked_ms(retry, attempt).filter(|asked| retry.retry.delay_ms < asked * ROUNDING) {
                found.push((session, retry, attempt, asked));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let outcome = |session: &SessionRows, retry: &RetryRow| Some(session.attempts.get(retry.next_attempt?)?.outcome);
    let failed =
        found.iter().filter(|(session, retry, ..)| outcome(session, retry) == Some(Outcome::Failed)).count() as u64;
    let draft = Draft::new(found.len() as u64, Unit::Retries, message!("findings.retry-before-retry-after"))
        .confidence(Confidence::High)
        .fixable_by(FixableBy::Config)
        .by_route(found.iter().map(|(_, _, attempt, _)| attempt.route.as_ref()))
        .seen(message!("findings.seen-early", failed = grouped(failed), n = grouped(found.len() as u64)));
    Some(found.into_iter().fold(draft, |draft, (session, retry, attempt, asked)| {
        let text = message!(
            "findings.example-early",
            route = route_name(&attempt.route),
            asked = span(asked as i64),
            waited = span(retry.retry.delay_ms as i64),
        );
        draft.place(session, retry.seq, text)
    }))
}

/// Retry-After as the adapter logged it, else the wait that the text names (pi-ai passes no header on).
fn asked_ms(retry: &RetryRow, attempt: &AttemptRow) -> Option<f64> {
    let failure = &retry.retry.failure;
    let logged = failure.retry_after_ms.filter(|ms| ms.is_finite() && *ms > 0.0);
    let adapter = verdict::adapter(&attempt.route.provider);
    let named = || supports(&failure.message, failure.status, adapter).numbers.retry_after_ms.map(|ms| ms as f64);
    logged.or_else(|| (adapter == Adapter::PiAi).then(named).flatten())
}
