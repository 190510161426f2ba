//! The harness's own classifiers, as the releases have them, with the rule that fired.
//!
//! Facts: harness sources `0.1.0-rc.7` to `0.1.1-rc.2`, and the overflow list of pi-ai 0.84.1. The expressions
//! are written anew; where JavaScript and Rust differ (`\b`, `.` and line ends) they follow JavaScript.

use std::borrow::Cow;

use super::releases::{BranchOrder, PiAiRules, ReleaseRules};
use super::wording::{WordingRule, first_match};

/// A code as the harness assigns it, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarnessCode {
    /// The code written into the log, such as `RATE_LIMIT` or `HTTP_404`.
    pub code: Cow<'static, str>,
    /// Id of the rule that fired, such as `pi-ai:429`.
    pub rule: &'static str,
    /// The part of the text the rule matched; `None` when a status or the fallback decided.
    pub matched: Option<String>,
}

impl HarnessCode {
    pub(crate) fn of(code: &'static str, rule: &'static str, matched: Option<&str>) -> Self {
        Self { code: Cow::Borrowed(code), rule, matched: matched.map(str::to_owned) }
    }
}

/// Overflow wordings of pi-ai, in its order.
static PI_AI_OVERFLOW: [WordingRule; 25] = [
    WordingRule::new("pi-ai-overflow:prompt-is-too-long", "(?i)prompt is too long"),
    WordingRule::new("pi-ai-overflow:request-too-large", "(?i)request_too_large"),
    WordingRule::new("pi-ai-overflow:bedrock-input", "(?i)input is too long for requested model"),
    WordingRule::new("pi-ai-overflow:openai-window", "(?i)exceeds the context window"),
    WordingRule::new(
        "pi-ai-overflow:litellm",
        r"(?i)exceeds (the )?(model'?s )?maximum context length( of [0-9,]+ tokens?|\s*\([0-9,]+\))",
    ),
    WordingRule::new("pi-ai-overflow:gemini", r"(?i)input token count[^\n\r\u{2028}\u{2029}]*exceeds the maximum"),
    WordingRule::new("pi-ai-overflow:xai", "(?i)maximum prompt length is [0-9]"),
    WordingRule::new("pi-ai-overflow:groq", "(?i)reduce the length of the messages"),
    WordingRule::new("pi-ai-overflow:max-context", "(?i)maximum context length is [0-9]+ tokens"),
    WordingRule::new("pi-ai-overflow:poolside", "(?i)exceeds (the )?maximum allowed input length of [0-9,]+ tokens?"),
    WordingRule::new(
        "pi-ai-overflow:together",
        r"(?i)input \([0-9]+ tokens\) is longer than the model'?s context length \([0-9]+ tokens\)",
    ),
    WordingRule::new("pi-ai-overflow:copilot", "(?i)exceeds the limit of [0-9]"),
    WordingRule::new("pi-ai-overflow:llama-cpp", "(?i)exceeds the available context size"),
    WordingRule::new("pi-ai-overflow:lm-studio", "(?i)greater than the context length"),
    WordingRule::new("pi-ai-overflow:minimax", "(?i)context window exceeds limit"),
    WordingRule::new("pi-ai-overflow:kimi", "(?i)exceeded model token limit"),
    WordingRule::new("pi-ai-overflow:mistral", "(?i)too large for model with [0-9]+ maximum context length"),
    WordingRule::new(
        "pi-ai-overflow:ds4",
        "(?i)prompt has [0-9,]+ tokens?, but the configured context size is [0-9,]+ tokens?",
    ),
    WordingRule::new("pi-ai-overflow:zai", "(?i)model_context_window_exceeded"),
    WordingRule::new("pi-ai-overflow:ollama", "(?i)prompt too long; exceeded (max )?context length"),
    WordingRule::new("pi-ai-overflow:dashscope", "(?i)range of input length should be"),
    WordingRule::new("pi-ai-overflow:context-length-exceeded", "(?i)context[_ ]length[_ ]exceeded"),
    WordingRule::new("pi-ai-overflow:too-many-tokens", "(?i)too many tokens"),
    WordingRule::new("pi-ai-overflow:token-limit", "(?i)token limit exceeded"),
    // Never matches here: the rule depends on release and provider, see `pi_ai_overflow`.
    WordingRule::new("pi-ai-overflow:no-body", r"(?i)^4(00|13)\s*(status code)?\s*\(no body\)"),
];

