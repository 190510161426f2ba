//! What the program does with what is typed: exit statuses, messages, filters, and input of every bad kind.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::builder::{Log, NO_BODY_400, OVERFLOW, START};
use support::{failures_ndjson, program, run, run_with, scan_json};
use tempfile::TempDir;

const CLEAN: i32 = 0;
const USAGE: i32 = 2;
const NO_INPUT: i32 = 3;
const PARTIAL: i32 = 4;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// One session with a success, a bodyless failure that ends a turn, and a 429 that recovers.
fn small_log(id: &str) -> Log {
    let mut log = Log::new(id);
    log.turn().step().ok(1_200).step().failed(OVERFLOW, NO_BODY_400).gave_up();
    log.turn().step().failed("RATE_LIMIT", "429 Too many requests").retry(500).ok(1_500);
    log
}

fn small_root() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = small_log("night").write_zstd(root.path());
    (root, path)
}

#[track_caller]
fn assert_small_log_was_read(scan: &Value) {
    assert_eq!(scan["inputs"]["sessions"], json!(1));
    assert_eq!(scan["counts"]["steps"], json!(3));
    assert_eq!(scan["counts"]["attempts"], json!(4));
    assert_eq!(scan["counts"]["failed_steps"], json!(1));
    assert_eq!(scan["counts"]["failed_turns"], json!(1));
}

// ---- input that cannot be read

#[test]
fn a_missing_path_alone_is_no_input() {
    let run = run(&["scan", "/no/such/place"]);
    assert_eq!((run.status, run.out.as_str()), (NO_INPUT, ""));
    assert!(run.err.contains("/no/such/place") && run.err.contains("No such file"), "{}", run.err);
    assert!(run.err.contains("--demo"), "says how to go on: {}", run.err);
}

#[test]
fn a_missing_path_beside_a_good_one_makes_the_run_partial() {
    let (root, _) = small_root();
    let run = run(&["scan", text(root.path()), "/no/such/place"]);
    assert_eq!(run.status, PARTIAL);
    assert!(run.out.contains("1 session, 3 steps, 1 failed") && run.out.contains("/no/such/place"), "{}", run.out);
}

#[test]
fn a_missing_default_root_is_no_input_and_names_the_place() {
    let run = run(&["scan"]);
    assert_eq!(run.status, NO_INPUT);
    assert!(run.err.contains("/nonexistent-home/.dsh/sessions"), "{}", run.err);
}

#[test]
fn an_empty_directory_is_no_input() {
    let empty = tempfile::tempdir().unwrap();
    for command in ["scan", "failures"] {
        let run = run(&[command, text(empty.path())]);
        assert_eq!((run.status, run.out.as_str()), (NO_INPUT, ""));
        assert!(run.err.contains("no session log found"), "{}", run.err);
    }
}

#[test]
fn files_that_are_no_logs_are_named_and_make_the_run_partial() {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes, reason) in [
        ("session.jsonl", &b""[..], "empty file"),
        ("session.jsonl.zstd", b"", "empty file"),
        ("session.v1.jsonl.zstd", b"not compressed at all\n", "not a session log"),
        ("session.v2.jsonl", &[0, 159, 146, 150, b'\n', 7, 200, b'\n'], "not a session log"),
        ("session.v3.jsonl.zstd", &[0x28, 0xB5, 0x2F, 0xFD, 0x24, 0xFF, 0xFF, 0xFF, 1, 2, 3], "not a session log"),
    ] {
        let path = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        for command in ["scan", "failures"] {
            let run = run(&[command, text(&path)]);
            assert_eq!(run.status, PARTIAL, "{command} {name}: {}", run.err);
            let said = run.out + &run.err;
            assert!(!said.contains("panicked"), "{said}");
            if command == "scan" {
                assert!(said.contains(reason) && said.contains(name), "{name}: {said}");
            }
        }
        let scan = scan_json(&[text(&path)]);
        assert_eq!((&scan["partial"], &scan["inputs"]["unreadable_archives"]), (&json!(true), &json!(1)), "{name}");
        assert_eq!(scan["counts"]["events"], json!(0), "{name}");
    }
}

