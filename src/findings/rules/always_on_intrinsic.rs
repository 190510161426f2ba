//! Mode `always` on a failure that no waiting heals.

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Case, Confidence, Context, Draft, Unit};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::Fate;

rule!("always-on-intrinsic", Error, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases: Vec<&Case<'_>> = context.cases_where(|case| {
        let always = case.attempt.retry.and_then(|i| case.session.retries.get(i));
        let intrinsic = matches!(
            case.judgement.fixable_by,
            FixableBy::Account | FixableBy::Config | FixableBy::Request | FixableBy::BodySize
        );
        let recovered = matches!(case.attempt.fate, Some(Fate::RecoveredByRetry | Fate::RecoveredByCompaction));
        always.is_some_and(|retry| retry.retry.mode.as_deref() == Some("always")) && intrinsic && !recovered
    });
    let first = cases.first()?;
    let mut steps: Vec<(usize, u64, u64)> =
        cases.iter().map(|c| (c.session_index, c.attempt.turn, c.attempt.step)).collect();
    steps.sort_unstable();
    steps.dedup();
    let draft = Draft::new(cases.len() as u64, Unit::Retries, message!("findings.always-on-intrinsic"))
        .confidence(Confidence::High)
        .fixable_by(first.judgement.fixable_by)
        .by_route(cases.iter().map(|c| c.attempt.route.as_ref()))
        .seen(message!(
            "findings.seen-always",
            retries = grouped(cases.len() as u64),
            steps = grouped(steps.len() as u64)
        ));
    Some(cases.into_iter().fold(draft, |draft, case| draft.place(case.session, case.attempt.seq, case.in_words())))
}
