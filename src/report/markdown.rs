//! A page as Markdown, short enough for a forum post.

use super::document::{Block, Page, Table};

/// Rows of a table that a forum post can hold.
const MOST_ROWS: usize = 60;

/// Renders a page.
pub fn render(page: &Page) -> String {
    let mut out = String::new();
    let mut folded = 0;
    for block in &page.blocks {
        match block {
            Block::Title(text) => out.push_str(&format!("## {}\n\n", escape(text))),
            Block::Heading(text) => out.push_str(&format!("### {}\n\n", escape(text))),
            Block::Text(cell) => out.push_str(&format!("{}\n\n", escape(&cell.text))),
            Block::List(cells) => {
                cells.iter().for_each(|cell| out.push_str(&format!("- {}\n", escape(&cell.text))));
                out.push('\n');
            }
            Block::Table(table) => push_table(&mut out, table),
            Block::Picture(_) => {}
            Block::Chart(chart) => out.push_str(&format!("{}\n\n", escape(&chart.alternative))),
            // The rest of the page; closed at its end.
            Block::Fold(title) => {
                out.push_str(&format!("<details>\n<summary>{}</summary>\n\n", escape(title)));
                folded += 1;
            }
            Block::Verbatim(text) => {
                let fence = fence(text);
                out.push_str(&format!("{fence}\n{text}\n{fence}\n\n"));
            }
        }
    }
    out.push_str(&"</details>\n".repeat(folded));
    out
}

/// Backticks that end no earlier than the text: one more than its longest run, at least three (CommonMark 4.5).
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn push_table(out: &mut String, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    if !table.title.is_empty() {
        out.push_str(&format!("**{}**\n\n", escape(&table.title)));
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out.push_str(&row(table.columns.iter().map(|c| escape(&c.title)).collect()));
    out.push_str(&row(table.columns.iter().map(|c| if c.right { "---:" } else { "---" }.to_owned()).collect()));
    for cells in table.rows.iter().take(MOST_ROWS) {
        out.push_str(&row(cells.iter().map(|c| escape(&c.text)).collect()));
    }
    if table.rows.len() > MOST_ROWS {
        let mut rest = vec![format!("… +{}", table.rows.len() - MOST_ROWS)];
        rest.resize(table.columns.len(), String::new());
        out.push_str(&row(rest));
    }
    out.push('\n');
    if let Some(note) = &table.note {
        out.push_str(&format!("{}\n\n", escape(note)));
    }
}

/// Keeps error texts from becoming markup.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' => out.extend(['\\', c]),
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}
