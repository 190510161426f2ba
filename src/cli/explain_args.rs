//! Arguments of `explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::args::{InputArgs, OutputArgs};

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics explain --demo\n  dsh-forensics explain 7431dfda --in ~/.dsh/sessions\n  dsh-forensics explain 7431dfda:114 --format markdown\n\nWithout SESSION: the most interesting failure of the archive; without SEQ: that of the session."
)]
pub struct ExplainArgs {
    /// Session id or its beginning, with the seq of any event of the failed attempt after a colon; or the id of a rule
    #[arg(value_name = "SESSION[:SEQ]|RULE")]
    pub target: Option<String>,
    /// Sessions roots, directories, log files or zips [default: $DSH_HOME/sessions, else ~/.dsh/sessions]
    #[arg(value_name = "PATH")]
    pub more_paths: Vec<PathBuf>,
    /// Sessions root, directory, log file or zip; may be repeated [default: $DSH_HOME/sessions, else ~/.dsh/sessions]
    #[arg(long = "in", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Read the demo logs inside the program
    #[arg(long, conflicts_with_all = ["paths", "more_paths"])]
    pub demo: bool,
    /// Release of the harness that wrote the log [default: inferred from the codes it wrote]
    #[arg(long, value_name = "VERSION")]
    pub dsh_version: Option<String>,
    /// Version of its pi-ai
    #[arg(long, value_name = "VERSION")]
    pub pi_ai_version: Option<String>,
    /// The harness's settings.yaml (or cordis.patch.yml): context windows where the log states none
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Context window of a model, tokens, where neither log nor settings nor an error states it; may be repeated
    #[arg(long, value_name = "MODEL=N", value_parser = crate::context_window::parse_window)]
    pub context_window: Vec<(String, u64)>,
    /// Time zone of printed times: an IANA name [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Also show the last messages of the request; they may hold secrets, and code that is not yours to post
    #[arg(long, help_heading = "Output")]
    pub show_content: bool,
    /// With --show-content: put the messages into a page that may be posted (markdown, html)
    #[arg(long, requires = "show_content", help_heading = "Output")]
    pub yes_include_content: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ExplainFormat::Table, help_heading = "Output")]
    pub format: ExplainFormat,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl ExplainArgs {
    /// What to explain. `explain PATH` means the logs there, not a session of that name.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.path_as_target().is_none())
    }

    fn path_as_target(&self) -> Option<PathBuf> {
        let target = PathBuf::from(self.target.as_deref()?);
        let is_path = target.components().count() > 1 || target.is_absolute() || self.target.as_deref() == Some(".");
        (is_path && target.exists()).then_some(target)
    }

    /// The arguments of reading, as the other commands take them.
    pub fn input(&self) -> InputArgs {
        InputArgs {
            paths: self
                .path_as_target()
                .into_iter()
                .chain(self.more_paths.iter().chain(&self.paths).cloned())
                .collect(),
            demo: self.demo,
            jobs: self.jobs,
            settings: self.settings.clone(),
            context_window: self.context_window.clone(),
            ..InputArgs::default()
        }
    }
}

impl Default for InputArgs {
    /// As if nothing was typed.
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            more_paths: Vec::new(),
            demo: false,
            jobs: None,
            keep_duplicates: false,
            config: None,
            settings: None,
            context_window: Vec::new(),
            max_window_bytes: 1 << 27,
            max_frame_bytes: 256 << 20,
            max_line_bytes: 64 << 20,
            max_json_depth: 128,
            max_zip_entries: 100_000,
            max_zip_ratio: 2_000,
        }
    }
}

/// Formats of `explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// For a terminal
    Table,
    /// For programs (docs/json.md)
    Json,
    /// For a bug report or a forum post
    Markdown,
    /// One file to attach: no script, no network
    Html,
}
