//! Made worlds whose truth is known: a server with faults by schedule or by chance, sessions that meet it under one
//! policy, and what any other policy would have met.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use dsh_forensics::event::{Failure, Retry, TurnEndKind};
use dsh_forensics::policy::{Candidate, Decision, Failure as Seen, decide};
use dsh_forensics::session::{
    AttemptRow, Fate, Outcome, RequestChars, RequestSize, RetryRow, Route, SessionRows, StepRow, TokenEstimate,
    TokenMethod, TurnRow,
};
use dsh_forensics::stats::{ExponentialDraw, SeededRng, exp};

/// Kinds of worlds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldKind {
    /// Every request fails by itself.
    Independent,
    /// Hard outages, log-normal durations.
    Hard,
    /// Outages in which some requests get through.
    Intermittent,
    /// Hard limits that tell when they end.
    RateLimit,
    /// Hard outages, and some sessions whose key is refused from some moment on.
    PermanentSessions,
    /// Hard outages, and an account that is empty from some moment on.
    AccountQuota,
}

/// All of them.
pub const KINDS: [WorldKind; 6] = [
    WorldKind::Independent,
    WorldKind::Hard,
    WorldKind::Intermittent,
    WorldKind::RateLimit,
    WorldKind::PermanentSessions,
    WorldKind::AccountQuota,
];

/// The truth.
#[derive(Debug, Clone)]
pub struct Truth {
    kind: WorldKind,
    outages: Vec<(f64, f64)>,
    fail_up: f64,
    fail_down: f64,
    /// From when on each session is refused.
    pub refused_from: Vec<f64>,
}

const HORIZON_MS: f64 = 400_000.0;

impl Truth {
    /// A world of this kind.
    pub fn new(kind: WorldKind, sessions: usize, seed: u64) -> Self {
        let mut rng = SeededRng::new(seed).fork(1);
        let mut outages = Vec::new();
        let (gap, median) = match kind {
            WorldKind::RateLimit => (9000.0, 4000.0),
            _ => (rng.uniform_between(2500.0, 6000.0), rng.uniform_between(800.0, 1800.0)),
        };
        let mut time = 0.0;
        while time < HORIZON_MS && kind != WorldKind::Independent {
            let from = time + ExponentialDraw::with_mean(gap).unwrap().draw(&mut rng);
            let lasts = (median * exp(0.7 * rng.standard_normal())).clamp(200.0, 20_000.0);
            outages.push((from, from + lasts));
            time = from + lasts;
        }
        let mut refused_from = vec![f64::INFINITY; sessions];
        if kind == WorldKind::PermanentSessions {
            for refused in refused_from.iter_mut().step_by(4) {
                *refused = rng.uniform_between(8000.0, 30_000.0);
            }
        }
        if kind == WorldKind::AccountQuota {
            let empty = rng.uniform_between(18_000.0, 30_000.0);
            refused_from.fill(empty);
        }
        Self {
            kind,
            outages,
            fail_up: if kind == WorldKind::Independent { rng.uniform_between(0.08, 0.35) } else { 0.0 },
            fail_down: if kind == WorldKind::Intermittent { rng.uniform_between(0.5, 0.8) } else { 1.0 },
            refused_from,
        }
    }

    fn outage(&self, time: f64) -> Option<(f64, f64)> {
        let next = self.outages.partition_point(|(_, to)| *to <= time);
        self.outages.get(next).copied().filter(|(from, _)| *from <= time)
    }

    /// What a request that arrives now gets; `None`: an answer.
    pub fn meet(&self, session: usize, time: f64, rng: &mut SeededRng) -> Option<Failure> {
        let failure =
            |code: &str, message: &str| Failure { code: code.into(), message: message.into(), ..Failure::default() };
        if time >= self.refused_from[session] {
            return Some(if self.kind == WorldKind::AccountQuota {
                failure("QUOTA", "429 You exceeded your current quota, please check your plan and billing details")
            } else {
                failure("AUTH", "401 Incorrect API key provided")
            });
        }
        let outage = self.outage(time);
        let chance = if outage.is_some() { self.fail_down } else { self.fail_up };
        if !rng.chance(chance) {
            return None;
        }
        Some(match (self.kind, outage) {
            (WorldKind::RateLimit, Some((_, to))) => Failure {
                retry_after_ms: Some(((to - time) / 1000.0).ceil() * 1000.0),
                status: Some(429),
                ..failure("RATE_LIMIT", "429 Rate limit reached for requests")
            },
            (WorldKind::Independent, _) => failure("SERVER", "502 Bad Gateway"),
            _ => failure("CONTEXT_WINDOW_EXCEEDED", "400 status code (no body)"),
        })
    }
}

