//! `verify` over one small log for every kind of damage. `BROKEN_WRITE=1 cargo test --test broken -- --ignored` writes the
//! logs and what is said of them anew; read the difference before it is committed.

#![allow(clippy::unwrap_used)] // A test that cannot set itself up has failed.

#[path = "support/broken.rs"]
mod broken;
#[path = "support/logs.rs"]
mod logs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn directory(id: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/broken").join(id)
}

fn run(id: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dsh-forensics"))
        .current_dir(directory(id).join("logs"))
        .args(arguments)
        .env_remove("DSH_HOME")
        .output()
        .unwrap()
}

/// Standard output, then standard error, as kept beside the logs.
fn said(id: &str) -> (String, i32) {
    let output = run(id, &["verify", ".", "--deep", "--format", "ndjson"]);
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8(text).unwrap(), output.status.code().unwrap())
}

#[test]
fn every_kind_of_damage_is_said_as_recorded() {
    for kind in broken::all() {
        let (text, status) = said(kind.id);
        let expected = fs::read_to_string(directory(kind.id).join("verify.txt")).unwrap_or_default();
        assert_eq!(text, expected, "{}", kind.id);
        assert_eq!(status, kind.status, "{}: {text}", kind.id);
    }
}

#[test]
fn every_kind_of_damage_is_named() {
    // Kinds that are read like any other log and change no word.
    let quiet =
        ["big-first-frame", "single-frame", "interleaved", "odd-retry", "surrogate", "long-line", "extra-field"];
    for kind in broken::all().into_iter().filter(|k| !quiet.contains(&k.id)) {
        let named = match kind.id {
            "nul-tail" => "nul-run",
            "deep-json" => "limit",
            "unknown-type" | "ignorable" => "plugin/progress",
            "older-generation" => "duplicate-generation",
            other => other,
        };
        let (text, _) = said(kind.id);
        assert!(text.contains(named), "{}: {text}", kind.id);
    }
}

#[test]
fn scan_reads_what_can_be_read() {
    for kind in broken::all() {
        let output = run(kind.id, &["scan", ".", "--format", "json"]);
        let status = output.status.code().unwrap();
        if matches!(kind.id, "leftover-tmp" | "not-a-log") {
            assert_eq!(status, 3, "{}", kind.id);
            continue;
        }
        assert!(matches!(status, 0 | 4), "{}: {status}", kind.id);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let counts = &json["counts"];
        assert_eq!(json["inputs"]["sessions"], 1, "{}", kind.id);
        assert!(counts["turns"].as_u64().unwrap() <= 2, "{}: a turn is counted twice", kind.id);
        let expected = match kind.id {
            // Both branches' requests are real ones; here the second branch only goes on.
            "interleaved" => 5,
            "torn-frame" | "open-turn" | "corrupt-frame" | "holes" | "open-compaction" => continue,
            _ => 3,
        };
        assert_eq!(counts["attempts"], expected, "{}", kind.id);
    }
}

#[test]
#[ignore = "writes testdata"]
fn write_broken_logs() {
    if std::env::var_os("BROKEN_WRITE").is_none() {
        return;
    }
    for kind in broken::all() {
        for (path, bytes) in &kind.files {
            let path = directory(kind.id).join("logs").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        fs::write(directory(kind.id).join("verify.txt"), said(kind.id).0).unwrap();
    }
}
