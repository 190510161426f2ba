//! `policy lint` and `policy schedule`.

use std::fs;

use anyhow::{Context, Result};

use crate::cli::args::{PolicyCommand, PolicyLintArgs, PolicyScheduleArgs};
use crate::cli::exit::Exit;
use crate::cli::output::emit_to;
use crate::cli::plan::layout;
use crate::policy::{Release, Severity, lint_text, parse_candidate, schedule};
use crate::redact::redact;
use crate::report::document::{Block, Cell, Page, Tone};
use crate::report::terminal;

pub(super) fn run(command: &PolicyCommand) -> Result<Exit> {
    match command {
        PolicyCommand::Lint(args) => lint(args),
        PolicyCommand::Schedule(args) => print_schedule(args),
        PolicyCommand::WhatIf(args) => super::what_if::run(args),
    }
}

fn lint(args: &PolicyLintArgs) -> Result<Exit> {
    let release: Release = args.dsh_version.parse().map_err(|e| anyhow::anyhow!("--dsh-version: {e}"))?;
    let text = fs::read_to_string(&args.file).with_context(|| format!("cannot read {}", args.file.display()))?;
    let name = args.file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let hits = lint_text(&name, &text, None, &release);
    let mut page = Page::default();
    for hit in &hits {
        let tone = match hit.severity {
            Severity::Error => Tone::Bad,
            Severity::Warning => Tone::Warn,
            Severity::Note => Tone::Plain,
        };
        page.text(Cell::toned(format!("{name}:{}: {}: {}", hit.line, hit.rule, redact(&hit.message)), tone));
        page.blocks.push(Block::List(vec![
            Cell::from(format!("why: {}", redact(&hit.reason))),
            Cell::from(format!("fix: {}", redact(&hit.fix))),
        ]));
    }
    let errors = hits.iter().filter(|h| h.severity == Severity::Error).count();
    page.text(format!("{} found, {errors} that the harness refuses or never reads", hits.len()));
    emit_to(terminal::render(&page, layout(&args.output)).as_bytes(), args.output.output.as_deref())?;
    Ok(if errors > 0 { Exit::Findings } else { Exit::Clean })
}

fn print_schedule(args: &PolicyScheduleArgs) -> Result<Exit> {
    let candidate = parse_candidate(&args.policy, &|_| None)?;
    let table = schedule(&candidate.policy, args.rows, args.retry_after_ms);
    let out = format!("{} ({})\n{}", candidate.name, candidate.policy.policy_key(), table.to_text());
    emit_to(out.as_bytes(), args.output.output.as_deref())?;
    Ok(Exit::Clean)
}
