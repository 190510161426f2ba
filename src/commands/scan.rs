//! `scan`: everything at a glance.

use anyhow::Result;

use super::{finished, nothing_read};
use crate::charts::Charts;
use crate::cli::args::{ScanArgs, ScanFormat};
use crate::cli::exit::Exit;
use crate::cli::output::emit;
use crate::cli::plan::Plan;
use crate::evidence::Verdicts;
use crate::report::json::ScanV1;
use crate::report::{html, markdown, scan, terminal};
use crate::summary::Summary;

pub(super) fn run(args: &ScanArgs) -> Result<Exit> {
    let mut plan = Plan::new(&args.input, &args.filters, &args.output)?;
    plan.hash_inputs(args.format == ScanFormat::Html);
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    let mut summary = Summary::of(&dataset, &plan.filters, &args.windows);
    summary.add_verdicts(&dataset, &plan.filters, &Verdicts::of(&dataset.sessions));
    summary.add_correlations(&dataset, &plan.filters, &plan.zone);
    let page = || {
        scan::page(
            &dataset,
            &summary,
            &Charts::of(&dataset.sessions, &plan.filters),
            &plan.zone,
            plan.filters.choose_attempts() || !plan.filters.codes.is_empty(),
            plan.language,
        )
    };
    let text = match args.format {
        ScanFormat::Table => terminal::render(&page(), plan.layout),
        ScanFormat::Markdown => markdown::render(&page()),
        ScanFormat::Html => html::render(&page(), &plan.meta(&dataset, "scan"), plan.language),
        ScanFormat::Json => serde_json::to_string_pretty(&ScanV1::new(&dataset, &summary))? + "\n",
    };
    emit(&text, &plan)?;
    Ok(finished(&dataset))
}
