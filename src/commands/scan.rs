//! `scan`: everything at a glance.

use std::collections::BTreeMap;

use anyhow::Result;

use super::{finished, nothing_read, say_what_matches_nothing};
use crate::charts::Charts;
use crate::cli::args::{ScanArgs, ScanFormat};
use crate::cli::exit::Exit;
use crate::cli::output::emit;
use crate::cli::plan::{Plan, Settings};
use crate::evidence::{FixableBy, Verdicts};
use crate::findings::{Context, Selection, find_all, headline, registry};
use crate::policy::{ArchiveFacts, LintHit, Release, RouteFacts, lint_text};
use crate::report::findings::Found;
use crate::report::json::ScanV1;
use crate::report::lang::Said;
use crate::report::{html, markdown, scan, terminal};
use crate::summary::Summary;

pub(super) fn run(args: &ScanArgs) -> Result<Exit> {
    let mut plan = Plan::new(&args.input, &args.filters, &args.output)?;
    plan.will_be_posted(matches!(args.format, ScanFormat::Html | ScanFormat::Markdown));
    let chosen = plan.config.selection(args.rules.only.clone(), args.rules.ignore.clone());
    let selection = chosen.checked().map_err(Said)?;
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    let mut summary = Summary::of(&dataset, &plan.filters, &args.windows);
    let verdicts = Verdicts::of(&dataset.sessions);
    summary.add_verdicts(&dataset, &plan.filters, &verdicts);
    summary.add_correlations(&dataset, &plan.filters, &plan.zone);
    let mut found =
        look(Context::new(&dataset, &summary, &verdicts, &plan.filters), &selection, plan.settings.as_ref());
    // A report that is kept holds everything; a terminal the worst.
    found.in_full = args.format == ScanFormat::Html;
    let narrowed = plan.filters.choose_attempts() || !plan.filters.codes.is_empty();
    let charts = || Charts::of(&dataset.sessions, &plan.filters);
    let page = || scan::page(&dataset, &summary, &found, &charts(), &plan.zone, narrowed, plan.language);
    if args.format == ScanFormat::Json {
        say_what_matches_nothing(&dataset, &plan);
    }
    let text = match args.format {
        ScanFormat::Table => terminal::render(&page(), plan.layout),
        ScanFormat::Markdown => markdown::render(&page(), Some(&plan.meta(&dataset, "scan")), plan.language),
        ScanFormat::Html => html::render(&page(), &plan.meta(&dataset, "scan"), plan.language),
        ScanFormat::Json => serde_json::to_string_pretty(&ScanV1::new(&dataset, &summary, &found.findings))? + "\n",
    };
    emit(&text, &plan)?;
    let gate = args.rules.fail_on.or(plan.config.fail_on);
    // A gate that fails says more than an input that could not be read.
    let fails = gate.is_some_and(|gate| registry::fails(&found.findings, gate));
    Ok(if fails { Exit::Findings } else { finished(&dataset) })
}

fn look(mut context: Context<'_>, selection: &Selection, settings: Option<&Settings>) -> Found {
    context.lint = settings.map(|file| (file.name.clone(), lint_hits(&context, file)));
    Found { headline: headline::of(&context), findings: find_all(&context, selection), in_full: false }
}

/// The linter's hits, with what the archive shows about each route.
pub(super) fn lint_hits(context: &Context<'_>, file: &Settings) -> Vec<LintHit> {
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
    let release: Option<Release> = Release::NEWEST.parse().ok();
    release
        .map(|release| lint_text(&file.name, &file.text, Some(&ArchiveFacts { routes }), &release))
        .unwrap_or_default()
}
