//! The commands under `policy`, as people run them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::Value;
use support::builder::{Log, NO_BODY_400, OVERFLOW};
use support::run;

fn json(args: &[&str]) -> (i32, Value) {
    let run = run(&[args, &["--format", "json"]].concat());
    (run.status, serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}{}", run.out, run.err)))
}

#[test]
fn show_at_80_columns() {
    let run = run(&["policy", "show", "--demo", "--width", "80"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    insta::assert_snapshot!(run.out);
}

#[test]
fn show_in_chinese() {
    insta::assert_snapshot!(run(&["policy", "show", "--demo", "--width", "100", "--lang", "zh"]).out);
}

#[test]
fn show_as_json_holds_what_the_page_says() {
    let (status, shown) = json(&["policy", "show", "--demo"]);
    assert_eq!((status, &shown["schema"]), (0, &Value::from("dsh-forensics/policy-show/v1")));
    let replay = &shown["replay"];
    assert!(replay["decisions"].as_u64().unwrap() > 20);
    assert_eq!((&replay["decisions"], &replay["mismatches"]), (&replay["reproduced"], &Value::Array(Vec::new())));
    for span in shown["routes"].as_array().unwrap().iter().flat_map(|route| route["spans"].as_array().unwrap()) {
        assert_eq!(span["policy_key"].is_null(), span["basis"] == "default");
        assert!(span["from_ms"].as_i64() <= span["to_ms"].as_i64());
    }
    let chinese = json(&["policy", "show", "--demo", "--lang", "zh"]).1;
    assert_eq!(chinese, shown, "JSON is the same in every language");
}

#[test]
fn a_retry_of_another_plugin_is_listed_and_changes_the_exit_status() {
    let root = tempfile::tempdir().unwrap();
    // The builder's policyKey is "{}": no policy of the harness.
    let mut log = Log::new("another-plugin");
    log.turn().step().failed("SERVER", "502 bad gateway").retry(500).ok(1000);
    let path = log.write_zstd(root.path());
    let run = run(&["policy", "show", path.to_str().unwrap(), "--mismatches", "--lang", "en", "--width", "140"]);
    assert_eq!(run.status, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("0 of 1 recorded retry decision"), "{}", run.out);
    assert!(run.out.contains("another plugin wrote the retry"), "{}", run.out);
}

#[test]
fn a_file_is_held_against_the_failures_of_an_archive() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("outage");
    log.route("gateway", "large", 131_072);
    for _ in 0..3 {
        // The identical request succeeds: the failure was the gateway's.
        log.turn().step().failed(OVERFLOW, NO_BODY_400).retry(500).ok(12_000);
    }
    let path = log.write_zstd(root.path());
    let settings = root.path().join("settings.yaml");
    std::fs::write(&settings, "llm-pi-ai:\n  providers:\n    gateway:\n      retryPolicy: { mode: normal }\n").unwrap();
    let settings = settings.to_str().unwrap();
    let rules = |hits: &Value| -> Vec<String> {
        hits["hits"].as_array().unwrap().iter().map(|hit| hit["rule"].as_str().unwrap().to_owned()).collect()
    };
    let (_, alone) = json(&["policy", "lint", settings]);
    assert_eq!((rules(&alone), &alone["archive_attempts"]), (Vec::new(), &Value::Null));
    let (status, held) = json(&["policy", "lint", settings, "--archive", path.to_str().unwrap()]);
    assert_eq!((status, rules(&held)), (0, vec!["policy-misses-passing-code".to_owned()]), "{held}");
    assert_eq!(held["archive_attempts"], 6);
    let fix = held["hits"][0]["fix"].as_str().unwrap();
    assert!(fix.ends_with("TRANSPORT, CONTEXT_WINDOW_EXCEEDED]"), "{fix}");
    let chinese = run(&["policy", "lint", settings, "--archive", path.to_str().unwrap(), "--lang", "zh"]).out;
    assert!(chinese.contains("改法：写 retryableCodes:"), "{chinese}");
}

#[test]
fn a_policy_on_the_wrong_route_is_found_in_the_demo() {
    let root = tempfile::tempdir().unwrap();
    let settings = root.path().join("settings.yaml");
    std::fs::write(&settings, "llm-pi-ai:\n  providers:\n    mock-gatway:\n      retryPolicy: { mode: normal }\n")
        .unwrap();
    let (_, held) = json(&["policy", "lint", settings.to_str().unwrap(), "--demo"]);
    let hit = held["hits"].as_array().unwrap().iter().find(|hit| hit["rule"] == "route-not-seen").unwrap();
    assert_eq!((&hit["line"], &hit["fix"]), (&Value::from(3), &Value::from("did you mean mock-gateway?")));
}

#[test]
fn files_that_are_no_text_name_their_line() {
    let root = tempfile::tempdir().unwrap();
    for (bytes, words) in [(&b"a: 1\nb: \xd6\xd8\n"[..], "line 2: not UTF-8"), (b"\xff\xfea\0", "UTF-16")] {
        let path = root.path().join("settings.yaml");
        std::fs::write(&path, bytes).unwrap();
        let run = run(&["policy", "lint", path.to_str().unwrap()]);
        assert_eq!(run.status, 2);
        assert!(run.err.contains(words) && run.err.contains("settings.yaml"), "{}", run.err);
    }
}

#[test]
fn the_schedule_of_every_preset_is_printed_and_the_list_names_its_source() {
    let (_, list) = json(&["policy", "schedule", "--list"]);
    let presets = list["presets"].as_array().unwrap();
    assert!(presets.len() >= 9);
    for preset in presets {
        let name = preset["name"].as_str().unwrap();
        assert!(preset["source"].as_str().unwrap().len() > 20, "{name}");
        let (status, table) = json(&["policy", "schedule", name]);
        assert_eq!((status, &table["name"]), (0, &preset["name"]));
    }
    let run = run(&["policy", "schedule", "dsh-recconect"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("did you mean \"dsh-reconnect\"?"), "{}", run.err);
}
