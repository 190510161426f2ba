//! The one table of wordings: what a text alone supports, in order of precedence.
//!
//! The rows are in `catalogue.tsv`: id, code, who can fix it, needles, expression, vendor, source, example.
//! The first row that matches wins, so a row stands before those it must overrule: rates before "too many
//! tokens", image sizes and output limits before overflows in loose words. Sources: `spec` (the project's error
//! catalogue), `vendor` (the vendor's or server's own messages), `harness` (texts of the harness itself).
//!
//! Speed: an expression runs only when one of its needles, plain substrings, occurs; all needles are looked for
//! at once. It is compiled at its first use.

use std::sync::{LazyLock, OnceLock};

use regex::bytes::Regex;

use super::codes::{FixableBy, SupportedCode};
use super::needles::Needles;

const TABLE: &str = include_str!("catalogue.tsv");

/// One wording and what it supports.
#[derive(Debug)]
pub struct Pattern {
    /// Public id, `topic.name`.
    pub id: &'static str,
    /// The code a text with this wording supports.
    pub code: SupportedCode,
    /// Who can fix the failure, unless numbers in the text say more.
    pub fixable_by: FixableBy,
    /// Substrings of which one occurs in every text that matches.
    pub needles: Vec<&'static str>,
    /// The expression, for the plain form of a text (small ASCII letters, no escapes).
    pub expression: &'static str,
    /// Whose wording it is.
    pub vendor: &'static str,
    /// Where the wording is known from: `spec`, `vendor` or `harness`.
    pub source: &'static str,
    /// A text that the row matches.
    pub example: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn parse(line: &'static str) -> Option<Self> {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let [id, code, fixable_by, needles, expression, vendor, source, example] = fields.try_into().ok()?;
        Some(Self {
            id,
            code: SupportedCode::from_name(code)?,
            fixable_by: FixableBy::from_name(fixable_by)?,
            needles: needles.split('|').collect(),
            expression,
            vendor,
            source,
            example,
            compiled: OnceLock::new(),
        })
    }

    /// The compiled expression; never `None`, since a test compiles every row.
    ///
    /// Unicode mode is off: texts are matched as bytes, `\b` and `\w` are ASCII, and `.` counts bytes, which
    /// keeps the automata small. Chinese characters appear as literals only.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(&format!("(?s-u){}", self.expression)).ok()).as_ref()
    }

    /// Whether the row matches the plain form of a text.
    #[must_use]
    pub fn matches(&self, plain: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(plain.as_bytes()))
    }
}

/// The rows and the search for their needles.
#[derive(Debug)]
pub struct Catalogue {
    patterns: Vec<Pattern>,
    needles: Needles,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::load);

impl Catalogue {
    /// The catalogue of this build.
    #[must_use]
    pub fn get() -> &'static Self {
        &CATALOGUE
    }

    fn load() -> Self {
        let patterns: Vec<Pattern> = rows().filter_map(Pattern::parse).collect();
        let needles = patterns
            .iter()
            .enumerate()
            .flat_map(|(row, pattern)| pattern.needles.iter().map(move |needle| (*needle, row)));
        let needles = Needles::new(needles);
        Self { patterns, needles }
    }

    /// All rows, in order of precedence.
    #[must_use]
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// The row that decides about a text in plain form (see [`super::message::plain`]).
    #[must_use]
    pub fn find(&self, plain: &str) -> Option<&Pattern> {
        self.candidates(plain).into_iter().find(|pattern| pattern.matches(plain))
    }

    /// The rows of which a needle occurs in the text, in order of precedence.
    pub(crate) fn candidates(&self, plain: &str) -> impl Iterator<Item = &Pattern> {
        self.needles.rows_in(plain).into_iter().map(|row| &self.patterns[row])
    }
}

/// The lines of the table that hold a row.
fn rows() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::message::plain;
    use super::*;

    #[test]
    fn every_row_is_read_and_compiles() {
        assert_eq!(Catalogue::get().patterns().len(), rows().count());
        for pattern in Catalogue::get().patterns() {
            assert!(pattern.regex().is_some(), "{}", pattern.id);
        }
    }

    #[test]
    fn every_example_is_decided_by_its_own_row() {
        let mut wrong = Vec::new();
        for pattern in Catalogue::get().patterns() {
            let text = plain(pattern.example);
            let found = Catalogue::get().find(&text).map(|found| found.id);
            if found != Some(pattern.id) || !pattern.matches(&text) {
                wrong.push(format!("{}: {} is decided by {found:?}", pattern.id, pattern.example));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn ids_are_unique_and_needles_are_plain() {
        let mut ids = BTreeSet::new();
        for pattern in Catalogue::get().patterns() {
            assert!(ids.insert(pattern.id), "{} twice", pattern.id);
            for needle in &pattern.needles {
                assert!(!needle.is_empty() && plain(needle).trim() == needle.trim(), "{}", pattern.id);
            }
            assert!(["spec", "vendor", "harness"].contains(&pattern.source), "{}", pattern.id);
        }
    }

    #[test]
    fn needles_never_hide_a_match() {
        let corpus = concat!(
            include_str!("../../testdata/wordings.tsv"),
            include_str!("../../testdata/error-catalogue.tsv"),
            include_str!("catalogue.tsv")
        );
        for line in corpus.lines() {
            let text = plain(line);
            for pattern in Catalogue::get().patterns() {
                if pattern.matches(&text) {
                    let seen = pattern.needles.iter().any(|needle| text.contains(needle));
                    assert!(seen, "{} matches without a needle: {text}", pattern.id);
                }
            }
        }
    }
}
