//! The error catalogue of the project, the corpus of wordings, and what differs between releases.

use std::collections::BTreeMap;

use super::catalogue::Catalogue;
use super::classifiers::every_rule;
use super::*;

const ERROR_CATALOGUE: &str = include_str!("../../testdata/error-catalogue.tsv");
const WORDINGS: &str = include_str!("../../testdata/wordings.tsv");
const REPORTED: &str = include_str!("../../testdata/reported.tsv");

/// Harness 0.1.7-alpha.2 with pi-ai 0.85.1.
const OLD: ReleaseRules = ReleaseRules { branches: BranchOrder::Nine, pi_ai: PiAiRules::UpTo085 };
const MIDDLE: ReleaseRules = ReleaseRules { pi_ai: PiAiRules::From086To15, ..OLD };
const NEW: ReleaseRules = ReleaseRules { pi_ai: PiAiRules::From16, ..OLD };
/// Harness 0.1.0-rc.7.
const EIGHT: ReleaseRules = ReleaseRules { branches: BranchOrder::Eight, ..OLD };

fn code(text: &str, rules: ReleaseRules, provider: Option<&str>) -> String {
    classify_pi_ai(text, rules, provider).code.into_owned()
}

#[test]
fn every_harness_rule_compiles() {
    for rule in every_rule().chain(super::adapter_texts::every_rule()) {
        assert!(rule.regex().is_some(), "{}", rule.id);
    }
}

#[test]
fn the_error_catalogue_holds_line_by_line() {
    let mut wrong = Vec::new();
    let mut lines = 0;
    for line in ERROR_CATALOGUE.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [text, route, harness, supported, fixable] = fields[..5] else { panic!("{line}") };
        lines += 1;
        let (got, evidence) = match route.split_once(':') {
            Some((_, status)) => {
                let status: u16 = status.parse().expect("a status");
                let code = classify_deepseek(status, text).code.into_owned();
                (code, supports(text, Some(status), Route::DeepSeek))
            }
            None if route == "adapter" => (harness.to_owned(), supports(text, None, Route::PiAi)),
            None => (code(text, OLD, None), supports(text, None, Route::PiAi)),
        };
        let got = (got.as_str(), evidence.code.as_str(), evidence.fixable_by.as_str());
        if got != (harness, supported, fixable) {
            wrong.push(format!("{text}\n  {:?} by {}", got, evidence.pattern_id));
        }
    }
    assert_eq!(lines, 77);
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn adapter_lines_have_the_adapter_s_code() {
    for line in ERROR_CATALOGUE.lines().filter(|line| line.contains("\tadapter\t")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let code = [Route::PiAi, Route::DeepSeek].into_iter().find_map(|route| adapter_code(fields[0], route));
        assert_eq!(code.map(|code| code.code.into_owned()).as_deref(), Some(fields[2]));
    }
}

/// Of one class: lines, right codes, right codes with who can fix it.
type Counts = (usize, usize, usize);

/// Runs a corpus of code, who can fix it, text; prints shares and misses, and gives the classes.
fn shares(corpus: &'static str) -> BTreeMap<&'static str, Counts> {
    let mut classes: BTreeMap<&str, Counts> = BTreeMap::new();
    for line in corpus.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [code, fixable, text] = fields[..] else { panic!("{line}") };
        let got = supports(text, None, Route::PiAi);
        let (read, by) = (got.code.as_str(), got.fixable_by.as_str());
        let class = classes.entry(code).or_default();
        class.0 += 1;
        class.1 += usize::from(read == code);
        class.2 += usize::from((read, by) == (code, fixable));
        if (read, by) != (code, fixable) {
            println!("{code}/{fixable} read as {read}/{by} by {}: {text}", got.pattern_id);
        }
    }
    for (class, (lines, codes, both)) in &classes {
        println!("{class}: code {codes}/{lines}, code and who can fix it {both}/{lines}");
    }
    classes
}

/// Lines and fully right lines of all classes.
fn total(classes: &BTreeMap<&str, Counts>) -> (usize, usize) {
    classes.values().fold((0, 0), |sum, class| (sum.0 + class.0, sum.1 + class.2))
}

