//! The best estimate of a prompt with its 90 % interval.
//!
//! Widths are the 90 % quantiles of the residuals of hidden successes on recorded logs of both adapters. They hold where they
//! were not made: `tests/token_intervals.rs` judges each session, and each recording, by the widths that the others ask for,
//! and fails when the constants below are narrower than that, more than a tenth wider, or when half of them would do.

use super::evidence::{Anchor, Evidence};
use super::fit::Coefficients;
use crate::session::{TokenEstimate, TokenMethod};

/// Width of an anchored estimate: `FLOOR + sqrt(grain² · churn + (scale · churn)²)` for a churn of so many tokens that
/// changed. Errors of single messages are independent (the grain), an error of the rule is common to all (the scale).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Width {
    grain: f64,
    scale: f64,
}

/// Reports on both sides, nothing left the surface.
const BETWEEN: Width = Width { grain: 1.75, scale: 0.04 };
/// A report on one side alone.
const ONE_SIDED: Width = Width { grain: 1.85, scale: 0.04 };
/// Something left the surface in between.
const ACROSS: Width = Width { grain: 1.85, scale: 0.02 };
/// Added to every half width, tokens: messages have frames that no tokenizer sees.
const FLOOR: f64 = 2.0;
/// Relative half width of a counted estimate with a fit of its model.
const COUNTED_MODEL: f64 = 0.05;
/// The same without any fit: tokenizers differ by up to a third. Assumed: the recordings have one tokenizer.
const COUNTED_UNFITTED: f64 = 0.30;

/// An estimate before rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Raw {
    /// Tokens.
    pub value: f64,
    /// Tokens to either side.
    pub half: f64,
    /// Method.
    pub method: TokenMethod,
    /// Situation: which constant made the width.
    pub situation: &'static str,
}

impl Raw {
    /// Rounded; the lower end is never below 1.
    pub fn rounded(self) -> TokenEstimate {
        let value = self.value.max(1.0);
        TokenEstimate {
            value: value.round() as u64,
            low: (value - self.half).floor().max(1.0) as u64,
            high: (value + self.half).ceil() as u64,
            method: self.method,
        }
    }
}

/// A prompt that was reported, for this attempt or an identical one.
pub fn reported(tokens: u64) -> TokenEstimate {
    TokenEstimate { value: tokens, low: tokens, high: tokens, method: TokenMethod::Reported }
}

/// From the reports before and after. `prompt`: the trusted report of an attempt.
pub fn anchored(evidence: &Evidence, prompt: impl Fn(usize) -> Option<u64>, coefficients: Coefficients) -> Option<Raw> {
    let side = |anchor: Option<Anchor>, sign: f64| {
        let anchor = anchor?;
        let value = prompt(anchor.attempt)? as f64 + sign * coefficients.of(&anchor.change);
        Some((value, anchor.churn, anchor.shrunk))
    };
    let (before, after) = (side(evidence.before, 1.0), side(evidence.after, -1.0));
    let raw = |value: f64, churn: f64, width: Width, situation| Raw {
        value,
        half: FLOOR + (width.grain * width.grain * churn + (width.scale * churn).powi(2)).sqrt(),
        method: TokenMethod::Anchored,
        situation,
    };
    Some(match (before, after) {
        // Weights of 1 / churn interpolate: an error of the rule's scale cancels.
        (Some((b, churn_b, false)), Some((a, churn_a, false))) => {
            let (weight_b, weight_a) = (1.0 / (churn_b + 1.0), 1.0 / (churn_a + 1.0));
            let value = (b * weight_b + a * weight_a) / (weight_b + weight_a);
            raw(value, 1.0 / (weight_b + weight_a), BETWEEN, "reports on both sides")
        }
        // Over a compaction nothing interpolates: the side with less change is taken.
        (Some(b), Some(a)) => {
            let (value, churn, shrunk) = if b.1 <= a.1 { b } else { a };
            let (width, situation) = if shrunk { (ACROSS, "across a compaction") } else { (ONE_SIDED, "one report") };
            raw(value, churn, width, situation)
        }
        (Some((value, churn, shrunk)), None) | (None, Some((value, churn, shrunk))) => {
            let (width, situation) = if shrunk { (ACROSS, "across a compaction") } else { (ONE_SIDED, "one report") };
            raw(value, churn, width, situation)
        }
        (None, None) => return None,
    })
}

/// From the text alone.
pub fn counted(evidence: &Evidence, coefficients: Coefficients, fitted: bool) -> Option<Raw> {
    let value = coefficients.of(&evidence.whole?) + evidence.image_tokens as f64;
    let (share, situation) = if fitted { (COUNTED_MODEL, "fit of the model") } else { (COUNTED_UNFITTED, "no report") };
    Some(Raw { value, half: share * value + FLOOR, method: TokenMethod::Counted, situation })
}

/// From the bytes of the body alone: where reports turned out to be wrong after the texts were gone.
pub fn from_bytes(body_bytes: u64, tokens_per_byte: f64) -> Raw {
    let value = body_bytes as f64 * tokens_per_byte;
    Raw { value, half: COUNTED_UNFITTED * value + FLOOR, method: TokenMethod::Counted, situation: "bytes alone" }
}
