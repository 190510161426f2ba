//! One route, a few chains, and what each policy makes of them.

use std::collections::BTreeMap;

use super::chains::{Chain, Recorded};
use super::common_numbers::CommonNumbers;
use super::compiled::CompiledPolicy;
use super::evidence::{Codes, CompactionEvidence, FailureRecord, OVERFLOW, RouteEvidence, SessionEvidence};
use super::path::Path;
use super::play::{Ending, Nobody, Stage};
use super::probes::Probe;
use super::together::play_all;
use super::world::World;
use crate::policy::{Candidate, parse_candidate};
use crate::session::Route;

fn record(time_ms: f64) -> FailureRecord {
    FailureRecord {
        time_ms,
        code: OVERFLOW,
        retry_after_ms: None,
        hidden_retry_after_ms: None,
        bodyless: true,
        duration_ms: 10.0,
    }
}

fn chain(time_ms: f64) -> Chain {
    Chain {
        session: 0,
        recorded: Recorded::FailedTurn,
        arrival_ms: time_ms,
        failed_ms: time_ms + 10.0,
        record: record(time_ms),
        at_fault: false,
        contested: false,
        bad_from_ms: f64::INFINITY,
        bad_record: record(time_ms),
        evidence_end_ms: 1e9,
        tokens: Some(1000),
        fill: Some(0.1),
        compaction_mounted: false,
    }
}

fn evidence(chains: Vec<Chain>) -> RouteEvidence {
    RouteEvidence {
        route: Route::default(),
        probes: vec![Probe::new(0.0, true, 0)],
        records: chains.iter().map(|chain| chain.record).collect(),
        promises: Vec::new(),
        longest_retry_after_ms: 0.0,
        record_places: vec![0; chains.len()],
        chains,
        sessions: vec![SessionEvidence::default()],
        episodes: 1,
        last_probe_ms: 1e9,
        onset_rate: 0.0,
        contested: 0,
        unplayed: 0,
        compaction: CompactionEvidence { done_ms: 200.0, failed_ms: 20.0, destroyed_tokens: 500.0 },
    }
}

/// Down from 1 s to `until`.
fn world(evidence: &RouteEvidence, until: f64) -> World {
    let path = Path { starts_down: false, switches: vec![1000.0, until] };
    let places = path.places(evidence.chains.iter().map(|chain| chain.failed_ms));
    World { path, success_up: 1.0, success_down: 0.0, numbers: CommonNumbers::new(3), onsets_ms: Vec::new(), places }
}

fn candidate(edits: &str) -> Candidate {
    parse_candidate(&format!("dsh-default + {edits}"), &|_| None).unwrap()
}

fn play(evidence: &RouteEvidence, until: f64, edits: &str) -> Ending {
    let world = world(evidence, until);
    let stage = Stage { evidence, world: &world, archive_end_ms: 600_000.0 };
    stage.play(&CompiledPolicy::new(&candidate(edits), &Codes::default()), 0, &mut Nobody)
}

#[test]
fn a_retry_after_the_outage_brings_the_success() {
    let evidence = evidence(vec![chain(1500.0)]);
    assert_eq!(play(&evidence, 2500.0, "none").attempts, 0);
    let ending = play(&evidence, 2500.0, "retry CONTEXT_WINDOW_EXCEEDED");
    // Waits of about 0.5 and 1 s from 1.51 s: the first retry meets the outage, the second its end.
    assert!(ending.saved && ending.saved_if_beyond_fails, "{ending:?}");
    assert_eq!((ending.attempts, ending.failed, ending.into_outage), (2, 1, 1));
    assert!((1400.0..1750.0).contains(&ending.wait_ms), "{ending:?}");
}

#[test]
fn beyond_the_evidence_three_counts_part() {
    let mut late = chain(1500.0);
    late.evidence_end_ms = 1600.0;
    let evidence = evidence(vec![late]);
    let drawn_up = play(&evidence, 2500.0, "retry CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(
        (drawn_up.saved_if_beyond_fails, drawn_up.saved, drawn_up.saved_if_beyond_succeeds),
        (false, true, true)
    );
    let drawn_down = play(&evidence, 1e8, "retry CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(
        (drawn_down.saved_if_beyond_fails, drawn_down.saved, drawn_down.saved_if_beyond_succeeds),
        (false, false, true)
    );
}

