//! The retries were spent before the route came back, and it came back soon.

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Case, Context, Draft, retries_by_step};
use crate::message;
use crate::policy::{RetryPolicy, schedule::total_wait, to_settings_yaml};
use crate::report::numbers::span;
use crate::session::Fate;

rule!("budget-too-short", Error, Stable);

/// A route that stays away longer needs more than a longer budget, milliseconds.
const SOON_MS: i64 = 60 * 60_000;
/// Most retries proposed.
const MOST_RETRIES: u64 = 400;

/// A chain whose budget ended before the outage.
struct Short<'c, 'a> {
    case: &'c Case<'a>,
    /// From the first retry to giving up, milliseconds.
    waited: i64,
    /// From giving up to the next success on the route, milliseconds.
    missing: i64,
}

fn check(context: &Context<'_>) -> Option<Draft> {
    let short = gather(context);
    let cases: Vec<&Case<'_>> = short.iter().map(|s| s.case).collect();
    let first = cases.first()?;
    let provider = &first.attempt.route.provider;
    let policy = context.policy(first).unwrap_or_default();
    let on_route = |s: &&Short<'_, '_>| s.case.attempt.route.provider == *provider;
    let needed = quantile(short.iter().filter(on_route).map(|s| s.waited + s.missing), 0.9);
    let draft = Draft::of_cases(context, &cases, message!("findings.budget-too-short"))?;
    Some(
        draft
            .fixable_by(FixableBy::Config)
            .seen(message!(
                "findings.seen-budget",
                waited = span(quantile(short.iter().map(|s| s.waited), 0.5)),
                missing = span(quantile(short.iter().map(|s| s.missing), 0.5)),
                needed = span(needed),
            ))
            .settings(longer(&policy, needed).map(|policy| to_settings_yaml(provider, &policy))),
    )
}

fn gather<'c, 'a>(context: &'c Context<'a>) -> Vec<Short<'c, 'a>> {
    let mut found = Vec::new();
    let mut last_session = None;
    let mut steps = Default::default();
    for case in context.cases.iter().filter(|c| c.ends_step && c.judgement.fixable_by == FixableBy::Time) {
        if last_session != Some(case.session_index) {
            last_session = Some(case.session_index);
            steps = retries_by_step(case.session);
        }
        if case.attempt.retry.is_some() || case.attempt.fate != Some(Fate::GaveUp) {
            continue;
        }
        let Some(retries) = steps.get(&(case.attempt.turn, case.attempt.step)) else { continue };
        let spent = retries.last().is_some_and(|r| r.retry.max_retries.is_some_and(|most| r.retry.retry >= most));
        if !spent || retries.iter().any(|r| !r.started) {
            continue;
        }
        let (Some(end), Some(begin)) = (case.attempt.time, retries.first().and_then(|r| r.time)) else { continue };
        let Some(next) = context.next_success(&case.attempt.route, end).filter(|next| next - end <= SOON_MS) else {
            continue;
        };
        found.push(Short { case, waited: end.saturating_sub(begin), missing: next - end });
    }
    found
}

/// The same policy with as many retries as its waits need to last that long.
fn longer(policy: &RetryPolicy, needed_ms: i64) -> Option<RetryPolicy> {
    let mut policy = policy.clone();
    while total_wait(&policy)?.min_ms < needed_ms as f64 {
        policy.max_retries += 1;
        if policy.max_retries > MOST_RETRIES {
            // At this cap a count cannot span the outage: wait longer each time as well.
            policy.max_retries = 10;
            policy.backoff.max_delay_ms *= 2.0;
        }
    }
    Some(policy)
}

fn quantile(values: impl Iterator<Item = i64>, share: f64) -> i64 {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    let place = (values.len().saturating_sub(1) as f64 * share).round() as usize;
    values.get(place).copied().unwrap_or(0)
}
