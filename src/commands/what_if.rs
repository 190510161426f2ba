//! `policy what-if`: the same failures under other policies.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::{finished, nothing_read, say_what_matches_nothing};
use crate::cli::exit::Exit;
use crate::cli::output::emit;
use crate::cli::plan::Plan;
use crate::cli::what_if_args::{WhatIfArgs, WhatIfFormat};
use crate::evidence::Verdicts;
use crate::message;
use crate::replay::{policy_spans, replay};
use crate::report::lang::Said;
use crate::report::what_if_json::WhatIfV1;
use crate::report::{html, markdown, terminal, what_if as pages};
use crate::simulate::candidates::{Asked, Current, default_set, fixes_set, resolve};
use crate::simulate::recommendation::recommend;
use crate::simulate::what_if::{Arrivals, WhatIfOptions, what_if};

pub(super) fn run(args: &WhatIfArgs) -> Result<Exit> {
    let release = super::policy::release(&args.dsh_version)?;
    // Files are read before the logs: a wrong name is told at once.
    let mut asked = args.policies.iter().map(|policy| ask(policy)).collect::<Result<Vec<_>>>()?;
    let mut plan = Plan::new(&args.input, &args.filters, &args.output)?;
    plan.will_be_posted(matches!(args.format, WhatIfFormat::Html | WhatIfFormat::Markdown));
    let dataset = plan.load()?;
    if let Some(exit) = nothing_read(&dataset, &plan) {
        return Ok(exit);
    }
    say_what_matches_nothing(&dataset, &plan);
    let sessions = &dataset.sessions;
    let arrivals = Arrivals::of(sessions, &Verdicts::of(sessions), args.hidden_retry_after);
    let current = Current::of(&policy_spans(sessions));
    if args.fixes {
        asked.extend(fixes_set(&arrivals.routes, &arrivals.codes, &current));
    }
    if asked.is_empty() {
        asked = default_set(&arrivals.routes, &arrivals.codes, &current);
    }
    let contenders = resolve(&asked, &arrivals.names(), &current, &release).map_err(|error| Said(error.message()))?;
    let options = WhatIfOptions { draws: args.draws, seed: args.seed, assume: args.assume };
    let answer = plan.workers()?.install(|| what_if(arrivals, &contenders, &current, options));
    let advice = recommend(&answer);
    let replayed = replay(sessions);
    let exit = finished(&dataset);
    let page = || pages::page(&answer, advice.as_ref(), &replayed, plan.language);
    let text = match args.format {
        WhatIfFormat::Table => terminal::render(&page(), plan.layout),
        WhatIfFormat::Markdown => {
            markdown::render(&page(), Some(&plan.meta(&dataset, "policy what-if")), plan.language)
        }
        WhatIfFormat::Html => html::render(&page(), &plan.meta(&dataset, "policy what-if"), plan.language),
        WhatIfFormat::Json => {
            let json = WhatIfV1::new(&answer, advice.as_ref(), &replayed, exit == Exit::Partial);
            serde_json::to_string_pretty(&json)? + "\n"
        }
    };
    emit(&text, &plan)?;
    Ok(exit)
}

/// A name with the ending of a settings file, or of a file that exists, is a file; everything else is an expression.
pub(super) fn ask(policy: &str) -> Result<Asked> {
    let ending = Path::new(policy).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if matches!(ending, "yaml" | "yml" | "toml") || Path::new(policy).is_file() {
        let cannot = |error: std::io::Error| {
            let why = message!("policy.cannot-read", path = policy, why = error);
            Said(message!("policy.of-policy", policy = policy, why = why))
        };
        let text = fs::read_to_string(policy).map_err(cannot)?;
        return Ok(Asked::File { name: policy.to_owned(), text });
    }
    Ok(Asked::Expression(policy.to_owned()))
}
