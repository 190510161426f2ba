//! A request that is wrong in itself: it fails the same way until the history is repaired.

use super::orphan_tool_call::names_orphan;
use crate::evidence::{FixableBy, SupportedCode, Verdict};
use crate::findings::rule::rule;
use crate::findings::{Context, Draft};
use crate::message;

rule!("deterministic-invalid-request", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| {
        case.text.code == SupportedCode::InvalidRequest
            && case.text.fixable_by == FixableBy::Request
            // A bare 400 with a body of unknown wording is no proof: only wordings of the catalogue are.
            && !case.text.pattern_id.starts_with("status.")
            && case.judgement.verdict != Verdict::Contradicted
            && !names_orphan(&case.failure.message)
    });
    Draft::of_cases(context, &cases, message!("findings.deterministic-invalid-request"))
}
