//! A compaction after which the next request is as large as before.

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::{CompactionOutcome, CompactionRow, SessionRows, Trigger};

rule!("compaction-not-shrinking", Warning, Stable);

/// The prompt after is at least this share of the prompt before.
const SHARE: f64 = 0.9;

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut done = 0u64;
    let mut found: Vec<(&SessionRows, &CompactionRow, u64, u64)> = Vec::new();
    for session in context.sessions() {
        for compaction in session.compactions.iter().filter(|c| context.in_time(c.start_time)) {
            // A user may compact a small session on purpose; a failed compaction cannot shrink anything.
            if compaction.trigger == Trigger::Manual || compaction.outcome != CompactionOutcome::Done {
                continue;
            }
            let Some((before, after)) = compaction.tokens_before.zip(compaction.tokens_after) else { continue };
            done += 1;
            if after as f64 >= before as f64 * SHARE {
                found.push((session, compaction, before, after));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let draft = Draft::new(found.len() as u64, Unit::Compactions, message!("findings.compaction-not-shrinking"))
        .confidence(Confidence::Medium)
        .fixable_by(FixableBy::Config)
        .seen(message!("findings.seen-not-shrinking", n = grouped(found.len() as u64), measured = grouped(done)));
    Some(found.into_iter().fold(draft, |draft, (session, compaction, before, after)| {
        let text = message!("findings.example-shrink", before = grouped(before), after = grouped(after));
        draft.place(session, compaction.start_seq, text)
    }))
}
