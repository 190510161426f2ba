//! In: checked sessions, and tables of counts per shift.
//! Out: the count under each shift of one session; tail probabilities of the sum over sessions.
//! Always: entry 0 of a table is the recorded count.

use super::{NullDistribution, ShiftPlan, ShiftSession, Window};
use crate::stats::SeededRng;

/// Both tails of the sum at the observed value.
pub(super) struct Tails {
    pub upper: f64,
    pub lower: f64,
    pub method: NullDistribution,
}

/// Failures inside the windows for each shift 0 … length − 1 of the markers; empty for an empty session.
///
/// A failure is inside for the shifts that bring some marker into its range of marker positions: one interval of
/// shifts per marker, cut where the next marker's interval begins, so that each shift is counted once.
pub(super) fn counts_by_shift(session: &ShiftSession<'_>, window: Window) -> Vec<u32> {
    let length = session.length;
    let mut markers = session.markers.to_vec();
    markers.sort_unstable();
    markers.dedup();
    let mut change = vec![0_i64; length + 1];
    for failure in session.failures {
        let Some((low, high)) = window.marker_range(*failure, length) else {
            continue;
        };
        for (marker, gap) in with_gap_before(&markers, length) {
            let start = (low + length - marker) % length;
            let end = start + (high - low + 1).min(gap);
            change[start] += 1;
            change[end.min(length)] -= 1;
            if end > length {
                change[0] += 1;
                change[end - length] -= 1;
            }
        }
    }
    let mut count = 0;
    change[..length]
        .iter()
        .map(|difference| {
            count += difference;
            u32::try_from(count).unwrap_or(0)
        })
        .collect()
}

/// Each marker with its circular distance to the marker before; the whole length for a single one.
fn with_gap_before(markers: &[usize], length: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut before = markers.last().copied().unwrap_or(0);
    markers.iter().map(move |marker| {
        let gap = (marker + length - before) % length;
        before = *marker;
        (*marker, if gap == 0 { length } else { gap })
    })
}

/// Exact tails by convolution of the sessions' distributions; `None` beyond `most_steps` multiplications.
pub(super) fn exact_tails(tables: &[Vec<u32>], observed: u64, most_steps: u64) -> Option<Tails> {
    let shares: Vec<Vec<f64>> = tables.iter().map(|counts| distribution(counts)).collect();
    let mut steps = 0_u64;
    let mut size = 1_u64;
    for share in &shares {
        let support = share.iter().filter(|probability| **probability > 0.0).count() as u64;
        steps = steps.saturating_add(size.saturating_mul(support));
        size += share.len() as u64 - 1;
    }
    if steps > most_steps {
        return None;
    }
    let sum = shares.iter().fold(vec![1.0], |sum, share| convolve(&sum, share));
    let middle = usize::try_from(observed).ok()?.min(sum.len() - 1);
    Some(Tails {
        upper: sum[middle..].iter().rev().sum::<f64>().min(1.0),
        lower: sum[..=middle].iter().sum::<f64>().min(1.0),
        method: NullDistribution::Exact,
    })
}

/// Share of the shifts that give each count.
fn distribution(counts: &[u32]) -> Vec<f64> {
    let greatest = counts.iter().copied().max().unwrap_or(0) as usize;
    let mut tally = vec![0_u64; greatest + 1];
    for count in counts {
        tally[*count as usize] += 1;
    }
    let total = counts.len() as f64;
    tally.into_iter().map(|times| times as f64 / total).collect()
}

fn convolve(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; left.len() + right.len() - 1];
    for (shift, factor) in right.iter().enumerate() {
        if *factor > 0.0 {
            for (index, value) in left.iter().enumerate() {
                sum[index + shift] += value * factor;
            }
        }
    }
    sum
}

/// Tails from random joint shifts, the recorded one added: p = (1 + as extreme)/(1 + shifts).
pub(super) fn sampled_tails(tables: &[Vec<u32>], observed: u64, plan: &ShiftPlan) -> Tails {
    let mut rng = SeededRng::new(plan.seed);
    let (mut above, mut below) = (0_u32, 0_u32);
    for _ in 0..plan.shifts() {
        let mut sum = 0;
        for counts in tables {
            sum += rng.choose(counts).map_or(0, |count| u64::from(*count));
        }
        above += u32::from(sum >= observed);
        below += u32::from(sum <= observed);
    }
    let share = |extreme: u32| (1.0 + f64::from(extreme)) / (1.0 + f64::from(plan.shifts()));
    Tails { upper: share(above), lower: share(below), method: NullDistribution::Sampled { shifts: plan.shifts() } }
}
