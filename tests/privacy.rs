//! What must never leave the machine: secrets planted in a log do not stand in any output, whatever the command, the
//! format and the language. A new command adds a line to `OUTPUTS`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::PathBuf;

use serde_json::json;
use support::builder::Log;
use support::run;

/// Commands and the arguments of each format.
const OUTPUTS: [(&[&str], &[&str]); 9] = [
    (&["scan"], &["table", "json", "markdown", "html"]),
    (&["failures"], &["table", "ndjson", "csv", "markdown", "html"]),
    (&["compactions"], &["table", "json", "ndjson", "markdown", "html"]),
    (&["policy", "what-if", "--draws", "120"], &["table", "json", "markdown", "html"]),
    (&["verify"], &["table", "ndjson"]),
    (&["explain", "--in"], &["table", "json", "markdown", "html"]),
    // Contents may be asked for; secrets in them are hidden all the same.
    (&["explain", "--show-content", "--yes-include-content", "--in"], &["table", "markdown", "html"]),
    (&["policy", "show"], &["table", "json", "markdown"]),
    (&["check"], &["table", "json", "markdown", "html", "sarif", "junit", "github"]),
];

/// What is planted, and the part of it that must not be found again.
const SECRETS: [(&str, &str); 16] = [
    ("key sk-proj-abcd1234EFGH5678ijkl", "abcd1234EFGH5678"),
    ("Authorization: Bearer 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEA"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123xyz", "eyJzdWIiOiIxIn0"),
    ("https://deploy:hunter22@gate.acme.example/v1", "hunter22"),
    ("token 3Zk9Qw7Lr2Xv8Tn5Bc1Md6Hf4Gj0Ps", "3Zk9Qw7Lr2Xv8Tn5"),
    ("ENOENT: open /home/liweiqiang/notes.txt", "liweiqiang"),
    ("EPERM C:\\Users\\王小明\\key.txt", "王小明"),
    ("getaddrinfo ENOTFOUND llm-gate.acme.internal", "llm-gate"),
    ("connect ECONNREFUSED 10.20.30.40:8443", "10.20.30.40"),
    ("write to ops.team@acme.example please", "ops.team"),
    ("organization org-AbC123def456GhI789jkl reached its limit", "AbC123def456"),
    ("project proj_9f8e7d6c5b4a3921 is over quota", "9f8e7d6c5b4a"),
    ("call +86 138 0013 8000", "138 0013"),
    ("read /mnt/disk/home/wangxiaoming/a.txt", "wangxiaoming"),
];

/// A log with one failing step for each secret, in a directory of a person's home.
fn planted() -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("harbour-night-shift");
    log.project = "--srv-dragon-ledger--".to_owned();
    for (text, _) in SECRETS {
        log.turn().step().failed("SERVER", &format!("502 {text}")).gave_up();
    }
    let home = root.path().join("home/liweiqiang/sessions");
    let path = log.write_zstd(&home);
    (root, path)
}

fn every_output(path: &str, more: &[&str], check: impl Fn(&str, &str)) {
    for (command, formats) in OUTPUTS {
        for format in formats {
            for language in ["en", "zh"] {
                let run =
                    run(&[command, &[path, "--format", format, "--lang", language, "--width", "400"][..], more]
                        .concat());
                // A gate may fire, and a failure that was never retried follows no policy: both are statuses of a report.
                // What strict hides is not shown at all.
                let refused = command.contains(&"--show-content") && more.contains(&"strict");
                let right = if refused { run.status == 2 } else { matches!(run.status, 0 | 1) };
                assert!(right, "{command:?} {format} ends with {}: {}", run.status, run.err);
                assert!(refused || run.out.len() > 40 || *format == "ndjson", "{command:?} {format} says something");
                check(&format!("{} --format {format} --lang {language}", command.join(" ")), &(run.out + &run.err));
            }
        }
    }
}

#[test]
fn no_planted_secret_stands_in_any_output() {
    let (_root, path) = planted();
    every_output(path.to_str().unwrap(), &[], |name, out| {
        for (_, secret) in SECRETS {
            assert!(!out.contains(secret), "{secret} in {name}:\n{out}");
        }
    });
}

#[test]
fn strict_replaces_sessions_projects_and_paths_by_stable_pseudonyms() {
    let (_root, path) = planted();
    let path = path.to_str().unwrap();
    let session = |out: &str| {
        let start = out.find("session-").expect("a pseudonym stands in the output");
        out[start..].chars().take(16).collect::<String>()
    };
    let first = session(&run(&["failures", path, "--format", "ndjson", "--redact", "strict"]).out);
    every_output(path, &["--redact", "strict"], |name, out| {
        if name.contains("--show-content") {
            return;
        }
        for known in ["harbour-night-shift", "dragon-ledger", "liweiqiang"] {
            assert!(!out.contains(known), "{known} in {name}:\n{out}");
        }
        if name.starts_with("failures") && name.contains("json") {
            assert_eq!(session(out), first, "{name}");
        }
    });
}