/// A file that neither is a log nor is called like one is no input, as an empty directory is.
#[test]
fn a_named_file_that_is_no_log_is_no_input() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    fs::write(&path, "今天的笔记\nnothing else\n").unwrap();
    for command in [&["scan"][..], &["failures"], &["verify"], &["compactions"], &["check"], &["policy", "show"]] {
        let run = run(&[command, &[text(&path)]].concat());
        assert_eq!((run.status, run.out.as_str()), (NO_INPUT, ""), "{command:?}");
        assert!(run.err.contains("notes.txt") && run.err.contains("not a session log"), "{command:?}: {}", run.err);
    }
    // Beside a log it is a part of the input that could not be read.
    let (root, _) = small_root();
    assert_eq!(run(&["scan", text(root.path()), text(&path)]).status, PARTIAL);
}

#[test]
fn logs_may_be_named_by_in_as_well() {
    let (_root, path) = small_root();
    for command in [&["scan"][..], &["failures"], &["verify"], &["compactions"], &["explain"], &["policy", "show"]] {
        let run = run(&[command, &["--in", text(&path)]].concat());
        assert!(matches!(run.status, 0 | 1) && !run.out.is_empty(), "{command:?}: {}", run.err);
    }
}

/// What a table shows of a session can be typed as it stands.
#[test]
fn explain_takes_what_failures_shows() {
    let page = run(&["failures", "--demo", "--width", "80"]).out;
    let row = page.lines().find(|line| line.starts_with("e2-")).expect("a row");
    let mut words = row.split_whitespace();
    let target = format!("{}:{}", words.next().unwrap(), words.next().unwrap());
    let run = run(&["explain", &target, "--demo"]);
    assert_eq!(run.status, CLEAN, "{target}: {}", run.err);
    assert!(run.out.contains("in e2-44e89473-f027-569c-a915-d07c540b0272 at seq 144"), "{}", run.out);
}

#[test]
fn explain_says_what_may_have_been_meant() {
    for (target, hint) in [
        ("contradicted-overlow", "did you mean the rule contradicted-overflow?"),
        ("e2-44e89474", "did you mean one of these: e2-44e89473-f027"),
        ("e2-44e:abc", "\"abc\" is no seq"),
        ("x:abc", "no session id begins with \"x\"; \"abc\" is no seq"),
    ] {
        let run = run(&["explain", target, "--demo"]);
        assert_eq!((run.status, run.out.as_str()), (USAGE, ""));
        assert!(run.err.contains(hint), "{target}: {}", run.err);
    }
}

