//! Settings → policy, with the harness's own checks and words.
//!
//! Two checks follow each other in the harness: the schema of the configuration, which refuses a whole `retryPolicy` in
//! one sentence, and the resolver, which names the field. A [`Refusal`] carries the resolver's sentence, and the
//! schema's one too where the schema is the first to refuse, because that is the one a user finds in the console.
//! Source: packages/llm/llm/src/retry-policy.ts of the harness, 0.1.0-rc.7 to 0.1.1-rc.2.

use std::collections::BTreeSet;

use super::model::{
    Backoff, DEFAULT_RETRYABLE_CODES, MAX_SAFE_INTEGER, MAX_TIMER_DELAY_MS, RetryMode, RetryPolicy, js_number,
};
use super::node::{Entry, Node, Value};
use super::refusal::{Refusal, RefusalKind, Wording};
use super::release::Release;

/// Keys of a `retryPolicy`.
pub const POLICY_KEYS: [&str; 4] = ["mode", "maxRetries", "retryableCodes", "backoff"];
/// Keys of its `backoff`.
pub const BACKOFF_KEYS: [&str; 3] = ["initialDelayMs", "maxDelayMs", "jitterRatio"];

/// Resolve one `retryPolicy`.
///
/// # Errors
/// Every refusal, in the harness's order of checks; the harness itself stops at the first.
pub fn resolve_policy(node: &Node, wording: &Wording, release: &Release) -> Result<RetryPolicy, Vec<Refusal>> {
    let mut check = Check { node, wording, refusals: Vec::new() };
    if !matches!(node.value, Value::Map(_)) {
        check.not_a_map();
        return Err(check.refusals);
    }
    let mode = check.mode(node);
    check.keys(node, &policy_keys(mode, release), &wording.resolver);
    let mut policy = RetryPolicy::default_for(release);
    if let Some(mode) = mode {
        policy.mode = mode;
    }
    if mode != Some(RetryMode::Always) {
        if let Some(max_retries) = check.max_retries(node) {
            policy.max_retries = max_retries;
        }
        if let Some(codes) = check.codes(node) {
            policy.retryable_codes = codes;
        }
    }
    policy.backoff = check.backoff(node);
    if check.refusals.is_empty() { Ok(policy) } else { Err(check.refusals) }
}

fn policy_keys(mode: Option<RetryMode>, release: &Release) -> Vec<&'static str> {
    if mode == Some(RetryMode::Always) && release.always_refuses_normal_fields() {
        vec!["mode", "backoff"]
    } else {
        POLICY_KEYS.to_vec()
    }
}

struct Check<'a> {
    node: &'a Node,
    wording: &'a Wording,
    refusals: Vec<Refusal>,
}