/// Start of every recording, epoch milliseconds.
const EPOCH: f64 = 1_796_000_000_000.0;
/// From the log's clock to the arrival, for a first request and after a wait.
const SENDING: (f64, f64) = (3.0, 9.0);
const FAILURE_MS: (f64, f64) = (4.0, 25.0);

/// Sessions of a world as the reader would give them, recorded under one policy.
pub fn record(truth: &Truth, policy: &Candidate, turns: u64, seed: u64) -> Vec<SessionRows> {
    (0..truth.refused_from.len()).map(|session| Recorder::new(truth, policy, session, seed).record(turns)).collect()
}

struct Recorder<'a> {
    truth: &'a Truth,
    policy: &'a Candidate,
    session: usize,
    rng: SeededRng,
    route: Arc<Route>,
    now: f64,
    rows: SessionRows,
}

impl<'a> Recorder<'a> {
    fn new(truth: &'a Truth, policy: &'a Candidate, session: usize, seed: u64) -> Self {
        let mut rng = SeededRng::new(seed).fork(1000 + session as u64);
        let provider = if truth.kind == WorldKind::RateLimit { "deepseek-official" } else { "gateway" };
        Self {
            truth,
            policy,
            session,
            now: rng.uniform_between(0.0, 1500.0),
            rng,
            route: Arc::new(Route { provider: provider.into(), model: "large".into() }),
            rows: SessionRows {
                id: format!("session-{session:02}"),
                format_version: Some(0),
                ..SessionRows::default()
            },
        }
    }

    fn record(mut self, turns: u64) -> SessionRows {
        self.rows.first_time = Some((EPOCH + self.now) as i64);
        for turn in 1..=turns {
            let started = self.now;
            let mut failed = false;
            let steps = 1 + self.rng.below(3).unwrap();
            for step in 1..=steps {
                failed = !self.step(turn, step);
                if failed {
                    break;
                }
            }
            self.rows.turns.push(TurnRow {
                turn,
                start_time: Some((EPOCH + started) as i64),
                end_time: Some((EPOCH + self.now) as i64),
                end: Some(if failed { TurnEndKind::Error } else { TurnEndKind::Completed }),
                failure: None,
                steps,
            });
            self.now += self.rng.uniform_between(100.0, 900.0);
        }
        self.rows.last_time = Some((EPOCH + self.now) as i64);
        self.rows.events = 1;
        self.rows
    }

    /// One step; whether it succeeded.
    fn step(&mut self, turn: u64, step: u64) -> bool {
        let first = self.rows.attempts.len();
        let mut retry = 0;
        let success = loop {
            let asked = self.now;
            let arrival = asked + self.rng.uniform_between(SENDING.0, SENDING.1);
            let failure = self.truth.meet(self.session, arrival, &mut self.rng);
            let lasts = if failure.is_some() {
                self.rng.uniform_between(FAILURE_MS.0, FAILURE_MS.1)
            } else {
                self.rng.uniform_between(60.0, 350.0)
            };
            self.now = arrival + lasts;
            let index = self.rows.attempts.len();
            self.rows.attempts.push(self.attempt((turn, step), index - first, asked, failure.clone()));
            let Some(failure) = failure else { break true };
            let seen = Seen { code: &failure.code, retry_after_ms: failure.retry_after_ms };
            let Decision::Retry { retry: number, delay_ms, .. } =
                decide(&self.policy.policy, seen, retry, self.rng.uniform())
            else {
                break false;
            };
            retry = number;
            self.rows.attempts[index].retry = Some(self.rows.retries.len());
            self.write_retry((turn, step), number, delay_ms, failure, index);
            self.now += delay_ms + self.rng.uniform_between(0.0, 2.0);
        };
        let range = first..self.rows.attempts.len();
        let any_failure = range.clone().any(|index| self.rows.attempts[index].outcome == Outcome::Failed);
        let fate = any_failure.then_some(if success { Fate::RecoveredByRetry } else { Fate::GaveUp });
        for index in range.clone() {
            self.rows.attempts[index].fate = fate;
        }
        self.rows.steps.push(StepRow {
            turn,
            step,
            start_time: None,
            end_time: None,
            attempts: range.clone().collect(),
            failed: !success,
            last_failure: (!success).then(|| range.end - 1),
            fate,
        });
        success
    }

