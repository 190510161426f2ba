//! A session that ended on a failure which waiting would have healed, and that nobody continued.

use crate::event::TurnEndKind;
use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Case, Confidence, Context, Draft, Unit};
use crate::message;
use crate::report::numbers::{grouped, span};

rule!("autonomous-run-stopped", Error, Stable);

/// The route answered others again within this time, milliseconds.
const SOON_MS: i64 = 60 * 60_000;
/// The archive goes on at least this long after the stop, milliseconds: a user at the keyboard would have gone on.
const AFTERWARDS_MS: i64 = 60 * 60_000;

fn check(context: &Context<'_>) -> Option<Draft> {
    let end = context.summary.last_time?;
    let stopped = context.cases_where(|case| stopped_for_good(context, case, end));
    let first = stopped.first()?;
    let subagents = stopped.iter().filter(|c| c.session.origin.as_deref() == Some("subagent")).count() as u64;
    let steps: u64 = stopped.iter().map(|c| c.session.steps.len() as u64).sum();
    let lost: i64 =
        stopped.iter().filter_map(|c| Some(end.saturating_sub(c.attempt.time?))).fold(0, i64::saturating_add);
    let draft = Draft::new(stopped.len() as u64, Unit::Sessions, message!("findings.autonomous-run-stopped"))
        .confidence(Confidence::Medium)
        .fixable_by(first.judgement.fixable_by)
        .by_route(stopped.iter().map(|c| c.attempt.route.as_ref()))
        .seen(message!(
            "findings.seen-stopped",
            steps = grouped(steps),
            lost = span(lost),
            subagents = grouped(subagents)
        ));
    Some(stopped.into_iter().fold(draft, |draft, case| draft.place(case.session, case.attempt.seq, case.in_words())))
}

/// The last turn gave up with this failure, and the route answered another request soon after.
fn stopped_for_good(context: &Context<'_>, case: &Case<'_>, end: i64) -> bool {
    let last = case.session.turns.last();
    let gave_up = last.is_some_and(|t| t.turn == case.attempt.turn && t.end == Some(TurnEndKind::Error));
    let Some(time) = case.attempt.time.filter(|_| gave_up && case.ends_step) else { return false };
    // An attempt of the same session after it would mean that it went on.
    let is_last = case.session.attempts.iter().skip(case.index + 1).all(|a| a.turn == case.attempt.turn);
    let soon = context.next_success(&case.attempt.route, time).is_some_and(|next| next - time <= SOON_MS);
    is_last
        && soon
        && case.judgement.fixable_by == FixableBy::Time
        && end.saturating_sub(time) >= AFTERWARDS_MS
        && case.session.last_time.is_none_or(|last| last.saturating_sub(time) < AFTERWARDS_MS)
}
