//! Notices: everything a reader of a report must know about its input, said once and counted.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::message;
use crate::message::Message;

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
