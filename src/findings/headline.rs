//! The verdict of a scan in two sentences: what the failed steps carry, and what the evidence says about it.

use std::collections::BTreeMap;

use super::case::{Case, Context};
use crate::evidence::{FixableBy, Verdict};
use crate::message;
use crate::message::Message;
use crate::report::numbers::{grouped, percent};

/// The two sentences; one where no step failed.
pub fn of(context: &Context<'_>) -> Vec<Message> {
    let steps = context.summary.counts.steps;
    let ending: Vec<&Case<'_>> = context.cases_where(|case| case.ends_step);
    let failed = ending.len() as u64;
    if failed == 0 {
        let attempts = context.summary.counts.failed_attempts;
        return vec![if attempts == 0 {
            message!("findings.headline-clean", steps = grouped(steps))
        } else {
            message!("findings.headline-recovered", steps = grouped(steps), attempts = grouped(attempts))
        }];
    }
    let mut codes: BTreeMap<&str, Vec<&Case<'_>>> = BTreeMap::new();
    for case in &ending {
        codes.entry(&case.failure.code).or_default().push(case);
    }
    let Some((code, cases)) = codes.into_iter().max_by_key(|(code, cases)| (cases.len(), std::cmp::Reverse(*code)))
    else {
        return Vec::new();
    };
    let with = |verdict: Verdict| cases.iter().filter(|c| c.judgement.verdict == verdict).count() as u64;
    let carried = |message: Message| {
        message
            .with("n", grouped(cases.len() as u64))
            .with("failed", grouped(failed))
            .with("share", percent(cases.len() as u64, failed))
            .with("code", code)
    };
    let (contradicted, supported) = (with(Verdict::Contradicted), with(Verdict::Supported));
    let uninformative = with(Verdict::Uninformative);
    let all = |count: u64| count == cases.len() as u64;
    let first = if contradicted > 0 {
        match all(contradicted) {
            true => carried(message!("findings.headline-contradicted-all")),
            false => carried(message!("findings.headline-contradicted")).with("against", grouped(contradicted)),
        }
    } else if uninformative > 0 {
        carried(message!("findings.headline-uninformative"))
    } else if supported > 0 {
        match all(supported) {
            true => carried(message!("findings.headline-supported-all")),
            false => carried(message!("findings.headline-supported")).with("agreed", grouped(supported)),
        }
    } else {
        carried(message!("findings.headline-undetermined"))
    };
    vec![first, fixers(&ending)]
}

/// Who can fix the failed steps, most first.
fn fixers(ending: &[&Case<'_>]) -> Message {
    let mut counts: BTreeMap<FixableBy, u64> = BTreeMap::new();
    for case in ending {
        *counts.entry(case.judgement.fixable_by).or_default() += 1;
    }
    let mut counts: Vec<(FixableBy, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let parts = counts.into_iter().map(|(by, n)| fixer(by).with("n", grouped(n)));
    message!("findings.headline-fixers", failed = grouped(ending.len() as u64)).with_list("list", parts)
}

/// Who can fix it, with a place for a number.
fn fixer(by: FixableBy) -> Message {
    match by {
        FixableBy::Time => message!("findings.fixer-time"),
        FixableBy::Request => message!("findings.fixer-request"),
        FixableBy::BodySize => message!("findings.fixer-body-size"),
        FixableBy::Account => message!("findings.fixer-account"),
        FixableBy::Config => message!("findings.fixer-config"),
        FixableBy::User => message!("findings.fixer-user"),
        FixableBy::Unknown => message!("findings.fixer-unknown"),
    }
}
