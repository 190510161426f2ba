//! The whole question: rows and policies in, one result per policy out.

use super::backtest::{Backtest, backtest};
use super::bounds::{Bounded, bounded, bounded_loss};
use super::candidates::{Contender, Current};
use super::chains::Recorded;
use super::engine::{Assume, EngineOptions, FittedRoute, PolicyDraws, RoutedCandidate, fit_routes, simulate};
use super::evidence::{Codes, EvidenceOptions, RouteEvidence, clock_start, gather};
use super::kinds::Reading;
use super::ranking;
use super::shares::{EvidenceShares, shares};
use crate::event::TurnEndKind;
use crate::evidence::Verdicts;
use crate::policy::RetryPolicy;
use crate::session::{Route, SessionRows};

/// Below this many chains the numbers are said to be weak.
pub const FEW_CHAINS: u64 = 30;
/// Below this many there is no ranking.
pub const TOO_FEW_CHAINS: u64 = 10;
/// Jitter draws of the plain interval bounds that stand beside the model's.
const INTERVAL_DRAWS: u64 = 24;

/// Options of a run.
#[derive(Debug, Clone, Copy)]
pub struct WhatIfOptions {
    /// Number of draws; at least 120 are sensible.
    pub draws: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// See [`Assume`].
    pub assume: Assume,
}

/// What the archive holds before any policy is played.
#[derive(Debug)]
pub struct Arrivals {
    /// Evidence of each route with failures.
    pub routes: Vec<RouteEvidence>,
    /// The same with contested failures taken as lasting; `None` where nothing is contested.
    pub if_contested_stays: Option<Vec<RouteEvidence>>,
    /// Codes by number.
    pub codes: Codes,
    /// Turns that ended with an error.
    pub turns_failed: u64,
    /// Last event, milliseconds on the clock of the evidence.
    pub end_ms: f64,
}

impl Arrivals {
    /// Gathers them.
    #[must_use]
    pub fn of(sessions: &[SessionRows], verdicts: &Verdicts, hidden_retry_after_ms: Option<f64>) -> Self {
        let mut codes = Codes::default();
        let options = EvidenceOptions { reading: Reading::Heals, hidden_retry_after_ms };
        let routes = gather(sessions, verdicts, options, &mut codes);
        let contested = routes.iter().any(|route| route.contested > 0);
        let if_contested_stays = contested
            .then(|| gather(sessions, verdicts, EvidenceOptions { reading: Reading::Stays, ..options }, &mut codes));
        let turns_failed = sessions.iter().flat_map(|s| &s.turns).filter(|t| t.end == Some(TurnEndKind::Error)).count();
        let end = sessions.iter().filter_map(|session| session.last_time).max().unwrap_or(0);
        Self {
            routes,
            if_contested_stays,
            codes,
            turns_failed: turns_failed as u64,
            end_ms: (end - clock_start(sessions)) as f64,
        }
    }

    /// Names of the routes, in their order.
    #[must_use]
    pub fn names(&self) -> Vec<Route> {
        self.routes.iter().map(|route| route.route.clone()).collect()
    }

    /// Chains that are played.
    #[must_use]
    pub fn chains(&self) -> u64 {
        self.routes.iter().map(|route| route.chains.len() as u64).sum()
    }
}

