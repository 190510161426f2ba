//! Events of an unknown type that are not marked as ignorable: the harness refuses the whole log.

use std::collections::BTreeMap;

use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit, short_text};
use crate::message;
use crate::report::numbers::grouped;

rule!("unknown-required-event", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let sessions: Vec<_> = context.sessions().iter().filter(|s| !s.unknown_required.is_empty()).collect();
    if sessions.is_empty() {
        return None;
    }
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for (kind, unknown) in sessions.iter().flat_map(|s| &s.unknown_required) {
        *kinds.entry(kind).or_default() += unknown.count;
    }
    let list = kinds.iter().take(6).map(|(kind, n)| format!("{} ×{}", short_text(kind), grouped(*n)));
    let draft = Draft::new(sessions.len() as u64, Unit::Sessions, message!("findings.unknown-required-event"))
        // A plugin that is loaded may know the type; the log does not say which were.
        .confidence(Confidence::Medium)
        .seen(message!("findings.seen-kinds").with_words("list", list));
    Some(sessions.into_iter().fold(draft, |draft, session| {
        let first = session.unknown_required.iter().min_by_key(|(_, unknown)| unknown.first_seq);
        first.map_or(draft.clone(), |(kind, unknown)| {
            draft.place(session, unknown.first_seq, message!("findings.example-kind", kind = short_text(kind)))
        })
    }))
}
