//! `verify`: what the harness would do with each log, what was read, and what is lost.

use anyhow::Result;

use super::say;
use crate::cli::args::{FilterArgs, VerifyArgs, VerifyFormat};
use crate::cli::exit::Exit;
use crate::cli::output::emit;
use crate::cli::plan::Plan;
use crate::message::Message;
use crate::notice::Notice;
use crate::pseudonym::Pseudonyms;
use crate::redact::redact;
use crate::report::{terminal, verify as report};
use crate::verify::{Verified, verify_all};

pub(super) fn run(args: &VerifyArgs) -> Result<Exit> {
    let plan = Plan::new(&args.input, &FilterArgs::default(), &args.output)?;
    let mut discovery = plan.discover();
    let current = std::mem::take(&mut discovery.archives).into_iter().map(|a| (a, false));
    let mut archives: Vec<_> =
        current.chain(std::mem::take(&mut discovery.older_generations).into_iter().map(|a| (a, true))).collect();
    archives.sort_by(|(a, _), (b, _)| (&a.project, &a.display).cmp(&(&b.project, &b.display)));
    let mut verified = plan.workers()?.install(|| verify_all(&archives, plan.read_options(), args.deep));
    let damaged = discovery.unreadable > 0 || discovery.notices.iter().any(is_damage);
    if plan.is_strict() {
        let mut names = Pseudonyms::default();
        names.verified(&mut verified);
        names.notices(&mut discovery.notices);
    }
    let nothing = verified.iter().all(Verified::is_no_log);
    if nothing {
        say(&discovery.notices, plan.language);
        for file in &verified {
            let place = redact(&file.path).into_owned();
            let what = file.problems.first().map(|problem| problem.detail.clone());
            say(
                &[Notice::at("not-a-log", place, what.unwrap_or_else(|| Message::new("notices.not-a-log")))],
                plan.language,
            );
        }
        if !plan.quiet {
            eprintln!("dsh-forensics: {}", plan.language.say("errors.no-log"));
        }
        return Ok(if damaged { Exit::Partial } else { Exit::NoInput });
    }
    let text = match args.format {
        VerifyFormat::Table => {
            terminal::render(&report::page(&verified, &discovery.notices, plan.language), plan.layout)
        }
        VerifyFormat::Ndjson => {
            say(&discovery.notices, plan.language);
            report::ndjson(&verified)?
        }
    };
    emit(&text, &plan)?;
    let missing = discovery.notices.iter().any(|n| n.kind == "unreadable-input");
    let whole = !damaged && !missing && verified.iter().all(|v| !v.is_damaged());
    Ok(if whole { Exit::Clean } else { Exit::Partial })
}

/// What discovery saw that means a loss: a write that never became a log, an input that cannot be opened.
fn is_damage(notice: &Notice) -> bool {
    matches!(notice.kind, "leftover-tmp" | "limit")
}
