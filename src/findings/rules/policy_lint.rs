//! What the linter of settings says about the file given with `--settings`, held against the archive.

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Context, Draft, Unit, short_text};
use crate::message;
use crate::policy::Severity;
use crate::report::numbers::grouped;

rule!("policy-lint", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let (file, hits) = context.lint.as_ref()?;
    let hits: Vec<_> = hits.iter().filter(|hit| hit.severity != Severity::Note).collect();
    if hits.is_empty() {
        return None;
    }
    let refused = hits.iter().filter(|hit| hit.severity == Severity::Error).count() as u64;
    let draft = Draft::new(hits.len() as u64, Unit::Places, message!("findings.policy-lint", file = short_text(file)))
        .fixable_by(FixableBy::Config)
        .seen(message!("findings.seen-lint", refused = grouped(refused)));
    Some(hits.into_iter().fold(draft, |draft, hit| {
        let place = message!("findings.example-lint", line = hit.line, rule = hit.rule);
        draft.example(place.with_message("text", hit.message.clone()))
    }))
}
