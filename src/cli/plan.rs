//! What was typed, resolved once: paths, filters, layout.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;

use super::args::{FilterArgs, InputArgs, OutputArgs, Redact, When};
use crate::archive::Limits;
use crate::config::Config;
use crate::context_window::{KnownWindows, configured};
use crate::discover::{self, Discovery};
use crate::filter::{Filters, parse_time, parse_zone};
use crate::message;
use crate::message::Message;
use crate::notice::{NO_MATCH, Notice};
use crate::pipeline::{self, Dataset, ReadOptions};
use crate::policy::{FileKind, Release, read_settings};
use crate::pseudonym::Pseudonyms;
use crate::report::html::Meta;
use crate::report::lang::{Language, Said};
use crate::report::terminal::Layout;
use crate::session::Route;

/// Everything a command needs beside its own options.
#[derive(Debug)]
pub struct Plan {
    /// Filters, resolved.
    pub filters: Filters,
    /// Zone of printed times.
    pub zone: TimeZone,
    /// Terminal layout.
    pub layout: Layout,
    /// Language of what people read.
    pub language: Language,
    /// Configuration file.
    pub config: Config,
    /// The harness's settings file, where one was named.
    pub settings: Option<Settings>,
    /// Output file.
    pub output: Option<PathBuf>,
    /// No progress, no remarks.
    pub quiet: bool,
    /// Show the report in a pager.
    pub pager: bool,
    paths: Vec<PathBuf>,
    demo: bool,
    jobs: Option<usize>,
    read: ReadOptions,
    posted: bool,
    windows: KnownWindows,
    typed_filters: Vec<String>,
    redact: Redact,
}

/// The harness's settings file of `--settings`.
#[derive(Debug)]
pub struct Settings {
    /// File name, without its directory.
    pub name: String,
    /// What stands in it.
    pub text: String,
    windows: Vec<(Route, u64)>,
}

impl Settings {
    fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("--settings {shown}"))?;
        let kind = FileKind::of(&path.to_string_lossy(), &text);
        // Any release will do: windows are written alike in all of them.
        let release: Release = Release::NEWEST.parse()?;
        let file = read_settings(&text, kind, &release).with_context(|| format!("--settings {shown}"))?;
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self { name, windows: configured(&file), text })
    }
}

impl Plan {
    /// Resolves the arguments shared by the commands that read logs.
    ///
    /// # Errors
    /// When a time, a zone or the configuration cannot be read, or no home directory is known.
    pub fn new(input: &InputArgs, filters: &FilterArgs, output: &OutputArgs) -> Result<Self> {
        let config = Config::load(input.config.as_deref())?;
        let zone = if filters.tz.as_deref() == Some("local") {
            TimeZone::system()
        } else {
            parse_zone(Some(filters.tz.as_deref().unwrap_or("UTC")))?
        };
        let time = |text: &Option<String>, flag: &str| {
            text.as_ref().map(|t| parse_time(t, &zone).with_context(|| format!("--{flag}"))).transpose()
        };
        let mut paths: Vec<PathBuf> = input.paths.iter().chain(&input.more_paths).cloned().collect();
        if paths.is_empty() && !input.demo {
            paths.push(discover::default_root().ok_or_else(|| Said(Message::new("errors.no-home")))?);
        }
        let limits = Limits {
            window_bytes: input.max_window_bytes,
            frame_bytes: input.max_frame_bytes,
            line_bytes: usize::try_from(input.max_line_bytes).unwrap_or(usize::MAX),
            json_depth: usize::from(input.max_json_depth),
            zip_entries: usize::try_from(input.max_zip_entries).unwrap_or(usize::MAX),
            zip_ratio: input.max_zip_ratio,
            ..Limits::default()
        };
        let settings = input.settings.as_deref().map(Settings::read).transpose()?;
        Ok(Self {
            filters: Filters {
                since: time(&filters.since, "since")?,
                until: time(&filters.until, "until")?,
                sessions: filters.session.clone(),
                providers: filters.provider.clone(),
                models: filters.model.clone(),
                codes: filters.code.clone(),
                projects: filters.project.clone(),
                with_descendants: filters.with_descendants,
            },
            zone,
            layout: layout(output),
            language: output.lang.or(config.lang).unwrap_or_else(Language::from_environment),
            output: output.output.clone(),
            quiet: output.quiet,
            pager: output.pager,
            paths,
            demo: input.demo,
            jobs: input.jobs.map(usize::from),
            read: ReadOptions { limits, keep_duplicates: input.keep_duplicates, hash: false, evidence_for_all: false },
            posted: false,
            windows: KnownWindows {
                typed: input.context_window.clone(),
                configured: config.context_windows.iter().map(|(model, tokens)| (model.clone(), *tokens)).collect(),
                settings: settings.as_ref().map(|file| file.windows.clone()).unwrap_or_default(),
            },
            settings,
            config,
            typed_filters: filters.typed(),
            redact: output.redact,
        })
    }

