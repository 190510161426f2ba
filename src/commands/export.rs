//! `export`: all tables as files.

use anyhow::{Result, bail};

use super::{finished, nothing_read};
use crate::cli::exit::Exit;
use crate::cli::export_args::ExportArgs;
use crate::cli::output::emit_to;
use crate::cli::plan::Plan;
use crate::export::{EXPORT_TABLES, Export, ExportError, Format, Target, export};
use crate::message::Message;
use crate::report::lang::Said;
use crate::report::{export as report, terminal};

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
    let wanted = |name: &&str| args.tables.is_empty() || args.tables.iter().any(|table| table == name);
    let tables: Vec<&'static str> = EXPORT_TABLES.into_iter().filter(wanted).collect();
    let what = Export {
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
