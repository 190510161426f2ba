//! In: the p-values of one family of tests.
//! Out: their q-values, in the same order.
//! Always: a smaller p-value never gets a larger q-value, and q ≥ p.

#[cfg(test)]
mod tests;

/// Benjamini-Hochberg q-values (adjusted p-values), in the order of the input.
///
/// q of the i-th smallest of m p-values is min over j ≥ i of p₍ⱼ₎·m/j, at most 1. `None` when a p-value is not in
/// [0, 1]. Source: Y. Benjamini and Y. Hochberg, *Controlling the False Discovery Rate*, JRSS B 57, 1995; equal to
/// R's `p.adjust(method = "BH")`.
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Option<Vec<f64>> {
    if p_values.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return None;
    }
    let count = p_values.len() as f64;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|left, right| p_values[*left].total_cmp(&p_values[*right]));
    let mut q_values = vec![1.0; p_values.len()];
    let mut least = 1.0_f64;
    for (rank, index) in order.into_iter().enumerate().rev() {
        least = least.min(p_values[index] * count / (rank as f64 + 1.0));
        q_values[index] = least;
    }
    Some(q_values)
}
