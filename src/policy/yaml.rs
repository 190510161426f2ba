//! A policy as text to paste.

use std::fmt::Write as _;

use super::model::{RetryMode, RetryPolicy, js_number, json_string};
use super::settings::DEEPSEEK_ROUTE;

/// The part of `settings.yaml` that gives a provider this policy, every field written out.
///
/// Under `llm-pi-ai.providers.<provider>.retryPolicy`, or under `llm-deepseek` for `deepseek-official`. Merge it with
/// what the file holds: only the `retryPolicy` key is complete. Sources: spec 2.5; the settings sections of the two
/// adapters.
#[must_use]
pub fn to_settings_yaml(provider: &str, policy: &RetryPolicy) -> String {
    if provider == DEEPSEEK_ROUTE {
        return format!("llm-deepseek:\n{}", policy_block(policy, 1));
    }
    format!("llm-pi-ai:\n  providers:\n    {}:\n{}", scalar(provider), policy_block(policy, 3))
}

/// The row of `cordis.patch.yml` that gives `deepseek-official` this policy.
///
/// A patch replaces the whole `config` of its row: other fields that the row had must be written again.
#[must_use]
pub fn to_cordis_patch_yaml(policy: &RetryPolicy) -> String {
    format!("- id: llm-deepseek\n  name: '@deepseek-ai/dsh-llm-deepseek'\n  config:\n{}", policy_block(policy, 2))
}

fn policy_block(policy: &RetryPolicy, level: usize) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let mut line = |depth: usize, content: &str| {
        let _ = writeln!(text, "{}{content}", "  ".repeat(level + depth));
    };
    line(0, "retryPolicy:");
    line(1, &format!("mode: {}", policy.mode.word()));
    if policy.mode == RetryMode::Normal {
        line(1, &format!("maxRetries: {}", policy.max_retries));
        line(1, "retryableCodes:");
        for code in policy.codes_in_order() {
            line(2, &format!("- {}", scalar(code)));
        }
    }
    line(1, "backoff:");
    line(2, &format!("initialDelayMs: {}", js_number(policy.backoff.initial_delay_ms)));
    line(2, &format!("maxDelayMs: {}", js_number(policy.backoff.max_delay_ms)));
    line(2, &format!("jitterRatio: {}", js_number(policy.backoff.jitter_ratio)));
    text
}

/// A word as a YAML scalar: plain where no reader can take it for something else, otherwise in double quotes.
fn scalar(word: &str) -> String {
    let plain_start = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = plain_start && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if plain && !reserved.contains(&word.to_lowercase().as_str()) { word.to_owned() } else { json_string(word) }
}
