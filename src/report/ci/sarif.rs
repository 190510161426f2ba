//! SARIF 2.1.0 (OASIS): one run, one result for each place; always English, and the same bytes for the same archive.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{one_line, words};
use crate::check::{Accepted, CheckResult, Gate, Known, Problem};
use crate::findings::{Place, Severity, registry};
use crate::report::lang::Language;

/// Where locations are relative to; nothing is said about where that is.
const BASE: &str = "SESSIONS";

/// The log file.
pub fn log(result: &CheckResult) -> Value {
    let rules = rules(result);
    let index: BTreeMap<&str, usize> = rules.keys().enumerate().map(|(index, id)| (id.as_str(), index)).collect();
    let mut results: Vec<Value> = result.problems.iter().map(|problem| of_problem(problem, &index)).collect();
    results.extend(result.known.iter().map(|known| of_known(known, &index)));
    results.extend(result.stale.iter().map(|entry| of_stale(entry, &index)));
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dsh-forensics",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.values().collect::<Vec<_>>(),
            }},
            "invocations": [invocation(result)],
            "originalUriBaseIds": {BASE: {"description": {"text": "The sessions root that was checked."}}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn invocation(result: &CheckResult) -> Value {
    let notices: Vec<Value> = result
        .notices
        .iter()
        .map(|notice| json!({"level": "warning", "message": {"text": words(notice, Language::English)}}))
        .collect();
    json!({"executionSuccessful": !result.partial, "toolExecutionNotifications": notices})
}

/// Every rule that a result names, by id.
fn rules(result: &CheckResult) -> BTreeMap<String, Value> {
    let ids = result.problems.iter().map(|problem| problem.rule.to_owned());
    let ids = ids.chain(result.known.iter().map(|known| known.point.rule.to_owned()));
    let ids = ids.chain(result.stale.iter().map(|entry| one_line(&entry.rule)));
    ids.map(|id| (id.clone(), rule(&id))).collect()
}

fn rule(id: &str) -> Value {
    let say = |key: &'static str| Language::English.say(key);
    if let Some(rule) = registry::find(id) {
        let advice = say(rule.docs.advice);
        let what = say(rule.docs.what);
        let markdown = format!("{what}\n\n**Why it matters.** {}\n\n**What to do.** {advice}", say(rule.docs.why));
        return json!({
            "id": id,
            "name": camel(id),
            "shortDescription": {"text": say(rule.docs.name)},
            "fullDescription": {"text": what},
            "help": {"text": format!("{} {advice}", say(rule.docs.why)), "markdown": markdown},
            "defaultConfiguration": {"level": rule.severity.name()},
        });
    }
    // A gate; or a rule of an older release that a stale entry still names.
    let help = Gate::ALL.into_iter().find(|gate| gate.name() == id).map_or_else(
        || "This rule is not known to this release.".to_owned(),
        |gate| Language::English.render(&gate.help()),
    );
    json!({
        "id": id,
        "name": camel(id),
        "shortDescription": {"text": help},
        "help": {"text": help},
        "defaultConfiguration": {"level": "error"},
    })
}

/// `contradicted-overflow` → `ContradictedOverflow`
fn camel(id: &str) -> String {
    id.split('-')
        .flat_map(|part| part.chars().enumerate().map(|(i, c)| if i == 0 { c.to_ascii_uppercase() } else { c }))
        .collect()
}

struct Row<'a> {
    rule: &'a str,
    severity: Severity,
    fingerprint: &'a str,
    place: Option<&'a Place>,
    text: String,
    state: &'static str,
}

fn row(row: &Row<'_>, index: &BTreeMap<&str, usize>) -> Value {
    json!({
        "ruleId": row.rule,
        "ruleIndex": index.get(row.rule),
        "level": row.severity.name(),
        "message": {"text": row.text},
        "locations": row.place.map(location).into_iter().collect::<Vec<_>>(),
        "partialFingerprints": {"place/v1": row.fingerprint},
        "baselineState": row.state,
    })
}

fn of_problem(problem: &Problem, index: &BTreeMap<&str, usize>) -> Value {
    let text = words(&problem.what, Language::English);
    let text = match &problem.place {
        Some(place) => format!("{text} (session {}, seq {})", one_line(&place.session_id), place.seq),
        None => text,
    };
    let place = problem.place.as_ref();
    let (rule, fingerprint) = (problem.rule, problem.fingerprint.as_str());
    row(&Row { rule, severity: problem.severity, fingerprint, place, text, state: "new" }, index)
}

fn of_known(known: &Known, index: &BTreeMap<&str, usize>) -> Value {
    let point = &known.point;
    let text = words(&point.what, Language::English);
    let place = point.place.as_ref();
    let (rule, fingerprint) = (point.rule, point.fingerprint.as_str());
    let mut value = row(&Row { rule, severity: point.severity, fingerprint, place, text, state: "unchanged" }, index);
    value["suppressions"] =
        json!([{"kind": "external", "status": "accepted", "justification": one_line(&known.reason)}]);
    value
}

fn of_stale(entry: &Accepted, index: &BTreeMap<&str, usize>) -> Value {
    let rule = one_line(&entry.rule);
    let text = format!("Accepted, and no longer seen: {} at {}", rule, one_line(&entry.at));
    let fingerprint = entry.fingerprint.as_str();
    row(&Row { rule: &rule, severity: Severity::Note, fingerprint, place: None, text, state: "absent" }, index)
}

/// The log of the session, relative to the sessions root. Rows hold no line numbers: line 1 stands for the log, and the
/// logical location names the event.
fn location(place: &Place) -> Value {
    let session = one_line(&place.session_id);
    json!({
        "physicalLocation": {
            "artifactLocation": {"uri": format!("{}/session.jsonl", percent_encoded(&session)), "uriBaseId": BASE},
            "region": {"startLine": 1},
        },
        "logicalLocations": [{"fullyQualifiedName": format!("{session}:{}", place.seq), "kind": "object"}],
    })
}

/// RFC 3986, section 2.3: everything but unreserved characters.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
