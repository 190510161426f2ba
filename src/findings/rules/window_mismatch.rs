//! The window in the log is not the one that the provider enforces.

use std::collections::BTreeMap;

use crate::context_window::WindowSource;
use crate::evidence::{FixableBy, SupportedCode};
use crate::findings::rule::rule;
use crate::findings::{Case, Confidence, Context, Draft, route_name};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::Route;

rule!("window-mismatch", Warning, Stable);

/// Differences below this share are rounding of the same number.
const TOLERANCE: f64 = 0.01;

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| stated(case).is_some());
    let mut limits: BTreeMap<(&Route, u64, u64), u64> = BTreeMap::new();
    for case in &cases {
        if let Some((window, limit)) = stated(case) {
            *limits.entry((case.attempt.route.as_ref(), window, limit)).or_default() += 1;
        }
    }
    let mut draft = Draft::of_cases(context, &cases, message!("findings.window-mismatch"))?
        .confidence(Confidence::High)
        .fixable_by(FixableBy::Config);
    for ((route, window, limit), count) in limits.into_iter().take(5) {
        draft = draft.seen(message!(
            "findings.seen-limit",
            route = route_name(route),
            n = grouped(count),
            limit = grouped(limit),
            window = grouped(window),
        ));
    }
    Some(draft)
}

/// The window as logged, configured or given, and the limit of a whole request that the provider states, where they differ.
fn stated(case: &Case<'_>) -> Option<(u64, u64)> {
    let known = case.attempt.window_source.is_some_and(|source| source != WindowSource::ErrorMessage);
    let window = case.attempt.window.filter(|window| known && *window > 0)?;
    let limit = case.text.numbers.limit_tokens.filter(|_| case.text.code == SupportedCode::ContextWindowExceeded)?;
    let differs = limit.abs_diff(window) as f64 > window as f64 * TOLERANCE;
    differs.then_some((window, limit))
}
