//! The archive that the tool was asked for: six days of an unattended harness whose errors blamed compaction.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::Path;

use serde_json::json;
use support::builder::{Log, NO_BODY_400, NO_BODY_413, OVERFLOW, START};
use support::{failures_ndjson, run, scan_json};

const DAY: i64 = 86_400_000;
const SESSIONS: usize = 60;

/// What happens in one step of the archive.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Succeeds,
    /// A bodyless 400 or 413 that ends the turn.
    NoBody,
    /// One 429, then a success.
    RateLimitRecovers,
    /// Three 429, then the turn is given up.
    RateLimitGivesUp,
    /// A 500 that ends the turn.
    ServerError,
    /// A pressure compaction before the step, which succeeds.
    AfterCompaction,
    /// A bodyless failure whose finish lies this many events after a pressure compaction.
    NoBodyAfterCompaction(u64),
    /// An overflow compaction in the step, which then succeeds.
    OverflowCompactionRecovers,
}

fn plan() -> Vec<Kind> {
    let mut kinds = Vec::new();
    let mut add = |count: usize, kind: Kind| kinds.extend(std::iter::repeat_n(kind, count));
    // 486 failed steps with a bodyless 400 or 413: 12 within 8 events after a compaction, one just outside.
    add(473, Kind::NoBody);
    add(6, Kind::NoBodyAfterCompaction(6));
    add(5, Kind::NoBodyAfterCompaction(7));
    add(1, Kind::NoBodyAfterCompaction(8));
    add(1, Kind::NoBodyAfterCompaction(9));
    // 44 others; 291 attempts with 429: 30 × 3 given up, 201 recovered.
    add(30, Kind::RateLimitGivesUp);
    add(14, Kind::ServerError);
    add(201, Kind::RateLimitRecovers);
    // 81 compactions: the 13 above, 63 more by pressure, 5 by overflow.
    add(63, Kind::AfterCompaction);
    add(5, Kind::OverflowCompactionRecovers);
    kinds.resize(12_238, Kind::Succeeds);
    // A fixed shuffle (Fisher and Yates, a 64-bit linear congruential generator).
    let mut state = 0x2026_1130_u64;
    for last in (1..kinds.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        kinds.swap(last, (state >> 33) as usize % (last + 1));
    }
    kinds
}

fn write_archive(root: &Path) {
    let kinds = plan();
    let mut largest_written = false;
    for (number, steps) in kinds.chunks(kinds.len().div_ceil(SESSIONS)).enumerate() {
        let mut log = Log::new(&format!("shift-{number:02}"));
        log.at(START + (6 * DAY - 3_600_000) * number as i64 / (SESSIONS as i64 - 1));
        if number % 3 == 0 {
            log.unpacked();
        }
        log.turn();
        for (index, kind) in steps.iter().enumerate() {
            if index % 9 == 8 {
                log.turn();
            }
            let message = if index % 2 == 0 { NO_BODY_400 } else { NO_BODY_413 };
            let tokens = if largest_written { 20_000 + 700 * (index as u64 % 200) } else { 165_000 };
            match *kind {
                Kind::Succeeds => {
                    largest_written = true;
                    log.step().ok(tokens)
                }
                Kind::NoBody => log.step().failed(OVERFLOW, message).gave_up().turn(),
                Kind::RateLimitRecovers => {
                    log.step().failed("RATE_LIMIT", "429 status code (no body)").retry(500).ok(30_000)
                }
                Kind::RateLimitGivesUp => {
                    log.step().failed("RATE_LIMIT", "429 Too many requests").retry(500);
                    log.failed("RATE_LIMIT", "429 Too many requests").retry(1_000);
                    log.failed("RATE_LIMIT", "429 Too many requests").gave_up().turn()
                }
                Kind::ServerError => log.step().failed("SERVER", "500 Internal Server Error").gave_up().turn(),
                Kind::AfterCompaction => {
                    // The token meter starts a compaction between two steps, so there is one before it.
                    log.pressure_compaction().step().ok(9_000)
                }
                Kind::NoBodyAfterCompaction(distance) => {
                    log.pressure_compaction();
                    let end = log.seq - 1;
                    log.step();
                    while log.seq + 1 < end + distance {
                        log.deltas(&["…"]);
                    }
                    log.failed(OVERFLOW, message);
                    assert_eq!(log.seq - 1, end + distance, "distance as planned");
                    log.gave_up().turn()
                }
                Kind::OverflowCompactionRecovers => {
                    log.step().failed(OVERFLOW, message).overflow_compaction().ok(8_000)
                }
            };
        }
        if number % 4 == 1 {
            log.write_plain(root)
        } else {
            log.write_zstd(root)
        };
    }
}

