//! `verify`: the NDJSON contract (`docs/json.md`) and the table.

use std::collections::BTreeMap;

use serde::Serialize;

use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::failures::shorten;
use super::lang::Language;
use super::numbers::grouped;
use crate::message;
use crate::message::{Message, Value};
use crate::notice::Notice;
use crate::redact::redact;
use crate::verify::{DeepReport, Problem, Verdict, Verified};

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

/// The texts of the contract are English in every language.
fn plain(message: &Message) -> String {
    clean(&Language::English.render(message))
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
                .map(|c| CorruptFrameV1 { offset: c.offset, reason: plain(&c.reason) })
                .collect(),
            forks: v
                .forks
                .iter()
                .map(|f| ForkV1 { at_seq: f.at_seq, resumes_from_seq: f.resumes_from_seq, line: f.line })
                .collect(),
            holes: v.holes.iter().map(|h| HoleV1 { after_seq: h.after_seq, missing: h.missing }).collect(),
            unknown_types: &v.unknown_types,
            harness_verdict: v.verdict.name(),
            harness_message: v.message.as_ref().map(plain),
            damaged: v.is_damaged(),
            problems: v
                .problems
                .iter()
                .map(|p| ProblemV1 {
                    kind: p.kind,
                    offset: p.offset,
                    line: p.line,
                    seq: p.seq,
                    detail: plain(&p.detail),
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
            .map(|d| DisagreementV1 { line: d.line, seq: d.seq, detail: plain(&d.detail) })
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
pub fn page(verified: &[Verified], notices: &[Notice], language: Language) -> Page {
    let mut page = Page::default();
    let of = |verdict| grouped(verified.iter().filter(|v| v.verdict == verdict).count() as u64);
    let damaged: Vec<&Verified> = verified.iter().filter(|v| v.is_damaged()).collect();
    page.text(language.render(&message!(
        "verify.summary",
        logs = grouped(verified.len() as u64),
        loads = of(Verdict::Loads),
        repairs = of(Verdict::Repairs),
        refuses = of(Verdict::Refuses),
        damaged = grouped(damaged.len() as u64),
    )));
    page.blocks.push(Block::Table(overview(verified, language)));
    for v in damaged {
        page.blocks.push(Block::Heading(clean(&v.path)));
        page.blocks.push(Block::List(places(v, language)));
    }
    if !notices.is_empty() {
        let line = |n: &Notice| at(n.kind.to_owned(), n.message.clone());
        page.blocks.push(Block::Heading(language.say("verify.passed-over")));
        page.blocks.push(Block::List(notices.iter().map(|n| clean(&language.render(&line(n))).into()).collect()));
    }
    page
}

fn at(place: impl Into<Value>, what: impl Into<Value>) -> Message {
    Message::new("notices.at").with("place", place).with("what", what)
}

fn verdict_words(verdict: Verdict) -> Message {
    Message::new(match verdict {
        Verdict::Loads => "verify.loads",
        Verdict::Repairs => "verify.repairs",
        Verdict::Refuses => "verify.refuses",
    })
}

fn overview(verified: &[Verified], language: Language) -> Table {
    let say = |key| language.say(key);
    Table {
        title: say("verify.logs"),
        columns: vec![
            Column::text(say("verify.session"), 0),
            Column::text(say("verify.format"), 4),
            Column::number(say("verify.frames"), 6),
            Column::number(say("verify.events"), 3),
            Column::number(say("verify.torn-bytes"), 2),
            Column::number(say("verify.recovered"), 5),
            Column::number(say("verify.corrupt"), 2),
            Column::number(say("verify.forks"), 1),
            Column::number(say("verify.holes"), 1),
            Column::text(say("verify.harness"), 0),
        ],
        rows: verified.iter().map(|v| overview_row(v, language)).collect(),
        ..Table::default()
    }
}

fn overview_row(v: &Verified, language: Language) -> Vec<Cell> {
    let tone = match v.verdict {
        Verdict::Loads => Tone::Good,
        Verdict::Repairs => Tone::Warn,
        Verdict::Refuses => Tone::Bad,
    };
    let format = v.format_version.map_or_else(|| "–".to_owned(), |version| format!("v{version}"));
    let older = |format: String| language.render(&message!("verify.older", format = format));
    vec![
        v.session_id.as_deref().map_or_else(|| "–".to_owned(), |id| shorten(&clean(id), 24)).into(),
        if v.superseded { older(format).into() } else { format.into() },
        grouped(v.frames).into(),
        grouped(v.events).into(),
        grouped(v.torn_bytes).into(),
        grouped(v.recovered_events).into(),
        grouped(v.corrupt_frames.len() as u64).into(),
        grouped(v.forks.len() as u64).into(),
        grouped(v.holes.iter().fold(0, |sum, h| sum.saturating_add(h.missing))).into(),
        Cell::toned(language.render(&verdict_words(v.verdict)), tone),
    ]
}

/// Places shown of one log; NDJSON has them all.
const PLACES_SHOWN: usize = 12;

fn places(v: &Verified, language: Language) -> Vec<Cell> {
    let mut cells = Vec::new();
    if let Some(words) = &v.message {
        let tone = if v.verdict == Verdict::Refuses { Tone::Bad } else { Tone::Warn };
        let said = message!("verify.harness-says", verdict = verdict_words(v.verdict), words = words.clone());
        cells.push(Cell::toned(clean(&language.render(&said)), tone));
    }
    let deep = v
        .deep
        .iter()
        .flat_map(|d| &d.disagreements)
        .map(|d| at(Message::new("verify.deep"), at(message!("notices.line", n = d.line), d.detail.clone())));
    let all: Vec<Message> = v.problems.iter().map(problem).chain(deep).collect();
    let rest = all.len().saturating_sub(PLACES_SHOWN);
    cells.extend(all.iter().take(PLACES_SHOWN).map(|m| Cell::from(clean(&language.render(m)))));
    if rest > 0 {
        let more = message!("verify.more-places", n = grouped(rest as u64));
        cells.push(Cell::toned(language.render(&more), Tone::Faint));
    }
    cells
}

fn problem(p: &Problem) -> Message {
    let offset = p.offset.map(|n| message!("notices.byte", n = n));
    let line = p.line.map(|n| message!("notices.line", n = n));
    let seq = p.seq.map(|n| message!("verify.seq", n = n));
    let place: Vec<Message> = [offset, line, seq].into_iter().flatten().collect();
    if place.is_empty() {
        return at(p.kind, p.detail.clone());
    }
    let inner = Message::new("notices.at").with_list("place", place).with("what", p.detail.clone());
    at(p.kind, inner)
}
