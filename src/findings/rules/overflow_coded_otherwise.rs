//! A real overflow that the harness gave another code: nothing compacts, the next request is as large.

use crate::evidence::{SupportedCode, Verdict};
use crate::findings::rule::rule;
use crate::findings::{Context, Draft};
use crate::message;

rule!("overflow-coded-otherwise", Error, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| {
        !case.is_overflow_code()
            && case.judgement.supported_code == SupportedCode::ContextWindowExceeded
            && matches!(case.judgement.verdict, Verdict::Contradicted | Verdict::Uninformative)
    });
    Draft::of_cases(context, &cases, message!("findings.overflow-coded-otherwise"))
}
