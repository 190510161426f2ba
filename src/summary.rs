//! In: the rows of all sessions, filtered.
//! Out: [`Summary`]: every number of `scan`, counted, none estimated.
//! Always: attempts, steps and turns stand side by side and are never mixed in one number.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use crate::context_window::WindowSource;
use crate::correlate::{ColumnScan, CompactionStudy};
use crate::evidence::{Verdict, Verdicts};
use crate::filter::Filters;
use crate::pipeline::Dataset;
use crate::session::{AttemptRow, CompactionOutcome, Fate, Outcome, Route, SessionRows, StepRow, Trigger};
use crate::windows::Window;

/// Counts at every level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Own events, packed rows expanded.
    pub events: u64,
    /// Turns.
    pub turns: u64,
    /// Steps.
    pub steps: u64,
    /// Attempts.
    pub attempts: u64,
    /// Failed attempts.
    pub failed_attempts: u64,
    /// Attempts without a finish.
    pub unfinished_attempts: u64,
    /// Failed steps.
    pub failed_steps: u64,
    /// Turns that ended with an error.
    pub failed_turns: u64,
    /// Turns the user aborted.
    pub cancelled_turns: u64,
    /// Retries scheduled.
    pub retries_scheduled: u64,
    /// Retries whose wait ended.
    pub retries_started: u64,
    /// Compactions started.
    pub compactions: u64,
}

/// Failures of one code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeCounts {
    /// Failed attempts with it.
    pub failed_attempts: u64,
    /// Failed steps whose last failure has it.
    pub failed_steps: u64,
    /// Failed turns that ended with it.
    pub failed_turns: u64,
}

/// Attempts of one route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RouteCounts {
    /// Attempts.
    pub attempts: u64,
    /// Failed attempts.
    pub failed_attempts: u64,
    /// Failed steps whose last failure was on it.
    pub failed_steps: u64,
    /// Largest prompt that succeeded, tokens as reported.
    pub largest_success_tokens: Option<u64>,
    /// The largest window in force.
    pub window: Option<RouteWindow>,
}

/// A window and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteWindow {
    /// Tokens.
    pub tokens: u64,
    /// Where it comes from.
    pub source: WindowSource,
}

/// How scheduled retries ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryCounts {
    /// The next attempt succeeded.
    pub succeeded: u64,
    /// The next attempt failed.
    pub failed: u64,
    /// The wait was cancelled, or the process died in it.
    pub not_started: u64,
    /// The next attempt has no finish, or left no trace.
    pub unfinished: u64,
}

/// Failed steps inside one window after a compaction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowCounts {
    /// The window.
    pub window: Window,
    /// Failed steps inside.
    pub inside: u64,
    /// All failed steps.
    pub total: u64,
}

/// A session with failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingSession {
    /// Session id.
    pub id: String,
    /// Project directory name.
    pub project: Option<String>,
    /// Steps.
    pub steps: u64,
    /// Failed steps.
    pub failed_steps: u64,
    /// Failed attempts.
    pub failed_attempts: u64,
    /// Failed turns.
    pub failed_turns: u64,
    /// Most frequent code among its failed attempts.
    pub main_code: String,
}

/// Every number of `scan`.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// First and last event, epoch milliseconds.
    pub first_time: Option<i64>,
    /// See `first_time`.
    pub last_time: Option<i64>,
    /// Counts.
    pub counts: Counts,
    /// By code, in the order of failed attempts.
    pub by_code: Vec<(String, CodeCounts)>,
    /// By route, in the order of attempts.
    pub by_route: Vec<(Route, RouteCounts)>,
    /// Failed attempts by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// By code and verdict: failed attempts.
    pub verdicts_by_code: BTreeMap<(String, Verdict), u64>,
    /// How retries ended.
    pub retries: RetryCounts,
    /// Fates of the failure chains.
    pub fates: BTreeMap<&'static str, u64>,
    /// Compactions by trigger.
    pub triggers: BTreeMap<Trigger, u64>,
    /// Compactions by outcome.
    pub outcomes: BTreeMap<CompactionOutcome, u64>,
    /// Pruned tool results.
    pub prunes: u64,
    /// Windows, as asked for.
    pub windows: Vec<WindowCounts>,
    /// Sessions with failures, worst first.
    pub failing_sessions: Vec<FailingSession>,
    /// Largest reported prompt of a successful attempt, tokens.
    pub largest_success_tokens: Option<u64>,
    /// Sizes of requests by route.
    pub sizes: Vec<crate::sizes::RouteSizes>,
    /// Event types that are not the harness's.
    pub unknown_types: BTreeMap<String, u64>,
    /// Do compactions make steps fail? `None` until [`Summary::add_correlations`].
    pub compaction_study: Option<CompactionStudy>,
    /// What else goes with failures.
    pub columns: ColumnScan,
}