/// The pager is for terminals; elsewhere the text goes where it always goes.
#[test]
fn a_pager_is_not_started_where_nobody_looks() {
    let mut program = program();
    let output = program.env("PAGER", "/bin/false").args(["failures", "--demo", "--pager"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), run(&["failures", "--demo"]).out);
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn a_text_file_in_a_directory_of_logs_is_passed_over_in_silence() {
    let (root, _) = small_root();
    fs::write(root.path().join("notes.txt"), "nothing").unwrap();
    fs::write(root.path().join("other.jsonl"), "{\"a\":1}\n").unwrap();
    let scan = scan_json(&[text(root.path())]);
    assert_eq!((&scan["partial"], &scan["notices"]), (&json!(false), &json!([])));
    assert_small_log_was_read(&scan);
}

#[cfg(unix)]
#[test]
fn a_directory_without_permission_makes_the_run_partial() {
    use std::os::unix::fs::PermissionsExt;
    let (root, _) = small_root();
    let locked = root.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::read_dir(&locked).is_ok();
    let (inside, alone) = (run(&["scan", text(root.path())]), run(&["scan", text(&locked)]));
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    if readable {
        eprintln!("skipped: this user may read every directory");
        return;
    }
    assert_eq!((inside.status, alone.status), (PARTIAL, PARTIAL));
    assert!(inside.out.contains("locked") && inside.out.contains("ermission denied"), "{}", inside.out);
    assert!(alone.err.contains("ermission denied"), "{}", alone.err);
}

#[cfg(unix)]
#[test]
fn a_pipe_or_device_is_not_opened() {
    let run = run(&["scan", "/dev/null"]);
    assert_eq!(run.status, NO_INPUT);
    assert!(run.err.contains("not a regular file"), "{}", run.err);
}

#[test]
fn a_flipped_byte_loses_one_frame_and_names_its_place() {
    let (_root, path) = small_root();
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(&path, bytes).unwrap();
    let scan = scan_json(&[text(&path)]);
    assert_eq!(scan["partial"], json!(true));
    let notices = scan["notices"].as_array().unwrap();
    let corrupt = notices.iter().find(|n| n["kind"] == "corrupt-frame").expect("a notice of the frame");
    let message = corrupt["message"].as_str().unwrap();
    assert!(message.contains("frame ") && message.contains("byte "), "{message}");
    assert!(scan["counts"]["events"].as_u64().unwrap() > 10, "the frames around it still count");
    assert_eq!(run(&["scan", text(&path)]).status, PARTIAL);
}

/// Every prefix of a log, through the program: a clear end each time, and never fewer events than a shorter prefix.
fn cut_at_every_byte(bytes: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("session.jsonl");
    let mut events = 0;
    for length in 0..=bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let run = run(&["scan", "--format", "json", "--jobs", "1", text(&path)]);
        assert!(matches!(run.status, CLEAN | NO_INPUT | PARTIAL), "cut at {length}: exit {}: {}", run.status, run.err);
        assert!(run.err.is_empty(), "cut at {length}: {}", run.err);
        let scan: Value = serde_json::from_str(&run.out).unwrap();
        let seen = scan["counts"]["events"].as_u64().unwrap();
        assert!(seen >= events, "cut at {length}: {seen} events after {events}");
        events = seen;
        if run.status == CLEAN && length < bytes.len() {
            let torn = scan["inputs"]["torn_archives"] == json!(1);
            assert!(torn || scan["notices"] == json!([]), "cut at {length}: {}", scan["notices"]);
        }
    }
    assert_eq!(events, 12, "the whole log");
}

fn tiny_log() -> Log {
    let mut log = Log::new("t");
    log.event("turn/start", json!({"turn": 1})).event("step/start", json!({"turn": 1, "step": 1}));
    log.deltas(&["a", "b", "c"]).deltas(&["d", "e", "f"]).chunk(json!({"type": "finish", "reason": {"kind": "stop"}}));
    log.event("step/end", json!({"turn": 1, "step": 1})).event("turn/end", json!({"turn": 1, "reason": {}}));
    log.event("plugin/note", json!({}));
    log
}

#[test]
fn a_plain_log_cut_at_every_byte_keeps_its_whole_lines() {
    cut_at_every_byte(&tiny_log().jsonl());
}

#[test]
fn a_compressed_log_cut_at_every_byte_keeps_what_decodes() {
    cut_at_every_byte(&tiny_log().zstd());
}

#[test]
fn a_torn_tail_is_a_notice_and_not_a_partial_run() {
    let (_root, path) = small_root();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();
    let run = run(&["scan", text(&path)]);
    assert_eq!(run.status, CLEAN, "{}", run.out);
    assert!(run.out.contains("torn-frame"), "{}", run.out);
    assert_eq!(scan_json(&[text(&path)])["inputs"]["torn_archives"], json!(1));
}

// ---- the other ways in

#[test]
fn standard_input_is_read_plain_and_compressed() {
    for bytes in [small_log("night").jsonl(), small_log("night").zstd()] {
        let run = run_with(&["scan", "-", "--format", "json"], &bytes);
        assert_eq!((run.status, run.err.as_str()), (CLEAN, ""));
        assert_small_log_was_read(&serde_json::from_str(&run.out).unwrap());
    }
    assert_eq!(run_with(&["scan", "-"], b"").status, NO_INPUT);
}

