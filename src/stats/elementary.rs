//! In: finite or special `f64` values.
//! Out: natural logarithm and exponential, with their forms for small arguments.
//! Always: built from `+ - * /` alone, so the bits do not depend on the platform's libm, as `f64::ln` does.

#[cfg(test)]
mod tests;

/// High part of ln 2: its last 20 bits are zero, so `k * LN_2_HIGH` is exact for every binary exponent `k`.
const LN_2_HIGH: f64 = 0.6931471803691238;
/// ln 2 − `LN_2_HIGH`.
const LN_2_LOW: f64 = 1.9082149292705877e-10;
/// 2^54, which lifts a subnormal number into the normal range.
const LIFT: f64 = 18_014_398_509_481_984.0;

/// 1/k! for k = 2 … 14.
const INVERSE_FACTORIALS_FROM_2: [f64; 13] = [
    0.5,
    0.16666666666666666,
    0.041666666666666664,
    0.008333333333333333,
    0.001388888888888889,
    0.0001984126984126984,
    2.48015873015873e-05,
    2.7557319223985893e-06,
    2.755731922398589e-07,
    2.505210838544172e-08,
    2.08767569878681e-09,
    1.6059043836821613e-10,
    1.1470745597729725e-11,
];

/// 2/(2k+1) for k = 1 … 12: the series of 2·artanh(s)/s − 2 in s².
const TWICE_INVERSE_ODD_FROM_3: [f64; 12] = [
    0.6666666666666666,
    0.4,
    0.2857142857142857,
    0.2222222222222222,
    0.18181818181818182,
    0.15384615384615385,
    0.13333333333333333,
    0.11764705882352941,
    0.10526315789473684,
    0.09523809523809523,
    0.08695652173913043,
    0.08,
];

/// Evaluates `coefficients[0] + coefficients[1]·x + …` by Horner's rule.
pub(super) fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// Natural logarithm; −∞ at 0 and NaN below.
///
/// x = 2^k·m with m in [√½, √2); ln m = 2·artanh((m−1)/(m+1)). Source: W. J. Cody and W. Waite, *Software
/// Manual for the Elementary Functions*, 1980, ch. 5. Relative error below 3e-16.
#[must_use]
pub fn ln(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x == f64::INFINITY {
        return x;
    }
    let (mantissa, exponent) = split(x);
    let small = ln_near_one(mantissa - 1.0);
    if exponent == 0 {
        return small;
    }
    let k = f64::from(exponent);
    k * LN_2_HIGH + (small + k * LN_2_LOW)
}

/// ln(1 + x), accurate for small x; −∞ at −1 and NaN below.
///
/// Source and method as [`ln`].
#[must_use]
pub fn ln_one_plus(x: f64) -> f64 {
    if (-0.29..0.41).contains(&x) { ln_near_one(x) } else { ln(1.0 + x) }
}

/// Exponential; 0 below −745.2 and ∞ above 709.8.
///
/// x = k·ln 2 + r with |r| ≤ ½·ln 2; Taylor series in r. Source: Cody and Waite 1980, ch. 6. Relative error
/// below 3e-16 for normal results.
#[must_use]
pub fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > 709.79 {
        return f64::INFINITY;
    }
    if x < -745.2 {
        return 0.0;
    }
    let k = (x / std::f64::consts::LN_2).round();
    let high = x - k * LN_2_HIGH;
    let low = k * LN_2_LOW;
    let r = high - low;
    let value = 1.0 + (high + (r * r * polynomial(&INVERSE_FACTORIALS_FROM_2, r) - low));
    scale(value, k as i32)
}

/// exp(x) − 1, accurate for small x. Source and method as [`exp`].
#[must_use]
pub fn exp_minus_one(x: f64) -> f64 {
    if x.abs() < 0.34 { x + x * x * polynomial(&INVERSE_FACTORIALS_FROM_2, x) } else { exp(x) - 1.0 }
}

/// ln(1 + f) for f in [√½ − 1, √2 − 1], without loss for small f.
fn ln_near_one(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let rest = z * polynomial(&TWICE_INVERSE_ODD_FROM_3, z);
    let half_square = 0.5 * f * f;
    f - (half_square - s * (half_square + rest))
}

/// Splits a positive finite x into a mantissa in [√½, √2) and a binary exponent.
fn split(x: f64) -> (f64, i32) {
    let (normal, lifted) = if x < f64::MIN_POSITIVE { (x * LIFT, -54) } else { (x, 0) };
    let bits = normal.to_bits();
    let exponent = ((bits >> 52) as i32) - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa >= std::f64::consts::SQRT_2 {
        (0.5 * mantissa, exponent + lifted + 1)
    } else {
        (mantissa, exponent + lifted)
    }
}

/// value·2^k in two exact steps, so that results near both ends of the range are reached.
fn scale(value: f64, k: i32) -> f64 {
    let half = k / 2;
    value * power_of_two(half) * power_of_two(k - half)
}

/// 2^k for |k| ≤ 1022.
fn power_of_two(k: i32) -> f64 {
    f64::from_bits(((k + 1023) as u64) << 52)
}