impl Check<'_> {
    fn refuse(&mut self, kind: RefusalKind, line: usize, message: String, by_schema: bool) {
        let schema_message = by_schema.then(|| self.schema_sentence());
        self.refusals.push(Refusal { kind, line, message, schema_message, key: None });
    }

    fn schema_sentence(&self) -> String {
        const BACKOFF: &str = "backoff?: { initialDelayMs?: number, maxDelayMs?: number, jitterRatio?: number }";
        format!(
            "{} expected {{ mode: \"normal\", maxRetries?: number, retryableCodes?: string[], {BACKOFF} }} | \
             {{ mode: \"always\", {BACKOFF} }} but got {}",
            self.wording.schema,
            self.node.to_json()
        )
    }

    fn not_a_map(&mut self) {
        // An empty value passes the schema, and the resolver stumbles over it.
        let message = if self.node.is_null() {
            "Cannot read properties of null (reading 'mode')".to_owned()
        } else {
            format!("{}.mode must be \"normal\" or \"always\"", self.wording.resolver)
        };
        self.refuse(RefusalKind::NotAMap, self.node.line, message, !self.node.is_null());
    }

    fn mode(&mut self, node: &Node) -> Option<RetryMode> {
        match node.get("mode").and_then(Node::text) {
            Some("normal") => Some(RetryMode::Normal),
            Some("always") => Some(RetryMode::Always),
            _ => {
                let line = node.entry("mode").map_or(node.line, |entry| entry.line);
                let message = format!("{}.mode must be \"normal\" or \"always\"", self.wording.resolver);
                self.refuse(RefusalKind::Mode, line, message, true);
                None
            }
        }
    }

    fn keys(&mut self, node: &Node, allowed: &[&str], path: &str) {
        for entry in node.entries().iter().filter(|entry| !allowed.contains(&entry.key.as_str())) {
            let message = format!("{path}: unknown key \"{}\"", entry.key);
            self.refusals.push(Refusal {
                kind: RefusalKind::UnknownKey,
                line: entry.line,
                message,
                schema_message: None,
                key: Some(entry.key.clone()),
            });
        }
    }

    fn max_retries(&mut self, node: &Node) -> Option<u64> {
        let entry = set(node, "maxRetries")?;
        let whole = entry.node.number().filter(|n| n.fract() == 0.0 && (0.0..=MAX_SAFE_INTEGER as f64).contains(n));
        if whole.is_none() {
            let message = format!("{}.maxRetries must be a non-negative safe integer", self.wording.resolver);
            self.refuse(RefusalKind::MaxRetries, entry.line, message, true);
        }
        whole.map(|n| n as u64)
    }

    fn codes(&mut self, node: &Node) -> Option<BTreeSet<String>> {
        let entry = set(node, "retryableCodes")?;
        let path = format!("{}.retryableCodes", self.wording.resolver);
        let Value::List(items) = &entry.node.value else {
            // The resolver has no sentence for this: only the schema refuses it.
            let message = self.schema_sentence();
            self.refuse(RefusalKind::Codes, entry.line, message, true);
            return None;
        };
        if items.is_empty() {
            self.refuse(RefusalKind::Codes, entry.line, format!("{path} must not be empty"), false);
        }
        let mut codes = BTreeSet::new();
        for item in items {
            match &item.value {
                Value::Text(code) if code.is_empty() => {
                    let message = format!("{path} must contain only non-empty strings");
                    self.refuse(RefusalKind::Codes, item.line, message, false);
                }
                Value::Text(code) => {
                    if !codes.insert(code.clone()) {
                        let message = format!("{path} must not contain duplicates");
                        self.refuse(RefusalKind::DuplicateCodes, item.line, message, false);
                    }
                }
                // An empty item passes the schema as nothing, and the resolver refuses it.
                other => {
                    let message = format!("{path} must contain only non-empty strings");
                    self.refuse(RefusalKind::Codes, item.line, message, *other != Value::Null);
                }
            }
        }
        Some(codes)
    }

    fn backoff(&mut self, policy: &Node) -> Backoff {
        let default = Backoff::default();
        let Some(entry) = set(policy, "backoff") else {
            return default;
        };
        let node = &entry.node;
        let path = format!("{}.backoff", self.wording.resolver);
        if !matches!(node.value, Value::Map(_)) {
            let message = self.schema_sentence();
            self.refuse(RefusalKind::NotAMap, entry.line, message, true);
            return default;
        }
        self.keys(node, &BACKOFF_KEYS, &path);
        let range = format!("must be a positive finite number no greater than {}", js_number(MAX_TIMER_DELAY_MS));
        let initial = self.number(node, "initialDelayMs", default.initial_delay_ms, |n| n > MAX_TIMER_DELAY_MS);
        if !positive(initial) {
            let message = format!("{path}.initialDelayMs {range}");
            self.refuse_field(RefusalKind::InitialDelay, node, "initialDelayMs", message, initial);
        }
        let max = self.number(node, "maxDelayMs", default.max_delay_ms, |n| n > MAX_TIMER_DELAY_MS);
        if !positive(max) {
            let message = format!("{path}.maxDelayMs {range}");
            self.refuse_field(RefusalKind::MaxDelay, node, "maxDelayMs", message, max);
        }
        if positive(initial) && positive(max) && initial.0 > max.0 {
            let line = node.entry("initialDelayMs").or(node.entry("maxDelayMs")).map_or(node.line, |e| e.line);
            let message = format!("{path}.initialDelayMs must be less than or equal to maxDelayMs");
            self.refuse(RefusalKind::DelayOrder, line, message, false);
        }
        let jitter = self.number(node, "jitterRatio", default.jitter_ratio, |n| !(0.0..=1.0).contains(&n));
        if !(0.0..=1.0).contains(&jitter.0) {
            let message = format!("{path}.jitterRatio must be between 0 and 1");
            self.refuse_field(RefusalKind::Jitter, node, "jitterRatio", message, jitter);
        }
        Backoff { initial_delay_ms: initial.0, max_delay_ms: max.0, jitter_ratio: jitter.0 }
    }

    /// A number (NaN for anything else), and whether the schema refuses it. NaN itself passes the schema's bounds.
    fn number(&self, node: &Node, key: &str, default: f64, out_of_bounds: impl Fn(f64) -> bool) -> (f64, bool) {
        match set(node, key) {
            None => (default, false),
            Some(entry) => match entry.node.number() {
                Some(number) => (number, !number.is_nan() && out_of_bounds(number)),
                None => (f64::NAN, true),
            },
        }
    }

    fn refuse_field(&mut self, kind: RefusalKind, node: &Node, key: &str, message: String, number: (f64, bool)) {
        let line = node.entry(key).map_or(node.line, |entry| entry.line);
        self.refuse(kind, line, message, number.1);
    }
}

