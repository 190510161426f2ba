//! `check`: a gate over recorded logs. Each test is one morning in CI.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use support::builder::{Log, NO_BODY_400, OVERFLOW};
use support::{Run, json_schema, run};
use tempfile::TempDir;

const FORMATS: [&str; 7] = ["table", "json", "markdown", "html", "sarif", "junit", "github"];
const DEMO_BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/baseline.json");

/// Logs and a baseline of a build, in a directory of their own.
struct Build {
    dir: TempDir,
}

impl Build {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("logs")).unwrap();
        Self { dir }
    }

    /// A build whose baseline was made of these logs, everything in them accepted.
    fn accepted(logs: impl IntoIterator<Item = Log>) -> Self {
        let build = Self::new();
        build.write(logs);
        build.update(&["--reason", "first baseline"]);
        build
    }

    fn write(&self, logs: impl IntoIterator<Item = Log>) {
        logs.into_iter().for_each(|mut log| drop(log.write_zstd(&self.logs())));
    }

    fn logs(&self) -> PathBuf {
        self.dir.path().join("logs")
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn check(&self, more: &[&str]) -> Run {
        let (logs, baseline) = (self.path("logs"), self.path("baseline.json"));
        run(&[&["check", &logs, "--baseline", &baseline], more].concat())
    }

    fn json(&self, more: &[&str]) -> (i32, Value) {
        let run = self.check(&[&["--format", "json"], more].concat());
        (run.status, serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err)))
    }

    #[track_caller]
    fn update(&self, more: &[&str]) {
        let run = self.check(&[&["--update"], more].concat());
        assert_eq!(run.status, 0, "{}", run.err);
    }

    fn baseline(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("baseline.json")).unwrap()).unwrap()
    }

    fn config(&self, text: &str) -> String {
        let path = self.path("gate.toml");
        fs::write(&path, text).unwrap();
        path
    }
}

/// Two successes; the second is large enough to speak against an overflow of a small request.
fn healthy(id: &str) -> Log {
    let mut log = Log::new(id);
    log.turn().step().ok(1_200).step().ok(1_500);
    log
}

/// A request that is called too large, and succeeds unchanged a moment later: the code is wrong.
fn contradicted(id: &str, failures: usize) -> Log {
    let mut log = healthy(id);
    for _ in 0..failures {
        log.turn().step().failed(OVERFLOW, NO_BODY_400).retry(500).ok(1_600);
    }
    log
}

/// So many steps, of which the first `failed` fail for good.
fn steps(id: &str, failed: usize, all: usize) -> Log {
    let mut log = Log::new(id);
    for step in 0..all {
        if step < failed {
            log.turn().step().failed("SERVER", "502 Bad Gateway").gave_up();
        } else {
            log.turn().step().ok(1_200);
        }
    }
    log
}

#[track_caller]
fn gate<'v>(check: &'v Value, name: &str) -> &'v Value {
    check["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == name).expect("the gate is told")
}

// ---- what fails a build, and what does not

#[test]
fn nothing_changed_passes_in_every_format() {
    let build = Build::accepted([contradicted("night", 2), steps("day", 3, 30)]);
    for format in FORMATS {
        let run = build.check(&["--format", format]);
        assert_eq!(run.status, 0, "{format}: {}{}", run.out, run.err);
    }
    let (_, check) = build.json(&[]);
    assert_eq!((&check["verdict"], &check["problems"], &check["stale"]), (&json!("passed"), &json!([]), &json!([])));
    assert!(!check["known"].as_array().unwrap().is_empty(), "what is accepted is still told");
}

#[test]
fn a_new_contradicted_code_fails_in_every_format() {
    let build = Build::accepted([healthy("night")]);
    build.write([contradicted("morning", 1)]);
    for format in FORMATS {
        let run = build.check(&["--format", format]);
        assert_eq!(run.status, 1, "{format}: {}{}", run.out, run.err);
    }
    let (_, check) = build.json(&[]);
    assert_eq!(gate(&check, "contradicted-code")["state"], "fired");
    let problem = &check["problems"][0];
    assert_eq!(problem["session_id"], "morning");
    assert!(problem["what"].as_str().unwrap().contains(OVERFLOW), "{problem}");
}

