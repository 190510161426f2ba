//! What the numbers of the reports mean: every column of a table can name its term, and a page can explain the terms it
//! used.

use crate::message::Message;

/// Something that a report counts, measures or names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// One provider request.
    Attempt,
    /// The attempts of one request of the agent loop.
    Step,
    /// One run of the agent loop.
    Turn,
    /// A share of a whole.
    Share,
    /// The harness's error code.
    Code,
    /// Whether the evidence agrees with the code.
    Verdict,
    /// Provider and model.
    Route,
    /// The model's context window.
    ContextWindow,
    /// The largest prompt that succeeded.
    LargestSuccess,
    /// Size of a request.
    PromptTokens,
    /// Prompt over window.
    Fill,
    /// A further attempt after a wait.
    Retry,
    /// How a failure chain ended.
    Fate,
    /// What started a compaction, and how it ended.
    Compaction,
    /// Distance of a failure from a compaction.
    AfterCompaction,
    /// A session log.
    Session,
    /// Turn, step and attempt.
    Place,
    /// The number of an event.
    Seq,
    /// Time from the request to its end.
    Duration,
}

impl Term {
    /// Its name.
    pub fn name(self) -> Message {
        Message::new(match self {
            Self::Attempt => "definitions.attempt",
            Self::Step => "definitions.step",
            Self::Turn => "definitions.turn",
            Self::Share => "definitions.share",
            Self::Code => "definitions.code",
            Self::Verdict => "definitions.verdict",
            Self::Route => "definitions.route",
            Self::ContextWindow => "definitions.context-window",
            Self::LargestSuccess => "definitions.largest-success",
            Self::PromptTokens => "definitions.prompt-tokens",
            Self::Fill => "definitions.fill",
            Self::Retry => "definitions.retry",
            Self::Fate => "definitions.fate",
            Self::Compaction => "definitions.compaction",
            Self::AfterCompaction => "definitions.after-compaction",
            Self::Session => "definitions.session",
            Self::Place => "definitions.place",
            Self::Seq => "definitions.seq",
            Self::Duration => "definitions.duration",
        })
    }

    /// What it means, in a sentence or two.
    pub fn text(self) -> Message {
        Message::new(match self {
            Self::Attempt => "definitions.attempt-text",
            Self::Step => "definitions.step-text",
            Self::Turn => "definitions.turn-text",
            Self::Share => "definitions.share-text",
            Self::Code => "definitions.code-text",
            Self::Verdict => "definitions.verdict-text",
            Self::Route => "definitions.route-text",
            Self::ContextWindow => "definitions.context-window-text",
            Self::LargestSuccess => "definitions.largest-success-text",
            Self::PromptTokens => "definitions.prompt-tokens-text",
            Self::Fill => "definitions.fill-text",
            Self::Retry => "definitions.retry-text",
            Self::Fate => "definitions.fate-text",
            Self::Compaction => "definitions.compaction-text",
            Self::AfterCompaction => "definitions.after-compaction-text",
            Self::Session => "definitions.session-text",
            Self::Place => "definitions.place-text",
            Self::Seq => "definitions.seq-text",
            Self::Duration => "definitions.duration-text",
        })
    }

    /// Its anchor in an HTML page.
    pub fn anchor(self) -> String {
        self.name().key.replace("definitions.", "def-")
    }
}
