//! The recorded policy against the recorded failures: every decision of every recorded log is reproduced.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::{Path, PathBuf};

use dsh_forensics::archive::Limits;
use dsh_forensics::discover::discover;
use dsh_forensics::pipeline::{ReadOptions, read_all};
use dsh_forensics::replay::replay;
use dsh_forensics::session::Outcome;
use support::recorded;

struct Total {
    failed: u64,
    decisions: u64,
    undecided: u64,
}

/// Replays one tree and asserts that nothing disagrees.
fn all_reproduced(root: &Path, total: &mut Total) {
    let discovery = discover(&[root.to_path_buf()], Limits::default());
    // The truncated copies share their session ids.
    let options = ReadOptions { keep_duplicates: true, ..ReadOptions::default() };
    let sessions = read_all(discovery, options, &|_| {}).sessions;
    let report = replay(&sessions);
    let shown: Vec<String> = report
        .mismatches
        .iter()
        .map(|m| format!("{} seq {}: {} {:?} against {:?}", m.session, m.seq, m.code, m.expected, m.recorded))
        .collect();
    assert!(report.mismatches.is_empty(), "{}:\n{}", root.display(), shown.join("\n"));
    assert_eq!(report.decisions, report.reproduced, "{}", root.display());
    for undecided in &report.undecided {
        println!("{} {} seq {}: {}", root.display(), undecided.session, undecided.seq, undecided.reason.name());
    }
    let failed = sessions.iter().flat_map(|s| &s.attempts).filter(|a| a.outcome == Outcome::Failed).count() as u64;
    assert_eq!(report.decisions + report.undecided.len() as u64, failed, "{}", root.display());
    total.failed += failed;
    total.decisions += report.decisions;
    total.undecided += report.undecided.len() as u64;
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn replay_folders(name: &str, least_decisions: u64, inside: impl Fn(PathBuf) -> Vec<PathBuf>) {
    let Some(root) = recorded(name) else { return };
    let mut total = Total { failed: 0, decisions: 0, undecided: 0 };
    for folder in folders(&root).into_iter().flat_map(inside) {
        all_reproduced(&folder, &mut total);
    }
    println!("{name}: {} failed attempts, {} decisions, {} undecided", total.failed, total.decisions, total.undecided);
    assert!(total.decisions >= least_decisions, "{name}: only {} decisions", total.decisions);
}

#[test]
fn every_recorded_scenario_is_reproduced() {
    replay_folders("corpus", 200, |folder| vec![folder]);
}

#[test]
fn every_format_is_reproduced() {
    replay_folders("formats", 500, |folder| folders(&folder));
}

#[test]
fn every_policy_of_the_outage_world_is_reproduced() {
    replay_folders("policy", 2000, |world| folders(&world));
}

#[test]
fn the_scenarios_read_as_one_archive_are_reproduced_too() {
    let Some(root) = recorded("corpus") else { return };
    let mut total = Total { failed: 0, decisions: 0, undecided: 0 };
    all_reproduced(&root, &mut total);
}
