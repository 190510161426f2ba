//! Everything the archive says about one route: probes, failures that can come again, promises, sessions gone bad.

use std::collections::BTreeMap;

use super::chains::{self, Chain};
use super::kinds::{Kind, Reading, kind_of};
use super::probes::{Probe, Role, SENDING_MS, add_kept_promises, episodes};
use crate::evidence::{Verdicts, is_bodyless, supports, verdict};
use crate::policy::semantics::usable_retry_after;
use crate::session::{AttemptRow, CompactionOutcome, Outcome, Route, SessionRows, Trigger};

/// Failure codes as small numbers, so that a decision costs no comparison of texts.
#[derive(Debug, Clone)]
pub struct Codes {
    names: Vec<String>,
}

/// Number of a code in [`Codes`].
pub type CodeId = usize;
/// `SERVER`, which repairs turn other codes into.
pub const SERVER: CodeId = 0;
/// `CONTEXT_WINDOW_EXCEEDED`.
pub const OVERFLOW: CodeId = 1;

impl Default for Codes {
    fn default() -> Self {
        Self { names: vec!["SERVER".to_owned(), crate::session::OVERFLOW.to_owned()] }
    }
}

impl Codes {
    /// The number of a name, new names included.
    pub fn id(&mut self, name: &str) -> CodeId {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// The name of a number.
    #[must_use]
    pub fn name(&self, id: CodeId) -> &str {
        self.names.get(id).map_or("", String::as_str)
    }

    /// All names by number.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// A failure as a policy sees it, and as the simulation repeats it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailureRecord {
    /// Arrival of the attempt, milliseconds on the clock of the evidence.
    pub time_ms: f64,
    /// The harness's code.
    pub code: CodeId,
    /// Retry-After that the adapter passed on, milliseconds.
    pub retry_after_ms: Option<f64>,
    /// Retry-After that only the text tells, or that the user assumes.
    pub hidden_retry_after_ms: Option<f64>,
    /// A 400 or 413 without a body.
    pub bodyless: bool,
    /// From arrival to failure, milliseconds.
    pub duration_ms: f64,
}

/// From when on every attempt of a session fails, whatever the route does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Onset {
    /// Arrival of the first attempt that shows it, milliseconds.
    pub time_ms: f64,
    /// The failure that comes back each time.
    pub record: FailureRecord,
}

/// What the archive says about the attempts of one session on one route.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SessionEvidence {
    /// Its last probe; `None` without any.
    pub last_probe_ms: Option<f64>,
    /// When it went bad for good; `None`: not seen.
    pub onset: Option<Onset>,
}

/// How overflow compactions went on a route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactionEvidence {
    /// Typical duration of a summary call that worked, milliseconds.
    pub done_ms: f64,
    /// And of one that failed.
    pub failed_ms: f64,
    /// Typical number of tokens it takes out of the context, by the harness's meter.
    pub destroyed_tokens: f64,
}

/// All of it.
#[derive(Debug, Clone)]
pub struct RouteEvidence {
    /// Provider and model.
    pub route: Route,
    /// Attempts of all sessions and kept promises, by time.
    pub probes: Vec<Probe>,
    /// Environmental failures, by time.
    pub records: Vec<FailureRecord>,
    /// Moments at which a Retry-After said to come back, ascending.
    pub promises: Vec<f64>,
    /// Longest Retry-After seen, milliseconds.
    pub longest_retry_after_ms: f64,
    /// Chains to play, by time of their first failure.
    pub chains: Vec<Chain>,
    /// Number of records at or before the first failure of each chain.
    pub record_places: Vec<u32>,
    /// By session number; sessions that never used the route are empty.
    pub sessions: Vec<SessionEvidence>,
    /// Number of runs of failing probes.
    pub episodes: u64,
    /// Last real probe, milliseconds.
    pub last_probe_ms: f64,
    /// Sessions that went bad per millisecond of a session's life; 0 where none did.
    pub onset_rate: f64,
    /// Failures that nothing decides about.
    pub contested: u64,
    /// Chains that were cancelled or are open: not played.
    pub unplayed: u64,
    /// See [`CompactionEvidence`].
    pub compaction: CompactionEvidence,
}

