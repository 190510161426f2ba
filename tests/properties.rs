//! What holds for every log: its batching, packing and format change nothing, a cut loses its tail and no more, and a
//! flipped bit never changes a number in silence.

#![allow(clippy::unwrap_used)] // A test that cannot set itself up has failed.

#[path = "support/logs.rs"]
mod logs;

use std::sync::LazyLock;

use dsh_forensics::archive::ArchiveReader;
use dsh_forensics::discover::Discovery;
use dsh_forensics::filter::Filters;
use dsh_forensics::pipeline::{Dataset, ReadOptions, read_all};
use dsh_forensics::report::json::ScanV1;
use dsh_forensics::summary::Summary;
use dsh_forensics::verify::{Verified, verify_one};
use logs::{Attempt, Plan, Then, archive, attempt, compressed, events, header, lines, packed_lines, plain};
use proptest::prelude::*;
use serde_json::Value;

fn read(bytes: &[u8]) -> Dataset {
    let discovery = Discovery { archives: vec![archive(bytes)], ..Discovery::default() };
    read_all(discovery, ReadOptions::default(), &|_| {})
}

fn verify(bytes: &[u8]) -> Verified {
    let mut reader = ArchiveReader::new().unwrap();
    verify_one(&mut reader, &archive(bytes), ReadOptions::default(), true).unwrap()
}

/// The scan without what depends on the container.
fn scan(bytes: &[u8]) -> Value {
    let dataset = read(bytes);
    let windows = ["3att".parse().unwrap(), "60s".parse().unwrap()];
    let summary = Summary::of(&dataset, &Filters::default(), &windows);
    let mut json = serde_json::to_value(ScanV1::new(&dataset, &summary, &[])).unwrap();
    for key in ["bytes_compressed", "bytes_logical", "frames"] {
        json["inputs"][key] = Value::Null;
    }
    json
}

/// The scan without what a format changes: events and times.
fn scan_without_events(bytes: &[u8]) -> Value {
    let mut json = scan(bytes);
    json["counts"]["events"] = Value::Null;
    json["span"] = Value::Null;
    json["windows"] = Value::Null;
    for route in json["sizes_by_route"].as_array_mut().into_iter().flatten() {
        if let Some(jump) = route["largest_jump"].as_object_mut() {
            jump.remove("seq");
        }
    }
    json
}

fn ends() -> impl Strategy<Value = Attempt> {
    let code = prop_oneof![Just("RATE_LIMIT"), Just("CONTEXT_WINDOW_EXCEEDED"), Just("NETWORK_ERROR")];
    prop_oneof![
        3 => (0usize..9).prop_map(|n| attempt(n, Then::Succeed)),
        1 => (0usize..5, code).prop_map(|(n, code)| attempt(n, Then::GiveUp(code))),
    ]
}

fn failures() -> impl Strategy<Value = Vec<Attempt>> {
    let code = prop_oneof![Just("RATE_LIMIT"), Just("NETWORK_ERROR")];
    let failed = prop_oneof![
        2 => (0usize..5, code).prop_map(|(n, code)| attempt(n, Then::RetryAfter(code))),
        1 => (0usize..5).prop_map(|n| attempt(n, Then::CompactAfter)),
    ];
    prop::collection::vec(failed, 0..3)
}

fn plans() -> impl Strategy<Value = Plan> {
    let step = (failures(), ends()).prop_map(|(mut attempts, last)| {
        attempts.push(last);
        attempts
    });
    let turn = prop::collection::vec(step, 1..4).prop_map(|mut steps| {
        // A turn that gives up has no further step.
        if let Some(at) = steps.iter().position(|s| matches!(s.last(), Some(Attempt { then: Then::GiveUp(_), .. }))) {
            steps.truncate(at + 1);
        }
        steps
    });
    prop::collection::vec(turn, 1..4)
}

static SMALL: LazyLock<(Vec<u8>, Value)> = LazyLock::new(|| {
    let bytes = compressed(&header(0), &packed_lines(&events(&logs::small_plan(), 0)), &[5, 1, 3]);
    let json = scan(&bytes);
    (bytes, json)
});

