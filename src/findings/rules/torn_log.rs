//! Logs whose end is torn: the process died while it wrote.

use crate::findings::rule::rule;
use crate::findings::{Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::SessionRows;

rule!("torn-log", Note, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let torn: Vec<&SessionRows> = context.sessions().iter().filter(|s| s.torn).collect();
    if torn.is_empty() {
        return None;
    }
    let open = torn.iter().filter(|s| s.turns.last().is_some_and(|turn| turn.end.is_none())).count() as u64;
    let draft = Draft::new(torn.len() as u64, Unit::Sessions, message!("findings.torn-log"))
        .seen(message!("findings.seen-torn", open = grouped(open)));
    Some(torn.into_iter().fold(draft, |draft, session| {
        let last = session.last_seq.unwrap_or(0);
        draft.place(session, last, message!("findings.example-torn", seq = last))
    }))
}
