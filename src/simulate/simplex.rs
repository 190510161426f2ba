//! Minimum of a function of a few variables, without derivatives.

/// Nelder and Mead's simplex (*A Simplex Method for Function Minimization*, The Computer Journal 7, 1965) with their
/// coefficients 1, 2, ½, ½. Deterministic; stops after `evaluations`, or when the simplex agrees within 1e-7.
pub fn minimise(
    start: &[f64],
    step: f64,
    evaluations: usize,
    mut function: impl FnMut(&[f64]) -> f64,
) -> (Vec<f64>, f64) {
    let size = start.len();
    let mut corners: Vec<(Vec<f64>, f64)> = Vec::with_capacity(size + 1);
    corners.push((start.to_vec(), function(start)));
    for axis in 0..size {
        let mut corner = start.to_vec();
        corner[axis] += step;
        let value = function(&corner);
        corners.push((corner, value));
    }
    let mut used = size + 1;
    loop {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        if used >= evaluations || (corners[size].1 - corners[0].1).abs() < 1e-7 {
            return corners.swap_remove(0);
        }
        let centre: Vec<f64> = (0..size)
            .map(|axis| corners[..size].iter().map(|corner| corner.0[axis]).sum::<f64>() / size as f64)
            .collect();
        let along = |factor: f64, worst: &[f64]| -> Vec<f64> {
            centre.iter().zip(worst).map(|(middle, end)| middle + factor * (middle - end)).collect()
        };
        let mut replace = |corners: &mut Vec<(Vec<f64>, f64)>, factor: f64| {
            let point = along(factor, &corners[size].0);
            let value = function(&point);
            used += 1;
            (point, value)
        };
        let reflected = replace(&mut corners, 1.0);
        if reflected.1 < corners[0].1 {
            let expanded = replace(&mut corners, 2.0);
            corners[size] = if expanded.1 < reflected.1 { expanded } else { reflected };
        } else if reflected.1 < corners[size - 1].1 {
            corners[size] = reflected;
        } else {
            let inward = if reflected.1 < corners[size].1 { 0.5 } else { -0.5 };
            let contracted = replace(&mut corners, inward);
            if contracted.1 < corners[size].1.min(reflected.1) {
                corners[size] = contracted;
            } else {
                let best = corners[0].0.clone();
                for corner in corners.iter_mut().skip(1) {
                    for (value, target) in corner.0.iter_mut().zip(&best) {
                        *value = 0.5 * (*value + target);
                    }
                    corner.1 = function(&corner.0);
                }
                used += size;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_valley_of_rosenbrock_is_found() {
        let (place, value) =
            minimise(&[-1.2, 1.0], 0.5, 400, |p| (1.0 - p[0]).powi(2) + 100.0 * (p[1] - p[0] * p[0]).powi(2));
        assert!(value < 1e-6, "{place:?} {value}");
        assert!((place[0] - 1.0).abs() < 0.01 && (place[1] - 1.0).abs() < 0.01);
    }
}
