//! In: the text of one failure, with its status, provider and release where known.
//! Out: the code each release of the harness gives it, and the code the text alone supports, with its numbers.
//! Always: the answer depends on the arguments alone; no text is an error; a text that says nothing is `UNDETERMINED`.

pub mod adapter_texts;
pub mod bodyless;
pub mod catalogue;
pub mod classifiers;
pub mod classify;
pub mod codes;
pub mod masked;
pub mod message;
mod needles;
pub mod numbers;
pub mod releases;
pub mod supports;
pub mod verdict;
mod wording;

pub use adapter_texts::adapter_code;
pub use bodyless::is_bodyless;
pub use classifiers::{HarnessCode, classify_deepseek, classify_pi_ai};
pub use classify::{ClassifyInput, ClassifyReport, ReleaseVerdict, classify_input, classify_report, code_of};
pub use codes::{DEFAULT_RETRYABLE_CODES, FixableBy, Route, SupportedCode, retried_by_default};
pub use masked::Masked;
pub use numbers::Numbers;
pub use releases::{BranchOrder, KNOWN_RELEASES, PiAiRules, Release, ReleaseRules};
pub use supports::{Supported, supports};
pub use verdict::{Fact, Judgement, Verdict, Verdicts};

#[cfg(test)]
pub(crate) mod test_rows;
#[cfg(test)]
mod tests;