/// What the reader of the archive wants assumed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EvidenceOptions {
    /// How contested failures are taken.
    pub reading: Reading,
    /// Retry-After of rate limits and overloads on routes whose adapter drops it, milliseconds.
    pub hidden_retry_after_ms: Option<f64>,
}

/// Zero of the clock of the evidence: the first request of the archive, epoch milliseconds.
#[must_use]
pub fn clock_start(sessions: &[SessionRows]) -> i64 {
    sessions.iter().flat_map(|s| &s.attempts).filter_map(|a| a.asked_time).min().unwrap_or(0)
}

/// One attempt with what its place in its session says.
pub(super) struct Seen<'a> {
    pub session: u32,
    pub row: &'a AttemptRow,
    pub arrival_ms: f64,
    pub kind: Option<Kind>,
    pub record: Option<FailureRecord>,
}

/// Evidence of every route that has a failure, in order of their names.
#[must_use]
pub fn gather(
    sessions: &[SessionRows],
    verdicts: &Verdicts,
    options: EvidenceOptions,
    codes: &mut Codes,
) -> Vec<RouteEvidence> {
    let start = clock_start(sessions);
    let mut routes: BTreeMap<&Route, Vec<Seen<'_>>> = BTreeMap::new();
    for (number, session) in sessions.iter().enumerate() {
        let last_success: BTreeMap<&Route, usize> = (session.attempts.iter().enumerate())
            .filter(|(_, attempt)| attempt.outcome == Outcome::Succeeded)
            .map(|(index, attempt)| (&*attempt.route, index))
            .collect();
        for (index, row) in session.attempts.iter().enumerate() {
            let Some(asked) = row.asked_time.or(row.first_time) else { continue };
            let arrival_ms = (asked - start) as f64 + SENDING_MS;
            let failed = row.outcome == Outcome::Failed;
            let later = last_success.get(&*row.route).is_some_and(|last| *last > index);
            let kind = failed.then(|| match kind_of(row, verdicts.get(number, index), later) {
                Kind::Contested if options.reading == Reading::Stays => {
                    // An overflow is the request's; everything else that claims to last is the session's.
                    let overflow = row.failure.as_ref().is_some_and(|f| f.code == crate::session::OVERFLOW);
                    if overflow { Kind::Request } else { Kind::Session }
                }
                kind => kind,
            });
            let record = failed.then(|| record_of(row, arrival_ms, start, options, codes));
            let seen = Seen { session: number as u32, row, arrival_ms, kind, record };
            routes.entry(&row.route).or_default().push(seen);
        }
    }
    routes
        .into_iter()
        .filter(|(_, seen)| seen.iter().any(|attempt| attempt.kind.is_some()))
        .map(|(route, seen)| of_route(route, seen, sessions, start))
        .collect()
}

fn record_of(
    row: &AttemptRow,
    arrival_ms: f64,
    start: i64,
    options: EvidenceOptions,
    codes: &mut Codes,
) -> FailureRecord {
    let failure = row.failure.as_ref();
    let message = failure.map_or("", |f| f.message.as_str());
    let adapter = verdict::adapter(&row.route.provider);
    let retry_after_ms = usable_retry_after(failure.and_then(|f| f.retry_after_ms));
    let text = supports(message, failure.and_then(|f| f.status), adapter);
    let limited = matches!(text.code, crate::evidence::SupportedCode::RateLimit)
        || failure.is_some_and(|f| f.code == "RATE_LIMIT" || f.status == Some(503));
    let in_text = text.numbers.retry_after_ms.map(|ms| ms as f64);
    let assumed = options.hidden_retry_after_ms.filter(|_| limited);
    let status = is_bodyless(message).or(failure.and_then(|f| f.status).filter(|_| message.trim().is_empty()));
    FailureRecord {
        time_ms: arrival_ms,
        code: codes.id(failure.map_or("UNKNOWN", |f| f.code.as_str())),
        retry_after_ms,
        hidden_retry_after_ms: in_text.or(assumed).filter(|_| retry_after_ms.is_none()),
        bodyless: matches!(status, Some(400 | 413)),
        duration_ms: row.time.map_or(0.0, |time| ((time - start) as f64 - arrival_ms).max(0.0)),
    }
}

