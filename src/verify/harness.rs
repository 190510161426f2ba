//! What the harness does with a log at the next load. Source: its session persistence, release 0.1.1-rc.2 (frame scan,
//! header check, committed-prefix scan, repair of interrupted turns); later formats are judged by the same rules.

use std::borrow::Cow;

use serde::Deserialize;

use super::FrameStructure;
use super::row::{StorageRow, storage_row};
use crate::archive::{ArchiveReport, FrameFault, Line, LinePlace};
use crate::event::{NEWEST_FORMAT, Text, is_harness_type};
use crate::message;
use crate::message::Message;
use crate::report::lang::Language;

/// What the harness would do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It loads the file as it stands.
    Loads,
    /// It loads it after cutting off a torn tail or closing an interrupted turn.
    Repairs,
    /// It does not load it.
    Refuses,
}

impl Verdict {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loads => "loads",
            Self::Repairs => "repairs",
            Self::Refuses => "refuses",
        }
    }
}

/// Numbers that come of reading every line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbers {
    pub(super) first_seq: Option<u64>,
    pub(super) last_seq: Option<u64>,
    pub(super) recovered_events: u64,
}

/// Follows a log line by line as the harness's loader does.
pub(super) struct HarnessJudge {
    structure: Option<FrameStructure>,
    named_zstd: bool,
    lines_seen: u64,
    last_line: u64,
    header_fault: Option<String>,
    /// Version and id, where the version is not the harness's.
    version_fault: Option<String>,
    id: String,
    expected: u64,
    /// The first thing that ends the committed prefix, and the offset of its frame or line.
    issue: Option<(String, u64)>,
    /// The same once a turn's end follows it: the harness then throws.
    fatal: Option<(String, u64)>,
    committed_end: u64,
    unsupported: Option<String>,
    bad_envelope: Option<String>,
    open_turn: Option<f64>,
    first_seq: Option<u64>,
    last_seq: Option<u64>,
    last_frame: Option<(u64, u64)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeaderShape {
    r#type: Option<Text>,
    version: Option<f64>,
    id: Option<Text>,
    created_at: Option<f64>,
    delegation_depth: Option<f64>,
}

impl HarnessJudge {
    pub(super) fn new(structure: Option<FrameStructure>, named_zstd: bool) -> Self {
        Self {
            structure,
            named_zstd,
            lines_seen: 0,
            last_line: 0,
            header_fault: None,
            version_fault: None,
            id: String::new(),
            expected: 0,
            issue: None,
            fatal: None,
            committed_end: 0,
            unsupported: None,
            bad_envelope: None,
            open_turn: None,
            first_seq: None,
            last_seq: None,
            last_frame: None,
        }
    }

    pub(super) fn line(&mut self, line: &Line<'_>) {
        self.lines_seen += 1;
        let text = match std::str::from_utf8(line.raw) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(line.raw),
        };
        let row = storage_row(&text);
        self.count(row.as_ref(), line);
        // Behind the point where its frame scan ends, the harness sees nothing.
        if let Some(FrameStructure::TornAt(at)) = self.structure
            && line.place.offset > at
        {
            return;
        }
        if self.lines_seen == 1 {
            self.header(&text);
        } else {
            self.event(row, line);
        }
        if self.issue.is_none() {
            self.committed_end = line.place.offset + line.raw.len() as u64 + 1;
        }
        self.last_line = line.place.line;
    }

    /// Seqs as read by us, and events per frame: those of a torn last frame are recovered ones.
    fn count(&mut self, row: Option<&StorageRow>, line: &Line<'_>) {
        let Some(row) = row.filter(|r| r.kind != "session") else { return };
        if let Some(seq) = row.seq.filter(|s| *s >= 0.0) {
            let seq = seq as u64;
            let last = seq.saturating_add(row.members - 1);
            self.first_seq = Some(self.first_seq.map_or(seq, |s| s.min(seq)));
            self.last_seq = Some(self.last_seq.map_or(last, |s| s.max(last)));
        }
        if let LinePlace { frame: Some(frame), .. } = line.place {
            match &mut self.last_frame {
                Some((number, events)) if *number == frame => *events += row.members,
                other => *other = Some((frame, row.members)),
            }
        }
    }

