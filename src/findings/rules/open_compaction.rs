//! A compaction that was begun and never ended.

use crate::findings::rule::rule;
use crate::findings::{Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::{CompactionOutcome, CompactionRow, SessionRows};

rule!("open-compaction", Note, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut found: Vec<(&SessionRows, &CompactionRow)> = Vec::new();
    for session in context.sessions() {
        let open = session.compactions.iter().filter(|c| c.outcome == CompactionOutcome::Open);
        found.extend(open.filter(|c| context.in_time(c.start_time)).map(|c| (session, c)));
    }
    if found.is_empty() {
        return None;
    }
    let last = |session: &SessionRows, c: &CompactionRow| session.compactions.last().is_some_and(|l| l.id == c.id);
    let at_end = found.iter().filter(|(session, c)| last(session, c)).count() as u64;
    let draft = Draft::new(found.len() as u64, Unit::Compactions, message!("findings.open-compaction"))
        .seen(message!("findings.seen-open", n = grouped(at_end)));
    Some(found.into_iter().fold(draft, |draft, (session, compaction)| {
        let text = message!("findings.example-open", trigger = compaction.trigger.name());
        draft.place(session, compaction.start_seq, text)
    }))
}
