//! In: a page, and what stands behind it ([`Meta`]).
//! Out: one HTML file without scripts and without a reference to anything outside it.
//! Always: below [`MOST_BYTES`], whatever the archive's size; text from logs never becomes markup.

mod axis;
mod data;
mod meta;
mod plot;
mod svg;
mod tables;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;
use std::fmt::Write;

pub use meta::{Input, Meta};

use super::definitions::Term;
use super::document::{Block, Card, Cell, Page, Tone};
use super::lang::Language;
use crate::message;
use crate::message::Message;
use tables::{push_table, truncated_rows};
use text::escape;

/// A page never grows to this size.
pub const MOST_BYTES: usize = 2_000_000;

const STYLE: &str = include_str!("style.css");

/// What is written so far.
struct Writer<'a> {
    out: String,
    language: Language,
    meta: &'a Meta,
    /// Words of running text that are defined.
    words: Vec<(String, Term)>,
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
    let words = Term::ALL.iter().flat_map(|term| term.words(language).into_iter().map(|word| (word, *term)));
    let mut writer = Writer {
        out: String::new(),
        language,
        meta,
        words: words.collect(),
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
    let foot = writer.foot();
    let title =
        page.blocks.iter().find_map(|block| if let Block::Title(text) = block { Some(text.as_str()) } else { None });
    let mut out = String::with_capacity(head.len() + writer.out.len() + foot.len() + STYLE.len() + 2_000);
    let title = escape(title.unwrap_or("dsh-forensics"));
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\" />\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\" />\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<meta name=\"color-scheme\" content=\"light dark\" />\n<meta name=\"generator\" content=\"dsh-forensics {}\" />\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<header>\n",
        language.tag(),
        env!("CARGO_PKG_VERSION"),
    );
    out.push_str(&head);
    out.push_str("</header>\n");
    writer.contents(&mut out);
    out.push_str(&writer.out);
    out.push_str(&foot);
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
            Block::Title(text) => {
                let title = self.sentence(text);
                let _ = writeln!(self.out, "<h1>{title}</h1>");
            }
            Block::Heading(text) => self.begin_section(text, ""),
            Block::Text(cell) => self.paragraph(cell),
            Block::List(cells) => self.list(cells),
            Block::Table(table) => push_table(self, table),
            Block::Card(card) => self.card(card),
            Block::Chart(chart) | Block::Picture(chart) => {
                self.begin_section(&chart.title, "");
                svg::push_chart(self, chart);
                self.end_section();
            }
            Block::Fold(_) => self.end_section(),
            Block::Verbatim(text) => {
                self.rows_left_out |= text.len() > MOST_BYTES / 16;
                let start: String = text.chars().take(MOST_BYTES / 16).collect();
                self.line("<pre tabindex=\"0\">", &start, "</pre>\n");
            }
        }
    }

    fn list(&mut self, cells: &[Cell]) {
        if cells.is_empty() {
            return;
        }
        self.out.push_str("<ul>\n");
        self.rows_left_out |= cells.len() > tables::MOST_ROWS;
        for cell in cells.iter().take(tables::MOST_ROWS) {
            let text = self.sentence(&cell.text);
            let _ = writeln!(self.out, "<li{}>{text}</li>", class(cell.tone));
        }
        self.out.push_str("</ul>\n");
    }

    /// A card stands in the section of its heading; what folds away in it makes no section either.
    fn card(&mut self, card: &Card) {
        let _ = writeln!(self.out, "<article{}>", class(card.badge.tone));
        let title = self.sentence(&card.title);
        let (badge, id) = (escape(&card.badge.text), escape(&card.id));
        let _ = writeln!(self.out, "<h3><span class=\"badge\">{badge}</span> {title} <code>{id}</code></h3>");
        card.blocks.iter().for_each(|block| self.block(block));
        for (summary, blocks) in &card.folded {
            let _ = writeln!(self.out, "<details class=\"kept\">\n<summary>{}</summary>", escape(summary));
            blocks.iter().for_each(|block| self.block(block));
            self.out.push_str("</details>\n");
        }
        self.out.push_str("</article>\n");
    }

    fn paragraph(&mut self, cell: &Cell) {
        let text = self.sentence(&cell.text);
        let _ = writeln!(self.out, "<p{}>{text}</p>", class(cell.tone));
    }

    fn line(&mut self, before: &str, text: &str, after: &str) {
        self.out.push_str(before);
        self.out.push_str(&escape(text));
        self.out.push_str(after);
    }

    fn say(&mut self, before: &str, message: &Message, after: &str) {
        let text = text::with_code(&self.language.render(message));
        self.out.push_str(before);
        self.out.push_str(&text);
        self.out.push_str(after);
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

    /// Definitions, what was left out, method and inputs. The terms of the inputs' table are among the definitions.
    fn foot(&mut self) -> String {
        let body = std::mem::take(&mut self.out);
        self.definitions();
        self.footer();
        std::mem::replace(&mut self.out, body)
    }

    fn definitions(&mut self) {
        let title = self.language.say("html.definitions");
        if !self.meta.inputs.is_empty() {
            self.terms.extend([Term::Session, Term::Seq]);
        }
        if self.terms.is_empty() {
            return;
        }
        self.begin_section(&title, " class=\"long\"");
        self.out.push_str("<dl>\n");
        for term in std::mem::take(&mut self.terms) {
            self.say(&format!("<div id=\"{}\">\n<dt>", term.anchor()), &term.name(), "</dt>\n");
            self.say("<dd>", &term.text(), "</dd>\n</div>\n");
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
        if meta.inputs.is_empty() {
            return self.say("<p>", &Message::new("html.no-inputs"), "</p>\n");
        }
        self.say("<p>", &message!("html.inputs", n = super::numbers::grouped(meta.inputs.len() as u64)), "");
        let _ = writeln!(self.out, " <code>{}</code></p>", escape(&meta.digest));
        self.say("<details>\n<summary>", &Message::new("html.input-list"), "</summary>\n");
        let table = meta.input_table(self.language);
        push_table(self, &table);
        self.out.push_str("</details>\n");
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
