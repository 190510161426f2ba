//! What stands at the end of every HTML page: method, version, inputs by their hashes, what was left out.

use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

use crate::message;
use crate::message::Message;
use crate::pipeline::Dataset;
use crate::report::definitions::Term;
use crate::report::document::{Column, Table};
use crate::report::lang::Language;
use crate::report::numbers::grouped;

/// One session log that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Session id, as it may be shown.
    pub session: String,
    /// Format version, where the log states one.
    pub format: Option<u32>,
    /// Own events.
    pub events: u64,
    /// SHA-256 of the stored bytes, hexadecimal.
    pub sha256: String,
}

/// What stands behind a page.
#[derive(Debug, Clone)]
pub struct Meta {
    /// Zone of the times on the page.
    pub zone: TimeZone,
    /// How the numbers were found, in sentences.
    pub method: Vec<Message>,
    /// What was read.
    pub inputs: Vec<Input>,
    /// SHA-256 over the sorted hashes of the inputs, one a line.
    pub digest: String,
    /// What the numbers leave out.
    pub left_out: Vec<Message>,
}

impl Meta {
    /// Of a command over a dataset. `filters` as typed, without their flags' paths; empty: none.
    pub fn of(dataset: &Dataset, command: &str, filters: &str, zone: &TimeZone) -> Self {
        let name = zone.iana_name().unwrap_or("UTC");
        let mut method = vec![message!("html.version", version = env!("CARGO_PKG_VERSION"), command = command)];
        method.push(Message::new("html.estimates"));
        method.push(message!("html.times", zone = name));
        if !filters.is_empty() {
            method.push(message!("html.filters", filters = filters));
        }
        let inputs: Vec<Input> = dataset
            .sessions
            .iter()
            .map(|s| Input {
                session: crate::redact::redact(&s.id).into_owned(),
                format: s.format_version,
                events: s.events,
                sha256: s.sha256.clone().unwrap_or_default(),
            })
            .collect();
        let digest = digest(&inputs);
        Self { zone: zone.clone(), method, inputs, digest, left_out: left_out(dataset) }
    }

    /// The inputs as a table; the renderer cuts it off.
    pub(super) fn input_table(&self, language: Language) -> Table {
        Table {
            columns: vec![
                Column::text(language.say("html.input-session"), 0).means(Term::Session),
                Column::text(language.say("html.input-format"), 0),
                Column::number(language.say("html.input-events"), 0).means(Term::Seq),
                Column::text(language.say("html.input-hash"), 0),
            ],
            rows: self
                .inputs
                .iter()
                .map(|input| {
                    vec![
                        input.session.clone().into(),
                        input.format.map_or_else(|| "–".to_owned(), |v| format!("v{v}")).into(),
                        grouped(input.events).into(),
                        input.sha256.clone().into(),
                    ]
                })
                .collect(),
            ..Table::default()
        }
    }
}

fn digest(inputs: &[Input]) -> String {
    let mut hashes: Vec<&str> = inputs.iter().map(|i| i.sha256.as_str()).collect();
    hashes.sort_unstable();
    let mut all = Sha256::new();
    for hash in hashes {
        all.update(hash.as_bytes());
        all.update(b"\n");
    }
    all.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

fn left_out(dataset: &Dataset) -> Vec<Message> {
    let inputs = &dataset.inputs;
    [
        ("html.left-unreadable", inputs.unreadable_archives),
        ("html.left-generations", inputs.generations_skipped),
        ("html.left-duplicates", inputs.duplicates_skipped),
        ("html.left-inherited", inputs.inherited_events_skipped),
    ]
    .into_iter()
    .filter(|(_, n)| *n > 0)
    .map(|(key, n)| Message::new(key).with("n", grouped(n)))
    .collect()
}
