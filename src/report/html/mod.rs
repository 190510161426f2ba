//! In: a page, and what stands behind it ([`Meta`]).
//! Out: one HTML file without scripts and without a reference to anything outside it.
//! Always: below [`MOST_BYTES`], whatever the archive's size; text from logs never becomes markup.

mod axis;
mod meta;
mod svg;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write;

pub use meta::{Input, Meta};

use super::definitions::Term;
use super::document::{Block, Cell, Page, Tone};
use super::lang::Language;
use crate::message;
use crate::message::Message;
use tables::{push_table, truncated_rows};

/// A page never grows to this size.
pub const MOST_BYTES: usize = 2_000_000;

const STYLE: &str = include_str!("style.css");

/// What is written so far.
struct Writer<'a> {
    out: String,
    language: Language,
    meta: &'a Meta,
    terms: BTreeSet<Term>,
    /// Heading and anchor of every section.
    sections: Vec<(String, String)>,
    /// Rows that a table of the page left out.
    rows_left_out: bool,
    charts: usize,
    in_section: bool,
}

/// Renders a page.
pub fn render(page: &Page, meta: &Meta, language: Language) -> String {
    let mut writer = Writer {
        out: String::new(),
        language,
        meta,
        terms: BTreeSet::new(),
        sections: Vec::new(),
        rows_left_out: truncated_rows(page),
        charts: 0,
        in_section: false,
    };
    let split = page.blocks.iter().position(begins_section).unwrap_or(page.blocks.len());
    page.blocks[..split].iter().for_each(|block| writer.block(block));
    let head = std::mem::take(&mut writer.out);
    page.blocks[split..].iter().for_each(|block| writer.block(block));
    writer.end_section();
    writer.definitions();
    writer.footer();
    let title =
        page.blocks.iter().find_map(|block| if let Block::Title(text) = block { Some(text.as_str()) } else { None });
    let mut out = String::with_capacity(head.len() + writer.out.len() + STYLE.len() + 2_000);
    let title = escape(title.unwrap_or("dsh-forensics"));
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\" />\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\" />\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<meta name=\"color-scheme\" content=\"light dark\" />\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        language.tag(),
    );
    out.push_str(&head);
    writer.contents(&mut out);
    out.push_str(&writer.out);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// Whether a block stands under a heading of its own.
fn begins_section(block: &Block) -> bool {
    match block {
        Block::Heading(_) | Block::Chart(_) | Block::Picture(_) => true,
        Block::Table(table) => !table.title.is_empty() && !table.rows.is_empty(),
        _ => false,
    }
}

impl Writer<'_> {
    fn block(&mut self, block: &Block) {
        // Tables and charts end by themselves; running text of this length is none that a person wrote.
        if self.out.len() > MOST_BYTES / 4 * 3 {
            self.rows_left_out = true;
            return;
        }
        match block {
            Block::Title(text) => self.line("<h1>", text, "</h1>\n"),
            Block::Heading(text) => self.begin_section(text, ""),
            Block::Text(cell) => self.paragraph(cell),
            Block::List(cells) => {
                self.out.push_str("<ul>\n");
                self.rows_left_out |= cells.len() > tables::MOST_ROWS;
                for cell in cells.iter().take(tables::MOST_ROWS) {
                    let _ = writeln!(self.out, "<li{}>{}</li>", class(cell.tone), escape(&cell.text));
                }
                self.out.push_str("</ul>\n");
            }
            Block::Table(table) => push_table(self, table),
            Block::Chart(chart) | Block::Picture(chart) => {
                self.begin_section(&chart.title, "");
                svg::push_chart(self, chart);
                self.end_section();
            }
            Block::Fold(_) => self.end_section(),
            Block::Verbatim(text) => {
                self.rows_left_out |= text.len() > MOST_BYTES / 16;
                let start: String = text.chars().take(MOST_BYTES / 16).collect();
                self.line("<pre>", &start, "</pre>\n");
            }
        }
    }

    fn paragraph(&mut self, cell: &Cell) {
        let _ = writeln!(self.out, "<p{}>{}</p>", class(cell.tone), escape(&cell.text));
    }

    fn line(&mut self, before: &str, text: &str, after: &str) {
        self.out.push_str(before);
        self.out.push_str(&escape(text));
        self.out.push_str(after);
    }

    fn say(&mut self, before: &str, message: &Message, after: &str) {
        let text = self.language.render(message);
        self.line(before, &text, after);
    }

    fn begin_section(&mut self, title: &str, class: &str) {
        self.end_section();
        let anchor = format!("s{}", self.sections.len() + 1);
        let _ = write!(self.out, "<section id=\"{anchor}\"{class}>\n<h2>{}</h2>\n", escape(title));
        self.sections.push((title.to_owned(), anchor));
        self.in_section = true;
    }

    fn end_section(&mut self) {
        if self.in_section {
            self.out.push_str("</section>\n");
            self.in_section = false;
        }
    }

    fn contents(&self, out: &mut String) {
        let _ = writeln!(out, "<nav aria-label=\"{}\">", escape(&self.language.say("html.contents")));
        for (title, anchor) in &self.sections {
            let _ = writeln!(out, "<a href=\"#{anchor}\">{}</a>", escape(title));
        }
        out.push_str("</nav>\n");
    }

    fn definitions(&mut self) {
        if self.terms.is_empty() {
            return;
        }
        let title = self.language.say("html.definitions");
        self.begin_section(&title, " class=\"long\"");
        self.out.push_str("<dl>\n");
        for term in std::mem::take(&mut self.terms) {
            self.say(&format!("<dt id=\"{}\">", term.anchor()), &term.name(), "</dt>\n");
            self.say("<dd>", &term.text(), "</dd>\n");
        }
        self.out.push_str("</dl>\n");
        self.end_section();
    }

    fn footer(&mut self) {
        let meta = self.meta;
        self.out.push_str("<footer>\n");
        self.begin_section(&self.language.say("html.left-out"), "");
        self.out.push_str("<ul>\n");
        self.say("<li>", &Message::new("html.privacy"), "</li>\n");
        for left_out in &meta.left_out {
            self.say("<li>", left_out, "</li>\n");
        }
        if self.rows_left_out {
            self.say("<li>", &message!("html.left-rows", n = tables::MOST_ROWS), "</li>\n");
        }
        self.out.push_str("</ul>\n");
        self.begin_section(&self.language.say("html.method"), " class=\"long\"");
        for sentence in &meta.method {
            self.say("<p>", sentence, "</p>\n");
        }
        self.inputs();
        self.end_section();
        self.out.push_str("</footer>\n");
    }

    fn inputs(&mut self) {
        let meta = self.meta;
        self.say("<p>", &message!("html.inputs", n = super::numbers::grouped(meta.inputs.len() as u64)), "");
        let _ = writeln!(self.out, " <code>{}</code></p>", escape(&meta.digest));
        if !meta.inputs.is_empty() {
            self.say("<details>\n<summary>", &Message::new("html.input-list"), "</summary>\n");
            let table = meta.input_table(self.language);
            push_table(self, &table);
            self.out.push_str("</details>\n");
        }
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Bad => " class=\"bad\"",
        Tone::Good => " class=\"good\"",
        Tone::Warn => " class=\"warn\"",
        Tone::Faint => " class=\"faint\"",
        Tone::Strong => " class=\"strong\"",
    }
}

/// Keeps text from becoming markup; what XML forbids becomes a replacement character.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
