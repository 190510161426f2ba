//! Our own `policies.toml`: policies with a name of the user's.
//!
//! One entry per policy under `[policies]`: an expression (`patient = "dsh-default + maxRetries 10"`), or a table with
//! `from` (an expression), `edits` (a list) and the keys of a `retryPolicy`. A policy may build on those above it.

use super::edits::{EditError, parse_candidate};
use super::fixes::Candidate;
use super::model::RetryPolicy;
use super::node::{Entry, Node, Value};
use super::refusal::{Refusal, Wording};
use super::release::Release;
use super::resolve::resolve_policy;

/// One policy of `policies.toml`.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedPolicy {
    /// Its key.
    pub name: String,
    /// Line of the key.
    pub line: usize,
    /// The policy, or what is wrong with it.
    pub candidate: Result<Candidate, PolicyEntryError>,
}

/// What is wrong with an entry of `policies.toml`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PolicyEntryError {
    /// The expression or an edit.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The keys of the policy.
    #[error("{}", .0.iter().map(|refusal| refusal.message.as_str()).collect::<Vec<_>>().join("; "))]
    Refused(Vec<Refusal>),
    /// Neither an expression nor a table.
    #[error("a policy is an expression in quotes, or a table")]
    NotAPolicy,
}

/// All entries, in order of the file.
pub(super) fn named_policies(root: &Node, release: &Release) -> Vec<NamedPolicy> {
    let entries = root.get("policies").map(Node::entries).unwrap_or_default();
    let mut named: Vec<NamedPolicy> = Vec::new();
    for entry in entries {
        // A policy may build on one that stands above it.
        let known = |name: &str| {
            named.iter().find(|policy| policy.name == name).and_then(|policy| policy.candidate.clone().ok())
        };
        let candidate = named_policy(entry, release, &known);
        named.push(NamedPolicy { name: entry.key.clone(), line: entry.line, candidate });
    }
    named
}

fn named_policy(
    entry: &Entry,
    release: &Release,
    known: &dyn Fn(&str) -> Option<Candidate>,
) -> Result<Candidate, PolicyEntryError> {
    let source = format!("policies.toml, line {}", entry.line);
    let renamed = |candidate: Candidate| Candidate { name: entry.key.clone(), source: source.clone(), ..candidate };
    if let Some(expression) = entry.node.text() {
        return Ok(renamed(parse_candidate(expression, known)?));
    }
    if !matches!(entry.node.value, Value::Map(_)) {
        return Err(PolicyEntryError::NotAPolicy);
    }
    let mut candidate = match entry.node.get("from").and_then(Node::text) {
        Some(expression) => parse_candidate(expression, known)?,
        None => Candidate::plain(&entry.key, &source, RetryPolicy::default_for(release)),
    };
    let own_keys: Vec<Entry> =
        entry.node.entries().iter().filter(|field| field.key != "from" && field.key != "edits").cloned().collect();
    if !own_keys.is_empty() {
        let merged = Node { line: entry.line, value: Value::Map(over(&candidate.policy, own_keys, entry.line)) };
        candidate.policy =
            resolve_policy(&merged, &Wording::own(&entry.key), release).map_err(PolicyEntryError::Refused)?;
    }
    for edit in entry.node.get("edits").map(Node::items).unwrap_or_default() {
        super::edits::apply_edit(&mut candidate, edit.text().ok_or(PolicyEntryError::NotAPolicy)?)?;
    }
    Ok(renamed(candidate))
}

/// The keys of a table laid over the policy that it starts from.
fn over(policy: &RetryPolicy, own: Vec<Entry>, line: usize) -> Vec<Entry> {
    let field = |key: &str, value| Entry { key: key.to_owned(), line, node: Node { line, value } };
    let text = |code: &str| Node { line, value: Value::Text(code.to_owned()) };
    let mut backoff = vec![
        field("initialDelayMs", Value::Number(policy.backoff.initial_delay_ms)),
        field("maxDelayMs", Value::Number(policy.backoff.max_delay_ms)),
        field("jitterRatio", Value::Number(policy.backoff.jitter_ratio)),
    ];
    let mut fields = vec![
        field("mode", Value::Text(policy.mode.word().to_owned())),
        field("maxRetries", Value::Number(policy.max_retries as f64)),
        field("retryableCodes", Value::List(policy.codes_in_order().into_iter().map(text).collect())),
    ];
    for entry in own {
        if entry.key == "backoff" && matches!(entry.node.value, Value::Map(_)) {
            for inner in entry.node.entries() {
                replace(&mut backoff, inner.clone());
            }
        } else {
            replace(&mut fields, entry);
        }
    }
    if fields.iter().all(|entry| entry.key != "backoff") {
        fields.push(field("backoff", Value::Map(backoff)));
    }
    fields
}

fn replace(fields: &mut Vec<Entry>, entry: Entry) {
    match fields.iter_mut().find(|field| field.key == entry.key) {
        Some(field) => *field = entry,
        None => fields.push(entry),
    }
}