#[test]
fn a_release_that_reclassifies_twelve_failures_fails_and_lists_them() {
    let build = Build::new();
    build.write([contradicted("night", 12)]);
    build.update(&["--reason", "known gateway fault", "--dsh-version", "0.1.1"]);
    assert_eq!(build.check(&[]).status, 0, "the baseline remembers the release");
    let (status, check) = build.json(&["--dsh-version", "0.2.0-rc.2"]);
    assert_eq!(status, 1);
    let gate = gate(&check, "classification");
    assert_eq!((&gate["state"], &gate["problems"]), (&json!("fired"), &json!(12)));
    assert!(gate["why"].as_str().unwrap().starts_with("12 failures are classified otherwise"), "{gate}");
    let problems = check["problems"].as_array().unwrap();
    let listed: Vec<&Value> = problems.iter().filter(|problem| problem["gate"] == "classification").collect();
    assert_eq!(listed.len(), 12);
    assert!(listed.iter().all(|p| p["what"].as_str().unwrap().contains("CONTEXT_WINDOW_EXCEEDED → ")), "{listed:?}");
    let same = build.json(&["--dsh-version", "0.1.4"]).1;
    assert_eq!(same["verdict"], "passed", "0.1.4 has the rules of 0.1.1");
}

#[test]
fn the_recorded_code_is_what_counts_without_a_release() {
    let build = Build::accepted([contradicted("night", 12)]);
    let (status, check) = build.json(&["--dsh-version", "0.2.0-rc.2"]);
    assert_eq!((status, &gate(&check, "classification")["problems"]), (1, &json!(12)));
}

/// The rules of a release give every failure of the recorded corpus the code that the harness of that time wrote.
#[test]
fn the_rules_of_a_release_give_the_recorded_codes() {
    let Some(corpus) = support::recorded("corpus") else { return };
    let build = Build::new();
    let baseline = build.path("baseline.json");
    let check = |more: &[&str]| {
        run(&[&["check", corpus.to_str().unwrap(), "--keep-duplicates", "--baseline", &baseline], more].concat())
    };
    assert_eq!(check(&["--update", "--reason", "recorded"]).status, 0);
    let run = check(&["--dsh-version", "0.1.1", "--format", "json"]);
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert!(found["failed_attempts"].as_u64().unwrap() > 200);
    assert_eq!(gate(&found, "classification")["state"], "passed", "{}", gate(&found, "classification")["why"]);
}

#[test]
fn a_rate_that_is_worse_beyond_chance_fails() {
    let build = Build::accepted([steps("day", 20, 400)]);
    fs::remove_dir_all(build.logs()).unwrap();
    build.write([steps("day", 80, 400)]);
    let (status, check) = build.json(&[]);
    assert_eq!(status, 1);
    assert_eq!(gate(&check, "failure-rate")["state"], "fired");
    let rate = &check["rates"][0];
    assert_eq!((&rate["state"], &rate["failed_attempts"]), (&json!("worse"), &json!(80)));
    assert!(rate["rate_ratio_lo"].as_f64().unwrap() > 1.25, "{rate}");
}

#[test]
fn a_rate_that_chance_can_explain_is_inconclusive_and_125_only_in_a_bisection() {
    let build = Build::accepted([steps("day", 2, 40)]);
    fs::remove_dir_all(build.logs()).unwrap();
    build.write([steps("day", 2, 20)]);
    let (status, check) = build.json(&[]);
    assert_eq!((status, &check["verdict"]), (0, &json!("inconclusive")));
    assert_eq!(gate(&check, "failure-rate")["state"], "inconclusive");
    assert_eq!(build.check(&["--bisect"]).status, 125);
    for format in FORMATS {
        let run = build.check(&["--bisect", "--format", format]);
        assert_eq!(run.status, 125, "{format}");
    }
}

