//! In: a computed and a reference value.
//! Out: nothing, or a failed test that shows both.
//! Always: the tolerance is relative; a reference of 0 or ∞ must be met exactly.

/// Fails unless `actual` lies within `tolerance`, relative, of `expected`.
#[track_caller]
pub(super) fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    let close = actual == expected || (actual - expected).abs() <= tolerance * expected.abs();
    assert!(close, "{actual:e} is not within {tolerance:e} of {expected:e}");
}
