use super::recorded;
use crate::policy::model::RetryPolicy;
use crate::policy::settings::{Adapter, FileKind, read_settings};
use crate::policy::yaml::{to_cordis_patch_yaml, to_settings_yaml};

/// File, route, and the `policyKey` that the recorded logs of these settings carry.
const RECORDED: [(&str, &str, &str); 23] = [
    ("01a-clean-zstd", "mock-gateway", DEFAULT),
    ("01e-clean-deepseek", "deepseek-official", DEFAULT),
    (
        "04a-empty400-retryable",
        "mock-gateway",
        r#"["normal",5,["CONTEXT_WINDOW_EXCEEDED","EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],40,300,0.1]"#,
    ),
    (
        "04b-empty400-retryable-defaultbackoff",
        "mock-gateway",
        r#"["normal",5,["CONTEXT_WINDOW_EXCEEDED","EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]"#,
    ),
    ("06a-transient-deepseek", "deepseek-official", SHORT),
    ("06b-terminal-pi-ai", "mock-gateway", SHORT),
    (
        "06c-exhaust",
        "mock-gateway",
        r#"["normal",2,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],40,300,0.1]"#,
    ),
    ("07a-overflow-openai", "mock-gateway", DEFAULT),
    ("07c-overflow-1m", "mock-gateway", DEFAULT),
    ("07d-overflow-deepseek", "deepseek-official", DEFAULT),
    ("08a-pressure-then-empty400", "mock-gateway", DEFAULT),
    ("08c-summary-fails", "mock-gateway", SHORT),
    ("08i-compaction-deepseek", "deepseek-official", DEFAULT),
    ("09b-always", "mock-gateway", r#"["always",40,300,0.1]"#),
    ("10c-torn-frame", "mock-gateway", DEFAULT),
    (
        "11a-empty-response",
        "mock-gateway",
        r#"["normal",3,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],40,300,0.1]"#,
    ),
    (
        "11c-idle-timeout-deepseek",
        "deepseek-official",
        r#"["normal",2,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],40,300,0.1]"#,
    ),
    ("12a-big-zstd", "mock-gateway", SHORT),
    (
        "W1-A0",
        "mock-gateway",
        r#"["normal",5,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],100,2000,0.1]"#,
    ),
    (
        "W1-A1",
        "mock-gateway",
        r#"["normal",5,["CONTEXT_WINDOW_EXCEEDED","EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],100,2000,0.1]"#,
    ),
    (
        "W1-A2",
        "mock-gateway",
        r#"["normal",10,["CONTEXT_WINDOW_EXCEEDED","EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],100,4000,0.1]"#,
    ),
    (
        "W1-A3",
        "mock-gateway",
        r#"["normal",2,["CONTEXT_WINDOW_EXCEEDED","EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],100,2000,0.1]"#,
    ),
    ("W1-A4", "mock-gateway", r#"["always",100,2000,0.1]"#),
];
const DEFAULT: &str = r#"["normal",5,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]"#;
const SHORT: &str = r#"["normal",5,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],40,300,0.1]"#;

#[test]
fn settings_of_the_recordings_resolve_to_the_recorded_keys() {
    for (name, route, key) in RECORDED {
        let path = format!("{}/testdata/policy/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let file = read_settings(&text, FileKind::of(&path, &text), &recorded()).unwrap();
        let found: Vec<(String, String)> = file
            .routes
            .iter()
            .map(|found| (found.route.clone(), found.policy.as_ref().unwrap().policy_key()))
            .collect();
        assert_eq!(found, [(route.to_owned(), key.to_owned())], "{name}");
        assert_eq!(file.misplaced, [], "{name}");
    }
}

#[test]
fn every_key_knows_its_line() {
    let text = "llm-pi-ai:
  providers:
    a:
      apiKeyEnv: A
      retryPolicy:
        mode: normal
        maxRetries: 7
        backoff: { maxDelayMs: 9000,
                   jitterRatio: 0 }
    b: {}
";
    let file = read_settings(text, FileKind::Settings, &recorded()).unwrap();
    let [a, b] = &file.routes[..] else { panic!("two routes") };
    assert_eq!((a.adapter, a.line, b.line), (Adapter::PiAi, 3, 10));
    let lines = ["retryPolicy", "mode", "maxRetries", "backoff", "maxDelayMs", "jitterRatio", "initialDelayMs"];
    assert_eq!(lines.map(|key| a.line_of(key)), [5, 6, 7, 8, 8, 9, 5]);
    assert_eq!(b.line_of("maxRetries"), 10);
    assert_eq!(file.policy_of("a").unwrap().max_retries, 7);
    assert_eq!(file.policy_of("b"), Some(&RetryPolicy::default()));
    assert_eq!(file.policy_of("c"), None);
}

#[test]
fn rows_of_plugins_are_read_wherever_they_stand() {
    let text = "# profile patch
- id: hmr
  disabled: true
- insert:
    - id: gateways
      name: '@deepseek-ai/dsh-llm-pi-ai'
      config:
        providers:
          acme:
            apiKeyEnv: !!js process.env.ACME
            retryPolicy: { mode: always }
- id: llm-deepseek
  config:
    retryPolicy:
      mode: normal
      maxRetries: 9
- id: base
  name: '@deepseek-ai/cordis-plugin-include'
  config:
    patches:
      - id: llm-retry
        name: '@deepseek-ai/dsh-llm-retry'
        config:
          retryPolicy: { mode: always }
";
    assert_eq!(FileKind::of("home/cordis.patch.yml", text), FileKind::Cordis);
    assert_eq!(FileKind::of("overlay.yml", text), FileKind::Cordis);
    let file = read_settings(text, FileKind::Cordis, &recorded()).unwrap();
    let found: Vec<(&str, usize, String)> = file
        .routes
        .iter()
        .map(|route| (route.route.as_str(), route.line_of("mode"), route.policy.as_ref().unwrap().policy_key()))
        .collect();
    assert_eq!(
        found,
        [
            ("acme", 11, r#"["always",500,10000,0.1]"#.to_owned()),
            (
                "deepseek-official",
                15,
                r#"["normal",9,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]"#
                    .to_owned()
            ),
        ]
    );
    let misplaced: Vec<(usize, bool)> = file.misplaced.iter().map(|found| (found.line, found.under_executor)).collect();
    assert_eq!(misplaced, [(24, true)]);
}

#[test]
fn policies_toml_holds_expressions_and_tables() {
    let text = r#"[policies]
patient = "dsh-default + maxRetries 10 + maxDelayMs 30s"
broken = "dsh-defualt"
number = 5

[policies.table]
from = "patient"
maxRetries = 0x10
retryableCodes = ["SERVER"]
backoff.jitterRatio = 0
edits = ["retry TIMEOUT", "expose-retry-after"]

[policies.refused]
maxRetries = -1
"#;
    assert_eq!(FileKind::of("policies.toml", text), FileKind::Policies);
    let file = read_settings(text, FileKind::Policies, &recorded()).unwrap();
    let found: Vec<String> = file
        .named
        .iter()
        .map(|named| match &named.candidate {
            Ok(it) => format!("{} {} {} {:?}", named.line, it.name, it.policy.policy_key(), it.fixes.words()),
            Err(error) => format!("{} {}: {error}", named.line, named.name),
        })
        .collect();
    assert_eq!(
        found,
        [
            r#"2 patient ["normal",10,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,30000,0.1] []"#,
            "3 broken: there is no policy \"dsh-defualt\" (did you mean \"dsh-default\"?)",
            "4 number: a policy is an expression in quotes, or a table",
            r#"6 table ["normal",16,["SERVER","TIMEOUT"],500,30000,0] ["expose-retry-after"]"#,
            "13 refused: policy \"refused\".maxRetries must be a non-negative safe integer",
        ]
    );
}

#[test]
fn unreadable_text_names_its_line() {
    let yaml = read_settings("a: 1\nb: [1\nc: 2\n", FileKind::Settings, &recorded()).unwrap_err();
    let twice = read_settings("a: 1\nb: 2\na: 3\n", FileKind::Settings, &recorded()).unwrap_err();
    let toml = read_settings("a = 1\nb = = 2\n", FileKind::Policies, &recorded()).unwrap_err();
    assert_eq!((twice.line, toml.line), (3, 2));
    assert!(yaml.line >= 2, "{yaml}");
    assert!(read_settings("# nothing\n\n", FileKind::Settings, &recorded()).unwrap().routes.is_empty());
}

/// The story of the bodyless 400: one more code, and the five defaults kept.
#[test]
fn settings_to_paste_read_back_as_the_same_policy() {
    let mut policy = RetryPolicy::default();
    policy.retryable_codes.insert("CONTEXT_WINDOW_EXCEEDED".to_owned());
    let text = to_settings_yaml("mock-gateway", &policy);
    assert_eq!(
        text,
        "llm-pi-ai:
  providers:
    mock-gateway:
      retryPolicy:
        mode: normal
        maxRetries: 5
        retryableCodes:
          - EMPTY_RESPONSE
          - RATE_LIMIT
          - SERVER
          - TIMEOUT
          - TRANSPORT
          - CONTEXT_WINDOW_EXCEEDED
        backoff:
          initialDelayMs: 500
          maxDelayMs: 10000
          jitterRatio: 0.1
"
    );
    for route in ["mock-gateway", "deepseek-official", "on", "3com: x", "a b\"c"] {
        let text = to_settings_yaml(route, &policy);
        let file = read_settings(&text, FileKind::Settings, &recorded()).unwrap();
        assert_eq!(file.policy_of(route), Some(&policy), "{text}");
    }
    let always = RetryPolicy { mode: crate::policy::RetryMode::Always, ..RetryPolicy::default() };
    let patch = to_cordis_patch_yaml(&always);
    assert_eq!(
        patch,
        "- id: llm-deepseek
  name: '@deepseek-ai/dsh-llm-deepseek'
  config:
    retryPolicy:
      mode: always
      backoff:
        initialDelayMs: 500
        maxDelayMs: 10000
        jitterRatio: 0.1
"
    );
    let file = read_settings(&patch, FileKind::Cordis, &recorded()).unwrap();
    assert_eq!(file.policy_of("deepseek-official"), Some(&always));
}

#[test]
fn files_as_people_save_them_are_read() {
    let windows = "\u{feff}# 重试策略：网关不稳定\r\nllm-pi-ai:\r\n  providers:\r\n    网关:   # 中文名\r\n      retryPolicy:\r\n        mode: normal\r\n        maxRetries: 7\r\n";
    let file = read_settings(windows, FileKind::Settings, &recorded()).unwrap();
    assert_eq!((file.routes[0].route.as_str(), file.routes[0].line), ("网关", 4));
    assert_eq!(file.policy_of("网关").unwrap().max_retries, 7);
    let anchors = "llm-pi-ai:\n  providers:\n    a:\n      retryPolicy: &p\n        mode: always\n    b:\n      retryPolicy: *p\n";
    let file = read_settings(anchors, FileKind::Settings, &recorded()).unwrap();
    assert_eq!(file.policy_of("a"), file.policy_of("b"));
    assert!(file.policy_of("b").is_some());
    let toml = "\u{feff}# 我的策略\r\n[policies]\r\n\t\"耐心\" = \"dsh-default + maxRetries 10\"\r\n";
    let file = read_settings(toml, FileKind::Policies, &recorded()).unwrap();
    assert_eq!((file.named[0].name.as_str(), file.named[0].line), ("耐心", 3));
    assert_eq!(file.named[0].candidate.as_ref().unwrap().policy.max_retries, 10);
}

#[test]
fn numbers_beyond_a_timer_are_refused_at_their_line() {
    for number in ["99999999999999999999999999999999999999999", "1e400", "9007199254740993", "-1", "0x1F4x"] {
        let text = format!("llm-deepseek:\n  retryPolicy:\n    mode: normal\n    maxRetries: {number}\n");
        let file = read_settings(&text, FileKind::Settings, &recorded()).unwrap();
        let refusals = file.routes[0].policy.as_ref().unwrap_err();
        assert_eq!(refusals.iter().map(|refusal| refusal.line).collect::<Vec<_>>(), [4], "{number}");
    }
}

#[test]
fn a_tab_a_second_document_and_a_bomb_are_named_with_their_line() {
    let error = |text: &str, kind| read_settings(text, kind, &recorded()).unwrap_err();
    let tab = error("- id: llm-deepseek\n\tname: x\n", FileKind::Cordis);
    assert_eq!(tab.line, 2, "{tab}");
    let tab = error("llm-pi-ai:\n  providers:\n\ta: {}\n", FileKind::Settings);
    assert_eq!(tab.line, 3, "{tab}");
    let two = error("a: 1\n---\nb: 2\n", FileKind::Settings);
    assert_eq!(two.message, "more than one document (---) in the file");
    let twice = error("a: 1\na: 2\n", FileKind::Settings);
    assert!(twice.line == 2 && !twice.message.contains("Options"), "{twice}");
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for letter in 'b'..='k' {
        let before = char::from(letter as u8 - 1);
        bomb.push_str(&format!("{letter}: &{letter} [{}]\n", vec![format!("*{before}"); 9].join(", ")));
    }
    let bomb = error(&bomb, FileKind::Settings);
    assert!(bomb.line > 0 && bomb.message.starts_with("too deep"), "{bomb}");
    assert!(error(&"[".repeat(20_000), FileKind::Cordis).line > 0);
    assert_eq!(error("[policies]\na = 'x'\na = 'y'\n", FileKind::Policies).line, 3);
}
