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
        assert!(!has_placeholder(line), "a value is missing: {line}");
    }
    run.out
}

/// Every command that prints pages, with what it needs beside `--demo`.
const PAGES: [(&str, &[&str]); 7] = [
    ("scan", &["scan"]),
    ("failures", &["failures"]),
    ("verify", &["verify"]),
    ("compactions", &["compactions"]),
    ("explain", &["explain"]),
    ("policy_show", &["policy", "show"]),
    ("what_if", &["policy", "what-if"]),
];

/// Whether a placeholder was left without its value: `{name}`.
fn has_placeholder(line: &str) -> bool {
    let inside = line.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    inside.into_iter().any(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
}

#[test]
fn every_page_in_both_languages_at_80_and_160_columns() {
    for (name, args) in PAGES {
        for language in ["en", "zh"] {
            for width in [80, 160] {
                let page = page(&[args, &["--lang", language]].concat(), width);
                insta::assert_snapshot!(format!("{name}_{language}_{width}"), page);
            }
        }
    }
}

#[test]
fn every_markdown_page_in_both_languages() {
    for name in ["scan", "failures"] {
        for language in ["en", "zh"] {
            let run = run(&[name, "--demo", "--format", "markdown", "--lang", language]);
            assert_eq!((run.status, run.err.as_str()), (0, ""));
            insta::assert_snapshot!(format!("{name}_{language}_markdown"), run.out);
        }
    }
}

/// In a table every column begins at the same terminal column in each row, Chinese or not.
#[test]
fn chinese_tables_are_aligned() {
    for (name, args) in PAGES {
        let page = page(&[args, &["--lang", "zh"]].concat(), 160);
        let lines: Vec<&str> = page.lines().collect();
        let rules = lines.iter().enumerate().filter(|(_, line)| line.starts_with('─'));
        for (at, rule) in rules {
            let rows = lines[at + 1..].iter().take_while(|line| !line.is_empty() && line.contains("  "));
            let widest = rows.map(|row| row.width()).max().unwrap_or(0);
            assert!(widest <= rule.width(), "{name}: a row is wider than its rule:\n{page}");
            assert!(lines[at - 1].width() <= rule.width(), "{name}: the head is wider than its rule:\n{page}");
        }
    }
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
