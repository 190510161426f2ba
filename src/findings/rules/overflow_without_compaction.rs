//! A real overflow that ended the turn although nothing had tried to compact.

use std::collections::HashSet;

use crate::evidence::{FixableBy, Verdict};
use crate::findings::rule::rule;
use crate::findings::{Context, Draft};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::{Fate, Trigger};

rule!("overflow-without-compaction", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    // Steps in which an overflow compaction ran, by the failure that caused it.
    let mut compacted: HashSet<(usize, u64, u64)> = HashSet::new();
    for (index, session) in context.sessions().iter().enumerate() {
        let causes: HashSet<u64> = session.compactions.iter().filter_map(|c| c.caused_by_failure_seq).collect();
        let prunes = session.prunes.iter().filter(|p| p.trigger == Trigger::Overflow).map(|p| p.seq);
        let after_prune: Vec<u64> = prunes.collect();
        for attempt in &session.attempts {
            // A prune inside the step stands soon after the failure that it answers.
            let next = after_prune.partition_point(|seq| *seq < attempt.seq);
            let pruned = after_prune.get(next).is_some_and(|seq| seq - attempt.seq <= 2);
            if causes.contains(&attempt.seq) || pruned {
                compacted.insert((index, attempt.turn, attempt.step));
            }
        }
    }
    let cases = context.cases_where(|case| {
        case.is_overflow_code()
            && case.ends_step
            && case.judgement.verdict == Verdict::Supported
            && case.attempt.fate == Some(Fate::GaveUp)
            && !compacted.contains(&(case.session_index, case.attempt.turn, case.attempt.step))
    });
    let draft = Draft::of_cases(context, &cases, message!("findings.overflow-without-compaction"))?;
    let overflow = context.summary.triggers.get(&Trigger::Overflow).copied().unwrap_or(0);
    Some(
        draft.fixable_by(FixableBy::Config).seen(message!("findings.seen-overflow-compactions", n = grouped(overflow))),
    )
}
