//! `explain`: one failure in full.

use anyhow::{Context, Result};
use jiff::tz::TimeZone;

use super::{finished, nothing_read};
use crate::cli::args::{FilterArgs, Redact};
use crate::cli::exit::Exit;
use crate::cli::explain_args::{ExplainArgs, ExplainFormat};
use crate::cli::output::{emit, emit_for};
use crate::cli::plan::{Plan, layout};
use crate::evidence::Verdicts;
use crate::explain::{Target, Versions, explain, last_messages, most_interesting};
use crate::findings::{Rule, registry};
use crate::message::Message;
use crate::pipeline::Dataset;
use crate::report::document::{Block, Page};
use crate::report::explain::json::ExplainV1;
use crate::report::lang::{Language, Said};
use crate::report::{explain as report, html, markdown, rules, terminal};

pub(super) fn run(args: &ExplainArgs) -> Result<Exit> {
    if let Some(rule) = args.target().and_then(registry::find) {
        return explain_rule(rule, args);
    }
    refuse_to_show(args)?;
    let filters = FilterArgs { tz: args.tz.clone(), ..FilterArgs::default() };
    let mut plan = Plan::new(&args.input(), &filters, &args.output)?;
    plan.will_be_posted(matches!(args.format, ExplainFormat::Html | ExplainFormat::Markdown));
    let discovery = plan.discover();
    let archives = if args.show_content { discovery.archives.clone() } else { Vec::new() };
    let mut dataset = plan.load_by_name(discovery)?;
    if dataset.sessions.is_empty() {
        plan.hide_names(&mut dataset);
    }
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    let mut verdicts = Verdicts::of(&dataset.sessions);
    let place = match args.target() {
        Some(target) => Some(Target::parse(target).find(&dataset, &verdicts)?),
        None => most_interesting(&dataset, &verdicts, None),
    };
    // The failure was named as it is called; from here on nothing tells its name.
    plan.hide_names(&mut dataset);
    if plan.is_strict() {
        verdicts = Verdicts::of(&dataset.sessions);
    }
    let exit = finished(&dataset);
    let Some(place) = place else {
        let mut page = Page::default();
        page.blocks.push(Block::Title(plan.language.say("explain.nothing-failed")));
        let meta = || plan.meta(&dataset, "explain");
        let text = match args.format {
            ExplainFormat::Html => html::render(&page, &meta(), plan.language),
            ExplainFormat::Markdown => markdown::render(&page, Some(&meta()), plan.language),
            ExplainFormat::Table | ExplainFormat::Json => terminal::render(&page, plan.layout),
        };
        emit(&text, &plan)?;
        return Ok(exit);
    };
    let versions = Versions { dsh: args.dsh_version.clone(), pi_ai: args.pi_ai_version.clone() };
    let explained = explain(&dataset, &verdicts, place, &versions).context("the attempt did not fail")?;
    let content = match archives.iter().find(|archive| archive.display == explained.session.path) {
        Some(archive) => Some(last_messages(archive, plan.read_options().limits, explained.attempt)?),
        None => None,
    };
    let page = || {
        let mut page = report::page(&explained, &plan.zone, plan.language);
        if let Some(messages) = &content {
            report::content::push(&mut page, messages, plan.language);
        }
        page
    };
    let text = match args.format {
        ExplainFormat::Table => terminal::render(&page(), plan.layout),
        ExplainFormat::Markdown => markdown::render(&page(), Some(&plan.meta(&dataset, "explain")), plan.language),
        ExplainFormat::Html => html::render(&page(), &plan.meta(&dataset, "explain"), plan.language),
        ExplainFormat::Json => {
            let json = ExplainV1::new(&explained).context("the attempt did not fail")?;
            serde_json::to_string_pretty(&json)? + "\n"
        }
    };
    emit(&text, &plan)?;
    Ok(exit)
}

/// Message contents leave the machine only when somebody says so twice.
fn refuse_to_show(args: &ExplainArgs) -> Result<()> {
    let key = match args.format {
        _ if !args.show_content => return Ok(()),
        _ if args.output.redact == Redact::Strict => "explain.content-or-strict",
        ExplainFormat::Markdown | ExplainFormat::Html if !args.yes_include_content => "explain.content-needs-yes",
        ExplainFormat::Json => "explain.content-not-in-json",
        _ => return Ok(()),
    };
    Err(Said(Message::new(key)).into())
}

/// What a rule means; no log is read for it.
fn explain_rule(rule: &Rule, args: &ExplainArgs) -> Result<Exit> {
    let language = args.output.language();
    let text = match args.format {
        ExplainFormat::Table => terminal::render(&rules::page(rule, language), layout(&args.output)),
        ExplainFormat::Markdown => rules::markdown(rule, language),
        ExplainFormat::Html => {
            let meta = html::Meta::of(&Dataset::default(), "explain", "", &TimeZone::UTC);
            html::render(&rules::page(rule, language), &meta, language)
        }
        ExplainFormat::Json => {
            let say = |key| Language::English.say(key);
            let docs = &rule.docs;
            let json = serde_json::json!({
                "schema": "dsh-forensics/rule/v1", "id": rule.id, "life_cycle": rule.life_cycle.name(),
                "name": say(docs.name), "what": say(docs.what), "why": say(docs.why), "advice": say(docs.advice),
                "example": say(docs.example),
            });
            serde_json::to_string_pretty(&json)? + "\n"
        }
    };
    emit_for(&text, &args.output)?;
    Ok(Exit::Clean)
}
