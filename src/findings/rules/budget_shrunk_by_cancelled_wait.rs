//! Retries that were never sent, and counted against the budget all the same.

use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, retries_by_step};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::Fate;

rule!("budget-shrunk-by-cancelled-wait", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut lost = 0u64;
    let mut cases = Vec::new();
    let mut last_session = None;
    let mut steps = Default::default();
    for case in &context.cases {
        if last_session != Some(case.session_index) {
            last_session = Some(case.session_index);
            steps = if case.session.retries.iter().all(|r| r.started) {
                Default::default()
            } else {
                retries_by_step(case.session)
            };
        }
        let gave_up = case.ends_step && case.attempt.retry.is_none() && case.attempt.fate == Some(Fate::GaveUp);
        let Some(retries) = steps.get(&(case.attempt.turn, case.attempt.step)).filter(|_| gave_up) else { continue };
        // The last wait is over: a later attempt followed it.
        let cancelled = retries.iter().filter(|r| !r.started && r.seq < case.attempt.first_seq).count() as u64;
        let spent = retries.last().and_then(|r| Some(r.retry.retry >= r.retry.max_retries?)).unwrap_or(false);
        if cancelled > 0 && spent {
            lost += cancelled;
            cases.push(case);
        }
    }
    let draft = Draft::of_cases(context, &cases, message!("findings.budget-shrunk-by-cancelled-wait"))?;
    Some(draft.confidence(Confidence::High).seen(message!("findings.seen-cancelled", n = grouped(lost))))
}
