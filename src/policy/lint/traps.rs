//! Settings that the harness accepts and that fail when they are needed.

use std::collections::BTreeMap;

use super::{ArchiveFacts, LintHit, RouteFacts, hit};
use crate::policy::model::{
    DEFAULT_RETRYABLE_CODES, INTRINSIC_CODES, KNOWN_CODES, MAX_TIMER_DELAY_MS, RetryMode, RetryPolicy,
    retried_by_default,
};
use crate::policy::node::Node;
use crate::policy::schedule::{duration_words, total_wait};
use crate::policy::settings::{RouteSettings, SettingsFile};
use crate::policy::spelling::did_you_mean;

/// Traps that the file alone shows.
pub(super) fn of_file(file: &SettingsFile, hits: &mut Vec<LintHit>) {
    for route in &file.routes {
        let Ok(policy) = &route.policy else { continue };
        if route.written.is_none() {
            continue;
        }
        dropped_codes(route, policy, hits);
        unknown_codes(route, policy, hits);
        if policy.mode == RetryMode::Always {
            ignored_fields(route, hits);
            always_without_facts(route, hits);
        } else if policy.max_retries == 0 {
            hits.push(hit(
                "policy-no-retries",
                route.line_of("maxRetries"),
                format!("route {} never retries", route.route),
                "take maxRetries away for the default (5; 2 up to 0.1.0-rc.7)".to_owned(),
                "the first failure ends the turn".to_owned(),
            ));
        }
    }
}

fn dropped_codes(route: &RouteSettings, policy: &RetryPolicy, hits: &mut Vec<LintHit>) {
    let dropped = policy.dropped_default_codes();
    if !dropped.is_empty() {
        hits.push(hit(
            "policy-drops-default-codes",
            route.line_of("retryableCodes"),
            format!("route {} no longer retries {}", route.route, dropped.join(", ")),
            format!("add {}", dropped.join(", ")),
            "retryableCodes replaces the default list, it does not add to it".to_owned(),
        ));
    }
}

fn unknown_codes(route: &RouteSettings, policy: &RetryPolicy, hits: &mut Vec<LintHit>) {
    if policy.mode == RetryMode::Always {
        return;
    }
    let items = route.written.as_ref().and_then(|entry| entry.node.get("retryableCodes")).map(Node::items);
    for item in items.unwrap_or_default() {
        let Some(code) = item.text() else { continue };
        if KNOWN_CODES.contains(&code) || is_http_code(code) {
            continue;
        }
        let fix = did_you_mean(code, KNOWN_CODES).map_or_else(
            || "take it away, or keep it for a plugin that writes it".to_owned(),
            |near| format!("did you mean {near}?"),
        );
        hits.push(hit(
            "policy-unknown-code",
            item.line,
            format!("no adapter of the harness writes the code {code}"),
            fix,
            "codes are compared letter by letter: this entry matches no failure".to_owned(),
        ));
    }
}

fn is_http_code(code: &str) -> bool {
    code.strip_prefix("HTTP_").is_some_and(|status| status.len() == 3 && status.bytes().all(|b| b.is_ascii_digit()))
}

fn ignored_fields(route: &RouteSettings, hits: &mut Vec<LintHit>) {
    for key in ["maxRetries", "retryableCodes"] {
        let entry = route.written.as_ref().and_then(|written| written.node.entry(key));
        if let Some(entry) = entry {
            hits.push(hit(
                "policy-ignored-field",
                entry.line,
                format!("mode always ignores {key}"),
                format!("take {key} away, or write mode: normal"),
                "the retries have no end and no filter, whatever stands here".to_owned(),
            ));
        }
    }
}

fn always_without_facts(route: &RouteSettings, hits: &mut Vec<LintHit>) {
    hits.push(hit(
        "policy-always-intrinsic",
        route.line_of("mode"),
        format!("route {} retries every failure without end, a wrong key or an empty account included", route.route),
        "write mode: normal with a large maxRetries and the codes that heal with time".to_owned(),
        format!("{} do not heal by waiting", INTRINSIC_CODES[..6].join(", ")),
    ));
}

/// Traps that only the failures of an archive show.
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
        always(route, policy, seen, hits);
    }
    for (name, seen) in &facts.routes {
        let configured = file.routes.iter().any(|route| route.route == *name && route.written.is_some());
        if !configured && seen.failures > 0 && !file.routes.is_empty() {
            hits.push(hit(
                "route-without-policy",
                file.routes.iter().find(|route| route.route == *name).map_or(1, |route| route.line),
                format!("route {name} failed {} times and has no retryPolicy here", seen.failures),
                "give it one, or leave it at the default".to_owned(),
                "a policy of one provider does not reach the others".to_owned(),
            ));
        }
    }
}

fn not_seen(route: &RouteSettings, facts: &ArchiveFacts, hits: &mut Vec<LintHit>) {
    let names = facts.routes.keys().map(String::as_str);
    let fix = did_you_mean(&route.route, names.clone()).map_or_else(
        || format!("set the policy of the route in use: {}", names.collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean {near}?"),
    );
    hits.push(hit(
        "route-not-seen",
        route.line,
        format!("no request of the archive went to route {}", route.route),
        fix,
        "a policy binds the provider whose name it stands under, letter by letter".to_owned(),
    ));
}

fn retry_after(route: &RouteSettings, policy: &RetryPolicy, seen: &RouteFacts, hits: &mut Vec<LintHit>) {
    let cap = policy.backoff.max_delay_ms;
    let Some(longest) = seen.max_retry_after_ms.filter(|longest| *longest > cap) else {
        return;
    };
    let reason = match policy.mode {
        RetryMode::Normal => "above maxDelayMs, mode normal gives up at once and says nothing",
        RetryMode::Always => "above maxDelayMs, mode always ignores it and asks again too early",
    };
    hits.push(hit(
        "policy-retry-after-above-cap",
        route.line_of("maxDelayMs"),
        format!(
            "route {}: Retry-After of up to {} was seen, maxDelayMs is {}",
            route.route,
            duration_words(longest),
            duration_words(cap)
        ),
        format!("write maxDelayMs: {} or more", longest.ceil().min(MAX_TIMER_DELAY_MS)),
        reason.to_owned(),
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
        Some(count) => {
            format!("write maxRetries: {count}, which waits longer than the longest of them")
        }
        None => format!("raise maxDelayMs: {} retries are not enough for {}", MOST_RETRIES, duration_words(longest)),
    };
    hits.push(hit(
        "policy-shorter-than-outages",
        route.line_of("maxRetries"),
        format!(
            "route {}: {} retries wait {} in all (at most {}); {} of {} outages were longer, the longest {}",
            route.route,
            policy.max_retries,
            duration_words(wait.typical_ms),
            duration_words(wait.max_ms),
            longer.len(),
            seen.outages_ms.len(),
            duration_words(longest)
        ),
        fix,
        "a chain that begins with such an outage ends inside it".to_owned(),
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
        format!(
            "route {} retries every failure without end; {} of its failures do not heal by waiting: {}",
            route.route,
            seen.intrinsic.values().sum::<u64>(),
            counts(&seen.intrinsic)
        ),
        format!("write mode: normal with retryableCodes {codes}"),
        "such a chain never ends by itself, and every attempt sends the whole request again".to_owned(),
    ));
}

fn counts(codes: &BTreeMap<String, u64>) -> String {
    codes.iter().map(|(code, count)| format!("{code} ({count})")).collect::<Vec<_>>().join(", ")
}