#[test]
fn six_days_of_bodyless_failures_give_the_numbers_that_were_asked_for() {
    let root = tempfile::tempdir().unwrap();
    write_archive(root.path());
    let path = root.path().to_str().unwrap();

    let scan = scan_json(&[path]);
    assert_eq!(scan["partial"], json!(false), "{}", scan["notices"]);
    assert_eq!(scan["inputs"]["sessions"], json!(SESSIONS));
    let counts = &scan["counts"];
    assert_eq!(counts["steps"], json!(12_238));
    assert_eq!(counts["failed_steps"], json!(530));
    assert_eq!(counts["failed_turns"], json!(530));
    assert_eq!(counts["attempts"], json!(12_238 + 30 * 2 + 201 + 5));
    assert_eq!(counts["failed_attempts"], json!(486 + 5 + 291 + 14));
    assert_eq!(counts["retries_scheduled"], json!(30 * 2 + 201));
    assert_eq!(counts["retries_started"], json!(30 * 2 + 201));
    assert_eq!(counts["compactions"], json!(81));
    assert_eq!(counts["unfinished_attempts"], json!(0));
    let code =
        |name: &str| scan["failures_by_code"].as_array().unwrap().iter().find(|c| c["code"] == name).cloned().unwrap();
    assert_eq!(
        code(OVERFLOW),
        json!({"code": OVERFLOW, "failed_attempts": 491, "failed_steps": 486, "failed_turns": 486})
    );
    assert_eq!(
        code("RATE_LIMIT"),
        json!({"code": "RATE_LIMIT", "failed_attempts": 291, "failed_steps": 30, "failed_turns": 30})
    );
    assert_eq!(scan["largest_success_tokens"], json!(165_000));
    assert_eq!(scan["compactions_by_trigger"], json!({"pressure": 76, "overflow": 5, "manual": 0, "prune": 0}));
    assert_eq!(scan["compactions_by_outcome"], json!({"done": 81, "failed": 0, "open": 0}));
    let window = &scan["windows"][0];
    assert_eq!(window["window"], json!("8ev"));
    assert_eq!(window["failed_steps_inside"], json!(12));
    assert_eq!(window["failed_steps_total"], json!(530));
    let span = scan["span"]["last_time_ms"].as_i64().unwrap() - scan["span"]["first_time_ms"].as_i64().unwrap();
    assert!((6 * DAY - 3_600_000..6 * DAY).contains(&span), "{span} ms");
    // The failure one event beyond the window is there, and a window of 9 takes it in.
    assert_eq!(scan_json(&[path, "--window", "9ev"])["windows"][0]["failed_steps_inside"], json!(13));

    // By construction a step right after one of the 76 compactions fails in 13 cases (17.1 %), any other in 4.3 %: the
    // ratio is truly raised. Still compaction cannot be what stopped the runs, and both must be said.
    assert_eq!(window["steps_begun_inside"], json!(76), "{window}");
    assert_eq!(window["failures_begun_inside"], json!(13), "{window}");
    let number = |name: &str| window[name].as_f64().unwrap();
    assert!((3.0..5.0).contains(&number("rate_ratio")), "{window}");
    assert!(number("rate_ratio_lo") > 1.5 && number("rate_ratio_hi") < 9.0, "{window}");
    assert!(number("p_value") < 0.01, "{window}");
    let compactions = run(&["compactions", path, "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&compactions.out).unwrap();
    assert_eq!(report["verdict"], json!("raises"));
    let text = report["text"].as_str().unwrap();
    for said in [
        "12 of 530 failed steps (2.3 %) end within 8 events after a compaction.",
        "76 steps begin within that distance and 13 of them fail (17.1 %)",
        "Compaction is not the cause of the other",
    ] {
        assert!(text.contains(said), "{said:?} in {text}");
    }
    assert_eq!(report["compactions"].as_array().unwrap().len(), 81);
    assert_eq!(report["windows"], scan["windows"]);

    let fates = &scan["chains_by_fate"];
    assert_eq!(*fates, json!({"gave_up": 530, "recovered_by_compaction": 5, "recovered_by_retry": 201}));

    // The findings lead: 486 failed steps against the evidence, and the 5 compactions they caused.
    let findings = scan["findings"].as_array().unwrap();
    let first = &findings[0];
    assert_eq!(
        (&first["id"], &first["count"], &first["unit"], &first["severity"], &first["confidence"]),
        (&json!("contradicted-overflow"), &json!(486), &json!("failed_steps"), &json!("error"), &json!("high"))
    );
    assert_eq!(first["title"], json!("486 failed steps with code CONTEXT_WINDOW_EXCEEDED against the evidence"));
    assert_eq!(first["fingerprint"].as_str().map(str::len), Some(16));
    let count = |id: &str| findings.iter().find(|f| f["id"] == id).map(|f| f["count"].clone());
    assert_eq!(count("spurious-overflow-compaction"), Some(json!(5)));
    assert_eq!(count("bodyless-400"), Some(json!(486)));

    for width in ["80", "160"] {
        let page = run(&["scan", path, "--width", width]);
        assert_eq!((page.status, page.err.as_str()), (0, ""), "width {width}");
        let line = |start: &str| {
            page.out.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("no {start:?}:\n{}", page.out))
        };
        let columns =
            |start: &str| line(start).split("  ").map(str::trim).filter(|c| !c.is_empty()).collect::<Vec<_>>();
        let verdict = "486 of 530 failed steps (91.7 %) carry CONTEXT_WINDOW_EXCEEDED, yet the evidence contradicts it in every case.";
        let flat = page.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(verdict), "{flat}");
        assert_eq!(line("60 sessions"), "60 sessions, 12,238 steps, 530 failed (4.3 %)");
        assert_eq!(&columns("steps")[..4], ["steps", "12,238", "530", "4.3 %"]);
        let of_code = |l: &&str| l.starts_with(OVERFLOW) && l.contains("91.7 %") && l.contains(" 486 ");
        assert!(page.out.lines().any(|l| of_code(&l)), "{}", page.out);
        assert_eq!(line("Compactions:"), "Compactions: 81");
        assert_eq!(&columns("8ev")[..4], ["8ev", "12", "530", "2.3 %"]);
        let route = columns("gateway");
        assert!(route.contains(&"165,000"), "{route:?}");
        assert!(width == "80" || route.contains(&"262,144"), "{route:?}");
        assert!(page.out.lines().all(|l| l.chars().count() <= width.parse().unwrap()), "{}", page.out);
    }

    let rate_limited = scan_json(&[path, "--code", "RATE_LIMIT"]);
    assert_eq!(rate_limited["counts"]["failed_attempts"], json!(291));
    assert_eq!(rate_limited["counts"]["failed_steps"], json!(30));
}

