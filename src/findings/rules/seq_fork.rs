//! Two writers on one log.

use crate::findings::rule::rule;
use crate::findings::{Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::{Anomaly, SessionRows};

rule!("seq-fork", Error, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut found: Vec<(&SessionRows, &Anomaly)> = Vec::new();
    for session in context.sessions() {
        found.extend(session.anomalies.iter().filter(|a| a.kind == "seq-fork").map(|a| (session, a)));
    }
    if found.is_empty() {
        return None;
    }
    let events = found.iter().map(|(_, a)| a.amount).sum();
    let draft = Draft::new(found.len() as u64, Unit::Places, message!("findings.seq-fork"))
        .seen(message!("findings.seen-fork", events = grouped(events)));
    Some(found.into_iter().fold(draft, |draft, (session, fork)| {
        let back = fork.seq.saturating_add(1).saturating_sub(fork.amount);
        let text = message!("findings.example-fork", line = fork.line, seq = fork.seq, back = back);
        draft.place(session, fork.seq, text)
    }))
}
