//! In: numbers in any order.
//! Out: their quantiles.
//! Always: between the smallest and the largest number; nothing from an empty slice or from NaN.

#[cfg(test)]
mod tests;

/// Quantile of type 7, the default of R and NumPy; `probability` in [0, 1].
///
/// With h = (n−1)·p: x₍⌊h⌋₎ + (h − ⌊h⌋)·(x₍⌊h⌋₊₁₎ − x₍⌊h⌋₎), counted from 0. `None` when the slice is empty, holds
/// NaN, or the probability is outside [0, 1]. Source: R. J. Hyndman and Y. Fan, *Sample Quantiles in Statistical
/// Packages*, The American Statistician 50, 1996.
#[must_use]
pub fn quantile(values: &[f64], probability: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_sorted(&sorted, probability)
}

/// [`quantile`] of numbers that are already in ascending order, as several quantiles of one slice need.
#[must_use]
pub fn quantile_sorted(sorted: &[f64], probability: f64) -> Option<f64> {
    let (first, last) = (sorted.first()?, sorted.last()?);
    // After `total_cmp`, NaN lies at one of the ends.
    if first.is_nan() || last.is_nan() || !(0.0..=1.0).contains(&probability) {
        return None;
    }
    let place = (sorted.len() - 1) as f64 * probability;
    let below = place.floor();
    let fraction = place - below;
    let low = *sorted.get(below as usize)?;
    let high = sorted.get(below as usize + 1).copied().unwrap_or(low);
    if fraction == 0.0 || low == high {
        return Some(low);
    }
    Some(low + fraction * (high - low))
}

/// Median: the quantile of ½. `None` as in [`quantile`].
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}
