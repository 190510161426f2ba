//! `check`: the archive against a baseline, gate by gate.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;

use super::{finished, nothing_read, say_what_matches_nothing, scan};
use crate::check::{
    Asked, Baseline, CheckResult, GateState, NeedsReason, Observed, Policy, Rules, SavedShare, decide_all, judge,
    updated,
};
use crate::cli::check_args::{CheckArgs, CheckFormat};
use crate::cli::exit::Exit;
use crate::cli::output::emit;
use crate::cli::plan::Plan;
use crate::evidence::Verdicts;
use crate::findings::{Context, Severity, find_all};
use crate::message;
use crate::message::Message;
use crate::pipeline::Dataset;
use crate::policy::Release;
use crate::redact::redact;
use crate::replay::policy_spans;
use crate::report::ci;
use crate::report::lang::Said;
use crate::report::{html, markdown, terminal};
use crate::session::Route;
use crate::simulate::candidates::{Asked as AskedPolicy, Contender, Current, resolve};
use crate::simulate::engine::Assume;
use crate::simulate::what_if::{Arrivals, WhatIfOptions, what_if};
use crate::summary::Summary;

/// Draws of the simulation behind the share of saved turns.
const DRAWS: u64 = 200;

pub(super) fn run(args: &CheckArgs) -> Result<Exit> {
    let mut plan = Plan::new(&args.input, &args.filters, &args.output)?;
    plan.will_be_posted(matches!(args.format, CheckFormat::Html | CheckFormat::Markdown));
    let old = read_baseline(args)?;
    let rules = rules(args, old.as_ref());
    let policy = asked_policy(args, old.as_ref())?;
    let wants_share = plan.config.check.min_saved_share.is_some();
    if wants_share && policy.is_none() {
        return Err(Said(Message::new("check.share-needs-policy")).into());
    }
    let asked = Asked { config: plan.config.check.clone(), severity: severity(args, &plan) };
    let selection =
        plan.config.selection(args.rules.only.clone(), args.rules.ignore.clone()).checked().map_err(Said)?;
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(skipped_in_bisection(exit, args));
    }
    say_what_matches_nothing(&dataset, &plan);
    let mut summary = Summary::of(&dataset, &plan.filters, &[]);
    let recorded = Verdicts::of(&dataset.sessions);
    summary.add_verdicts(&dataset, &plan.filters, &recorded);
    let mut context = Context::new(&dataset, &summary, &recorded, &plan.filters);
    if let Some(file) = &plan.settings {
        context.lint = Some((file.name.clone(), scan::lint_hits(&context, file)));
    }
    let findings = find_all(&context, &selection);
    let verdicts = Verdicts::of_codes(&dataset.sessions, |attempt, failure| rules.code(attempt, failure));
    let mut observed = Observed::of(&context, &findings, &verdicts, &rules);
    if let Some(policy) = &policy {
        let own = policy_by_route(policy, &context, &dataset)?;
        observed.decisions = Some(decide_all(&own, &context.cases, &observed.rules_codes()));
        if wants_share {
            observed.saved = Some(saved(policy, &dataset, &recorded, &plan)?);
        }
    }
    let exit = finished(&dataset);
    let mut result = judge(&asked, old.as_ref(), observed, exit == Exit::Partial);
    result.notices = notices(args, old.as_ref(), &rules, &dataset, &result);
    if args.update {
        return update(args, &plan, old.as_ref(), &result, &asked, &rules);
    }
    emit(&render(args, &plan, &dataset, &result)?, &plan)?;
    Ok(status(&result, exit, args))
}

/// A gate that fails says more than an input that could not be read; in a bisection only a proof counts.
fn status(result: &CheckResult, exit: Exit, args: &CheckArgs) -> Exit {
    if result.fired() {
        return Exit::Findings;
    }
    if args.bisect && result.in_state(GateState::Inconclusive).next().is_some() {
        return Exit::Inconclusive;
    }
    skipped_in_bisection(exit, args)
}

