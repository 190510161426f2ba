//! What the harness refuses, in its words. Sources: retry-policy.ts, llm-pi-ai/src/config.ts, settings and
//! settings-file of the harness, 0.1.0-rc.7 to 0.1.1-rc.2.

use super::{LintHit, hit};
use crate::policy::model::{MAX_TIMER_DELAY_MS, js_number};
use crate::policy::named::PolicyEntryError;
use crate::policy::node::{SyntaxError, Value};
use crate::policy::refusal::{Refusal, RefusalKind};
use crate::policy::release::Release;
use crate::policy::resolve::{BACKOFF_KEYS, POLICY_KEYS, default_codes_words};
use crate::policy::settings::{FileKind, SettingsFile, plugin_of};
use crate::policy::spelling::did_you_mean;

const LAST_GOOD: &str = "at start the harness does not load with it; while it runs, it keeps the last good settings and \
                         only warns, so the old policy stays in force";

/// A file that is no document.
pub(super) fn unreadable(kind: FileKind, file_name: &str, error: &SyntaxError) -> LintHit {
    let message = match kind {
        FileKind::Settings => format!("settings-file: invalid document at {file_name}: {error}"),
        FileKind::Cordis | FileKind::Policies => format!("{file_name}: {error}"),
    };
    hit("settings-unreadable", error.line, message, "repair the text at this line".to_owned(), LAST_GOOD.to_owned())
}

/// Sections that are no maps.
pub(super) fn document(file: &SettingsFile, hits: &mut Vec<LintHit>) {
    if file.kind != FileKind::Settings {
        return;
    }
    if !matches!(file.root.value, Value::Map(_) | Value::Null) {
        hits.push(hit(
            "settings-unreadable",
            file.root.line,
            "settings-file: the document must be a map of namespace sections".to_owned(),
            "start with a section such as llm-pi-ai:".to_owned(),
            LAST_GOOD.to_owned(),
        ));
    }
    for section in file.root.entries().iter().filter(|entry| entry.key == "llm-pi-ai" || entry.key == "llm-deepseek") {
        if !matches!(section.node.value, Value::Map(_)) {
            hits.push(hit(
                "settings-unreadable",
                section.line,
                format!("settings section \"{}\" must be an object of keys", section.key),
                "give the section its keys, or take it away".to_owned(),
                LAST_GOOD.to_owned(),
            ));
        }
        if section.key == "llm-pi-ai"
            && let Some(providers) = section.node.entry("providers")
            && matches!(providers.node.value, Value::List(_))
        {
            let message = "llm-pi-ai: providers is now a dict keyed by provider route, not an array of profiles";
            let objects = vec!["[object Object]"; providers.node.items().len()].join(",");
            let mut refused = hit(
                "policy-removed-field",
                providers.line,
                message.to_owned(),
                "write each provider's name as a key under providers".to_owned(),
                LAST_GOOD.to_owned(),
            );
            refused.console = Some(format!("$.providers expected object but got {objects}"));
            hits.push(refused);
        }
    }
}

/// Policies that do not resolve, removed fields, entries of our own file.
pub(super) fn policies(file: &SettingsFile, release: &Release, hits: &mut Vec<LintHit>) {
    for route in &file.routes {
        if let Err(refusals) = &route.policy {
            hits.extend(refusals.iter().map(|refusal| refused(refusal, release)));
        }
    }
    for named in &file.named {
        match &named.candidate {
            Ok(_) => {}
            Err(PolicyEntryError::Refused(refusals)) => {
                hits.extend(refusals.iter().map(|refusal| refused(refusal, release)));
            }
            Err(error) => hits.push(hit(
                "policy-entry",
                named.line,
                format!("policy \"{}\": {error}", named.name),
                "see the list of edits and presets".to_owned(),
                "a policy that cannot be read cannot be compared".to_owned(),
            )),
        }
    }
}

fn refused(refusal: &Refusal, release: &Release) -> LintHit {
    let (rule, fix) = match refusal.kind {
        RefusalKind::NotAMap => ("policy-not-a-map", "write mode: normal below it, or take the key away".to_owned()),
        RefusalKind::Mode => ("policy-mode", "write mode: normal or mode: always".to_owned()),
        RefusalKind::UnknownKey => ("policy-unknown-key", unknown_key_fix(refusal, release)),
        RefusalKind::MaxRetries => ("policy-max-retries", "write a whole number from 0, such as 5".to_owned()),
        RefusalKind::Codes => (
            "policy-codes",
            format!("list the codes by name, or take the key away for the default ({})", default_codes_words()),
        ),
        RefusalKind::DuplicateCodes => ("policy-duplicate-codes", "take the second one away".to_owned()),
        RefusalKind::InitialDelay => ("policy-initial-delay", delay_fix()),
        RefusalKind::MaxDelay => ("policy-max-delay", delay_fix()),
        RefusalKind::DelayOrder => (
            "policy-delay-order",
            "raise maxDelayMs or lower initialDelayMs (10000 and 500 without a value)".to_owned(),
        ),
        RefusalKind::Jitter => ("policy-jitter", "write a number from 0 to 1, such as 0.1".to_owned()),
    };
    LintHit {
        console: refusal.schema_message.clone(),
        ..hit(rule, refusal.line, refusal.message.clone(), fix, LAST_GOOD.to_owned())
    }
}

fn delay_fix() -> String {
    format!("write milliseconds above 0 and at most {}", js_number(MAX_TIMER_DELAY_MS))
}

fn unknown_key_fix(refusal: &Refusal, release: &Release) -> String {
    let key = refusal.key.as_deref().unwrap_or_default();
    let in_backoff = refusal.message.contains(".backoff: unknown key");
    if !in_backoff && BACKOFF_KEYS.contains(&key) {
        return format!("move {key} below backoff:");
    }
    if in_backoff && POLICY_KEYS.contains(&key) {
        return format!("move {key} out of backoff, below retryPolicy:");
    }
    if !in_backoff && POLICY_KEYS.contains(&key) {
        return format!("take {key} away: mode always refuses it up to release 0.1.0-rc.7 (here: {release})");
    }
    let (own, other): (&[&str], &[&str]) =
        if in_backoff { (&BACKOFF_KEYS, &POLICY_KEYS) } else { (&POLICY_KEYS, &BACKOFF_KEYS) };
    let known = own.iter().chain(other).copied();
    match did_you_mean(key, known) {
        Some(word) if own.contains(&word) => format!("did you mean {word}?"),
        Some(word) => format!(
            "did you mean {word}? It belongs {}",
            if in_backoff { "below retryPolicy" } else { "below backoff" }
        ),
        None => format!("take it away; the keys here are {}", own.join(", ")),
    }
}

/// Keys of the `llm-retry` plugin, which takes none.
pub(super) fn executor_rows(node: &crate::policy::node::Node, hits: &mut Vec<LintHit>) {
    if plugin_of(node) == Some("llm-retry")
        && let Some(config) = node.get("config")
    {
        for entry in config.entries().iter().filter(|entry| entry.key != "retryPolicy") {
            hits.push(hit(
                "policy-unknown-key",
                entry.line,
                format!("llm-retry: unknown key \"{}\"", entry.key),
                "take it away: this plugin has no settings; each provider has its retryPolicy".to_owned(),
                "the plugin does not load, and without it nothing is retried".to_owned(),
            ));
        }
    }
    node.entries().iter().for_each(|entry| executor_rows(&entry.node, hits));
    node.items().iter().for_each(|item| executor_rows(item, hits));
}