    fn header(&mut self, text: &str) {
        if !text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() {
            self.header_fault = Some("corrupt session log: header line is not valid JSON".to_owned());
            return;
        }
        let Ok(header) = serde_json::from_str::<HeaderShape>(text) else {
            let json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            let why = if json { "first line is not a session header" } else { "header line is not valid JSON" };
            self.header_fault = Some(format!("corrupt session log: {why}"));
            return;
        };
        self.id = header.id.as_ref().map(|id| id.0.clone()).unwrap_or_default();
        if let Some(version) = header.version.filter(|v| *v > f64::from(NEWEST_FORMAT)) {
            self.version_fault = Some(format!(
                "session \"{}\" uses log format v{version}, but this harness reads only v{NEWEST_FORMAT}: the log was written by a newer harness — upgrade the harness to open it",
                self.id
            ));
            return;
        }
        let natural = |value: Option<f64>| value.is_some_and(|v| v >= 0.0 && v.fract() == 0.0);
        let whole = header.r#type.is_some_and(|t| t.0 == "session")
            && header.version.is_some()
            && header.id.is_some()
            && natural(header.created_at)
            && natural(header.delegation_depth);
        if !whole {
            self.header_fault = Some("corrupt session log: first line is not a session header".to_owned());
        }
    }

    fn event(&mut self, row: Option<StorageRow>, line: &Line<'_>) {
        let place = line.place;
        if place.line > self.last_line + 1 {
            // A blank line is no JSON.
            self.break_prefix(format!("unparsable committed event at line {}", self.last_line), place.offset);
        }
        let number = place.line.saturating_sub(1);
        let Some(row) = row else {
            self.break_prefix(format!("unparsable committed event at line {number}"), place.offset);
            return;
        };
        if self.issue.is_none() && row.seq != Some(self.expected as f64) {
            let got = row.seq.map_or_else(|| "undefined".to_owned(), |seq| seq.to_string());
            let expected = self.expected;
            self.break_prefix(
                format!("seq gap in committed region at line {number} (expected {expected}, got {got})"),
                place.offset,
            );
        }
        if let Some((issue, _)) = &self.issue {
            if row.kind == "turn/end" && self.fatal.is_none() {
                self.fatal = Some((issue.clone(), place.offset));
            }
            return;
        }
        self.commit(&row);
    }

    fn break_prefix(&mut self, what: String, offset: u64) {
        self.issue.get_or_insert_with(|| (format!("corrupt session log: {what}"), offset));
    }

    fn commit(&mut self, row: &StorageRow) {
        if self.unsupported.is_none() && !row.ignorable && !is_harness_type(&row.kind) {
            self.unsupported = Some(format!(
                "session \"{}\" contains event type \"{}\" (seq {}) unknown to this harness and not marked ignorable; refusing to interpret the log — it was likely written by a newer harness",
                self.id, row.kind, self.expected
            ));
        }
        if self.bad_envelope.is_none() && row.odd_envelope {
            self.bad_envelope = Some(format!(
                "stored session \"{}\" failed validation: Error: seed event at index {} has an invalid event envelope",
                self.id, self.expected
            ));
        }
        match row.kind.as_str() {
            "turn/start" => self.open_turn = row.turn,
            "turn/end" => self.open_turn = None,
            _ => {}
        }
        self.expected += row.members;
    }

    pub(super) fn numbers(&self, report: &ArchiveReport) -> Numbers {
        let torn_frame = report.damage.iter().find(|d| d.kind == "torn-frame").and_then(|d| d.frame);
        let recovered_events = match (self.last_frame, torn_frame) {
            (Some((frame, events)), Some(torn)) if frame == torn => events,
            _ => 0,
        };
        Numbers { first_seq: self.first_seq, last_seq: self.last_seq, recovered_events }
    }

    /// The verdict, with what the harness would say or write.
    pub(super) fn verdict(&self, report: &ArchiveReport) -> (Verdict, Option<Message>) {
        match self.refusal(report) {
            Some(message) => (Verdict::Refuses, Some(Message::verbatim(message))),
            None => match self.repair(report) {
                Some(message) => (Verdict::Repairs, Some(message)),
                None => (Verdict::Loads, None),
            },
        }
    }

