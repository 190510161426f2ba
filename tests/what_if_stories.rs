//! Stories that users told, as they would run them: a log on disk, the program, its JSON.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::Path;

use serde_json::Value;
use support::builder::{Log, NO_BODY_400, OVERFLOW, START};
use support::run;

fn what_if(root: &Path, args: &[&str]) -> Value {
    let path = root.to_str().unwrap();
    let run = run(&[&["policy", "what-if", path, "--format", "json"], args].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    serde_json::from_str(&run.out).unwrap()
}

fn policy<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let policies = answer["policies"].as_array().unwrap();
    policies.iter().find(|policy| policy["name"] == name).unwrap_or_else(|| panic!("no policy {name}: {policies:?}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn near(value: &Value, expected: f64, within: f64) {
    assert!((number(value) - expected).abs() <= within, "{value} is not near {expected}");
}

/// Six sessions ask once a second; twice the gateway answers every request with an empty 400 for 2.5 s.
fn empty_400s(root: &Path) {
    for session in 0..6 {
        let mut log = Log::new(&format!("story-a-{session}"));
        log.route("mock-gateway", "large", 1_000_000);
        for turn in 0..25 {
            let time = turn * 1000 + session * 160;
            log.at(START + time).turn().step();
            if (6000..8500).contains(&time) || (15_000..17_500).contains(&time) {
                log.failed(OVERFLOW, NO_BODY_400).gave_up();
            } else {
                log.ok(1200);
            }
        }
        log.write_plain(root);
    }
}

/// A settings file that adds the code and keeps the five defaults. (Giving `retryableCodes` replaces the list: a file
/// with the new code alone would have dropped them.)
#[test]
fn eight_fields_that_add_a_code_would_have_saved_the_night() {
    let root = tempfile::tempdir().unwrap();
    empty_400s(root.path());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/policy/eight-fields.yaml");
    let answer = what_if(root.path(), &["--policy", "current", "--policy", file]);
    let failed = number(&answer["policies"][0]["turns_failed_recorded"]);
    assert_eq!(failed, number(&answer["chains"]));
    assert!(failed >= 25.0, "{failed}");
    assert_eq!(number(&policy(&answer, "current")["net"]["expected"]), 0.0);
    let eight = policy(&answer, "eight-fields.yaml");
    assert_eq!(number(&eight["turns_saved"]["expected"]), failed, "{eight}");
    assert_eq!(number(&eight["turns_lost"]["pessimistic"]), 0.0);
    // Waits of 0.5, 1 and 2 s outlast 2.5 s; nobody waits for the fourth.
    assert!(number(&eight["added_wait_ms"]["p95"]) < 4200.0, "{eight}");
    assert!(number(&eight["extra_attempts"]) <= 3.0 * failed);
    let advice = &answer["recommendation"];
    assert_eq!(advice["policy"], "eight-fields.yaml");
    let yaml = advice["settings_yaml"].as_str().unwrap();
    assert!(yaml.contains("mock-gateway") && yaml.contains("CONTEXT_WINDOW_EXCEEDED") && yaml.contains("TRANSPORT"));
}

/// Three limits of 28 s on a pi-ai route, whose adapter drops Retry-After; the text says 30 s. Two retries, then the turn
/// fails; only who meets the end of a limit recovers.
fn thirty_seconds(root: &Path) {
    const LIMITED: &str = "429 Rate limit reached for requests. Please try again in 30s.";
    for session in 0..4 {
        let mut log = Log::new(&format!("story-b-{session}"));
        log.route("mock-gateway", "large", 1_000_000);
        for limit in 0..3 {
            let begin = START + 20_000 + limit * 80_000;
            for before in 0..4 {
                log.at(begin - 18_000 + before * 5000 + session * 300).turn().step().ok(1200);
            }
            for after in [session * 500, 12_000 + session * 500] {
                log.at(begin + after).turn().step().failed("RATE_LIMIT", LIMITED);
                log.retry(500).failed("RATE_LIMIT", LIMITED).retry(1000).failed("RATE_LIMIT", LIMITED).gave_up();
            }
            log.at(begin + 27_700 + session * 20).turn().step().failed("RATE_LIMIT", LIMITED).retry(500).ok(1200);
            for after in 0..4 {
                log.at(begin + 30_000 + after * 2000 + session * 300).turn().step().ok(1200);
            }
        }
        log.write_plain(root);
    }
}

#[test]
fn exposing_retry_after_alone_saves_fewer_turns_than_today() {
    let root = tempfile::tempdir().unwrap();
    thirty_seconds(root.path());
    let today = "dsh-default@0.1.0-rc.5";
    let exposed = "dsh-default@0.1.0-rc.5 + expose-retry-after";
    let capped = "dsh-default@0.1.0-rc.5 + expose-retry-after + retry-after-cap 120s";
    let answer = what_if(root.path(), &["--policy", today, "--policy", exposed, "--policy", capped]);
    assert_eq!(number(&answer["chains"]), 36.0);
    let [today, exposed, capped] = [today, exposed, capped].map(|name| policy(&answer, name));
    // Today: two useless attempts for each of 24 chains inside a limit; 12 at its end recover at the first retry.
    // (Fresh jitter may miss the end of the limit by a few milliseconds and need a second retry.)
    near(&today["extra_attempts"], 60.0, 3.0);
    near(&today["net"]["expected"], 0.0, 0.2);
    assert_eq!(today["retry_after_violations"], today["extra_attempts"]);
    // The header alone: 30 s is above the cap of 10 s, the policy gives up at once, and what recovered is lost.
    assert_eq!(number(&exposed["extra_attempts"]), 0.0, "{exposed}");
    assert_eq!(number(&exposed["net"]["expected"]), -12.0);
    assert!(number(&exposed["net"]["optimistic"]) < number(&today["net"]["pessimistic"]));
    // With a cap of its own every chain waits it out.
    near(&capped["net"]["expected"], 24.0, 0.2);
    near(&capped["extra_attempts"], 36.0, 0.5);
    assert_eq!(number(&capped["retry_after_violations"]), 0.0);
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let root = tempfile::tempdir().unwrap();
    empty_400s(root.path());
    let one = what_if(root.path(), &["--jobs", "1"]);
    let four = what_if(root.path(), &["--jobs", "4"]);
    assert_eq!(one.to_string(), four.to_string());
    let other = what_if(root.path(), &["--jobs", "1", "--seed", "2"]);
    assert_ne!(one.to_string(), other.to_string());
}

#[test]
fn without_a_model_there_are_bounds_and_no_expected_value() {
    let root = tempfile::tempdir().unwrap();
    empty_400s(root.path());
    let answer = what_if(root.path(), &["--assume", "none"]);
    for policy in answer["policies"].as_array().unwrap() {
        assert!(policy["net"]["expected"].is_null(), "{policy}");
        assert!(number(&policy["net"]["pessimistic"]) <= number(&policy["net"]["optimistic"]));
    }
}

#[test]
fn few_chains_get_bounds_but_no_ranking() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("lonely");
    log.route("mock-gateway", "large", 1_000_000)
        .turn()
        .step()
        .ok(1200)
        .turn()
        .step()
        .failed(OVERFLOW, NO_BODY_400)
        .gave_up();
    log.write_plain(root.path());
    let answer = what_if(root.path(), &[]);
    assert!(answer["recommendation"].is_null());
    let said = answer["assumptions"].to_string();
    assert!(said.contains("a ranking would say nothing") && said.contains("the log ends while"), "{said}");
}

#[test]
fn the_page_fits_eighty_columns_in_both_languages() {
    let root = tempfile::tempdir().unwrap();
    empty_400s(root.path());
    for (language, word) in [("en", "Take 'current + retry"), ("zh", "采用“current + retry")] {
        let args = ["policy", "what-if", root.path().to_str().unwrap(), "--width", "80", "--lang", language];
        let page = run(&args);
        assert_eq!(page.status, 0, "{}", page.err);
        assert!(page.out.contains(word), "{}", page.out);
        for line in page.out.lines() {
            assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "{line}");
        }
    }
}

#[test]
fn a_policy_that_is_none_is_refused_with_its_name() {
    let root = tempfile::tempdir().unwrap();
    empty_400s(root.path());
    let path = root.path().to_str().unwrap();
    for (wrong, hint) in
        [("curent", "current"), ("current + maxRetreis 3", "maxRetries"), ("missing.yaml", "missing.yaml")]
    {
        let run = run(&["policy", "what-if", path, "--policy", wrong]);
        assert_eq!(run.status, 2);
        assert!(run.err.contains(hint), "{}", run.err);
    }
}
