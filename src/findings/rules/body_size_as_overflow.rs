//! A limit on bytes that the harness takes for a full context window.

use crate::evidence::SupportedCode;
use crate::findings::rule::rule;
use crate::findings::{Context, Draft};
use crate::message;
use crate::report::numbers::bytes;

rule!("body-size-as-overflow", Error, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| case.is_overflow_code() && case.text.code == SupportedCode::BodyTooLarge);
    let sizes = || cases.iter().filter_map(|case| case.attempt.request.as_ref()?.body_bytes);
    let draft = Draft::of_cases(context, &cases, message!("findings.body-size-as-overflow"))?;
    let (smallest, largest) = (sizes().min(), sizes().max());
    Some(match smallest.zip(largest) {
        Some((smallest, largest)) => {
            draft.seen(message!("findings.seen-bodies", smallest = bytes(smallest), largest = bytes(largest)))
        }
        None => draft,
    })
}
