//! `policy show`, `policy lint` and `policy schedule`.

use std::fs;

use anyhow::{Result, bail};

use super::{finished, nothing_read, say_what_matches_nothing};
use crate::archive::Limits;
use crate::cli::exit::Exit;
use crate::cli::output::{emit, emit_for};
use crate::cli::plan::{Plan, layout};
use crate::cli::policy_args::{PolicyCommand, PolicyFormat, PolicyLintArgs, PolicyScheduleArgs, PolicyShowArgs};
use crate::context_window::{KnownWindows, fill};
use crate::evidence::Verdicts;
use crate::message;
use crate::message::Message;
use crate::pipeline::{ReadOptions, read_all};
use crate::policy::edits::EDITS;
use crate::policy::{ArchiveFacts, Release, Severity, lint_text, parse_candidate, presets, schedule};
use crate::replay::{archive_facts, policy_spans, replay};
use crate::report::document::Page;
use crate::report::lang::{Language, Said};
use crate::report::policy::{lint_page, presets_page, schedule_page};
use crate::report::policy_json::{PolicyLintV1, PolicyScheduleV1, PolicyShowV1, PresetsV1};
use crate::report::terminal::Layout;
use crate::report::{markdown, policy_show, terminal};

pub(super) fn run(command: &PolicyCommand) -> Result<Exit> {
    match command {
        PolicyCommand::Show(args) => show(args),
        PolicyCommand::Lint(args) => lint(args),
        PolicyCommand::Schedule(args) => print_schedule(args),
        PolicyCommand::WhatIf(args) => super::what_if::run(args),
    }
}

fn show(args: &PolicyShowArgs) -> Result<Exit> {
    let plan = Plan::new(&args.input, &args.filters, &args.output)?;
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    say_what_matches_nothing(&dataset, &plan);
    let spans = policy_spans(&dataset.sessions);
    let report = replay(&dataset.sessions);
    let page = || policy_show::page(&spans, &report, args.mismatches, &plan.zone, plan.language);
    let text =
        render(args.format, (plan.layout, plan.language), page, || PolicyShowV1::new(&dataset, &spans, &report))?;
    emit(&text, &plan)?;
    let exit = finished(&dataset);
    let disagrees = exit == Exit::Clean && !report.mismatches.is_empty();
    Ok(if disagrees { Exit::Findings } else { exit })
}

fn render<T: serde::Serialize>(
    format: PolicyFormat,
    (layout, language): (Layout, Language),
    page: impl FnOnce() -> Page,
    json: impl FnOnce() -> T,
) -> Result<String> {
    Ok(match format {
        PolicyFormat::Table => terminal::render(&page(), layout),
        PolicyFormat::Markdown => markdown::render(&page(), None, language),
        PolicyFormat::Json => serde_json::to_string_pretty(&json())? + "\n",
    })
}

fn lint(args: &PolicyLintArgs) -> Result<Exit> {
    let release = release(&args.dsh_version)?;
    let cannot = |why: Message| Said(message!("policy.cannot-read", path = args.file.display(), why = why));
    let bytes = fs::read(&args.file).map_err(|error| cannot(Message::verbatim(error)))?;
    let text = text_of(&bytes).map_err(cannot)?;
    let name = args.file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let facts = facts_of(args)?;
    let hits = lint_text(&name, &text, facts.as_ref(), &release);
    let attempts = facts.as_ref().map(|facts| facts.routes.values().map(|route| route.attempts).sum());
    let page = || lint_page(&name, &hits, attempts, args.output.language());
    let json = || PolicyLintV1::new(&name, release.to_string(), attempts, &hits);
    let out = render(args.format, (layout(&args.output), args.output.language()), page, json)?;
    emit_for(&out, &args.output)?;
    let refused = hits.iter().any(|hit| hit.severity == Severity::Error);
    Ok(if refused { Exit::Findings } else { Exit::Clean })
}

/// The release of `--dsh-version`.
///
/// # Errors
/// When it is no release number.
pub(super) fn release(typed: &str) -> Result<Release> {
    typed.parse::<Release>().map_err(|error| Said(message!("policy.of-release", why = error.message())).into())
}

/// The text of a settings file: UTF-8, with or without a byte order mark.
fn text_of(bytes: &[u8]) -> Result<String, Message> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Err(message!("policy.utf-16"));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(message!("policy.not-utf-8", line = line))
        }
    }
}

/// What the archive shows; `None` when none was named.
fn facts_of(args: &PolicyLintArgs) -> Result<Option<ArchiveFacts>> {
    let discovery = match (args.demo, args.paths.is_empty()) {
        (true, _) => crate::demo::discovery(),
        (false, true) => return Ok(None),
        (false, false) => crate::discover::discover(&args.paths, Limits::default()),
    };
    let mut dataset = read_all(discovery, ReadOptions::default(), &|_| {});
    if dataset.sessions.is_empty() {
        bail!(Said(message!("policy.no-log")));
    }
    fill(&mut dataset.sessions, &KnownWindows::default());
    Ok(Some(archive_facts(&dataset.sessions, &Verdicts::of(&dataset.sessions))))
}

fn print_schedule(args: &PolicyScheduleArgs) -> Result<Exit> {
    let language = args.output.language();
    let manner = (layout(&args.output), language);
    let out = if args.list {
        let presets = presets::all();
        render(args.format, manner, || presets_page(&presets, &EDITS, language), || PresetsV1::new(&presets, &EDITS))?
    } else {
        let candidate = parse_candidate(&args.policy, &|_| None).map_err(|error| Said(error.message()))?;
        let table = schedule(&candidate.policy, usize::from(args.rows), args.retry_after_ms);
        let json = || PolicyScheduleV1::new(&candidate, &table, args.retry_after_ms);
        render(args.format, manner, || schedule_page(&candidate, &table, language), json)?
    };
    emit_for(&out, &args.output)?;
    Ok(Exit::Clean)
}
