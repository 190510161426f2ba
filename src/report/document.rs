//! The page that every human-readable renderer takes: headings, paragraphs and tables, without any layout.

use super::definitions::Term;

/// How a cell's text is set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// A failure.
    Bad,
    /// A success.
    Good,
    /// Needs a look.
    Warn,
    /// Less important.
    Faint,
    /// Stands out.
    Strong,
}

/// A piece of text with its tone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// The text; one line.
    pub text: String,
    /// Its tone.
    pub tone: Tone,
    /// What it means, where it stands for something that is defined.
    pub term: Option<Term>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), tone: Tone::Plain, term: None }
    }
}

impl Cell {
    /// A cell with a tone.
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone, term: None }
    }

    /// The same cell with the definition of what it says.
    #[must_use]
    pub fn means(self, term: Term) -> Self {
        Self { term: Some(term), ..self }
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub title: String,
    /// Numbers stand to the right.
    pub right: bool,
    /// 0 is always shown; the highest goes first when the terminal is narrow.
    pub rank: u8,
    /// What its values mean.
    pub term: Option<Term>,
}

impl Column {
    /// A column of text.
    pub fn text(title: impl Into<String>, rank: u8) -> Self {
        Self { title: title.into(), right: false, rank, term: None }
    }

    /// A column of numbers.
    pub fn number(title: impl Into<String>, rank: u8) -> Self {
        Self { title: title.into(), right: true, rank, term: None }
    }

    /// The same column with the definition of its values.
    #[must_use]
    pub fn means(self, term: Term) -> Self {
        Self { term: Some(term), ..self }
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Heading above it.
    pub title: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// A remark below it.
    pub note: Option<String>,
}

/// Something that stands apart on a page: its sentence, what is known about it, and details that fold away.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Card {
    /// How bad it is, in a word.
    pub badge: Cell,
    /// What it says.
    pub title: String,
    /// Its id, as it is typed.
    pub id: String,
    /// What is always shown.
    pub blocks: Vec<Block>,
    /// Headings with what folds away under them.
    pub folded: Vec<(String, Vec<Block>)>,
}

/// What the numbers along an axis are.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// Plain numbers.
    Linear,
    /// Epoch milliseconds.
    Time,
    /// Names; a point's x is the index.
    Categories(Vec<String>),
}

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows, with the unit.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
    /// What its values mean.
    pub term: Option<Term>,
}

impl Axis {
    /// An axis without a definition.
    pub fn new(label: impl Into<String>, scale: Scale) -> Self {
        Self { label: label.into(), scale, term: None }
    }

    /// The same axis with the definition of its values.
    #[must_use]
    pub fn means(self, term: Term) -> Self {
        Self { term: Some(term), ..self }
    }
}

/// How the points of a series are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Bars from zero; those of several series at the same x stand upon each other.
    Bar,
    /// Dots.
    Dot,
    /// Dots joined by a line.
    Line,
}

/// One value of a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Along the x axis.
    pub x: f64,
    /// Along the y axis.
    pub y: f64,
    /// Interval around `y`, drawn as a whisker.
    pub interval: Option<(f64, f64)>,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// How the points are drawn.
    pub mark: Mark,
    /// Colour by meaning.
    pub tone: Tone,
    /// The points, by x.
    pub points: Vec<Point>,
    /// What stands beside its only point, where there are many such series; the legend has the name.
    pub tag: Option<String>,
}

/// A chart. Every renderer can also show its numbers as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// What a reader who cannot see it must know: the finding, in a sentence.
    pub alternative: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// The series.
    pub series: Vec<Series>,
    /// Lines across the chart at a y, with their names: a window, an overall rate.
    pub levels: Vec<(String, f64)>,
}

/// One block of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Page title.
    Title(String),
    /// Section heading.
    Heading(String),
    /// A paragraph.
    Text(Cell),
    /// A list.
    List(Vec<Cell>),
    /// A table; an empty one is not shown.
    Table(Table),
    /// Something that stands apart.
    Card(Box<Card>),
    /// Text whose line breaks and spaces stand as they are.
    Verbatim(String),
    /// A chart.
    Chart(Chart),
    /// A chart for pages that can draw; elsewhere a table beside it says the same.
    Picture(Chart),
    /// From here on, details: what a forum post folds away under this heading.
    Fold(String),
}

/// A page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Its blocks from top to bottom.
    pub blocks: Vec<Block>,
}

impl Page {
    /// Adds a paragraph.
    pub fn text(&mut self, text: impl Into<Cell>) {
        self.blocks.push(Block::Text(text.into()));
    }
}