#[test]
fn without_strict_sessions_keep_their_names() {
    let (_root, path) = planted();
    let out = run(&["failures", path.to_str().unwrap(), "--format", "ndjson"]).out;
    assert!(out.contains("harbour-night-shift"));
}

/// Message contents leave only when somebody says so, and for a page that may be posted says so twice.
#[test]
fn contents_are_shown_only_to_those_who_ask_and_posted_only_by_those_who_insist() {
    let demo = ["explain", "k3-8be33c9c", "--demo"];
    let with = |more: &[&str]| run(&[&demo[..], more].concat());
    let heading = "The last messages of the request";
    assert!(!with(&[]).out.contains(heading));
    assert!(with(&["--show-content"]).out.contains(heading));
    for format in ["markdown", "html"] {
        let refused = with(&["--show-content", "--format", format]);
        assert_eq!((refused.status, refused.out.as_str()), (2, ""), "{format}");
        assert!(refused.err.contains("--yes-include-content"), "{}", refused.err);
        let insisted = with(&["--show-content", "--format", format, "--yes-include-content"]);
        assert_eq!(insisted.status, 0, "{}", insisted.err);
        assert!(insisted.out.contains(heading), "{format}");
    }
    assert_eq!(with(&["--show-content", "--format", "json"]).status, 2);
    assert_eq!(with(&["--show-content", "--redact", "strict"]).status, 2);
    assert_eq!(with(&["--yes-include-content"]).status, 2);
    for command in ["scan", "failures", "compactions", "check"] {
        assert_eq!(run(&[command, "--demo", "--show-content"]).status, 2, "{command} shows no contents at all");
    }
}

/// A session is named as it is called, also where its name is not to be told.
#[test]
fn strict_finds_what_is_named_and_does_not_tell_it() {
    let run = run(&["explain", "e2-44e89473:144", "--demo", "--redact", "strict", "--format", "markdown"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    assert!(run.out.contains("session-") && !run.out.contains("44e89473"), "{}", run.out);
}

/// A log whose contents hold every secret: in prompts, arguments, results, file names, and in the keys of objects.
fn planted_in_contents() -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("harbour-night-shift");
    log.project = "--srv-dragon-ledger--".to_owned();
    log.turn().step();
    for (number, (text, _)) in SECRETS.into_iter().enumerate() {
        let file = json!({"type": "file", "name": text, "attachment": {"attachmentId": text, text: 1}});
        let content = json!([{"type": "text", "text": text}, file]);
        log.surface("user/message", json!({"role": "user", "content": content}), json!("append"));
        let arguments = json!({"query": text, text: true}).to_string();
        let id = format!("call-{number}");
        let call = json!({"type": "tool-call", "id": id, "name": "read_page", "arguments": arguments});
        let message = json!({"role": "assistant", "content": [{"type": "reasoning", "text": text}, call]});
        log.surface("assistant/message", json!({"turn": 1, "step": 1, "message": message}), json!("append"));
        let result = json!({"type": "tool-result", "toolCallId": id, "content": [{"type": "text", "text": text}]});
        let message = json!({"role": "user", "content": [result]});
        log.surface("tool/result", json!({"turn": 1, "step": 1, "message": message}), json!("append"));
    }
    log.failed("SERVER", "502").gave_up();
    let path = log.write_zstd(&root.path().join("home/liweiqiang/sessions"));
    (root, path)
}

/// Standard output and standard error of `request` for the failing attempt of a planted log.
fn requested(path: &str, more: &[&str]) -> String {
    let failures = run(&["failures", path, "--format", "ndjson"]).out;
    let seq = serde_json::from_str::<serde_json::Value>(&failures).unwrap()["seq"].to_string();
    let run = run(&[&["request", "harbour-night-shift", seq.as_str(), path], more].concat());
    assert_eq!(run.status, 0, "{more:?}: {}", run.err);
    assert!(run.out.contains("read_page"), "names of tools stay: {}", run.out);
    run.out + &run.err
}

#[test]
fn a_request_shows_no_content_unless_asked() {
    let (_root, path) = planted_in_contents();
    let path = path.to_str().unwrap();
    for shape in ["openai", "harness"] {
        for more in [&[][..], &["--redact", "on"], &["--redact", "strict"], &["--lang", "zh"]] {
            let out = requested(path, &[&["--shape", shape], more].concat());
            for (_, secret) in SECRETS {
                assert!(!out.contains(secret), "{secret} in the {shape} shape with {more:?}:\n{out}");
            }
        }
    }
}

#[test]
fn contents_that_are_asked_for_are_exact_and_can_be_redacted() {
    let (_root, path) = planted_in_contents();
    let path = path.to_str().unwrap();
    let exact = requested(path, &["--show-content"]);
    assert!(SECRETS.iter().all(|(_, secret)| exact.contains(&secret.replace('\\', "\\\\"))), "{exact}");
    let redacted = requested(path, &["--show-content", "--redact", "on"]);
    for (_, secret) in SECRETS {
        assert!(!redacted.contains(secret), "{secret} in\n{redacted}");
    }
    assert!(redacted.contains("请核对账目"), "the rest of the texts stays");
}
