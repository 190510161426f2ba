//! What the numbers of the reports mean: every column of a table can name its term, and a page can explain the terms it
//! used.

use super::lang::Language;
use crate::message::Message;

/// The terms with their keys, in the order in which a page explains them.
macro_rules! terms {
    ($($(#[$doc:meta])* $term:ident => $name:literal, $text:literal, $words:literal;)*) => {
        /// Something that a report counts, measures or names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Term {
            $($(#[$doc])* $term,)*
        }

        impl Term {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$term,)*];

            /// Its name.
            pub fn name(self) -> Message {
                Message::new(match self { $(Self::$term => $name,)* })
            }

            /// What it means, in a sentence or two.
            pub fn text(self) -> Message {
                Message::new(match self { $(Self::$term => $text,)* })
            }

            /// The words that stand for it in running text, the longest first; a page links them to its definition.
            pub fn words(self, language: Language) -> Vec<String> {
                let words = language.say(match self { $(Self::$term => $words,)* });
                let mut words: Vec<String> = words.split('|').filter(|w| !w.is_empty()).map(str::to_owned).collect();
                words.sort_by_key(|word| std::cmp::Reverse(word.len()));
                words
            }
        }
    };
}

terms! {
    /// One provider request.
    Attempt => "definitions.attempt", "definitions.attempt-text", "definitions.attempt-words";
    /// The attempts of one request of the agent loop.
    Step => "definitions.step", "definitions.step-text", "definitions.step-words";
    /// One run of the agent loop.
    Turn => "definitions.turn", "definitions.turn-text", "definitions.turn-words";
    /// A share of a whole.
    Share => "definitions.share", "definitions.share-text", "definitions.share-words";
    /// The harness's error code.
    Code => "definitions.code", "definitions.code-text", "definitions.code-words";
    /// Whether the evidence agrees with the code.
    Verdict => "definitions.verdict", "definitions.verdict-text", "definitions.verdict-words";
    /// How sure a verdict is.
    Confidence => "definitions.confidence", "definitions.confidence-text", "definitions.confidence-words";
    /// Provider and model.
    Route => "definitions.route", "definitions.route-text", "definitions.route-words";
    /// The model's context window.
    ContextWindow => "definitions.context-window", "definitions.context-window-text", "definitions.context-window-words";
    /// The largest prompt that succeeded.
    LargestSuccess => "definitions.largest-success", "definitions.largest-success-text", "definitions.largest-success-words";
    /// Size of a request.
    PromptTokens => "definitions.prompt-tokens", "definitions.prompt-tokens-text", "definitions.prompt-tokens-words";
    /// Prompt over window.
    Fill => "definitions.fill", "definitions.fill-text", "definitions.fill-words";
    /// A further attempt after a wait.
    Retry => "definitions.retry", "definitions.retry-text", "definitions.retry-words";
    /// How a failure chain ended.
    Fate => "definitions.fate", "definitions.fate-text", "definitions.fate-words";
    /// The attempts of a step from its first failure on.
    Chain => "definitions.chain", "definitions.chain-text", "definitions.chain-words";
    /// What started a compaction, and how it ended.
    Compaction => "definitions.compaction", "definitions.compaction-text", "definitions.compaction-words";
    /// Distance of a failure from a compaction.
    AfterCompaction => "definitions.after-compaction", "definitions.after-compaction-text", "definitions.after-compaction-words";
    /// One rate over another, with its interval.
    Ratio => "definitions.ratio", "definitions.ratio-text", "definitions.ratio-words";
    /// How likely chance alone is.
    PValue => "definitions.p-value", "definitions.p-value-text", "definitions.p-value-words";
    /// A session log.
    Session => "definitions.session", "definitions.session-text", "definitions.session-words";
    /// Turn, step and attempt.
    Place => "definitions.place", "definitions.place-text", "definitions.place-words";
    /// The number of an event.
    Seq => "definitions.seq", "definitions.seq-text", "definitions.seq-words";
    /// Time from the request to its end.
    Duration => "definitions.duration", "definitions.duration-text", "definitions.duration-words";
    /// Time from the failure that a page tells about.
    Offset => "definitions.offset", "definitions.offset-text", "definitions.offset-words";
    /// A retry policy.
    Policy => "definitions.policy", "definitions.policy-text", "definitions.policy-words";
    /// Turns saved minus chains lost, with bounds.
    NetTurns => "definitions.net-turns", "definitions.net-turns-text", "definitions.net-turns-words";
    /// What a policy waits.
    AddedWait => "definitions.added-wait", "definitions.added-wait-text", "definitions.added-wait-words";
    /// What a policy sends again.
    ExtraAttempts => "definitions.extra-attempts", "definitions.extra-attempts-text", "definitions.extra-attempts-words";
    /// Attempts before their Retry-After.
    TooEarly => "definitions.too-early", "definitions.too-early-text", "definitions.too-early-words";
    /// Chains that never end.
    Endless => "definitions.endless", "definitions.endless-text", "definitions.endless-words";
    /// No other policy is better in everything.
    Undominated => "definitions.undominated", "definitions.undominated-text", "definitions.undominated-words";
    /// Requests into an outage.
    Load => "definitions.load", "definitions.load-text", "definitions.load-words";
    /// Bounds of other readings.
    NoModel => "definitions.no-model", "definitions.no-model-text", "definitions.no-model-words";
    /// What simulated attempts rest on.
    Basis => "definitions.basis", "definitions.basis-text", "definitions.basis-words";
    /// What a rule found, and how bad it is.
    Finding => "definitions.finding", "definitions.finding-text", "definitions.finding-words";
    /// A condition of `check`.
    Gate => "definitions.gate", "definitions.gate-text", "definitions.gate-words";
}

impl Term {
    /// Its anchor in an HTML page.
    pub fn anchor(self) -> String {
        self.name().key.replace("definitions.", "def-")
    }
}
