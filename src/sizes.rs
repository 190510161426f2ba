//! In: the rows of all sessions with their token estimates.
//! Out: per route, how large requests were that failed and that succeeded, and how they grew.
//! Always: attempts that sent the identical request count once in growth; sizes are prompt tokens.

use std::collections::BTreeMap;

use crate::filter::Filters;
use crate::session::{AttemptRow, Outcome, Route, SessionRows};
use crate::summary::failure_of;

/// Sizes of one kind of attempts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SizeSpread {
    /// Attempts with a known size.
    pub attempts: u64,
    /// Smallest, median and largest prompt, tokens.
    pub smallest: Option<u64>,
    /// See `smallest`.
    pub median: Option<u64>,
    /// See `smallest`.
    pub largest: Option<u64>,
    /// Prompt over window: 10 %, 50 % and 90 % quantile.
    pub fill: Option<[f64; 3]>,
}

/// The largest growth from one request of a session to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jump {
    /// Tokens gained.
    pub tokens: u64,
    /// Session.
    pub session_id: String,
    /// Seq of the larger attempt.
    pub seq: u64,
}

/// Sizes on one route.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RouteSizes {
    /// The route.
    pub route: Route,
    /// Of failed attempts.
    pub failing: SizeSpread,
    /// Of successful attempts.
    pub succeeding: SizeSpread,
    /// Median growth from one request to the next, where it grew, tokens.
    pub median_growth: Option<u64>,
    /// Largest growth.
    pub largest_jump: Option<Jump>,
}

#[derive(Default)]
struct Gathered {
    failing: Sample,
    succeeding: Sample,
    growth: Vec<u64>,
    jump: Option<Jump>,
}

#[derive(Default)]
struct Sample {
    tokens: Vec<u64>,
    fill: Vec<f64>,
}

impl Sample {
    fn add(&mut self, attempt: &AttemptRow, tokens: u64) {
        self.tokens.push(tokens);
        self.fill.extend(attempt.window.filter(|w| *w > 0).map(|w| tokens as f64 / w as f64));
    }

    fn spread(mut self) -> SizeSpread {
        self.tokens.sort_unstable();
        self.fill.sort_by(f64::total_cmp);
        let fill = |share: f64| self.fill.get(((self.fill.len().saturating_sub(1)) as f64 * share).round() as usize);
        SizeSpread {
            attempts: self.tokens.len() as u64,
            smallest: self.tokens.first().copied(),
            median: self.tokens.get(self.tokens.len() / 2).copied(),
            largest: self.tokens.last().copied(),
            fill: (|| Some([*fill(0.1)?, *fill(0.5)?, *fill(0.9)?]))(),
        }
    }
}

/// Measures all routes, in the order of their names.
pub fn by_route(sessions: &[SessionRows], filters: &Filters) -> Vec<RouteSizes> {
    let mut routes: BTreeMap<&Route, Gathered> = BTreeMap::new();
    for session in sessions {
        let mut last: Option<(&Route, u64, u64)> = None;
        for attempt in session.attempts.iter().filter(|a| a.selected) {
            let Some(request) = attempt.request.as_deref() else { continue };
            let Some(tokens) = request.tokens.map(|t| t.value) else { continue };
            let gathered = routes.entry(&attempt.route).or_default();
            match attempt.outcome {
                Outcome::Failed if failure_of(attempt, filters).is_some() => gathered.failing.add(attempt, tokens),
                Outcome::Succeeded => gathered.succeeding.add(attempt, tokens),
                _ => {}
            }
            if let Some((route, identity, before)) = last
                && *route == *attempt.route
                && identity != request.identity
                && tokens > before
            {
                let grown = tokens - before;
                gathered.growth.push(grown);
                if gathered.jump.as_ref().is_none_or(|j| j.tokens < grown) {
                    gathered.jump = Some(Jump { tokens: grown, session_id: session.id.clone(), seq: attempt.seq });
                }
            }
            last = Some((&attempt.route, request.identity, tokens));
        }
    }
    routes
        .into_iter()
        .map(|(route, mut gathered)| {
            gathered.growth.sort_unstable();
            RouteSizes {
                route: route.clone(),
                failing: gathered.failing.spread(),
                succeeding: gathered.succeeding.spread(),
                median_growth: gathered.growth.get(gathered.growth.len() / 2).copied(),
                largest_jump: gathered.jump,
            }
        })
        .collect()
}
