//! Whether compaction makes steps fail, either way: the event study as a finding.

use crate::correlate::Verdict;
use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit};
use crate::message;
use crate::message::Message;
use crate::report::numbers::grouped;

rule!("compaction-blamed", Note, Stable);

/// Silent where the study was not made, where too few failures could tell, and where nothing failed after a compaction
/// and nothing could be blamed.
fn check(context: &Context<'_>) -> Option<Draft> {
    let study = context.summary.compaction_study.as_ref()?;
    let answer = &study.answer;
    let index = answer.window?;
    let counted = context.summary.windows.get(index)?;
    let guilt = match answer.verdict {
        Verdict::TooFew => return None,
        Verdict::Raises => message!("findings.compaction-guilty"),
        Verdict::NoEvidence | Verdict::Lowers => message!("findings.compaction-innocent"),
    };
    let title = message!("findings.compaction-blamed", total = grouped(counted.total), answer = guilt);
    let text: Vec<Message> = answer.text(&study.windows, (counted.inside, counted.total));
    let draft = Draft::new(counted.inside, Unit::FailedSteps, title)
        .confidence(Confidence::Medium)
        .fixable_by(FixableBy::Unknown);
    let draft = text.into_iter().fold(draft, Draft::seen);
    let inside = context.cases.iter().filter(|case| {
        let since = case.attempt.since_independent_compaction;
        case.ends_step && since.is_some_and(|since| counted.window.contains(&since))
    });
    Some(inside.fold(draft, |draft, case| draft.place(case.session, case.attempt.seq, case.in_words())))
}
