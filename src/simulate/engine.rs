//! All policies in all draws, in parallel over the draws.

use rayon::prelude::*;

use super::chains::Chain;
use super::compiled::CompiledPolicy;
use super::evidence::{Codes, RouteEvidence};
use super::laws::{WeightedLaw, fit_laws};
use super::play::{Ending, Nobody, Stage};
use super::shares::ShareWatcher;
use super::tally::{Tally, WaitCounts};
use super::together::{OtherRoutes, play_all};
use super::world::World;
use crate::policy::Candidate;
use crate::stats::SeededRng;

/// Draws whose attempts are also judged by what they rest on.
const WATCHED_DRAWS: u64 = 4;

/// What is assumed about the time between probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Assume {
    /// Two states or independent attempts, weighed by how well they foretell hidden probes
    #[default]
    Model,
    /// Nothing: where two neighbouring probes differ, the worst and the best reading
    None,
}

/// A route ready to be simulated.
#[derive(Debug, Clone)]
pub struct FittedRoute {
    /// What is known.
    pub evidence: RouteEvidence,
    /// The laws it may follow.
    pub laws: Vec<WeightedLaw>,
}

/// Fits the laws of every route.
#[must_use]
pub fn fit_routes(evidence: Vec<RouteEvidence>) -> Vec<FittedRoute> {
    evidence.into_par_iter().map(|evidence| FittedRoute { laws: fit_laws(&evidence.probes), evidence }).collect()
}

/// One policy by route: a settings file gives each provider its own.
#[derive(Debug, Clone)]
pub struct RoutedCandidate {
    /// One per route, in the order of the routes.
    pub by_route: Vec<Candidate>,
}

/// Draws, seed and assumption.
#[derive(Debug, Clone, Copy)]
pub struct EngineOptions {
    /// Number of draws.
    pub draws: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// See [`Assume`].
    pub assume: Assume,
    /// Last event of the archive, milliseconds on the clock of the evidence.
    pub archive_end_ms: f64,
}

/// One policy over all draws.
#[derive(Debug, Clone, Default)]
pub struct PolicyDraws {
    /// One per draw.
    pub tallies: Vec<Tally>,
    /// Waits of the chains that came to success, over all draws.
    pub waits: WaitCounts,
    /// Observed, implied, gap, beyond, over the first draws.
    pub shares: [u64; 4],
}

struct OneDraw {
    tallies: Vec<Tally>,
    waits: Vec<WaitCounts>,
    shares: Vec<[u64; 4]>,
}

/// Plays every policy in every draw.
#[must_use]
pub fn simulate(
    routes: &[FittedRoute],
    codes: &Codes,
    candidates: &[RoutedCandidate],
    options: EngineOptions,
) -> Vec<PolicyDraws> {
    let compiled: Vec<Vec<CompiledPolicy>> = candidates
        .iter()
        .map(|candidate| candidate.by_route.iter().map(|policy| CompiledPolicy::new(policy, codes)).collect())
        .collect();
    // In chunks, so that the waits of few draws are in memory at once; sums of integers do not know the order.
    let mut results = vec![PolicyDraws::default(); candidates.len()];
    let chunk = (rayon::current_num_threads() * 4).max(1) as u64;
    let mut first = 0;
    while first < options.draws {
        let last = (first + chunk).min(options.draws);
        let drawn: Vec<OneDraw> = (first..last)
            .into_par_iter()
            .map(|number| one_draw(routes, codes, candidates, &compiled, options, number))
            .collect();
        for draw in drawn {
            for (policy, result) in results.iter_mut().enumerate() {
                result.tallies.push(draw.tallies[policy]);
                result.waits.merge(&draw.waits[policy]);
                for (sum, count) in result.shares.iter_mut().zip(draw.shares[policy]) {
                    *sum += count;
                }
            }
        }
        first = last;
    }
    results
}

fn one_draw(
    routes: &[FittedRoute],
    codes: &Codes,
    candidates: &[RoutedCandidate],
    compiled: &[Vec<CompiledPolicy>],
    options: EngineOptions,
    number: u64,
) -> OneDraw {
    let root = SeededRng::new(options.seed);
    let worlds: Vec<[World; 2]> = (routes.iter().enumerate())
        .map(|(index, route)| {
            let rng = root.fork(index as u64);
            match options.assume {
                Assume::Model => [World::draw(&route.evidence, &route.laws, &rng, number), World::empty()],
                Assume::None => {
                    [true, false].map(|pessimistic| World::of_intervals(&route.evidence, pessimistic, &rng, number))
                }
            }
        })
        .collect();
    let mut draw = OneDraw {
        tallies: vec![Tally::default(); candidates.len()],
        waits: vec![WaitCounts::default(); candidates.len()],
        shares: vec![[0; 4]; candidates.len()],
    };
    for (index, route) in routes.iter().enumerate() {
        for policy in 0..candidates.len() {
            let play = |side: usize, each: &mut dyn FnMut(&Chain, &Ending)| {
                let stage = Stage {
                    evidence: &route.evidence,
                    world: &worlds[index][side],
                    archive_end_ms: options.archive_end_ms,
                };
                let others: OtherRoutes<'_> = (routes.iter().zip(&worlds))
                    .map(|(other, sides)| (other.evidence.route.provider.as_str(), &sides[side]))
                    .collect();
                let candidate = &candidates[policy].by_route[index];
                play_route(&stage, candidate, &compiled[policy][index], codes, &others, number, each)
            };
            let mut tally = Tally::default();
            let waits = &mut draw.waits[policy];
            let shares = play(0, &mut |chain, ending| {
                tally.add(chain, ending);
                if ending.saved {
                    waits.add(ending.wait_ms);
                }
            });
            if options.assume == Assume::None {
                let mut best = Tally::default();
                play(1, &mut |chain, ending| best.add(chain, ending));
                (tally.saved[2], tally.lost[2]) = (best.saved[2], best.lost[2]);
            }
            draw.tallies[policy] += tally;
            for (sum, count) in draw.shares[policy].iter_mut().zip(shares) {
                *sum += count;
            }
        }
    }
    draw
}

/// Tells `each` the ending of every chain, one at a time: a list of them would cost more than the play.
fn play_route<'a>(
    stage: &Stage<'a>,
    candidate: &Candidate,
    compiled: &CompiledPolicy,
    codes: &Codes,
    others: &OtherRoutes<'a>,
    number: u64,
    each: &mut dyn FnMut(&Chain, &Ending),
) -> [u64; 4] {
    let chains = &stage.evidence.chains;
    if compiled.shared {
        let endings = play_all(stage, candidate, compiled, codes, others);
        chains.iter().zip(&endings).for_each(|(chain, ending)| each(chain, ending));
        return [0; 4];
    }
    let mut watcher = ShareWatcher::new(&stage.evidence.probes);
    for (index, chain) in chains.iter().enumerate() {
        let ending = if number < WATCHED_DRAWS {
            stage.play(compiled, index, &mut watcher)
        } else {
            stage.play(compiled, index, &mut Nobody)
        };
        each(chain, &ending);
    }
    watcher.counts()
}
