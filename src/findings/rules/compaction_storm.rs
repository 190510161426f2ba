//! Compactions in quick succession: the session compacts more than it works.

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::{CompactionRow, SessionRows, Trigger};

rule!("compaction-storm", Warning, Stable);

/// Compactions in a row that make a storm.
const LEAST: usize = 4;
/// Attempts between two of them, at most.
const CLOSE: u64 = 2;

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut storms: Vec<(&SessionRows, Vec<&CompactionRow>)> = Vec::new();
    for session in context.sessions() {
        let own: Vec<&CompactionRow> = session
            .compactions
            .iter()
            .filter(|c| c.trigger != Trigger::Manual && c.end_seq.is_some() && context.in_time(c.start_time))
            .collect();
        let close = |a: &&CompactionRow, b: &&CompactionRow| {
            b.attempts_before_end.saturating_sub(a.attempts_before_end) <= CLOSE
        };
        let runs = own.chunk_by(close).filter(|run| run.len() >= LEAST);
        storms.extend(runs.map(|run| (session, run.to_vec())));
    }
    if storms.is_empty() {
        return None;
    }
    let count = storms.iter().map(|(_, run)| run.len() as u64).sum();
    let longest = storms.iter().map(|(_, run)| run.len() as u64).max().unwrap_or(0);
    let title = message!("findings.compaction-storm", storms = grouped(storms.len() as u64));
    let draft = Draft::new(count, Unit::Compactions, title)
        .confidence(Confidence::High)
        .fixable_by(FixableBy::Config)
        .seen(message!("findings.seen-storm", close = CLOSE, longest = grouped(longest)));
    Some(storms.into_iter().fold(draft, |draft, (session, run)| {
        let text = message!("findings.example-storm", n = grouped(run.len() as u64));
        run.first().map_or(draft.clone(), |first| draft.place(session, first.start_seq, text))
    }))
}
