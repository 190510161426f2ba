//! The page of `classify`.

use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::numbers::optional;
use crate::evidence::ClassifyReport;

/// Builds the page.
pub fn page(report: &ClassifyReport) -> Page {
    let mut page = Page::default();
    let supported = format!(
        "The text supports {} (who can fix it: {}; wording {}).",
        report.supported_code.as_str(),
        report.fixable_by.as_str(),
        report.pattern_id
    );
    page.text(Cell::toned(supported, Tone::Strong));
    let numbers = &report.numbers;
    let named: Vec<String> = [
        ("requested tokens", numbers.requested_tokens),
        ("limit", numbers.limit_tokens),
        ("output tokens", numbers.output_tokens),
        ("retry after, ms", numbers.retry_after_ms),
    ]
    .into_iter()
    .filter(|(_, value)| value.is_some())
    .map(|(name, value)| format!("{name} {}", optional(value)))
    .collect();
    if !named.is_empty() {
        page.text(format!("Numbers in it: {}.", named.join(", ")));
    }
    let rows = report.releases.iter().map(|release| {
        let retried =
            if release.retried_by_default { Cell::toned("yes", Tone::Good) } else { Cell::toned("no", Tone::Bad) };
        let assumed = if release.assumed { " (assumed)" } else { "" };
        vec![
            Cell::from(format!("{}{assumed}", release.dsh)),
            release.pi_ai.into(),
            if release.route == crate::evidence::Route::PiAi { "llm-pi-ai" } else { "llm-deepseek" }.into(),
            Cell::toned(release.code.clone(), Tone::Strong),
            retried,
            release.rule.into(),
        ]
    });
    page.blocks.push(Block::Table(Table {
        title: "The harness's code, by release".to_owned(),
        columns: vec![
            Column::text("dsh", 0),
            Column::text("pi-ai", 2),
            Column::text("route", 0),
            Column::text("code", 0),
            Column::text("retried", 0),
            Column::text("rule", 1),
        ],
        rows: rows.collect(),
        note: Some("retried: by the default policy".to_owned()),
    }));
    page
}
