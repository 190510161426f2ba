//! `failures`: one row per failed attempt.

use anyhow::Result;

use super::{finished, nothing_matches, nothing_read, say_what_matches_nothing};
use crate::charts::Charts;
use crate::cli::args::{FailuresArgs, FailuresFormat};
use crate::cli::exit::Exit;
use crate::cli::output::emit;
use crate::cli::plan::Plan;
use crate::evidence::Verdicts;
use crate::report::{failures, html, markdown, terminal};

pub(super) fn run(args: &FailuresArgs) -> Result<Exit> {
    let mut plan = Plan::new(&args.input, &args.filters, &args.output)?;
    plan.will_be_posted(matches!(args.format, FailuresFormat::Html | FailuresFormat::Markdown));
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    let rows = failures::rows(&dataset, &plan.filters, &Verdicts::of(&dataset.sessions));
    let exit = finished(&dataset);
    let page = || {
        failures::page(
            &rows,
            &Charts::of(&dataset.sessions, &plan.filters),
            nothing_matches(&dataset),
            exit == Exit::Partial,
            &plan.zone,
            plan.language,
        )
    };
    if matches!(args.format, FailuresFormat::Ndjson | FailuresFormat::Csv) {
        say_what_matches_nothing(&dataset, &plan);
    }
    let text = match args.format {
        FailuresFormat::Table => terminal::render(&page(), plan.layout),
        FailuresFormat::Markdown => markdown::render(&page(), Some(&plan.meta(&dataset, "failures")), plan.language),
        FailuresFormat::Html => html::render(&page(), &plan.meta(&dataset, "failures"), plan.language),
        FailuresFormat::Ndjson => failures::ndjson(&rows)?,
        FailuresFormat::Csv => failures::csv(&rows)?,
    };
    emit(&text, &plan)?;
    Ok(exit)
}
