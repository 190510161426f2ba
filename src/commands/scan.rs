//! `scan`: everything at a glance.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;

use super::{finished, nothing_read};
use crate::charts::Charts;
use crate::cli::args::{ScanArgs, ScanFormat};
use crate::cli::exit::Exit;
use crate::cli::output::emit;
use crate::cli::plan::Plan;
use crate::evidence::{FixableBy, Verdicts};
use crate::findings::{Context, Selection, find_all, headline, registry};
use crate::message;
use crate::policy::{ArchiveFacts, LintHit, Release, RouteFacts, lint_text};
use crate::report::findings::Found;
use crate::report::json::ScanV1;
use crate::report::lang::Said;
use crate::report::{html, markdown, scan, terminal};
use crate::summary::Summary;

pub(super) fn run(args: &ScanArgs) -> Result<Exit> {
    let mut plan = Plan::new(&args.input, &args.filters, &args.output)?;
    plan.hash_inputs(args.format == ScanFormat::Html);
    let chosen = plan.config.selection(args.rules.only.clone(), args.rules.ignore.clone());
    let selection = chosen.checked().map_err(Said)?;
    let settings = read_settings(args.input.settings.as_deref())?;
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    let mut summary = Summary::of(&dataset, &plan.filters, &args.windows);
    let verdicts = Verdicts::of(&dataset.sessions);
    summary.add_verdicts(&dataset, &plan.filters, &verdicts);
    summary.add_correlations(&dataset, &plan.filters, &plan.zone);
    let mut found = look(Context::new(&dataset, &summary, &verdicts, &plan.filters), &selection, settings.as_ref());
    // A report that is kept holds everything; a terminal the worst.
    found.in_full = args.format == ScanFormat::Html;
    let narrowed = plan.filters.choose_attempts() || !plan.filters.codes.is_empty();
    let charts = || Charts::of(&dataset.sessions, &plan.filters);
    let page = || scan::page(&dataset, &summary, &found, &charts(), &plan.zone, narrowed, plan.language);
    let text = match args.format {
        ScanFormat::Table => terminal::render(&page(), plan.layout),
        ScanFormat::Markdown => markdown::render(&page()),
        ScanFormat::Html => html::render(&page(), &plan.meta(&dataset, "scan"), plan.language),
        ScanFormat::Json => serde_json::to_string_pretty(&ScanV1::new(&dataset, &summary, &found.findings))? + "\n",
    };
    emit(&text, &plan)?;
    let gate = args.rules.fail_on.or(plan.config.fail_on);
    // A gate that fails says more than an input that could not be read.
    let fails = gate.is_some_and(|gate| registry::fails(&found.findings, gate));
    Ok(if fails { Exit::Findings } else { finished(&dataset) })
}

/// Name and text of the settings file.
pub(super) fn read_settings(path: Option<&Path>) -> Result<Option<(String, String)>> {
    let Some(path) = path else { return Ok(None) };
    let text = fs::read_to_string(path)
        .map_err(|error| Said(message!("findings.unreadable", path = path.display(), why = error)))?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(Some((name, text)))
}

fn look(mut context: Context<'_>, selection: &Selection, settings: Option<&(String, String)>) -> Found {
    let hits = settings.map(|(name, text)| lint_hits(&context, name, text)).unwrap_or_default();
    context.lint = settings.map(|(name, _)| (name.clone(), hits));
    Found { headline: headline::of(&context), findings: find_all(&context, selection), in_full: false }
}

/// The linter's hits, with what the archive shows about each route.
pub(super) fn lint_hits(context: &Context<'_>, name: &str, text: &str) -> Vec<LintHit> {
    let mut routes: BTreeMap<String, RouteFacts> = BTreeMap::new();
    for (route, counts) in &context.summary.by_route {
        routes.entry(route.provider.clone()).or_default().attempts += counts.attempts;
    }
    for case in &context.cases {
        let facts = routes.entry(case.attempt.route.provider.clone()).or_default();
        facts.failures += 1;
        *facts.codes.entry(case.failure.code.clone()).or_default() += 1;
        if !matches!(case.judgement.fixable_by, FixableBy::Time | FixableBy::Unknown) {
            *facts.intrinsic.entry(case.failure.code.clone()).or_default() += 1;
        }
        let asked = case.failure.retry_after_ms.filter(|ms| ms.is_finite());
        facts.max_retry_after_ms = asked.into_iter().chain(facts.max_retry_after_ms).reduce(f64::max);
    }
    // The release of the logs is not in them; what differs between releases is said by `policy lint --dsh-version`.
    let release: Option<Release> = "0.1.1-rc.2".parse().ok();
    release.map(|release| lint_text(name, text, Some(&ArchiveFacts { routes }), &release)).unwrap_or_default()
}
