use super::recorded;
use crate::policy::lint::{ArchiveFacts, LintHit, RULES, RouteFacts, lint_text};
use crate::policy::release::Release;
use crate::report::lang::Language;

fn render(hits: &[LintHit]) -> String {
    hits.iter()
        .map(|hit| {
            let [message, fix] = [&hit.message, &hit.fix].map(|words| Language::English.render(words));
            format!("{} {:?} {}: {message} -> {fix}\n", hit.line, hit.severity, hit.rule)
        })
        .collect()
}

fn settings(text: &str) -> String {
    render(&lint_text("settings.yaml", text, None, &recorded()))
}

#[test]
fn what_the_harness_refuses_is_said_in_its_words() {
    assert_eq!(
        settings(REFUSED),
        r#"4 Error policy-not-a-map: Cannot read properties of null (reading 'mode') -> write mode: normal below it, or take the key away
6 Error policy-not-a-map: llm-pi-ai: provider "word" retryPolicy.mode must be "normal" or "always" -> write mode: normal below it, or take the key away
8 Error policy-mode: llm-pi-ai: provider "modeless" retryPolicy.mode must be "normal" or "always" -> write mode: normal or mode: always
10 Error policy-unknown-key: llm-pi-ai: provider "counts" retryPolicy: unknown key "maxRetires" -> did you mean maxRetries?
10 Error policy-unknown-key: llm-pi-ai: provider "counts" retryPolicy: unknown key "maxDelayMs" -> move maxDelayMs below backoff:
10 Error policy-max-retries: llm-pi-ai: provider "counts" retryPolicy.maxRetries must be a non-negative safe integer -> write a whole number from 0, such as 5
12 Error policy-codes: llm-pi-ai: provider "codes" retryPolicy.retryableCodes must not be empty -> list the codes by name, or take the key away for the default (EMPTY_RESPONSE, RATE_LIMIT, SERVER, TIMEOUT, TRANSPORT)
16 Error policy-duplicate-codes: llm-pi-ai: provider "more-codes" retryPolicy.retryableCodes must not contain duplicates -> take the second one away
16 Error policy-codes: llm-pi-ai: provider "more-codes" retryPolicy.retryableCodes must contain only non-empty strings -> list the codes by name, or take the key away for the default (EMPTY_RESPONSE, RATE_LIMIT, SERVER, TIMEOUT, TRANSPORT)
16 Error policy-codes: llm-pi-ai: provider "more-codes" retryPolicy.retryableCodes must contain only non-empty strings -> list the codes by name, or take the key away for the default (EMPTY_RESPONSE, RATE_LIMIT, SERVER, TIMEOUT, TRANSPORT)
21 Error policy-initial-delay: llm-pi-ai: provider "delays" retryPolicy.backoff.initialDelayMs must be a positive finite number no greater than 2147483647 -> write milliseconds above 0 and at most 2147483647
22 Error policy-max-delay: llm-pi-ai: provider "delays" retryPolicy.backoff.maxDelayMs must be a positive finite number no greater than 2147483647 -> write milliseconds above 0 and at most 2147483647
23 Error policy-jitter: llm-pi-ai: provider "delays" retryPolicy.backoff.jitterRatio must be between 0 and 1 -> write a number from 0 to 1, such as 0.1
24 Error policy-unknown-key: llm-pi-ai: provider "delays" retryPolicy.backoff: unknown key "initialDelay" -> did you mean initialDelayMs?
26 Error policy-delay-order: llm-pi-ai: provider "order" retryPolicy.backoff.initialDelayMs must be less than or equal to maxDelayMs -> raise maxDelayMs or lower initialDelayMs (10000 and 500 without a value)
28 Error policy-removed-field: llm-pi-ai: provider "removed" sets "provider", which moved to the providers dict key -> take it away: the key above is the provider's name
29 Error policy-removed-field: llm-pi-ai: provider "removed" sets maxRetries or maxRetryDelayMs, which were removed; compose agent recovery with dsh-llm-retry -> write retryPolicy.maxRetries instead
30 Error policy-removed-field: llm-pi-ai: provider "removed" sets maxRetries or maxRetryDelayMs, which were removed; compose agent recovery with dsh-llm-retry -> write retryPolicy.backoff.maxDelayMs instead
31 Error route-taken: an adapter for provider "deepseek-official" is already registered -> name the provider differently, or set the policy of llm-deepseek
"#
    );
}

