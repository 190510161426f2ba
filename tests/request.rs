//! `request` on the command line: where it looks, what it prints.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::{Value, json};
use support::builder::Log;
use support::{Run, failures_ndjson, run};

const BAD_USAGE: i32 = 2;

/// A session whose second step fails, and the seq of the failure.
fn one_failure() -> (tempfile::TempDir, String, String) {
    let root = tempfile::tempdir().unwrap();
    let path = Log::new("night").turn().step().ok(900).step().failed("SERVER", "502").gave_up().write_zstd(root.path());
    let path = path.to_str().unwrap().to_owned();
    let seq = failures_ndjson(&[&path])[0]["seq"].to_string();
    (root, path, seq)
}

fn body(run: &Run) -> Value {
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn a_path_stands_behind_the_seq_as_in_other_commands_or_behind_in() {
    let (_root, path, seq) = one_failure();
    let plain = run(&["request", "night", &seq, &path, "--show-content"]);
    let body = body(&plain);
    assert_eq!(body["model"], json!("large"));
    assert_eq!(body["messages"].as_array().unwrap().len(), 3, "system, user, assistant");
    assert_eq!(run(&["request", "--in", &path, "night", &seq, "--show-content"]).out, plain.out);
    assert_eq!(run(&["request", "ni", &seq, "--in", &path, "--show-content"]).out, plain.out);
}

#[test]
fn the_demo_needs_no_path_and_takes_none() {
    let first = &failures_ndjson(&["--demo"])[0];
    let (session, seq) = (first["session_id"].as_str().unwrap(), first["seq"].to_string());
    let hidden = run(&["request", session, &seq, "--demo"]);
    let body = body(&hidden);
    assert_eq!(body["messages"].as_array().unwrap().len() as u64, first["request"]["messages"].as_u64().unwrap());
    assert!(body["messages"][0]["content"].as_str().unwrap().ends_with(" chars>"), "{body}");
    let exact = run(&["request", session, &seq, "--demo", "--show-content"]).out;
    assert_eq!(exact.trim_end().len() as u64, first["request"]["body_bytes"].as_u64().unwrap());
    for extra in [&["/tmp"][..], &["--in", "/tmp"]] {
        assert_eq!(run(&[&["request", session, &seq, "--demo"], extra].concat()).status, BAD_USAGE);
    }
}
