//! A page for a terminal: comfy-table tables that drop their least important columns where the width runs out.

use comfy_table::{
    Attribute, Cell as TableCell, CellAlignment, Color, ContentArrangement, LineStyle, Table as Grid, TableStyle,
};
use unicode_width::UnicodeWidthStr;

use super::document::{Block, Cell, Page, Table, Tone};

/// Layout of a terminal page.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colours are wanted.
    pub color: bool,
}

/// Renders a page.
pub fn render(page: &Page, layout: Layout) -> String {
    let mut out = String::new();
    push_blocks(&mut out, &page.blocks, layout);
    out
}

fn push_blocks(out: &mut String, blocks: &[Block], layout: Layout) {
    for block in blocks {
        match block {
            Block::Title(text) => push_paragraph(out, &Cell::toned(text.clone(), Tone::Strong), layout, ""),
            Block::Heading(text) => {
                out.push('\n');
                push_paragraph(out, &Cell::toned(text.clone(), Tone::Strong), layout, "");
            }
            Block::Text(cell) => push_paragraph(out, cell, layout, ""),
            Block::List(cells) => cells.iter().for_each(|cell| push_paragraph(out, cell, layout, "• ")),
            Block::Table(table) => push_table(out, table, layout),
            Block::Verbatim(text) => {
                out.push_str(text);
                out.push('\n');
            }
            Block::Fold(_) | Block::Picture(_) => {}
            Block::Chart(chart) => {
                out.push('\n');
                push_paragraph(out, &Cell::toned(chart.title.clone(), Tone::Strong), layout, "");
                out.push_str(&super::bars::draw(chart, layout));
                push_paragraph(out, &Cell::toned(chart.alternative.clone(), Tone::Faint), layout, "");
            }
            Block::Card(card) => {
                out.push('\n');
                let title = Cell::toned(format!("{}: {} [{}]", card.badge.text, card.title, card.id), card.badge.tone);
                push_paragraph(out, &title, layout, "");
                push_blocks(out, &card.blocks, layout);
                for (title, blocks) in &card.folded {
                    push_paragraph(out, &Cell::toned(title.clone(), Tone::Strong), layout, "");
                    push_blocks(out, blocks, layout);
                }
            }
        }
    }
}

/// Wraps at spaces, or between wide characters, which need none.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let (mut line, mut used) = (String::new(), 0);
        let mut pieces: Vec<String> = Vec::new();
        for c in paragraph.chars() {
            let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) > 1;
            match pieces.last_mut() {
                // Chinese punctuation never begins a line.
                Some(piece)
                    if !wide && !piece.ends_with(' ') && !ends_wide(piece) || "，。；：！？、）」".contains(c) =>
                {
                    piece.push(c)
                }
                Some(piece) if c == ' ' => piece.push(c),
                _ => pieces.push(c.to_string()),
            }
        }
        for piece in pieces {
            let needed = piece.trim_end().width();
            if used > 0 && used + needed > width {
                lines.push(line.trim_end().to_owned());
                line.clear();
                used = 0;
            }
            used += piece.width();
            line.push_str(&piece);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

fn ends_wide(piece: &str) -> bool {
    piece.chars().next_back().is_some_and(|c| unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) > 1)
}

fn push_paragraph(out: &mut String, cell: &Cell, layout: Layout, bullet: &str) {
    let indent = " ".repeat(bullet.width());
    for (number, line) in wrap(&cell.text, layout.width.saturating_sub(indent.len()).max(20)).iter().enumerate() {
        out.push_str(if number == 0 { bullet } else { &indent });
        out.push_str(&paint(line, cell.tone, layout.color));
        out.push('\n');
    }
}

/// Colours one line.
pub fn paint(text: &str, tone: Tone, color: bool) -> String {
    let code = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Bad => "31",
        Tone::Good => "32",
        Tone::Warn => "33",
        Tone::Faint => "2",
        Tone::Strong => "1",
    };
    if color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

fn push_table(out: &mut String, table: &Table, layout: Layout) {
    if table.rows.is_empty() {
        return;
    }
    out.push('\n');
    if !table.title.is_empty() {
        push_paragraph(out, &Cell::toned(table.title.clone(), Tone::Strong), layout, "");
    }
    let shown = columns_that_fit(table, layout.width);
    let mut grid = Grid::new();
    grid.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    grid.set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(u16::try_from(layout.width).unwrap_or(u16::MAX));
    if layout.color {
        grid.enforce_styling();
    } else {
        grid.force_no_tty();
    }
    let align = |right| if right { CellAlignment::Right } else { CellAlignment::Left };
    grid.set_header(shown.iter().map(|i| {
        let column = &table.columns[*i];
        TableCell::new(&column.title).set_alignment(align(column.right)).add_attribute(Attribute::Dim)
    }));
    for row in &table.rows {
        grid.add_row(shown.iter().map(|i| styled(&row[*i]).set_alignment(align(table.columns[*i].right))));
    }
    for (position, column) in grid.column_iter_mut().enumerate() {
        // The grid puts a blank between columns of its own: with one more the gap is the two that `columns_that_fit` counts.
        column.set_padding((0, u16::from(position + 1 != shown.len())));
    }
    for line in grid.to_string().lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if let Some(note) = &table.note {
        push_paragraph(out, &Cell::toned(note.clone(), Tone::Faint), layout, "");
    }
}

fn styled(cell: &Cell) -> TableCell {
    let styled = TableCell::new(&cell.text);
    match cell.tone {
        Tone::Plain => styled,
        Tone::Bad => styled.fg(Color::Red),
        Tone::Good => styled.fg(Color::Green),
        Tone::Warn => styled.fg(Color::Yellow),
        Tone::Faint => styled.add_attribute(Attribute::Dim),
        Tone::Strong => styled.add_attribute(Attribute::Bold),
    }
}

/// Indices of the columns to show: those of the lowest ranks, as many as fit.
fn columns_that_fit(table: &Table, width: usize) -> Vec<usize> {
    let natural = |i: usize| {
        table.rows.iter().map(|r| r[i].text.width()).chain([table.columns[i].title.width()]).max().unwrap_or(0)
    };
    let mut by_rank: Vec<usize> = (0..table.columns.len()).collect();
    by_rank.sort_by_key(|i| (table.columns[*i].rank, *i));
    let mut used = 0;
    let mut shown: Vec<usize> = Vec::new();
    for column in by_rank {
        let needed = natural(column) + if shown.is_empty() { 0 } else { 2 };
        if table.columns[column].rank == 0 || used + needed <= width {
            used += needed;
            shown.push(column);
        }
    }
    shown.sort_unstable();
    shown
}
