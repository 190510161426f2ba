//! `verify`: the NDJSON contract (`docs/json.md`) and the table.

use std::collections::BTreeMap;

use serde::Serialize;

use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::failures::shorten;
use super::numbers::grouped;
use crate::notice::Notice;
use crate::redact::redact;
use crate::verify::{DeepReport, Verdict, Verified};

/// One archive (`verify --format ndjson`). Frozen: fields may be added, none renamed or dropped.
#[derive(Debug, Serialize)]
struct VerifyV1<'a> {
    schema: &'static str,
    path: String,
    session_id: Option<&'a str>,
    format_version: Option<u32>,
    generation: u32,
    superseded: bool,
    frames: u64,
    events: u64,
    inherited_events: u64,
    first_seq: Option<u64>,
    last_seq: Option<u64>,
    torn_bytes: u64,
    recovered_events: u64,
    corrupt_frames: Vec<CorruptFrameV1>,
    forks: Vec<ForkV1>,
    holes: Vec<HoleV1>,
    unknown_types: &'a BTreeMap<String, u64>,
    harness_verdict: &'static str,
    harness_message: Option<String>,
    damaged: bool,
    problems: Vec<ProblemV1>,
    deep: Option<DeepV1>,
}

#[derive(Debug, Serialize)]
struct CorruptFrameV1 {
    offset: u64,
    reason: String,
}

#[derive(Debug, Serialize)]
struct ForkV1 {
    at_seq: u64,
    resumes_from_seq: u64,
    line: u64,
}

#[derive(Debug, Serialize)]
struct HoleV1 {
    after_seq: u64,
    missing: u64,
}

#[derive(Debug, Serialize)]
struct ProblemV1 {
    kind: &'static str,
    offset: Option<u64>,
    line: Option<u64>,
    seq: Option<u64>,
    detail: String,
}

#[derive(Debug, Serialize)]
struct DeepV1 {
    packed_rows: u64,
    streams: u64,
    blocks: u64,
    disagreements: Vec<DisagreementV1>,
}

#[derive(Debug, Serialize)]
struct DisagreementV1 {
    line: u64,
    seq: Option<u64>,
    detail: String,
}

fn clean(text: &str) -> String {
    redact(text).into_owned()
}

impl<'a> VerifyV1<'a> {
    fn new(v: &'a Verified) -> Self {
        Self {
            schema: "dsh-forensics/verify/v1",
            path: clean(&v.path),
            session_id: v.session_id.as_deref(),
            format_version: v.format_version,
            generation: v.generation,
            superseded: v.superseded,
            frames: v.frames,
            events: v.events,
            inherited_events: v.inherited_events,
            first_seq: v.first_seq,
            last_seq: v.last_seq,
            torn_bytes: v.torn_bytes,
            recovered_events: v.recovered_events,
            corrupt_frames: v
                .corrupt_frames
                .iter()
                .map(|c| CorruptFrameV1 { offset: c.offset, reason: clean(&c.reason) })
                .collect(),
            forks: v
                .forks
                .iter()
                .map(|f| ForkV1 { at_seq: f.at_seq, resumes_from_seq: f.resumes_from_seq, line: f.line })
                .collect(),
            holes: v.holes.iter().map(|h| HoleV1 { after_seq: h.after_seq, missing: h.missing }).collect(),
            unknown_types: &v.unknown_types,
            harness_verdict: v.verdict.name(),
            harness_message: v.message.as_deref().map(clean),
            damaged: v.is_damaged(),
            problems: v
                .problems
                .iter()
                .map(|p| ProblemV1 {
                    kind: p.kind,
                    offset: p.offset,
                    line: p.line,
                    seq: p.seq,
                    detail: clean(&p.detail),
                })
                .collect(),
            deep: v.deep.as_ref().map(deep),
        }
    }
}

fn deep(report: &DeepReport) -> DeepV1 {
    DeepV1 {
        packed_rows: report.packed_rows,
        streams: report.streams,
        blocks: report.blocks,
        disagreements: report
            .disagreements
            .iter()
            .map(|d| DisagreementV1 { line: d.line, seq: d.seq, detail: clean(&d.detail) })
            .collect(),
    }
}