#[test]
fn policies_that_nothing_reads_are_found_and_sent_home() {
    assert_eq!(
        settings(PLACES),
        r#"1 Error policy-wrong-place: nothing reads retryPolicy -> move it to llm-pi-ai.providers.<name>.retryPolicy, or llm-deepseek.retryPolicy for deepseek-official
3 Error policy-wrong-place: nothing reads llm-retry.retryPolicy; as a plugin's configuration the harness refuses it: llm-retry: retryPolicy belongs under each provider configuration -> move it to llm-pi-ai.providers.<name>.retryPolicy, or llm-deepseek.retryPolicy for deepseek-official
4 Error policy-wrong-place: nothing reads the section "llm-piai" -> did you mean llm-pi-ai?
6 Error policy-wrong-place: nothing reads llm-pi-ai.retryPolicy -> move it to llm-pi-ai.providers.<name>.retryPolicy, or llm-deepseek.retryPolicy for deepseek-official
9 Error policy-wrong-place: nothing reads llm-pi-ai.providers.a.retry_policy -> write retryPolicy, at llm-pi-ai.providers.<name>.retryPolicy, or llm-deepseek.retryPolicy for deepseek-official
10 Error policy-wrong-place: nothing reads retryPolciy of route a -> write retryPolicy
11 Error policy-wrong-place: nothing reads maxDelayMs of route a -> write retryPolicy.backoff.maxDelayMs
14 Error policy-wrong-place: nothing reads llm-pi-ai.providers.a.models.0.retryPolicy -> move it to llm-pi-ai.providers.<name>.retryPolicy, or llm-deepseek.retryPolicy for deepseek-official
"#
    );
}

#[test]
fn traps_that_the_file_alone_shows() {
    assert_eq!(
        settings(TRAPS),
        r#"6 Warning policy-drops-default-codes: route gateway no longer retries EMPTY_RESPONSE, SERVER, TIMEOUT, TRANSPORT -> add EMPTY_RESPONSE, SERVER, TIMEOUT, TRANSPORT
8 Warning policy-unknown-code: no adapter of the harness writes the code TIMEOUTS -> did you mean TIMEOUT?
12 Warning policy-always-intrinsic: route other retries every failure without end, a wrong key or an empty account included -> write mode: normal with a large maxRetries and the codes that heal with time
13 Warning policy-ignored-field: mode always ignores maxRetries -> take maxRetries away, or write mode: normal
17 Note policy-no-retries: route gatway never retries -> take maxRetries away for the default (5; 2 up to 0.1.0-rc.7)
"#
    );
}

#[test]
fn traps_that_the_archive_shows() {
    assert_eq!(
        render(&lint_text("settings.yaml", TRAPS, Some(&facts()), &recorded())),
        r#"1 Note route-without-policy: route spare failed 2 times and has no retryPolicy here -> give it one, or leave it at the default
4 Warning policy-retry-after-above-cap: route gateway: Retry-After of up to 30 s was seen, maxDelayMs is 10 s -> write maxDelayMs: 30000 or more
4 Warning policy-shorter-than-outages: route gateway: 5 retries wait 15.5 s in all (at most 17.05 s); 2 of 3 outages were longer, the longest 62 s -> write maxRetries: 11, which waits longer than the longest of them
6 Warning policy-drops-default-codes: route gateway no longer retries EMPTY_RESPONSE, SERVER, TIMEOUT, TRANSPORT -> add EMPTY_RESPONSE, SERVER, TIMEOUT, TRANSPORT
6 Warning policy-misses-passing-code: route gateway: 6 failures healed with time by the evidence, and this policy gives up on their code at once: CONTEXT_WINDOW_EXCEEDED (6) -> write retryableCodes: [RATE_LIMIT, HTTP_529, TIMEOUTS, CONTEXT_WINDOW_EXCEEDED]
8 Warning policy-unknown-code: no adapter of the harness writes the code TIMEOUTS -> did you mean TIMEOUT?
11 Warning policy-retry-after-above-cap: route other: Retry-After of up to 12 s was seen, maxDelayMs is 10 s -> write maxDelayMs: 12000 or more
12 Warning policy-always-intrinsic: route other retries every failure without end; 4 of its failures do not heal by waiting: AUTH (3), QUOTA (1) -> write mode: normal with retryableCodes EMPTY_RESPONSE, RATE_LIMIT, SERVER, TIMEOUT, TRANSPORT, CONTEXT_WINDOW_EXCEEDED
13 Warning policy-ignored-field: mode always ignores maxRetries -> take maxRetries away, or write mode: normal
14 Warning route-not-seen: no request of the archive went to route gatway -> did you mean gateway?
17 Note policy-no-retries: route gatway never retries -> take maxRetries away for the default (5; 2 up to 0.1.0-rc.7)
"#
    );
}