#[test]
fn a_zip_a_project_a_session_directory_and_a_file_hold_the_same_log() {
    let (root, path) = small_root();
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("export/--srv-harbour--/night/session.jsonl.zstd", options).unwrap();
    zip.write_all(&fs::read(&path).unwrap()).unwrap();
    zip.start_file("export/readme.txt", options).unwrap();
    zip.write_all(b"no log").unwrap();
    let archive = root.path().join("export.zip");
    fs::write(&archive, zip.finish().unwrap().into_inner()).unwrap();
    let session = path.parent().unwrap();
    for place in [&archive, root.path(), session.parent().unwrap(), session, path.as_path()] {
        let scan = scan_json(&[text(place)]);
        assert_small_log_was_read(&scan);
        assert_eq!(scan["notices"], json!([]), "{}", place.display());
        assert_eq!(failures_ndjson(&[text(place)])[0]["project"], json!("--srv-harbour--"), "{}", place.display());
    }
}

#[test]
fn a_zip_cut_in_half_is_named_and_makes_the_run_partial() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("half.zip");
    fs::write(&path, b"PK\x03\x04 and then nothing of use").unwrap();
    let run = run(&["scan", text(&path)]);
    assert_eq!(run.status, PARTIAL);
    assert!(run.err.contains("half.zip") && run.err.contains("zip"), "{}", run.err);
}

#[test]
fn the_default_root_follows_dsh_home() {
    let home = tempfile::tempdir().unwrap();
    small_log("night").write_plain(&home.path().join("sessions"));
    let output = program().args(["scan", "--format", "json"]).env("DSH_HOME", home.path()).output().unwrap();
    assert_small_log_was_read(&serde_json::from_slice(&output.stdout).unwrap());
    let dot = tempfile::tempdir().unwrap();
    small_log("night").write_plain(&dot.path().join(".dsh/sessions"));
    let output =
        program().args(["scan", "--format", "json"]).env("DSH_HOME", "").env("HOME", dot.path()).output().unwrap();
    assert_small_log_was_read(&serde_json::from_slice(&output.stdout).unwrap());
}

#[test]
fn only_the_highest_generation_of_a_session_counts() {
    let (root, path) = small_root();
    let mut newer = small_log("night");
    newer.header_field("version", json!(1));
    fs::write(path.with_file_name("session.v1.jsonl"), newer.jsonl()).unwrap();
    let scan = scan_json(&[text(root.path())]);
    assert_small_log_was_read(&scan);
    assert_eq!(scan["inputs"]["generations_skipped"], json!(1));
    assert_eq!(scan["notices"][0]["kind"], json!("duplicate-generation"));
}

#[test]
fn a_copied_session_counts_once_unless_asked_for() {
    let (root, _) = small_root();
    let mut copy = small_log("night");
    copy.project = "--backup--".to_owned();
    copy.write_plain(root.path());
    let scan = scan_json(&[text(root.path())]);
    assert_small_log_was_read(&scan);
    assert_eq!(scan["inputs"]["duplicates_skipped"], json!(1));
    assert_eq!(scan["notices"][0]["kind"], json!("duplicate-id"));
    assert_eq!(scan_json(&[text(root.path()), "--keep-duplicates"])["counts"]["steps"], json!(6));
    // The same path twice is no second copy.
    let twice = scan_json(&[text(root.path()), text(root.path())]);
    assert_eq!(twice["inputs"]["archives"], json!(2));
}

#[test]
fn the_demo_runs_anywhere_and_shows_failures_of_several_codes() {
    let scan = scan_json(&["--demo"]);
    assert!(scan["inputs"]["sessions"].as_u64().unwrap() >= 10);
    let codes = scan["failures_by_code"].as_array().unwrap();
    assert!(codes.len() >= 3, "{codes:?}");
    assert_eq!(codes[0]["code"], json!(OVERFLOW));
    let (attempts, listed) = (&scan["counts"]["failed_attempts"], failures_ndjson(&["--demo"]).len());
    assert_eq!(*attempts, json!(listed));
}