    fn attempt(&self, (turn, step): (u64, u64), before: usize, asked: f64, failure: Option<Failure>) -> AttemptRow {
        let ordinal = self.rows.attempts.len() as u64;
        let asked_time = Some((EPOCH + asked) as i64);
        AttemptRow {
            turn,
            step,
            attempt: before as u64 + 1,
            ordinal,
            seq: ordinal * 10,
            first_seq: ordinal * 10,
            time: Some((EPOCH + self.now) as i64),
            first_time: Some((EPOCH + self.now) as i64),
            ready_time: asked_time,
            asked_time,
            route: Arc::clone(&self.route),
            window: Some(131_072),
            window_source: None,
            max_tokens: Some(4096),
            reasoning_effort: None,
            outcome: if failure.is_some() { Outcome::Failed } else { Outcome::Succeeded },
            failure,
            usage: None,
            cut_at_limit: false,
            chunks: 1,
            longest_gap_ms: 0,
            since_compaction: None,
            since_independent_compaction: None,
            retries_before: before as u64,
            retry: None,
            fate: None,
            request: Some(Box::new(RequestSize {
                messages: 4,
                body_bytes: Some(30_000),
                chars: RequestChars::default(),
                harness_tokens: 9000,
                reserved_output: Some(4096),
                identity: turn * 100 + step,
                tokens: Some(TokenEstimate { value: 9000, low: 8800, high: 9200, method: TokenMethod::Counted }),
            })),
            usage_untrusted: false,
            last_tool: None,
            selected: true,
        }
    }

    fn write_retry(&mut self, (turn, step): (u64, u64), retry: u64, delay_ms: f64, failure: Failure, after: usize) {
        self.rows.retries.push(RetryRow {
            seq: after as u64 * 10 + 1,
            time: Some((EPOCH + self.now) as i64),
            retry: Retry {
                retry_id: format!("{turn}-{step}-{retry}"),
                turn,
                step,
                provider: Some(self.route.provider.clone()),
                mode: Some(self.policy.policy.mode.word().to_owned()),
                policy_key: Some(self.policy.policy.policy_key()),
                retry,
                max_retries: Some(self.policy.policy.max_retries),
                delay_ms,
                failure,
            },
            started_time: Some((EPOCH + self.now + delay_ms) as i64),
            started: true,
            after_attempt: Some(after),
            next_attempt: Some(after + 1),
        });
    }
}

/// How many recorded chains another policy brings to success, mean over `repeats` of jitter and chance.
pub fn counterfactual(truth: &Truth, sessions: &[SessionRows], policy: &Candidate, repeats: u64, seed: u64) -> f64 {
    let mut successes = 0_u64;
    for repeat in 0..repeats {
        let mut rng = SeededRng::new(seed).fork(5000 + repeat);
        for (number, session) in sessions.iter().enumerate() {
            for step in session.steps.iter().filter(|step| step.fate.is_some()) {
                let first = step.attempts.iter().map(|index| &session.attempts[*index]).find(|a| a.failure.is_some());
                successes += u64::from(replay(truth, number, first.unwrap(), policy, &mut rng));
            }
        }
    }
    successes as f64 / repeats as f64
}

fn replay(truth: &Truth, session: usize, first: &AttemptRow, policy: &Candidate, rng: &mut SeededRng) -> bool {
    let mut now = first.time.unwrap() as f64 - EPOCH;
    let mut failure = first.failure.clone().unwrap();
    let mut previous = 0;
    for _ in 0..400 {
        let seen = Seen { code: &failure.code, retry_after_ms: failure.retry_after_ms };
        let Decision::Retry { retry, delay_ms, .. } = decide(&policy.policy, seen, previous, rng.uniform()) else {
            return false;
        };
        previous = retry;
        let arrival = now + delay_ms + rng.uniform_between(SENDING.0, SENDING.1) + rng.uniform_between(0.0, 2.0);
        match truth.meet(session, arrival, rng) {
            None => return true,
            Some(next) => {
                failure = next;
                now = arrival + rng.uniform_between(FAILURE_MS.0, FAILURE_MS.1);
            }
        }
    }
    false
}