#[test]
fn the_executor_takes_no_settings() {
    assert_eq!(
        render(&lint_text("cordis.patch.yml", CORDIS, None, &recorded())),
        r#"4 Error policy-unknown-key: llm-retry: unknown key "maxRetries" -> take it away: this plugin has no settings; each provider has its retryPolicy
5 Error policy-wrong-place: llm-retry: retryPolicy belongs under each provider configuration -> move it to llm-pi-ai.providers.<name>.retryPolicy, or llm-deepseek.retryPolicy for deepseek-official
"#
    );
}

#[test]
fn where_the_schema_refuses_first_the_console_shows_its_sentence() {
    let text = "llm-deepseek:\n  retryPolicy: { mode: normal, maxRetries: -1, backoff: { initialDelayMs: 0 } }\n";
    let hits = lint_text("settings.yaml", text, None, &recorded());
    let words: Vec<String> = hits.iter().map(|hit| Language::English.render(&hit.message)).collect();
    let shown: Vec<(&str, Option<&str>)> =
        words.iter().zip(&hits).map(|(words, hit)| (words.as_str(), hit.console.as_deref())).collect();
    assert_eq!(
        shown,
        [
            (
                "llm-deepseek: retryPolicy.maxRetries must be a non-negative safe integer",
                Some(
                    "$.retryPolicy expected { mode: \"normal\", maxRetries?: number, retryableCodes?: string[], \
                     backoff?: { initialDelayMs?: number, maxDelayMs?: number, jitterRatio?: number } } | \
                     { mode: \"always\", backoff?: { initialDelayMs?: number, maxDelayMs?: number, \
                     jitterRatio?: number } } but got \
                     {\"mode\":\"normal\",\"maxRetries\":-1,\"backoff\":{\"initialDelayMs\":0}}"
                )
            ),
            (
                "llm-deepseek: retryPolicy.backoff.initialDelayMs must be a positive finite number no greater than \
                 2147483647",
                None
            ),
        ]
    );
}

#[test]
fn always_with_a_count_is_refused_up_to_rc_7_and_ignored_later() {
    let text = "llm-deepseek:\n  retryPolicy:\n    mode: always\n    maxRetries: 3\n";
    let rules = |release: &str| -> Vec<&'static str> {
        let release: Release = release.parse().unwrap();
        lint_text("settings.yaml", text, None, &release).iter().map(|hit| hit.rule).collect()
    };
    assert_eq!(rules("0.1.0-rc.7"), ["policy-unknown-key"]);
    assert_eq!(rules("0.1.0-rc.8"), ["policy-always-intrinsic", "policy-ignored-field"]);
}

#[test]
fn text_that_cannot_be_read_is_a_hit_with_its_line() {
    let hits = lint_text("settings.yaml", "a: 1\nb: 2\na: 3\n", None, &recorded());
    assert_eq!(hits.iter().map(|hit| (hit.rule, hit.line)).collect::<Vec<_>>(), [("settings-unreadable", 3)]);
    let list = settings("llm-pi-ai:\n  providers:\n  - provider: a\n");
    assert_eq!(
        list,
        "2 Error policy-removed-field: llm-pi-ai: providers is now a dict keyed by provider route, not an array of \
         profiles -> write each provider's name as a key under providers\n"
    );
    assert_eq!(
        settings("llm-pi-ai:\nllm-deepseek: 5\n"),
        "1 Error settings-unreadable: settings section \"llm-pi-ai\" must be an object of keys -> give the section its \
         keys, or take it away\n2 Error settings-unreadable: settings section \"llm-deepseek\" must be an object of \
         keys -> give the section its keys, or take it away\n"
    );
}

#[test]
fn own_policies_are_checked_too() {
    let text = "[policies]\na = 'dsh-default + maxRetires 3'\n[policies.b]\nmode = 'sometimes'\n";
    assert_eq!(
        render(&lint_text("policies.toml", text, None, &recorded())),
        "2 Error policy-entry: policy \"a\": there is no edit \"maxRetires 3\" (did you mean \"maxRetries\"?) -> see \
         the list of edits and presets (policy schedule --list)\n4 Error policy-mode: policy \"b\".mode must be \"normal\" or \"always\" -> \
         write mode: normal or mode: always\n"
    );
}

