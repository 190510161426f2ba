use super::super::message::plain;
use super::*;

#[test]
fn every_expression_compiles() {
    assert_eq!(LIMIT.len(), LIMITS.len());
    assert_eq!(REQUEST.len(), REQUESTED.len());
    assert_eq!(OUTPUT.len(), OUTPUTS.len());
    assert_eq!(INPUT.len(), INPUTS.len());
    assert_eq!(WAIT.len(), WAITS.len());
    assert_eq!((PART.len(), WAIT_IN_MS.len()), (1, 1));
}

/// Text, requested, limit, output, input.
type Case = (&'static str, Option<u64>, Option<u64>, Option<u64>, Option<u64>);

const TOKENS: &[Case] = &[
    (
        "maximum context length is 1048576 tokens. However, you requested 1054143 tokens",
        Some(1_054_143),
        Some(1_048_576),
        None,
        None,
    ),
    (
        "400 This model's maximum context length is 1048576 tokens. However, you requested 1048638 tokens (792638 in the messages, 256000 in the completion).",
        Some(1_048_638),
        Some(1_048_576),
        Some(256_000),
        Some(792_638),
    ),
    ("400 prompt is too long: 1019089 tokens > 1000000 maximum", Some(1_019_089), Some(1_000_000), None, None),
    (
        "400 input length and `max_tokens` exceed context limit: 175272 + 32000 > 200000",
        Some(207_272),
        Some(200_000),
        Some(32_000),
        Some(175_272),
    ),
    (
        "request (42947 tokens) exceeds the available context size (8192 tokens), try increasing it",
        Some(42_947),
        Some(8192),
        None,
        None,
    ),
    ("503 litellm: maximum context length of 131072 tokens exceeded by the prompt", None, Some(131_072), None, None),
    ("401 supports only 256K context", None, Some(262_144), None, None),
    ("supports only 200K context", None, Some(200_000), None, None),
    ("40000 exceeds the limit of 32768 for max_tokens", None, Some(32_768), Some(40_000), None),
    (
        "The input token count (1,196,265) exceeds the maximum number of tokens allowed (1,048,576).",
        Some(1_196_265),
        Some(1_048_576),
        None,
        None,
    ),
    (
        "maximum context length is 163840 tokens. However, you requested about 171112 tokens (167016 of text input, 4096 in the output).",
        Some(171_112),
        Some(163_840),
        Some(4096),
        Some(167_016),
    ),
    (
        "Your messages resulted in 301115 tokens. Input tokens exceed the configured limit of 272000 tokens.",
        Some(301_115),
        Some(272_000),
        None,
        None,
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 40960 tokens and your request has 12003 input tokens (32000 > 40960 - 12003).",
        Some(44_003),
        Some(40_960),
        Some(32_000),
        Some(12_003),
    ),
    (
        "maximum context length of 32768 tokens. You requested a total of 38100 tokens: 30100 tokens from the input messages and 8000 tokens for the completion.",
        Some(38_100),
        Some(32_768),
        Some(8000),
        Some(30_100),
    ),
    (
        "The input (73012 tokens) is longer than the model's context length (65536 tokens).",
        Some(73_012),
        Some(65_536),
        None,
        None,
    ),
    (
        "The decoder prompt (length 70213) is longer than the maximum model length of 65536.",
        Some(70_213),
        Some(65_536),
        None,
        None,
    ),
    ("exceed_context_size_error\",\"n_prompt_tokens\":9120,\"n_ctx\":8192", Some(9120), Some(8192), None, None),
    ("exceeded model token limit: 262144 (requested: 270021)", Some(270_021), Some(262_144), None, None),
    ("Range of input length should be [1, 129024]", None, Some(129_024), None, None),
    (
        "This model's maximum prompt length is 131072 but the request contains 140233 tokens.",
        Some(140_233),
        Some(131_072),
        None,
        None,
    ),
    (
        "Prompt contains 35004 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        Some(35_004),
        Some(32_768),
        None,
        None,
    ),
    ("cannot exceed 128000 - received 131201.", Some(131_201), Some(128_000), None, None),
    ("prompt token count of 132455 exceeds the limit of 128000", Some(132_455), Some(128_000), None, None),
    (
        "Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens",
        Some(5_958_968),
        Some(256_000),
        None,
        None,
    ),
    (
        "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
        Some(131_393),
        Some(131_040),
        None,
        None,
    ),
    (
        "Input length (265330) exceeds model's maximum context length (262144).",
        Some(265_330),
        Some(262_144),
        None,
        None,
    ),
    (
        "keep the first 15123 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens",
        Some(15_123),
        Some(8192),
        None,
        None,
    ),
    (
        "The total number of tokens in your request (271502) exceeds the model's context window of 262144 tokens",
        Some(271_502),
        Some(262_144),
        None,
        None,
    ),
    ("your conversation is 205000 tokens, maximum is 200000", Some(205_000), Some(200_000), None, None),
    ("输入 token 数超出限制：最大 65536，实际 70112", Some(70_112), Some(65_536), None, None),
    ("（当前 140212 tokens，上限 128000 tokens）", Some(140_212), Some(128_000), None, None),
    ("输入的上下文长度超过模型限制，最大支持 131072 tokens", None, Some(131_072), None, None),
    ("请求的 tokens 总数 270000 超过了模型最大上下文长度 262144", Some(270_000), Some(262_144), None, None),
    (
        "maximum context length is 65,536 tokens. However, you requested 8192 output tokens and your prompt contains at least 60000 input tokens, for a total of at least 68192 tokens",
        Some(68_192),
        Some(65_536),
        Some(8192),
        Some(60_000),
    ),
    (
        "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens",
        None,
        Some(64_000),
        Some(64_001),
        None,
    ),
    (
        "max_tokens is too large: 200000. This model supports at most 128000 completion tokens, whereas you provided 200000.",
        None,
        Some(128_000),
        Some(200_000),
        None,
    ),
    ("requested 500 tokens but only 400 credits", Some(500), None, None, None),
];

#[test]
fn token_numbers_are_read_in_every_wording() {
    let mut wrong = Vec::new();
    for (text, requested, limit, output, input) in TOKENS {
        let numbers = numbers_in(&plain(text), true);
        let wanted = (*requested, *limit, *output, *input);
        let got = (numbers.requested_tokens, numbers.limit_tokens, numbers.output_tokens, numbers.input_tokens);
        if wanted != got {
            wrong.push(format!("{text}\n  wanted {wanted:?}\n  got    {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn waits_are_read_with_their_units() {
    let mut wrong = Vec::new();
    for (text, wanted) in [
        ("Server requested 3600s retry delay (max: 60s). 429", Some(3_600_000)),
        ("Please try again in 5.422s.", Some(5422)),
        ("Please try again in 120ms. Visit", Some(120)),
        ("Please try again in 14m24s.", Some(864_000)),
        ("Please try again in 7m54.5s.", Some(474_500)),
        ("Please retry after 26 seconds.", Some(26_000)),
        ("please try again after 1 seconds", Some(1000)),
        ("Please retry in 31.7s.", Some(31_700)),
        ("retry-after: 30", Some(30_000)),
        ("\"retryDelay\": \"31s\"", Some(31_000)),
        ("retry_after_ms\":1500", Some(1500)),
        ("Try again in ~212 min.", Some(12_720_000)),
        ("Resets in 3 days.", Some(259_200_000)),
        ("触发限流，请于 30 秒后重试", Some(30_000)),
        ("请 5 分钟后再试", Some(300_000)),
        ("Too many requests, try again later", None),
        ("pi-ai stream idle timeout after 300000ms", Some(300_000)),
        ("prompt is too long: 5 tokens", None),
    ] {
        let got = numbers_in(&plain(text), false).retry_after_ms;
        if text.contains("idle timeout") {
            assert_eq!(got, None, "a deadline that passed is no advice: {text}");
        } else if got != wanted {
            wrong.push(format!("{text}: wanted {wanted:?}, got {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
