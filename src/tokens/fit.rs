//! From counted features to a provider's tokens: a linear rule, fitted on what the provider reported.
//!
//! Ridge regression towards a prior, which is Bayesian linear regression with a normal prior (Hoerl and Kennard 1970;
//! Gelman et al., Bayesian Data Analysis, 14.8). The prior of a session is the fit of its model, the prior of a model the
//! fit over all, the prior of all the constants below.

/// Tokens of text, wire messages, tool calls (and tools): what a request is made of.
pub type Features = [f64; 3];

/// Coefficients: tokens per counted token, per message, per call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients(pub Features);

/// Without any report: a counted token is a token, a message costs 4 more (OpenAI's cookbook: 3 and the role), a call 8.
pub const UNFITTED: Coefficients = Coefficients([1.0, 4.0, 8.0]);

/// Standard deviations of the priors: how far a model may be from [`UNFITTED`], a session from its model.
pub const MODEL_SPREAD: Features = [0.2, 6.0, 15.0];
/// See [`MODEL_SPREAD`].
pub const SESSION_SPREAD: Features = [0.05, 2.0, 6.0];

/// A difference between two reported prompts, and the features between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Attempts it lies between (the same one twice: a whole request).
    pub between: (usize, usize),
    /// Net features.
    pub features: Features,
    /// Tokens that entered or left, by [`UNFITTED`]; scales its error.
    pub churn: f64,
    /// Reported difference, tokens.
    pub tokens: f64,
}

impl Coefficients {
    /// Tokens of some features.
    pub fn of(&self, features: &Features) -> f64 {
        self.0.iter().zip(features).map(|(c, f)| c * f).sum()
    }
}

/// Fits samples with a prior.
pub fn fit<'a>(samples: impl Iterator<Item = &'a Sample>, prior: Coefficients, spread: Features) -> Coefficients {
    let mut matrix = [[0.0; 3]; 3];
    let mut right = [0.0; 3];
    for j in 0..3 {
        let weight = 1.0 / (spread[j] * spread[j]);
        matrix[j][j] = weight;
        right[j] = weight * prior.0[j];
    }
    for sample in samples {
        let error = 0.05 * sample.churn + 8.0;
        // A sample that contradicts the prior wildly is a wrong report, not a fact about the tokenizer.
        let off = (sample.tokens - prior.of(&sample.features)).abs() / error;
        let weight = if off > 6.0 { 36.0 / (off * off) } else { 1.0 } / (error * error);
        for j in 0..3 {
            for (cell, feature) in matrix[j].iter_mut().zip(sample.features) {
                *cell += weight * sample.features[j] * feature;
            }
            right[j] += weight * sample.features[j] * sample.tokens;
        }
    }
    solve(matrix, right).map_or(prior, |c| Coefficients([c[0].max(0.2), c[1].max(0.0), c[2].max(0.0)]))
}

/// Gaussian elimination with pivoting of a 3 × 3 system.
fn solve(mut matrix: [[f64; 3]; 3], mut right: Features) -> Option<Features> {
    for column in 0..3 {
        let pivot = (column..3).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-12 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in 0..3 {
            if row != column {
                let factor = matrix[row][column] / matrix[column][column];
                let pivot_row = matrix[column];
                for (cell, above) in matrix[row].iter_mut().zip(pivot_row) {
                    *cell -= factor * above;
                }
                right[row] -= factor * right[column];
            }
        }
    }
    Some([right[0] / matrix[0][0], right[1] / matrix[1][1], right[2] / matrix[2][2]])
}

#[cfg(test)]
mod tests {
    use super::{Coefficients, MODEL_SPREAD, Sample, UNFITTED, fit};

    #[test]
    fn a_rule_is_found_again_and_one_wrong_report_does_not_move_it() {
        let truth = Coefficients([1.15, 7.0, 20.0]);
        let mut samples: Vec<Sample> = (1..60)
            .map(|i| {
                let features = [f64::from(i * 37 % 900), f64::from(i % 4), f64::from(i % 3)];
                Sample { between: (0, 0), features, churn: UNFITTED.of(&features), tokens: truth.of(&features) }
            })
            .collect();
        samples.push(Sample { between: (0, 0), features: [500.0, 1.0, 0.0], churn: 504.0, tokens: 9_000.0 });
        let found = fit(samples.iter(), UNFITTED, MODEL_SPREAD);
        assert!((found.0[0] - 1.15).abs() < 0.03, "{found:?}");
        assert_eq!(fit([].iter(), UNFITTED, MODEL_SPREAD), UNFITTED);
    }
}
