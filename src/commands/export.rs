//! `export`: all tables as files.

use anyhow::{Result, bail};

use super::{finished, nothing_read, say_what_matches_nothing, scan};
use crate::cli::exit::Exit;
use crate::cli::export_args::ExportArgs;
use crate::cli::output::emit_to;
use crate::cli::plan::Plan;
use crate::evidence::Verdicts;
use crate::export::{EXPORT_TABLES, Export, ExportError, Format, Target, export};
use crate::findings::{Context, Finding, find_all};
use crate::message::Message;
use crate::pipeline::Dataset;
use crate::report::lang::Said;
use crate::report::{export as report, terminal};
use crate::summary::Summary;

pub(super) fn run(args: &ExportArgs) -> Result<Exit> {
    let mut plan = Plan::new(&args.input, &args.filters, &args.output)?;
    plan.hash_inputs(true);
    let Some(directory) = plan.output.clone() else { bail!(Said(Message::new("export.no-directory"))) };
    let said = |error: ExportError| Said(error.0);
    if args.bom && args.format != Format::Csv {
        bail!(Said(Message::new("export.bom-without-csv")));
    }
    let target = Target::open(&directory, args.force).map_err(said)?;
    let discovery = plan.discover();
    let archives = discovery.archives.clone();
    let dataset = plan.load_from(discovery)?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        target.abandon();
        return Ok(exit);
    }
    say_what_matches_nothing(&dataset, &plan);
    let wanted = |name: &&str| args.tables.is_empty() || args.tables.iter().any(|table| table == name);
    let tables: Vec<&'static str> = EXPORT_TABLES.into_iter().filter(wanted).collect();
    let findings = if tables.contains(&"findings") { found(&dataset, &plan)? } else { Vec::new() };
    let what = Export {
        findings: &findings,
        dataset: &dataset,
        archives: &archives,
        filters: &plan.filters,
        tables: &tables,
        format: args.format,
        byte_order_mark: args.bom,
        zone: &plan.zone,
        limits: plan.read_options().limits,
        jobs: plan.workers()?.current_num_threads(),
    };
    let manifest = export(&what, &target).map_err(said)?;
    let page = report::page(&manifest, target.root(), plan.language);
    emit_to(terminal::render(&page, plan.layout).as_bytes(), None)?;
    Ok(if manifest.partial { Exit::Partial } else { finished(&dataset) })
}

/// What `scan` finds with the same filters and the same configuration.
fn found(dataset: &Dataset, plan: &Plan) -> Result<Vec<Finding>> {
    let selection = plan.config.selection(Vec::new(), Vec::new()).checked().map_err(Said)?;
    let mut summary = Summary::of(dataset, &plan.filters, &[]);
    let verdicts = Verdicts::of(&dataset.sessions);
    summary.add_verdicts(dataset, &plan.filters, &verdicts);
    summary.add_correlations(dataset, &plan.filters, &plan.zone);
    let mut context = Context::new(dataset, &summary, &verdicts, &plan.filters);
    context.lint = plan.settings.as_ref().map(|file| (file.name.clone(), scan::lint_hits(&context, file)));
    Ok(find_all(&context, &selection))
}
