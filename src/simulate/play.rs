//! Plays one chain in one world under one policy, from its first failure on.

use super::chains::Chain;
use super::common_numbers::AttemptLuck;
use super::compiled::{CompiledPolicy, Moment};
use super::evidence::{FailureRecord, OVERFLOW, RouteEvidence};
use super::path::Cursor;
use super::world::World;

/// From the end of a wait to the arrival of the next request, milliseconds (recorded: 6 to 13).
pub const RESUME_MS: f64 = 6.0;
/// Attempts that are played one by one; a chain that needs more never ends.
const MOST_ATTEMPTS: u64 = 2000;
/// Steady attempts into one outage that are not worth playing one by one.
const WORTH_SKIPPING: f64 = 24.0;

/// What came of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ending {
    /// It comes to success when everything beyond the evidence fails.
    pub saved_if_beyond_fails: bool,
    /// As the world was drawn.
    pub saved: bool,
    /// When everything beyond the evidence succeeds.
    pub saved_if_beyond_succeeds: bool,
    /// From the arrival of the first failing attempt to that of the last one, milliseconds.
    pub wait_ms: f64,
    /// Attempts after the first failing one.
    pub attempts: u64,
    /// Of those, attempts that failed.
    pub failed: u64,
    /// Of those, attempts into an outage of the route.
    pub into_outage: u64,
    /// Attempts before the Retry-After that they had been given.
    pub violations: u64,
    /// It never ends.
    pub endless: bool,
    /// Summary calls of overflow compactions.
    pub compactions: u64,
    /// Summaries that replaced context.
    pub compactions_done: u64,
}

/// Told about every attempt that is played.
pub trait Watcher {
    /// An attempt arrives, milliseconds.
    fn attempt(&mut self, arrival_ms: f64);
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Watcher for Nobody {
    fn attempt(&mut self, _: f64) {}
}

/// What all chains of a route share.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// The route.
    pub evidence: &'a RouteEvidence,
    /// Its course in this draw.
    pub world: &'a World,
    /// Last event of the archive, milliseconds.
    pub archive_end_ms: f64,
}

/// One chain under way.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// The chain.
    pub chain: &'a Chain,
    /// What came of it so far.
    pub ending: Ending,
    /// When the last attempt failed.
    pub now_ms: f64,
    /// Its failure.
    pub record: FailureRecord,
    /// Retries that count.
    pub previous_retry: u64,
    /// Last local delay.
    pub previous_delay_ms: Option<f64>,
    index: u64,
    played: u64,
    cursor: Cursor,
    record_place: usize,
    bad_from_ms: f64,
    beyond: bool,
    compactions_left: u64,
    healed: bool,
}

/// How an attempt went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// It succeeded.
    Success,
    /// It failed; the chain is asked again.
    Failure,
}

