//! In: positive real arguments.
//! Out: the logarithm of the gamma function, of binomial coefficients, and Stirling's remainder.
//! Always: the relative error stays near 1e-15, also around the zeros of ln Γ at 1 and 2.

use super::elementary::{ln, ln_one_plus, polynomial};

#[cfg(test)]
mod tests;

/// ½·ln(2π).
const HALF_LN_TWO_PI: f64 = 0.9189385332046728;
/// 1 − γ (Euler's constant).
const ONE_MINUS_EULER: f64 = 0.42278433509846713;

/// (ζ(k) − 1)/k for k = 2 … 31.
const ZETA_MINUS_ONE_OVER_K: [f64; 30] = [
    0.3224670334241132,
    0.0673523010531981,
    0.020580808427784546,
    0.007385551028673986,
    0.0028905103307415234,
    0.001192753911703261,
    0.0005096695247430425,
    0.00022315475845357939,
    9.945751278180853e-05,
    4.492623673813314e-05,
    2.050721277567069e-05,
    9.439488275268397e-06,
    4.374866789907488e-06,
    2.039215753801366e-06,
    9.55141213040742e-07,
    4.492469198764566e-07,
    2.1207184805554665e-07,
    1.0043224823968099e-07,
    4.7698101693639804e-08,
    2.2711094608943164e-08,
    1.0838659214896955e-08,
    5.183475041970047e-09,
    2.4836745438024785e-09,
    1.1921401405860912e-09,
    5.731367241678862e-10,
    2.7595228851242334e-10,
    1.330476437424449e-10,
    6.4229645638381e-11,
    3.1044247747322276e-11,
    1.5021384080754142e-11,
];

/// B(2k)/(2k(2k−1)) for k = 1 … 8: the coefficients of Stirling's series in 1/x.
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];

/// ln Γ(x) for x > 0; ∞ at 0 and NaN below.
///
/// Around 2: ln Γ(2+z) = (1−γ)z + Σ (−1)^k (ζ(k)−1) z^k/k (DLMF 5.7.3), reached from [½, 10) by the
/// recurrence Γ(x+1) = xΓ(x); from 10 on Stirling's series (DLMF 5.11.1).
#[must_use]
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 || x == f64::INFINITY {
        return f64::INFINITY;
    }
    if x >= 10.0 {
        return (x - 0.5) * ln(x) - x + HALF_LN_TWO_PI + stirling_series(x);
    }
    if x < 0.5 {
        return ln_gamma_two_plus(x) - ln_one_plus(x) - ln(x);
    }
    if x < 1.5 {
        let z = x - 1.0;
        return ln_gamma_two_plus(z) - ln_one_plus(z);
    }
    let mut argument = x;
    let mut product = 1.0;
    while argument >= 2.5 {
        argument -= 1.0;
        product *= argument;
    }
    ln(product) + ln_gamma_two_plus(argument - 2.0)
}

/// ln C(n, k), the logarithm of the number of ways to choose k of n; −∞ when k > n.
///
/// Stirling's remainder instead of three large ln Γ, whose difference would cancel. Source: C. Loader, *Fast
/// and Accurate Computation of Binomial Probabilities*, 2000.
#[must_use]
pub fn ln_choose(n: u64, k: u64) -> f64 {
    if k > n {
        return f64::NEG_INFINITY;
    }
    let small = k.min(n - k);
    if small == 0 {
        return 0.0;
    }
    if small <= 30 {
        return ln_choose_by_product(n, small);
    }
    let (n, k) = (n as f64, small as f64);
    let rest = n - k;
    k * ln(n / k) - rest * ln_one_plus(-k / n) + 0.5 * ln(n / (k * rest)) - HALF_LN_TWO_PI
        + (stirling_remainder(n) - stirling_remainder(k) - stirling_remainder(rest))
}

/// ln Γ(x+1) − (x+½)·ln x + x − ½·ln(2π): what Stirling's formula leaves, for x > 0.
///
/// Source: Loader 2000, the function δ.
pub(super) fn stirling_remainder(x: f64) -> f64 {
    if x >= 10.0 { stirling_series(x) } else { ln_gamma(x + 1.0) - (x + 0.5) * ln(x) + x - HALF_LN_TWO_PI }
}

/// C(n, k) as a product of k factors, each step exact or rounded once.
fn ln_choose_by_product(n: u64, k: u64) -> f64 {
    let mut product = 1.0;
    let mut logarithm = 0.0;
    for step in 1..=k {
        product *= (n - k + step) as f64 / step as f64;
        if product > 1e280 {
            logarithm += ln(product);
            product = 1.0;
        }
    }
    logarithm + ln(product)
}

/// ln Γ(2+z) for −½ ≤ z ≤ ½.
fn ln_gamma_two_plus(z: f64) -> f64 {
    z * (ONE_MINUS_EULER + z * polynomial(&ZETA_MINUS_ONE_OVER_K_SIGNED, z))
}

/// The same coefficients with the alternating sign of the series.
const ZETA_MINUS_ONE_OVER_K_SIGNED: [f64; 30] = alternate(ZETA_MINUS_ONE_OVER_K);

const fn alternate(mut coefficients: [f64; 30]) -> [f64; 30] {
    let mut index = 1;
    while index < 30 {
        coefficients[index] = -coefficients[index];
        index += 2;
    }
    coefficients
}

/// Stirling's series Σ B(2k)/(2k(2k−1)x^(2k−1)) for x ≥ 10.
fn stirling_series(x: f64) -> f64 {
    polynomial(&STIRLING, 1.0 / (x * x)) / x
}
