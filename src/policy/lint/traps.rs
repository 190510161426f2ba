//! Settings that the harness accepts and that fail when they are needed.

use super::{LintHit, hit};
use crate::message;
use crate::policy::model::{INTRINSIC_CODES, KNOWN_CODES, RetryMode, RetryPolicy};
use crate::policy::node::Node;
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
                message!("lint.never-retries", route = &route.route),
                message!("lint.never-retries-fix"),
                message!("lint.never-retries-why"),
            ));
        }
    }
}

fn dropped_codes(route: &RouteSettings, policy: &RetryPolicy, hits: &mut Vec<LintHit>) {
    let dropped = policy.dropped_default_codes();
    if !dropped.is_empty() {
        let codes = dropped.join(", ");
        hits.push(hit(
            "policy-drops-default-codes",
            route.line_of("retryableCodes"),
            message!("lint.drops-codes", route = &route.route).with_words("codes", &dropped),
            message!("lint.add", codes = codes),
            message!("lint.list-replaces"),
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
        let fix = did_you_mean(code, KNOWN_CODES)
            .map_or_else(|| message!("lint.unknown-code-fix"), |near| message!("lint.did-you-mean", word = near));
        hits.push(hit(
            "policy-unknown-code",
            item.line,
            message!("lint.unknown-code", code = code),
            fix,
            message!("lint.unknown-code-why"),
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
                message!("lint.ignored", key = key),
                message!("lint.ignored-fix", key = key),
                message!("lint.ignored-why"),
            ));
        }
    }
}

fn always_without_facts(route: &RouteSettings, hits: &mut Vec<LintHit>) {
    hits.push(hit(
        "policy-always-intrinsic",
        route.line_of("mode"),
        message!("lint.always", route = &route.route),
        message!("lint.always-fix"),
        message!("lint.always-why").with_words("codes", &INTRINSIC_CODES[..6]),
    ));
}
