//! A tool call without its result in the history: every later request of the session is refused.

use std::sync::LazyLock;

use regex::Regex;

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft};
use crate::message;

rule!("orphan-tool-call", Error, Stable);

/// How providers say it: OpenAI, DeepSeek, Anthropic, Gemini.
#[allow(clippy::expect_used)] // A constant pattern; a test uses it.
static WORDING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)insufficient tool messages|tool_calls?['’]? must be followed by tool messages|tool_call_ids? did not have response|without a corresponding `?tool_result|tool_use`? ids were found without|must be a response to a prec?eeding message with .?tool_calls|number of function response parts",
    )
    .expect("constant pattern")
});

/// Whether an error text says that calls and results do not match.
pub(super) fn names_orphan(text: &str) -> bool {
    WORDING.is_match(text)
}

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| names_orphan(&case.failure.message));
    let draft = Draft::of_cases(context, &cases, message!("findings.orphan-tool-call"))?;
    Some(draft.confidence(Confidence::High).fixable_by(FixableBy::Request))
}
