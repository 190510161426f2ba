//! Recorded logs of the real harness against the figures that another reader took from them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use support::{failures_ndjson, recorded, scan_json};

const COUNTS: [&str; 12] = [
    "events",
    "turns",
    "steps",
    "attempts",
    "failed_attempts",
    "unfinished_attempts",
    "failed_steps",
    "failed_turns",
    "cancelled_turns",
    "retries_scheduled",
    "retries_started",
    "compactions",
];

fn without_zeros(object: &Value) -> Map<String, Value> {
    object.as_object().unwrap().iter().filter(|(_, n)| **n != json!(0)).map(|(k, n)| (k.clone(), n.clone())).collect()
}

fn by_code(scan: &Value) -> BTreeMap<String, Map<String, Value>> {
    let codes = scan["failures_by_code"].as_array().unwrap().iter();
    codes
        .map(|code| {
            let mut counts = without_zeros(code);
            counts.remove("code");
            (code["code"].as_str().unwrap().to_owned(), counts)
        })
        .filter(|(_, counts)| !counts.is_empty())
        .collect()
}

fn rows(failures: &[Value], session: &str) -> BTreeSet<(String, u64, u64, u64, String)> {
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let number = |v: &Value| v.as_u64().unwrap();
    failures
        .iter()
        .map(|f| (text(&f[session]), number(&f["seq"]), number(&f["turn"]), number(&f["step"]), text(&f["code"])))
        .collect()
}

#[test]
fn counts_equal_those_of_an_independent_reader() {
    let Some(corpus) = recorded("corpus") else { return };
    let expected: BTreeMap<String, Value> =
        serde_json::from_str(&fs::read_to_string(corpus.join("expected_scan.json")).unwrap()).unwrap();
    assert!(expected.len() >= 40, "{} folders", expected.len());
    for (scenario, want) in &expected {
        let path = corpus.join(scenario);
        let windows: Vec<String> = want["windows_ev"].as_object().unwrap().keys().map(|w| format!("{w}ev")).collect();
        let mut args = vec![path.to_str().unwrap()];
        windows.iter().for_each(|w| args.extend(["--window", w.as_str()]));
        let scan = scan_json(&args);
        for name in COUNTS {
            let wanted = want["counts"].get(name).cloned().unwrap_or(json!(0));
            assert_eq!(scan["counts"][name], wanted, "{scenario}: {name}");
        }
        assert_eq!(scan["inputs"]["sessions"], want["sessions"], "{scenario}: sessions");
        let wanted: BTreeMap<String, Map<String, Value>> = serde_json::from_value(want["by_code"].clone()).unwrap();
        assert_eq!(by_code(&scan), wanted, "{scenario}: by code");
        let inside: Map<String, Value> = scan["windows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| {
                (w["window"].as_str().unwrap().trim_end_matches("ev").to_owned(), w["failed_steps_inside"].clone())
            })
            .collect();
        assert_eq!(Value::Object(inside), want["windows_ev"], "{scenario}: windows");
        let mut triggers = without_zeros(&scan["compactions_by_trigger"]);
        triggers.remove("prune");
        assert_eq!(Value::Object(triggers), want["compactions"], "{scenario}: triggers");
        let outcomes = without_zeros(&scan["compactions_by_outcome"]);
        assert_eq!(Value::Object(outcomes), want["outcomes"], "{scenario}: outcomes");
    }
}

#[test]
fn every_failed_attempt_is_listed_once_with_its_place_and_code() {
    let Some(corpus) = recorded("corpus") else { return };
    let mut expected: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in fs::read_to_string(corpus.join("expected_failures.ndjson")).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        expected.entry(row["scenario"].as_str().unwrap().to_owned()).or_default().push(row);
    }
    let scenarios: BTreeMap<String, Value> =
        serde_json::from_str(&fs::read_to_string(corpus.join("expected_scan.json")).unwrap()).unwrap();
    for scenario in scenarios.keys() {
        let failures = failures_ndjson(&[corpus.join(scenario).to_str().unwrap()]);
        let wanted = expected.remove(scenario).unwrap_or_default();
        let (seen, wanted_rows) = (rows(&failures, "session_id"), rows(&wanted, "session"));
        assert_eq!(seen, wanted_rows, "{scenario}");
        assert_eq!(failures.len(), seen.len(), "{scenario}: a row stands twice");
    }
    assert!(expected.is_empty(), "folders not scanned: {:?}", expected.keys());
}

/// Sizes of requests by route, without the seq of the largest jump: seqs differ between formats.
fn sizes_without_seqs(scan: &Value) -> Value {
    let mut sizes = scan["sizes_by_route"].clone();
    for route in sizes.as_array_mut().unwrap() {
        if let Some(jump) = route["largest_jump"].as_object_mut() {
            jump.remove("seq");
        }
    }
    sizes
}

