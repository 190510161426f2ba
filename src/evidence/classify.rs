//! One message through every release and through the catalogue, as `classify --format json` prints it.

use serde::Serialize;

use super::adapter_texts::adapter_code;
use super::classifiers::{HarnessCode, classify_deepseek, classify_pi_ai};
use super::codes::{FixableBy, Route, SupportedCode, retried_by_default};
use super::message::{deepseek_detail, json_body, leading_status};
use super::numbers::Numbers;
use super::releases::{KNOWN_RELEASES, ReleaseRules};
use super::supports::supports;

/// Schema of [`ClassifyReport`].
pub const CLASSIFY_SCHEMA: &str = "dsh-forensics/classify/v1";

/// A message to classify.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassifyInput<'t> {
    /// Plain text, a JSON body, or a status followed by either.
    pub text: &'t str,
    /// The HTTP status where it is known apart from the text.
    pub status: Option<u16>,
    /// Name of the provider as configured in the harness (`cerebras` has a rule of its own).
    pub provider: Option<&'t str>,
}

/// The code one release gives a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseVerdict {
    /// Harness version, or `later`.
    pub dsh: &'static str,
    /// Its pi-ai version.
    pub pi_ai: &'static str,
    /// Whether the pair of versions is a guess.
    pub assumed: bool,
    /// The adapter.
    pub route: Route,
    /// The code it writes.
    pub code: String,
    /// The rule that fired.
    pub rule: &'static str,
    /// The part of the text the rule matched.
    pub matched: Option<String>,
    /// Whether the default policy retries the code.
    pub retried_by_default: bool,
}

/// A message as all releases and the evidence see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClassifyReport {
    /// Always [`CLASSIFY_SCHEMA`].
    pub schema: &'static str,
    /// The message as given.
    pub text: String,
    /// The status, from the text or as given.
    pub status: Option<u16>,
    /// Per release and route. Rows of `llm-deepseek` need a status, or a text that adapter writes itself:
    /// without either it would not have classified at all, and there are none.
    pub releases: Vec<ReleaseVerdict>,
    /// What the text supports.
    pub supported_code: SupportedCode,
    /// Who can fix it.
    pub fixable_by: FixableBy,
    /// The row of the catalogue that decided.
    pub pattern_id: &'static str,
    /// Numbers in the text.
    pub numbers: Numbers,
}

/// Classifies a message of which nothing but the text is known.
#[must_use]
pub fn classify_report(text: &str) -> ClassifyReport {
    classify_input(ClassifyInput { text, ..ClassifyInput::default() })
}

/// Classifies a message with what is known beside its text.
#[must_use]
pub fn classify_input(input: ClassifyInput<'_>) -> ClassifyReport {
    let written = leading_status(input.text);
    let status = input.status.or(written);
    let supported = supports(input.text, status, Route::PiAi);
    let mut releases = Vec::new();
    for release in KNOWN_RELEASES {
        let routes = [Route::PiAi, Route::DeepSeek].map(|route| (route, code_of(input, route, release.rules)));
        for (route, verdict) in routes {
            let Some(HarnessCode { code, rule, matched }) = verdict else {
                continue;
            };
            releases.push(ReleaseVerdict {
                dsh: release.dsh,
                pi_ai: release.pi_ai,
                assumed: release.assumed,
                route,
                retried_by_default: retried_by_default(&code),
                code: code.into_owned(),
                rule,
                matched,
            });
        }
    }
    ClassifyReport {
        schema: CLASSIFY_SCHEMA,
        text: input.text.to_owned(),
        status,
        releases,
        supported_code: supported.code,
        fixable_by: supported.fixable_by,
        pattern_id: supported.pattern_id,
        numbers: supported.numbers,
    }
}

/// The code that a release gives a message on a route; `None` where its adapter would not have classified it at all.
#[must_use]
pub fn code_of(input: ClassifyInput<'_>, route: Route, rules: ReleaseRules) -> Option<HarnessCode> {
    let written = leading_status(input.text);
    match route {
        Route::PiAi => {
            let thrown = thrown_text(input.text, input.status.filter(|_| written.is_none()));
            Some(adapter_code(&thrown, route).unwrap_or_else(|| classify_pi_ai(&thrown, rules, input.provider)))
        }
        Route::DeepSeek => adapter_code(input.text, route).or_else(|| {
            let status = input.status.or(written)?;
            Some(classify_deepseek(status, &provider_detail(input.text)))
        }),
    }
}

/// The text as pi-ai's clients throw it: a status known apart goes before it, and stands alone for an empty body.
fn thrown_text(text: &str, status: Option<u16>) -> String {
    match status {
        Some(status) if text.trim().is_empty() => format!("{status} status code (no body)"),
        Some(status) => format!("{status} {text}"),
        None => text.to_owned(),
    }
}

/// What `llm-deepseek` would read from the error body; a text that is no JSON stands for its message.
fn provider_detail(text: &str) -> String {
    if super::bodyless::is_bodyless(text).is_some() {
        return String::new();
    }
    match json_body(text) {
        Some(body) => deepseek_detail(&body),
        None => {
            let text = text.trim_start();
            let after_status = leading_status(text).and_then(|_| text.get(3..));
            after_status.filter(|_| text.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(text).trim().to_owned()
        }
    }
}
