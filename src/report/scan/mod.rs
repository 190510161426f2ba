//! In: what was read and counted.
//! Out: the page of `scan`: what a person wants to know first, from the top down.
//! Always: the verdict in words, then findings, then charts, then tables; nothing is counted here.

mod tables;

use jiff::tz::TimeZone;

use super::charts::{fill, fill_rate, over_time, retries};
use super::compactions;
use super::correlation;
use super::document::{Block, Cell, Page, Tone};
use super::findings::Found;
use super::lang::Language;
use super::numbers::{bytes, grouped, moment, percent, span};
use super::words;
use crate::charts::Charts;
use crate::message;
use crate::message::Message;
use crate::notice::{self, NO_MATCH};
use crate::pipeline::Dataset;
use crate::redact::redact;
use crate::summary::Summary;

/// Builds the page.
pub fn page(
    dataset: &Dataset,
    summary: &Summary,
    found: &Found,
    charts: &Charts,
    zone: &TimeZone,
    narrowed: bool,
    language: Language,
) -> Page {
    let mut page = Page::default();
    page.blocks.push(Block::Title(language.render(&headline(dataset, summary))));
    let faint = |message: &Message| Cell::toned(language.render(message), Tone::Faint);
    page.text(faint(&span_line(summary, zone)));
    page.text(faint(&inputs_line(dataset)));
    if narrowed {
        page.text(Cell::toned(language.say("scan.filtered"), Tone::Warn));
    }
    for notice in dataset.notices.iter().filter(|notice| notice.kind == NO_MATCH) {
        page.text(Cell::toned(redact(&language.render(&notice.message)).into_owned(), Tone::Warn));
    }
    if dataset.is_partial() {
        let partial = message!("scan.partial", n = grouped(dataset.inputs.unreadable_archives));
        page.text(Cell::toned(language.render(&partial), Tone::Warn));
    }
    let (mut brief, levels) = (super::findings::brief(found, language), tables::levels(summary, language));
    if found.in_full {
        // The counts belong to the verdict; behind all findings in full nobody would look for them.
        let findings = brief.iter().position(|block| matches!(block, Block::Heading(_))).unwrap_or(brief.len());
        brief.insert(findings, Block::Table(levels));
        page.blocks.extend(brief);
    } else {
        page.blocks.extend(brief);
        page.blocks.push(Block::Table(levels));
    }
    page.blocks.extend(over_time(charts, language).map(Block::Chart));
    page.blocks.extend(fill(charts, language).map(Block::Chart));
    page.blocks.extend(fill_rate(charts, language).map(Block::Picture));
    page.blocks.extend(retries(charts, language).map(Block::Picture));
    page.blocks.push(Block::Table(tables::codes(summary, language)));
    page.blocks.push(Block::Fold(language.say("scan.details")));
    page.blocks.push(Block::Table(tables::routes(summary, language)));
    page.blocks.push(Block::Table(super::sizes::table(&summary.sizes, language)));
    push_retries(&mut page, summary, language);
    page.blocks.push(Block::Table(tables::compactions(summary, language)));
    push_correlations(&mut page, summary, language);
    page.blocks.push(Block::Table(tables::sessions(summary, language)));
    push_unknown_types(&mut page, summary, language);
    push_notices(&mut page, dataset, language);
    page
}

fn headline(dataset: &Dataset, summary: &Summary) -> Message {
    let counts = &summary.counts;
    message!(
        "scan.headline",
        sessions = message!("scan.sessions", n = grouped(dataset.inputs.sessions)),
        steps = message!("scan.steps", n = grouped(counts.steps)),
        failed = grouped(counts.failed_steps),
        rate = percent(counts.failed_steps, counts.steps),
    )
}

fn span_line(summary: &Summary, zone: &TimeZone) -> Message {
    let (first, last) = (moment(summary.first_time, zone), moment(summary.last_time, zone));
    let zone = zone.iana_name().unwrap_or("UTC");
    match summary.first_time.zip(summary.last_time) {
        Some((a, b)) => {
            message!("scan.from-to", first = first, last = last, length = span(b.saturating_sub(a)), zone = zone)
        }
        None => message!("scan.from-to-only", first = first, last = last, zone = zone),
    }
}

fn inputs_line(dataset: &Dataset) -> Message {
    let inputs = &dataset.inputs;
    message!(
        "scan.inputs",
        n = grouped(inputs.archives),
        stored = bytes(inputs.bytes_compressed),
        logical = bytes(inputs.bytes_logical),
        frames = grouped(inputs.frames),
    )
}

/// The windows with the answer in words, and what else goes with failures.
fn push_correlations(page: &mut Page, summary: &Summary, language: Language) {
    let shown = summary.counts.compactions > 0 && summary.counts.failed_steps > 0;
    let studies = summary.compaction_study.as_ref().map_or(&[][..], |study| &study.windows);
    page.blocks.push(Block::Table(correlation::windows_table(&summary.windows, studies, shown, language)));
    if let Some(study) = summary.compaction_study.as_ref().filter(|_| shown) {
        page.text(compactions::answer(summary, study, language));
    }
    if let Some((lines, note)) = correlation::explanations(&summary.columns, language) {
        page.blocks.push(Block::Heading(language.say("compactions.columns")));
        page.blocks.push(Block::List(lines));
        page.text(note);
    }
}

fn push_retries(page: &mut Page, summary: &Summary, language: Language) {
    page.blocks.push(Block::Table(tables::retries(summary, language)));
    if summary.fates.is_empty() {
        return;
    }
    if summary.counts.retries_scheduled == 0 {
        page.blocks.push(Block::Heading(language.say("scan.no-retries")));
    }
    let fate = |(fate, n): (&&str, &u64)| message!("scan.fate", n = grouped(*n), fate = words::fate(fate));
    let chains = Message::new("scan.chains").with_list("fates", summary.fates.iter().map(fate));
    page.text(Cell::toned(language.render(&chains), Tone::Faint));
}

fn push_unknown_types(page: &mut Page, summary: &Summary, language: Language) {
    const SHOWN: usize = 8;
    if summary.unknown_types.is_empty() {
        return;
    }
    let types = summary.unknown_types.iter().take(SHOWN);
    let list = types.map(|(kind, n)| format!("{} ×{}", redact(kind), grouped(*n)));
    page.blocks.push(Block::Heading(language.say("scan.unknown-types")));
    page.text(language.render(&message!("scan.unknown-types-list").with_words("list", list)));
}

fn push_notices(page: &mut Page, dataset: &Dataset, language: Language) {
    let mut groups = notice::group(&dataset.notices);
    // Said above, where the filters are.
    groups.retain(|group| group.kind != NO_MATCH);
    if groups.is_empty() {
        return;
    }
    let line = |group: &notice::NoticeGroup| {
        let what = redact(&language.render(&group.message)).into_owned();
        let said = message!("scan.notice", kind = group.kind, what = what);
        let said =
            if group.count > 1 { message!("common.and-more", what = said, n = grouped(group.count - 1)) } else { said };
        Cell::from(language.render(&said))
    };
    page.blocks.push(Block::Heading(language.say("scan.notices")));
    page.blocks.push(Block::List(groups.iter().map(line).collect()));
}