#[test]
fn a_policy_that_decides_otherwise_fails() {
    let build = Build::new();
    build.write([contradicted("night", 3)]);
    build.update(&["--reason", "known", "--policy", "dsh-default"]);
    assert_eq!(build.check(&[]).status, 0, "a policy with a name is asked again");
    let retrying = format!("dsh-default + retry {OVERFLOW}");
    let (status, check) = build.json(&["--policy", &retrying]);
    assert_eq!((status, &gate(&check, "policy-decision")["problems"]), (1, &json!(3)));
    let problems = check["problems"].as_array().unwrap();
    let what = problems.iter().find(|p| p["gate"] == "policy-decision").unwrap()["what"].as_str().unwrap();
    assert!(what.contains("give_up not_retryable → retry 1"), "{what}");
    let repaired = build.check(&["--policy", "dsh-default + clamp"]);
    assert_eq!(repaired.status, 2);
    assert!(repaired.err.contains("repairs"), "{}", repaired.err);
}

// ---- the baseline

#[test]
fn what_is_gone_is_reported_as_stale_and_taken_out_by_an_update_alone() {
    let build = Build::accepted([contradicted("night", 2), contradicted("day", 1)]);
    let before = build.baseline();
    fs::remove_dir_all(build.logs().join("--srv-harbour--/night")).unwrap();
    let (status, check) = build.json(&[]);
    assert_eq!(status, 0, "better is no failure");
    let stale = check["stale"].as_array().unwrap();
    assert!(!stale.is_empty() && stale.iter().all(|entry| entry["at"].as_str().unwrap().starts_with("night:")));
    assert_eq!(build.baseline(), before, "a check changes nothing");
    build.update(&[]);
    let kept = build.baseline();
    let kept = kept["accepted"].as_array().unwrap();
    assert!(!kept.is_empty() && kept.iter().all(|entry| entry["at"].as_str().unwrap().starts_with("day:")), "{kept:?}");
    build.write([contradicted("night", 2)]);
    assert_eq!(build.check(&[]).status, 1, "what was taken out is new when it comes back");
}

#[test]
fn what_is_new_needs_a_reason_and_keeps_the_reasons_that_stand() {
    let build = Build::accepted([contradicted("night", 1)]);
    let text = fs::read_to_string(build.path("baseline.json")).unwrap();
    fs::write(build.path("baseline.json"), text.replace("first baseline", "seen by hand")).unwrap();
    build.write([contradicted("morning", 1)]);
    let refused = build.check(&["--update"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("contradicted-code at morning:"), "names the entry: {}", refused.err);
    assert!(refused.err.contains("--reason"), "{}", refused.err);
    build.update(&["--reason", "the new gateway"]);
    let baseline = build.baseline();
    for entry in baseline["accepted"].as_array().unwrap() {
        let by_hand = entry["at"].as_str().unwrap().starts_with("night:");
        assert_eq!(entry["reason"], if by_hand { "seen by hand" } else { "the new gateway" }, "{entry}");
    }
    assert_eq!(build.check(&[]).status, 0);
}

#[test]
fn a_lower_rate_is_taken_over_and_a_higher_one_only_with_a_reason() {
    let build = Build::accepted([steps("day", 20, 100)]);
    let failed = |build: &Build| build.baseline()["rates"]["routes"]["gateway/large"]["failed_attempts"].clone();
    let replace = |steps: Log| {
        fs::remove_dir_all(build.logs()).unwrap();
        build.write([steps]);
    };
    replace(steps("day", 18, 100));
    build.update(&[]);
    assert_eq!(failed(&build), json!(18), "tightened");
    replace(steps("night", 19, 100));
    build.update(&["--only", "torn-log"]);
    assert_eq!(failed(&build), json!(18), "a little worse does not creep in");
    build.update(&["--only", "torn-log", "--reason", "a slower week"]);
    assert_eq!(failed(&build), json!(19));
}

#[test]
fn the_baseline_is_the_same_text_every_time_and_holds_no_paths_and_no_contents() {
    let build = Build::accepted([contradicted("night", 2), steps("day", 1, 5)]);
    let first = fs::read_to_string(build.path("baseline.json")).unwrap();
    build.update(&["--jobs", "1"]);
    assert_eq!(fs::read_to_string(build.path("baseline.json")).unwrap(), first);
    for part in ["status code", "harbour", "Bad Gateway", "Seal the batch", build.dir.path().to_str().unwrap()] {
        assert!(!first.contains(part), "{part} in {first}");
    }
    let lines = first.lines().filter(|line| line.contains("\"fingerprint\"")).count();
    let entries = build.baseline()["accepted"].as_array().unwrap().len();
    assert_eq!(lines, entries, "one line for each entry");
}

#[test]
fn an_input_that_cannot_be_read_does_not_reach_the_baseline() {
    let build = Build::accepted([contradicted("night", 2)]);
    let before = build.baseline();
    break_log(&build, "night");
    let run = build.check(&["--update", "--reason", "no"]);
    assert_eq!(run.status, 4, "{}", run.err);
    assert_eq!(build.baseline(), before);
}

// ---- exit statuses

/// Cuts bytes out of the middle of a log.
fn break_log(build: &Build, id: &str) {
    let path = build.logs().join("--srv-harbour--").join(id).join("session.jsonl.zstd");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 20].fill(0xAA);
    fs::write(&path, bytes).unwrap();
}

