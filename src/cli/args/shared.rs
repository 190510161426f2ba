//! The arguments that several commands share: what to read, what to leave out, how to print.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::report::lang::Language;

/// What to read and how.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// Sessions root, project or session directory, log file, zip, or - for standard input
    /// [default: $DSH_HOME/sessions, else ~/.dsh/sessions]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Read the demo logs inside the program
    #[arg(long, conflicts_with_all = ["paths", "more_paths"])]
    pub demo: bool,
    /// The same as PATH, as `explain` and `request` write it; may be repeated
    #[arg(long = "in", value_name = "PATH", hide_short_help = true, help_heading = "Reading")]
    pub more_paths: Vec<PathBuf>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Reading")]
    pub jobs: Option<u16>,
    /// Count a session under every path it is found at
    #[arg(long, help_heading = "Reading")]
    pub keep_duplicates: bool,
    /// Configuration file [default: dsh-forensics.toml in the working directory, where there is one]
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub config: Option<PathBuf>,
    /// The harness's settings.yaml (or cordis.patch.yml): context windows where the log states none; `scan` also lints it
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub settings: Option<PathBuf>,
    /// Context window of a model, tokens, where neither log nor settings nor an error states it; may be repeated
    #[arg(long, value_name = "MODEL=N", value_parser = crate::context_window::parse_window, help_heading = "Reading")]
    pub context_window: Vec<(String, u64)>,
    /// Largest zstd window accepted, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 27, value_parser = clap::value_parser!(u64).range(1 << 10..=1 << 31), hide_short_help = true, help_heading = "Reading")]
    pub max_window_bytes: u64,
    /// Most bytes taken out of one frame
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20, value_parser = clap::value_parser!(u64).range(1 << 10..=1 << 40), hide_short_help = true, help_heading = "Reading")]
    pub max_frame_bytes: u64,
    /// Longest line accepted, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20, value_parser = clap::value_parser!(u32).range(1 << 10..), hide_short_help = true, help_heading = "Reading")]
    pub max_line_bytes: u32,
    /// Deepest JSON accepted
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u16).range(16..=1024), hide_short_help = true, help_heading = "Reading")]
    pub max_json_depth: u16,
    /// Most entries read of a zip
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000), hide_short_help = true, help_heading = "Reading")]
    pub max_zip_entries: u32,
    /// Largest compression ratio accepted of a zip entry
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(10..=1_000_000), hide_short_help = true, help_heading = "Reading")]
    pub max_zip_ratio: u64,
}

/// Filters: whole attempts are chosen.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Filters")]
pub struct FilterArgs {
    /// Only attempts that ended at or after this time: RFC 3339, a date, or a span back from now (6d, 36h)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only attempts that ended before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Time zone of dates typed and printed: an IANA name [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// Only sessions whose id begins with this
    #[arg(long, value_name = "PREFIX")]
    pub session: Vec<String>,
    /// With --session: its forks and sub-agents as well
    #[arg(long, requires = "session")]
    pub with_descendants: bool,
    /// Only this provider
    #[arg(long, value_name = "NAME")]
    pub provider: Vec<String>,
    /// Only this model
    #[arg(long, value_name = "NAME")]
    pub model: Vec<String>,
    /// Only failures with this code
    #[arg(long, value_name = "CODE")]
    pub code: Vec<String>,
    /// Only projects whose directory name contains this
    #[arg(long, value_name = "TEXT")]
    pub project: Vec<String>,
}

impl FilterArgs {
    /// The filters as typed, one text each.
    pub fn typed(&self) -> Vec<String> {
        let single = [("since", &self.since), ("until", &self.until)];
        let several = [
            ("session", &self.session),
            ("provider", &self.provider),
            ("model", &self.model),
            ("code", &self.code),
            ("project", &self.project),
        ];
        let single = single.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        let several = several.into_iter().flat_map(|(name, values)| values.iter().map(move |v| (name, v.clone())));
        single.chain(several).map(|(name, value)| format!("--{name} {value}")).collect()
    }
}

/// When to do something that suits a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How to print.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write here instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Colours; NO_COLOR is respected
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub color: When,
    /// Columns to fill [default: the terminal's, else $COLUMNS, else 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(40..=1000))]
    pub width: Option<u16>,
    /// Show the report page by page, on a terminal: $PAGER, else less -R
    #[arg(long)]
    pub pager: bool,
    /// No progress bar, no remarks on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Language of what people read [default: from LC_ALL, LC_MESSAGES, LANG]
    #[arg(long, value_enum, value_name = "LANG")]
    pub lang: Option<Language>,
    /// Replace keys, addresses, home directories, user and host names; strict: session ids, projects and paths as well
    #[arg(long, value_enum, default_value_t = Redact::On, value_name = "HOW")]
    pub redact: Redact,
}

/// How much is replaced by placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Redact {
    /// Credentials, addresses, home directories, user and host names
    #[default]
    On,
    /// Session ids, project names and paths as well, by pseudonyms that stay the same in every run
    Strict,
}

impl OutputArgs {
    /// The language asked for, else the one of the environment.
    pub fn language(&self) -> Language {
        self.lang.unwrap_or_else(Language::from_environment)
    }
}
