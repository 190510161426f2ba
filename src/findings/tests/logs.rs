//! Rules about logs and settings.

use serde_json::json;

use super::builder::Log;
use super::{archive, count, find, find_all, rows_of_lines};
use crate::findings::{Finding, Selection};
use crate::pipeline::Dataset;

#[test]
fn seq_fork_fires() {
    let mut log = Log::new("s");
    log.turn().step().ok(9_000);
    log.seq -= 3;
    log.step().ok(9_100);
    assert_eq!(count("seq-fork", &mut [&mut log]), Some((1, "places")));
}

#[test]
fn seq_fork_is_silent_for_a_hole() {
    let mut log = Log::new("s");
    log.turn().step().ok(9_000);
    log.seq += 3;
    log.step().ok(9_100);
    assert_eq!(count("seq-fork", &mut [&mut log]), None);
}

fn torn(torn: bool) -> Dataset {
    let mut dataset = archive(&mut [Log::new("s").turn().step().ok(9_000)]);
    dataset.sessions[0].torn = torn;
    dataset
}

#[test]
fn torn_log_fires() {
    assert_eq!(find("torn-log", &torn(true)).unwrap().count, 1);
}

#[test]
fn torn_log_is_silent_for_a_whole_log() {
    assert!(find("torn-log", &torn(false)).is_none());
}

#[test]
fn duplicate_generation_fires() {
    let mut dataset = torn(false);
    dataset.inputs.generations_skipped = 2;
    dataset.inputs.duplicates_skipped = 1;
    let finding = find("duplicate-generation", &dataset).unwrap();
    assert_eq!((finding.count, finding.unit.name()), (3, "files"));
}

#[test]
fn duplicate_generation_is_silent_where_each_log_stands_alone() {
    assert!(find("duplicate-generation", &torn(false)).is_none());
}

/// A log with an event of a plugin.
fn with_plugin_event(ignorable: bool) -> Dataset {
    let mut log = Log::new("s");
    log.turn().step().ok(9_000).event("myplugin/state", json!({"a": 1}));
    let mut lines = log.lines();
    if ignorable {
        let line = lines.iter_mut().find(|line| line.contains("myplugin/state")).unwrap();
        line.insert_str(line.len() - 1, r#","ignorable":true"#);
    }
    Dataset { sessions: vec![rows_of_lines(&lines)], ..Dataset::default() }
}

#[test]
fn unknown_required_event_fires() {
    let finding = find("unknown-required-event", &with_plugin_event(false)).unwrap();
    assert_eq!((finding.count, finding.unit.name()), (1, "sessions"));
}

#[test]
fn unknown_required_event_is_silent_for_ignorable_events() {
    let dataset = with_plugin_event(true);
    assert_eq!(dataset.sessions[0].unknown_types["myplugin/state"], 1, "counted all the same");
    assert!(find("unknown-required-event", &dataset).is_none());
}

fn linted(settings: &str) -> Option<Finding> {
    let release = "0.1.1-rc.2".parse().unwrap();
    let hits = crate::policy::lint_text("settings.yaml", settings, None, &release);
    let only = Selection { only: vec!["policy-lint".to_owned()], ..Selection::default() };
    find_all(&torn(false), &only, Some(("settings.yaml".to_owned(), hits))).pop()
}

#[test]
fn policy_lint_fires() {
    let finding = linted("llm-retry:\n  retryPolicy:\n    mode: normal\n").unwrap();
    assert!(finding.count >= 1 && !finding.examples.is_empty(), "{finding:?}");
}

#[test]
fn policy_lint_is_silent_for_sound_settings_and_without_any() {
    let sound =
        "llm-pi-ai:\n  providers:\n    gateway:\n      retryPolicy:\n        mode: normal\n        maxRetries: 8\n";
    assert_eq!(linted(sound), None);
    assert!(find("policy-lint", &torn(false)).is_none());
}
