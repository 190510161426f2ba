//! `compactions`: every compaction, and whether compactions make steps fail.

use anyhow::Result;

use super::{finished, nothing_read, say_what_matches_nothing};
use crate::cli::compactions_args::{CompactionsArgs, CompactionsFormat};
use crate::cli::exit::Exit;
use crate::cli::output::emit;
use crate::cli::plan::Plan;
use crate::correlate::{CompactionList, CompactionStudy};
use crate::report::compactions::{Report, page};
use crate::report::compactions_json::{CompactionsV1, ndjson};
use crate::report::{html, markdown, terminal};
use crate::summary::Summary;

pub(super) fn run(args: &CompactionsArgs) -> Result<Exit> {
    let mut plan = Plan::new(&args.input, &args.filters, &args.output)?;
    plan.will_be_posted(matches!(args.format, CompactionsFormat::Html | CompactionsFormat::Markdown));
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    say_what_matches_nothing(&dataset, &plan);
    let summary = Summary::of(&dataset, &plan.filters, &args.windows);
    let list = CompactionList::of(&dataset.sessions, &plan.filters);
    let study = CompactionStudy::of(&dataset.sessions, &plan.filters, &args.windows);
    let report = Report { summary: &summary, list: &list, study: &study };
    let page = || page(&report, &plan.zone, plan.language);
    let text = match args.format {
        CompactionsFormat::Table => terminal::render(&page(), plan.layout),
        CompactionsFormat::Markdown => {
            markdown::render(&page(), Some(&plan.meta(&dataset, "compactions")), plan.language)
        }
        CompactionsFormat::Html => html::render(&page(), &plan.meta(&dataset, "compactions"), plan.language),
        CompactionsFormat::Json => serde_json::to_string_pretty(&CompactionsV1::new(&dataset, &report))? + "\n",
        CompactionsFormat::Ndjson => ndjson(&list)?,
    };
    emit(&text, &plan)?;
    Ok(finished(&dataset))
}
