//! Older generations and copies of a log beside the one that counts.

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;

rule!("duplicate-generation", Note, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let inputs = &context.dataset.inputs;
    let count = inputs.generations_skipped + inputs.duplicates_skipped;
    if count == 0 {
        return None;
    }
    let draft = Draft::new(count, Unit::Files, message!("findings.duplicate-generation"))
        .fixable_by(FixableBy::User)
        .seen(message!(
            "findings.seen-duplicates",
            generations = grouped(inputs.generations_skipped),
            copies = grouped(inputs.duplicates_skipped),
        ));
    let named = context.dataset.notices.iter().filter(|n| matches!(n.kind, "duplicate-id" | "duplicate-generation"));
    Some(named.fold(draft, |draft, notice| {
        draft.example(message!("findings.example-notice", kind = notice.kind, text = notice.message.clone()))
    }))
}