fn of_route(route: &Route, mut seen: Vec<Seen<'_>>, sessions: &[SessionRows], start: i64) -> RouteEvidence {
    seen.sort_by(|a, b| a.arrival_ms.total_cmp(&b.arrival_ms).then(a.session.cmp(&b.session)));
    super::onsets::mark_lonely_sessions(&mut seen);
    let mut evidence = RouteEvidence {
        route: route.clone(),
        probes: Vec::new(),
        records: Vec::new(),
        promises: Vec::new(),
        longest_retry_after_ms: 0.0,
        chains: Vec::new(),
        record_places: Vec::new(),
        sessions: vec![SessionEvidence::default(); sessions.len()],
        episodes: 0,
        last_probe_ms: 0.0,
        onset_rate: 0.0,
        contested: 0,
        unplayed: 0,
        compaction: compaction_evidence(sessions),
    };
    // Failed attempts of a step so far, and whether an attempt followed them.
    let mut failures: BTreeMap<(u32, u64, u64), u32> = BTreeMap::new();
    for attempt in &seen {
        let before = failures.entry((attempt.session, attempt.row.turn, attempt.row.step)).or_default();
        let role = match *before {
            0 if attempt.kind.is_some() => Role::ChainStart,
            1 => Role::FirstRetry,
            _ => Role::Other,
        };
        *before += u32::from(attempt.kind.is_some() || *before > 0);
        let success = match (attempt.row.outcome, attempt.kind) {
            (Outcome::Succeeded, _) => true,
            (Outcome::Failed, Some(Kind::Environmental | Kind::Contested)) => false,
            _ => continue,
        };
        evidence.contested += u64::from(attempt.kind == Some(Kind::Contested));
        evidence.probes.push(Probe { role, ..Probe::new(attempt.arrival_ms, success, attempt.session) });
        evidence.sessions[attempt.session as usize].last_probe_ms = Some(attempt.arrival_ms);
        evidence.last_probe_ms = attempt.arrival_ms;
        if let Some(record) = attempt.record {
            evidence.records.push(record);
            if let Some(wait) = record.retry_after_ms.or(record.hidden_retry_after_ms) {
                evidence.promises.push(record.time_ms + record.duration_ms + wait);
                evidence.longest_retry_after_ms = evidence.longest_retry_after_ms.max(wait);
            }
        }
    }
    evidence.promises.sort_by(f64::total_cmp);
    evidence.promises.dedup();
    evidence.episodes = episodes(&evidence.probes);
    super::onsets::find(&seen, &mut evidence);
    add_kept_promises(&mut evidence.probes, &evidence.promises);
    (evidence.chains, evidence.unplayed) = chains::of_route(&seen, sessions, &evidence, start);
    let place = |time: f64| evidence.records.partition_point(|record| record.time_ms <= time) as u32;
    evidence.record_places = evidence.chains.iter().map(|chain| place(chain.failed_ms)).collect();
    evidence
}

/// Medians over the overflow compactions of the archive; where there are none, what recorded ones took.
fn compaction_evidence(sessions: &[SessionRows]) -> CompactionEvidence {
    let overflow = || sessions.iter().flat_map(|s| &s.compactions).filter(|c| c.trigger == Trigger::Overflow);
    let duration = |outcome: CompactionOutcome| {
        let durations: Vec<f64> = overflow()
            .filter(|c| c.outcome == outcome)
            .filter_map(|c| Some((c.end_time? - c.start_time?) as f64))
            .collect();
        crate::stats::median(&durations)
    };
    let destroyed: Vec<f64> = overflow().filter_map(|c| c.shadowed_tokens).map(|tokens| tokens as f64).collect();
    CompactionEvidence {
        done_ms: duration(CompactionOutcome::Done).unwrap_or(200.0),
        failed_ms: duration(CompactionOutcome::Failed).unwrap_or(20.0),
        destroyed_tokens: crate::stats::median(&destroyed).unwrap_or(0.0),
    }
}
