//! An answer cut at a full window that the harness took for a success.

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;

rule!("missed-overflow", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let found: Vec<_> = context
        .masked
        .missed_overflows
        .iter()
        .filter_map(|missed| context.attempt(missed.session, missed.attempt).map(|(s, a)| (missed, s, a)))
        .collect();
    if found.is_empty() {
        return None;
    }
    let shrunk = found.iter().filter(|(missed, ..)| missed.shrunk_after).count() as u64;
    let draft = Draft::new(found.len() as u64, Unit::Attempts, message!("findings.missed-overflow"))
        .confidence(Confidence::High)
        .fixable_by(FixableBy::Request)
        .by_route(found.iter().map(|(_, _, attempt)| attempt.route.as_ref()))
        .seen(message!("findings.seen-cut", n = grouped(found.len() as u64), shrunk = grouped(shrunk)));
    Some(found.into_iter().fold(draft, |draft, (missed, session, attempt)| {
        let text = message!(
            "findings.example-cut",
            prompt = grouped(missed.prompt),
            output = grouped(missed.output),
            window = grouped(missed.window),
        );
        draft.place(session, attempt.seq, text)
    }))
}
