//! Harness rules as data: a name and an expression, compiled on first use.

use std::sync::OnceLock;

use regex::Regex;

/// One rule of a harness classifier.
///
/// JavaScript reads `\b` and `\d` as ASCII, so the expressions use `(?-u:\b)` and `[0-9]`: between a Chinese
/// character and a digit JavaScript sees a word boundary, Unicode mode does not.
#[derive(Debug)]
pub(crate) struct WordingRule {
    /// Public id of the rule.
    pub(crate) id: &'static str,
    /// The expression, case-insensitive where it says so itself.
    pub(crate) expression: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl WordingRule {
    pub(crate) const fn new(id: &'static str, expression: &'static str) -> Self {
        Self { id, expression, compiled: OnceLock::new() }
    }

    /// The compiled expression; never `None`, since a test compiles every rule.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(self.expression).ok()).as_ref()
    }

    /// The part of the text that the rule matches first.
    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        Some(self.regex()?.find(text)?.as_str())
    }
}

/// The first rule of the list, in its order, that matches, and what it matched.
pub(crate) fn first_match<'t>(rules: &'static [WordingRule], text: &'t str) -> Option<(&'static str, &'t str)> {
    rules.iter().find_map(|rule| rule.find(text).map(|matched| (rule.id, matched)))
}