/// One policy.
#[derive(Debug, Clone)]
pub struct PolicyResult {
    /// What reports call it.
    pub name: String,
    /// As given.
    pub source: String,
    /// The harness can run it today.
    pub runnable: bool,
    /// The policy of each provider, to paste.
    pub settings: Vec<(String, RetryPolicy)>,
    /// Failed turns brought to success.
    pub saved: Bounded,
    /// Recovered chains given up.
    pub lost: Bounded,
    /// Saved minus lost.
    pub net: Bounded,
    /// The same without any model between probes: worst and best reading.
    pub net_by_intervals: Option<Bounded>,
    /// The same when contested failures never heal.
    pub net_if_contested_stays: Option<Bounded>,
    /// Wait of chains that came to success, milliseconds.
    pub wait_median_ms: Option<f64>,
    /// 95 % quantile of it.
    pub wait_p95_ms: Option<f64>,
    /// Wait of all chains together, mean over the draws.
    pub wait_total_ms: f64,
    /// Attempts after the first failing ones.
    pub extra_attempts: f64,
    /// Of those, failed ones.
    pub wasted_attempts: f64,
    /// Input tokens sent again; `None` where no size is known.
    pub tokens_resent: Option<f64>,
    /// Attempts before the Retry-After they were given.
    pub violations: f64,
    /// Requests into an outage for each request that would have met it without retries.
    pub amplification: Option<f64>,
    /// Chains that never end.
    pub endless: f64,
    /// Summary calls of overflow compactions.
    pub compaction_requests: f64,
    /// Context that their summaries replaced, tokens.
    pub destroyed_tokens: f64,
    /// What the attempts rest on.
    pub shares: Option<EvidenceShares>,
    /// No other policy is better in everything.
    pub pareto: bool,
}

impl PolicyResult {
    /// The expected gain, or the middle of the bounds where nothing is assumed.
    #[must_use]
    pub fn net_for_ranking(&self) -> f64 {
        self.net.expected.unwrap_or(0.5 * (self.net.pessimistic + self.net.optimistic))
    }
}

/// The answer.
#[derive(Debug)]
pub struct WhatIf {
    /// Options of the run.
    pub options: WhatIfOptions,
    /// Routes with their laws.
    pub routes: Vec<FittedRoute>,
    /// Runs of failing probes.
    pub episodes: u64,
    /// Chains played.
    pub chains: u64,
    /// Chains not played: cancelled or open.
    pub unplayed: u64,
    /// Failed attempts that nothing decides about.
    pub contested: u64,
    /// Turns that ended with an error.
    pub turns_failed: u64,
    /// Routes whose last probe failed.
    pub ends_in_outage: Vec<Route>,
    /// Providers whose policy is not in the logs.
    pub assumed_policies: Vec<String>,
    /// One per policy, as given.
    pub policies: Vec<PolicyResult>,
    /// Index of the policy to take; `None`: too few chains, or nothing to choose from.
    pub best: Option<usize>,
    /// Index of the best policy if every repair existed.
    pub best_with_repairs: Option<usize>,
    /// Index of the policy in force among the policies.
    pub current: Option<usize>,
    /// See [`Backtest`].
    pub backtest: Option<Backtest>,
}

/// Plays all policies.
#[must_use]
pub fn what_if(arrivals: Arrivals, contenders: &[Contender], current: &Current, options: WhatIfOptions) -> WhatIf {
    let Arrivals { routes, if_contested_stays, codes, turns_failed, end_ms } = arrivals;
    let routes = fit_routes(routes);
    let engine =
        EngineOptions { draws: options.draws, seed: options.seed, assume: options.assume, archive_end_ms: end_ms };
    let candidates: Vec<RoutedCandidate> =
        contenders.iter().map(|c| RoutedCandidate { by_route: c.by_route.clone() }).collect();
    let main = simulate(&routes, &codes, &candidates, engine);
    let intervals = (options.assume == Assume::Model).then(|| {
        let plain = EngineOptions { draws: INTERVAL_DRAWS.min(options.draws), assume: Assume::None, ..engine };
        simulate(&routes, &codes, &candidates, plain)
    });
    let other_reading = if_contested_stays.map(|evidence| simulate(&fit_routes(evidence), &codes, &candidates, engine));
    let mut policies: Vec<PolicyResult> = contenders
        .iter()
        .enumerate()
        .map(|(index, contender)| {
            let mut result = summarise(contender, &main[index], &routes, options.assume == Assume::Model);
            result.net_by_intervals = intervals.as_ref().map(|draws| net(&draws[index], false));
            result.net_if_contested_stays =
                other_reading.as_ref().map(|draws| net(&draws[index], options.assume == Assume::Model));
            result
        })
        .collect();
    ranking::mark_pareto(&mut policies);
    let chains: u64 = routes.iter().map(|route| route.evidence.chains.len() as u64).sum();
    let ranked = chains >= TOO_FEW_CHAINS;
    WhatIf {
        options,
        episodes: routes.iter().map(|route| route.evidence.episodes).sum(),
        chains,
        unplayed: routes.iter().map(|route| route.evidence.unplayed).sum(),
        contested: routes.iter().map(|route| route.evidence.contested).sum(),
        turns_failed,
        ends_in_outage: routes
            .iter()
            .filter(|r| ends_in_outage(&r.evidence))
            .map(|r| r.evidence.route.clone())
            .collect(),
        assumed_policies: assumed(&routes, current),
        best: ranking::best(&policies, chains).filter(|_| ranked),
        best_with_repairs: ranking::best_with_repairs(&policies, chains).filter(|_| ranked),
        current: contenders.iter().position(|contender| contender.source == "current"),
        backtest: backtest(routes.iter().map(|route| route.evidence.probes.as_slice()), options.seed),
        policies,
        routes,
    }
}

