//! The page of `failures`: the verdict in words, charts, one row per failed attempt.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::{FailureV1, short_ids, shorten};
use crate::charts::Charts;
use crate::message;
use crate::message::Message;
use crate::redact::redact;
use crate::report::charts::{fill, fill_rate, over_time, retries};
use crate::report::definitions::Term;
use crate::report::document::{Block, Cell, Column, Page, Table, Tone};
use crate::report::lang::Language;
use crate::report::numbers::{grouped, moment, span};
use crate::report::words;

/// The page of `failures`.
/// `nothing_matches`: why the filters leave nothing, where they do.
pub fn page(
    rows: &[FailureV1],
    charts: &Charts,
    nothing_matches: Option<&Message>,
    partial: bool,
    zone: &TimeZone,
    language: Language,
) -> Page {
    let mut page = Page::default();
    page.blocks.push(Block::Title(if rows.is_empty() {
        language.say("failures.none")
    } else {
        language.render(&message!("failures.title", n = grouped(rows.len() as u64)))
    }));
    if let Some(why) = nothing_matches {
        page.text(Cell::toned(redact(&language.render(why)).into_owned(), Tone::Warn));
    }
    if let Some(by_code) = by_code(rows) {
        page.text(language.render(&by_code));
    }
    let contradicted = rows.iter().filter(|row| row.verdict == Some("contradicted")).count() as u64;
    if contradicted > 0 {
        let said = message!("failures.contradicted", n = grouped(contradicted), all = grouped(rows.len() as u64));
        page.text(Cell::toned(language.render(&said), Tone::Warn));
    }
    page.blocks.extend(over_time(charts, language).map(Block::Picture));
    page.blocks.extend(fill(charts, language).map(Block::Picture));
    page.blocks.extend(fill_rate(charts, language).map(Block::Picture));
    page.blocks.extend(retries(charts, language).map(Block::Picture));
    page.blocks.push(Block::Fold(language.say("failures.every")));
    let mut table = table(language);
    let ids = short_ids(rows.iter().map(|row| row.session_id.as_str()), 12);
    let id = |row: &FailureV1| ids.get(row.session_id.as_str()).map_or("", String::as_str);
    table.rows.extend(rows.iter().map(|row| cells(row, id(row), zone, language)));
    page.blocks.push(Block::Table(table));
    if partial {
        page.text(Cell::toned(language.say("failures.partial"), Tone::Warn));
    }
    page
}

/// How many of each code, most first.
fn by_code(rows: &[FailureV1]) -> Option<Message> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(&row.code).or_default() += 1);
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let said = counts.iter().map(|(code, n)| message!("failures.code-count", code = redact(code), n = grouped(*n)));
    (!counts.is_empty()).then(|| Message::new("failures.summary-codes").with_list("codes", said))
}

/// What matters most stays at 80 columns: whose request it was, its code, whether that is true, how it went on.
fn table(language: Language) -> Table {
    let say = |key| language.say(key);
    Table {
        title: say("failures.every"),
        columns: vec![
            Column::text(say("failures.time"), 3),
            Column::text(say("failures.session"), 0).means(Term::Session),
            Column::number(say("failures.seq"), 0).means(Term::Seq),
            Column::number(say("failures.place"), 2).means(Term::Place),
            Column::text(say("failures.route"), 7).means(Term::Route),
            Column::text(say("failures.code"), 0).means(Term::Code),
            Column::text(say("failures.verdict"), 1).means(Term::Verdict),
            Column::text(say("failures.fate"), 0).means(Term::Fate),
            Column::number(say("failures.after"), 8).means(Term::Duration),
            Column::number(say("failures.tokens"), 4).means(Term::PromptTokens),
            Column::number(say("failures.fill"), 2).means(Term::Fill),
            Column::number(say("failures.since-compaction"), 6).means(Term::AfterCompaction),
            Column::number(say("failures.retries"), 5).means(Term::Retry),
            Column::text(say("failures.message"), 9),
        ],
        note: Some(say("failures.note")),
        ..Table::default()
    }
}

fn cells(row: &FailureV1, id: &str, zone: &TimeZone, language: Language) -> Vec<Cell> {
    let dash = || "–".to_owned();
    let since = row.since_compaction.as_ref().map_or_else(dash, |s| {
        language.render(&message!("failures.since", events = grouped(s.events), attempts = grouped(s.attempts)))
    });
    let fate_tone = match row.chain.fate {
        Some(name) if name.starts_with("recovered") => Tone::Good,
        Some("cancelled" | "open") | None => Tone::Plain,
        Some(_) => Tone::Bad,
    };
    let verdict_tone = if row.verdict == Some("contradicted") { Tone::Warn } else { Tone::Plain };
    let said = |name: Option<&str>, of: fn(&str) -> Message| name.map_or_else(dash, |n| language.render(&of(n)));
    vec![
        moment(row.time_ms, zone).into(),
        redact(id).into_owned().into(),
        row.seq.to_string().into(),
        format!("{}.{}.{}", row.turn, row.step, row.attempt).into(),
        redact(&format!("{}/{}", row.provider, row.model)).into_owned().into(),
        redact(&row.code).into_owned().into(),
        Cell::toned(said(row.verdict, words::verdict), verdict_tone),
        Cell::toned(said(row.chain.fate, words::short_fate), fate_tone),
        row.duration_ms.map_or_else(dash, |ms| language.render(&span(ms))).into(),
        row.request.size_text().into(),
        row.request.fill.map_or_else(dash, |f| format!("{:.0} %", f * 100.0)).into(),
        since.into(),
        row.chain.retries_before.to_string().into(),
        shorten(&row.message.replace(['\n', '\r', '\t'], " "), 60).into(),
    ]
}
