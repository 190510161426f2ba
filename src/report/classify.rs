//! The page of `classify`.

use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::lang::Language;
use super::numbers::grouped;
use crate::evidence::{ClassifyReport, FixableBy, ReleaseVerdict};
use crate::message;
use crate::message::Message;

/// Builds the page.
#[must_use]
pub fn page(report: &ClassifyReport, language: Language) -> Page {
    let mut page = Page::default();
    let supported = message!("classify.supported", code = report.supported_code.as_str(), pattern = report.pattern_id)
        .with_message("fixable", Message::new(fixable_key(report.fixable_by)));
    page.text(Cell::toned(language.render(&supported), Tone::Strong));
    let named = named_numbers(report);
    if !named.is_empty() {
        page.text(language.render(&message!("classify.numbers").with_list("list", named)));
    }
    page.blocks.push(Block::Table(Table {
        title: language.say("classify.title"),
        columns: vec![
            Column::text("dsh", 0),
            Column::text("pi-ai", 2),
            Column::text(language.say("classify.col-route"), 0),
            Column::text(language.say("classify.col-code"), 0),
            Column::text(language.say("classify.col-retried"), 0),
            Column::text(language.say("classify.col-rule"), 1),
        ],
        rows: report.releases.iter().map(|release| release_row(release, language)).collect(),
        note: Some(language.say("classify.note")),
    }));
    page
}

fn named_numbers(report: &ClassifyReport) -> Vec<Message> {
    let numbers = &report.numbers;
    [
        ("classify.requested", numbers.requested_tokens),
        ("classify.limit", numbers.limit_tokens),
        ("classify.output", numbers.output_tokens),
        ("classify.retry-after", numbers.retry_after_ms),
    ]
    .into_iter()
    .filter_map(|(key, value)| value.map(|value| Message::new(key).with("n", grouped(value))))
    .collect()
}

fn release_row(release: &ReleaseVerdict, language: Language) -> Vec<Cell> {
    let retried = if release.retried_by_default {
        Cell::toned(language.say("classify.yes"), Tone::Good)
    } else {
        Cell::toned(language.say("classify.no"), Tone::Bad)
    };
    let dsh = if release.assumed {
        language.render(&message!("classify.assumed", release = release.dsh))
    } else {
        release.dsh.to_string()
    };
    vec![
        dsh.into(),
        release.pi_ai.into(),
        if release.route == crate::evidence::Route::PiAi { "llm-pi-ai" } else { "llm-deepseek" }.into(),
        Cell::toned(release.code.clone(), Tone::Strong),
        retried,
        release.rule.into(),
    ]
}

fn fixable_key(fixable: FixableBy) -> &'static str {
    match fixable {
        FixableBy::Time => "classify.fixable-time",
        FixableBy::Request => "classify.fixable-request",
        FixableBy::BodySize => "classify.fixable-body_size",
        FixableBy::Account => "classify.fixable-account",
        FixableBy::Config => "classify.fixable-config",
        FixableBy::User => "classify.fixable-user",
        FixableBy::Unknown => "classify.fixable-unknown",
    }
}
