//! In: one JSONL line of any format version, with its place.
//! Out: one [`Event`] of the common model; versions differ only inside this folder.
//! Always: an unknown type or an extra field is kept and counted, never an error; runs of deltas are summarised, never exploded.

mod bodies;
mod content;
mod decode;
mod fast;
mod header;
pub mod json_text;
mod message_body;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod types;
pub(crate) mod walk;

pub use content::{Block, LoggedMessage};
pub use decode::{Decoder, LineError};
pub use header::SessionHeader;
pub use stream::{Finish, FinishKind, StreamSummary};
pub use text::Text;
pub use types::is_harness_type;

/// Highest format version written by the harness itself; above it only forks write.
pub const NEWEST_FORMAT: u32 = 4;

/// One event of a session (or a run of delta events that one packed row stands for).
#[derive(Debug)]
pub struct Event<'a> {
    /// Sequence number (of the first member, for a packed row); the position where the log has none.
    pub seq: u64,
    /// Epoch milliseconds of the event (of the last member, for a packed row).
    pub time: Option<i64>,
    /// How many logged events this stands for: 1, or the members of a packed row.
    pub members: u64,
    /// What happened.
    pub body: Body<'a>,
}

#[allow(missing_docs)] // The fields carry the names of the log; each variant names its event type.
/// What happened. Only what the analyses need is decoded; message contents stay raw.
#[derive(Debug)]
pub enum Body<'a> {
    /// `turn/start`
    TurnStart { turn: u64 },
    /// `turn/end`
    TurnEnd { turn: u64, kind: TurnEndKind, failure: Option<Failure> },
    /// `step/start`
    StepStart { turn: u64, step: u64 },
    /// `step/end`
    StepEnd { turn: u64, step: u64 },
    /// `request/header`: the envelope of the requests that follow.
    RequestHeader(Box<RequestHeader<'a>>),
    /// `request/context`: the window in force.
    RequestContext { provider: Option<String>, model: Option<String>, window: Option<u64> },
    /// A message event: a node of the surface that the model is sent.
    Message(Box<Message<'a>>),
    /// Stream deltas logged at the top level (v0, v1): one chunk or one packed row.
    Deltas { turn: u64, step: u64, stream: StreamSummary },
    /// `assistant/attempt` (v2 and later): an attempt of which no message came.
    Attempt { turn: u64, step: u64, stream: StreamSummary },
    /// `tool/call`
    ToolCall { turn: u64, step: u64, name: String },
    /// `llm/retry`: a retry was scheduled.
    Retry(Box<Retry>),
    /// `llm/retry-started`: its wait ended.
    RetryStarted { turn: u64, step: u64, retry_id: String, retry: u64 },
    /// `compaction/start`
    CompactionStart { id: String, turn: Option<u64>, command: bool },
    /// `compaction/summary`
    CompactionSummary {
        id: String,
        shadowed_nodes: u64,
        shadowed_tokens: Option<u64>,
        prompt_tokens: Option<u64>,
        output_tokens: Option<u64>,
    },
    /// `compaction/end`
    CompactionEnd { id: String, error: Option<Failure> },
    /// `compaction/prune`
    Prune { shadowed_nodes: u64, shadowed_tokens: Option<u64> },
    /// `session/end-seed`
    EndSeed { inherited: bool },
    /// A type that the analyses do not use, or one that nobody has told us about.
    /// `ignorable`: a reader that does not know it may pass it over.
    Other { kind: String, known: bool, ignorable: bool },
    /// A known type whose data does not have the expected shape.
    Odd { kind: String, reason: String },
}

/// How a turn ended (`turn/end.reason.kind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEndKind {
    /// The model stopped by itself.
    Completed,
    /// The user cancelled.
    Aborted,
    /// A hook or the user blocked it.
    Blocked,
    /// Given up after a failure.
    Error,
    /// Output limit.
    MaxTokens,
    /// Closed at the next load after a crash.
    Interrupted,
    /// Ended because the session was forked (v4).
    Forked,
    /// Not one of the documented kinds.
    Unknown,
}

