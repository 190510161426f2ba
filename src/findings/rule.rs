//! A rule and what it says about itself. Its texts in `src/report/lang/*/rules.toml` are the only source of `explain`,
//! of the pages under `docs/rules/` and of the help in SARIF.

use super::case::Context;
use super::finding::{Draft, Finding, Severity};

/// Whether a rule is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifeCycle {
    /// Its meaning will not change within a major version.
    Stable,
    /// A heuristic under trial: shown and marked, never fails a gate.
    Preview,
}

impl LifeCycle {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Preview => "preview",
        }
    }
}

/// Keys of a rule's texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Docs {
    /// A name of a few words.
    pub name: &'static str,
    /// What it looks for, and when it stays silent.
    pub what: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// What to do.
    pub advice: &'static str,
    /// An example.
    pub example: &'static str,
}

impl Docs {
    /// All keys, in the order of the page.
    pub fn keys(&self) -> [&'static str; 5] {
        [self.name, self.what, self.why, self.advice, self.example]
    }
}

/// One rule. Each has a file of its own in `rules/`, named as its id.
#[derive(Debug)]
pub struct Rule {
    /// Public id, kebab-case.
    pub id: &'static str,
    /// Severity, unless the configuration says otherwise.
    pub severity: Severity,
    /// Whether it is settled.
    pub life_cycle: LifeCycle,
    /// Its texts.
    pub docs: Docs,
    /// Looks at the archive. At most one draft: equal faults are counted, not listed.
    pub check: fn(&Context<'_>) -> Option<Draft>,
}

impl Rule {
    /// Runs the rule.
    pub fn find(&self, context: &Context<'_>, severity: Severity) -> Option<Finding> {
        (self.check)(context).map(|draft| draft.finish(self, severity))
    }
}

/// `rule!("some-id", Error, Stable);` in a file that has a function `check`.
macro_rules! rule {
    ($id:literal, $severity:ident, $life_cycle:ident) => {
        /// The rule; its page is made from `rules.toml`.
        pub const RULE: $crate::findings::Rule = $crate::findings::Rule {
            id: $id,
            severity: $crate::findings::Severity::$severity,
            life_cycle: $crate::findings::LifeCycle::$life_cycle,
            docs: $crate::findings::Docs {
                name: concat!("rules.", $id, "-name"),
                what: concat!("rules.", $id, "-what"),
                why: concat!("rules.", $id, "-why"),
                advice: concat!("rules.", $id, "-do"),
                example: concat!("rules.", $id, "-example"),
            },
            check,
        };
    };
}
pub(crate) use rule;