#[test]
fn a_corrupt_log_is_4_in_every_format_and_125_in_a_bisection() {
    let build = Build::accepted([healthy("night"), healthy("day")]);
    break_log(&build, "night");
    for format in FORMATS {
        let run = build.check(&["--format", format]);
        assert_eq!(run.status, 4, "{format}: {}", run.out);
    }
    assert_eq!(build.check(&["--bisect"]).status, 125, "git takes 4 for bad");
    assert!(build.json(&[]).1["notices"][0].as_str().unwrap().contains("could not be read"));
}

#[test]
fn no_input_is_3_and_125_in_a_bisection() {
    let build = Build::accepted([healthy("night")]);
    fs::remove_dir_all(build.logs()).unwrap();
    assert_eq!(build.check(&[]).status, 3);
    assert_eq!(build.check(&["--bisect"]).status, 125);
}

#[test]
fn a_wrong_configuration_or_baseline_is_2_and_names_file_and_line() {
    let build = Build::accepted([healthy("night")]);
    let config = build.config("[check]\nseverity = \"warning\"\nmax_contradicted_share = 25\n");
    let run = build.check(&["--config", &config]);
    assert_eq!(run.status, 2);
    for part in ["gate.toml", "line 3", "0 to 1"] {
        assert!(run.err.contains(part), "{part} in {}", run.err);
    }
    fs::write(build.path("baseline.json"), "{\n  \"schema\": 1\n}\n").unwrap();
    let run = build.check(&[]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("baseline.json: line 2"), "{}", run.err);
    fs::remove_file(build.path("baseline.json")).unwrap();
    let run = build.check(&[]);
    assert_eq!(run.status, 2, "a baseline that is named is wanted");
    assert!(run.err.contains("baseline.json"), "{}", run.err);
}

// ---- gates of the configuration

#[test]
fn a_share_of_contradicted_codes_has_a_limit_of_its_own() {
    let build = Build::accepted([contradicted("night", 3), steps("day", 1, 10)]);
    let share = |most: &str| {
        let config = build.config(&format!("[check]\nmax_contradicted_share = {most}\n"));
        build.check(&["--config", &config, "--explain-gate"])
    };
    let fired = share("0.5");
    assert_eq!(fired.status, 1, "accepted places count in the share: {}", fired.out);
    assert_eq!(fired.out.lines().count(), 2, "{}", fired.out);
    assert!(fired.out.starts_with("Fired: contradicted-share\nWhy: 3 of 4 failed attempts (75.0 %)"), "{}", fired.out);
    assert_eq!(share("0.75").status, 0);
}