/// `git bisect run` takes any status but 0 and 125 for bad: logs that are missing or broken are no proof.
fn skipped_in_bisection(exit: Exit, args: &CheckArgs) -> Exit {
    match exit {
        Exit::NoInput | Exit::Partial if args.bisect => Exit::Inconclusive,
        other => other,
    }
}

fn read_baseline(args: &CheckArgs) -> Result<Option<Baseline>> {
    let Some(path) = &args.baseline else { return Ok(None) };
    // The first --update makes the file.
    if args.update && !path.exists() {
        return Ok(None);
    }
    Ok(Some(Baseline::read(path)?))
}

/// The release that was typed, else the one of the baseline.
fn rules(args: &CheckArgs, old: Option<&Baseline>) -> Rules {
    let typed = Rules { dsh_version: args.dsh_version.clone(), pi_ai_version: args.pi_ai_version.clone() };
    match old {
        Some(old) if !typed.are_chosen() => Rules {
            dsh_version: old.classifications.dsh_version.clone(),
            pi_ai_version: old.classifications.pi_ai_version.clone(),
        },
        _ => typed,
    }
}

fn severity(args: &CheckArgs, plan: &Plan) -> Severity {
    let config = plan.config.check.severity.or(plan.config.fail_on);
    args.rules.fail_on.or(config).unwrap_or(Severity::Warning)
}

/// The policy that was typed, else the one of the baseline where its name says what it is.
fn asked_policy(args: &CheckArgs, old: Option<&Baseline>) -> Result<Option<AskedPolicy>> {
    if let Some(policy) = &args.policy {
        return super::what_if::ask(policy).map(Some);
    }
    let decisions = old.and_then(|old| old.decisions.as_ref()).filter(|decisions| !decisions.from_file);
    Ok(decisions.map(|decisions| AskedPolicy::Expression(decisions.policy.clone())))
}

fn one_contender(policy: &AskedPolicy, routes: &[Route], dataset: &Dataset) -> Result<Contender> {
    let release: Release = Release::NEWEST.parse()?;
    let current = Current::of(&policy_spans(&dataset.sessions));
    let mut contenders =
        resolve(std::slice::from_ref(policy), routes, &current, &release).map_err(|error| Said(error.message()))?;
    match (contenders.pop(), contenders.len()) {
        (Some(one), 0) => Ok(one),
        (_, others) => Err(Said(message!("check.one-policy", n = others + 1)).into()),
    }
}

/// The policy on every route that failed. Repairs have a memory of their own, which single decisions do not show.
fn policy_by_route(policy: &AskedPolicy, context: &Context<'_>, dataset: &Dataset) -> Result<Policy> {
    let routes: std::collections::BTreeSet<Route> = context.cases.iter().map(|c| (*c.attempt.route).clone()).collect();
    let routes: Vec<Route> = routes.into_iter().collect();
    let contender = one_contender(policy, &routes, dataset)?;
    if contender.by_route.iter().any(|candidate| candidate.fixes.any()) {
        return Err(Said(message!("check.policy-with-repairs", policy = &contender.name)).into());
    }
    let by_route: BTreeMap<Route, _> =
        routes.into_iter().zip(contender.by_route.into_iter().map(|candidate| candidate.policy)).collect();
    let (name, from_file) = match policy {
        AskedPolicy::Expression(expression) => (expression.clone(), false),
        AskedPolicy::File { name, .. } => (base_name(name), true),
    };
    Ok(Policy { name: redact(&name).into_owned(), from_file, by_route })
}

fn base_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn saved(policy: &AskedPolicy, dataset: &Dataset, verdicts: &Verdicts, plan: &Plan) -> Result<SavedShare> {
    let sessions = &dataset.sessions;
    let arrivals = Arrivals::of(sessions, verdicts, None);
    let contender = one_contender(policy, &arrivals.names(), dataset)?;
    let current = Current::of(&policy_spans(sessions));
    let options = WhatIfOptions { draws: DRAWS, seed: 1, assume: Assume::Model };
    let answer = plan.workers()?.install(|| what_if(arrivals, &[contender], &current, options));
    let saved = answer.policies.first().map_or([0.0; 3], |policy| {
        let saved = policy.saved;
        [saved.pessimistic, saved.expected.unwrap_or(saved.pessimistic), saved.optimistic]
    });
    Ok(SavedShare { failed_turns: answer.turns_failed, saved })
}

