//! In: standard normal deviates, probabilities, chi-square values of one degree of freedom.
//! Out: the matching probabilities and quantiles.
//! Always: tails keep their relative accuracy; nothing is computed as one minus a number near one.

use super::elementary::{exp, ln, polynomial};

#[cfg(test)]
mod tests;

/// Distribution function of the standard normal law, Φ(z).
///
/// Φ(z) = ½·erfc(−z/√2), by the series of erf below |z| = 1.25·√2 (DLMF 7.6.2) and the continued fraction of erfc
/// beyond (DLMF 7.9.1). The lower tail keeps its relative accuracy down to 1e-300.
#[must_use]
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * complementary_error(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// Quantile of the standard normal law: the z with Φ(z) = `probability`.
///
/// −∞ at 0, ∞ at 1, NaN outside [0, 1]. Source: M. J. Wichura, *Algorithm AS 241: The Percentage Points of the
/// Normal Distribution*, Applied Statistics 37, 1988, function PPND16.
#[must_use]
pub fn normal_quantile(probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    if probability == 0.0 {
        return f64::NEG_INFINITY;
    }
    if probability == 1.0 {
        return f64::INFINITY;
    }
    let centred = probability - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180_625 - centred * centred;
        return centred * polynomial(&CENTRE.0, r) / polynomial(&CENTRE.1, r);
    }
    let r = (-ln(probability.min(1.0 - probability))).sqrt();
    let (shift, tables) = if r <= 5.0 { (1.6, &MIDDLE) } else { (5.0, &TAIL) };
    let z = polynomial(&tables.0, r - shift) / polynomial(&tables.1, r - shift);
    if centred < 0.0 { -z } else { z }
}

/// P(χ²₁ ≥ `statistic`), the upper tail of the chi-square law with one degree of freedom.
///
/// Equals erfc(√(x/2)); 1 for x ≤ 0 (DLMF 8.11 with a = ½).
#[must_use]
pub fn chi_square_one_tail(statistic: f64) -> f64 {
    if statistic <= 0.0 { 1.0 } else { complementary_error((0.5 * statistic).sqrt()) }
}

/// The value that a χ²₁ variable stays below with the given probability: z² with z the quantile of (1+p)/2.
///
/// NaN outside [0, 1].
#[must_use]
pub fn chi_square_one_quantile(probability: f64) -> f64 {
    let z = normal_quantile(0.5 - 0.5 * probability);
    z * z
}

/// erfc(x) = 1 − erf(x).
fn complementary_error(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x < -1.25 {
        2.0 - error_fraction(-x)
    } else if x < 1.25 {
        1.0 - error_series(x)
    } else {
        error_fraction(x)
    }
}

/// erf(x) = 2/√π·exp(−x²)·Σ 2ⁿx^(2n+1)/(2n+1)!!, all terms of one sign; for |x| < 1.25.
fn error_series(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut odd = 1.0;
    while term.abs() > 1e-18 * sum.abs() {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * exp(-x * x) * sum
}

/// erfc(x) = exp(−x²)/√π · 1/(x + ½/(x + 1/(x + 1½/(x + …)))), from the inside out; for x ≥ 1.25, where 120
/// steps leave less than 1e-16.
fn error_fraction(x: f64) -> f64 {
    if x > 28.0 {
        return 0.0;
    }
    let mut fraction = x;
    for step in (1..=120_u32).rev() {
        fraction = x + 0.5 * f64::from(step) / fraction;
    }
    0.5 * std::f64::consts::FRAC_2_SQRT_PI * exp_of_negative_square(x) / fraction
}

/// exp(−x²) with the rounding error of x² put back: in the tail it would be multiplied by x².
fn exp_of_negative_square(x: f64) -> f64 {
    let high = f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000);
    let low = x - high;
    exp(-high * high) * exp(-low * (x + high))
}

/// Numerator and denominator of one range of AS 241.
type Rational = ([f64; 8], [f64; 8]);

const CENTRE: Rational = (
    [
        3.3871328727963665,
        133.14166789178438,
        1971.5909503065513,
        13731.69376550946,
        45921.95393154987,
        67265.7709270087,
        33430.57558358813,
        2509.0809287301227,
    ],
    [
        1.0,
        42.31333070160091,
        687.1870074920579,
        5394.196021424751,
        21213.794301586597,
        39307.89580009271,
        28729.085735721943,
        5226.495278852854,
    ],
);

const MIDDLE: Rational = (
    [
        1.4234371107496835,
        4.630337846156546,
        5.769497221460691,
        3.6478483247632045,
        1.2704582524523684,
        0.2417807251774506,
        0.022723844989269184,
        0.0007745450142783414,
    ],
    [
        1.0,
        2.053191626637759,
        1.6763848301838038,
        0.6897673349851,
        0.14810397642748008,
        0.015198666563616457,
        0.0005475938084995345,
        1.0507500716444169e-09,
    ],
);

const TAIL: Rational = (
    [
        6.657904643501103,
        5.463784911164114,
        1.7848265399172913,
        0.29656057182850487,
        0.026532189526576124,
        0.0012426609473880784,
        2.7115555687434876e-05,
        2.0103343992922881e-07,
    ],
    [
        1.0,
        0.599832206555888,
        0.1369298809227358,
        0.014875361290850615,
        0.0007868691311456133,
        1.8463183175100548e-05,
        1.421511758316446e-07,
        2.0442631033899397e-15,
    ],
);
