//! One step grew the request from below the compaction threshold up to the window, so that nothing could compact in time.

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit, short_text};
use crate::message;
use crate::report::numbers::grouped;

rule!("step-jump", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    // A jump that succeeded cost nothing.
    let found: Vec<_> = context
        .masked
        .step_jumps
        .iter()
        .filter(|jump| jump.failed)
        .filter_map(|jump| context.attempt(jump.session, jump.after).map(|(s, a)| (jump, s, a)))
        .collect();
    let (largest, ..) = found.iter().max_by_key(|(jump, ..)| jump.tokens_after.saturating_sub(jump.tokens_before))?;
    let draft = Draft::new(found.len() as u64, Unit::FailedAttempts, message!("findings.step-jump"))
        .confidence(Confidence::High)
        .fixable_by(FixableBy::Request)
        .by_route(found.iter().map(|(_, _, attempt)| attempt.route.as_ref()))
        .seen(message!(
            "findings.seen-jump",
            before = grouped(largest.tokens_before),
            after = grouped(largest.tokens_after),
            window = grouped(largest.window),
        ));
    Some(found.into_iter().fold(draft, |draft, (jump, session, attempt)| {
        let text = message!(
            "findings.example-jump",
            tool = attempt.last_tool.as_deref().map_or_else(|| "–".to_owned(), short_text),
            before = grouped(jump.tokens_before),
            after = grouped(jump.tokens_after),
        );
        draft.place(session, attempt.seq, text)
    }))
}
