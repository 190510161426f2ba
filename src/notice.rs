//! Notices: everything a reader of a report must know about its input, said once and counted.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::message;
use crate::message::{Message, Value};

/// The kind of the notice that the filters leave nothing.
pub const NO_MATCH: &str = "no-match";

/// One thing seen while reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Kind, one of the ids of `docs/damage.md`.
    pub kind: &'static str,
    /// The place and what was seen.
    pub message: Message,
}

impl Notice {
    /// A notice of `kind`.
    pub fn new(kind: &'static str, message: Message) -> Self {
        Self { kind, message }
    }

    /// A notice of `kind` about a file, a directory, a session.
    pub fn at(kind: &'static str, place: impl Display, what: Message) -> Self {
        Self { kind, message: message!("notices.at", place = place, what = what) }
    }

    /// Leaves of each path the last folder and the file: enough to find a log, nothing about the machine.
    pub fn drop_folders(&mut self) {
        drop_folders(&mut self.message);
    }
}

/// Values of messages that are paths.
pub const PATHS: [&str; 5] = ["place", "other", "winner", "entry", "names"];

fn drop_folders(message: &mut Message) {
    for (name, value) in &mut message.values {
        match value {
            Value::Text(path) if PATHS.contains(name) => *path = without_folders(path),
            Value::Text(_) => {}
            Value::Message(inner) => drop_folders(inner),
            Value::List(items) => items.iter_mut().for_each(|item| match item {
                Value::Text(path) if PATHS.contains(name) => *path = without_folders(path),
                Value::Message(inner) => drop_folders(inner),
                _ => {}
            }),
        }
    }
}

/// `…/night-shift/session.jsonl.zstd`
fn without_folders(path: &str) -> String {
    let mut borders = path.trim_end_matches(['/', '\\']).rmatch_indices(['/', '\\']).map(|(at, _)| at);
    match borders.nth(1) {
        Some(border) => format!("…{}", &path[border..]),
        None => path.to_owned(),
    }
}

/// Notices of one kind, with the first of their messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeGroup {
    /// Kind.
    pub kind: &'static str,
    /// How many.
    pub count: u64,
    /// The first message.
    pub message: Message,
}

/// Groups notices by kind, in the order of the kinds' names, so that one damaged directory does not hide the rest.
pub fn group(notices: &[Notice]) -> Vec<NoticeGroup> {
    let mut groups: BTreeMap<&str, NoticeGroup> = BTreeMap::new();
    for notice in notices {
        groups
            .entry(notice.kind)
            .or_insert_with(|| NoticeGroup { kind: notice.kind, count: 0, message: notice.message.clone() })
            .count += 1;
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::without_folders;

    #[test]
    fn a_path_keeps_its_last_folder_and_file() {
        for (path, kept) in [
            ("/srv/acme/sessions/night-shift/session.jsonl.zstd", "…/night-shift/session.jsonl.zstd"),
            ("C:\\work\\acme\\sessions\\s-1", "…\\sessions\\s-1"),
            ("/srv/acme/logs/", "…/acme/logs/"),
            ("s-1/session.jsonl", "s-1/session.jsonl"),
            ("night-shift", "night-shift"),
            ("", ""),
        ] {
            assert_eq!(without_folders(path), kept);
        }
    }
}