#[test]
fn wordings_of_vendors_support_their_class() {
    let classes = shares(WORDINGS);
    assert_eq!(classes.len(), 10);
    for (class, (lines, _, both)) in &classes {
        assert_eq!(*lines, 40, "{class}");
        assert!(*both >= 38, "{class}: {both}");
    }
    let (lines, right) = total(&classes);
    assert!(right * 100 >= lines * 98, "{right}/{lines}");
}

#[test]
fn messages_reported_by_users_support_their_class() {
    let (lines, right) = total(&shares(REPORTED));
    println!("all: {right}/{lines}");
    assert!(right * 100 >= lines * 95, "{right}/{lines}");
}

#[test]
fn a_bodyless_400_is_an_overflow_up_to_pi_ai_0_85() {
    let text = "400 status code (no body)";
    assert_eq!(code(text, OLD, None), "CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(code(text, OLD, Some("deepseek")), "CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(code(text, MIDDLE, Some("deepseek")), "INVALID_REQUEST");
    assert_eq!(code(text, MIDDLE, None), "INVALID_REQUEST");
    assert_eq!(code(text, MIDDLE, Some("cerebras")), "CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(code(text, NEW, Some("deepseek")), "INVALID_REQUEST");
    assert_eq!(code(text, NEW, Some("cerebras")), "CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(code("upstream: 400 status code (no body)", OLD, None), "INVALID_REQUEST");
}

#[test]
fn pi_ai_1_6_takes_every_leading_413_for_an_overflow() {
    for text in ["413 status code (no body)", "413 Payload Too Large"] {
        assert_eq!(code(text, NEW, None), "CONTEXT_WINDOW_EXCEEDED", "{text}");
        assert_eq!(code(text, MIDDLE, None), "INVALID_REQUEST", "{text}");
    }
    assert_eq!(code("upstream said 413", NEW, None), "INVALID_REQUEST");
    assert_eq!(code("413 rate limit", NEW, None), "RATE_LIMIT");
}

#[test]
fn the_branch_for_body_sizes_came_after_rc_7() {
    let rc8 = ReleaseRules::for_versions(Some("0.1.0-rc.8"), None).0;
    for (text, before) in [
        ("413 Payload Too Large", "PI_AI_ERROR"),
        ("Payload too large", "PI_AI_ERROR"),
        ("request body too large: 500 MB", "SERVER"),
        ("413 upstream timeout", "TIMEOUT"),
    ] {
        assert_eq!(code(text, EIGHT, None), before, "{text}");
        assert_eq!(code(text, OLD, None), "INVALID_REQUEST", "{text}");
        assert_eq!(code(text, rc8, None), "INVALID_REQUEST", "{text}");
    }
}

#[test]
fn words_and_numbers_are_bounded_as_in_javascript() {
    assert_eq!(code("额度401错误", OLD, None), "AUTH");
    assert_eq!(code("error_401", OLD, None), "PI_AI_ERROR");
    assert_eq!(code("id 4012", OLD, None), "PI_AI_ERROR");
    assert_eq!(code("took 512 ms", OLD, None), "SERVER");
    assert_eq!(code("RateLimit", OLD, None), "RATE_LIMIT");
    assert_eq!(code("prefetch failed", OLD, None), "PI_AI_ERROR");
}

#[test]
fn pi_ai_exclusions_do_not_silence_the_harness_s_own_wordings() {
    let text = "rate limit: request exceeds the maximum context length of 5 tokens";
    let verdict = classify_pi_ai(text, OLD, None);
    assert_eq!(verdict.code, "CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(verdict.rule, "harness-overflow:max-context");
    assert_eq!(code("Throttling error: too many tokens", OLD, None), "PI_AI_ERROR");
}

#[test]
fn a_text_of_the_adapter_with_a_status_alone_says_nothing() {
    for route in [Route::PiAi, Route::DeepSeek] {
        for text in ["DeepSeek API error (HTTP 400)", "400 status code (no body)", "413 (no body)"] {
            let got = supports(text, None, route);
            assert_eq!((got.code, got.fixable_by), (SupportedCode::Undetermined, FixableBy::Unknown));
        }
    }
    assert_eq!(supports("", Some(400), Route::DeepSeek).code, SupportedCode::Undetermined);
    assert_eq!(supports("", None, Route::PiAi).code, SupportedCode::Undetermined);
    let said = supports("Insufficient Balance", Some(402), Route::DeepSeek);
    assert_eq!(said.code, SupportedCode::Quota);
    let joined = "DeepSeek API error (HTTP 400): prompt is too long: 9 tokens > 8 maximum";
    assert_eq!(supports(joined, None, Route::DeepSeek).code, SupportedCode::ContextWindowExceeded);
}

#[test]
fn an_overflow_by_reserved_output_is_a_matter_of_settings() {
    let text = "maximum context length is 100 tokens. However, you requested 120 tokens (90 in the messages, 30 in the completion)";
    assert_eq!(supports(text, None, Route::PiAi).fixable_by, FixableBy::Config);
    let text = text.replace("(90", "(101");
    assert_eq!(supports(&text, None, Route::PiAi).fixable_by, FixableBy::Request);
}

#[test]
fn the_report_has_the_fields_others_rely_on() {
    let text = r#"400 {"error":{"message":"prompt is too long: 5 tokens > 4 maximum","type":"invalid_request_error"}}"#;
    let report = serde_json::to_value(classify_report(text)).expect("a report is plain data");
    assert_eq!(report["schema"], "dsh-forensics/classify/v1");
    assert_eq!(report["text"], text);
    assert_eq!(report["supported_code"], "CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(report["fixable_by"], "request");
    assert_eq!(report["numbers"]["requested_tokens"], 5);
    assert_eq!(report["numbers"]["limit_tokens"], 4);
    for key in ["output_tokens", "retry_after_ms"] {
        assert!(report["numbers"].get(key).expect("the key exists").is_null());
    }
    let releases = report["releases"].as_array().expect("a list");
    assert_eq!(releases.len(), 2 * KNOWN_RELEASES.len());
    for row in releases {
        let wanted = if row["route"] == "llm-pi-ai" { "CONTEXT_WINDOW_EXCEEDED" } else { "INVALID_REQUEST" };
        assert_eq!(row["code"], wanted);
        assert_eq!(row["retried_by_default"], false);
        assert!(row["dsh"].is_string() && row["pi_ai"].is_string() && row["rule"].is_string());
    }
}

#[test]
fn a_status_given_apart_counts_like_one_in_the_text() {
    let body = r#"{"error":{"code":"insufficient_quota","message":"x"}}"#;
    let report = classify_input(ClassifyInput { text: body, status: Some(429), provider: None });
    let codes: Vec<&str> = report.releases.iter().map(|row| row.code.as_str()).collect();
    assert_eq!(codes, ["QUOTA"; 12]);
    let silent = classify_input(ClassifyInput { text: "", status: Some(400), provider: None });
    assert_eq!(silent.supported_code, SupportedCode::Undetermined);
    assert_eq!(silent.releases[0].code, "CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(silent.releases[1].code, "INVALID_REQUEST");
    let plain = classify_report("terminated");
    assert!(plain.releases.iter().all(|row| row.route == Route::PiAi && row.code == "TRANSPORT"));
}

#[test]
fn any_text_is_answered() {
    for text in ["", " ", "\\", "\\u12", "{", "{}", "null", "\u{0}", "🙂", "4", "40", "4é0", "\\u{1}", "余"] {
        let report = classify_report(text);
        assert_eq!(report.text, text);
    }
}

/// Prints what a message costs; run with `--ignored --nocapture`, in release for real figures.
#[test]
#[ignore = "a measurement, not a check"]
fn the_cost_of_a_message() {
    let lines = WORDINGS.lines().chain(REPORTED.lines());
    let texts: Vec<&str> = lines.filter_map(|line| line.split('\t').nth(2)).collect();
    let mean = |name: &str, work: &dyn Fn(&str) -> usize| {
        let warm: usize = texts.iter().map(|text| work(text)).sum();
        let start = std::time::Instant::now();
        let again: usize = texts.iter().map(|text| work(text)).sum();
        assert_eq!(warm, again);
        println!("{name}: {:?}", start.elapsed() / u32::try_from(texts.len()).expect("few"));
    };
    mean("plain form", &|text| super::message::plain(text).len());
    mean("needles", &|text| Catalogue::get().candidates(text).count());
    mean("catalogue", &|text| Catalogue::get().find(text).map_or(0, |row| row.id.len()));
    mean("numbers", &|text| usize::from(super::numbers::numbers_in(text, true).limit_tokens.is_some()));
    mean("supports", &|text| supports(text, None, Route::PiAi).pattern_id.len());
    mean("classify_pi_ai", &|text| classify_pi_ai(text, OLD, None).rule.len());
}
