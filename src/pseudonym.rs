//! In: what was read, for `--redact strict`.
//! Out: the same with stable pseudonyms in place of session ids, project names and paths.
//! Always: a name has the same pseudonym in every run; the names cannot be read back from a report, only guessed.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::discover::parse_log_name;
use crate::message::{Message, Value};
use crate::notice::{Notice, PATHS};
use crate::pipeline::Dataset;
use crate::verify::Verified;

/// Separates these hashes from plain ones of the same names.
const KEY: &[u8] = b"dsh-forensics/pseudonym/v1\n";

/// The pseudonyms of a run: known names are replaced wherever they stand as a word.
#[derive(Debug, Default)]
pub struct Pseudonyms {
    known: BTreeMap<String, String>,
}

fn hashed(kind: &str, name: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(KEY);
    hash.update(kind.as_bytes());
    hash.update(b"\n");
    hash.update(name.as_bytes());
    let digest = hash.finalize();
    let hex: String = digest.iter().take(4).map(|b| format!("{b:02x}")).collect();
    format!("{kind}-{hex}")
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || "\"'`(),;!：，；。、（）".contains(c)
}

impl Pseudonyms {
    /// `session-3fa2c1d0`
    pub fn session(&mut self, id: &str) -> String {
        self.known.entry(id.to_owned()).or_insert_with(|| hashed("session", id)).clone()
    }

    /// `project-3fa2c1d0`
    pub fn project(&mut self, name: &str) -> String {
        self.known.entry(name.to_owned()).or_insert_with(|| hashed("project", name)).clone()
    }

    /// A path: every name in it, but for the file names of logs.
    pub fn path(&self, path: &str) -> String {
        let name = |part: &str| match self.known.get(part) {
            Some(pseudonym) => pseudonym.clone(),
            None if part.is_empty() || [".", "..", "~", "-", "demo"].contains(&part) => part.to_owned(),
            None if parse_log_name(part).is_some() => part.to_owned(),
            None => hashed("dir", part),
        };
        let mut out = String::with_capacity(path.len());
        for piece in path.split_inclusive(['/', '\\', '!']) {
            let part = piece.trim_end_matches(['/', '\\', '!']);
            out.push_str(&name(part));
            out.push_str(&piece[part.len()..]);
        }
        out
    }

    /// Running text: names that are known, and absolute paths.
    pub fn text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive(is_border) {
            let word = piece.trim_end_matches(is_border);
            let bare = word.trim_end_matches([':', '.']);
            let absolute = (bare.starts_with(['/', '~', '\\']) || bare.get(1..3) == Some(":\\")) && bare.len() > 1;
            match self.known.get(bare) {
                Some(pseudonym) => out.push_str(pseudonym),
                None if absolute => out.push_str(&self.path(bare)),
                None => out.push_str(bare),
            }
            out.push_str(&piece[bare.len()..]);
        }
        out
    }

    fn message(&self, message: &mut Message) {
        for (name, value) in &mut message.values {
            self.value(name, value);
        }
    }

    fn value(&self, name: &str, value: &mut Value) {
        match value {
            Value::Text(text) if PATHS.contains(&name) => {
                *text = self.path(text);
            }
            Value::Text(text) => *text = self.text(text),
            Value::Message(inner) => self.message(inner),
            Value::List(items) => items.iter_mut().for_each(|item| self.value(name, item)),
        }
    }

    /// Notices, in place.
    pub fn notices(&self, notices: &mut [Notice]) {
        notices.iter_mut().for_each(|notice| self.message(&mut notice.message));
    }

    /// Everything that was read, in place. To be called before anything is analysed, so that no report knows more.
    pub fn dataset(&mut self, dataset: &mut Dataset) {
        for session in &mut dataset.sessions {
            session.id = self.session(&session.id);
            session.project = session.project.as_deref().map(|name| self.project(name));
            session.parent_session = session.parent_session.as_deref().map(|id| self.session(id));
        }
        for session in &mut dataset.sessions {
            session.path = self.path(&session.path);
            let attempts = session.attempts.iter_mut().filter_map(|a| a.failure.as_mut());
            let turns = session.turns.iter_mut().filter_map(|t| t.failure.as_mut());
            let compactions = session.compactions.iter_mut().filter_map(|c| c.error.as_mut());
            attempts.chain(turns).chain(compactions).for_each(|failure| failure.message = self.text(&failure.message));
        }
        self.notices(&mut dataset.notices);
    }

    /// Verified logs, in place.
    pub fn verified(&mut self, verified: &mut [Verified]) {
        for log in verified.iter_mut() {
            log.session_id = log.session_id.as_deref().map(|id| self.session(id));
        }
        for log in verified {
            log.path = self.path(&log.path);
            log.message.iter_mut().for_each(|message| self.message(message));
            log.problems.iter_mut().for_each(|problem| self.message(&mut problem.detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pseudonyms;

    #[test]
    fn names_are_stable_and_paths_keep_their_shape() {
        let mut names = Pseudonyms::default();
        let session = names.session("7431dfda-f8b0");
        assert_eq!(session, Pseudonyms::default().session("7431dfda-f8b0"), "the same in every run");
        assert_ne!(session, names.session("7431dfda-f8b1"));
        assert_ne!(session.trim_start_matches("session-"), names.project("x").trim_start_matches("project-"));
        let path = names.path("/data/harbour/7431dfda-f8b0/session.v2.jsonl.zstd");
        assert!(path.starts_with("/dir-") && path.ends_with(&format!("/{session}/session.v2.jsonl.zstd")), "{path}");
        assert!(!path.contains("harbour"));
    }

    #[test]
    fn text_keeps_what_is_no_name() {
        let mut names = Pseudonyms::default();
        let session = names.session("abc-1");
        assert_eq!(
            names.text("400 status code (no body), turn/end of abc-1: text/html"),
            format!("400 status code (no body), turn/end of {session}: text/html")
        );
        assert!(!names.text("ENOENT: open '/srv/secret-plan/a.txt'").contains("secret-plan"));
    }
}
