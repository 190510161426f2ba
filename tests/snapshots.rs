//! Whole pages as people see them. After a wanted change: `INSTA_UPDATE=always cargo test --test snapshots`, and look.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::builder::{Log, NO_BODY_400, OVERFLOW};
use support::run;
use unicode_width::UnicodeWidthStr;

/// Every command that prints pages: its name here, what is typed, its exit status.
const PAGES: [(&str, &[&str], i32); 13] = [
    ("scan", &["scan", "--demo"], 0),
    ("failures", &["failures", "--demo"], 0),
    ("verify", &["verify", "--demo"], 0),
    ("compactions", &["compactions", "--demo"], 0),
    ("explain", &["explain", "--demo"], 0),
    ("explain_rule", &["explain", "contradicted-overflow"], 0),
    ("check", &["check", "--demo"], 1),
    ("classify", &["classify", "400 status code (no body)"], 0),
    ("policy_show", &["policy", "show", "--demo"], 0),
    ("policy_lint", &["policy", "lint", SETTINGS, "--demo"], 1),
    ("policy_schedule", &["policy", "schedule", "dsh-always + clamp", "--retry-after-ms", "120000"], 0),
    ("policy_presets", &["policy", "schedule", "--list"], 0),
    ("what_if", &["policy", "what-if", "--demo"], 0),
];

/// A settings file with a trap, a refusal and a route that the demo does not use.
const SETTINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/mistake.yaml");

/// A page; no line is wider than asked for, but where one word is.
fn page(args: &[&str], status: i32, width: usize) -> String {
    let run = run(&[args, &["--width", &width.to_string()]].concat());
    assert_eq!((run.status, run.err.as_str()), (status, ""), "{args:?}");
    for line in run.out.lines() {
        let is_word = !line.trim_start_matches(['•', ' ']).contains(' ');
        assert!(line.width() <= width || is_word, "{} columns wide: {line}", line.width());
        assert!(!line.ends_with(' '), "trailing space: {line:?}");
        assert!(!has_placeholder(line), "a value is missing: {line}");
    }
    run.out
}

