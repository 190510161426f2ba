//! What the harness refuses, in its words. Sources: retry-policy.ts, llm-pi-ai/src/config.ts, settings and
//! settings-file of the harness, 0.1.0-rc.7 to 0.1.1-rc.2.

use super::{LintHit, hit};
use crate::message;
use crate::message::Message;
use crate::policy::model::{MAX_TIMER_DELAY_MS, js_number};
use crate::policy::named::PolicyEntryError;
use crate::policy::node::{Node, SyntaxError, Value};
use crate::policy::refusal::{Refusal, RefusalKind};
use crate::policy::release::Release;
use crate::policy::resolve::{BACKOFF_KEYS, POLICY_KEYS, default_codes_words};
use crate::policy::settings::{FileKind, SettingsFile, plugin_of};
use crate::policy::spelling::did_you_mean;

/// Why a refusal matters: the harness goes on with what it had.
fn last_good() -> Message {
    message!("lint.last-good")
}

/// A file that is no document.
pub(super) fn unreadable(kind: FileKind, file_name: &str, error: &SyntaxError) -> LintHit {
    let (message, reason) = match kind {
        FileKind::Settings => (format!("settings-file: invalid document at {file_name}: {error}"), last_good()),
        FileKind::Cordis => (format!("{file_name}: {error}"), last_good()),
        FileKind::Policies => (format!("{file_name}: {error}"), message!("lint.not-compared")),
    };
    let message = message!("lint.harness", text = message);
    hit("settings-unreadable", error.line, message, message!("lint.repair-line"), reason)
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
            message!("lint.harness", text = "settings-file: the document must be a map of namespace sections"),
            message!("lint.start-with-section"),
            last_good(),
        ));
    }
    for section in file.root.entries().iter().filter(|entry| entry.key == "llm-pi-ai" || entry.key == "llm-deepseek") {
        if !matches!(section.node.value, Value::Map(_)) {
            let sentence = format!("settings section \"{}\" must be an object of keys", section.key);
            hits.push(hit(
                "settings-unreadable",
                section.line,
                message!("lint.harness", text = sentence),
                message!("lint.give-section-keys"),
                last_good(),
            ));
        }
        if section.key == "llm-pi-ai"
            && let Some(providers) = section.node.entry("providers")
            && matches!(providers.node.value, Value::List(_))
        {
            let sentence = "llm-pi-ai: providers is now a dict keyed by provider route, not an array of profiles";
            let objects = vec!["[object Object]"; providers.node.items().len()].join(",");
            let mut refused = hit(
                "policy-removed-field",
                providers.line,
                message!("lint.harness", text = sentence),
                message!("lint.providers-by-name"),
                last_good(),
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
            // The harness never reads our own file: what its console would say is no help.
            Err(PolicyEntryError::Refused(refusals)) => hits.extend(refusals.iter().map(|refusal| LintHit {
                console: None,
                reason: message!("lint.not-compared"),
                ..refused(refusal, release)
            })),
            Err(error) => hits.push(hit(
                "policy-entry",
                named.line,
                message!("lint.entry", name = &named.name, error = error),
                message!("lint.see-list"),
                message!("lint.not-compared"),
            )),
        }
    }
}

fn refused(refusal: &Refusal, release: &Release) -> LintHit {
    let (rule, fix) = match refusal.kind {
        RefusalKind::NotAMap => ("policy-not-a-map", message!("lint.fix-not-a-map")),
        RefusalKind::Mode => ("policy-mode", message!("lint.fix-mode")),
        RefusalKind::UnknownKey => ("policy-unknown-key", unknown_key_fix(refusal, release)),
        RefusalKind::MaxRetries => ("policy-max-retries", message!("lint.fix-max-retries")),
        RefusalKind::Codes => ("policy-codes", message!("lint.fix-codes", codes = default_codes_words())),
        RefusalKind::DuplicateCodes => ("policy-duplicate-codes", message!("lint.fix-duplicate")),
        RefusalKind::InitialDelay => ("policy-initial-delay", delay_fix()),
        RefusalKind::MaxDelay => ("policy-max-delay", delay_fix()),
        RefusalKind::DelayOrder => ("policy-delay-order", message!("lint.fix-delay-order")),
        RefusalKind::Jitter => ("policy-jitter", message!("lint.fix-jitter")),
    };
    LintHit {
        console: refusal.schema_message.clone(),
        ..hit(rule, refusal.line, message!("lint.harness", text = &refusal.message), fix, last_good())
    }
}

fn delay_fix() -> Message {
    message!("lint.fix-delay", max = js_number(MAX_TIMER_DELAY_MS))
}

fn unknown_key_fix(refusal: &Refusal, release: &Release) -> Message {
    let key = refusal.key.as_deref().unwrap_or_default();
    let in_backoff = refusal.message.contains(".backoff: unknown key");
    if !in_backoff && BACKOFF_KEYS.contains(&key) {
        return message!("lint.move-below-backoff", key = key);
    }
    if in_backoff && POLICY_KEYS.contains(&key) {
        return message!("lint.move-out-of-backoff", key = key);
    }
    if !in_backoff && POLICY_KEYS.contains(&key) {
        return message!("lint.always-refuses", key = key, release = release);
    }
    let (own, other): (&[&str], &[&str]) =
        if in_backoff { (&BACKOFF_KEYS, &POLICY_KEYS) } else { (&POLICY_KEYS, &BACKOFF_KEYS) };
    let known = own.iter().chain(other).copied();
    match did_you_mean(key, known) {
        Some(word) if own.contains(&word) => message!("lint.did-you-mean", word = word),
        Some(word) if in_backoff => message!("lint.did-you-mean-above", word = word),
        Some(word) => message!("lint.did-you-mean-below", word = word),
        None => message!("lint.keys-here").with_words("keys", own),
    }
}

/// Keys of the `llm-retry` plugin, which takes none.
pub(super) fn executor_rows(node: &Node, hits: &mut Vec<LintHit>) {
    if plugin_of(node) == Some("llm-retry")
        && let Some(config) = node.get("config")
    {
        for entry in config.entries().iter().filter(|entry| entry.key != "retryPolicy") {
            hits.push(hit(
                "policy-unknown-key",
                entry.line,
                message!("lint.harness", text = format!("llm-retry: unknown key \"{}\"", entry.key)),
                message!("lint.executor-keys-fix"),
                message!("lint.executor-not-loaded"),
            ));
        }
    }
    node.entries().iter().for_each(|entry| executor_rows(&entry.node, hits));
    node.items().iter().for_each(|item| executor_rows(item, hits));
}
