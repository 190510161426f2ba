//! A limit that nobody states: on one route all large requests fail and all smaller ones succeed.

use std::collections::BTreeMap;

use crate::evidence::{FixableBy, SupportedCode};
use crate::findings::rule::rule;
use crate::findings::{Case, Confidence, Context, Draft, route_name};
use crate::message;
use crate::report::numbers::{bytes, grouped};
use crate::session::{Outcome, Route};

rule!("hidden-size-limit", Warning, Preview);

/// Fewer failures could be chance.
const LEAST_FAILURES: usize = 5;
/// Fewer successes show no threshold.
const LEAST_SUCCESSES: usize = 20;

#[derive(Default)]
struct Sizes<'c, 'a> {
    failing: Vec<&'c Case<'a>>,
    smallest_failing: Option<u64>,
    largest_succeeding: Option<u64>,
    succeeding: usize,
}

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut routes: BTreeMap<&Route, Sizes<'_, '_>> = BTreeMap::new();
    for case in context.cases.iter().filter(|case| may_be_size(case)) {
        let Some(size) = case.attempt.request.as_ref().and_then(|r| r.body_bytes) else { continue };
        let sizes = routes.entry(&case.attempt.route).or_default();
        sizes.smallest_failing = Some(sizes.smallest_failing.map_or(size, |s| s.min(size)));
        sizes.failing.push(case);
    }
    for attempt in context.sessions().iter().flat_map(|s| &s.attempts).filter(|a| a.outcome == Outcome::Succeeded) {
        let size = attempt.request.as_ref().and_then(|r| r.body_bytes);
        let (Some(sizes), Some(size)) = (routes.get_mut(attempt.route.as_ref()), size) else { continue };
        sizes.succeeding += 1;
        sizes.largest_succeeding = sizes.largest_succeeding.max(Some(size));
    }
    routes.retain(|route, sizes| is_limit(context, route, sizes));
    let cases: Vec<&Case<'_>> = routes.values().flat_map(|sizes| sizes.failing.iter().copied()).collect();
    let mut draft = Draft::of_cases(context, &cases, message!("findings.hidden-size-limit"))?
        .confidence(Confidence::Medium)
        .fixable_by(FixableBy::BodySize);
    for (route, sizes) in &routes {
        if let Some((smallest, largest)) = sizes.smallest_failing.zip(sizes.largest_succeeding) {
            draft = draft.seen(message!(
                "findings.seen-threshold",
                route = route_name(route),
                failures = grouped(sizes.failing.len() as u64),
                smallest = bytes(smallest),
                successes = grouped(sizes.succeeding as u64),
                largest = bytes(largest),
            ));
        }
    }
    Some(draft)
}

/// A failure that a limit on the size could explain, and that does not explain itself.
fn may_be_size(case: &Case<'_>) -> bool {
    matches!(case.text.code, SupportedCode::Undetermined | SupportedCode::BodyTooLarge)
}

/// Every failure is larger than every success; the successes go on between and after the failures, so that no outage
/// explains it; and the window has room.
fn is_limit(context: &Context<'_>, route: &Route, sizes: &Sizes<'_, '_>) -> bool {
    let apart = sizes.smallest_failing.zip(sizes.largest_succeeding).is_some_and(|(failing, ok)| failing > ok);
    let times = || sizes.failing.iter().filter_map(|case| case.attempt.time);
    let mut sessions: Vec<usize> = sizes.failing.iter().map(|case| case.session_index).collect();
    sessions.dedup();
    let fills = sizes.failing.iter().filter_map(|case| {
        let tokens = case.attempt.request.as_ref()?.tokens?;
        Some(tokens.high as f64 / case.attempt.window? as f64)
    });
    let between = times().min().zip(times().max()).map_or(0, |(from, to)| context.successes_between(route, from, to));
    apart
        && sizes.failing.len() >= LEAST_FAILURES
        && sizes.succeeding >= LEAST_SUCCESSES
        && sessions.len() >= 2
        && between >= sizes.failing.len()
        && times().max().is_some_and(|last| context.next_success(route, last).is_some())
        && fills.fold(0.0, f64::max) < 0.9
}