#[test]
fn a_rule_can_be_switched_off_or_limited() {
    let build = Build::accepted([healthy("night")]);
    build.write([steps("day", 3, 10)]);
    let fired = build.json(&[]).1;
    let rules: Vec<&str> = fired["problems"].as_array().unwrap().iter().filter_map(|p| p["rule"].as_str()).collect();
    let off: String = rules
        .iter()
        .map(|rule| format!("{rule} = \"off\"\n"))
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let config = build.config(&format!("[check]\nrate_ratio_limit = 1e6\n[check.rules]\n{off}"));
    assert_eq!(build.json(&["--config", &config]).1["problems"], json!([]));
    build.write([contradicted("late", 2)]);
    let config = build.config("[check]\nseverity = \"error\"\n[check.rules]\ncontradicted-overflow = 1\n");
    let limited = build.json(&["--config", &config]).1;
    assert_eq!(gate(&limited, "rule-limit")["state"], "fired", "{limited:#}");
}

#[test]
fn unknown_wordings_are_counted_without_their_numbers() {
    let mut log = healthy("night");
    for number in 0..5 {
        log.turn().step().failed("PI_AI_ERROR", &format!("blorp {number} flurb")).gave_up();
    }
    log.turn().step().failed("PI_AI_ERROR", "a quite different grumble").gave_up();
    let build = Build::accepted([log]);
    let with = |most: u64| {
        let config = build.config(&format!("[check]\nmax_unknown_wordings = {most}\n"));
        build.json(&["--config", &config])
    };
    let (status, check) = with(1);
    assert_eq!((status, &check["unknown_wordings"]), (1, &json!(["a quite different grumble", "blorp # flurb"])));
    assert_eq!(with(2).0, 0);
}

#[test]
fn a_policy_must_save_its_share_of_the_turns() {
    let build = Build::new();
    build.write([contradicted("night", 1)]);
    let mut lost = Log::new("lost");
    for _ in 0..20 {
        lost.turn().step().failed("AUTH", "401 Incorrect API key provided").gave_up();
    }
    build.write([lost]);
    build.update(&["--reason", "known"]);
    let config = build.config("[check]\nmin_saved_share = 0.5\n");
    let unnamed = build.check(&["--config", &config]);
    assert_eq!(unnamed.status, 2);
    assert!(unnamed.err.contains("--policy"), "{}", unnamed.err);
    let (status, check) = build.json(&["--config", &config, "--policy", "dsh-default"]);
    let gate = gate(&check, "saved-share");
    assert_eq!((status, &gate["state"]), (1, &json!("fired")), "no retry mends a wrong key: {gate}");
}

#[test]
fn explain_gate_takes_two_lines_whatever_happened() {
    let build = Build::accepted([healthy("night")]);
    let passed = build.check(&["--explain-gate"]).out;
    assert!(passed.starts_with("No gate fired") && passed.lines().count() == 2, "{passed}");
    build.write([contradicted("morning", 2)]);
    let fired = build.check(&["--explain-gate"]).out;
    assert!(fired.starts_with("Fired: ") && fired.lines().count() == 2, "{fired}");
    let chinese = build.check(&["--explain-gate", "--lang", "zh"]).out;
    assert!(chinese.starts_with("触发：") && chinese.lines().count() == 2, "{chinese}");
}

// ---- formats