impl TurnEndKind {
    /// The name as logged.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Blocked => "blocked",
            Self::Error => "error",
            Self::MaxTokens => "max-tokens",
            Self::Interrupted => "interrupted",
            Self::Forked => "forked",
            Self::Unknown => "unknown",
        }
    }
}

/// A failure as the harness logged it. Routes through pi-ai fill `message` and `code` only.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Failure {
    /// Error text.
    pub message: String,
    /// The harness's code.
    pub code: String,
    /// HTTP status.
    pub status: Option<u16>,
    /// Retry-After as the adapter understood it, milliseconds.
    pub retry_after_ms: Option<f64>,
    /// Provider's request id.
    pub request_id: Option<String>,
}

/// Token usage of one request, as the provider reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Uncached input tokens.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
}

impl Usage {
    /// Size of the prompt in tokens: input + cache read + cache write.
    pub fn prompt(self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Zero input and output is what pi-ai logs before a failing finish: no report.
    pub fn is_report(self) -> bool {
        self.prompt() > 0 || self.output > 0
    }
}

/// `request/header`
#[derive(Debug)]
pub struct RequestHeader<'a> {
    /// Provider name of the route.
    pub provider: String,
    /// Model name.
    pub model: String,
    /// Output limit asked for, tokens.
    pub max_tokens: Option<u64>,
    /// Reasoning effort asked for.
    pub reasoning_effort: Option<String>,
    /// System text (to v2).
    pub system: Option<json_text::RawText<'a>>,
    /// Tools, JSON.
    pub tools: Option<&'a str>,
    /// The `header` object as logged.
    pub raw: &'a str,
}

/// Which kind of message event a surface node came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// `system/message` (v3 and later)
    System,
    /// `developer/message` (v4)
    Developer,
    /// `user/message`
    User,
    /// `assistant/message`
    Assistant,
    /// `tool/result`
    ToolResult,
}

/// What a message event does to the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfaceOp {
    /// Adds a node at the tail.
    Append,
    /// Puts one node in place of a span of nodes, named by the seqs of its first and last node in surface order.
    Replace {
        /// Seq of the first node of the span, in surface order.
        start: u64,
        /// Seq of the last node of the span.
        end: u64,
    },
}

/// A message event.
#[derive(Debug)]
pub struct Message<'a> {
    /// Which event type it was.
    pub kind: MessageKind,
    /// What it does to the surface; `None`: it is not part of it.
    pub op: Option<SurfaceOp>,
    /// The `data` object as logged.
    pub raw: &'a str,
    /// Its blocks; `None` where it is not a message as the harness writes it.
    pub logged: Option<LoggedMessage<'a>>,
    /// Turn, where logged.
    pub turn: Option<u64>,
    /// Step, where logged.
    pub step: Option<u64>,
    /// Usage logged with an assistant message.
    pub usage: Option<Usage>,
    /// The stream inside an assistant message (v2 and later).
    pub stream: Option<StreamSummary>,
    /// The stream was cut by the user.
    pub interrupted: bool,
}

/// `llm/retry`
#[derive(Debug, Clone)]
pub struct Retry {
    /// Id that `llm/retry-started` repeats.
    pub retry_id: String,
    /// Turn number.
    pub turn: u64,
    /// Step number.
    pub step: u64,
    /// Provider the policy belongs to.
    pub provider: Option<String>,
    /// `normal` or `always`.
    pub mode: Option<String>,
    /// JSON of the resolved policy.
    pub policy_key: Option<String>,
    /// Number of this retry, from 1.
    pub retry: u64,
    /// Budget, where the mode has one.
    pub max_retries: Option<u64>,
    /// Wait, milliseconds (fractional).
    pub delay_ms: f64,
    /// The failure that is retried.
    pub failure: Failure,
}