/// Texts that pi-ai never takes for an overflow.
static PI_AI_NOT_OVERFLOW: [WordingRule; 3] = [
    WordingRule::new("pi-ai-exclusion:bedrock", "(?i)^(throttling error|service unavailable):"),
    WordingRule::new("pi-ai-exclusion:rate-limit", "(?i)rate limit"),
    WordingRule::new("pi-ai-exclusion:too-many-requests", "(?i)too many requests"),
];

/// pi-ai 1.6: an overflow by status alone.
static PI_AI_413: [WordingRule; 1] = [WordingRule::new("pi-ai-overflow:leading-413", r"(?i)^\s*(http\s+)?413(?-u:\b)")];

/// The harness's own overflow wordings, shared by both routes.
static HARNESS_OVERFLOW: [WordingRule; 5] = [
    WordingRule::new(
        "harness-overflow:context-exceeded",
        r"(?i)(^|[^a-z0-9])context[\s_-](length|window)[\s_-](exceed(ed|s)?|overflow(ed)?|limit[\s_-]exceeded)($|[^a-z0-9])",
    ),
    WordingRule::new(
        "harness-overflow:max-context",
        r"(?i)(?-u:\b)max(imum)?(\s+(allowed|supported))?\s+context\s+(length|window)(?-u:\b)",
    ),
    WordingRule::new(
        "harness-overflow:too-large-for-context",
        r"(?i)(?-u:\b)(request|prompt|input|messages?)\s+((is|are)\s+)?too\s+(large|long)\s+for\s+((this|the)\s+)?(model('s)?\s+)?context(\s+window)?(?-u:\b)",
    ),
    WordingRule::new(
        "harness-overflow:too-long-for-model",
        r"(?i)(?-u:\b)(input|prompt|request)\s+(is\s+)?too\s+(long|large)\s+for\s+(this|the)\s+model(?-u:\b)",
    ),
    WordingRule::new(
        "harness-overflow:exceeds-context",
        r"(?i)(?-u:\b)(input|prompt|request|messages?)(?-u:\b)[^\n\r\u{2028}\u{2029}]{0,40}(?-u:\b)(exceed(s|ed)?|overflows?|is\s+larger\s+than)(?-u:\b)[^\n\r\u{2028}\u{2029}]{0,40}(?-u:\b)(the\s+)?(model('s)?\s+)?context(\s+(length|window))?(?-u:\b)",
    ),
];

/// The harness's own quota wordings, shared by both routes.
static HARNESS_QUOTA: [WordingRule; 5] = [
    WordingRule::new("harness-quota:insufficient", r"(?i)(?-u:\b)insufficient[\s_-]+(quota|balance|credits?)(?-u:\b)"),
    WordingRule::new(
        "harness-quota:quota-exceeded",
        r"(?i)(?-u:\b)(quota|usage[\s_-]+limit)[\s_-]+(exceeded|exhausted|reached)(?-u:\b)",
    ),
    WordingRule::new(
        "harness-quota:exceeded-quota",
        r"(?i)(?-u:\b)exceed(ed|s)?[\s_-]+((your|the)[\s_-]+)?(current[\s_-]+)?quota(?-u:\b)",
    ),
    WordingRule::new(
        "harness-quota:balance-exhausted",
        r"(?i)(?-u:\b)(balance|credits?)[\s_-]+(exhausted|depleted)(?-u:\b)",
    ),
    WordingRule::new("harness-quota:out-of-credits", r"(?i)(?-u:\b)out[\s_-]+of[\s_-]+(credits?|budget)(?-u:\b)"),
];

static AUTH_WORD: [WordingRule; 1] = [WordingRule::new("pi-ai:401-403", r"(?-u:\b)(401|403)(?-u:\b)")];
static RATE_WORD: [WordingRule; 1] =
    [WordingRule::new("pi-ai:429", r"(?i)(?-u:\b)429(?-u:\b)|rate[^\n\r\u{2028}\u{2029}]?limit")];
static BODY_WORD: [WordingRule; 1] = [WordingRule::new(
    "pi-ai:413",
    r"(?i)(?-u:\b)413(?-u:\b)|failed to buffer the request body:\s*length limit exceeded|payload too large|request body too large",
)];
/// What follows the body-size branch, in order.
static LATER_BRANCHES: [(WordingRule, &str); 5] = [
    (
        WordingRule::new("pi-ai:400", r"(?i)(?-u:\b)400(?-u:\b)|invalid[^\n\r\u{2028}\u{2029}]?request"),
        "INVALID_REQUEST",
    ),
    (WordingRule::new("pi-ai:5xx", r"(?-u:\b)5[0-9][0-9](?-u:\b)"), "SERVER"),
    (WordingRule::new("pi-ai:timeout", r"(?i)(?-u:\b)timed?\s*out(?-u:\b)|timeout"), "TIMEOUT"),
    (WordingRule::new("pi-ai:stream-ended", r"(?i)stream ended (before|without)(?-u:\b)"), "TRANSPORT"),
    (
        WordingRule::new(
            "pi-ai:network",
            r"(?i)(?-u:\b)(network|connection|socket|fetch|econn[a-z]+|other side closed|http2 request did not get a response|websocket closed unexpectedly|terminated)(?-u:\b)|premature close",
        ),
        "TRANSPORT",
    ),
];