#[test]
fn sarif_passes_the_schema_and_is_the_same_on_any_number_of_threads() {
    let text = include_str!("../testdata/sarif-schema-2.1.0.json");
    let schema: Value = serde_json::from_str(text).unwrap();
    let build = Build::accepted([contradicted("night", 2), contradicted("gone", 1)]);
    fs::remove_dir_all(build.logs().join("--srv-harbour--/gone")).unwrap();
    build.write([contradicted("köln 1", 3)]);
    let sarif = build.check(&["--format", "sarif", "--jobs", "1"]).out;
    assert_eq!(build.check(&["--format", "sarif", "--jobs", "7", "--lang", "zh"]).out, sarif);
    let log: Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(json_schema::errors(&schema, &log), Vec::<String>::new());
    let results = log["runs"][0]["results"].as_array().unwrap();
    for state in ["new", "unchanged", "absent"] {
        assert!(results.iter().any(|result| result["baselineState"] == state), "{state}");
    }
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["text"].as_str().unwrap().len() > 20, "{rule}");
        assert!(result["partialFingerprints"]["place/v1"].as_str().is_some_and(|print| print.len() == 16));
        for location in result["locations"].as_array().unwrap() {
            let uri = location["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
            assert!(uri.ends_with("/session.jsonl") && !uri.starts_with('/') && uri.is_ascii(), "{uri}");
        }
    }
    let mut broken = log.clone();
    broken["runs"][0]["results"][0]["level"] = json!("fatal");
    assert!(!json_schema::errors(&schema, &broken).is_empty(), "the check of the schema can fail");
}

#[test]
fn github_shows_ten_annotations_and_says_how_many_there_are() {
    let build = Build::accepted([healthy("night")]);
    build.write([contradicted("morning", 73)]);
    let run = build.check(&["--format", "github"]);
    let annotations: Vec<&str> = run.out.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(annotations.len(), 10, "{}", run.out);
    assert!(annotations.iter().all(|line| line.starts_with("::error title=") || line.starts_with("::warning title=")));
    let all = build.json(&[]).1["problems"].as_array().unwrap().len();
    assert!(run.out.contains(&format!("10 of {all} shown")), "{all}: {}", run.out);
}

#[test]
fn junit_is_well_formed_and_counts_what_it_lists() {
    let build = Build::accepted([healthy("night")]);
    let mut log = contradicted("morning", 1);
    log.turn().step().failed(OVERFLOW, "400 <b>\"bad\" & worse</b> \u{1}").retry(100).ok(1_700);
    build.write([log]);
    let xml = build.check(&["--format", "junit"]).out;
    let count = |part: &str| xml.matches(part).count();
    assert!(xml.contains("tests=\"9\""), "{xml}");
    assert_eq!(count("<testcase "), 9);
    let header = format!("failures=\"{}\" errors=\"0\" skipped=\"{}\"", count("<failure "), count("<skipped "));
    assert_eq!(xml.matches(&header).count(), 2, "{header} in {xml}");
    assert_well_formed(&xml);
}

/// Every tag is closed in order, and no text holds markup.
#[track_caller]
fn assert_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in xml.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.contains('\u{1}'), "a forbidden character");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap();
        match (tag.starts_with('?'), tag.starts_with('/'), tag.ends_with('/')) {
            (true, ..) | (_, _, true) => {}
            (_, true, _) => assert_eq!(open.pop(), Some(name)),
            _ => open.push(name),
        }
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;", "apos;"].iter().any(|known| entity.starts_with(known)), "{entity}");
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_step_summary_stays_below_a_mebibyte() {
    let build = Build::accepted([healthy("night")]);
    build.write((0..8).map(|n| contradicted(&format!("morning-{n}"), 300)));
    let run = build.check(&["--format", "markdown"]);
    assert_eq!(run.status, 1);
    assert!(run.out.len() < 100_000, "{} bytes", run.out.len());
    assert!(run.out.contains("100 of "), "says what is left out");
}

// ---- the demo as its own regression suite, and the pages of the book

#[test]
fn the_demo_holds_its_own_baseline() {
    let run = run(&["check", "--demo", "--baseline", DEMO_BASELINE]);
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.contains("Passed"), "{}", run.out);
}

#[test]
fn the_page_of_the_demo_in_both_languages() {
    for language in ["en", "zh"] {
        let run =
            run(&["check", "--demo", "--baseline", DEMO_BASELINE, "--dsh-version", "0.2.0-rc.2", "--lang", language]);
        assert_eq!(run.status, 1);
        insta::assert_snapshot!(format!("demo_{language}"), run.out);
    }
}