/// Whether a placeholder was left without its value: `{name}`.
fn has_placeholder(line: &str) -> bool {
    let inside = line.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    inside.into_iter().any(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
}

#[test]
fn every_page_in_both_languages_at_80_and_160_columns() {
    let mut rows = 0;
    for (name, args, status) in PAGES {
        for language in ["en", "zh"] {
            for width in [80, 160] {
                let page = page(&[args, &["--lang", language]].concat(), status, width);
                rows += assert_tables_are_aligned(name, &page);
                insta::assert_snapshot!(format!("{name}_{language}_{width}"), page);
            }
        }
    }
    assert!(rows > 300, "tables were looked at: {rows} rows");
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

/// For every terminal column whether a line leaves it blank.
fn blanks(line: &str, width: usize) -> Vec<bool> {
    let mut blank: Vec<bool> = Vec::new();
    for c in line.chars() {
        blank.extend(std::iter::repeat_n(c == ' ', unicode_width::UnicodeWidthChar::width(c).unwrap_or(0)));
    }
    blank.resize(width.max(blank.len()), true);
    blank
}

/// Between two columns of a table a strip of at least two blanks runs down from the head through all rows; where a row is
/// counted wrongly, Chinese say, the strip is broken. Returns how many rows were looked at.
#[track_caller]
fn assert_tables_are_aligned(name: &str, page: &str) -> usize {
    let lines: Vec<&str> = page.lines().collect();
    let mut seen = 0;
    for at in (1..lines.len()).filter(|at| lines[*at].starts_with('─')) {
        let (head, width) = (lines[at - 1], lines[at].width());
        assert!(head.width() <= width, "{name}: the head is wider than its rule: {head}");
        // The rows end where a line is no longer made of cells: a note below the table, an empty line.
        let rows: Vec<&&str> = lines[at + 1..].iter().take_while(|l| l.contains("  ") && l.width() <= width).collect();
        let mut strip = blanks(head, width);
        for row in &rows {
            strip.iter_mut().zip(blanks(row, width)).for_each(|(all, this)| *all &= this);
        }
        let heads = head.split("  ").filter(|text| !text.trim().is_empty()).count();
        while strip.last() == Some(&true) {
            strip.pop();
        }
        let strips = strip.split(|blank| !blank).filter(|run| run.len() >= 2).count();
        assert!(strips + 1 >= heads, "{name}: {heads} heads over {strips} strips of blanks:\n{page}");
        seen += rows.len();
    }
    seen
}

#[test]
#[should_panic(expected = "heads over")]
fn a_table_whose_rows_are_counted_wrongly_is_found() {
    // As if every Chinese character filled one column.
    assert_tables_are_aligned("wrong", "名称      次数\n────────────────\n很长的名称  12\nshort         7\n");
}

/// Tables are as narrow as the narrowest terminal, whatever stands in them.
#[test]
fn no_table_is_wider_than_forty_columns_when_asked() {
    for (name, args, _) in PAGES {
        let out = run(&[args, &["--lang", "zh", "--width", "40"]].concat()).out;
        assert_tables_are_aligned(name, &out);
        for line in out.lines().filter(|line| line.starts_with('─')) {
            assert!(line.width() <= 40, "{name}: {line}");
        }
    }
}

/// The commands, and those under `policy`.
const COMMANDS: [&[&str]; 17] = [
    &[],
    &["scan"],
    &["failures"],
    &["explain"],
    &["compactions"],
    &["check"],
    &["verify"],
    &["export"],
    &["request"],
    &["classify"],
    &["completions"],
    &["man"],
    &["policy"],
    &["policy", "show"],
    &["policy", "lint"],
    &["policy", "schedule"],
    &["policy", "what-if"],
];

#[test]
fn the_help_of_every_command_in_both_languages_at_80_columns() {
    for command in COMMANDS {
        for (language, locale) in [("en", "C"), ("zh", "zh_CN.UTF-8")] {
            let mut program = support::program();
            let output =
                program.env("LC_ALL", locale).env("COLUMNS", "80").args(command).arg("--help").output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty());
            let help = String::from_utf8(output.stdout).unwrap();
            for line in help.lines() {
                // Examples are for copying and are not broken.
                let is_example = line.starts_with("  ") && line.contains("dsh-forensics");
                assert!(line.width() <= 80 || is_example, "{} columns wide: {line}", line.width());
                let english =
                    ["Usage:", "Options:", "Arguments:", "Commands:", "[default:", "Possible values:", "[OPTIONS]"];
                let left = english.iter().find(|words| line.contains(**words));
                assert!(language == "en" || left.is_none(), "English in the Chinese help: {line}");
            }
            let name = if command.is_empty() { "program".to_owned() } else { command.join("_") };
            insta::assert_snapshot!(format!("help_{name}_{language}"), help);
        }
    }
}

#[test]
fn wrong_command_lines_in_both_languages() {
    let wrong: [&[&str]; 9] = [
        &["scna"],
        &["scan", "--fomat", "json"],
        &["scan", "--format", "jsn"],
        &["scan", "--jobs", "0"],
        &["scan", "--window", "8x"],
        &["check", "--reason", "better"],
        &["check", "--update", "--baseline", "b", "--bisect"],
        &["scan", "--max-json-depth", "0"],
        &["policy", "schedule", "dsh-defualt"],
    ];
    for language in ["en", "zh"] {
        let mut all = String::new();
        for args in wrong {
            let locale = if language == "zh" { "zh_CN.UTF-8" } else { "C" };
            let output = support::program().env("LC_ALL", locale).args(args).output().unwrap();
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
            all.push_str(&format!("$ {}\n{}\n", args.join(" "), String::from_utf8(output.stderr).unwrap()));
        }
        insta::assert_snapshot!(format!("wrong_{language}"), all);
    }
}

#[test]
fn what_the_filters_leave_nothing_of_in_both_languages() {
    let nothing: [&[&str]; 6] = [
        &["--code", "CONTEXT_WINDOW"],
        &["--provider", "mock-gatway"],
        &["--since", "2030-01-01"],
        &["--session", "e2-44e89474"],
        &["--project", "dragon"],
        &["--model", "mock-large", "--code", "RATE_LIMTI"],
    ];
    for language in ["en", "zh"] {
        let mut all = String::new();
        for args in nothing {
            let page = page(&[&["failures", "--demo", "--lang", language], args].concat(), 0, 80);
            all.push_str(&format!("$ {}\n{page}\n", args.join(" ")));
        }
        insta::assert_snapshot!(format!("no_match_{language}"), all);
    }
}

#[test]
fn the_summary_of_an_export_in_both_languages_at_80_and_160_columns() {
    for language in ["en", "zh"] {
        for width in ["80", "160"] {
            let root = tempfile::tempdir().unwrap();
            let target = root.path().join("t");
            let run = run(&[
                "export",
                "--demo",
                "-o",
                target.to_str().unwrap(),
                "--format",
                "ndjson",
                "--lang",
                language,
                "--width",
                width,
            ]);
            assert_eq!((run.status, run.err.as_str()), (0, ""));
            let page = run.out.replace(target.to_str().unwrap(), "tables").replace('\n', "\u{1}");
            // The path of the test's directory breaks the first lines where it likes.
            let page = page.split_once("\u{1}\u{1}").map_or(page.as_str(), |(_, table)| table).replace('\u{1}', "\n");
            insta::assert_snapshot!(format!("export_{language}_{width}"), page);
        }
    }
}

#[test]
fn a_request_without_its_contents_in_both_languages() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("night");
    log.turn().step().ok(1_200).step().failed(OVERFLOW, NO_BODY_400).gave_up();
    let path = log.write_zstd(root.path());
    let seq = support::failures_ndjson(&[path.to_str().unwrap()])[0]["seq"].to_string();
    let shown = ["en", "zh"].map(|language| {
        let run = run(&["request", "night", &seq, "--in", path.to_str().unwrap(), "--lang", language]);
        assert_eq!(run.status, 0, "{}", run.err);
        run.out
    });
    assert_eq!(shown[0], shown[1], "JSON is the same in every language");
    insta::assert_snapshot!("request", shown[0]);
}

/// Completions and man pages are made of the arguments; both languages hold every command.
#[test]
fn completions_and_man_pages_are_made() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&["completions", shell]);
        assert_eq!((script.status, script.err.as_str()), (0, ""));
        assert!(script.out.contains("what-if") && script.out.contains("dsh-forensics"), "{shell}");
    }
    assert!(run(&["completions", "fish", "--lang", "zh"]).out.contains("输出格式"));
    for (language, words) in [("en", "Output format"), ("zh", "输出格式")] {
        let root = tempfile::tempdir().unwrap();
        let made = run(&["man", "-o", root.path().to_str().unwrap(), "--lang", language]);
        assert_eq!((made.status, made.err.as_str()), (0, ""));
        for name in ["dsh-forensics.1", "dsh-forensics-scan.1", "dsh-forensics-policy-what-if.1"] {
            assert!(root.path().join(name).is_file(), "{name}");
        }
        assert!(std::fs::read_to_string(root.path().join("dsh-forensics-scan.1")).unwrap().contains(words));
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
