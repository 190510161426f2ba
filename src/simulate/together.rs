//! Plays all chains of a route in order of time, for repairs that chains share: retry budgets, breaker, fail over.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::compiled::CompiledPolicy;
use super::evidence::Codes;
use super::play::{Ending, Met, Nobody, RESUME_MS, Run, Stage};
use super::world::World;
use crate::policy::Candidate;
use crate::policy::engine::{ChainState, FailedAttempt, FixedDecision, RouteState, decide_with_fixes};

/// Retries of one chain after which it is taken to be without end.
const MOST_ATTEMPTS: u64 = 2000;

/// The worlds of all routes of one draw by provider, for chains that fail over.
pub type OtherRoutes<'a> = BTreeMap<&'a str, &'a World>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A request outside all chains is answered.
    Answered,
    /// The last attempt of a chain has failed.
    Failed(usize),
    /// The next attempt of a chain arrives.
    Arrives(usize),
}

/// All the state of a run over one route.
struct Theatre<'a, 'b> {
    stage: &'b Stage<'a>,
    candidate: &'b Candidate,
    compiled: &'b CompiledPolicy,
    codes: &'b Codes,
    others: &'b OtherRoutes<'a>,
    runs: Vec<Run<'a>>,
    states: Vec<ChainState>,
    waits: Vec<f64>,
    route: RouteState,
    agenda: BinaryHeap<Reverse<(u64, Happening)>>,
}

/// Endings of all chains, in their order.
#[must_use]
pub fn play_all<'a>(
    stage: &Stage<'a>,
    candidate: &Candidate,
    compiled: &CompiledPolicy,
    codes: &Codes,
    others: &OtherRoutes<'a>,
) -> Vec<Ending> {
    let runs: Vec<Run<'a>> = (0..stage.evidence.chains.len()).map(|index| stage.begin(index)).collect();
    let mut theatre = Theatre {
        stage,
        candidate,
        compiled,
        codes,
        others,
        states: vec![ChainState::default(); runs.len()],
        waits: vec![0.0; runs.len()],
        route: RouteState::default(),
        agenda: BinaryHeap::new(),
        runs,
    };
    for probe in stage.evidence.probes.iter().filter(|probe| probe.success && !probe.promised) {
        theatre.agenda.push(Reverse((key(probe.time_ms), Happening::Answered)));
    }
    for (index, chain) in stage.evidence.chains.iter().enumerate() {
        theatre.agenda.push(Reverse((key(chain.failed_ms), Happening::Failed(index))));
    }
    while let Some(Reverse((time, happening))) = theatre.agenda.pop() {
        theatre.happen(f64::from_bits(time), happening);
    }
    theatre.runs.into_iter().map(|run| run.ending).collect()
}

/// Times are not negative, so their bits sort as they do.
fn key(time_ms: f64) -> u64 {
    time_ms.max(0.0).to_bits()
}

impl Theatre<'_, '_> {
    fn happen(&mut self, time_ms: f64, happening: Happening) {
        let fixes = &self.candidate.fixes;
        match happening {
            Happening::Answered => {
                self.route.on_attempt(fixes, time_ms);
                self.route.on_success(fixes, &ChainState::default());
            }
            Happening::Failed(index) => {
                if self.runs[index].ending.attempts == 0 {
                    self.route.on_attempt(fixes, time_ms);
                }
                self.decide(index);
            }
            Happening::Arrives(index) => {
                self.route.on_attempt(fixes, time_ms);
                let luck = self.stage.luck(&self.runs[index]);
                let met = self.stage.send(&mut self.runs[index], self.waits[index], luck, &mut Nobody);
                self.after(index, met);
            }
        }
    }

    fn after(&mut self, index: usize, met: Met) {
        match met {
            Met::Success => self.route.on_success(&self.candidate.fixes, &self.states[index]),
            Met::Failure if self.runs[index].ending.attempts >= MOST_ATTEMPTS => {
                self.runs[index].ending.endless = true;
            }
            Met::Failure => {
                let failed = key(self.runs[index].now_ms);
                self.agenda.push(Reverse((failed, Happening::Failed(index))));
            }
        }
    }

    fn decide(&mut self, index: usize) {
        let run = &mut self.runs[index];
        let code = self.compiled.effective_code(&run.record, run.chain.fill);
        if self.compiled.always
            && let Some(Met::Success) = self.stage.compact(run, code, &mut Nobody)
        {
            return self.after(index, Met::Success);
        }
        let attempt = FailedAttempt {
            code: self.codes.name(run.record.code),
            retry_after_ms: run.record.retry_after_ms,
            hidden_retry_after_ms: run.record.hidden_retry_after_ms,
            bodyless_client_error: run.record.bodyless,
            fill: run.chain.fill,
            now_ms: run.now_ms,
            elapsed_ms: run.now_ms - run.chain.failed_ms,
            previous_retry: run.previous_retry,
            cancelled_retries: 0,
        };
        let luck = self.stage.luck(run).jitter;
        let state = &mut self.states[index];
        match decide_with_fixes(self.candidate, &attempt, state, &mut self.route, luck) {
            FixedDecision::Retry { retry, delay_ms, .. } => {
                run.previous_retry = retry;
                self.waits[index] = delay_ms;
                let arrives = key(run.now_ms + delay_ms + RESUME_MS);
                self.agenda.push(Reverse((arrives, Happening::Arrives(index))));
            }
            FixedDecision::FailOver { route } => self.fail_over(index, &route),
            FixedDecision::GiveUp { .. } => {
                if let Some(met) = self.stage.compact(run, code, &mut Nobody)
                    && (met == Met::Success || run.ending.compactions_done > 0)
                {
                    self.after(index, met);
                }
            }
        }
    }

    /// One attempt on another route. Where the archive knows the route, its course in this draw decides; else the
    /// attempt is beyond the evidence, and as drawn it fails.
    fn fail_over(&mut self, index: usize, route: &str) {
        let run = &mut self.runs[index];
        let arrival_ms = run.now_ms + RESUME_MS;
        run.ending.attempts += 1;
        run.ending.wait_ms = arrival_ms - run.chain.arrival_ms;
        let provider = route.split('/').next().unwrap_or(route);
        let healthy = !run.chain.at_fault;
        let luck = self.stage.luck(run);
        let world = self.others.get(provider).copied();
        let success =
            healthy && world.is_some_and(|world| world.outcome(world.path.is_down(arrival_ms), || luck.outcome()));
        run.ending.saved_if_beyond_succeeds |= success || (healthy && world.is_none());
        run.ending.saved |= success;
        run.ending.saved_if_beyond_fails |= success;
        run.previous_retry = 0;
        if !success {
            run.ending.failed += 1;
            run.now_ms = arrival_ms + run.record.duration_ms;
        }
        self.after(index, if success { Met::Success } else { Met::Failure });
    }
}
