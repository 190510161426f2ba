//! In: per session its trials in order, which of them failed, and windows that begin at markers (compactions).
//! Out: how surprising the failures inside are, and how much more they vary than independent ones would.
//! Always: shifts are independent between sessions; the number of trials inside each shifted window is accounted for.

use super::circular_shift::{NullDistribution, ShiftPlan};
use super::random::SeededRng;

#[cfg(test)]
mod tests;

/// Two scores closer than this are equal.
const TIE: f64 = 1e-9;
/// Most joint shifts that are enumerated instead of sampled.
const MOST_ENUMERATED: u64 = 20_000;
/// Most windows evaluated for one session; beyond, its shifts are sampled.
const MOST_WINDOWS: usize = 20_000_000;

/// One session: n trials, numbered from 0.
#[derive(Debug, Clone, Copy)]
pub struct WindowSession<'a> {
    /// Whether each trial failed.
    pub failed: &'a [bool],
    /// For each trial: the first trial behind a window that begins just before this one.
    pub window_ends: &'a [usize],
    /// The first trial after each marker; n for a marker behind the last trial.
    pub markers: &'a [usize],
    /// Trials inside the recorded windows.
    pub trials_inside: u64,
    /// Failed trials inside the recorded windows.
    pub failures_inside: u64,
}

/// Result of [`window_shift_test`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowShiftTest {
    /// Failures inside minus those expected there at the session's own rate, summed over sessions.
    pub score: f64,
    /// Variance of the score under the shifts over that of independent failures; `None` when nothing can vary.
    pub dispersion: Option<f64>,
    /// Sessions in which a shift can change the score.
    pub informative_sessions: usize,
    /// P(score ≥ recorded).
    pub upper: f64,
    /// P(score ≤ recorded).
    pub lower: f64,
    /// Twice the smaller tail, at most 1.
    pub two_sided: f64,
    /// All joint shifts, or a sample.
    pub method: NullDistribution,
}

/// Scores of one session under its shifts, the recorded one first.
struct Shifted {
    scores: Vec<f64>,
    /// Mean over shifts of F·π·(1 − π): the variance that F independent failures would have.
    independent_variance: f64,
}

