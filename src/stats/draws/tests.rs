//! Moments are checked against their formulas within five standard errors of 20,000 draws; distribution functions by
//! the Kolmogorov-Smirnov distance, whose 0.1 % point is 1.95/√n (Smirnov 1948).

use super::{BetaDraw, ExponentialDraw, GammaDraw};
use crate::stats::closeness::assert_close;
use crate::stats::{SeededRng, beta_cdf, exp};

const DRAWS: usize = 20_000;

fn sample(seed: u64, mut draw: impl FnMut(&mut SeededRng) -> f64) -> Vec<f64> {
    let mut rng = SeededRng::new(seed);
    (0..DRAWS).map(|_| draw(&mut rng)).collect()
}

/// Greatest distance between the empirical and the given distribution function.
fn distance(mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    let mut greatest = 0.0_f64;
    for (rank, draw) in draws.iter().enumerate() {
        let below = rank as f64 / count;
        let expected = cdf(*draw);
        greatest = greatest.max((expected - below).abs()).max((expected - below - 1.0 / count).abs());
    }
    greatest * count.sqrt()
}

/// First word of seed 42: −3·ln u with mpmath 1.4 at 40 digits.
#[test]
fn an_exponential_draw_is_minus_mean_times_ln_u() {
    let law = ExponentialDraw::with_mean(3.0).unwrap();
    assert_close(law.draw(&mut SeededRng::new(42)), 3.1644655049014174, 1e-15);
    let draws = sample(1, |rng| law.draw(rng));
    assert!(distance(draws, |x| 1.0 - exp(-x / 3.0)) < 1.95);
}

#[test]
fn gamma_draws_have_the_moments_of_their_law() {
    for (seed, shape) in [(2, 0.4), (3, 1.0), (4, 2.5), (5, 60.0)] {
        let law = GammaDraw::new(shape, 2.0).unwrap();
        let draws = sample(seed, |rng| law.draw(rng));
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        let error = 2.0 * (shape / DRAWS as f64).sqrt();
        assert!((mean - 2.0 * shape).abs() < 5.0 * error, "shape {shape}: mean {mean}");
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / DRAWS as f64;
        // The variance of a sample variance is (μ₄ − σ⁴)/n = σ⁴(2 + 6/shape)/n.
        let relative = ((2.0 + 6.0 / shape) / DRAWS as f64).sqrt();
        let expected = 4.0 * shape;
        assert!((variance / expected - 1.0).abs() < 5.0 * relative, "shape {shape}: variance {variance}");
    }
}

/// A gamma law of shape 1 is exponential, one of shape 2 has F(x) = 1 − (1 + x)e⁻ˣ.
#[test]
fn gamma_draws_follow_their_closed_forms() {
    let one = GammaDraw::new(1.0, 1.0).unwrap();
    assert!(distance(sample(6, |rng| one.draw(rng)), |x| 1.0 - exp(-x)) < 1.95);
    let two = GammaDraw::new(2.0, 1.0).unwrap();
    assert!(distance(sample(7, |rng| two.draw(rng)), |x| 1.0 - (1.0 + x) * exp(-x)) < 1.95);
}

#[test]
fn beta_draws_follow_the_incomplete_beta_function() {
    for (seed, a, b) in [(8, 0.5, 0.5), (9, 2.0, 5.0), (10, 30.0, 1.0), (11, 0.05, 3.0)] {
        let law = BetaDraw::new(a, b).unwrap();
        let draws = sample(seed, |rng| law.draw(rng));
        assert!(distance(draws, |x| beta_cdf(x, a, b).unwrap()) < 1.95, "{a} {b}");
    }
}

#[test]
fn tiny_shapes_stay_in_the_unit_interval() {
    let law = BetaDraw::new(1e-5, 1e-5).unwrap();
    let draws = sample(12, |rng| law.draw(rng));
    assert!(draws.iter().all(|x| (0.0..=1.0).contains(x)));
    let ones = draws.iter().filter(|x| **x > 0.5).count();
    assert!(ones.abs_diff(DRAWS / 2) < 354, "five standard deviations: {ones}");
}

#[test]
fn invalid_parameters_give_no_law() {
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(ExponentialDraw::with_mean(wrong), None);
        assert_eq!(GammaDraw::new(wrong, 1.0), None);
        assert_eq!(GammaDraw::new(1.0, wrong), None);
        assert_eq!(BetaDraw::new(wrong, 1.0), None);
        assert_eq!(BetaDraw::new(1.0, wrong), None);
    }
}
