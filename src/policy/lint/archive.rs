//! Traps that only the failures of an archive show.

use std::collections::BTreeMap;

use super::{ArchiveFacts, LintHit, RouteFacts, hit};
use crate::message;
use crate::policy::model::{DEFAULT_RETRYABLE_CODES, MAX_TIMER_DELAY_MS, RetryMode, RetryPolicy, retried_by_default};
use crate::policy::schedule::{duration, total_wait};
use crate::policy::settings::{RouteSettings, SettingsFile};
use crate::policy::spelling::did_you_mean;

/// Holds every route of the file against what the archive shows.
pub(super) fn of_archive(file: &SettingsFile, facts: &ArchiveFacts, hits: &mut Vec<LintHit>) {
    for route in &file.routes {
        let Ok(policy) = &route.policy else { continue };
        let Some(seen) = facts.routes.get(&route.route) else {
            if route.written.is_some() && !facts.routes.is_empty() {
                not_seen(route, facts, hits);
            }
            continue;
        };
        retry_after(route, policy, seen, hits);
        outages(route, policy, seen, hits);
        passing_codes(route, policy, seen, hits);
        always(route, policy, seen, hits);
    }
    for (name, seen) in &facts.routes {
        let configured = file.routes.iter().any(|route| route.route == *name && route.written.is_some());
        if !configured && seen.failures > 0 && !file.routes.is_empty() {
            hits.push(hit(
                "route-without-policy",
                file.routes.iter().find(|route| route.route == *name).map_or(1, |route| route.line),
                message!("lint.no-policy", route = name, n = seen.failures),
                message!("lint.no-policy-fix"),
                message!("lint.no-policy-why"),
            ));
        }
    }
}

fn not_seen(route: &RouteSettings, facts: &ArchiveFacts, hits: &mut Vec<LintHit>) {
    let names = facts.routes.keys().map(String::as_str);
    let fix = did_you_mean(&route.route, names.clone()).map_or_else(
        || message!("lint.route-in-use").with_words("routes", names),
        |near| message!("lint.did-you-mean", word = near),
    );
    hits.push(hit(
        "route-not-seen",
        route.line,
        message!("lint.route-not-seen", route = &route.route),
        fix,
        message!("lint.route-not-seen-why"),
    ));
}

fn retry_after(route: &RouteSettings, policy: &RetryPolicy, seen: &RouteFacts, hits: &mut Vec<LintHit>) {
    let cap = policy.backoff.max_delay_ms;
    let Some(longest) = seen.max_retry_after_ms.filter(|longest| *longest > cap) else {
        return;
    };
    let reason = match policy.mode {
        RetryMode::Normal => message!("lint.above-cap-normal"),
        RetryMode::Always => message!("lint.above-cap-always"),
    };
    hits.push(hit(
        "policy-retry-after-above-cap",
        route.line_of("maxDelayMs"),
        message!("lint.above-cap", route = &route.route, longest = duration(longest), cap = duration(cap)),
        message!("lint.above-cap-fix", ms = longest.ceil().min(MAX_TIMER_DELAY_MS)),
        reason,
    ));
}

fn outages(route: &RouteSettings, policy: &RetryPolicy, seen: &RouteFacts, hits: &mut Vec<LintHit>) {
    let Some(wait) = total_wait(policy) else {
        return;
    };
    let longer: Vec<f64> = seen.outages_ms.iter().copied().filter(|outage| *outage > wait.max_ms).collect();
    let Some(longest) = longer.iter().copied().reduce(f64::max) else {
        return;
    };
    let fix = match retries_for(policy, longest) {
        Some(count) => message!("lint.outages-fix", count = count),
        None => message!("lint.outages-raise", count = MOST_RETRIES, longest = duration(longest)),
    };
    hits.push(hit(
        "policy-shorter-than-outages",
        route.line_of("maxRetries"),
        message!(
            "lint.outages",
            route = &route.route,
            retries = policy.max_retries,
            typical = duration(wait.typical_ms),
            most = duration(wait.max_ms),
            longer = longer.len(),
            all = seen.outages_ms.len(),
            longest = duration(longest)
        ),
        fix,
        message!("lint.outages-why"),
    ));
}

/// More retries than this want longer delays instead.
const MOST_RETRIES: u64 = 200;

/// Retries whose shortest waits together outlast `duration_ms`.
fn retries_for(policy: &RetryPolicy, duration_ms: f64) -> Option<u64> {
    (policy.max_retries..=MOST_RETRIES).find(|count| {
        let longer = RetryPolicy { max_retries: *count, ..policy.clone() };
        total_wait(&longer).is_some_and(|wait| wait.min_ms > duration_ms)
    })
}

/// Failures that the evidence calls passing, under a code that the policy does not retry.
fn passing_codes(route: &RouteSettings, policy: &RetryPolicy, seen: &RouteFacts, hits: &mut Vec<LintHit>) {
    let missed: BTreeMap<String, u64> =
        seen.passing.iter().filter(|(code, _)| !policy.retries_code(code)).map(|(c, n)| (c.clone(), *n)).collect();
    if missed.is_empty() {
        return;
    }
    let codes: Vec<&str> = policy.codes_in_order().into_iter().chain(missed.keys().map(String::as_str)).collect();
    hits.push(hit(
        "policy-misses-passing-code",
        route.line_of("retryableCodes"),
        message!("lint.passing", route = &route.route, n = missed.values().sum::<u64>())
            .with_words("counts", counts(&missed)),
        message!("lint.passing-fix", codes = codes.join(", ")),
        message!("lint.passing-why"),
    ));
}

fn always(route: &RouteSettings, policy: &RetryPolicy, seen: &RouteFacts, hits: &mut Vec<LintHit>) {
    if policy.mode != RetryMode::Always || seen.intrinsic.is_empty() {
        return;
    }
    // The archive's own figures replace the general warning.
    let line = route.line_of("mode");
    hits.retain(|hit| !(hit.rule == "policy-always-intrinsic" && hit.line == line));
    let healing: Vec<&str> = seen
        .codes
        .keys()
        .map(String::as_str)
        .filter(|code| !seen.intrinsic.contains_key(*code) && !retried_by_default(code))
        .collect();
    let codes = DEFAULT_RETRYABLE_CODES.iter().copied().chain(healing).collect::<Vec<_>>().join(", ");
    hits.push(hit(
        "policy-always-intrinsic",
        line,
        message!("lint.always-seen", route = &route.route, n = seen.intrinsic.values().sum::<u64>())
            .with_words("counts", counts(&seen.intrinsic)),
        message!("lint.always-seen-fix", codes = codes),
        message!("lint.always-seen-why"),
    ));
}

fn counts(codes: &BTreeMap<String, u64>) -> impl Iterator<Item = String> {
    codes.iter().map(|(code, count)| format!("{code} ({count})"))
}
