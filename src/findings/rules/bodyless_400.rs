//! A 400 or 413 without a body: the answer says nothing, and the code is a guess.

use crate::evidence::is_bodyless;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft};
use crate::message;
use crate::report::numbers::grouped;

rule!("bodyless-400", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    // `llm-deepseek` logs the status apart and may leave the text empty.
    let silent_status = |case: &crate::findings::Case<'_>| {
        let text = case.failure.message.trim();
        if text.is_empty() { case.failure.status } else { is_bodyless(text) }
    };
    let cases = context.cases_where(|case| matches!(silent_status(case), Some(400 | 413)));
    let overflow = cases.iter().filter(|case| case.is_overflow_code()).count() as u64;
    let retried = cases.iter().filter(|case| case.attempt.retry.is_some()).count() as u64;
    let draft = Draft::of_cases(context, &cases, message!("findings.bodyless-400"))?;
    Some(draft.confidence(Confidence::High).seen(message!(
        "findings.seen-bodyless",
        all = grouped(cases.len() as u64),
        overflow = grouped(overflow),
        retried = grouped(retried),
    )))
}