// ---- the command line

#[test]
fn what_cannot_be_understood_is_a_usage_error_that_says_what_would_be() {
    let (root, _) = small_root();
    let path = text(root.path());
    for (args, hint) in [
        (vec!["scan", path, "--no-such-flag"], "--no-such-flag"),
        (vec!["scna", path], "scan"),
        (vec![], "Usage"),
        (vec!["scan", path, "--since", "yesterday"], "6d"),
        (vec!["scan", path, "--since", "6y"], "m, h, d or w"),
        (vec!["scan", path, "--until", "2026-13-01"], "--until"),
        (vec!["scan", path, "--tz", "Mars/Olympus"], "Mars/Olympus"),
        (vec!["scan", path, "--window", "8"], "8ev"),
        (vec!["scan", path, "--window", "0ev"], "longer than 0"),
        (vec!["scan", path, "--window=-3att"], "longer than 0"),
        (vec!["scan", path, "--window", "1.2.3s"], "no number"),
        (vec!["scan", path, "--jobs", "0"], "--jobs"),
        (vec!["scan", path, "--width", "7"], "--width"),
        (vec!["scan", path, "--format", "yaml"], "markdown"),
        (vec!["scan", path, "--demo"], "--demo"),
        (vec!["failures", path, "--with-descendants"], "--session"),
        (vec!["scan", path, "--max-json-depth", "0"], "16..=1024"),
        (vec!["scan", path, "--max-window-bytes", "1"], "--max-window-bytes"),
        (vec!["scan", path, "--max-zip-ratio", "0"], "--max-zip-ratio"),
        (vec!["policy", "schedule", "--rows", "0"], "--rows"),
        (vec!["policy", "schedule", "--retry-after-ms=-5"], "milliseconds"),
    ] {
        let run = run(&args);
        assert_eq!((run.status, run.out.as_str()), (USAGE, ""), "{args:?}");
        assert!(run.err.contains(hint), "{args:?}: {}", run.err);
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [&["--help"][..], &["scan", "--help"], &["failures", "-h"], &["--version"]] {
        let run = run(args);
        assert_eq!((run.status, run.err.as_str()), (CLEAN, ""), "{args:?}");
        assert!(run.out.contains("dsh-forensics"), "{args:?}: {}", run.out);
    }
    let help = run(&["--help"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("3 no input, 4 partial"), "{help}");
}

// ---- filters

/// Two sessions, two projects, two routes, three days.
fn archive() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let day = 86_400_000;
    let mut one = Log::new("aaa-one");
    one.turn().step().ok(1_000).step().failed(OVERFLOW, NO_BODY_400).gave_up();
    // This attempt begins on the first day and ends on the second: it belongs to the second.
    one.at(START + day - 100).turn().step().deltas(&["late"]).at(START + day + 100);
    one.failed("SERVER", "500 Internal Server Error").retry(500).ok(2_000);
    one.write_zstd(root.path());
    let mut two = Log::new("bbb-two");
    two.project = "--srv-lighthouse--".to_owned();
    two.at(START + 2 * day).route("deepseek-official", "chat", 65_536);
    two.turn().step().ok(500).step().failed("RATE_LIMIT", "429 slow down").gave_up();
    two.route("gateway", "chat", 65_536).turn().step().failed("RATE_LIMIT", "429").retry(1_000).ok(600);
    two.write_plain(root.path());
    root
}

/// attempts, failed attempts, steps, failed steps
fn levels(scan: &Value) -> [u64; 4] {
    ["attempts", "failed_attempts", "steps", "failed_steps"].map(|name| scan["counts"][name].as_u64().unwrap())
}

#[test]
fn every_filter_chooses_what_it_names() {
    let root = archive();
    for (filter, wanted) in [
        (vec![], [8, 4, 6, 2]),
        (vec!["--since", "2026-11-26"], [4, 2, 3, 1]),
        (vec!["--until", "2026-11-26"], [4, 2, 3, 1]),
        (vec!["--since", "2026-11-25", "--until", "2026-11-26"], [2, 1, 1, 0]),
        (vec!["--since", "2026-11-25T00:00:00Z"], [6, 3, 4, 1]),
        (vec!["--since", "2026-11-25T08:00:00+08:00"], [6, 3, 4, 1]),
        (vec!["--since", "2026-11-25", "--tz", "Asia/Shanghai"], [6, 3, 4, 1]),
        (vec!["--until", "2026-11-25", "--tz", "UTC"], [2, 1, 2, 1]),
        (vec!["--until", "2026-11-25", "--tz", "America/Los_Angeles"], [4, 2, 3, 1]),
        (vec!["--until", "2026-11-24T00:00:00Z"], [0, 0, 0, 0]),
        (vec!["--session", "aaa"], [4, 2, 3, 1]),
        (vec!["--session", "aaa", "--session", "bbb"], [8, 4, 6, 2]),
        (vec!["--session", "zzz"], [0, 0, 0, 0]),
        (vec!["--provider", "deepseek-official"], [2, 1, 2, 1]),
        (vec!["--provider", "gateway"], [6, 3, 4, 1]),
        (vec!["--model", "chat"], [4, 2, 3, 1]),
        (vec!["--provider", "gateway", "--model", "chat"], [2, 1, 1, 0]),
        (vec!["--code", "RATE_LIMIT"], [8, 2, 6, 1]),
        (vec!["--code", "rate_limit", "--code", "SERVER"], [8, 3, 6, 1]),
        (vec!["--project", "lighthouse"], [4, 2, 3, 1]),
        (vec!["--project", "nowhere"], [0, 0, 0, 0]),
    ] {
        let args: Vec<&str> = [text(root.path())].into_iter().chain(filter.iter().copied()).collect();
        let scan = scan_json(&args);
        assert_eq!(levels(&scan), wanted, "{filter:?}");
        let listed = failures_ndjson(&args);
        assert_eq!(listed.len() as u64, wanted[1], "failures {filter:?}");
    }
}

#[test]
fn an_attempt_belongs_to_the_time_at_which_it_ended() {
    let root = archive();
    let first_day = failures_ndjson(&[text(root.path()), "--until", "2026-11-25"]);
    let codes: Vec<&str> = first_day.iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert_eq!(codes, [OVERFLOW]);
    let second_day = failures_ndjson(&[text(root.path()), "--since", "2026-11-25", "--until", "2026-11-26"]);
    assert_eq!(second_day.len(), 1);
    assert_eq!(second_day[0]["code"], json!("SERVER"));
    assert_eq!(second_day[0]["time_ms"], json!(START + 86_400_000 + 105));
    assert_eq!(second_day[0]["duration_ms"], json!(205 - 5));
}

#[test]
fn a_filtered_page_says_so() {
    let root = archive();
    assert!(run(&["scan", text(root.path()), "--code", "SERVER"]).out.contains("Filtered:"));
    assert!(!run(&["scan", text(root.path())]).out.contains("Filtered:"));
}

#[test]
fn descendants_come_along_when_asked_for() {
    let root = archive();
    let mut child = Log::new("ccc-child");
    child.header_field("parentSession", json!("aaa-one")).header_field("origin", json!("subagent"));
    child.turn().step().ok(100);
    child.write_plain(root.path());
    let path = text(root.path());
    assert_eq!(scan_json(&[path, "--session", "aaa"])["inputs"]["sessions"], json!(1));
    assert_eq!(scan_json(&[path, "--session", "aaa", "--with-descendants"])["inputs"]["sessions"], json!(2));
}

// ---- output

#[test]
fn colour_is_for_terminals_or_on_request() {
    let plain = run(&["scan", "--demo"]).out;
    assert!(!plain.contains('\u{1b}'), "no colour into a pipe");
    let coloured = run(&["scan", "--demo", "--color", "always"]).out;
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    assert!(!run(&["scan", "--demo", "--color", "never"]).out.contains('\u{1b}'));
    let quiet = program().args(["scan", "--demo"]).env("NO_COLOR", "1").output().unwrap();
    assert_eq!(String::from_utf8(quiet.stdout).unwrap(), plain);
    // Colour changes nothing but colour.
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped += before;
        rest = after.split_once('m').unwrap().1;
    }
    let trimmed = |page: &str| page.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&(stripped + rest)), trimmed(&plain));
}

