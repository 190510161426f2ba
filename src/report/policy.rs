//! The pages of `policy lint` and `policy schedule`.

use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::lang::Language;
use super::numbers::grouped;
use crate::message;
use crate::policy::presets::source_key;
use crate::policy::schedule::{Schedule, ScheduleEnd, Span, duration};
use crate::policy::{Candidate, LintHit, Severity};
use crate::redact::redact;

/// The page of `policy lint`. `archive_attempts`: attempts of the archive the file was held against.
#[must_use]
pub fn lint_page(file: &str, hits: &[LintHit], archive_attempts: Option<u64>, language: Language) -> Page {
    let mut page = Page::default();
    for hit in hits {
        let tone = match hit.severity {
            Severity::Error => Tone::Bad,
            Severity::Warning => Tone::Warn,
            Severity::Note => Tone::Plain,
        };
        let place = if hit.line > 0 { format!("{file}:{}", hit.line) } else { file.to_owned() };
        page.text(Cell::toned(format!("{place}: {}: {}", hit.rule, redact(&language.render(&hit.message))), tone));
        let mut below = Vec::new();
        if let Some(console) = &hit.console {
            below.push(Cell::from(language.render(&message!("policy.lint-console", text = redact(console)))));
        }
        below.push(language.render(&message!("policy.lint-why", text = redact(&language.render(&hit.reason)))).into());
        below.push(language.render(&message!("policy.lint-fix", text = redact(&language.render(&hit.fix)))).into());
        page.blocks.push(Block::List(below));
    }
    let errors = hits.iter().filter(|hit| hit.severity == Severity::Error).count() as u64;
    let summary = message!("policy.lint-summary", n = grouped(hits.len() as u64), errors = grouped(errors));
    page.text(language.render(&summary));
    let archive = match archive_attempts {
        Some(attempts) => message!("policy.lint-archive", n = grouped(attempts)),
        None => message!("policy.lint-no-archive"),
    };
    page.text(Cell::toned(language.render(&archive), Tone::Faint));
    page
}

/// The page of `policy schedule`.
#[must_use]
pub fn schedule_page(candidate: &Candidate, table: &Schedule, language: Language) -> Page {
    let mut page = Page::default();
    let say = |key| language.say(key);
    page.text(Cell::toned(candidate.name.clone(), Tone::Strong));
    page.text(Cell::toned(candidate.policy.policy_key(), Tone::Faint));
    if candidate.fixes.any() {
        let fixes = message!("policy.schedule-fixes").with_words("fixes", candidate.fixes.words());
        page.text(Cell::toned(language.render(&fixes), Tone::Warn));
    }
    let number = |key, rank| Column::number(say(key), rank);
    let end = match table.end {
        ScheduleEnd::BudgetSpent => "policy.end-spent",
        ScheduleEnd::RetryAfterTooLong => "policy.end-retry-after",
        ScheduleEnd::Endless => "policy.end-endless",
        ScheduleEnd::Cut => "policy.end-cut",
    };
    page.blocks.push(Block::Table(Table {
        title: say("policy.schedule-title"),
        columns: vec![
            number("policy.col-attempt", 0),
            number("policy.col-delay-min", 1),
            number("policy.col-delay", 0),
            number("policy.col-delay-max", 1),
            number("policy.col-total-min", 1),
            number("policy.col-total", 0),
            number("policy.col-total-max", 1),
        ],
        rows: table
            .rows
            .iter()
            .map(|row| {
                std::iter::once(row.attempt.to_string())
                    .chain(words(row.delay, language))
                    .chain(words(row.cumulative, language))
                    .map(Cell::from)
                    .collect()
            })
            .collect(),
        note: Some(say(end)),
    }));
    page
}

fn words(span: Span, language: Language) -> [String; 3] {
    [span.min_ms, span.typical_ms, span.max_ms].map(|ms| language.render(&duration(ms)))
}

/// The page of `policy schedule --list`.
#[must_use]
pub fn presets_page(presets: &[Candidate], edits: &[(&'static str, &'static str)], language: Language) -> Page {
    let say = |key| language.say(key);
    let mut page = Page::default();
    page.blocks.push(Block::Heading(say("policy.presets")));
    for preset in presets {
        page.text(Cell::toned(preset.name.clone(), Tone::Strong));
        let source = source_key(&preset.name).map_or_else(|| preset.source.clone(), |key| language.say(key));
        page.blocks.push(Block::List(vec![source.into()]));
    }
    page.text(Cell::toned(say("policy.presets-release"), Tone::Faint));
    page.blocks.push(Block::Table(Table {
        title: say("policy.edits"),
        columns: vec![Column::text(say("policy.col-edit"), 0), Column::text(say("policy.col-usage"), 0)],
        rows: edits.iter().map(|(name, usage)| vec![(*name).into(), language.say(usage).into()]).collect(),
        note: Some(say("policy.edits-note")),
    }));
    page
}
