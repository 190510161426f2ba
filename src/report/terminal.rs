//! A page for a terminal: paragraphs broken at the width, tables as `grid` lays them out.

mod grid;
mod wrap;

use unicode_width::UnicodeWidthStr;

use super::document::{Block, Cell, Page, Tone};

pub use wrap::wrap;

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
            Block::Table(table) => grid::push(out, table, layout),
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