#[test]
fn nothing_but_the_report_is_written_when_piped() {
    for command in ["scan", "failures"] {
        let run = run(&[command, "--demo"]);
        assert_eq!((run.status, run.err.as_str()), (CLEAN, ""), "{command}");
    }
    let quiet = run(&["scan", "--quiet", "/no/such/place"]);
    assert_eq!(quiet.status, NO_INPUT);
    assert!(!quiet.err.contains("--demo"), "{}", quiet.err);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("long");
    for _ in 0..2_000 {
        log.turn().step().failed("SERVER", "500 Internal Server Error").gave_up();
    }
    log.write_zstd(root.path());
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("dsh-forensics"))
        .args(["failures", "--format", "ndjson", text(root.path())])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 16];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(CLEAN));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn the_number_of_workers_does_not_change_a_byte() {
    let root = archive();
    for number in 0..12 {
        small_log(&format!("more-{number}")).write_zstd(root.path());
    }
    for command in [
        &["scan"][..],
        &["scan", "--format", "json"],
        &["scan", "--format", "markdown"],
        &["failures"],
        &["failures", "--format", "csv"],
        &["failures", "--format", "ndjson"],
    ] {
        let with = |jobs| run(&[command, &[text(root.path()), "--jobs", jobs]].concat());
        let (one, four) = (with("1"), with("4"));
        assert_eq!(one.status, CLEAN);
        assert_eq!(one.out, four.out, "{command:?}");
    }
}