impl Summary {
    /// Counts everything once.
    pub fn of(dataset: &Dataset, filters: &Filters, windows: &[Window]) -> Self {
        let mut summary = Self {
            windows: windows.iter().map(|w| WindowCounts { window: *w, inside: 0, total: 0 }).collect(),
            sizes: crate::sizes::by_route(&dataset.sessions, filters),
            ..Self::default()
        };
        let mut codes: BTreeMap<String, CodeCounts> = BTreeMap::new();
        let mut routes: BTreeMap<Route, RouteCounts> = BTreeMap::new();
        for session in &dataset.sessions {
            summary.add_session(session, filters, &mut codes, &mut routes);
        }
        summary.by_code = codes.into_iter().collect();
        summary.by_code.sort_by(|a, b| {
            (b.1.failed_attempts, b.1.failed_turns)
                .cmp(&(a.1.failed_attempts, a.1.failed_turns))
                .then_with(|| a.0.cmp(&b.0))
        });
        summary.by_route = routes.into_iter().collect();
        summary.by_route.sort_by(|a, b| b.1.attempts.cmp(&a.1.attempts).then_with(|| a.0.cmp(&b.0)));
        summary.failing_sessions.sort_by(|a, b| {
            (b.failed_steps, b.failed_turns, b.failed_attempts)
                .cmp(&(a.failed_steps, a.failed_turns, a.failed_attempts))
                .then_with(|| a.id.cmp(&b.id))
        });
        summary
    }

