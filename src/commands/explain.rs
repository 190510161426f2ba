//! `explain`: one failure in full.

use anyhow::{Context, Result};
use jiff::tz::TimeZone;

use super::{finished, nothing_read};
use crate::cli::args::FilterArgs;
use crate::cli::exit::Exit;
use crate::cli::explain_args::{ExplainArgs, ExplainFormat};
use crate::cli::output::{emit, emit_to};
use crate::cli::plan::{Plan, layout};
use crate::evidence::Verdicts;
use crate::explain::{Target, Versions, explain, most_interesting};
use crate::findings::{Rule, registry};
use crate::pipeline::Dataset;
use crate::report::document::{Block, Page};
use crate::report::explain::json::ExplainV1;
use crate::report::lang::Language;
use crate::report::{explain as report, html, markdown, rules, terminal};

pub(super) fn run(args: &ExplainArgs) -> Result<Exit> {
    if let Some(rule) = args.target.as_deref().and_then(registry::find) {
        return explain_rule(rule, args);
    }
    let filters = FilterArgs { tz: args.tz.clone(), ..FilterArgs::default() };
    let mut plan = Plan::new(&args.input(), &filters, &args.output)?;
    plan.will_be_posted(matches!(args.format, ExplainFormat::Html | ExplainFormat::Markdown));
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    let verdicts = Verdicts::of(&dataset.sessions);
    let place = match &args.target {
        Some(target) => Some(Target::parse(target).find(&dataset, &verdicts)?),
        None => most_interesting(&dataset, &verdicts, None),
    };
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
    let page = || report::page(&explained, &plan.zone, plan.language);
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
    emit_to(text.as_bytes(), args.output.output.as_deref())?;
    Ok(Exit::Clean)
}