#[test]
fn a_report_goes_into_the_named_file_and_nothing_else_is_written() {
    let (root, _) = small_root();
    let work = tempfile::tempdir().unwrap();
    let before = listing(root.path());
    let output = program()
        .args(["scan", text(root.path()), "--format", "json", "-o", "report.json"])
        .current_dir(work.path())
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(CLEAN), &b""[..]));
    let report: Value = serde_json::from_slice(&fs::read(work.path().join("report.json")).unwrap()).unwrap();
    assert_small_log_was_read(&report);
    assert_eq!(listing(work.path()).len(), 1);
    assert_eq!(listing(root.path()), before, "the logs are untouched");
}

#[test]
fn an_output_file_that_cannot_be_written_is_an_error_with_its_path() {
    let run = run(&["scan", "--demo", "-o", "/no/such/place/report.txt"]);
    assert_eq!(run.status, USAGE);
    assert!(run.err.contains("/no/such/place/report.txt"), "{}", run.err);
}

/// Paths, sizes and times of change below a directory.
fn listing(root: &Path) -> BTreeSet<(PathBuf, u64, std::time::SystemTime)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root).unwrap() {
        let (path, meta) = entry.map(|e| (e.path(), e.metadata().unwrap())).unwrap();
        if meta.is_dir() {
            found.extend(listing(&path));
        } else {
            found.insert((path, meta.len(), meta.modified().unwrap()));
        }
    }
    found
}

