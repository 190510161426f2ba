//! In: the rows of an archive, the verdicts, and one failed attempt.
//! Out: [`Explanation`]: what was sent, what came back, which rule gave the code, what the policy did, what each repair would change.
//! Always: nothing is printed here; what the log does not tell is `None`, and a guess about another course says that it is one.

mod advice;
mod choose;
mod content;
mod decision;
mod repairs;
mod rule;
#[cfg(test)]
mod tests;
mod timeline;
mod vicinity;

pub use advice::Advice;
pub use choose::{Target, most_interesting};
pub use content::{ShownMessage, last_messages};
pub use decision::{DecisionStory, RecordedRetry};
pub use repairs::{Chance, Effect, Repair};
pub use rule::{Basis, RuleTrace, Versions};
pub use timeline::{Moment, MomentKind};
pub use vicinity::{Answer, Vicinity};

use crate::event::Failure;
use crate::evidence::masked::{self, FalseCompaction};
use crate::evidence::verdict::failure_of;
use crate::evidence::{Judgement, Verdicts};
use crate::pipeline::Dataset;
use crate::session::{AttemptRow, SessionRows};

/// One failed attempt, explained.
#[derive(Debug)]
pub struct Explanation<'a> {
    /// Its session.
    pub session: &'a SessionRows,
    /// The attempt.
    pub attempt: &'a AttemptRow,
    /// Its failure.
    pub failure: &'a Failure,
    /// The trial of its code.
    pub judgement: &'a Judgement,
    /// Which rule of which release gave the code.
    pub rule: RuleTrace,
    /// What the retry policy did, and why.
    pub decision: DecisionStory,
    /// What else happened on the route at that time.
    pub vicinity: Vicinity,
    /// What each repair alone would have changed; empty where the chain recovered by a retry.
    pub repairs: Vec<Repair>,
    /// What to do.
    pub advice: Advice,
    /// Context destroyed because of it, where its overflow code is contradicted.
    pub destroyed: Option<FalseCompaction>,
    /// The session around it.
    pub timeline: Vec<Moment>,
}

/// Explains one failed attempt; `None` when the attempt did not fail.
pub fn explain<'a>(
    dataset: &'a Dataset,
    verdicts: &'a Verdicts,
    (session_index, index): (usize, usize),
    versions: &Versions,
) -> Option<Explanation<'a>> {
    let session = dataset.sessions.get(session_index)?;
    let attempt = session.attempts.get(index)?;
    let failure = failure_of(attempt)?;
    let judgement = verdicts.get(session_index, index)?;
    let decision = decision::of(session, attempt, failure);
    let vicinity = vicinity::of(&dataset.sessions, session_index, index);
    let repairs = repairs::of(session, attempt, judgement, &vicinity);
    // Advice is about the decision that ended the chain, not about one that a retry followed.
    let last = repairs::deciding(session, attempt);
    let final_decision = decision::of(session, last, failure_of(last)?);
    let size = attempt.request.as_ref().and_then(|request| request.tokens);
    let advice = advice::of(last, failure_of(last)?, judgement, &final_decision, &repairs, size);
    let masked = masked::of(std::slice::from_ref(session), &verdicts.of_one(session_index));
    Some(Explanation {
        session,
        attempt,
        failure,
        judgement,
        rule: rule::trace(attempt, failure, versions),
        decision,
        vicinity,
        repairs,
        advice,
        destroyed: masked.false_compactions.into_iter().find(|f| f.attempt == index),
        timeline: timeline::around(session, index),
    })
}
