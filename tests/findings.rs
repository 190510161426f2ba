//! Findings on the command line: gates, choices, the configuration file, the settings of the harness.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;

use serde_json::json;
use support::builder::{Log, NO_BODY_400, OVERFLOW};
use support::{program, run, scan_json};

/// An archive with one overflow code that a larger success contradicts.
fn archive() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("night");
    log.turn().step().ok(60_000).step().failed(OVERFLOW, NO_BODY_400).gave_up().turn().step().ok(90_000);
    log.write_zstd(root.path());
    root
}

fn ids(args: &[&str]) -> Vec<String> {
    let scan = scan_json(args);
    scan["findings"].as_array().unwrap().iter().map(|f| f["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_gate_decides_the_exit_status() {
    let root = archive();
    let path = root.path().to_str().unwrap();
    for (args, status) in [
        (&["scan", path][..], 0),
        (&["scan", path, "--fail-on", "error"], 1),
        (&["scan", path, "--fail-on", "warning", "--ignore", "contradicted-overflow"], 1),
        (&["scan", path, "--fail-on", "error", "--ignore", "contradicted-overflow"], 0),
        (&["scan", path, "--fail-on", "error", "--code", "RATE_LIMIT"], 0),
    ] {
        assert_eq!(run(args).status, status, "{args:?}");
    }
}

#[test]
fn rules_are_chosen_by_name_and_a_slip_is_noticed() {
    let root = archive();
    let path = root.path().to_str().unwrap();
    assert_eq!(ids(&[path]), ["contradicted-overflow", "bodyless-400"]);
    assert_eq!(ids(&[path, "--only", "bodyless-400"]), ["bodyless-400"]);
    let wrong = run(&["scan", path, "--ignore", "bodyles-400"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("did you mean bodyless-400?"), "{}", wrong.err);
}

#[test]
fn the_configuration_file_of_the_working_directory_counts_and_the_command_line_beats_it() {
    let root = archive();
    let place = tempfile::tempdir().unwrap();
    let config = place.path().join("dsh-forensics.toml");
    fs::write(&config, "fail_on = \"error\"\nlang = \"zh\"\n[rules]\nignore = [\"bodyless-400\"]\n").unwrap();
    let scan = |args: &[&str]| {
        let mut command = program();
        command.current_dir(place.path()).arg("scan").arg(root.path()).args(args);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, page, _) = scan(&[]);
    assert_eq!(status, Some(1));
    assert!(page.contains("发现：") && !page.contains("bodyless-400"), "{page}");
    let (_, page, _) = scan(&["--lang", "en", "--only", "bodyless-400"]);
    assert!(page.contains("Findings: 1 warning") && page.contains("[bodyless-400]"), "{page}");
    fs::write(&config, "\nfail_at = \"error\"\n").unwrap();
    let (status, _, error) = scan(&[]);
    assert_eq!(status, Some(2));
    assert!(error.contains("dsh-forensics.toml") && error.contains("line 2") && error.contains("fail_at"), "{error}");
}

#[test]
fn settings_of_the_harness_are_checked_against_the_archive() {
    let root = archive();
    let settings = root.path().join("settings.yaml");
    fs::write(&settings, "llm-retry:\n  retryPolicy:\n    mode: normal\n").unwrap();
    let path = root.path().to_str().unwrap();
    let found = scan_json(&[path, "--only", "policy-lint", "--settings", settings.to_str().unwrap()]);
    let finding = &found["findings"][0];
    assert_eq!((&finding["id"], &finding["fixable_by"]), (&json!("policy-lint"), &json!("config")));
    assert!(finding["examples"][0]["text"].as_str().unwrap().starts_with("line "), "{finding}");
}

#[test]
fn fingerprints_stay_the_same_under_another_path_and_any_number_of_threads() {
    let (one, two) = (archive(), archive());
    let prints = |path: &str, jobs: &str| scan_json(&[path, "--jobs", jobs])["findings"].clone();
    assert_eq!(prints(one.path().to_str().unwrap(), "1"), prints(two.path().to_str().unwrap(), "3"));
}
