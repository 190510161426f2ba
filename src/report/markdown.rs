//! In: a page, and what stands behind it.
//! Out: Markdown for a forum post: what matters first, tables and method folded away.
//! Always: below [`MOST_BYTES`]; text from logs never becomes markup, and what is left out is said.

use super::characters::{Piece, pieces, shown};
use super::definitions::Term;
use super::document::{Block, Card, Cell, Page, Table};
use super::html::Meta;
use super::lang::Language;
use super::numbers::grouped;
use crate::message;
use crate::message::Message;

/// Comments on GitHub hold 65,536 characters; other forums hold less, and a post has words of its own.
pub const MOST_BYTES: usize = 60_000;
/// Rows of a table that a forum post can hold.
const MOST_ROWS: usize = 60;
/// As much of a cell is shown, characters.
const MOST_CELL: usize = 300;
/// As much of a block of settings is shown, characters.
const MOST_VERBATIM: usize = 8_000;
/// Kept for the sentence that says what is left out, and for the ends of what is folded.
const RESERVE: usize = 1_000;

/// Renders a page. With `meta` it ends with definitions, method, version and inputs.
pub fn render(page: &Page, meta: Option<&Meta>, language: Language) -> String {
    let foot = meta.map_or_else(String::new, |meta| foot(page, meta, language));
    let mut writer = Writer { out: String::new(), folds: 0, most: MOST_BYTES - foot.len() - RESERVE, cut: false };
    writer.blocks(&page.blocks);
    let Writer { mut out, folds, cut, .. } = writer;
    if cut {
        out.push_str(&format!("*{}*\n\n", inline(&language.say("html.markdown-cut"))));
    }
    out.push_str(&"</details>\n\n".repeat(folds));
    out.push_str(&foot);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

struct Writer {
    out: String,
    /// Details that are open.
    folds: usize,
    /// The page may grow to this, bytes.
    most: usize,
    cut: bool,
}

impl Writer {
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Title(text) => self.line("## ", &inline(text)),
                Block::Heading(text) => self.line("### ", &inline(text)),
                Block::Text(cell) => self.line("", &paragraph(&cell.text)),
                Block::List(cells) => self.list(cells),
                Block::Table(table) => self.table(table),
                Block::Picture(_) => {}
                Block::Chart(chart) => self.line("", &paragraph(&chart.alternative)),
                // The rest of the page; closed at its end.
                Block::Fold(title) => self.folds += usize::from(self.push(&opened(title))),
                Block::Verbatim(text) => self.push_fenced(text),
                Block::Card(card) => self.card(card),
            }
        }
    }

    /// Whether it was short enough. Once something is left out, so is everything behind it: nothing stands out of order.
    fn push(&mut self, text: &str) -> bool {
        self.cut |= self.out.len() + text.len() > self.most;
        if !self.cut {
            self.out.push_str(text);
        }
        !self.cut
    }

    fn line(&mut self, mark: &str, text: &str) {
        self.push(&format!("{mark}{text}\n\n"));
    }

    fn list(&mut self, cells: &[Cell]) {
        for cell in cells.iter().take(MOST_ROWS) {
            self.push(&format!("- {}\n", inline(&cell.text)));
        }
        if cells.len() > MOST_ROWS {
            self.push(&format!("- … +{}\n", grouped((cells.len() - MOST_ROWS) as u64)));
        }
        self.push("\n");
    }

    fn push_fenced(&mut self, text: &str) {
        let text: String = text.chars().take(MOST_VERBATIM).map(|c| if c == '\n' { c } else { shown(c) }).collect();
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.push(&format!("{fence}\n{text}\n{fence}\n\n"));
    }

    fn card(&mut self, card: &Card) {
        let (badge, title, id) = (inline(&card.badge.text), inline(&card.title), code(&card.id));
        self.push(&format!("**{badge}: {title}** {id}\n\n"));
        self.blocks(&card.blocks);
        for (title, blocks) in &card.folded {
            if self.push(&opened(title)) {
                self.blocks(blocks);
                self.out.push_str("</details>\n\n");
            }
        }
    }

    fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut head = String::new();
        if !table.title.is_empty() {
            head.push_str(&format!("**{}**\n\n", inline(&table.title)));
        }
        head.push_str(&row(table.columns.iter().map(|c| cell(&c.title)).collect()));
        head.push_str(&row(table.columns.iter().map(|c| if c.right { "---:" } else { "---" }.to_owned()).collect()));
        if !self.push(&head) {
            return;
        }
        let mut shown = 0;
        // Half of what is left is for what follows: one long table does not push everything else out.
        let most = self.out.len() + (self.most - self.out.len()) / 2;
        for cells in table.rows.iter().take(MOST_ROWS) {
            let text = row(cells.iter().map(|c| cell(&c.text)).collect());
            if self.out.len() + text.len() > most {
                break;
            }
            self.out.push_str(&text);
            shown += 1;
        }
        if shown < table.rows.len() {
            let mut rest = vec![format!("… +{}", grouped((table.rows.len() - shown) as u64))];
            rest.resize(table.columns.len(), String::new());
            self.push(&row(rest));
        }
        self.push("\n");
        if let Some(note) = &table.note {
            self.push(&format!("{}\n\n", paragraph(note)));
        }
    }
}