#[test]
fn settings_without_faults_have_no_hits() {
    let good =
        "llm-pi-ai:\n  providers:\n    gateway:\n      retryPolicy: { mode: normal, maxRetries: 10 }\nother: 1\n";
    assert_eq!(settings(good), "");
    let directory = format!("{}/testdata/policy", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let hits = settings(&std::fs::read_to_string(&path).unwrap());
        let always = path.ends_with("09b-always.yaml") || path.ends_with("W1-A4.yaml");
        assert_eq!(hits.lines().count(), usize::from(always), "{}: {hits}", path.display());
    }
}

#[test]
fn rules_have_one_name_each_and_every_hit_has_a_rule() {
    let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), RULES.len());
    assert!(ids.iter().all(|id| { id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') }));
    let texts = [REFUSED, PLACES, TRAPS];
    for hit in texts.iter().flat_map(|text| lint_text("settings.yaml", text, Some(&facts()), &recorded())) {
        let rule = RULES.iter().find(|rule| rule.id == hit.rule).unwrap();
        assert_eq!(rule.severity, hit.severity);
        assert!(hit.line > 0, "{hit:?}");
        for language in [Language::English, Language::Chinese] {
            assert!(
                ![&hit.message, &hit.fix, &hit.reason].map(|words| language.render(words)).contains(&String::new())
            );
        }
    }
}

const CORDIS: &str = "- id: llm-retry
  name: '@deepseek-ai/dsh-llm-retry'
  config:
    maxRetries: 3
    retryPolicy: { mode: always }
";
const REFUSED: &str = "llm-pi-ai:
  providers:
    empty:
      retryPolicy:
    word:
      retryPolicy: fast
    modeless:
      retryPolicy: { maxRetries: 3 }
    counts:
      retryPolicy: { mode: normal, maxRetries: 1.5, maxRetires: 2, maxDelayMs: 9 }
    codes:
      retryPolicy: { mode: normal, retryableCodes: [] }
    more-codes:
      retryPolicy:
        mode: normal
        retryableCodes: [SERVER, SERVER, '', 429]
    delays:
      retryPolicy:
        mode: always
        backoff:
          initialDelayMs: 0
          maxDelayMs: 3000000000
          jitterRatio: 1.1
          initialDelay: 1
    order:
      retryPolicy: { mode: normal, backoff: { initialDelayMs: 20000 } }
    removed:
      provider: removed
      maxRetries: 3
      maxRetryDelayMs: 1000
    deepseek-official: {}
";
const PLACES: &str = "retryPolicy: { mode: always }
llm-retry:
  retryPolicy: { mode: always }
llm-piai: {}
llm-pi-ai:
  retryPolicy: { mode: always }
  providers:
    a:
      retry_policy: { mode: always }
      retryPolciy: { mode: always }
      maxDelayMs: 5
      models:
      - id: x
        retryPolicy: { mode: always }
";
const TRAPS: &str = "llm-pi-ai:
  providers:
    gateway:
      retryPolicy:
        mode: normal
        retryableCodes:
        - RATE_LIMIT
        - TIMEOUTS
        - HTTP_529
    other:
      retryPolicy:
        mode: always
        maxRetries: 3
    gatway:
      retryPolicy:
        mode: normal
        maxRetries: 0
";
fn facts() -> ArchiveFacts {
    let counts = |codes: &[(&str, u64)]| codes.iter().map(|(code, n)| ((*code).to_owned(), *n)).collect();
    let gateway = RouteFacts {
        attempts: 90,
        failures: 20,
        codes: counts(&[("RATE_LIMIT", 14), ("CONTEXT_WINDOW_EXCEEDED", 6)]),
        passing: counts(&[("RATE_LIMIT", 14), ("CONTEXT_WINDOW_EXCEEDED", 6)]),
        max_retry_after_ms: Some(30_000.0),
        outages_ms: vec![3000.0, 62_000.0, 18_000.0],
        ..RouteFacts::default()
    };
    let other = RouteFacts {
        attempts: 9,
        failures: 7,
        codes: counts(&[("AUTH", 3), ("QUOTA", 1), ("CONTEXT_WINDOW_EXCEEDED", 3)]),
        intrinsic: counts(&[("AUTH", 3), ("QUOTA", 1)]),
        max_retry_after_ms: Some(12_000.0),
        ..RouteFacts::default()
    };
    let spare = RouteFacts { attempts: 4, failures: 2, ..RouteFacts::default() };
    ArchiveFacts {
        routes: [("gateway", gateway), ("other", other), ("spare", spare)]
            .into_iter()
            .map(|(name, facts)| (name.to_owned(), facts))
            .collect(),
    }
}
