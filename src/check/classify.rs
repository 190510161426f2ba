//! The code of every failure under the rules of one release.

use crate::event::Failure;
use crate::evidence::{ClassifyInput, ReleaseRules, code_of, verdict};
use crate::session::AttemptRow;

/// The release whose rules count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Harness version as typed.
    pub dsh_version: Option<String>,
    /// pi-ai version as typed.
    pub pi_ai_version: Option<String>,
}

impl Rules {
    /// Whether a release was chosen; otherwise the recorded codes count.
    pub fn are_chosen(&self) -> bool {
        self.dsh_version.is_some() || self.pi_ai_version.is_some()
    }

    /// The rules in force, and whether they are a guess.
    pub fn resolve(&self) -> (ReleaseRules, bool) {
        ReleaseRules::for_versions(self.dsh_version.as_deref(), self.pi_ai_version.as_deref())
    }

    /// The code of a failure under these rules; `None`: no release is chosen, or its adapter would not have classified it.
    pub fn code(&self, attempt: &AttemptRow, failure: &Failure) -> Option<String> {
        if !self.are_chosen() {
            return None;
        }
        let provider = attempt.route.provider.as_str();
        let input = ClassifyInput { text: &failure.message, status: failure.status, provider: Some(provider) };
        code_of(input, verdict::adapter(provider), self.resolve().0).map(|found| found.code.into_owned())
    }
}
