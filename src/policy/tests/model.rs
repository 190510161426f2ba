use crate::policy::model::{Backoff, RetryMode, RetryPolicy, js_number};
use crate::policy::release::Release;

#[test]
fn two_retries_up_to_rc_7_and_five_later() {
    let retries = |release: &str| RetryPolicy::default_for(&release.parse().unwrap()).max_retries;
    let releases =
        ["0.1.0-alpha.3", "0.1.0-rc.5", "v0.1.0-rc.7", "0.1.0-rc.8", "0.1.0-rc.10", "dsh-v0.1.0", "0.1.1-rc.2"];
    assert_eq!(releases.map(retries), [2, 2, 2, 5, 5, 5, 5]);
}

#[test]
fn releases_sort_as_semantic_versions() {
    let mut releases: Vec<Release> =
        ["0.1.1", "0.1.0", "0.1.1-rc.2", "0.1.7-alpha.2", "0.1.0-rc.10", "0.1.0-rc.7", "0.1.0-rc"]
            .map(|text| text.parse().unwrap())
            .to_vec();
    releases.sort();
    let texts: Vec<String> = releases.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["0.1.0-rc", "0.1.0-rc.7", "0.1.0-rc.10", "0.1.0", "0.1.1-rc.2", "0.1.1", "0.1.7-alpha.2"]);
    let refused: Vec<bool> =
        ["", "1.2", "1.2.3.4", "1.x.3", "1.2.3-"].iter().map(|text| text.parse::<Release>().is_err()).collect();
    assert_eq!(refused, [true; 5]);
}

#[test]
fn keys_recorded_by_the_harness_round_trip() {
    for key in [
        r#"["normal",5,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]"#,
        r#"["normal",2,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],40,300,0.1]"#,
        r#"["normal",5,["CONTEXT_WINDOW_EXCEEDED","EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],100,2000,0.1]"#,
        r#"["always",40,300,0.1]"#,
        r#"["normal",0,["A\"B\u001f"],0.0000012,1e-7,0]"#,
    ] {
        assert_eq!(RetryPolicy::from_policy_key(key).unwrap().policy_key(), key);
    }
    let default = r#"["normal",5,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]"#;
    assert_eq!(RetryPolicy::from_policy_key(default), Some(RetryPolicy::default()));
}

#[test]
fn other_texts_are_no_keys() {
    for text in [
        "",
        "null",
        "[]",
        r#"["always",1,2]"#,
        r#"["sometimes",1,2,0]"#,
        r#"["normal",1,2,3,4,0]"#,
        r#"["always",1,2,0,9]"#,
    ] {
        assert_eq!(RetryPolicy::from_policy_key(text), None, "{text}");
    }
}

#[test]
fn codes_sort_by_utf_16_as_in_javascript() {
    // U+1F600 is two surrogates (0xD83D…) and comes before U+FF21 there, after it by code point.
    let policy = RetryPolicy {
        retryable_codes: ["\u{FF21}", "\u{1F600}"].map(str::to_owned).into_iter().collect(),
        ..RetryPolicy::default()
    };
    assert_eq!(policy.policy_key(), "[\"normal\",5,[\"\u{1F600}\",\"\u{FF21}\"],500,10000,0.1]");
}

#[test]
fn numbers_read_as_in_javascript() {
    let texts = [0.0, -0.0, 1.0, 0.1, 1e20, 1e21, 1.5e300, 0.000_001, 1.5e-7, 98.705_331_536_242_04, f64::INFINITY]
        .map(js_number);
    assert_eq!(
        texts,
        [
            "0",
            "0",
            "1",
            "0.1",
            "100000000000000000000",
            "1e+21",
            "1.5e+300",
            "0.000001",
            "1.5e-7",
            "98.70533153624204",
            "null"
        ]
    );
}

#[test]
fn codes_stand_defaults_first_and_dropped_ones_are_named() {
    let policy = RetryPolicy {
        retryable_codes: ["TRANSPORT", "AUTH", "RATE_LIMIT"].map(str::to_owned).into_iter().collect(),
        ..RetryPolicy::default()
    };
    assert_eq!(policy.codes_in_order(), ["RATE_LIMIT", "TRANSPORT", "AUTH"]);
    assert_eq!(policy.dropped_default_codes(), ["EMPTY_RESPONSE", "SERVER", "TIMEOUT"]);
    let always = RetryPolicy { mode: RetryMode::Always, backoff: Backoff::default(), ..policy };
    assert_eq!(always.dropped_default_codes(), Vec::<&str>::new());
}