/// An entry that holds something: the harness reads an empty value as its default.
fn set<'a>(node: &'a Node, key: &str) -> Option<&'a Entry> {
    node.entry(key).filter(|entry| !entry.node.is_null())
}

fn positive((number, _): (f64, bool)) -> bool {
    number > 0.0 && number <= MAX_TIMER_DELAY_MS
}

/// A policy that the harness accepts?
///
/// # Errors
/// The first refusal, in the resolver's words under `path`.
pub fn validate_policy(policy: &RetryPolicy, path: &str) -> Result<(), String> {
    let Backoff { initial_delay_ms, max_delay_ms, jitter_ratio } = policy.backoff;
    let range = format!("must be a positive finite number no greater than {}", js_number(MAX_TIMER_DELAY_MS));
    if policy.mode == RetryMode::Normal && policy.max_retries > MAX_SAFE_INTEGER {
        return Err(format!("{path}.maxRetries must be a non-negative safe integer"));
    }
    if policy.mode == RetryMode::Normal && policy.retryable_codes.is_empty() {
        return Err(format!("{path}.retryableCodes must not be empty"));
    }
    if policy.mode == RetryMode::Normal && policy.retryable_codes.iter().any(String::is_empty) {
        return Err(format!("{path}.retryableCodes must contain only non-empty strings"));
    }
    if !positive((initial_delay_ms, false)) {
        return Err(format!("{path}.backoff.initialDelayMs {range}"));
    }
    if !positive((max_delay_ms, false)) {
        return Err(format!("{path}.backoff.maxDelayMs {range}"));
    }
    if initial_delay_ms > max_delay_ms {
        return Err(format!("{path}.backoff.initialDelayMs must be less than or equal to maxDelayMs"));
    }
    if !(0.0..=1.0).contains(&jitter_ratio) {
        return Err(format!("{path}.backoff.jitterRatio must be between 0 and 1"));
    }
    Ok(())
}

/// The default codes as a sentence part.
#[must_use]
pub fn default_codes_words() -> String {
    DEFAULT_RETRYABLE_CODES.join(", ")
}