/// Counts of a scan that a cut may only make smaller.
fn counts(json: &Value) -> Vec<u64> {
    ["events", "turns", "steps", "attempts", "failed_attempts", "retries_scheduled", "compactions"]
        .iter()
        .map(|key| json["counts"][key].as_u64().unwrap())
        .collect()
}

fn assert_no_more(part: &Value, whole: &Value) {
    for (part, whole) in counts(part).into_iter().zip(counts(whole)) {
        assert!(part <= whole, "{part} of {whole}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn batching_packing_and_format_change_nothing(plan in plans(), sizes in prop::collection::vec(1usize..50, 1..6)) {
        let v0 = events(&plan, 0);
        let reference = scan(&plain(&header(0), &lines(&v0)));
        let packed = packed_lines(&v0);
        prop_assert_eq!(&scan(&plain(&header(0), &packed)), &reference);
        prop_assert_eq!(&scan(&compressed(&header(0), &packed, &sizes)), &reference);
        prop_assert_eq!(&scan(&compressed(&header(0), &lines(&v0), &sizes)), &reference);
        prop_assert_eq!(&scan(&compressed(&header(1), &packed, &sizes)), &reference);
        let later = compressed(&header(3), &lines(&events(&plan, 3)), &sizes);
        let expected = scan_without_events(&plain(&header(0), &lines(&v0)));
        prop_assert_eq!(&scan_without_events(&later), &expected);
        for bytes in [compressed(&header(0), &packed, &sizes), plain(&header(0), &packed), later] {
            let verified = verify(&bytes);
            prop_assert!(!verified.is_damaged(), "{:?}", verified);
        }
    }

    #[test]
    fn a_cut_loses_the_tail_and_no_more(plan in plans(), at in any::<prop::sample::Index>(), zstd in any::<bool>()) {
        let log = packed_lines(&events(&plan, 0));
        let whole = if zstd { compressed(&header(0), &log, &[4, 9, 1]) } else { plain(&header(0), &log) };
        let cut = &whole[..at.index(whole.len())];
        let part = read(cut);
        assert_no_more(&scan(cut), &scan(&whole));
        let seqs: Vec<u64> = part.sessions.iter().flat_map(|s| s.attempts.iter().map(|a| a.first_seq)).collect();
        let all: Vec<u64> = read(&whole).sessions[0].attempts.iter().map(|a| a.first_seq).collect();
        prop_assert!(all.starts_with(&seqs));
        let verified = verify(cut);
        prop_assert!(verified.forks.is_empty() && verified.holes.is_empty());
    }

    #[test]
    fn a_flipped_bit_anywhere_never_counts_anything_twice(plan in plans(), at in any::<prop::sample::Index>(), bit in 0u8..8, zstd in any::<bool>()) {
        let log = packed_lines(&events(&plan, 0));
        let mut bytes = if zstd { compressed(&header(0), &log, &[4, 9, 1]) } else { plain(&header(0), &log) };
        let whole = counts(&scan(&bytes));
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let json = scan(&bytes);
        // A plain log has no checksum: a digit of a turn number may change, but no line is read twice.
        prop_assert!(counts(&json)[3] <= whole[3] + u64::from(!zstd));
        verify(&bytes);
    }
}

#[test]
fn every_cut_of_a_small_log_is_a_prefix() {
    let (bytes, whole) = &*SMALL;
    let mut before = 0;
    for at in 0..bytes.len() {
        let json = scan(&bytes[..at]);
        assert_no_more(&json, whole);
        let events = counts(&json)[0];
        assert!(events >= before, "a longer prefix holds fewer events at byte {at}");
        before = events;
    }
}

#[test]
fn every_flipped_bit_in_a_checksummed_frame_is_reported() {
    let (bytes, whole) = &*SMALL;
    let mut silent = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let json = scan(&damaged);
            let reported = !read(&damaged).notices.is_empty() && verify(&damaged).is_damaged();
            // The format has bits that change nothing (window size, spare bits of a Huffman table): the checksum holds,
            // and so does every number.
            silent += u32::from(!reported);
            assert!(reported || json == *whole, "byte {at} bit {bit}: a silent change");
            assert_no_more(&json, whole);
        }
    }
    assert!(silent as usize <= bytes.len() * 8 / 50, "{silent} flips were not reported");
}
