//! A number in the prose of an error that the classifier took for an HTTP status.

use crate::evidence::message::{embedded_status, leading_status};
use crate::evidence::{ReleaseRules, Route, SupportedCode, classify_pi_ai};
use crate::findings::rule::rule;
use crate::findings::{Case, Context, Draft};
use crate::message;

rule!("number-read-as-status", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(misread);
    Draft::of_cases(context, &cases, message!("findings.number-read-as-status"))
}

/// The code comes from a rule that looks for a number as a word, the number is no status of this answer, and the text
/// speaks of something else.
fn misread(case: &Case<'_>) -> bool {
    if case.adapter() != Route::PiAi || case.text.code == SupportedCode::Undetermined {
        return false;
    }
    if case.text.code.as_str() == case.failure.code {
        return false;
    }
    let text = case.failure.message.as_str();
    let (rules, _) = ReleaseRules::for_versions(Some("0.1.1"), None);
    let code = classify_pi_ai(text, rules, Some(&case.attempt.route.provider));
    let number = code.matched.as_deref().and_then(|matched| matched.parse::<u16>().ok());
    let Some(number) = number.filter(|_| code.code == case.failure.code.as_str()) else { return false };
    let statuses = [leading_status(text), embedded_status(text), case.failure.status];
    (100..=599).contains(&number) && !statuses.contains(&Some(number))
}
