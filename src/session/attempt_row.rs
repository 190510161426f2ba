//! The row of an attempt, and the size of the request behind it.

use std::sync::Arc;

use crate::event::{Failure, Usage};

/// How an attempt (one provider request of the agent loop) ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It has a finish that is not a failure.
    Succeeded,
    /// It failed: a finish of kind `error`, or an error that only the next retry or turn end tells.
    Failed,
    /// The caller aborted it.
    Aborted,
    /// No finish: cancelled, killed, or the log ends.
    Unfinished,
}

impl Outcome {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
            Self::Unfinished => "unfinished",
        }
    }
}

/// What became of a failure chain (the attempts of one step from its first failed one on).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A retry brought the success.
    RecoveredByRetry,
    /// An overflow compaction brought the success.
    RecoveredByCompaction,
    /// The turn ended with the error.
    GaveUp,
    /// The user aborted the turn.
    Cancelled,
    /// The log ends, or the turn was interrupted by a crash.
    Open,
}

impl Fate {
    /// The name used in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::RecoveredByRetry => "recovered_by_retry",
            Self::RecoveredByCompaction => "recovered_by_compaction",
            Self::GaveUp => "gave_up",
            Self::Cancelled => "cancelled",
            Self::Open => "open",
        }
    }
}

/// Provider and model of a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Route {
    /// Provider name as configured.
    pub provider: String,
    /// Model name.
    pub model: String,
}

/// One provider request of the agent loop.
#[derive(Debug, Clone)]
pub struct AttemptRow {
    /// Turn number.
    pub turn: u64,
    /// Step number in its turn.
    pub step: u64,
    /// Number in its step, from 1.
    pub attempt: u64,
    /// Number in its session, from 0.
    pub ordinal: u64,
    /// Seq of its finish (v2 and later: of the event that holds it); of its last trace where it has none.
    pub seq: u64,
    /// Seq of its first trace.
    pub first_seq: u64,
    /// Epoch milliseconds of its finish or last trace.
    pub time: Option<i64>,
    /// Epoch milliseconds of its first trace.
    pub first_time: Option<i64>,
    /// Epoch milliseconds at which the request could leave: the latest of step start, retry start, compaction end.
    pub ready_time: Option<i64>,
    /// Epoch milliseconds of the last event that the request waited for: `ready_time`, or a user message, header or
    /// context after it. The request reaches the server some milliseconds later.
    pub asked_time: Option<i64>,
    /// Its route.
    pub route: Arc<Route>,
    /// Context window in force, tokens.
    pub window: Option<u64>,
    /// Where the window comes from; `None` until all sessions are read, and where it is unknown.
    pub window_source: Option<crate::context_window::WindowSource>,
    /// Output limit of the request header, tokens.
    pub max_tokens: Option<u64>,
    /// Reasoning effort of the request header.
    pub reasoning_effort: Option<Arc<str>>,
    /// How it ended.
    pub outcome: Outcome,
    /// The failure of a failed attempt.
    pub failure: Option<Failure>,
    /// Usage that the provider reported for it.
    pub usage: Option<Usage>,
    /// Stream chunks seen.
    pub chunks: u64,
    /// Longest silence between two of them, milliseconds.
    pub longest_gap_ms: i64,
    /// The last compaction that ended before its first trace, with the distance to it.
    pub since_compaction: Option<SinceCompaction>,
    /// The last one that an overflow did not cause, for the windows.
    pub since_independent_compaction: Option<SinceCompaction>,
    /// Retries of its step before it.
    pub retries_before: u64,
    /// The retry scheduled after it: index into [`SessionRows::retries`](super::SessionRows::retries).
    pub retry: Option<usize>,
    /// Fate of the chain it belongs to; `None` where its step has no failure before or at it.
    pub fate: Option<Fate>,
    /// Size of the request; `None` where no header is known.
    pub request: Option<Box<RequestSize>>,
    /// Its usage cannot be right for the size of its request.
    pub usage_untrusted: bool,
    /// The answer was cut at the output limit (`max-tokens`, `length` at the provider), and counts as a success.
    pub cut_at_limit: bool,
    /// Last tool called before it.
    pub last_tool: Option<Arc<str>>,
    /// Within the filters of the command line.
    pub selected: bool,
}