impl<'a> Stage<'a> {
    /// A chain at its first failure.
    #[must_use]
    pub fn begin(&self, index: usize) -> Run<'a> {
        let chain = &self.evidence.chains[index];
        let drawn = self.world.onsets_ms.get(chain.session as usize).copied().unwrap_or(f64::INFINITY);
        Run {
            chain,
            ending: Ending::default(),
            now_ms: chain.failed_ms,
            record: chain.record,
            previous_retry: 0,
            previous_delay_ms: None,
            index: index as u64,
            played: 0,
            cursor: Cursor { place: self.world.places.get(index).map_or(0, |place| *place as usize) },
            record_place: self.evidence.record_places.get(index).map_or(0, |place| *place as usize),
            bad_from_ms: if chain.at_fault { f64::NEG_INFINITY } else { drawn.min(chain.bad_from_ms) },
            beyond: false,
            compactions_left: u64::from(chain.compaction_mounted),
            healed: false,
        }
    }

    /// The luck of the next attempt.
    #[must_use]
    pub fn luck(&self, run: &Run<'_>) -> AttemptLuck {
        self.world.numbers.chain(run.index).attempt(run.ending.attempts + run.ending.compactions + 1)
    }

    /// Sends the next attempt after a wait.
    pub fn send(&self, run: &mut Run<'a>, delay_ms: f64, luck: AttemptLuck, watcher: &mut impl Watcher) -> Met {
        let arrival_ms = run.now_ms + delay_ms + RESUME_MS;
        watcher.attempt(arrival_ms);
        let ending = &mut run.ending;
        ending.attempts += 1;
        run.played += 1;
        ending.wait_ms = arrival_ms - run.chain.arrival_ms;
        let asked = run.record.retry_after_ms.or(run.record.hidden_retry_after_ms);
        ending.violations += u64::from(asked.is_some_and(|asked| delay_ms < asked));
        if self.succeeds(run, arrival_ms, luck) {
            run.ending.saved = true;
            run.ending.saved_if_beyond_succeeds = true;
            run.ending.saved_if_beyond_fails = !run.beyond;
            return Met::Success;
        }
        run.ending.failed += 1;
        self.fail(run, arrival_ms, luck);
        Met::Failure
    }

    /// Whether a request that arrives now is answered.
    fn succeeds(&self, run: &mut Run<'a>, arrival_ms: f64, luck: AttemptLuck) -> bool {
        let known_bad = (run.chain.at_fault && !run.healed) || arrival_ms >= run.chain.bad_from_ms;
        if !known_bad && arrival_ms > run.chain.evidence_end_ms {
            run.beyond = true;
            run.ending.saved_if_beyond_succeeds = true;
        }
        if run.is_bad(arrival_ms) {
            return false;
        }
        run.cursor.advance(&self.world.path, arrival_ms);
        let down = self.world.path.is_down_at_place(run.cursor.place);
        let success = self.world.outcome(down, || luck.outcome());
        run.ending.into_outage += u64::from(!success);
        success
    }

    /// The failure of an attempt that arrived at this time.
    fn fail(&self, run: &mut Run<'a>, arrival_ms: f64, luck: AttemptLuck) {
        if run.is_bad(arrival_ms) {
            run.record = if run.chain.at_fault { run.chain.record } else { run.chain.bad_record };
            run.now_ms = arrival_ms + run.record.duration_ms;
            return;
        }
        const NEAR: usize = 4;
        let records = &self.evidence.records;
        while records.get(run.record_place).is_some_and(|record| record.time_ms <= arrival_ms) {
            run.record_place += 1;
        }
        let from = run.record_place.saturating_sub(NEAR).min(records.len().saturating_sub(2 * NEAR));
        let near = &records[from..records.len().min(from + 2 * NEAR)];
        let pick = ((luck.record * near.len() as f64) as usize).min(near.len().saturating_sub(1));
        run.record = near.get(pick).copied().unwrap_or(run.chain.record);
        run.now_ms = arrival_ms + run.record.duration_ms;
        if run.record.retry_after_ms.or(run.record.hidden_retry_after_ms).is_some() {
            self.promise(run);
        }
    }

    /// A simulated Retry-After: to the earliest recorded promise still ahead, in whole seconds.
    fn promise(&self, run: &mut Run<'a>) {
        let promises = &self.evidence.promises;
        let next = promises.get(promises.partition_point(|promise| *promise <= run.now_ms));
        let wait = next.map(|promise| ((promise - run.now_ms) / 1000.0).ceil() * 1000.0);
        // A promise of a later outage says nothing about this one.
        let Some(wait) = wait.filter(|wait| *wait <= self.evidence.longest_retry_after_ms + 1000.0) else { return };
        let slot = if run.record.retry_after_ms.is_some() {
            &mut run.record.retry_after_ms
        } else {
            &mut run.record.hidden_retry_after_ms
        };
        *slot = Some(wait);
    }

    /// Overflow compaction as downstream recovery (spec 4.5, point 9): a summary call that meets the same route, then
    /// the request again. `None`: it cannot act. Writes no `llm/retry`, so no retry is counted.
    pub fn compact(&self, run: &mut Run<'a>, code: usize, watcher: &mut impl Watcher) -> Option<Met> {
        if code != OVERFLOW || run.compactions_left == 0 {
            return None;
        }
        run.compactions_left -= 1;
        run.ending.compactions += 1;
        let luck = self.luck(run);
        let arrival_ms = run.now_ms + RESUME_MS;
        // The summary call is another request: a fault of the recorded one is not its own.
        let at_fault = std::mem::replace(&mut run.healed, true);
        let beyond_before = (run.beyond, run.ending.saved_if_beyond_succeeds);
        let answered = self.succeeds(run, arrival_ms, luck);
        if !answered {
            run.healed = at_fault;
            let compaction = &self.evidence.compaction;
            run.now_ms = arrival_ms + compaction.failed_ms;
            run.beyond |= beyond_before.0;
            return Some(Met::Failure);
        }
        run.ending.compactions_done += 1;
        run.now_ms = arrival_ms + self.evidence.compaction.done_ms;
        let luck = self.luck(run);
        Some(self.send(run, 0.0, luck, watcher))
    }

    /// Plays a chain to its end.
    pub fn play(&self, policy: &CompiledPolicy, index: usize, watcher: &mut impl Watcher) -> Ending {
        let mut run = self.begin(index);
        loop {
            let code = policy.effective_code(&run.record, run.chain.fill);
            if policy.always
                && let Some(Met::Success) = self.compact(&mut run, code, watcher)
            {
                return run.ending;
            }
            let luck = self.luck(&run);
            let moment = Moment {
                previous_retry: run.previous_retry,
                elapsed_ms: run.now_ms - run.chain.failed_ms,
                previous_delay_ms: run.previous_delay_ms,
                luck: luck.jitter,
            };
            let Some(wait) = policy.decide(&run.record, run.chain.fill, moment) else {
                match self.compact(&mut run, code, watcher) {
                    // The retried request failed again: the harness decides anew.
                    Some(Met::Failure) if run.ending.compactions_done > 0 && run.healed => continue,
                    _ => return run.ending,
                }
            };
            run.previous_retry += 1;
            if wait.local {
                run.previous_delay_ms = Some(wait.delay_ms);
            }
            if self.send(&mut run, wait.delay_ms, luck, watcher) == Met::Success {
                return run.ending;
            }
            if self.skip(policy, &mut run) {
                return run.ending;
            }
        }
    }

    /// Passes over attempts that are sure to fail; true when the chain never ends, or ends failing.
    fn skip(&self, policy: &CompiledPolicy, run: &mut Run<'a>) -> bool {
        let bad = run.is_bad(run.now_ms);
        if run.played >= MOST_ATTEMPTS && policy.always || (bad && policy.always && run.now_ms > self.archive_end_ms) {
            run.ending.endless = true;
            return true;
        }
        let Some(wait) = policy.settled_wait(&run.record, run.previous_retry) else { return false };
        let step = wait + RESUME_MS + run.record.duration_ms;
        let until = if bad {
            self.archive_end_ms
        } else if self.world.success_down <= 0.0 && self.world.path.is_down_at_place(run.cursor.place) {
            run.cursor.next_switch(&self.world.path).unwrap_or(self.archive_end_ms)
        } else {
            return false;
        };
        let sure = ((until - run.now_ms) / step).floor();
        if sure < WORTH_SKIPPING {
            return false;
        }
        // The last few are played, so that chance decides when the recovery is met.
        let mut count = sure as u64 - 4;
        if let Some(left) = policy.retries_left(run.previous_retry) {
            count = count.min(left);
        }
        let asked = run.record.retry_after_ms.or(run.record.hidden_retry_after_ms);
        let ending = &mut run.ending;
        ending.attempts += count;
        ending.failed += count;
        ending.into_outage += if bad { 0 } else { count };
        ending.violations += if asked.is_some_and(|asked| wait < asked) { count } else { 0 };
        run.previous_retry += count;
        run.now_ms += count as f64 * step;
        ending.wait_ms = run.now_ms - run.chain.arrival_ms;
        if !bad && run.now_ms > run.chain.evidence_end_ms {
            run.beyond = true;
            ending.saved_if_beyond_succeeds = run.now_ms < run.chain.bad_from_ms;
        }
        false
    }
}

impl Run<'_> {
    fn is_bad(&self, time_ms: f64) -> bool {
        !self.healed && time_ms >= self.bad_from_ms || self.healed && time_ms >= self.chain.bad_from_ms
    }
}
