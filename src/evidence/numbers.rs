//! Numbers that a message names: how much was requested, what the limit is, how long to wait.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// Numbers found in a message; `None` where it names none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    /// Tokens of the request as the provider counted them: input plus reserved output where the message adds
    /// them up, otherwise what it says (usually the input).
    pub requested_tokens: Option<u64>,
    /// The limit of one request in tokens; never a limit per minute.
    pub limit_tokens: Option<u64>,
    /// Tokens reserved for the output.
    pub output_tokens: Option<u64>,
    /// Tokens of the input alone, where the message tells them from the output.
    pub input_tokens: Option<u64>,
    /// How long the message asks to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

impl Numbers {
    /// Whether the input alone would have fitted: the request overflowed by its reserved output.
    #[must_use]
    pub fn overflow_by_output(&self) -> bool {
        match (self.input_tokens, self.output_tokens, self.limit_tokens) {
            (Some(input), Some(output), Some(limit)) => output > 0 && input < limit,
            _ => false,
        }
    }
}

/// A number with thousands separators and an optional K or M.
const N: &str = r"(~?[0-9][0-9,_]*(?:\.[0-9]+)?(?: ?[km]\b)?)";

/// Where a message states the limit; `N` stands for a number. In order of trust.
const LIMITS: &[&str] = &[
    r"\+ ?[0-9][0-9,_]* ?> ?N",
    r"> ?N ?- ?[0-9]",
    r"tokens? ?> ?N",
    r"> ?N(?: tokens?)? maximum",
    r"context (?:length|window|size|limit)(?: \(| of| is| to|:|=)(?: only| at most)? ?N",
    r"(?:maximum|max|allowed|model) (?:model |prompt |input |sequence )?length (?:of|is) N",
    r"token limit: ?N",
    r"should be \[ ?[0-9]+, ?N",
    r"too large for model with N",
    r"n_ctx.{0,3}: ?N",
    r"supports? (?:only |up to |at most )?N ?(?:tokens? )?(?:of )?(?:context|completion)",
    r"(?:configured|context|token|input) (?:context size|limit|size) (?:of|is) N",
    r"maximum(?: number)?(?: of)?(?: input)?(?: tokens)?(?: allowed)? ?(?:\(|is |of |: ?)N",
    r"(?:cannot|must not) exceed N",
    r"exceeds? (?:the |its )?(?:token )?limit of N",
    r"limit (?:of|is|:) ?N",
    r"(?:valid )?range (?:of \S+ )?(?:is|should be) \[ ?[0-9]+, ?N",
    r"(?:less than or equal to|at most|no more than) .?N",
    r"max(?:imum)?: ?N",
    r"tokens?: [0-9]+ > N",
    r"(?:最大值?|最多|上限|不超过|限制)(?:支持|上下文|长度|窗口|输入|tokens?|[为是:( ])*N",
];

/// Where it states the size of the request.
const REQUESTED: &[&str] = &[
    r"requested (?:about |a total of |at least )?N(?: tokens)?\b(?: \(|[;:.]? ?N?|$)",
    r"requested:? N",
    r"for a total of (?:at least )?N",
    r"resulted in N",
    r"too (?:long|large): ?N tokens",
    r"(?:token counts?|input length|prompt length|total length|\(length)(?: of)? ?\(?N\)? (?:tokens )?(?:is|exceed|was)",
    r"(?:request|input|prompt) \(N tokens",
    r"(?:prompt|request|input|messages?|conversation|history|it) (?:contains?|has|have|is|was|uses?)(?: about| at least)? N (?:input |prompt )?tokens",
    r"n_prompt_tokens.{0,3}: ?N",
    r"received N",
    r"tokens in (?:your|the) (?:request|prompt|input) \(N",
    r"keep the first N tokens",
    r"\bN > [0-9]",
    r"(?:当前|实际|总数|共|已用|输入)(?:长度|输入|为|是|[: ])*N",
];

/// Where it states the output apart.
const OUTPUTS: &[&str] = &[
    r"[0-9] ?\+ ?N ?>",
    r"N (?:tokens )?(?:in|for) the (?:completion|output|response)",
    r"max_(?:completion_|output_)?tokens['`]?(?: or '\w+')?(?: is| of|:)? ?(?:too large: ?)?N",
    r"requested N output tokens",
    r"\(N > ",
    r"N exceeds the limit of [0-9]+ for max_",
    r"provided N",
    r"requested up to N tokens",
];

/// Where it states the input apart.
const INPUTS: &[&str] = &[
    r"N ?\+ ?[0-9][0-9,_]* ?>",
    r"N (?:tokens )?(?:in the messages|of text input|from the input|in the prompt|in the input)",
    r"(?:has|contains|have)(?: at least)? N input tokens",
];

