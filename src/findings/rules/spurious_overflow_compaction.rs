//! Context given up for an overflow that was none.

use crate::evidence::FixableBy;
use crate::evidence::masked::FalseCompaction;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::CompactionOutcome;

rule!("spurious-overflow-compaction", Error, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    // A failed compaction gave nothing up; a cut of tool results alone is no compaction, and counts as one place.
    let found: Vec<&FalseCompaction> = context
        .masked
        .false_compactions
        .iter()
        .filter(|found| context.attempt(found.session, found.attempt).is_some())
        .collect();
    if found.is_empty() {
        return None;
    }
    let outcome = |f: &FalseCompaction| {
        let compactions = context.sessions().get(f.session).map(|session| &session.compactions);
        compactions.zip(f.compaction).and_then(|(all, index)| all.get(index)).map(|compaction| compaction.outcome)
    };
    let done = found.iter().filter(|f| outcome(f) == Some(CompactionOutcome::Done)).count() as u64;
    let tokens = found.iter().map(|f| f.destroyed_tokens()).fold(0, u64::saturating_add);
    let draft = Draft::new(found.len() as u64, Unit::Compactions, message!("findings.spurious-overflow-compaction"))
        .confidence(Confidence::High)
        .fixable_by(FixableBy::Time)
        .seen(message!("findings.seen-shadowed", done = grouped(done), tokens = grouped(tokens)));
    Some(found.into_iter().fold(draft, |draft, found| {
        let Some((session, attempt)) = context.attempt(found.session, found.attempt) else { return draft };
        let outcome = outcome(found).map_or("prune", CompactionOutcome::name);
        let tokens = grouped(found.destroyed_tokens());
        draft.place(session, attempt.seq, message!("findings.example-compaction", outcome = outcome, tokens = tokens))
    }))
}
