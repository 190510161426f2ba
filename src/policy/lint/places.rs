//! Settings at the wrong place: policies that nothing reads, fields that were removed or belong one level deeper.

use super::{LintHit, hit, refused};
use crate::policy::resolve::{BACKOFF_KEYS, POLICY_KEYS};
use crate::policy::settings::{Adapter, DEEPSEEK_ROUTE, FileKind, RouteSettings, SettingsFile};
use crate::policy::spelling::{did_you_mean, normalized};

const PLACES: &str = "llm-pi-ai.providers.<name>.retryPolicy, or llm-deepseek.retryPolicy for deepseek-official";

/// Policies that nothing reads.
pub(super) fn misplaced(file: &SettingsFile, hits: &mut Vec<LintHit>) {
    for found in &file.misplaced {
        let path = found.path.join(".");
        let spelled = found.path.last().is_some_and(|key| key == "retryPolicy");
        let executor = "llm-retry: retryPolicy belongs under each provider configuration";
        let (message, reason) = if found.under_executor && file.kind == FileKind::Cordis {
            (executor.to_owned(), "the plugin does not load, and without it nothing is retried".to_owned())
        } else if found.under_executor {
            (
                format!("nothing reads {path}; as a plugin's configuration the harness refuses it: {executor}"),
                "settings.yaml has no section of this name: the policy has no effect, and nothing says so".to_owned(),
            )
        } else {
            (
                format!("nothing reads {path}"),
                "the harness keeps keys that it does not know and says nothing: the default policy stays in force"
                    .to_owned(),
            )
        };
        let fix = if spelled { format!("move it to {PLACES}") } else { format!("write retryPolicy, at {PLACES}") };
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
                format!("nothing reads the section \"{}\"", section.key),
                format!("did you mean {known}?"),
                "the harness keeps sections of plugins that are not loaded and says nothing".to_owned(),
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
                hits.push(hit(
                    "route-taken",
                    route.line,
                    format!("an adapter for provider \"{DEEPSEEK_ROUTE}\" is already registered"),
                    "name the provider differently, or set the policy of llm-deepseek".to_owned(),
                    "the route belongs to llm-deepseek: llm-pi-ai keeps the routes that it had before".to_owned(),
                ));
            }
        }
        level(route, hits);
    }
}

/// Fields that releases before the first public one had.
fn removed(route: &RouteSettings, hits: &mut Vec<LintHit>) {
    let name = &route.route;
    let reason = "the harness refuses the whole section: no provider of it gets its new settings".to_owned();
    if let Some(entry) = route.profile.entry("provider") {
        let message =
            format!("llm-pi-ai: provider \"{name}\" sets \"provider\", which moved to the providers dict key");
        let fix = "take it away: the key above is the provider's name".to_owned();
        hits.push(hit("policy-removed-field", entry.line, message, fix, reason.clone()));
    }
    for key in ["maxRetries", "maxRetryDelayMs"] {
        if let Some(entry) = route.profile.entry(key) {
            let message = format!(
                "llm-pi-ai: provider \"{name}\" sets maxRetries or maxRetryDelayMs, which were removed; compose agent \
                 recovery with dsh-llm-retry"
            );
            let place = if key == "maxRetries" { "retryPolicy.maxRetries" } else { "retryPolicy.backoff.maxDelayMs" };
            hits.push(hit(
                "policy-removed-field",
                entry.line,
                message,
                format!("write {place} instead"),
                reason.clone(),
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
                format!("nothing reads {} of route {}", entry.key, route.route),
                format!("write {place}"),
                "the harness keeps keys that it does not know and says nothing".to_owned(),
            ));
        }
    }
}