    /// Finds and reads the logs, with a progress bar on a terminal, and applies the filters.
    ///
    /// # Errors
    /// When the worker threads cannot be started.
    pub fn load(&self) -> Result<Dataset> {
        self.load_from(self.discover())
    }

    /// [`Plan::load`] of logs found before.
    ///
    /// # Errors
    /// As [`Plan::load`].
    pub fn load_from(&self, discovery: Discovery) -> Result<Dataset> {
        let mut dataset = self.load_by_name(discovery)?;
        self.hide_names(&mut dataset);
        Ok(dataset)
    }

    /// Replaces session ids, projects and paths where `--redact strict` asks for it; a page that may be posted names no
    /// folders in its notices.
    pub fn hide_names(&self, dataset: &mut Dataset) {
        if self.is_strict() {
            Pseudonyms::default().dataset(dataset);
        }
        if self.posted {
            dataset.notices.iter_mut().for_each(Notice::drop_folders);
        }
    }

    /// [`Plan::load_from`] with the names that somebody types: [`Plan::hide_names`] follows before anything is told.
    ///
    /// # Errors
    /// As [`Plan::load`].
    pub fn load_by_name(&self, discovery: Discovery) -> Result<Dataset> {
        let bar = self.progress_bar(&discovery);
        let progress = |bytes: u64| {
            if let Some(bar) = &bar {
                bar.inc(bytes);
            }
        };
        let pool = self.workers()?;
        let mut dataset = pool.install(|| pipeline::read_all(discovery, self.read, &progress));
        if let Some(bar) = &bar {
            bar.finish_and_clear();
        }
        let notices = crate::context_window::fill(&mut dataset.sessions, &self.windows);
        dataset.notices.extend(notices);
        let nothing = self.filters.nothing_left(&dataset, &self.zone, self.is_strict());
        self.filters.apply(&mut dataset);
        dataset.notices.extend(nothing.map(|why| Notice::new(NO_MATCH, why)));
        Ok(dataset)
    }

    /// Whether session ids, projects and paths are replaced too.
    pub fn is_strict(&self) -> bool {
        self.redact == Redact::Strict
    }

    /// Hashes the inputs while they are read, for reports that name them.
    pub fn hash_inputs(&mut self, wanted: bool) {
        self.read.hash = wanted;
    }

    /// The report is made to be posted: it names its inputs by their hashes, and no folder of this machine.
    pub fn will_be_posted(&mut self, wanted: bool) {
        self.hash_inputs(wanted);
        self.posted = wanted;
    }

    /// What stands behind a page of `command`.
    pub fn meta(&self, dataset: &Dataset, command: &str) -> Meta {
        let names = |typed: &&String| !typed.starts_with("--session") && !typed.starts_with("--project");
        let shown = self.typed_filters.iter().filter(|typed| !self.is_strict() || names(typed));
        Meta::of(dataset, command, &shown.map(String::as_str).collect::<Vec<_>>().join(", "), &self.zone)
    }

    /// Finds the logs without reading them.
    pub fn discover(&self) -> Discovery {
        if self.demo { crate::demo::discovery() } else { discover::discover(&self.paths, self.read.limits) }
    }

    /// How logs are read.
    pub fn read_options(&self) -> ReadOptions {
        self.read
    }

    /// The worker threads asked for.
    ///
    /// # Errors
    /// When they cannot be started.
    pub fn workers(&self) -> Result<rayon::ThreadPool> {
        let mut pool = rayon::ThreadPoolBuilder::new();
        if let Some(jobs) = self.jobs {
            pool = pool.num_threads(jobs);
        }
        pool.build().map_err(|error| Said(message!("errors.no-threads", why = error)).into())
    }

    fn progress_bar(&self, discovery: &Discovery) -> Option<ProgressBar> {
        if self.quiet || !std::io::stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::new(discovery.archives.iter().map(|a| a.bytes).sum());
        let count = discovery.archives.len();
        let template = message!(
            "common.progress",
            bar = "{bar:30}",
            done = "{bytes}",
            total = "{total_bytes}",
            n = count,
            left = "{eta}"
        );
        let style = ProgressStyle::with_template(&self.language.render(&template));
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Some(bar)
    }
}

/// Width and colour of what is printed.
pub fn layout(output: &OutputArgs) -> Layout {
    let to_terminal = output.output.is_none() && std::io::stdout().is_terminal();
    let color = match output.color {
        When::Always => true,
        When::Never => false,
        When::Auto => to_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    };
    Layout { width: output.width.map(usize::from).or_else(|| columns(to_terminal)).unwrap_or(100), color }
}

/// Columns of the terminal, where the text goes to one, else those of `COLUMNS`.
pub(super) fn columns(to_terminal: bool) -> Option<usize> {
    let from_env = || std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).filter(|c| (40..=1000).contains(c));
    let from_terminal =
        || to_terminal.then(|| comfy_table::Table::new().width().map(usize::from)).flatten().map(|w| w.max(40));
    from_terminal().or_else(from_env)
}