/// NDJSON: one object per archive.
///
/// # Errors
/// When a row cannot be serialised.
pub fn ndjson(verified: &[Verified]) -> anyhow::Result<String> {
    let mut out = String::new();
    for v in verified {
        out.push_str(&serde_json::to_string(&VerifyV1::new(v))?);
        out.push('\n');
    }
    Ok(out)
}

/// The page of `verify`: a summary, every log that needs a look, and the places.
pub fn page(verified: &[Verified], notices: &[Notice]) -> Page {
    let mut page = Page::default();
    let of = |verdict| verified.iter().filter(|v| v.verdict == verdict).count() as u64;
    let damaged: Vec<&Verified> = verified.iter().filter(|v| v.is_damaged()).collect();
    page.text(format!(
        "{} logs: the harness loads {}, repairs {}, refuses {}; {} damaged.",
        grouped(verified.len() as u64),
        grouped(of(Verdict::Loads)),
        grouped(of(Verdict::Repairs)),
        grouped(of(Verdict::Refuses)),
        grouped(damaged.len() as u64),
    ));
    page.blocks.push(Block::Table(overview(verified)));
    for v in damaged {
        page.blocks.push(Block::Heading(clean(&v.path)));
        page.blocks.push(Block::List(places(v)));
    }
    if !notices.is_empty() {
        page.blocks.push(Block::Heading("Passed over".to_owned()));
        page.blocks.push(Block::List(
            notices.iter().map(|n| Cell::from(format!("{}: {}", n.kind, clean(&n.message)))).collect(),
        ));
    }
    page
}

fn overview(verified: &[Verified]) -> Table {
    let mut table = Table {
        title: "Logs".to_owned(),
        columns: vec![
            Column::text("session", 0),
            Column::text("format", 4),
            Column::number("frames", 6),
            Column::number("events", 3),
            Column::number("torn bytes", 2),
            Column::number("recovered", 5),
            Column::number("corrupt", 2),
            Column::number("forks", 1),
            Column::number("holes", 1),
            Column::text("harness", 0),
        ],
        rows: Vec::new(),
        note: None,
    };
    for v in verified {
        let tone = match v.verdict {
            Verdict::Loads => Tone::Good,
            Verdict::Repairs => Tone::Warn,
            Verdict::Refuses => Tone::Bad,
        };
        let format = v.format_version.map_or_else(|| "–".to_owned(), |version| format!("v{version}"));
        table.rows.push(vec![
            v.session_id.as_deref().map_or_else(|| "–".to_owned(), |id| shorten(id, 24)).into(),
            if v.superseded { format!("{format} (older)").into() } else { format.into() },
            grouped(v.frames).into(),
            grouped(v.events).into(),
            grouped(v.torn_bytes).into(),
            grouped(v.recovered_events).into(),
            grouped(v.corrupt_frames.len() as u64).into(),
            grouped(v.forks.len() as u64).into(),
            grouped(v.holes.iter().fold(0, |sum, h| sum.saturating_add(h.missing))).into(),
            Cell::toned(v.verdict.name(), tone),
        ]);
    }
    table
}

/// Places shown of one log; NDJSON has them all.
const PLACES_SHOWN: usize = 12;

fn places(v: &Verified) -> Vec<Cell> {
    let mut cells = Vec::new();
    if let Some(message) = &v.message {
        let tone = if v.verdict == Verdict::Refuses { Tone::Bad } else { Tone::Warn };
        cells.push(Cell::toned(format!("the harness {}: {}", v.verdict.name(), clean(message)), tone));
    }
    let disagreements = v.deep.iter().flat_map(|d| &d.disagreements);
    let all: Vec<String> = v
        .problems
        .iter()
        .map(|p| {
            let offset = p.offset.map(|o| format!("byte {o}"));
            let line = p.line.map(|l| format!("line {l}"));
            let seq = p.seq.map(|s| format!("seq {s}"));
            let place: Vec<String> = [offset, line, seq].into_iter().flatten().collect();
            format!("{}: {}: {}", p.kind, place.join(", "), clean(&p.detail))
        })
        .chain(disagreements.map(|d| format!("deep: line {}: {}", d.line, clean(&d.detail))))
        .collect();
    let rest = all.len().saturating_sub(PLACES_SHOWN);
    cells.extend(all.into_iter().take(PLACES_SHOWN).map(Cell::from));
    if rest > 0 {
        cells.push(Cell::toned(format!("and {rest} more; --format ndjson has them all"), Tone::Faint));
    }
    cells
}
