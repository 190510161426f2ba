//! The command line, as typed.

mod shared;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::check_args::CheckArgs;
use super::compactions_args::CompactionsArgs;
use super::explain_args::ExplainArgs;
use super::export_args::ExportArgs;
use super::policy_args::PolicyCommand;
use crate::findings::Severity;
use crate::report::lang::Language;
use crate::windows::Window;

pub use shared::{FilterArgs, InputArgs, OutputArgs, Redact, When};

const AFTER_HELP: &str = "\
Examples:
  dsh-forensics scan --demo                     look at recorded demo logs
  dsh-forensics scan                            look at your own logs
  dsh-forensics failures --since 6d --code CONTEXT_WINDOW_EXCEEDED

Exit status: 0 nothing found, 1 findings at or above the gate, 2 usage or internal error, 3 no input, 4 partial (some input could not be read).

Everything happens on this machine: no network, nothing written outside -o, no message contents.";

/// Why did my runs fail, is the error what it says it is, and which retry policy would have saved them?
#[derive(Debug, Parser)]
#[command(name = "dsh-forensics", version, about, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Everything at a glance: failure rates, codes, routes, retries, compactions
    Scan(ScanArgs),
    /// One row per failed attempt
    Failures(FailuresArgs),
    /// One failure in full: what was sent, what came back, which rule gave the code, what a repair would have changed
    Explain(ExplainArgs),
    /// Do compactions cause failures? Every compaction, and the rate of failures around them
    Compactions(CompactionsArgs),
    /// A gate for CI: fails when findings, classifications, decisions or failure rates got worse than a baseline
    Check(CheckArgs),
    /// What the harness would do with each log: loads, repairs, refuses; torn, corrupt, forked, with holes
    Verify(VerifyArgs),
    /// All tables as Parquet, CSV or NDJSON, for DuckDB, polars, spreadsheets
    Export(ExportArgs),
    /// The request behind an attempt, rebuilt from the log; texts are hidden unless asked for
    Request(RequestArgs),
    /// One error text through every release's rules: its code, whether it is retried, what the text supports
    Classify(ClassifyArgs),
    /// Completions for a shell, on standard output
    Completions(CompletionsArgs),
    /// Man pages, one file for each command
    Man(ManArgs),
    /// Retry policies: what the harness would refuse or silently do, and when it would try again
    #[command(subcommand)]
    Policy(PolicyCommand),
}

impl Command {
    /// The language of what people read, errors at the end of a run included.
    pub fn language(&self) -> Language {
        match self {
            Self::Scan(args) => args.output.language(),
            Self::Failures(args) => args.output.language(),
            Self::Explain(args) => args.output.language(),
            Self::Compactions(args) => args.output.language(),
            Self::Check(args) => args.output.language(),
            Self::Verify(args) => args.output.language(),
            Self::Export(args) => args.output.language(),
            Self::Request(args) => args.language(),
            Self::Classify(args) => args.output.language(),
            Self::Completions(args) => args.lang.unwrap_or_else(Language::from_environment),
            Self::Man(args) => args.lang.unwrap_or_else(Language::from_environment),
            Self::Policy(PolicyCommand::Lint(args)) => args.output.language(),
            Self::Policy(PolicyCommand::Schedule(args)) => args.output.language(),
            Self::Policy(command) => command.output().language(),
        }
    }
}

/// Arguments of `scan`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics scan --demo\n  dsh-forensics scan ~/.dsh/sessions --since 6d\n  dsh-forensics scan session.jsonl.zstd --format json\n  cat session.jsonl | dsh-forensics scan -"
)]
pub struct ScanArgs {
    /// What to read and how.
    #[command(flatten)]
    pub input: InputArgs,
    /// What to leave out.
    #[command(flatten)]
    pub filters: FilterArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = ScanFormat::Table, help_heading = "Output")]
    pub format: ScanFormat,
    /// Which rules run and what they decide.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Count failed steps inside this window after a compaction: 8ev (events), 3att (attempts), 60s; may be repeated
    #[arg(long = "window", value_name = "WINDOW", default_values = ["8ev", "3att", "60s"])]
    pub windows: Vec<Window>,
}

/// Which rules run and what they decide.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Findings")]
pub struct RuleArgs {
    /// Exit with status 1 when a finding is at least as bad as this; previews never count
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<Severity>,
    /// Run only this rule; may be repeated (docs/rules/README.md lists them)
    #[arg(long, value_name = "RULE")]
    pub only: Vec<String>,
    /// Do not run this rule; may be repeated
    #[arg(long, value_name = "RULE")]
    pub ignore: Vec<String>,
}