/// Every rule of this file, for the test that compiles them all.
#[cfg(test)]
pub(crate) fn every_rule() -> impl Iterator<Item = &'static WordingRule> {
    PI_AI_OVERFLOW
        .iter()
        .chain(&PI_AI_NOT_OVERFLOW)
        .chain(&PI_AI_413)
        .chain(&HARNESS_OVERFLOW)
        .chain(&HARNESS_QUOTA)
        .chain(&AUTH_WORD)
        .chain(&RATE_WORD)
        .chain(&BODY_WORD)
        .chain(LATER_BRANCHES.iter().map(|(rule, _)| rule))
}

/// pi-ai's own judgement that a text names an overflow: rule and matched text.
fn pi_ai_overflow<'t>(text: &'t str, rules: PiAiRules, provider: Option<&str>) -> Option<(&'static str, &'t str)> {
    if first_match(&PI_AI_NOT_OVERFLOW, text).is_some() {
        return None;
    }
    let (no_body, wordings) = PI_AI_OVERFLOW.split_last()?;
    if let Some(found) = first_match(wordings, text) {
        return Some(found);
    }
    let any_provider = rules == PiAiRules::UpTo085;
    if (any_provider || provider == Some("cerebras"))
        && let Some(matched) = no_body.find(text)
    {
        return Some((no_body.id, matched));
    }
    if rules == PiAiRules::From16 { first_match(&PI_AI_413, text) } else { None }
}

/// Classifies as `llm-pi-ai` does: by the message text alone (`provider` matters to one pi-ai rule).
///
/// Reports about usage (a window overrun without an error) and adapter codes are not texts: see the callers.
#[must_use]
pub fn classify_pi_ai(text: &str, rules: ReleaseRules, provider: Option<&str>) -> HarnessCode {
    let overflow = pi_ai_overflow(text, rules.pi_ai, provider).or_else(|| first_match(&HARNESS_OVERFLOW, text));
    if let Some((rule, matched)) = overflow {
        return HarnessCode::of("CONTEXT_WINDOW_EXCEEDED", rule, Some(matched));
    }
    let mut branches: Vec<(&'static [WordingRule], &'static str)> =
        vec![(&AUTH_WORD, "AUTH"), (&HARNESS_QUOTA, "QUOTA"), (&RATE_WORD, "RATE_LIMIT")];
    if rules.branches == BranchOrder::Nine {
        branches.push((&BODY_WORD, "INVALID_REQUEST"));
    }
    for (rules, code) in branches {
        if let Some((rule, matched)) = first_match(rules, text) {
            return HarnessCode::of(code, rule, Some(matched));
        }
    }
    for (rule, code) in &LATER_BRANCHES {
        if let Some(matched) = rule.find(text) {
            return HarnessCode::of(code, rule.id, Some(matched));
        }
    }
    HarnessCode::of("PI_AI_ERROR", "pi-ai:fallback", None)
}

/// Classifies as `llm-deepseek` does: HTTP status, then `detail`, the error's code, type and message joined by
/// spaces (empty when the body held none).
#[must_use]
pub fn classify_deepseek(status: u16, detail: &str) -> HarnessCode {
    match status {
        401 | 403 => return HarnessCode::of("AUTH", "deepseek:401-403", None),
        413 => return HarnessCode::of("INVALID_REQUEST", "deepseek:413", None),
        _ => {}
    }
    if let Some((rule, matched)) = first_match(&HARNESS_QUOTA, detail) {
        return HarnessCode::of("QUOTA", rule, Some(matched));
    }
    match status {
        429 => HarnessCode::of("RATE_LIMIT", "deepseek:429", None),
        400 => match first_match(&HARNESS_OVERFLOW, detail) {
            Some((rule, matched)) => HarnessCode::of("CONTEXT_WINDOW_EXCEEDED", rule, Some(matched)),
            None => HarnessCode::of("INVALID_REQUEST", "deepseek:400", None),
        },
        500.. => HarnessCode::of("SERVER", "deepseek:5xx", None),
        other => {
            HarnessCode { code: Cow::Owned(format!("HTTP_{other}")), rule: "deepseek:other-status", matched: None }
        }
    }
}