fn opened(title: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n\n", html(title))
}

/// What stands behind the page, folded away: definitions of its columns, what is left out, method, inputs.
fn foot(page: &Page, meta: &Meta, language: Language) -> String {
    let mut out = opened(&language.say("html.method"));
    for term in Term::ALL.iter().filter(|term| uses(&page.blocks, **term)) {
        let (name, text) = (language.render(&term.name()), language.render(&term.text()));
        out.push_str(&format!("- **{}**: {}\n", inline(&name), inline(&text)));
    }
    out.push('\n');
    let privacy = Message::new("html.privacy");
    let left_out = std::iter::once(&privacy).chain(&meta.left_out).map(|m| language.render(m));
    out.push_str(&format!("**{}**\n\n", inline(&language.say("html.left-out"))));
    left_out.for_each(|text| out.push_str(&format!("- {}\n", inline(&text))));
    out.push('\n');
    let method: Vec<String> = meta.method.iter().map(|sentence| inline(&language.render(sentence))).collect();
    out.push_str(&format!("{}\n\n", method.join(if language == Language::Chinese { "" } else { " " })));
    if !meta.inputs.is_empty() {
        let inputs = message!("html.inputs", n = grouped(meta.inputs.len() as u64));
        out.push_str(&format!("{} {}\n\n", inline(&language.render(&inputs)), code(&meta.digest)));
    }
    out.push_str("</details>\n");
    out
}

/// Whether a column or a cell of the tables means the term.
fn uses(blocks: &[Block], term: Term) -> bool {
    blocks.iter().any(|block| match block {
        Block::Table(table) if !table.rows.is_empty() => {
            let cells = table.rows.iter().take(MOST_ROWS).flatten().map(|cell| cell.term);
            table.columns.iter().map(|column| column.term).chain(cells).any(|used| used == Some(term))
        }
        Block::Card(card) => card.folded.iter().any(|(_, blocks)| uses(blocks, term)),
        _ => false,
    })
}

/// As [`inline`], short enough for a cell of a table.
fn cell(text: &str) -> String {
    if text.chars().count() <= MOST_CELL {
        return inline(text);
    }
    inline(&text.chars().take(MOST_CELL - 1).chain(['…']).collect::<String>())
}

/// As [`inline`]; a mark that would make a list or a heading of the line is no mark.
fn paragraph(text: &str) -> String {
    let text = inline(text.trim_start());
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if number.len() < text.len() && number.starts_with(['.', ')']) {
        let digits = text.len() - number.len();
        return format!("{}\\{number}", &text[..digits]);
    }
    if text.starts_with(['-', '+', '#', '=', '~']) { format!("\\{text}") } else { text }
}

/// One line that is no markup, but for names between backticks.
fn inline(text: &str) -> String {
    let piece = |piece: Piece<'_>| match piece {
        Piece::Plain(plain) => escape(plain),
        Piece::Code(inside) => code(inside),
    };
    pieces(text).into_iter().map(piece).collect()
}

/// A code span, with a fence longer than the backticks in it. A bar would end the cell of a table even in there.
fn code(text: &str) -> String {
    let text: String = text.chars().map(shown).collect();
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{}{blank}{fence}", text.replace('|', "\\|"))
}