#[test]
fn a_session_gone_bad_is_never_saved_and_never_ends_under_always() {
    let mut bad = chain(1500.0);
    bad.bad_from_ms = 1500.0;
    bad.evidence_end_ms = 1000.0;
    let evidence = evidence(vec![bad]);
    let normal = play(&evidence, 1600.0, "retry CONTEXT_WINDOW_EXCEEDED + maxRetries 7");
    assert_eq!((normal.attempts, normal.failed, normal.into_outage), (7, 7, 0));
    assert!(!normal.saved_if_beyond_succeeds && !normal.endless);
    let always = play(&evidence, 1600.0, "mode always");
    assert!(always.endless && !always.saved_if_beyond_succeeds, "{always:?}");
    // Ten minutes at about 10 s each: skipping the steady part must not change the count much.
    assert!((55..75).contains(&always.attempts), "{always:?}");
}

#[test]
fn a_long_outage_is_skipped_to_its_end() {
    let evidence = evidence(vec![chain(1500.0)]);
    let ending = play(&evidence, 3_600_000.0, "mode always + maxDelayMs 2s");
    assert!(ending.saved && !ending.endless);
    assert!((3_598_500.0..3_601_500.0).contains(&ending.wait_ms), "{ending:?}");
    assert!((1750..1900).contains(&ending.attempts), "{ending:?}");
}

#[test]
fn compaction_acts_after_the_policy_gives_up_and_before_it_in_mode_always() {
    let mut overflow = chain(5000.0);
    (overflow.at_fault, overflow.compaction_mounted) = (true, true);
    let healthy = evidence(vec![overflow]);
    for (edits, retries_in_vain) in [("none", 0), ("retry CONTEXT_WINDOW_EXCEEDED", 5), ("mode always", 0)] {
        let ending = play(&healthy, 2000.0, edits);
        assert!(ending.saved, "{edits}: {ending:?}");
        assert_eq!((ending.compactions, ending.compactions_done), (1, 1), "{edits}");
        assert_eq!(ending.attempts, retries_in_vain + 1, "{edits}");
    }
    // The summary call meets the same outage: nothing is saved, and mode always goes on by itself.
    let mut silent = chain(1500.0);
    silent.compaction_mounted = true;
    let down = evidence(vec![silent]);
    let ending = play(&down, 30_000.0, "none");
    assert_eq!((ending.saved, ending.compactions, ending.compactions_done), (false, 1, 0));
    assert!(play(&down, 30_000.0, "mode always").saved);
}

fn together(evidence: &RouteEvidence, edits: &str, others: &BTreeMap<&str, &World>) -> Vec<Ending> {
    let world = world(evidence, 9000.0);
    let stage = Stage { evidence, world: &world, archive_end_ms: 600_000.0 };
    let (candidate, codes) = (candidate(edits), Codes::default());
    play_all(&stage, &candidate, &CompiledPolicy::new(&candidate, &codes), &codes, others)
}

#[test]
fn playing_in_order_of_time_changes_nothing_without_shared_repairs() {
    let evidence = evidence((0..40).map(|k| chain(1100.0 + 190.0 * f64::from(k))).collect());
    for edits in ["none", "retry CONTEXT_WINDOW_EXCEEDED", "gateway-503 + jitter full", "gateway-503 + time-budget 3s"]
    {
        let world = world(&evidence, 9000.0);
        let stage = Stage { evidence: &evidence, world: &world, archive_end_ms: 600_000.0 };
        let policy = CompiledPolicy::new(&candidate(edits), &Codes::default());
        let alone: Vec<Ending> = (0..40).map(|index| stage.play(&policy, index, &mut Nobody)).collect();
        assert_eq!(together(&evidence, edits, &BTreeMap::new()), alone, "{edits}");
    }
}

#[test]
fn a_small_retry_budget_saves_fewer_and_another_route_saves_all() {
    let evidence = evidence((0..40).map(|k| chain(1100.0 + 190.0 * f64::from(k))).collect());
    let saved = |endings: &[Ending]| endings.iter().filter(|ending| ending.saved).count();
    let plain = together(&evidence, "gateway-503", &BTreeMap::new());
    let budget = together(&evidence, "gateway-503 + token-bucket 40 5", &BTreeMap::new());
    assert!(saved(&budget) < saved(&plain), "{} {}", saved(&budget), saved(&plain));
    let healthy = World { success_up: 1.0, ..World::empty() };
    let others: BTreeMap<&str, &World> = [("spare", &healthy)].into_iter().collect();
    let moved = together(&evidence, "fail-over spare", &others);
    assert_eq!((saved(&moved), moved.iter().map(|ending| ending.attempts).sum::<u64>()), (40, 40));
    // A route that no log knows: it may answer or not.
    let unknown = together(&evidence, "fail-over elsewhere", &BTreeMap::new());
    assert!(unknown.iter().all(|ending| ending.saved_if_beyond_succeeds && !ending.saved));
}
