//! Context given up for an overflow that was none.

use std::collections::HashMap;

use crate::evidence::{FixableBy, Verdict};
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::{CompactionOutcome, CompactionRow, SessionRows, Trigger};

rule!("spurious-overflow-compaction", Error, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut verdicts: HashMap<(usize, u64), Verdict> = HashMap::new();
    for case in &context.cases {
        verdicts.insert((case.session_index, case.attempt.seq), case.judgement.verdict);
    }
    let mut found: Vec<(&SessionRows, &CompactionRow)> = Vec::new();
    for (index, session) in context.sessions().iter().enumerate() {
        let caused = session.compactions.iter().filter(|c| c.trigger == Trigger::Overflow);
        found.extend(
            caused
                .filter(|c| {
                    let cause = c.caused_by_failure_seq.and_then(|seq| verdicts.get(&(index, seq)));
                    cause == Some(&Verdict::Contradicted)
                })
                .map(|c| (session, c)),
        );
    }
    if found.is_empty() {
        return None;
    }
    let done = found.iter().filter(|(_, c)| c.outcome == CompactionOutcome::Done).count() as u64;
    let tokens: u64 = found.iter().filter_map(|(_, c)| c.shadowed_tokens).fold(0, u64::saturating_add);
    let title = message!("findings.spurious-overflow-compaction");
    let draft = Draft::new(found.len() as u64, Unit::Compactions, title)
        .confidence(Confidence::High)
        .fixable_by(FixableBy::Time)
        .seen(message!("findings.seen-shadowed", done = grouped(done), tokens = grouped(tokens)));
    Some(found.into_iter().fold(draft, |draft, (session, compaction)| {
        let tokens = compaction.shadowed_tokens.map_or_else(|| "–".to_owned(), grouped);
        let text = message!("findings.example-compaction", outcome = compaction.outcome.name(), tokens = tokens);
        draft.place(session, compaction.start_seq, text)
    }))
}
