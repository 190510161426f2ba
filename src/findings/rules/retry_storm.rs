//! Retries of many sessions that meet in the same minute of an outage.

use std::collections::BTreeMap;

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit, route_name};
use crate::message;
use crate::report::numbers::grouped;
use crate::session::{Outcome, Route, SessionRows};

rule!("retry-storm", Warning, Stable);

/// Attempts on one route within a minute that make a storm.
const LEAST: u64 = 30;

#[derive(Default)]
struct Minute<'a> {
    attempts: u64,
    failed: u64,
    retries: u64,
    sessions: Vec<usize>,
    first: Option<(&'a SessionRows, u64)>,
}

impl Minute<'_> {
    /// Most attempts fail, and at least half of them are retries, of more than one session.
    fn is_storm(&self) -> bool {
        self.attempts >= LEAST
            && self.failed * 5 >= self.attempts * 4
            && self.retries * 2 >= self.attempts
            && self.sessions.len() >= 2
    }
}

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut minutes: BTreeMap<(&Route, i64), Minute<'_>> = BTreeMap::new();
    for (index, session) in context.sessions().iter().enumerate() {
        for attempt in session.attempts.iter().filter(|a| a.selected) {
            let Some(time) = attempt.time else { continue };
            let minute = minutes.entry((attempt.route.as_ref(), time.div_euclid(60_000))).or_default();
            minute.attempts += 1;
            minute.failed += u64::from(attempt.outcome == Outcome::Failed);
            minute.retries += u64::from(attempt.retries_before > 0);
            minute.first = minute.first.or(Some((session, attempt.seq)));
            if minute.sessions.last() != Some(&index) {
                minute.sessions.push(index);
            }
        }
    }
    minutes.retain(|_, minute| minute.is_storm());
    if minutes.is_empty() {
        return None;
    }
    let count = minutes.values().map(|m| m.retries).sum();
    let most = minutes.values().map(|m| m.attempts).max().unwrap_or(0);
    let title = message!("findings.retry-storm", minutes = grouped(minutes.len() as u64));
    let draft = Draft::new(count, Unit::Retries, title)
        .confidence(Confidence::High)
        .fixable_by(FixableBy::Config)
        .seen(message!("findings.seen-storm-minute", most = grouped(most)));
    Some(minutes.into_iter().fold(draft, |draft, ((route, _), minute)| {
        let text = message!(
            "findings.example-minute",
            route = route_name(route),
            attempts = grouped(minute.attempts),
            failed = grouped(minute.failed),
            sessions = grouped(minute.sessions.len() as u64),
        );
        minute.first.map_or(draft.clone(), |(session, seq)| draft.place(session, seq, text))
    }))
}