/// Arguments of `failures`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics failures --demo\n  dsh-forensics failures --since 6d --format csv -o failures.csv\n  dsh-forensics failures --session 7431dfda --format ndjson"
)]
pub struct FailuresArgs {
    /// What to read and how.
    #[command(flatten)]
    pub input: InputArgs,
    /// What to leave out.
    #[command(flatten)]
    pub filters: FilterArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = FailuresFormat::Table, help_heading = "Output")]
    pub format: FailuresFormat,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics verify\n  dsh-forensics verify ~/.dsh/sessions --deep\n  dsh-forensics verify session.jsonl.zstd --format ndjson\n\nExit status: 0 all logs are whole, 3 no input, 4 at least one is damaged (docs/damage.md)."
)]
pub struct VerifyArgs {
    /// What to read and how.
    #[command(flatten)]
    pub input: InputArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = VerifyFormat::Table, help_heading = "Output")]
    pub format: VerifyFormat,
    /// Read packed rows and embedded streams in full and check that texts and gaps agree
    #[arg(long)]
    pub deep: bool,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics completions bash > /etc/bash_completion.d/dsh-forensics\n  dsh-forensics completions zsh > ~/.zfunc/_dsh-forensics\n  dsh-forensics completions fish > ~/.config/fish/completions/dsh-forensics.fish"
)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
    /// Language of the descriptions [default: en]
    #[arg(long, value_enum, value_name = "LANG")]
    pub lang: Option<Language>,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dsh-forensics man -o ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Directory that the pages are written into; it is made where it does not exist
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Language of the pages [default: en]
    #[arg(long, value_enum, value_name = "LANG")]
    pub lang: Option<Language>,
}

/// Formats of `verify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerifyFormat {
    /// For a terminal
    Table,
    /// One JSON object per log (docs/json.md)
    Ndjson,
}

/// Arguments of `classify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics classify '400 status code (no body)'\n  dsh-forensics classify --status 429 '{\"error\":{\"message\":\"rpm exhausted\"}}' --format json\n  pbpaste | dsh-forensics classify -"
)]
pub struct ClassifyArgs {
    /// The error text, or - for standard input; a JSON body with or without a status before it will do
    #[arg(value_name = "TEXT", default_value = "-")]
    pub text: String,
    /// HTTP status, where it is known apart from the text
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub status: Option<u16>,
    /// Name of the provider as configured in the harness (cerebras has a rule of its own)
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ClassifyFormat::Table, help_heading = "Output")]
    pub format: ClassifyFormat,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Formats of `classify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClassifyFormat {
    /// For a terminal
    Table,
    /// For programs (docs/json.md)
    Json,
}

/// Arguments of `request`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics request 7431dfda 114 ~/.dsh/sessions\n  dsh-forensics request 7431dfda 114 session.jsonl.zstd --show-content > body.json\n  dsh-forensics request e2 144 --demo --shape harness"
)]
pub struct RequestArgs {
    /// Session id, or its beginning
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// Seq of any event of the attempt, its failing one, say
    #[arg(value_name = "SEQ")]
    pub seq: u64,
    /// Sessions roots, directories, log files or zips [default: $DSH_HOME/sessions, else ~/.dsh/sessions]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The same as PATH, for those who type it before the session; may be repeated
    #[arg(long = "in", value_name = "PATH")]
    pub in_paths: Vec<PathBuf>,
    /// Read the demo logs inside the program
    #[arg(long, conflicts_with_all = ["paths", "in_paths"])]
    pub demo: bool,
    /// Shape of the output
    #[arg(long, value_enum, default_value_t = RequestShape::Openai)]
    pub shape: RequestShape,
    /// Print message texts, tool arguments and prompts; they may hold secrets
    #[arg(long)]
    pub show_content: bool,
    /// Replace keys, addresses, home directories, user and host names; strict: session ids, projects and paths as well
    /// [default: on, but for --show-content, which prints the exact body unless this is typed too]
    #[arg(long, value_enum, value_name = "HOW")]
    pub redact: Option<Redact>,
    /// Write here instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Language of remarks and errors [default: from LC_ALL, LC_MESSAGES, LANG]
    #[arg(long, value_enum, value_name = "LANG")]
    pub lang: Option<Language>,
}

impl RequestArgs {
    /// The language asked for, else the one of the environment.
    pub fn language(&self) -> Language {
        self.lang.unwrap_or_else(Language::from_environment)
    }
}

/// Shapes of `request`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RequestShape {
    /// The body as the adapter sends it
    Openai,
    /// Header and messages as the harness logged them
    Harness,
}

/// Formats of `scan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScanFormat {
    /// For a terminal
    Table,
    /// For programs (docs/json.md)
    Json,
    /// For a forum post
    Markdown,
    /// One file for a browser, to attach to a report
    Html,
}

/// Formats of `failures`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailuresFormat {
    /// For a terminal
    Table,
    /// One JSON object per line (docs/json.md)
    Ndjson,
    /// Comma-separated values
    Csv,
    /// For a forum post
    Markdown,
    /// One file for a browser, to attach to a report
    Html,
}
