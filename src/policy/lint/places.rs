//! Settings at the wrong place: policies that nothing reads, fields that were removed or belong one level deeper.

use super::{LintHit, hit, refused};
use crate::message;
use crate::policy::resolve::{BACKOFF_KEYS, POLICY_KEYS};
use crate::policy::settings::{Adapter, DEEPSEEK_ROUTE, FileKind, RouteSettings, SettingsFile};
use crate::policy::spelling::{did_you_mean, normalized};

/// Policies that nothing reads.
pub(super) fn misplaced(file: &SettingsFile, hits: &mut Vec<LintHit>) {
    for found in &file.misplaced {
        let path = found.path.join(".");
        let spelled = found.path.last().is_some_and(|key| key == "retryPolicy");
        let executor = "llm-retry: retryPolicy belongs under each provider configuration";
        let (message, reason) = if found.under_executor && file.kind == FileKind::Cordis {
            (message!("lint.harness", text = executor), message!("lint.executor-not-loaded"))
        } else if found.under_executor {
            (
                message!("lint.executor-in-settings", path = path, text = executor),
                message!("lint.executor-in-settings-why"),
            )
        } else {
            (message!("lint.nothing-reads", path = path), message!("lint.kept-default"))
        };
        let fix = if spelled { message!("lint.move-to-places") } else { message!("lint.write-at-places") };
        hits.push(hit("policy-wrong-place", found.line, message, fix, reason));
    }
    if file.kind == FileKind::Cordis {
        refused::executor_rows(&file.root, hits);
    }
    if file.kind == FileKind::Settings {
        sections(file, hits);
    }
}

/// Sections whose name is nearly one of the adapters'.
fn sections(file: &SettingsFile, hits: &mut Vec<LintHit>) {
    for section in file.root.entries() {
        let near = did_you_mean(&section.key, ["llm-pi-ai", "llm-deepseek"]);
        if let Some(known) = near.filter(|_| section.key != "llm-pi-ai" && section.key != "llm-deepseek") {
            hits.push(hit(
                "policy-wrong-place",
                section.line,
                message!("lint.unread-section", section = &section.key),
                message!("lint.did-you-mean", word = known),
                message!("lint.kept-sections"),
            ));
        }
    }
}

/// Fields of a provider's profile.
pub(super) fn profiles(file: &SettingsFile, hits: &mut Vec<LintHit>) {
    for route in &file.routes {
        if route.adapter == Adapter::PiAi {
            removed(route, hits);
            if route.route == DEEPSEEK_ROUTE {
                let sentence = format!("an adapter for provider \"{DEEPSEEK_ROUTE}\" is already registered");
                hits.push(hit(
                    "route-taken",
                    route.line,
                    message!("lint.harness", text = sentence),
                    message!("lint.route-taken-fix"),
                    message!("lint.route-taken-why"),
                ));
            }
        }
        level(route, hits);
    }
}

/// Fields that releases before the first public one had.
fn removed(route: &RouteSettings, hits: &mut Vec<LintHit>) {
    let name = &route.route;
    if let Some(entry) = route.profile.entry("provider") {
        let sentence =
            format!("llm-pi-ai: provider \"{name}\" sets \"provider\", which moved to the providers dict key");
        hits.push(hit(
            "policy-removed-field",
            entry.line,
            message!("lint.harness", text = sentence),
            message!("lint.provider-key-fix"),
            message!("lint.whole-section"),
        ));
    }
    for key in ["maxRetries", "maxRetryDelayMs"] {
        if let Some(entry) = route.profile.entry(key) {
            let sentence = format!(
                "llm-pi-ai: provider \"{name}\" sets maxRetries or maxRetryDelayMs, which were removed; compose agent \
                 recovery with dsh-llm-retry"
            );
            let place = if key == "maxRetries" { "retryPolicy.maxRetries" } else { "retryPolicy.backoff.maxDelayMs" };
            hits.push(hit(
                "policy-removed-field",
                entry.line,
                message!("lint.harness", text = sentence),
                message!("lint.write-instead", place = place),
                message!("lint.whole-section"),
            ));
        }
    }
}

/// Keys of a policy one level too high.
fn level(route: &RouteSettings, hits: &mut Vec<LintHit>) {
    for entry in route.profile.entries() {
        let same = |key: &&str| normalized(key) == normalized(&entry.key);
        let refused_already = route.adapter == Adapter::PiAi && entry.key == "maxRetries";
        let place = if refused_already {
            None
        } else if let Some(key) = POLICY_KEYS.iter().find(|key| same(key)) {
            Some(format!("retryPolicy.{key}"))
        } else {
            BACKOFF_KEYS.iter().find(|key| same(key)).map(|key| format!("retryPolicy.backoff.{key}"))
        };
        let near = did_you_mean(&entry.key, ["retryPolicy"])
            .filter(|_| normalized(&entry.key) != normalized("retryPolicy"))
            .map(str::to_owned);
        if let Some(place) = place.or(near) {
            hits.push(hit(
                "policy-wrong-place",
                entry.line,
                message!("lint.nothing-reads-of-route", key = &entry.key, route = &route.route),
                message!("lint.write", what = place),
                message!("lint.kept-keys"),
            ));
        }
    }
}
