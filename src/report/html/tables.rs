//! Tables: headings lead to the definitions, long tables end early and say so.

use std::fmt::Write;

use super::text::with_code;
use super::{MOST_BYTES, Writer, class, escape};
use crate::message;
use crate::report::document::{Block, Cell, Column, Page, Table};
use crate::report::numbers::grouped;

/// Rows shown of one table.
pub(super) const MOST_ROWS: usize = 300;
/// Up to this many rows each number is a link to its definition; beyond, the heading's link is enough.
const LINKED_ROWS: usize = 60;
/// Cells longer than this are wrapped, characters.
const LONG_CELL: usize = 44;
/// Words longer than this are broken where the column ends: ids, hashes.
const LONG_WORD: usize = 28;
/// As much of a cell is shown, characters.
const MOST_CHARACTERS: usize = 2_000;
/// Behind this size the rest of a table is left out, so that definitions and method still fit.
pub(super) const TABLE_BYTES: usize = MOST_BYTES / 2;

/// Whether a table of the page is longer than what is shown of it.
pub(super) fn truncated_rows(page: &Page) -> bool {
    page.blocks.iter().any(|block| matches!(block, Block::Table(table) if table.rows.len() > MOST_ROWS))
}

pub(super) fn push_table(writer: &mut Writer<'_>, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    let titled = !table.title.is_empty();
    if titled {
        let class = match (table.rows.len() > 12, table.columns.len() > 11) {
            (true, true) => " class=\"long broad\"",
            (true, false) => " class=\"long\"",
            (false, true) => " class=\"broad\"",
            (false, false) => "",
        };
        writer.begin_section(&table.title, class);
    }
    writer.out.push_str("<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead><tr>");
    for column in &table.columns {
        head(writer, column);
    }
    writer.out.push_str("</tr></thead>\n<tbody>\n");
    let linked = table.rows.len() <= LINKED_ROWS;
    let mut shown = 0;
    for row in table.rows.iter().take(MOST_ROWS) {
        if writer.out.len() > TABLE_BYTES {
            writer.rows_left_out = true;
            break;
        }
        writer.out.push_str("<tr>");
        table.columns.iter().zip(row).for_each(|(column, value)| cell(writer, column, value, linked));
        writer.out.push_str("</tr>\n");
        shown += 1;
    }
    writer.out.push_str("</tbody>\n</table>\n</div>\n");
    if shown < table.rows.len() {
        let more = message!("html.more-rows", n = grouped((table.rows.len() - shown) as u64));
        writer.say("<p class=\"note\">", &more, "</p>\n");
    }
    if let Some(note) = &table.note {
        let note = writer.sentence(note);
        let _ = writeln!(writer.out, "<p class=\"note\">{note}</p>");
    }
    if titled {
        writer.end_section();
    }
}

fn head(writer: &mut Writer<'_>, column: &Column) {
    let right = if column.right { " class=\"n\"" } else { "" };
    let title = escape(&column.title);
    let _ = match column.term {
        Some(term) => {
            writer.terms.insert(term);
            write!(writer.out, "<th scope=\"col\"{right}><a href=\"#{}\">{title}</a></th>", term.anchor())
        }
        None => write!(writer.out, "<th scope=\"col\"{right}>{title}</th>"),
    };
}

fn cell(writer: &mut Writer<'_>, column: &Column, value: &Cell, linked: bool) {
    let characters = value.text.chars().count();
    let long = characters > LONG_CELL;
    let width = match value.text.contains(char::is_whitespace) {
        true if long => "long",
        false if characters > LONG_WORD => "id",
        _ => "",
    };
    let tone = class(value.tone).trim_start_matches(" class=\"").trim_end_matches('"');
    let classes = [if column.right { "n" } else { "" }, tone, width];
    let classes: Vec<&str> = classes.into_iter().filter(|c| !c.is_empty()).collect();
    let classes = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
    let text = if long {
        with_code(&value.text.chars().take(MOST_CHARACTERS).collect::<String>())
    } else {
        with_code(&value.text)
    };
    let term = value.term.or(column.term.filter(|_| linked && column.right));
    let _ = match term {
        Some(term) => {
            writer.terms.insert(term);
            // Not in the order of the tab key: the headings are, and lead to the same places.
            write!(writer.out, "<td{classes}><a href=\"#{}\" tabindex=\"-1\">{text}</a></td>", term.anchor())
        }
        None => write!(writer.out, "<td{classes}>{text}</td>"),
    };
}
