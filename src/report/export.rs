//! The page of `export`: which tables were written, and where.

use std::path::Path;

use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::lang::Language;
use super::numbers::{bytes, grouped};
use crate::export::ManifestV1;
use crate::message;

/// Builds the page.
pub fn page(manifest: &ManifestV1, root: &Path, language: Language) -> Page {
    let mut page = Page::default();
    let files: u64 = manifest.tables.iter().map(|table| table.files).sum();
    let done = message!("export.done", files = grouped(files), path = root.display());
    page.text(Cell::toned(language.render(&done), Tone::Strong));
    if manifest.partial {
        page.text(Cell::toned(language.say("export.partial"), Tone::Warn));
    }
    let rows = manifest.tables.iter().map(|table| {
        vec![Cell::from(table.name), grouped(table.rows).into(), grouped(table.files).into(), bytes(table.bytes).into()]
    });
    page.blocks.push(Block::Table(Table {
        title: String::new(),
        columns: vec![
            Column::text(language.say("export.table"), 0),
            Column::number(language.say("export.rows"), 0),
            Column::number(language.say("export.files"), 1),
            Column::number(language.say("export.size"), 1),
        ],
        rows: rows.collect(),
        note: Some(language.say("export.note")),
    }));
    page
}