/// Verdict and supported code of every failure in a tree.
fn verdicts(root: &Path) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let rows = failures_ndjson(&[root.to_str().unwrap(), "--code", OVERFLOW]);
    rows.iter().map(|row| (text(&row["verdict"]), text(&row["supported_code"]))).collect()
}

#[test]
fn the_evidence_contradicts_every_bodyless_overflow_of_the_six_days() {
    let root = tempfile::tempdir().unwrap();
    write_archive(root.path());
    let found = verdicts(root.path());
    assert_eq!(found.len(), 491, "486 failed steps and five that a compaction answered");
    let contradicted = found.iter().filter(|(verdict, _)| verdict == "contradicted").count();
    assert_eq!(contradicted, found.len());
}

#[test]
fn a_planted_overflow_is_supported() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("planted");
    let text = "This model's maximum context length is 262144 tokens. However, you requested 270000 tokens \
                (270000 in the messages). Please reduce the length of the messages.";
    log.turn().step().ok(20_000).step().large_tool_result(1_080_000).step().failed(OVERFLOW, text).gave_up();
    log.write_plain(root.path());
    assert_eq!(verdicts(root.path()), [("supported".to_owned(), "CONTEXT_WINDOW_EXCEEDED".to_owned())]);
}

#[test]
fn an_archive_with_nothing_to_compare_leaves_the_code_open() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("alone");
    // Without a window and without any success there is no witness.
    log.without_window().turn().step().failed(OVERFLOW, NO_BODY_400).gave_up();
    log.write_plain(root.path());
    assert_eq!(verdicts(root.path()), [("undetermined".to_owned(), "UNDETERMINED".to_owned())]);
}
