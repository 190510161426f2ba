//! In: a seeded generator and the parameters of a law.
//! Out: exponential, gamma and beta draws.
//! Always: parameters are checked once, when the law is made; a draw cannot fail.

use super::elementary::{exp, ln};
use super::random::SeededRng;

#[cfg(test)]
mod tests;

/// Exponential law with a given mean, in the unit of the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExponentialDraw {
    mean: f64,
}

impl ExponentialDraw {
    /// `None` unless the mean is positive and finite.
    #[must_use]
    pub fn with_mean(mean: f64) -> Option<Self> {
        positive(mean).then_some(Self { mean })
    }

    /// One draw, by inversion: −mean·ln U, always from one uniform.
    pub fn draw(&self, rng: &mut SeededRng) -> f64 {
        -self.mean * ln(rng.uniform_open())
    }
}

/// Gamma law with shape and scale; its mean is shape·scale, in the unit of the scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GammaDraw {
    shape: f64,
    scale: f64,
}

impl GammaDraw {
    /// `None` unless both are positive and finite.
    #[must_use]
    pub fn new(shape: f64, scale: f64) -> Option<Self> {
        (positive(shape) && positive(scale)).then_some(Self { shape, scale })
    }

    /// One draw. Source: G. Marsaglia and W. W. Tsang, *A Simple Method for Generating Gamma Variables*, ACM TOMS
    /// 26, 2000.
    pub fn draw(&self, rng: &mut SeededRng) -> f64 {
        self.scale * exp(ln_unit_gamma(self.shape, rng))
    }
}

/// Beta law with shapes a and b; its mean is a/(a + b).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetaDraw {
    a: f64,
    b: f64,
}

impl BetaDraw {
    /// `None` unless both are positive and finite.
    #[must_use]
    pub fn new(a: f64, b: f64) -> Option<Self> {
        (positive(a) && positive(b)).then_some(Self { a, b })
    }

    /// One draw: G(a)/(G(a) + G(b)) of two gamma draws, on the log scale so that small shapes do not give 0/0.
    pub fn draw(&self, rng: &mut SeededRng) -> f64 {
        let first = ln_unit_gamma(self.a, rng);
        let second = ln_unit_gamma(self.b, rng);
        1.0 / (1.0 + exp(second - first))
    }
}

fn positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

/// Logarithm of a gamma draw of scale 1. Below shape 1: G(shape) = G(shape + 1)·U^(1/shape).
fn ln_unit_gamma(shape: f64, rng: &mut SeededRng) -> f64 {
    if shape >= 1.0 {
        return ln_large_gamma(shape, rng);
    }
    let boost = ln(rng.uniform_open()) / shape;
    ln_large_gamma(shape + 1.0, rng) + boost
}

/// Marsaglia and Tsang's rejection for shape ≥ 1: d·(1 + c·Z)³ with d = shape − ⅓ and c = 1/√(9d).
fn ln_large_gamma(shape: f64, rng: &mut SeededRng) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let z = rng.standard_normal();
        let root = 1.0 + c * z;
        let ln_u = ln(rng.uniform_open());
        if root <= 0.0 {
            continue;
        }
        let ln_cube = 3.0 * ln(root);
        let cube = root * root * root;
        if ln_u < 0.5 * z * z + d * (1.0 - cube + ln_cube) {
            return ln(d) + ln_cube;
        }
    }
}
