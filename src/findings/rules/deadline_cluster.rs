//! Failures that all end after the same time: a deadline somewhere on the way, not chance.

use std::collections::BTreeMap;

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Case, Confidence, Context, Draft, route_name};
use crate::message;
use crate::report::numbers::{grouped, percent, span};
use crate::session::Route;

rule!("deadline-cluster", Note, Preview);

/// Failures at the same time that make a cluster.
const LEAST: usize = 5;
/// Shorter failures end by themselves, milliseconds.
const SHORTEST_MS: i64 = 10_000;

fn check(context: &Context<'_>) -> Option<Draft> {
    let mut routes: BTreeMap<(&Route, &str), Vec<(i64, &Case<'_>)>> = BTreeMap::new();
    for case in &context.cases {
        let broken = matches!(case.failure.code.as_str(), "TIMEOUT" | "TRANSPORT" | "SERVER" | "PI_AI_ERROR");
        let duration = case.attempt.duration_ms().filter(|ms| broken && *ms >= SHORTEST_MS);
        if let Some(duration) = duration {
            routes.entry((&case.attempt.route, &case.failure.code)).or_default().push((duration, case));
        }
    }
    let mut clusters = Vec::new();
    for ((route, code), mut timed) in routes {
        timed.sort_by_key(|(duration, case)| (*duration, case.session_index, case.index));
        let densest = densest(&timed);
        // Most of the route's long failures of this code, or it is no deadline.
        if densest.len() >= LEAST && densest.len() * 5 >= timed.len() * 3 {
            clusters.push((route, code, timed.len(), densest.to_vec()));
        }
    }
    let cases: Vec<&Case<'_>> = clusters.iter().flat_map(|(.., cases)| cases.iter().map(|(_, case)| *case)).collect();
    let mut draft = Draft::of_cases(context, &cases, message!("findings.deadline-cluster"))?
        .confidence(Confidence::Medium)
        .fixable_by(FixableBy::Config);
    for (route, code, all, cases) in &clusters {
        let middle = cases.get(cases.len() / 2).map_or(0, |(duration, _)| *duration);
        draft = draft.seen(message!(
            "findings.seen-deadline",
            n = grouped(cases.len() as u64),
            all = grouped(*all as u64),
            share = percent(cases.len() as u64, *all as u64),
            code = *code,
            route = route_name(route),
            time = span(middle),
        ));
    }
    Some(draft)
}

/// The largest run of durations within 1 % (and 250 ms) of its first, by two pointers.
fn densest<'s, 'c, 'a>(sorted: &'s [(i64, &'c Case<'a>)]) -> &'s [(i64, &'c Case<'a>)] {
    let mut best = 0..0;
    let mut start = 0;
    for end in 0..sorted.len() {
        while sorted[end].0 - sorted[start].0 > sorted[start].0 / 100 + 250 {
            start += 1;
        }
        if end + 1 - start > best.len() {
            best = start..end + 1;
        }
    }
    &sorted[best]
}
