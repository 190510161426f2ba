//! In: an increasing function with its slope, and a bracket.
//! Out: where it crosses zero.
//! Always: ends after a bounded number of steps, inside the bracket.

/// More steps than bisection needs to exhaust an `f64` bracket of width 2,000.
const MOST_STEPS: usize = 200;

/// Zero of an increasing function inside `[lower, upper]`, by Newton's method kept inside a shrinking bracket.
///
/// `function` returns value and slope; it may return ±∞ or NaN slopes, where the step falls back to bisection.
/// Source: the safeguarded scheme of *Numerical Recipes*, 3rd ed., §9.4.
pub(super) fn increasing_root(mut lower: f64, mut upper: f64, start: f64, function: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = start.clamp(lower, upper);
    let mut previous = f64::INFINITY;
    for _ in 0..MOST_STEPS {
        let (value, slope) = function(x);
        if value == 0.0 {
            return x;
        }
        if value < 0.0 {
            lower = x;
        } else {
            upper = x;
        }
        let newton = x - value / slope;
        let inside = newton > lower && newton < upper;
        let shrinking = value.abs() <= 0.5 * previous;
        let next = if inside && shrinking { newton } else { 0.5 * (lower + upper) };
        previous = value.abs();
        if inside && (newton - x).abs() <= 2e-16 * x.abs() {
            return newton;
        }
        if next <= lower || next >= upper {
            return x;
        }
        x = next;
    }
    x
}
