//! A table on a terminal: the least important columns go where the width runs out, then cells are broken. A table is never
//! wider than was asked for, whatever stands in it.

use unicode_width::UnicodeWidthStr;

use super::wrap::wrap_hard;
use super::{Layout, paint, push_paragraph};
use crate::report::document::{Cell, Table, Tone};

/// Blanks between two columns.
const GAP: usize = 2;
/// No column of text is made narrower before those of numbers are.
const NARROW: usize = 8;

pub(super) fn push(out: &mut String, table: &Table, layout: Layout) {
    if table.rows.is_empty() {
        return;
    }
    out.push('\n');
    if !table.title.is_empty() {
        push_paragraph(out, &Cell::toned(table.title.clone(), Tone::Strong), layout, "");
    }
    let shown = columns_that_fit(table, layout.width);
    let widths = widths(table, &shown, layout.width);
    let head: Vec<Cell> = shown.iter().map(|i| Cell::toned(table.columns[*i].title.clone(), Tone::Faint)).collect();
    push_row(out, &head.iter().collect::<Vec<_>>(), table, &shown, &widths, layout);
    let full = widths.iter().sum::<usize>() + GAP * shown.len().saturating_sub(1);
    out.push_str(&"─".repeat(full));
    out.push('\n');
    for row in &table.rows {
        push_row(out, &shown.iter().map(|i| &row[*i]).collect::<Vec<_>>(), table, &shown, &widths, layout);
    }
    if let Some(note) = &table.note {
        push_paragraph(out, &Cell::toned(note.clone(), Tone::Faint), layout, "");
    }
}

fn push_row(out: &mut String, cells: &[&Cell], table: &Table, shown: &[usize], widths: &[usize], layout: Layout) {
    let broken: Vec<Vec<String>> =
        cells.iter().zip(widths).map(|(cell, width)| wrap_hard(&cell.text, *width)).collect();
    for number in 0..broken.iter().map(Vec::len).max().unwrap_or(0) {
        let mut line = String::new();
        // Blanks are written when something follows them: no line ends with any.
        let mut owed = 0;
        for (position, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let text = broken[position].get(number).map_or("", String::as_str);
            let left = width.saturating_sub(text.width());
            let (before, after) = if table.columns[shown[position]].right { (left, 0) } else { (0, left) };
            owed += before;
            if !text.is_empty() {
                line.push_str(&" ".repeat(owed));
                line.push_str(&paint(text, cell.tone, layout.color));
                owed = 0;
            }
            let behind = if text.is_empty() { *width - before } else { after };
            owed += behind + GAP;
        }
        out.push_str(&line);
        out.push('\n');
    }
}

fn natural_width(table: &Table, column: usize) -> usize {
    let cells = table.rows.iter().map(|row| row[column].text.width());
    cells.chain([table.columns[column].title.width()]).max().unwrap_or(0)
}

/// Indices of the columns to show: those of the lowest ranks, as many as fit.
fn columns_that_fit(table: &Table, width: usize) -> Vec<usize> {
    let mut by_rank: Vec<usize> = (0..table.columns.len()).collect();
    by_rank.sort_by_key(|i| (table.columns[*i].rank, *i));
    let mut used = 0;
    let mut shown: Vec<usize> = Vec::new();
    for column in by_rank {
        let needed = natural_width(table, column) + if shown.is_empty() { 0 } else { GAP };
        if table.columns[column].rank == 0 || used + needed <= width {
            used += needed;
            shown.push(column);
        }
    }
    shown.sort_unstable();
    shown
}

/// Widths of the shown columns: the natural ones where they fit; else the widest are made narrower, texts before numbers.
fn widths(table: &Table, shown: &[usize], width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = shown.iter().map(|column| natural_width(table, *column)).collect();
    let room = width.saturating_sub(GAP * shown.len().saturating_sub(1)).max(shown.len());
    while widths.iter().sum::<usize>() > room {
        let is_text = |position: &usize| !table.columns[shown[*position]].right && widths[*position] > NARROW;
        let text = (0..widths.len()).filter(is_text).max_by_key(|position| widths[*position]);
        match text.or_else(|| (0..widths.len()).max_by_key(|position| widths[*position])) {
            Some(widest) if widths[widest] > 1 => widths[widest] -= 1,
            _ => break,
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::Column;

    fn drawn(width: usize) -> Vec<String> {
        let table = Table {
            columns: vec![Column::text("会话", 0), Column::number("次数", 0), Column::text("备注", 3)],
            rows: vec![
                vec!["recover2-136d6d5c-ed94-5cf1".into(), "12,345".into(), "很长的一段中文备注".into()],
                vec!["k3".into(), "7".into(), "".into()],
            ],
            ..Table::default()
        };
        let mut out = String::new();
        push(&mut out, &table, Layout { width, color: false });
        out.lines().skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn columns_stand_under_their_heads_whatever_the_script() {
        assert_eq!(
            drawn(80),
            [
                "会话                           次数  备注",
                &"─".repeat(55),
                "recover2-136d6d5c-ed94-5cf1  12,345  很长的一段中文备注",
                "k3                                7",
            ]
        );
    }

    #[test]
    fn a_table_is_never_wider_than_asked_for() {
        for width in 8..80 {
            for line in drawn(width) {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
        assert_eq!(drawn(20)[2], "recover2-136  12,345");
        assert_eq!(drawn(20)[3], "d6d5c-ed94-5");
    }
}