/// Do failures gather inside the windows more, or less, than under circular shifts of each session's markers?
///
/// The score of a session with F failures in n trials is `failures inside − F · trials inside / n`. Shifting a
/// session's markers together by 0 … n positions keeps their spacing and the failures' clustering. All joint shifts are enumerated up to 20,000; beyond,
/// at least 9,999 are sampled and p = (1 + as extreme)/(1 + shifts). The dispersion compares the variance of the scores
/// with that of as many independent failures: bursts of failures raise it.
///
/// Source: as [`super::circular_shift_test`]; a score for unequal exposure: D. R. Cox, *The Statistical Analysis of
/// Series of Events*, 1966.
#[must_use]
pub fn window_shift_test(sessions: &[WindowSession<'_>], plan: &ShiftPlan) -> WindowShiftTest {
    let root = SeededRng::new(plan.seed);
    let mut constant = 0.0;
    let mut tables: Vec<Shifted> = Vec::new();
    for (index, session) in sessions.iter().enumerate() {
        let Some(shifted) = shifted_scores(session, &root, index as u64) else { continue };
        if shifted.scores.iter().all(|score| (score - shifted.scores[0]).abs() < TIE) {
            constant += shifted.scores[0];
        } else {
            tables.push(shifted);
        }
    }
    let recorded: f64 = tables.iter().map(|table| table.scores[0]).sum();
    let variance: f64 = tables.iter().map(|table| variance(&table.scores)).sum();
    let independent: f64 = tables.iter().map(|table| table.independent_variance).sum();
    let (upper, lower, method) = tails(&tables, recorded, plan);
    WindowShiftTest {
        score: constant + recorded,
        dispersion: (independent > 0.0).then(|| variance / independent),
        informative_sessions: tables.len(),
        upper,
        lower,
        two_sided: (2.0 * upper.min(lower)).min(1.0),
        method,
    }
}

/// `None` for a session without failures, trials or markers: its score is 0 under every shift.
fn shifted_scores(session: &WindowSession<'_>, root: &SeededRng, label: u64) -> Option<Shifted> {
    let trials = session.failed.len();
    let failures = session.failed.iter().filter(|failed| **failed).count();
    if trials == 0 || failures == 0 || session.markers.is_empty() || session.window_ends.len() != trials {
        return None;
    }
    let mut before = Vec::with_capacity(trials + 1);
    let mut count = 0_u64;
    before.push(0);
    for failed in session.failed {
        count += u64::from(*failed);
        before.push(count);
    }
    let mut markers: Vec<usize> = session.markers.iter().map(|marker| (*marker).min(trials)).collect();
    markers.sort_unstable();
    markers.dedup();
    let rate = failures as f64 / trials as f64;
    let score = |inside: u64, exposed: u64| inside as f64 - rate * exposed as f64;
    let mut scores = vec![score(session.failures_inside, session.trials_inside)];
    let mut independent = independent_part(failures, session.trials_inside, trials);
    let mut add = |shift: usize| {
        let (exposed, inside) = under_shift(&markers, session.window_ends, &before, shift);
        scores.push(score(inside, exposed));
        independent += independent_part(failures, exposed, trials);
    };
    if trials.saturating_mul(markers.len()) <= MOST_WINDOWS {
        (1..=trials).for_each(&mut add);
    } else {
        let mut rng = root.fork(label);
        for _ in 0..(MOST_WINDOWS / markers.len()).max(1_000) {
            add(rng.below(trials as u64 + 1).map_or(0, |shift| shift as usize));
        }
    }
    let independent_variance = independent / scores.len() as f64;
    Some(Shifted { scores, independent_variance })
}

fn independent_part(failures: usize, exposed: u64, trials: usize) -> f64 {
    let share = exposed as f64 / trials as f64;
    failures as f64 * share * (1.0 - share)
}

/// Trials and failures inside the windows of the markers moved by `shift` on a ring of n + 1 places.
fn under_shift(markers: &[usize], window_ends: &[usize], before: &[u64], shift: usize) -> (u64, u64) {
    let places = window_ends.len() + 1;
    let (mut exposed, mut inside) = (0, 0);
    for (index, marker) in markers.iter().enumerate() {
        let start = (marker + shift) % places;
        let Some(end) = window_ends.get(start) else { continue };
        // The next marker begins a window of its own: no trial is counted twice.
        let next = (markers[(index + 1) % markers.len()] + shift) % places;
        let end = if next > start { (*end).min(next) } else { *end }.max(start);
        exposed += (end - start) as u64;
        inside += before[end] - before[start];
    }
    (exposed, inside)
}

fn variance(scores: &[f64]) -> f64 {
    let count = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / count;
    scores.iter().map(|score| (score - mean) * (score - mean)).sum::<f64>() / count
}

/// P(≥ recorded), P(≤ recorded), and how they were found.
fn tails(tables: &[Shifted], recorded: f64, plan: &ShiftPlan) -> (f64, f64, NullDistribution) {
    let joint = tables.iter().fold(1_u64, |joint, table| joint.saturating_mul(table.scores.len() as u64));
    let (mut above, mut below, mut all) = (0_u64, 0_u64, 0_u64);
    let mut count = |score: f64| {
        above += u64::from(score >= recorded - TIE);
        below += u64::from(score <= recorded + TIE);
        all += 1;
    };
    if joint <= MOST_ENUMERATED {
        let mut sums = vec![0.0];
        for table in tables {
            sums = sums.iter().flat_map(|sum| table.scores.iter().map(move |score| sum + score)).collect();
        }
        sums.into_iter().for_each(&mut count);
        return (above as f64 / all as f64, below as f64 / all as f64, NullDistribution::Exact);
    }
    let mut rng = SeededRng::new(plan.seed);
    for _ in 0..plan.shifts() {
        count(tables.iter().map(|table| rng.choose(&table.scores).copied().unwrap_or(0.0)).sum());
    }
    let share = |extreme: u64| (1.0 + extreme as f64) / (1.0 + f64::from(plan.shifts()));
    (share(above), share(below), NullDistribution::Sampled { shifts: plan.shifts() })
}