#[test]
fn csv_has_a_header_and_a_row_for_every_failure() {
    let root = archive();
    let run = run(&["failures", text(root.path()), "--format", "csv"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 1 + 4, "{}", run.out);
    let columns = lines[0].split(',').count();
    assert!(lines[0].contains("session_id") && lines[0].contains("code"), "{}", lines[0]);
    assert!(lines[1..].iter().all(|line| line.split(',').count() >= columns), "{}", run.out);
}

#[test]
fn a_failure_row_holds_what_the_log_says_and_null_for_the_rest() {
    let root = archive();
    let rows = failures_ndjson(&[text(root.path()), "--code", OVERFLOW]);
    let row = &rows[0];
    assert_eq!(row["schema"], json!("dsh-forensics/failure/v1"));
    assert_eq!(row["session_id"], json!("aaa-one"));
    assert_eq!([&row["turn"], &row["step"], &row["attempt"]], [&json!(1), &json!(2), &json!(1)]);
    assert_eq!(row["message"], json!(NO_BODY_400));
    assert_eq!([&row["provider"], &row["model"]], [&json!("gateway"), &json!("large")]);
    assert_eq!(row["request"]["window_tokens"], json!(262_144));
    assert_eq!(row["chain"]["fate"], json!("gave_up"));
    assert_eq!(row["chain"]["retry_scheduled"], json!(false));
    for (name, value) in row.as_object().unwrap() {
        assert!(*value != json!("") && (*value != json!("unknown") || name == "fixable_by"), "{name} is {value}");
    }
    // A few hundred tokens in a window of 262,144: whatever the answer without a body meant, it was no overflow.
    assert_eq!(row["verdict"], json!("contradicted"));
    for name in ["status", "retry_after_ms", "since_compaction"] {
        assert_eq!(row.get(name), Some(&Value::Null), "{name}");
    }
}

#[test]
fn secrets_in_an_error_text_do_not_leave_the_program() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("leaky");
    log.turn().step().failed("AUTH", "401 Incorrect API key provided: sk-proj-abcd1234EFGH5678 for ops@example.com");
    log.gave_up().write_zstd(root.path());
    for args in [
        &["scan"][..],
        &["scan", "--format", "json"],
        &["scan", "--format", "markdown"],
        &["failures"],
        &["failures", "--format", "csv"],
        &["failures", "--format", "ndjson"],
        &["failures", "--format", "markdown"],
    ] {
        let run = run(&[args, &[text(root.path()), "--width", "200"]].concat());
        assert_eq!(run.status, CLEAN);
        assert!(!run.out.contains("abcd1234") && !run.out.contains("ops@"), "{args:?}: {}", run.out);
    }
}

/// A tester named an input as the output, and the log was gone.
#[test]
fn a_session_log_is_never_overwritten() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("keep");
    log.turn().step().ok(900);
    for path in [log.write_zstd(root.path()), log.write_plain(root.path())] {
        let before = std::fs::read(&path).unwrap();
        let name = path.to_str().unwrap();
        let run = run(&["scan", name, "-o", name]);
        assert_eq!(run.status, 2, "{}", run.err);
        assert!(run.err.contains("is not overwritten"), "{}", run.err);
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn classify_repeats_no_key_that_was_typed() {
    let run = run(&["classify", "401 bad key sk-proj-abcd1234EFGH5678ijkl", "--format", "json"]);
    assert_eq!(run.status, 0);
    assert!(!run.out.contains("abcd1234EFGH") && run.out.contains("<key>"), "{}", run.out);
}

/// A table of nothing says why; so does standard error beside a format that cannot.
#[test]
fn filters_that_leave_nothing_are_told_beside_formats_for_programs() {
    let json = run(&["failures", "--demo", "--format", "ndjson", "--code", "RATE_LIMTI"]);
    assert_eq!((json.status, json.out.as_str()), (CLEAN, ""));
    assert!(json.err.starts_with("dsh-forensics: no-match: 0 of 35 failed attempts"), "{}", json.err);
    assert!(json.err.contains("Did you mean RATE_LIMIT?"), "{}", json.err);
    assert_eq!(run(&["failures", "--demo", "--format", "csv", "--code", "X", "--quiet"]).err, "");
    assert_eq!(scan_json(&["--demo", "--provider", "mock"])["notices"][0]["kind"], json!("no-match"));
}
