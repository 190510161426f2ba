//! Shared by the integration tests: the log builder and the program under test.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(dead_code)] // Each test file uses its own part of it.

pub mod builder;
pub mod json_schema;
pub mod worlds;

use std::path::PathBuf;

use serde_json::Value;

/// The program, in an environment that does not depend on who runs the tests.
pub fn program() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::cargo_bin("dsh-forensics").unwrap();
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "DSH_HOME"] {
        command.env_remove(name);
    }
    command.env("HOME", "/nonexistent-home").env("TZ", "UTC").env("LC_ALL", "C");
    command
}

/// What one run came to.
pub struct Run {
    /// Exit status.
    pub status: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs the program with `args`.
pub fn run<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Run {
    run_with(args, &[])
}

/// Runs the program with `args` and `input` on standard input.
pub fn run_with<S: AsRef<std::ffi::OsStr>>(args: &[S], input: &[u8]) -> Run {
    let output = program().args(args).write_stdin(input).output().unwrap();
    Run {
        status: output.status.code().expect("ended by a signal"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// `scan --format json` with more `args`.
pub fn scan_json(args: &[&str]) -> Value {
    let run = run(&[&["scan", "--format", "json"], args].concat());
    assert!(matches!(run.status, 0 | 4), "exit {}: {}", run.status, run.err);
    serde_json::from_str(&run.out).unwrap()
}

/// `failures --format ndjson` with more `args`.
pub fn failures_ndjson(args: &[&str]) -> Vec<Value> {
    let run = run(&[&["failures", "--format", "ndjson"], args].concat());
    assert!(matches!(run.status, 0 | 4), "exit {}: {}", run.status, run.err);
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Where the recorded logs are: beside the project, or where `DSH_FORENSICS_RECORDED` says.
fn recorded_root() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    std::env::var_os("DSH_FORENSICS_RECORDED").map_or_else(beside, PathBuf::from)
}

/// The recorded logs beside the checkout, or `None` with a message where they are absent.
pub fn recorded(folder: &str) -> Option<PathBuf> {
    let path = recorded_root().join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no recorded logs at {}", path.display());
    None
}
