//! The prompt fits; the output reserved beside it does not.

use crate::evidence::{FixableBy, Verdict};
use crate::findings::rule::rule;
use crate::findings::{Case, Context, Draft};
use crate::message;
use crate::report::numbers::optional;

rule!("output-reservation-overflow", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| {
        case.is_overflow_code()
            && case.judgement.verdict == Verdict::Supported
            && (case.text.numbers.overflow_by_output() || by_size(case))
    });
    let reserved = cases.iter().filter_map(|case| case.attempt.request.as_ref()?.reserved_output).max();
    let window = cases.iter().filter_map(|case| case.attempt.window).max();
    let draft = Draft::of_cases(context, &cases, message!("findings.output-reservation-overflow"))?;
    Some(draft.fixable_by(FixableBy::Config).seen(message!(
        "findings.seen-reserved",
        reserved = optional(reserved),
        window = optional(window)
    )))
}

/// The prompt alone surely fits, prompt and reserved output surely do not.
fn by_size(case: &Case<'_>) -> bool {
    let Some(request) = &case.attempt.request else { return false };
    let (Some(tokens), Some(reserved), Some(window)) = (request.tokens, request.reserved_output, case.attempt.window)
    else {
        return false;
    };
    tokens.high < window && tokens.low.saturating_add(reserved) > window
}
