//! The baseline file: what was accepted, and what the archive looked like then.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message;
use crate::report::lang::Said;

/// Schema of a baseline.
pub const BASELINE_SCHEMA: &str = "dsh-forensics/baseline/v1";

/// A baseline. Keys of the maps are places (`session:seq`) or routes (`provider/model`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Always [`BASELINE_SCHEMA`].
    pub schema: String,
    /// What may be there, each with a reason, by rule and place.
    pub accepted: Vec<Accepted>,
    /// How every failure was classified.
    pub classifications: Classifications,
    /// What a policy decided on every failure; `None` where no policy was given.
    pub decisions: Option<Decisions>,
    /// Failure rates.
    pub rates: Rates,
}

impl Default for Baseline {
    fn default() -> Self {
        Self {
            schema: BASELINE_SCHEMA.to_owned(),
            accepted: Vec::new(),
            classifications: Classifications::default(),
            decisions: None,
            rates: Rates::default(),
        }
    }
}

/// One accepted place of one rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Rule, or gate.
    pub rule: String,
    /// Place, for people; the fingerprint decides.
    pub at: String,
    /// Fingerprint of rule and place.
    pub fingerprint: String,
    /// Why it is accepted.
    pub reason: String,
}

/// How the failures were classified.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classifications {
    /// Why the last change was accepted.
    pub reason: Option<String>,
    /// Harness version whose rules gave `rules_code`; `None`: the recorded codes count.
    pub dsh_version: Option<String>,
    /// pi-ai version, likewise.
    pub pi_ai_version: Option<String>,
    /// By place.
    pub failures: BTreeMap<String, Classified>,
}

/// One failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classified {
    /// Code in the log.
    pub code: String,
    /// Code by the rules of the chosen release; `None`: none was chosen, or its adapter gives none.
    pub rules_code: Option<String>,
    /// Verdict on the code that counts.
    pub verdict: String,
    /// Code that the evidence supports.
    pub supported_code: String,
}

impl Classified {
    /// The code that counts: by the chosen rules, else as recorded.
    pub fn effective(&self) -> &str {
        self.rules_code.as_deref().unwrap_or(&self.code)
    }
}

/// What a policy decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decisions {
    /// Why the last change was accepted.
    pub reason: Option<String>,
    /// The policy: an expression, or the name of a file without its directory.
    pub policy: String,
    /// It came from a file, and cannot be read again by its name.
    pub from_file: bool,
    /// By place.
    pub made: BTreeMap<String, Decided>,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// `retry 2`, or `give_up` with its reason.
    pub decision: String,
    /// Shortest and longest wait, whole milliseconds; `None` without a retry.
    pub wait_ms: Option<[u64; 2]>,
}

impl std::fmt::Display for Decided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.decision)?;
        match self.wait_ms {
            Some([low, high]) if low == high => write!(f, " ({low} ms)"),
            Some([low, high]) => write!(f, " ({low}-{high} ms)"),
            None => Ok(()),
        }
    }
}

/// Failure rates by route.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Why the last change was accepted.
    pub reason: Option<String>,
    /// By route.
    pub routes: BTreeMap<String, Rate>,
}

/// Attempts of one route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Attempts.
    pub attempts: u64,
    /// Of those, failed.
    pub failed_attempts: u64,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// When the file cannot be read, is no baseline, or an entry has no reason; names file and line.
    pub fn read(path: &Path) -> Result<Self, Said> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Said(message!("check.baseline-unreadable", path = path.display(), why = error)))?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, Said> {
        let wrong = |line: usize, why: String| {
            Said(message!("check.baseline-wrong", path = path.display(), line = line, why = why))
        };
        let baseline: Self = serde_json::from_str(text).map_err(|error| wrong(error.line(), error.to_string()))?;
        if baseline.schema != BASELINE_SCHEMA {
            return Err(wrong(1, format!("schema {:?}, expected {BASELINE_SCHEMA:?}", baseline.schema)));
        }
        if let Some(entry) = baseline.accepted.iter().find(|entry| entry.reason.trim().is_empty()) {
            let line = text.lines().position(|line| line.contains(&entry.fingerprint)).map_or(0, |line| line + 1);
            let what = message!("check.entry-without-reason", rule = &entry.rule, at = &entry.at);
            return Err(Said(
                message!("check.baseline-wrong", path = path.display(), line = line).with_message("why", what),
            ));
        }
        Ok(baseline)
    }

    /// The text of the file: sorted, one line for each entry, so that a diff shows what changed.
    ///
    /// # Errors
    /// When it cannot be turned into JSON.
    pub fn text(&self) -> serde_json::Result<String> {
        let mut out = String::new();
        push(&mut out, &serde_json::to_value(self)?, 0)?;
        out.push('\n');
        Ok(out)
    }
}

/// Deep values without maps in them stand on one line.
fn push(out: &mut String, value: &Value, depth: usize) -> serde_json::Result<()> {
    let children: Vec<(Option<&String>, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, child)| (Some(key), child)).collect(),
        Value::Array(items) => items.iter().map(|child| (None, child)).collect(),
        _ => Vec::new(),
    };
    let leaf = depth >= 2 && !children.iter().any(|(_, child)| child.is_object());
    if children.is_empty() || leaf {
        out.push_str(&serde_json::to_string(value)?);
        return Ok(());
    }
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    let count = children.len();
    out.push(open);
    for (index, (key, child)) in children.into_iter().enumerate() {
        out.push('\n');
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            out.push_str(&serde_json::to_string(key)?);
            out.push_str(": ");
        }
        push(out, child, depth + 1)?;
        if index + 1 < count {
            out.push(',');
        }
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn accepted(reason: &str) -> Baseline {
        let entry = Accepted {
            rule: "bodyless-400".to_owned(),
            at: "night:7".to_owned(),
            fingerprint: "0011223344556677".to_owned(),
            reason: reason.to_owned(),
        };
        Baseline { accepted: vec![entry], ..Baseline::default() }
    }

    #[test]
    fn a_baseline_reads_back_and_has_a_line_for_each_entry() {
        let baseline = accepted("the gateway of last week");
        let text = baseline.text().unwrap();
        assert_eq!(Baseline::parse(Path::new("b.json"), &text).unwrap(), baseline);
        let line = text.lines().find(|line| line.contains("bodyless-400")).unwrap();
        assert!(line.contains("night:7") && line.contains("the gateway of last week"), "{text}");
    }

    #[test]
    fn an_entry_whose_reason_was_taken_out_is_named_with_its_line() {
        let text = accepted(" ").text().unwrap();
        let error = Baseline::parse(Path::new("b.json"), &text).unwrap_err().to_string();
        for part in ["b.json", "line 4", "bodyless-400", "night:7"] {
            assert!(error.contains(part), "{part} in {error}");
        }
    }

    #[test]
    fn another_schema_or_a_slip_is_an_error_with_its_line() {
        for (from, to, part) in [("baseline/v1", "baseline/v2", "line 1"), ("\"rates\"", "\"rate\"", "rate")] {
            let text = accepted("known").text().unwrap().replace(from, to);
            let error = Baseline::parse(Path::new("b.json"), &text).unwrap_err().to_string();
            assert!(error.contains(part), "{part} in {error}");
        }
    }
}
