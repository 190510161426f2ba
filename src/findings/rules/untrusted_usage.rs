//! Reported token counts that cannot be right for the size of the request.

use std::collections::BTreeMap;

use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, route_name};
use crate::message;
use crate::report::numbers::{bytes, grouped};
use crate::session::{AttemptRow, Route, SessionRows};

rule!("untrusted-usage", Note, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut found: Vec<(&SessionRows, &AttemptRow)> = Vec::new();
    let mut routes: BTreeMap<&Route, u64> = BTreeMap::new();
    for session in context.sessions() {
        for attempt in session.attempts.iter().filter(|a| a.selected && a.usage_untrusted) {
            *routes.entry(&attempt.route).or_default() += 1;
            found.push((session, attempt));
        }
    }
    if found.is_empty() {
        return None;
    }
    let draft = Draft::new(found.len() as u64, crate::findings::Unit::Attempts, message!("findings.untrusted-usage"))
        .confidence(Confidence::Medium)
        .by_route(found.iter().map(|(_, attempt)| attempt.route.as_ref()));
    Some(found.into_iter().fold(draft, |draft, (session, attempt)| {
        let size = attempt.request.as_ref().and_then(|r| r.body_bytes).map_or_else(|| "–".to_owned(), bytes);
        let text = message!(
            "findings.example-usage",
            route = route_name(&attempt.route),
            tokens = grouped(attempt.reported_prompt().unwrap_or(0)),
            size = size,
        );
        draft.place(session, attempt.seq, text)
    }))
}