    fn refusal(&self, report: &ArchiveReport) -> Option<String> {
        let zstd = self.structure.is_some();
        if let Some(error) = report.damage.iter().find(|d| d.kind == "read-error") {
            return Some(Language::English.render(&error.detail));
        }
        if self.named_zstd && !zstd && report.bytes_compressed >= 4 {
            return Some("corrupt Zstandard session log: invalid frame magic at byte 0".to_owned());
        }
        match &self.structure {
            Some(FrameStructure::Broken(at, FrameFault::NoFrame)) => {
                return Some(format!("corrupt Zstandard session log: invalid frame magic at byte {at}"));
            }
            Some(FrameStructure::Broken(at, fault)) => {
                return Some(format!("corrupt Zstandard session log: {} (frame at byte {at})", zstd_reason(*fault)));
            }
            Some(FrameStructure::TornAt(0)) => {
                return Some("empty or header-less Zstandard session log".to_owned());
            }
            _ => {}
        }
        if let Some(offset) = self.failed_frame(report) {
            let before = self.fatal.as_ref().filter(|(_, at)| *at < offset);
            return Some(before.map_or_else(
                || format!("corrupt Zstandard session log: frame at byte {offset} failed validation"),
                |(message, _)| message.clone(),
            ));
        }
        if self.lines_seen == 0 {
            return Some(format!("empty or header-less {}session log", if zstd { "Zstandard " } else { "" }));
        }
        if zstd && report.frames > 0 && report.first_frame_lines != 1 {
            return Some("corrupt Zstandard session log: first frame is not exactly one header line".to_owned());
        }
        if report.damage.iter().any(|d| d.kind == "bom") {
            return Some("corrupt session log: header line is not valid JSON".to_owned());
        }
        if let Some(fault) = self.header_fault.as_ref().or(self.version_fault.as_ref()) {
            return Some(fault.clone());
        }
        if let Some((message, _)) = &self.fatal {
            return Some(message.clone());
        }
        if zstd && self.broken_in_complete_frame(report) {
            return Some("corrupt Zstandard session log: complete frame contains a torn JSONL record".to_owned());
        }
        self.unsupported.clone().or_else(|| self.bad_envelope.clone())
    }

    /// The first whole frame that does not decode, in front of the point where the harness's frame scan ends.
    fn failed_frame(&self, report: &ArchiveReport) -> Option<u64> {
        let first = report.damage.iter().find(|d| d.kind == "corrupt-frame")?.offset;
        match self.structure {
            Some(FrameStructure::TornAt(at)) if first >= at => None,
            _ => Some(first),
        }
    }

    fn broken_in_complete_frame(&self, report: &ArchiveReport) -> bool {
        let torn_at = match self.structure {
            Some(FrameStructure::TornAt(at)) => at,
            _ => u64::MAX,
        };
        let half_line = report.damage.iter().any(|d| d.kind == "torn-line");
        half_line || self.issue.as_ref().is_some_and(|(_, offset)| *offset < torn_at)
    }

    fn repair(&self, report: &ArchiveReport) -> Option<Message> {
        let mut parts = Vec::new();
        if let Some(FrameStructure::TornAt(at)) = self.structure {
            let recovered = self.numbers(report).recovered_events;
            let lost = report.damage.iter().any(|d| d.kind == "corrupt-frame");
            parts.push(if lost {
                message!("verify.cuts-frames", at = at)
            } else {
                message!("verify.cuts-torn-frame", at = at, n = recovered)
            });
        } else if self.structure.is_none() {
            let drop = report.bytes_compressed.saturating_sub(self.committed_end);
            if let Some((issue, _)) = &self.issue {
                parts.push(message!("verify.cuts-uncommitted", at = self.committed_end, n = drop, issue = issue));
            } else if drop > 0 {
                parts.push(message!("verify.cuts-last-line", at = self.committed_end));
            }
        }
        if let Some(turn) = self.open_turn {
            parts.push(message!("verify.closes-turn", turn = turn));
        }
        parts.into_iter().reduce(|first, second| message!("verify.and-then", first = first, second = second))
    }
}

/// The harness's words for a fault of a frame.
fn zstd_reason(fault: FrameFault) -> String {
    Language::English.render(&fault.message())
}
