//! Texts that the harness's adapters write themselves, with the codes they set.

use super::classifiers::HarnessCode;
use super::codes::Route;
use super::wording::WordingRule;

/// Texts that an adapter writes itself, with the code it sets beside them; no classifier sees these.
static ADAPTER_TEXTS: [(WordingRule, &str); 10] = [
    (
        WordingRule::new("adapter:stream-closed", r"^(SSE|SSE payload|pi-ai event) stream ended without"),
        "STREAM_CLOSED",
    ),
    (WordingRule::new("adapter:idle-timeout", r"^(pi-ai|DeepSeek) stream idle timeout after [0-9]+ms"), "TIMEOUT"),
    (WordingRule::new("adapter:no-content", "returned a completed response with no content$"), "EMPTY_RESPONSE"),
    (WordingRule::new("adapter:no-body", "^DeepSeek API returned no response body"), "EMPTY_RESPONSE"),
    (
        WordingRule::new("adapter:usage-overflow", "^pi-ai detected context overflow for model"),
        "CONTEXT_WINDOW_EXCEEDED",
    ),
    (
        WordingRule::new(
            "adapter:aborted",
            r"^Request was aborted\.?$|^pi-ai stream aborted|^(pi-ai|DeepSeek) request aborted by caller",
        ),
        "ABORTED",
    ),
    (WordingRule::new("adapter:malformed", "^malformed SSE payload:"), "MALFORMED_RESPONSE"),
    (WordingRule::new("adapter:transport", r"^DeepSeek API (request to|stream from) .+ failed"), "TRANSPORT"),
    (
        WordingRule::new("adapter:no-credential", "^llm-(deepseek|pi-ai): no (API key|credential) for"),
        "MISSING_CREDENTIAL",
    ),
    (WordingRule::new("adapter:unknown-model", "has no configured model"), "UNKNOWN_MODEL"),
];

/// The code of a text that an adapter of the given route writes itself; `None` when a classifier decides.
#[must_use]
pub fn adapter_code(text: &str, route: Route) -> Option<HarnessCode> {
    let (rule, code) = ADAPTER_TEXTS.iter().find(|(rule, _)| rule.find(text).is_some())?;
    let other = match route {
        Route::PiAi => ["DeepSeek", "SSE", "llm-deepseek"],
        Route::DeepSeek => ["pi-ai", "llm-pi-ai", "Request was aborted"],
    };
    if other.iter().any(|prefix| text.starts_with(prefix)) {
        return None;
    }
    Some(HarnessCode::of(code, rule.id, rule.find(text)))
}

/// Every rule of this file, for the test that compiles them all.
#[cfg(test)]
pub(crate) fn every_rule() -> impl Iterator<Item = &'static WordingRule> {
    ADAPTER_TEXTS.iter().map(|(rule, _)| rule)
}
