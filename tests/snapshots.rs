//! Whole pages as people see them. After a wanted change: `INSTA_UPDATE=always cargo test --test snapshots`, and look.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::builder::{Log, NO_BODY_400, OVERFLOW};
use support::run;
use unicode_width::UnicodeWidthStr;

/// A page of the demo; no line is wider than asked for.
fn page(args: &[&str], width: usize) -> String {
    let run = run(&[args, &["--demo", "--width", &width.to_string()]].concat());
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    for line in run.out.lines() {
        assert!(line.width() <= width, "{} columns wide: {line}", line.width());
        assert!(!line.ends_with(' '), "trailing space: {line:?}");
    }
    run.out
}

#[test]
fn scan_at_80_columns() {
    insta::assert_snapshot!(page(&["scan"], 80));
}

#[test]
fn scan_at_160_columns() {
    insta::assert_snapshot!(page(&["scan"], 160));
}

#[test]
fn failures_at_80_columns() {
    insta::assert_snapshot!(page(&["failures"], 80));
}

#[test]
fn failures_at_160_columns() {
    insta::assert_snapshot!(page(&["failures"], 160));
}

#[test]
fn scan_as_markdown() {
    insta::assert_snapshot!(run(&["scan", "--demo", "--format", "markdown"]).out);
}

#[test]
fn failures_as_markdown() {
    insta::assert_snapshot!(run(&["failures", "--demo", "--format", "markdown"]).out);
}

#[test]
fn scan_as_json() {
    let version = format!("\"tool_version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let json = run(&["scan", "--demo", "--format", "json"]).out;
    assert!(json.contains(&version), "{json}");
    insta::assert_snapshot!(json.replace(&version, "\"tool_version\": \"[version]\""));
}

#[test]
fn a_damaged_archive_with_chinese_names_stays_aligned() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("夜班账目核对");
    log.project = "--港口账本--".to_owned();
    log.route("网关", "大模型-很长的名字", 131_072);
    log.turn().step().ok(12_000).pressure_compaction().step().failed(OVERFLOW, NO_BODY_400).gave_up();
    log.turn().step().failed("RATE_LIMIT", "429 当前分组上游负载已饱和，请稍后再试").retry_scheduled(500).cancelled();
    // Without the last bytes of its checksum the last frame is torn, and still all of its lines are there.
    let path = log.write_zstd(root.path());
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 2]).unwrap();
    for (name, args) in [("scan", &["scan"][..]), ("failures", &["failures"])] {
        let run = run(&[args, &[path.to_str().unwrap(), "--width", "100"]].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(run.out.lines().all(|line| line.width() <= 100), "{}", run.out);
        let page = run.out.replace(root.path().to_str().unwrap(), "[root]");
        insta::assert_snapshot!(format!("chinese_{name}"), page);
    }
}