fn ends_in_outage(evidence: &RouteEvidence) -> bool {
    evidence.probes.iter().rev().find(|probe| !probe.promised).is_some_and(|probe| !probe.success)
}

fn assumed(routes: &[FittedRoute], current: &Current) -> Vec<String> {
    let mut names: Vec<String> = routes
        .iter()
        .map(|route| &route.evidence.route)
        .filter(|route| !current.is_logged(route))
        .map(|route| route.provider.clone())
        .collect();
    names.dedup();
    names
}

fn net(draws: &PolicyDraws, modelled: bool) -> Bounded {
    bounded(&draws.tallies, modelled, |tally, way| tally.net(way))
}

fn summarise(contender: &Contender, draws: &PolicyDraws, routes: &[FittedRoute], modelled: bool) -> PolicyResult {
    let tallies = &draws.tallies;
    let mean = |value: &dyn Fn(&super::tally::Tally) -> f64| {
        tallies.iter().map(value).sum::<f64>() / tallies.len().max(1) as f64
    };
    let chains = || routes.iter().flat_map(|route| &route.evidence.chains);
    let met = chains().filter(|chain| !chain.at_fault && chain.failed_ms < chain.bad_from_ms).count();
    let destroyed = routes.iter().map(|route| route.evidence.compaction.destroyed_tokens).fold(0.0, f64::max);
    let mut settings: Vec<(String, RetryPolicy)> = (routes.iter().zip(&contender.by_route))
        .map(|(route, candidate)| (route.evidence.route.provider.clone(), candidate.policy.clone()))
        .collect();
    settings.dedup_by(|a, b| a.0 == b.0);
    PolicyResult {
        name: contender.name.clone(),
        source: contender.source.clone(),
        runnable: contender.is_runnable(),
        settings,
        saved: bounded(tallies, modelled, |tally, way| tally.saved[way] as f64),
        lost: bounded_loss(tallies, modelled, |tally, way| tally.lost[way] as f64),
        net: net(draws, modelled),
        net_by_intervals: None,
        net_if_contested_stays: None,
        wait_median_ms: draws.waits.quantile(0.5),
        wait_p95_ms: draws.waits.quantile(0.95),
        wait_total_ms: mean(&|tally| tally.wait_ms),
        extra_attempts: mean(&|tally| tally.attempts as f64),
        wasted_attempts: mean(&|tally| tally.failed as f64),
        tokens_resent: chains().any(|chain| chain.tokens.is_some()).then(|| mean(&|tally| tally.tokens as f64)),
        violations: mean(&|tally| tally.violations as f64),
        amplification: (met > 0).then(|| 1.0 + mean(&|tally| tally.into_outage as f64) / met as f64),
        endless: mean(&|tally| tally.endless as f64),
        compaction_requests: mean(&|tally| tally.compactions as f64),
        destroyed_tokens: destroyed * mean(&|tally| tally.compactions_done as f64),
        shares: shares(draws.shares),
        pareto: false,
    }
}

/// Recorded recoveries among the chains: what a policy can lose.
#[must_use]
pub fn recoveries(routes: &[FittedRoute]) -> u64 {
    let chains = routes.iter().flat_map(|route| &route.evidence.chains);
    chains.filter(|chain| chain.recorded == Recorded::Recovered).count() as u64
}