/// Everything but events, which a migration packs into messages, and what depends on their distance.
fn independent_of_format(scan: &Value) -> Value {
    let mut counts = scan["counts"].clone();
    counts.as_object_mut().unwrap().remove("events");
    json!({
        "counts": counts,
        "by_code": by_code(scan),
        "largest_success_tokens": scan["largest_success_tokens"],
        "triggers": scan["compactions_by_trigger"],
        "outcomes": scan["compactions_by_outcome"],
        "retries": scan["retries"],
        "fates": scan["chains_by_fate"],
        "sizes": sizes_without_seqs(scan),
        "sessions": scan["inputs"]["sessions"],
    })
}

#[test]
fn a_migrated_log_tells_the_same_story_as_its_original() {
    let (Some(corpus), Some(formats)) = (recorded("corpus"), recorded("formats")) else { return };
    let mut compared = 0;
    for folder in sorted(&formats) {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        // Not all child sessions of 10f-subagent were migrated; in its synthetic copy they were. `mixed` is another test's.
        if name == "10f-subagent" || name == "mixed" {
            continue;
        }
        let original = [corpus.join(&name), folder.join("v0")].into_iter().find(|p| p.is_dir()).unwrap();
        let original = scan_json(&[original.to_str().unwrap()]);
        for version in sorted(&folder) {
            let migrated = scan_json(&[version.to_str().unwrap()]);
            assert_eq!(independent_of_format(&migrated), independent_of_format(&original), "{}", version.display());
            compared += 1;
        }
    }
    assert!(compared >= 4 * 30, "only {compared} folders compared");
}

/// Rows of failures without what depends on the numbering of events, which the formats count differently.
fn rows_without_seqs(failures: Vec<Value>) -> Vec<Value> {
    let mut rows: Vec<Value> = failures
        .into_iter()
        .map(|mut row| {
            row.as_object_mut().unwrap().remove("seq");
            if let Some(since) = row["since_compaction"].as_object_mut() {
                since.remove("events");
            }
            row
        })
        .collect();
    let key =
        |row: &Value| format!("{} {:>6} {:>6} {:>6}", row["session_id"], row["turn"], row["step"], row["attempt"]);
    rows.sort_by_key(key);
    rows
}

#[test]
fn every_failure_has_the_same_row_in_every_format() {
    let (Some(corpus), Some(formats)) = (recorded("corpus"), recorded("formats")) else { return };
    let mut compared = 0;
    for folder in sorted(&formats) {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let original = corpus.join(&name);
        // Not all child sessions of 10f-subagent were migrated.
        if name == "10f-subagent" || !original.is_dir() {
            continue;
        }
        let original = rows_without_seqs(failures_ndjson(&[original.to_str().unwrap()]));
        for version in sorted(&folder) {
            let migrated = rows_without_seqs(failures_ndjson(&[version.to_str().unwrap()]));
            assert_eq!(migrated.len(), original.len(), "{}", version.display());
            for (migrated, original) in migrated.iter().zip(&original) {
                assert_eq!(migrated, original, "{}", version.display());
                compared += 1;
            }
        }
    }
    assert!(compared > 4 * 150, "only {compared} rows compared");
}

#[test]
fn generations_side_by_side_count_each_session_once() {
    let Some(formats) = recorded("formats") else { return };
    let mixed = formats.join("mixed");
    let manifest: Vec<Value> = serde_json::from_str(&fs::read_to_string(mixed.join("manifest.json")).unwrap()).unwrap();
    let scan = scan_json(&[mixed.to_str().unwrap()]);
    assert_eq!(scan["inputs"]["sessions"], json!(manifest.len()));
    assert_eq!(scan["inputs"]["archives"], json!(manifest.len()));
    let logs =
        walkdir::WalkDir::new(&mixed).into_iter().filter(|e| e.as_ref().unwrap().file_type().is_file()).count() - 1;
    assert_eq!(scan["inputs"]["generations_skipped"], json!(logs - manifest.len()));
}

#[test]
fn the_migrated_sessions_with_children_agree_among_themselves() {
    let Some(formats) = recorded("formats") else { return };
    let stories: Vec<Value> = sorted(&formats.join("10f-subagent"))
        .iter()
        .map(|version| independent_of_format(&scan_json(&[version.to_str().unwrap()])))
        .collect();
    assert_eq!(stories.len(), 4);
    assert!(stories.windows(2).all(|pair| pair[0] == pair[1]), "{stories:#?}");
}

fn sorted(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    paths.sort();
    paths
}
