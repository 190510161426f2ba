//! No window is known where one is needed to judge an overflow.

use crate::evidence::{FixableBy, SupportedCode};
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft};
use crate::message;

rule!("window-unknown", Note, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| {
        let about_size = case.is_overflow_code() || case.text.code == SupportedCode::ContextWindowExceeded;
        case.attempt.window.is_none() && about_size
    });
    let draft = Draft::of_cases(context, &cases, message!("findings.window-unknown"))?;
    Some(draft.confidence(Confidence::High).fixable_by(FixableBy::Config))
}
