//! Sessions and accounts that went bad for good.

use super::evidence::{Onset, RouteEvidence, Seen};
use super::kinds::Kind;
use crate::session::Outcome;

/// A session whose last failures all fall between successes of its neighbours is not hit by an outage of the route.
///
/// Its failures from the first such one on become the session's own, when the chance of so many is below
/// [`CHANCE`] at the rate at which attempts of healthy sessions fail between successes.
pub(super) fn mark_lonely_sessions(seen: &mut [Seen<'_>]) {
    const FEWEST: usize = 3;
    const CHANCE: f64 = 1e-4;
    let is_probe = |attempt: &Seen<'_>| {
        attempt.row.outcome == Outcome::Succeeded || matches!(attempt.kind, Some(Kind::Environmental | Kind::Contested))
    };
    let count = seen.iter().map(|attempt| attempt.session as usize + 1).max().unwrap_or(0);
    let mut last_success = vec![None; count];
    for (index, attempt) in seen.iter().enumerate() {
        if attempt.row.outcome == Outcome::Succeeded {
            last_success[attempt.session as usize] = Some(index);
        }
    }
    let between = between_successes(seen, &is_probe);
    let trailing =
        |index: usize, attempt: &Seen<'_>| last_success[attempt.session as usize].is_none_or(|last| index > last);
    let (mut failed, mut all) = (1.0, 2.0);
    let mut lonely: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, attempt) in seen.iter().enumerate().filter(|(index, attempt)| between[*index] && is_probe(attempt)) {
        if attempt.row.outcome == Outcome::Failed && trailing(index, attempt) {
            lonely[attempt.session as usize].push(index);
        } else {
            all += 1.0;
            failed += f64::from(u8::from(attempt.row.outcome == Outcome::Failed));
        }
    }
    let rate: f64 = failed / all;
    for (session, indices) in lonely.iter().enumerate() {
        if indices.len() < FEWEST || rate.powi(indices.len().min(1000) as i32) > CHANCE {
            continue;
        }
        let Some(first) = indices.first().copied() else { continue };
        for attempt in seen.iter_mut().skip(first).filter(|attempt| attempt.session as usize == session) {
            if matches!(attempt.kind, Some(Kind::Environmental | Kind::Contested)) {
                attempt.kind = Some(Kind::Session);
            }
        }
    }
}

/// Whether the nearest probes of other sessions before and after each attempt both succeeded.
fn between_successes(seen: &[Seen<'_>], is_probe: &dyn Fn(&Seen<'_>) -> bool) -> Vec<bool> {
    // The last two sessions that probed: the nearest of another session is one of them.
    let sweep = |order: &mut dyn Iterator<Item = usize>| {
        let mut near: [Option<(u32, bool)>; 2] = [None, None];
        let mut good = vec![false; seen.len()];
        for index in order {
            let session = seen[index].session;
            good[index] =
                near.iter().flatten().find(|(other, _)| *other != session).is_some_and(|(_, success)| *success);
            if is_probe(&seen[index]) {
                let success = seen[index].row.outcome == Outcome::Succeeded;
                if near[0].is_some_and(|(other, _)| other != session) {
                    near[1] = near[0];
                }
                near[0] = Some((session, success));
            }
        }
        good
    };
    let before = sweep(&mut (0..seen.len()));
    let after = sweep(&mut (0..seen.len()).rev());
    before.into_iter().zip(after).map(|(before, after)| before && after).collect()
}

/// Fills the onset of each session, of all of them where the account is bad, and the rate of onsets.
pub(super) fn find(seen: &[Seen<'_>], evidence: &mut RouteEvidence) {
    for attempt in seen.iter().filter(|attempt| attempt.kind == Some(Kind::Session)) {
        let session = &mut evidence.sessions[attempt.session as usize];
        if session.onset.is_none()
            && let Some(record) = attempt.record
        {
            session.onset = Some(Onset { time_ms: attempt.arrival_ms, record });
        }
    }
    let bad = evidence.sessions.iter().filter_map(|session| session.onset).count();
    if bad == 0 {
        return;
    }
    let mut life = 0.0;
    for (number, session) in evidence.sessions.iter().enumerate() {
        let first = seen.iter().find(|attempt| attempt.session as usize == number).map(|attempt| attempt.arrival_ms);
        let last = session.onset.map(|onset| onset.time_ms).or(session.last_probe_ms);
        life += first.zip(last).map_or(0.0, |(first, last)| (last - first).max(0.0));
    }
    evidence.onset_rate = if life > 0.0 { bad as f64 / life } else { 0.0 };
    let first =
        evidence.sessions.iter().filter_map(|session| session.onset).min_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
    let served_later = |onset: &Onset| {
        seen.iter().any(|attempt| attempt.row.outcome == Outcome::Succeeded && attempt.arrival_ms > onset.time_ms)
    };
    // An account is bad for all its sessions at once: several sessions refused, and nobody served any more.
    if let Some(first) = first.filter(|onset| bad > 1 && !served_later(onset)) {
        for session in &mut evidence.sessions {
            session.onset = Some(first);
        }
    }
}
