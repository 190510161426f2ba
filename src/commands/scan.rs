//! `scan`: everything at a glance.

use anyhow::Result;

use super::{finished, nothing_read};
use crate::cli::args::{ScanArgs, ScanFormat};
use crate::cli::exit::Exit;
use crate::cli::output::emit;
use crate::cli::plan::Plan;
use crate::evidence::Verdicts;
use crate::report::json::ScanV1;
use crate::report::{markdown, scan, terminal};
use crate::summary::Summary;

pub(super) fn run(args: &ScanArgs) -> Result<Exit> {
    let plan = Plan::new(&args.input, &args.filters, &args.output)?;
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    let mut summary = Summary::of(&dataset, &plan.filters, &args.windows);
    summary.add_verdicts(&dataset, &plan.filters, &Verdicts::of(&dataset.sessions));
    let page = || {
        scan::page(
            &dataset,
            &summary,
            &plan.zone,
            plan.filters.choose_attempts() || !plan.filters.codes.is_empty(),
            plan.language,
        )
    };
    let text = match args.format {
        ScanFormat::Table => terminal::render(&page(), plan.layout),
        ScanFormat::Markdown => markdown::render(&page()),
        ScanFormat::Json => serde_json::to_string_pretty(&ScanV1::new(&dataset, &summary))? + "\n",
    };
    emit(&text, &plan)?;
    Ok(finished(&dataset))
}
