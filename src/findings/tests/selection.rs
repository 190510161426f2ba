//! The choice among rules, their order, gates and fingerprints.

use super::builder::{Log, NO_BODY_400, OVERFLOW};
use super::{archive, find, find_all};
use crate::findings::registry::fails;
use crate::findings::{LifeCycle, Selection, Severity};
use crate::pipeline::Dataset;
use crate::report::lang::Language;

fn failures() -> Dataset {
    let mut log = Log::new("s");
    log.turn().step().ok(60_000).step().failed(OVERFLOW, NO_BODY_400).gave_up().turn().step().ok(90_000);
    log.seq -= 2;
    log.step().ok(91_000);
    archive(&mut [&mut log])
}

#[test]
fn the_worst_finding_stands_first() {
    let findings = find_all(&failures(), &Selection::default(), None);
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["contradicted-overflow", "seq-fork", "bodyless-400"]);
}

#[test]
fn rules_can_be_left_out_and_their_severity_changed() {
    let selection = Selection {
        ignore: vec!["contradicted-overflow".to_owned()],
        severities: [("bodyless-400".to_owned(), Severity::Error), ("seq-fork".to_owned(), Severity::Note)].into(),
        ..Selection::default()
    };
    let findings = find_all(&failures(), &selection, None);
    let seen: Vec<_> = findings.iter().map(|finding| (finding.id, finding.severity)).collect();
    assert_eq!(seen, [("bodyless-400", Severity::Error), ("seq-fork", Severity::Note)]);
}

#[test]
fn a_slip_in_a_name_is_noticed() {
    let selection = Selection { only: vec!["bodyles-400".to_owned()], ..Selection::default() };
    let error = Language::English.render(&selection.checked().unwrap_err());
    assert!(error.contains("did you mean bodyless-400"), "{error}");
}

#[test]
fn previews_never_fail_a_gate() {
    let mut findings = find_all(&failures(), &Selection::default(), None);
    assert!(fails(&findings, Severity::Error));
    findings.iter_mut().for_each(|finding| finding.life_cycle = LifeCycle::Preview);
    assert!(!fails(&findings, Severity::Note));
}

#[test]
fn a_fingerprint_depends_on_sessions_and_seqs_and_not_on_paths() {
    let (one, mut other) = (failures(), failures());
    other.sessions[0].path = "/elsewhere/session.jsonl".to_owned();
    other.sessions[0].project = Some("another".to_owned());
    let print = |dataset: &Dataset| find("bodyless-400", dataset).unwrap().fingerprint;
    assert_eq!(print(&one), print(&other));
    other.sessions[0].id = "t".to_owned();
    assert_ne!(print(&one), print(&other));
    assert_ne!(print(&one), find("seq-fork", &one).unwrap().fingerprint);
}
