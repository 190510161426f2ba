//! In: settings files, policy keys of a log, expressions of a command line; facts about failures of an archive.
//! Out: resolved policies and candidates with repairs, decisions, schedules, hits of the linter, settings to paste.
//! Always: pure functions without clock, randomness or files; the plain policy decides exactly as the harness does.

pub mod edits;
pub mod engine;
pub mod fixes;
pub mod lint;
pub mod model;
pub mod named;
pub mod node;
pub mod presets;
pub mod refusal;
pub mod release;
pub mod resolve;
pub mod schedule;
pub mod semantics;
pub mod settings;
pub mod spelling;
pub mod yaml;

#[cfg(test)]
mod tests;

pub use edits::{EditError, apply_edit, parse_candidate};
pub use engine::{ChainState, FailedAttempt, FixedDecision, RouteState, decide_with_fixes};
pub use fixes::{Candidate, Fixes};
pub use lint::{ArchiveFacts, LintHit, RouteFacts, Severity, lint, lint_text};
pub use model::{Backoff, RetryMode, RetryPolicy};
pub use presets::preset;
pub use release::Release;
pub use schedule::{Schedule, schedule, total_wait};
pub use semantics::{Decision, Failure, Recorded, decide, delay_range, reproduces};
pub use settings::{FileKind, SettingsFile, read_settings};
pub use yaml::to_settings_yaml;