/// Where it states a wait: number, then unit (in `WAIT_UNITS`) unless the expression fixes it.
const WAITS: &[&str] = &[
    r"(?:try again|retry|retrying|available|resets?) (?:after|in|within) (?:about |~)?((?:[0-9.]+ ?(?:milliseconds?|ms|seconds?|secs?|sec|minutes?|mins?|min|hours?|hrs?|days?|[smhd])\b? ?)+)",
    r"(?:wait|delay of|requested) (?:about |~)?((?:[0-9.]+ ?(?:milliseconds?|ms|seconds?|secs?|sec|minutes?|mins?|min|hours?|[smh])\b ?)+)(?:retry delay|before|and|then|,|\.|$)?",
    r#"retry[ _-]?(?:after|delay)['"]?[:= ]+['"]?((?:[0-9.]+ ?(?:milliseconds?|ms|seconds?|secs?|minutes?|hours?|[smh])?\b ?)+)"#,
    r"([0-9.]+ ?(?:毫秒|秒钟?|分钟|小时))后",
];

static LIMIT: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(LIMITS));
static REQUEST: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(REQUESTED));
static OUTPUT: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(OUTPUTS));
static INPUT: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(INPUTS));
static WAIT: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(WAITS));
static PART: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compile(&[
        r"([0-9]+(?:\.[0-9]+)?) ?(milliseconds?|ms|毫秒|seconds?|secs?|秒钟?|minutes?|mins?|分钟|hours?|hrs?|小时|days?|[smhd])?",
    ])
});
static WAIT_IN_MS: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(&[r#"retry_?after_?ms['"]?[:= ]+([0-9]+)"#]));

/// Compiles expressions in which `N` stands for a number; one that does not compile is left out, which a test
/// excludes.
fn compile(expressions: &[&str]) -> Vec<Regex> {
    expressions.iter().filter_map(|text| Regex::new(&text.replacen('N', N, 1)).ok()).collect()
}

/// The numbers of a message in plain form; token numbers only where `about_tokens`, since the same words limit
/// rates, images and money.
#[must_use]
pub fn numbers_in(plain: &str, about_tokens: bool) -> Numbers {
    let mut numbers = Numbers { retry_after_ms: wait_in(plain), ..Numbers::default() };
    if !about_tokens || !plain.bytes().any(|byte| byte.is_ascii_digit()) {
        return numbers;
    }
    numbers.limit_tokens = first_number(&LIMIT, plain);
    numbers.output_tokens = first_number(&OUTPUT, plain);
    numbers.input_tokens = first_number(&INPUT, plain);
    let both = numbers.input_tokens.zip(numbers.output_tokens);
    numbers.requested_tokens = first_number(&REQUEST, plain)
        .filter(|requested| Some(*requested) != numbers.output_tokens)
        .or_else(|| both.map(|(input, output)| input.saturating_add(output)))
        .or(numbers.input_tokens);
    if let Some((input, output)) = both
        && numbers.requested_tokens == Some(input)
    {
        // "12003 input tokens" reads as the size of the request too; with the output named, the sum is it.
        numbers.requested_tokens = Some(input.saturating_add(output));
    }
    numbers
}

/// What the first expression that matches with a readable number captures.
fn first_number(expressions: &[Regex], plain: &str) -> Option<u64> {
    expressions.iter().find_map(|regex| token_number(regex.captures(plain)?.get(1)?.as_str()))
}

/// Reads `1,048,576`, `256k`, `1m`.
///
/// Vendors mean powers of two by 32K, 64K, 128K, 256K and so on, and thousands by others (200K).
fn token_number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches('~');
    let (digits, unit) = match text.strip_suffix(['k', 'm']) {
        Some(digits) => (digits.trim_end(), text.as_bytes().last().copied()),
        None => (text, None),
    };
    let digits = digits.replace([',', '_'], "");
    let Some(unit) = unit else {
        // A point ends a sentence or starts decimals; either way the whole number is before it.
        return digits.split('.').next()?.parse().ok();
    };
    let value: f64 = digits.parse().ok()?;
    let binary = unit == b'k' && value.fract() == 0.0 && (value as u64).is_power_of_two();
    let factor = match unit {
        b'k' if binary => 1024.0,
        b'k' => 1000.0,
        _ => 1_000_000.0,
    };
    Some((value * factor).round() as u64)
}

/// A wait in milliseconds; without a unit, seconds.
fn wait_in(plain: &str) -> Option<u64> {
    let hint = ["again", "retry", "wait", "delay", "reset", "after", "后"];
    if !hint.iter().any(|word| plain.contains(word)) {
        return None;
    }
    if let Some(exact) = first_number(&WAIT_IN_MS, plain) {
        return Some(exact);
    }
    let duration = WAIT.iter().find_map(|regex| Some(regex.captures(plain)?.get(1)?.as_str()))?;
    let total: f64 = PART
        .first()?
        .captures_iter(duration)
        .filter_map(|part| {
            let value: f64 = part.get(1)?.as_str().parse().ok()?;
            Some(value * unit_ms(part.get(2).map_or("s", |unit| unit.as_str())))
        })
        .sum();
    (total > 0.0 && total.is_finite()).then_some(total.round() as u64)
}

/// Milliseconds of one unit.
fn unit_ms(unit: &str) -> f64 {
    match unit {
        "毫秒" => 1.0,
        "分钟" => 60_000.0,
        "小时" => 3_600_000.0,
        _ if unit.starts_with("ms") || unit.starts_with("milli") => 1.0,
        _ if unit.starts_with('m') => 60_000.0,
        _ if unit.starts_with('h') => 3_600_000.0,
        _ if unit.starts_with('d') => 86_400_000.0,
        _ => 1000.0,
    }
}

#[cfg(test)]
mod tests;