/// The shell steps of docs/ci.md, as written; lines that install are left out, and `uses:` is GitHub's own.
fn steps_of(page: &str, language: &str) -> Vec<String> {
    let blocks = page.split("```").enumerate().filter(|(index, _)| index % 2 == 1).map(|(_, block)| block);
    let mut steps = Vec::new();
    for block in blocks.filter_map(|block| block.strip_prefix("yaml\n")) {
        let workflow: Value = serde_saphyr::from_str(block).expect("the block is YAML");
        let of_github = workflow["jobs"]["check"]["steps"].as_array().cloned().unwrap_or_default();
        let of_gitlab = workflow["check-sessions"]["script"].as_array().cloned().unwrap_or_default();
        let chosen = if language == "github" {
            of_github.iter().filter_map(|step| step["run"].as_str()).map(str::to_owned).collect::<Vec<_>>()
        } else {
            of_gitlab.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        steps.extend(chosen.into_iter().filter(|step| !step.starts_with("cargo install")));
    }
    steps
}

/// A checkout as the page expects it: the demo's logs under `logs`, their baseline under `ci`.
fn checkout() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let zip = fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/demo.zip")).unwrap();
    zip::ZipArchive::new(zip).unwrap().extract(dir.path().join("logs")).unwrap();
    fs::create_dir(dir.path().join("ci")).unwrap();
    fs::copy(DEMO_BASELINE, dir.path().join("ci/baseline.json")).unwrap();
    dir
}

#[test]
fn the_steps_of_the_ci_page_run_as_written() {
    let page = include_str!("../docs/ci.md");
    let tool = assert_cmd::cargo::cargo_bin("dsh-forensics");
    let path = format!("{}:{}", tool.parent().unwrap().display(), std::env::var("PATH").unwrap());
    for (host, wanted, files) in [("github", 3, &["check.sarif", "summary.md"][..]), ("gitlab", 1, &["check.xml"])] {
        let checkout = checkout();
        let steps = steps_of(page, host);
        assert_eq!(steps.len(), wanted, "{host}: {steps:?}");
        for step in steps {
            let output = bash(&step, checkout.path(), &path);
            assert!(output.status.success(), "{host}: {step}\n{}", String::from_utf8_lossy(&output.stderr));
        }
        for file in files {
            assert!(fs::metadata(checkout.path().join(file)).unwrap().len() > 100, "{host} writes {file}");
        }
    }
    // The first lines of the page make the baseline that the rest uses.
    let first = page.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let checkout = checkout();
    fs::remove_file(checkout.path().join("ci/baseline.json")).unwrap();
    assert!(bash(first, checkout.path(), &path).status.success());
    assert_eq!(
        fs::read_to_string(checkout.path().join("ci/baseline.json")).unwrap().lines().count(),
        fs::read_to_string(DEMO_BASELINE).unwrap().lines().count()
    );
}

fn bash(step: &str, directory: &Path, path: &str) -> std::process::Output {
    let mut command = Command::new("bash");
    command.args(["-eo", "pipefail", "-c", step]).current_dir(directory).env("PATH", path).env("LC_ALL", "C");
    command.env("GITHUB_STEP_SUMMARY", directory.join("summary.md")).output().unwrap()
}

#[test]
fn the_gates_of_the_ci_page_are_those_of_the_program() {
    let page = include_str!("../docs/ci.md");
    let build = Build::accepted([healthy("night")]);
    for gate in build.json(&[]).1["gates"].as_array().unwrap() {
        let name = gate["gate"].as_str().unwrap();
        assert!(page.contains(&format!("| `{name}` |")), "{name} in docs/ci.md");
    }
    let block = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let config = build.config(block);
    let run = build.check(&["--config", &config, "--policy", "dsh-default"]);
    assert_eq!(run.status, 0, "{}{}", run.out, run.err);
}