    fn add_session(
        &mut self,
        session: &SessionRows,
        filters: &Filters,
        codes: &mut BTreeMap<String, CodeCounts>,
        routes: &mut BTreeMap<Route, RouteCounts>,
    ) {
        let narrow = filters.choose_attempts();
        let step_in = |step: &StepRow| !narrow || step.attempts.iter().any(|i| session.attempts[*i].selected);
        let turns_in: std::collections::BTreeSet<u64> =
            session.steps.iter().filter(|s| step_in(s)).map(|s| s.turn).collect();
        let in_time = |time: Option<i64>| {
            filters.since.is_none_or(|s| time.is_some_and(|t| t >= s))
                && filters.until.is_none_or(|u| time.is_some_and(|t| t < u))
        };
        let counts = &mut self.counts;
        let mut failing = FailingSession {
            id: session.id.clone(),
            project: session.project.clone(),
            steps: 0,
            failed_steps: 0,
            failed_attempts: 0,
            failed_turns: 0,
            main_code: String::new(),
        };
        let mut session_codes: BTreeMap<&str, u64> = BTreeMap::new();
        counts.events += session.events;
        self.first_time = self.first_time.into_iter().chain(session.first_time).min();
        self.last_time = self.last_time.max(session.last_time);
        for (kind, count) in &session.unknown_types {
            *self.unknown_types.entry(kind.clone()).or_default() += count;
        }
        for attempt in session.attempts.iter().filter(|a| a.selected) {
            counts.attempts += 1;
            let route = routes.entry((*attempt.route).clone()).or_default();
            route.attempts += 1;
            if let Some((tokens, source)) = attempt.window.zip(attempt.window_source)
                && route.window.is_none_or(|window| window.tokens < tokens)
            {
                route.window = Some(RouteWindow { tokens, source });
            }
            match attempt.outcome {
                Outcome::Succeeded => {
                    let prompt = attempt.trusted_prompt();
                    route.largest_success_tokens = route.largest_success_tokens.max(prompt);
                    self.largest_success_tokens = self.largest_success_tokens.max(prompt);
                }
                Outcome::Unfinished => counts.unfinished_attempts += 1,
                Outcome::Failed => {
                    let Some(failure) = failure_of(attempt, filters) else { continue };
                    counts.failed_attempts += 1;
                    failing.failed_attempts += 1;
                    route.failed_attempts += 1;
                    codes.entry(failure.code.clone()).or_default().failed_attempts += 1;
                    *session_codes.entry(&failure.code).or_default() += 1;
                }
                Outcome::Aborted => {}
            }
        }
        for step in session.steps.iter().filter(|s| step_in(s)) {
            counts.steps += 1;
            failing.steps += 1;
            let last_failure = step.last_failure.map(|i| &session.attempts[i]);
            let Some((attempt, failure)) = last_failure.and_then(|a| Some((a, failure_of(a, filters)?))) else {
                continue;
            };
            if let Some(fate) = step.fate {
                *self.fates.entry(fate.name()).or_default() += 1;
            }
            if !step.failed {
                continue;
            }
            counts.failed_steps += 1;
            failing.failed_steps += 1;
            codes.entry(failure.code.clone()).or_default().failed_steps += 1;
            routes.entry((*attempt.route).clone()).or_default().failed_steps += 1;
            for window in &mut self.windows {
                window.total += 1;
                window.inside +=
                    u64::from(attempt.since_independent_compaction.is_some_and(|s| window.window.contains(&s)));
            }
        }
        for turn in session.turns.iter().filter(|t| !narrow || turns_in.contains(&t.turn)) {
            counts.turns += 1;
            match turn.end {
                Some(crate::event::TurnEndKind::Error) => {
                    let code = turn.failure.as_ref().map_or("UNKNOWN", |f| f.code.as_str());
                    if filters.wants_code(code) {
                        counts.failed_turns += 1;
                        failing.failed_turns += 1;
                        codes.entry(code.to_owned()).or_default().failed_turns += 1;
                    }
                }
                Some(crate::event::TurnEndKind::Aborted) => counts.cancelled_turns += 1,
                _ => {}
            }
        }
        for retry in
            session.retries.iter().filter(|r| !narrow || r.after_attempt.is_some_and(|i| session.attempts[i].selected))
        {
            counts.retries_scheduled += 1;
            counts.retries_started += u64::from(retry.started);
            let next = retry.next_attempt.filter(|_| retry.started).map(|i| session.attempts[i].outcome);
            match (retry.started, next) {
                (false, _) => self.retries.not_started += 1,
                (true, Some(Outcome::Succeeded)) => self.retries.succeeded += 1,
                (true, Some(Outcome::Failed)) => self.retries.failed += 1,
                (true, _) => self.retries.unfinished += 1,
            }
        }
        for compaction in session.compactions.iter().filter(|c| in_time(c.start_time)) {
            counts.compactions += 1;
            *self.triggers.entry(compaction.trigger).or_default() += 1;
            *self.outcomes.entry(compaction.outcome).or_default() += 1;
        }
        self.prunes += session.prunes.iter().filter(|p| in_time(p.time)).count() as u64;
        if failing.failed_attempts + failing.failed_turns > 0 {
            failing.main_code = session_codes
                .iter()
                .max_by_key(|(code, count)| (**count, std::cmp::Reverse(**code)))
                .map(|(code, _)| (*code).to_owned())
                .unwrap_or_default();
            self.failing_sessions.push(failing);
        }
    }

    /// Counts the verdicts on the failures within the filters.
    pub fn add_verdicts(&mut self, dataset: &Dataset, filters: &Filters, verdicts: &Verdicts) {
        for (index, session) in dataset.sessions.iter().enumerate() {
            for (position, attempt) in session.attempts.iter().enumerate() {
                let judged = failure_of(attempt, filters).zip(verdicts.get(index, position));
                let Some((failure, judgement)) = judged else { continue };
                *self.verdicts.entry(judgement.verdict).or_default() += 1;
                *self.verdicts_by_code.entry((failure.code.clone(), judgement.verdict)).or_default() += 1;
            }
        }
    }

    /// Studies the windows and scans the columns. Hours are those of `zone`.
    pub fn add_correlations(&mut self, dataset: &Dataset, filters: &Filters, zone: &TimeZone) {
        let windows: Vec<Window> = self.windows.iter().map(|counts| counts.window).collect();
        self.compaction_study = Some(CompactionStudy::of(&dataset.sessions, filters, &windows));
        self.columns = ColumnScan::of(&dataset.sessions, filters, zone);
    }

    /// Chains that came to this fate.
    pub fn fate(&self, fate: Fate) -> u64 {
        self.fates.get(fate.name()).copied().unwrap_or(0)
    }
}

/// The failure of a failed, selected attempt whose code is wanted.
pub fn failure_of<'a>(attempt: &'a AttemptRow, filters: &Filters) -> Option<&'a crate::event::Failure> {
    attempt
        .failure
        .as_ref()
        .filter(|f| attempt.selected && attempt.outcome == Outcome::Failed && filters.wants_code(&f.code))
}
