//! In: a [`crate::check::CheckResult`].
//! Out: what CI systems read: a page, JSON, SARIF, JUnit XML, annotations of GitHub.
//! Always: no message contents, no paths; the same result gives the same bytes; limits say how much is left out.

pub mod github;
pub mod json;
pub mod junit;
pub mod page;
pub mod sarif;

use super::lang::Language;
use crate::message::Message;
use crate::redact::redact;

/// Longest text of one item, characters.
const MOST_TEXT: usize = 400;

/// A message on one line, without secrets, of a bounded length.
fn words(message: &Message, language: Language) -> String {
    one_line(&language.render(message))
}

/// See [`words`].
fn one_line(text: &str) -> String {
    let clean = redact(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let clean: String = clean.chars().filter(|c| !c.is_control()).collect();
    if clean.chars().count() <= MOST_TEXT {
        return clean;
    }
    clean.chars().take(MOST_TEXT - 1).chain(['…']).collect()
}