/// Keeps error texts from becoming markup. A backslash does that for every mark but those of HTML, which some forums
/// read before Markdown.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().map(shown) {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '~' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Names nobody of the forum.
            '@' => out.push_str("@\u{200b}"),
            c => out.push(c),
        }
    }
    out
}

/// Text inside HTML, where Markdown's backslashes would be shown.
fn html(text: &str) -> String {
    text.chars().map(shown).fold(String::new(), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, code, inline, paragraph, render};
    use crate::report::document::{Block, Card, Cell, Column, Page, Table, Tone};
    use crate::report::lang::Language;

    fn rendered(blocks: Vec<Block>) -> String {
        render(&Page { blocks }, None, Language::English)
    }

    fn table(rows: usize, text: &str) -> Block {
        let rows = (0..rows).map(|i| vec![Cell::from(i.to_string()), text.into()]).collect();
        let columns = vec![Column::number("n", 0), Column::text("text", 0)];
        Block::Table(Table { title: "T".to_owned(), columns, rows, note: Some("note".to_owned()) })
    }

    #[test]
    fn hostile_cells_stay_in_their_cells() {
        let hostile = "a|b `c|d` ``e`` <script>alert(1)</script> [x](javascript:y)\n| new | row |\r\u{202e}gnp\u{7}\u{1b}[31m *b* ~~s~~";
        let out = rendered(vec![table(1, hostile)]);
        let row = out.lines().find(|line| line.starts_with("| 0")).expect("the row is there");
        assert_eq!(
            row,
            "| 0 | a\\|b `c\\|d` \\`\\`e\\`\\` &lt;script&gt;alert(1)&lt;/script&gt; \\[x\\](javascript:y) \\| new \\| row \\| \u{fffd}gnp\u{fffd}\u{fffd}\\[31m \\*b\\* \\~\\~s\\~\\~ |"
        );
        let unescaped = row.replace("\\|", "").matches('|').count();
        assert_eq!(unescaped, 3, "two cells: {row}");
    }

    #[test]
    fn code_has_a_fence_that_its_text_does_not_close() {
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``"), "``` `` ```");
        let out = rendered(vec![Block::Verbatim("before\n````\nafter\u{1b}".to_owned())]);
        assert_eq!(out, "`````\nbefore\n````\nafter\u{fffd}\n`````\n");
    }

    #[test]
    fn running_text_makes_no_list_and_no_heading_and_calls_nobody() {
        assert_eq!(paragraph("# not a heading"), "\\# not a heading");
        assert_eq!(paragraph("1. not a list"), "1\\. not a list");
        assert_eq!(paragraph("- not a list"), "\\- not a list");
        assert_eq!(paragraph("12 attempts"), "12 attempts");
        assert_eq!(inline("thanks @octocat"), "thanks @\u{200b}octocat");
        assert_eq!(inline("`scan --format json` has all"), "`scan --format json` has all");
    }

    #[test]
    fn a_page_of_any_size_fits_into_a_comment_and_says_what_is_missing() {
        let long = "错误信息 | & ".repeat(60);
        let mut blocks = vec![Block::Title("T".to_owned()), Block::Fold("all".to_owned())];
        for _ in 0..200 {
            blocks.extend([table(1_000, &long), Block::List(vec![long.as_str().into(); 100])]);
        }
        let out = rendered(blocks);
        assert!(out.len() <= MOST_BYTES && out.len() > MOST_BYTES / 2, "{} bytes", out.len());
        assert!(out.contains("… +9"), "rows left out are counted");
        assert!(out.contains("*The rest is left out"), "{}", &out[out.len() - 400..]);
        assert_eq!(out.matches("<details>").count(), out.matches("</details>").count());
    }

    #[test]
    fn a_card_folds_its_details() {
        let card = Card {
            badge: Cell::toned("error", Tone::Bad),
            title: "2 failed steps".to_owned(),
            id: "bodyless-400".to_owned(),
            blocks: vec![Block::List(vec!["seen".into()])],
            folded: vec![("Settings & more".to_owned(), vec![Block::Verbatim("a: 1".to_owned())])],
        };
        assert_eq!(
            rendered(vec![Block::Card(Box::new(card))]),
            "**error: 2 failed steps** `bodyless-400`\n\n- seen\n\n<details>\n<summary>Settings &amp; more</summary>\n\n```\na: 1\n```\n\n</details>\n"
        );
    }
}
