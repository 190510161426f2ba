//! What an archive shows about its routes, as far as the linter asks for it.

use std::collections::BTreeMap;

use crate::evidence::{FixableBy, Judgement, Verdict, Verdicts};
use crate::policy::model::MAX_TIMER_DELAY_MS;
use crate::policy::semantics::usable_retry_after;
use crate::policy::{ArchiveFacts, RouteFacts};
use crate::session::{Outcome, Route, SessionRows};

/// Two failures further apart than this are two outages: nobody asked the route in between. Milliseconds.
const LONGEST_SILENCE_MS: i64 = 120_000;

/// What a request says about its route at that moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    Up,
    Down,
}

/// The facts by provider, over the selected attempts.
///
/// An outage is a run of failures on one route (provider and model), over all sessions, without a success between;
/// it lasted at least from its first to its last failure. Failures that waiting does not heal are no part of it.
#[must_use]
pub fn archive_facts(sessions: &[SessionRows], verdicts: &Verdicts) -> ArchiveFacts {
    let mut facts = ArchiveFacts::default();
    let mut probes: BTreeMap<&Route, Vec<(i64, usize, Probe)>> = BTreeMap::new();
    for (index, session) in sessions.iter().enumerate() {
        for (at, attempt) in session.attempts.iter().enumerate().filter(|(_, attempt)| attempt.selected) {
            let provider = &attempt.route.provider;
            if !facts.routes.contains_key(provider) {
                facts.routes.insert(provider.clone(), RouteFacts::default());
            }
            let Some(seen) = facts.routes.get_mut(provider) else { continue };
            seen.attempts += 1;
            let judgement = verdicts.get(index, at);
            if let Some(failure) = attempt.failure.as_ref().filter(|_| attempt.outcome == Outcome::Failed) {
                seen.failures += 1;
                *seen.codes.entry(failure.code.clone()).or_default() += 1;
                if judgement.is_some_and(is_intrinsic) {
                    *seen.intrinsic.entry(failure.code.clone()).or_default() += 1;
                }
                if judgement.is_some_and(heals) {
                    *seen.passing.entry(failure.code.clone()).or_default() += 1;
                }
                // No setting reaches a date in another year: it says nothing about the cap.
                let asked = usable_retry_after(failure.retry_after_ms).filter(|wait| *wait <= MAX_TIMER_DELAY_MS);
                seen.max_retry_after_ms = asked.into_iter().chain(seen.max_retry_after_ms).reduce(f64::max);
            }
            let probe = match attempt.outcome {
                Outcome::Succeeded => Some(Probe::Up),
                Outcome::Failed if judgement.is_some_and(heals) => Some(Probe::Down),
                _ => None,
            };
            if let (Some(probe), Some(time)) = (probe, attempt.time) {
                probes.entry(&attempt.route).or_default().push((time, index, probe));
            }
        }
    }
    for (route, mut probes) in probes {
        probes.sort_by_key(|(time, session, _)| (*time, *session));
        if let Some(seen) = facts.routes.get_mut(&route.provider) {
            seen.outages_ms.extend(outages(&probes));
        }
    }
    facts
}

/// It heals with time: the evidence says so, or speaks against a code that would not.
fn heals(judgement: &Judgement) -> bool {
    match judgement.fixable_by {
        FixableBy::Time => true,
        FixableBy::Unknown => judgement.verdict == Verdict::Contradicted,
        _ => false,
    }
}

fn is_intrinsic(judgement: &Judgement) -> bool {
    !matches!(judgement.fixable_by, FixableBy::Time | FixableBy::Unknown)
}

/// Durations of the runs of failures, milliseconds.
fn outages(probes: &[(i64, usize, Probe)]) -> Vec<f64> {
    let mut durations = Vec::new();
    let mut run: Option<(i64, i64)> = None;
    let mut close = |run: Option<(i64, i64)>| durations.extend(run.map(|(first, last)| (last - first) as f64));
    for (time, _, probe) in probes {
        run = match (run, probe) {
            (open, Probe::Up) => {
                close(open);
                None
            }
            (Some((first, last)), Probe::Down) if time - last <= LONGEST_SILENCE_MS => Some((first, *time)),
            (open, Probe::Down) => {
                close(open);
                Some((*time, *time))
            }
        };
    }
    close(run);
    durations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_or_a_long_silence_ends_an_outage() {
        use Probe::{Down, Up};
        let probes =
            [(0, 0, Down), (1000, 1, Down), (1500, 0, Up), (2000, 1, Down), (2000 + LONGEST_SILENCE_MS, 0, Down)];
        assert_eq!(outages(&probes), [1000.0, LONGEST_SILENCE_MS as f64]);
        assert_eq!(outages(&[(0, 0, Down), (1 + LONGEST_SILENCE_MS, 0, Down)]), [0.0, 0.0]);
        assert!(outages(&[(0, 0, Up)]).is_empty());
    }
}
