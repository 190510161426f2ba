//! The HTML report, the completions and the man pages, made by the program itself.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::builder::{Log, NO_BODY_400, OVERFLOW};
use support::run;

#[test]
fn a_report_of_a_thousand_sessions_is_one_small_file() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..1_000 {
        let mut log = Log::new(&format!("session-number-{number}"));
        log.turn().step().ok(9_000).step().failed(OVERFLOW, NO_BODY_400).gave_up();
        log.write_zstd(root.path());
    }
    for command in ["scan", "failures"] {
        let html = run(&[command, root.path().to_str().unwrap(), "--format", "html"]).out;
        assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
        assert!(html.len() < 600_000, "{} bytes", html.len());
        assert!(!html.contains(root.path().to_str().unwrap()), "inputs are named by their hashes, not their paths");
        assert!(!html.contains("<script") && !html.contains("src="));
    }
}

#[test]
fn the_report_is_the_same_on_any_number_of_workers_and_says_its_language() {
    let made = |jobs| run(&["scan", "--demo", "--format", "html", "--lang", "zh", "--jobs", jobs]).out;
    let one = made("1");
    assert_eq!(one, made("3"));
    assert!(one.contains("<html lang=\"zh-CN\">") && one.contains("定义") && one.contains("<svg"));
}

#[test]
fn completions_exist_for_every_shell_and_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let run = run(&["completions", shell]);
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{shell}");
        assert!(run.out.contains("failures") && run.out.contains("redact"), "{shell}");
    }
}

#[test]
fn man_pages_are_written_for_every_command() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("man/man1");
    let run = run(&["man", "-o", folder.to_str().unwrap()]);
    assert_eq!((run.status, run.err.as_str(), run.out.as_str()), (0, "", ""));
    for page in ["dsh-forensics.1", "dsh-forensics-scan.1", "dsh-forensics-policy-lint.1"] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains("dsh"), "{page}");
    }
}
