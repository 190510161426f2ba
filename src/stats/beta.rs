//! In: shapes a, b > 0 and a point or a probability in [0, 1].
//! Out: the regularised incomplete beta function and its inverse.
//! Always: the smaller of the two tails is the one computed, so it keeps its relative accuracy.

use super::elementary::{exp, ln};
use super::gamma::stirling_remainder;
use super::root::increasing_root;

#[cfg(test)]
mod tests;

/// The continued fraction needs some √max(a, b) steps; this is enough for shapes of 1e8.
const MOST_STEPS: u32 = 100_000;
/// ln of the smallest positive `f64`.
const LN_SMALLEST: f64 = -745.0;

/// Distribution function of the beta law, Iₓ(a, b); `None` unless a, b > 0 are finite and x lies in [0, 1].
///
/// Continued fraction of DiDonato and Morris (the even part of DLMF 8.17.22), with Loader's form of xᵃ(1−x)ᵇ/B(a, b).
#[must_use]
pub fn beta_cdf(x: f64, a: f64, b: f64) -> Option<f64> {
    (valid(a, b) && (0.0..=1.0).contains(&x)).then(|| lower_tail(x, 1.0 - x, a, b))
}

/// Quantile of the beta law: the x with Iₓ(a, b) = `probability`; `None` as in [`beta_cdf`].
///
/// Newton's method on the logarithm of the smaller tail against ln x, or against ln(1 − x) where that is small.
#[must_use]
pub fn beta_quantile(probability: f64, a: f64, b: f64) -> Option<f64> {
    if !valid(a, b) || !(0.0..=1.0).contains(&probability) {
        return None;
    }
    Some(quantile_and_rest(probability, 1.0 - probability, a, b).0)
}

/// The quantile x and 1 − x, when both tail probabilities are known: neither is lost by subtraction from one.
pub(super) fn quantile_and_rest(lower: f64, upper: f64, a: f64, b: f64) -> (f64, f64) {
    if lower <= 0.0 {
        return (0.0, 1.0);
    }
    if upper <= 0.0 {
        return (1.0, 0.0);
    }
    if b < a {
        let (rest, x) = quantile_and_rest(upper, lower, b, a);
        return (x, rest);
    }
    // From here on the mean lies at or below ½; x is solved for where it is small, and 1 − x where that is.
    if lower <= lower_tail(a / (a + b), b / (a + b), a, b) {
        let x = below_mean(lower, a, b);
        (x, 1.0 - x)
    } else if upper >= lower_tail(0.5, 0.5, b, a) {
        let x = above_mean(upper, a, b);
        (x, 1.0 - x)
    } else {
        let rest = below_mean(upper, b, a);
        (1.0 - rest, rest)
    }
}

/// The quantile where it lies below the mean, from its lower tail.
fn below_mean(lower: f64, a: f64, b: f64) -> f64 {
    let target = ln(lower);
    let ln_mean = ln(a / (a + b));
    let root = increasing_root(LN_SMALLEST, ln_mean, ln_mean, |ln_x| {
        let x = exp(ln_x);
        let tail = lower_tail(x, 1.0 - x, a, b);
        (ln(tail) - target, slope(x, a, b) / tail)
    });
    exp(root)
}

/// The quantile where it lies above the mean, from its upper tail.
fn above_mean(upper: f64, a: f64, b: f64) -> f64 {
    let target = ln(upper);
    let ln_mean = ln(a / (a + b));
    let root = increasing_root(ln_mean, 0.0, ln_mean, |ln_x| {
        let x = exp(ln_x);
        let tail = lower_tail(1.0 - x, x, b, a);
        (target - ln(tail), slope(x, a, b) / tail)
    });
    exp(root)
}

/// dIₓ(a, b)/d ln x.
fn slope(x: f64, a: f64, b: f64) -> f64 {
    prefix(x, 1.0 - x, a, b) / (1.0 - x)
}

fn valid(a: f64, b: f64) -> bool {
    a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite()
}

/// Iₓ(a, b) with y = 1 − x given apart.
fn lower_tail(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let prefix = prefix(x, y, a, b);
    if a * y >= b * x { prefix / fraction(x, y, a, b) } else { 1.0 - prefix / fraction(y, x, b, a) }
}

/// xᵃ·yᵇ/B(a, b) = √(ab/(2π(a+b)))·exp(δ(a+b) − δ(a) − δ(b) − D(a, (a+b)x) − D(b, (a+b)y)).
///
/// Source: C. Loader, *Fast and Accurate Computation of Binomial Probabilities*, 2000.
fn prefix(x: f64, y: f64, a: f64, b: f64) -> f64 {
    let sum = a + b;
    let remainder = stirling_remainder(sum) - stirling_remainder(a) - stirling_remainder(b);
    // a − (a+b)x, written so that it does not cancel, is also (a+b)y − b: the linear terms drop out exactly.
    let difference = a * y - b * x;
    let deviance = half_deviance(a, sum * x, difference) + half_deviance(b, sum * y, -difference);
    (a / sum * b / std::f64::consts::TAU).sqrt() * exp(remainder - deviance)
}

/// D(x, m) = x·ln(x/m) + m − x, by its series where x and m are close (Loader's `bd0`); `difference` is x − m.
fn half_deviance(x: f64, mean: f64, difference: f64) -> f64 {
    if difference.abs() >= 0.1 * (x + mean) {
        return x * ln(x / mean) - difference;
    }
    let v = difference / (x + mean);
    let mut sum = difference * v;
    let mut power = 2.0 * x * v;
    let mut odd = 1.0;
    // |v| < 0.1, so that each term is a hundredth of the one before: 20 are more than enough.
    for _ in 0..20 {
        power *= v * v;
        odd += 2.0;
        sum += power / odd;
    }
    sum
}

/// The continued fraction of xᵃyᵇ/(B(a, b)·Iₓ(a, b)), by the modified Lentz method; for x up to the mean.
///
/// The even part of DLMF 8.17.22, where a − (a+b)x appears as ay − bx and does not cancel. Source: A. R. DiDonato and
/// A. H. Morris, *Algorithm 708: Significant Digit Computation of the Incomplete Beta Function Ratios*, ACM TOMS
/// 18, 1992, equation 9.
fn fraction(x: f64, y: f64, a: f64, b: f64) -> f64 {
    let difference = a * y - b * x;
    let mut value = nonzero(a * (difference + 1.0) / (a + 1.0));
    let mut c = value;
    let mut d = 0.0;
    for step in 1..=MOST_STEPS {
        let m = f64::from(step);
        let before = a + 2.0 * m - 1.0;
        let numerator = (a + m - 1.0) / before * ((a + b + m - 1.0) / before) * (m * (b - m) * x * x);
        let denominator = m + m * (b - m) * x / before + (a + m) * (difference + 1.0 + m * (1.0 + y)) / (before + 2.0);
        d = 1.0 / nonzero(denominator + numerator * d);
        c = nonzero(denominator + numerator / c);
        let change = c * d;
        value *= change;
        if (change - 1.0).abs() < 2e-16 {
            break;
        }
    }
    value
}

/// Keeps Lentz's method from dividing by zero.
fn nonzero(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}
