//! `explain` as people see it: six recorded failures in 80 columns, one of them in Chinese too, and what holds for all.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::Value;
use support::{recorded, run};
use unicode_width::UnicodeWidthStr;

fn page(args: &[&str]) -> String {
    let run = run(&[&["explain", "--width", "80"], args].concat());
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    for line in run.out.lines() {
        // A word that cannot be broken may stand out: the error texts of providers, session ids.
        assert!(line.width() <= 80 || !line.contains(' '), "{} columns wide: {line}", line.width());
    }
    run.out
}

fn json(args: &[&str]) -> Value {
    let run = run(&[&["explain", "--format", "json"], args].concat());
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn an_empty_400_without_compaction() {
    insta::assert_snapshot!(page(&["e4-72e90744:486", "--demo"]));
}

#[test]
fn an_empty_400_that_a_compaction_answered() {
    insta::assert_snapshot!(page(&["spurious-ok", "--demo"]));
}

#[test]
fn an_empty_400_in_chinese() {
    insta::assert_snapshot!(page(&["spurious-ok", "--demo", "--lang", "zh"]));
}

#[test]
fn a_real_overflow() {
    insta::assert_snapshot!(page(&["o1-78a280ec:103", "--demo"]));
}

#[test]
fn a_429_with_a_long_retry_after() {
    insta::assert_snapshot!(page(&["ra30", "--demo"]));
}

#[test]
fn a_quota() {
    insta::assert_snapshot!(page(&["balance402", "--demo"]));
}

#[test]
fn an_idle_timeout() {
    insta::assert_snapshot!(page(&["exhaust", "--in", "testdata/explain/idle-timeout"]));
}

#[test]
fn a_bug_report_in_markdown() {
    insta::assert_snapshot!(run(&["explain", "ra30", "--demo", "--format", "markdown"]).out);
}

#[test]
fn without_a_session_the_most_interesting_failure_is_told() {
    let found = json(&["--demo"]);
    assert_eq!(found["schema"], "dsh-forensics/explain/v1");
    assert_eq!(found["failure"]["verdict"], "contradicted");
    assert_eq!(found["failure"]["chain"]["fate"], "gave_up");
    assert!(found["settings_yaml"].as_str().unwrap().contains("CONTEXT_WINDOW_EXCEEDED"));
    assert_eq!(found["timeline"].as_array().unwrap().iter().filter(|m| m["here"] == true).count(), 1);
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_json_in_any_language() {
    let with = |jobs: &str| page(&["--demo", "--jobs", jobs]);
    assert_eq!(with("1"), with("4"));
    assert_eq!(json(&["ra30", "--demo"]), json(&["ra30", "--demo", "--lang", "zh"]));
}

#[test]
fn a_wrong_session_or_seq_is_answered_with_the_nearest() {
    let refused = |target: &str| {
        let run = run(&["explain", target, "--demo"]);
        assert_eq!((run.status, run.out.as_str()), (2, ""));
        run.err
    };
    assert!(refused("ra31").contains("ra30-76e4651a"));
    assert!(refused("ra30:5").contains("explain ra30-76e4651a-ede4-57e1-84b6-818877587aeb:99"));
}

#[test]
fn every_format_tells_the_same_story() {
    let (Some(corpus), Some(formats)) = (recorded("corpus"), recorded("formats")) else { return };
    for folder in ["03b-empty413-default-bundle", "05c-429-deepseek-default", "06c-exhaust", "09a-cancel-backoff"] {
        let story = |path: std::path::PathBuf| {
            let found = json(&["--in", path.to_str().unwrap()]);
            let failure = &found["failure"];
            let place = ["session_id", "turn", "step", "attempt", "code", "verdict", "supported_code"];
            let told: Vec<Value> = place.iter().map(|name| failure[*name].clone()).collect();
            (told, found["policy"]["decision"].clone(), found["repairs"].clone(), found["settings_yaml"].clone())
        };
        let first = story(corpus.join(folder));
        for version in ["v1", "v2", "v3", "v4"] {
            assert_eq!(story(formats.join(folder).join(version)), first, "{folder} {version}");
        }
    }
}

#[test]
fn a_path_in_the_place_of_the_session_is_read() {
    let root = tempfile::tempdir().unwrap();
    let mut log = support::builder::Log::new("one");
    log.route("gateway", "large", 1_000_000).turn().step().failed("SERVER", "503 status code (no body)").gave_up();
    log.write_plain(root.path());
    let path = root.path().to_str().unwrap();
    let named = run(&["explain", "--in", path]);
    assert_eq!((named.status, named.err.as_str()), (0, ""));
    for arguments in [&["explain", path][..], &["explain", "one", path]] {
        assert_eq!(run(arguments).out, named.out, "{arguments:?}");
    }
    assert_ne!(run(&["explain", "./no-such-place", path]).status, 0, "what is no path names a session");
}