fn notices(
    args: &CheckArgs,
    old: Option<&Baseline>,
    rules: &Rules,
    dataset: &Dataset,
    result: &CheckResult,
) -> Vec<Message> {
    let mut notices = Vec::new();
    if old.is_none() && !args.update {
        notices.push(message!("check.without-baseline"));
    }
    if rules.are_chosen() && rules.resolve().1 {
        notices.push(message!("check.rules-assumed"));
    }
    if old.and_then(|old| old.decisions.as_ref()).is_some() && result.observed.decisions.is_none() {
        notices.push(message!("check.give-policy"));
    }
    if result.partial {
        notices.push(message!("check.partial", n = dataset.inputs.unreadable_archives));
    }
    notices
}

/// Writes the baseline, or says which entries have no reason.
fn update(
    args: &CheckArgs,
    plan: &Plan,
    old: Option<&Baseline>,
    result: &CheckResult,
    asked: &Asked,
    rules: &Rules,
) -> Result<Exit> {
    let Some(path) = &args.baseline else { return Ok(Exit::Usage) };
    if result.partial {
        // What could not be read would be dropped from the baseline as if it had been mended.
        eprintln!("dsh-forensics: {}", plan.language.say("check.no-update-of-partial"));
        return Ok(Exit::Partial);
    }
    let new = updated(old, result, asked, rules, args.reason.as_deref()).map_err(needs_reason)?;
    fs::write(path, new.text()?)
        .map_err(|error| Said(message!("errors.cannot-write", path = path.display(), why = error)))?;
    if !plan.quiet {
        let before: std::collections::BTreeSet<&str> =
            old.map(|old| old.accepted.iter().map(|e| e.fingerprint.as_str()).collect()).unwrap_or_default();
        let added = new.accepted.iter().filter(|entry| !before.contains(entry.fingerprint.as_str())).count();
        let dropped = before.len() + added - new.accepted.len();
        let done =
            message!("check.updated", path = path.display(), n = new.accepted.len(), added = added, dropped = dropped);
        eprintln!("dsh-forensics: {}", redact(&plan.language.render(&done)));
    }
    Ok(Exit::Clean)
}

/// Entries named in an error.
const MOST_ENTRIES: usize = 10;

fn needs_reason(missing: NeedsReason) -> anyhow::Error {
    let n = missing.entries.len();
    let list = missing.entries.into_iter().take(MOST_ENTRIES);
    Said(message!("check.needs-reason", n = n).with_list("list", list)).into()
}

fn render(args: &CheckArgs, plan: &Plan, dataset: &Dataset, result: &CheckResult) -> Result<String> {
    if args.explain_gate {
        return Ok(ci::page::explain(result, plan.language));
    }
    let page = |most: usize| ci::page::page(result, most, plan.language);
    Ok(match args.format {
        CheckFormat::Table => terminal::render(&page(ci::page::MOST_ON_TERMINAL), plan.layout),
        CheckFormat::Markdown => {
            markdown::render(&page(ci::page::MOST_IN_SUMMARY), Some(&plan.meta(dataset, "check")), plan.language)
        }
        CheckFormat::Html => html::render(&page(ci::page::MOST_IN_FILE), &plan.meta(dataset, "check"), plan.language),
        CheckFormat::Json => serde_json::to_string_pretty(&ci::json::CheckV1::new(result))? + "\n",
        CheckFormat::Sarif => serde_json::to_string_pretty(&ci::sarif::log(result))? + "\n",
        CheckFormat::Junit => ci::junit::render(result),
        CheckFormat::Github => ci::github::render(result, plan.language),
    })
}