impl AttemptRow {
    /// Reported prompt, tokens.
    pub fn reported_prompt(&self) -> Option<u64> {
        self.usage.map(Usage::prompt).filter(|p| *p > 0)
    }

    /// Reported prompt, where its size does not contradict it.
    pub fn trusted_prompt(&self) -> Option<u64> {
        self.reported_prompt().filter(|_| !self.usage_untrusted)
    }

    /// Reported prompt, where the request alone does not contradict it.
    pub fn plausible_prompt(&self) -> Option<u64> {
        self.reported_prompt().filter(|_| self.request.is_some() && self.is_plausible())
    }

    /// Reported tokens per byte of the body; `None` where either is unknown, or the request too small to tell.
    pub fn tokens_per_byte(&self) -> Option<f64> {
        const SMALLEST: u64 = 400;
        let bytes = self.request.as_ref()?.body_bytes.filter(|b| *b >= SMALLEST)?;
        Some(self.reported_prompt()? as f64 / bytes as f64)
    }

    /// No tokenizer needs more than a token for 1.5 bytes of a body on average, or fewer than one for 30.
    pub fn is_plausible(&self) -> bool {
        self.tokens_per_byte().is_none_or(|ratio| (1.0 / 30.0..1.0 / 1.5).contains(&ratio))
    }

    /// Milliseconds from the moment the request could leave to its finish.
    pub fn duration_ms(&self) -> Option<i64> {
        Some(self.time?.saturating_sub(self.ready_time?))
    }
}

/// Characters of a request by part, in UTF-16 code units (what JavaScript and the harness count).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestChars {
    /// System text.
    pub system: u64,
    /// Tools as compact JSON.
    pub tools: u64,
    /// User messages.
    pub user: u64,
    /// Assistant messages: text, reasoning, tool names and arguments.
    pub assistant: u64,
    /// Tool results.
    pub tool: u64,
}

/// Size of the request behind an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestSize {
    /// Wire messages, the system message included.
    pub messages: u64,
    /// Bytes of the body as the adapter sends it; `None` where the log does not hold all of it (images).
    pub body_bytes: Option<u64>,
    /// Characters by part.
    pub chars: RequestChars,
    /// The harness's own estimate without usage anchors, tokens.
    pub harness_tokens: u64,
    /// Output that was really reserved (`max_tokens` as sent), tokens.
    pub reserved_output: Option<u64>,
    /// Equal for two attempts of a session that sent the same surface and header.
    pub identity: u64,
    /// Best estimate of the prompt.
    pub tokens: Option<TokenEstimate>,
}

/// How a token estimate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenMethod {
    /// The provider reported it, for this attempt or for one that sent the identical request.
    Reported,
    /// From reported prompts before or after, plus what changed.
    Anchored,
    /// From the text alone.
    Counted,
}

impl TokenMethod {
    /// The name used in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Anchored => "anchored",
            Self::Counted => "counted",
        }
    }
}

/// Prompt tokens with a 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenEstimate {
    /// Best estimate, tokens.
    pub value: u64,
    /// Lower end of the 90 % interval, tokens.
    pub low: u64,
    /// Upper end, tokens.
    pub high: u64,
    /// How it was found.
    pub method: TokenMethod,
}

/// Distance from the end of a compaction to the end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinceCompaction {
    /// Index into [`SessionRows::compactions`](super::SessionRows::compactions).
    pub compaction: usize,
    /// Seqs between the two.
    pub events: u64,
    /// This is the k-th attempt after it.
    pub attempts: u64,
    /// Milliseconds between the two.
    pub ms: Option<i64>,
}
