use crate::policy::edits::{EDITS, duration_ms, parse_candidate, usage};
use crate::policy::fixes::Candidate;
use crate::policy::model::{RetryMode, RetryPolicy};
use crate::policy::presets::{PRESET_NAMES, preset, source_key};
use crate::policy::schedule::{schedule, total_wait};
use crate::report::lang::Language;

fn parse(expression: &str) -> Candidate {
    parse_candidate(expression, &|name| {
        let policy = RetryPolicy { max_retries: 3, ..RetryPolicy::default() };
        (name == "current").then(|| Candidate::plain("current", "settings.yaml", policy))
    })
    .unwrap()
}

fn refuse(expression: &str) -> String {
    parse_candidate(expression, &|_| None).unwrap_err().to_string()
}

#[test]
fn presets_have_their_documented_numbers() {
    let key = |name: &str| preset(name).unwrap().unwrap().policy.policy_key();
    let five = r#"["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"]"#;
    assert_eq!(key("dsh-default"), format!("[\"normal\",5,{five},500,10000,0.1]"));
    assert_eq!(key("dsh-default@0.1.0-rc.5"), format!("[\"normal\",2,{five},500,10000,0.1]"));
    assert_eq!(key("dsh-always"), r#"["always",500,10000,0.1]"#);
    assert_eq!(key("aws-standard"), r#"["normal",2,["RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],1000,20000,0]"#);
    assert_eq!(key("tenacity"), r#"["always",0,0,0]"#);
    let total = |name: &str| total_wait(&preset(name).unwrap().unwrap().policy).unwrap().typical_ms;
    assert_eq!([total("polly"), total("resilience4j")], [6000.0, 1000.0]);
    let tenacity = preset("tenacity").unwrap().unwrap();
    assert_eq!(schedule(&tenacity.policy, 2000, None).rows.last().unwrap().cumulative.max_ms, 0.0);
    for name in PRESET_NAMES {
        let found = preset(name).unwrap().unwrap();
        assert!(found.name == name && !found.source.is_empty() && !found.source.contains('\n'), "{name}");
        // Pages say it by its key, in every language; JSON holds the English.
        assert_eq!(Some(found.source), source_key(name).map(|key| Language::English.say(key)), "{name}");
    }
    assert_eq!(preset("polly@1.0.0"), Ok(None));
    assert!(preset("dsh-default@newest").is_err());
}

#[test]
fn an_edit_adds_a_code_to_the_policy_in_force() {
    let found = parse("current + retry CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(found.name, "current + retry CONTEXT_WINDOW_EXCEEDED");
    assert_eq!(
        found.policy.policy_key(),
        r#"["normal",3,["CONTEXT_WINDOW_EXCEEDED","EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]"#
    );
    assert!(!found.fixes.any());
}

#[test]
fn edits_chain() {
    let found = parse(
        "dsh-default + maxRetries 10 + maxDelayMs 30s + mode always + expose-retry-after + retry-after-cap 2m + name long",
    );
    assert_eq!((found.name.as_str(), found.policy.mode), ("long", RetryMode::Always));
    assert_eq!((found.policy.max_retries, found.policy.backoff.max_delay_ms), (10, 30_000.0));
    assert_eq!(found.fixes.words(), ["expose-retry-after", "retry-after-cap 120000ms"]);
}

#[test]
fn every_switch_survives_a_round_trip_through_its_words() {
    for edits in [
        "expose-retry-after + clamp + gateway-503 + uncounted-cancelled + ignore-retry-after",
        "time-budget 30m + evidence-guard 0.5",
        "time-budget 1.5h before keep-count",
        "always-only SERVER,TIMEOUT + jitter full",
        "always-except intrinsic + jitter equal",
        "fail-over b,c after 2 + jitter decorrelated",
        "fail-over b + jitter none",
        "token-bucket",
        "token-bucket 10 1",
        "retry-ratio 0.2",
        "breaker 5 30s wait",
        "breaker 5 30s",
    ] {
        let first = parse(&format!("dsh-default + {edits}"));
        assert!(first.fixes.any(), "{edits}");
        let again = parse(&format!("dsh-default + {}", first.fixes.words().join(" + ")));
        assert_eq!(again.fixes, first.fixes, "{edits}");
    }
}

#[test]
fn every_edit_has_its_line_of_help() {
    for (name, key) in EDITS {
        let error = parse_candidate(&format!("dsh-default + {name} ! ! ! ! !"), &|_| None);
        let takes_any_words = ["retry", "no-retry", "codes", "always-only", "always-except", "name"].contains(&name);
        match error {
            Err(error) => assert!(error.to_string().ends_with(&usage(key)), "{error}"),
            Ok(_) => assert!(takes_any_words, "{name}"),
        }
    }
}

#[test]
fn wrong_expressions_say_what_is_wrong() {
    let messages = [
        "",
        " + retry SERVER",
        "dsh-defualt",
        "nothing",
        "dsh-default@1.x",
        "dsh-default + maxRetires 3",
        "dsh-default + maxRetries many",
        "dsh-default + initialDelayMs 20s",
        "dsh-default + no-retry EMPTY_RESPONSE,RATE_LIMIT,SERVER,TIMEOUT,TRANSPORT",
    ]
    .map(refuse);
    let presets = crate::policy::presets::PRESET_NAMES.join(", ");
    let no_base = format!("an expression starts with a policy: a file's policy, \"current\", or one of {presets}");
    assert_eq!(
        messages,
        [
            no_base.as_str(),
            no_base.as_str(),
            "there is no policy \"dsh-defualt\" (did you mean \"dsh-default\"?)",
            "there is no policy \"nothing\"",
            "\"1.x\" is not a release number (expected a form such as 0.1.0-rc.7)",
            "there is no edit \"maxRetires 3\" (did you mean \"maxRetries\"?)",
            "\"maxRetries many\": expected maxRetries N",
            "dsh-default + initialDelayMs 20s.backoff.initialDelayMs must be less than or equal to maxDelayMs",
            "dsh-default + no-retry EMPTY_RESPONSE,RATE_LIMIT,SERVER,TIMEOUT,TRANSPORT.retryableCodes must not be empty",
        ]
    );
}

#[test]
fn a_library_preset_can_be_edited_though_the_harness_would_refuse_it() {
    assert_eq!(parse("tenacity + mode normal").policy.max_retries, 5);
}

#[test]
fn durations_have_units() {
    let found = ["250", "250ms", "1.5s", "30m", "5min", "2h", "3d", "-1", "s"].map(duration_ms);
    let expected = [
        Some(250.0),
        Some(250.0),
        Some(1500.0),
        Some(1_800_000.0),
        Some(300_000.0),
        Some(7_200_000.0),
        None,
        None,
        None,
    ];
    assert_eq!(found, expected);
}
