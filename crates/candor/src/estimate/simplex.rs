//! From an unbiased estimate to a proper distribution. Neither of these is unbiased.

/// The closest distribution in Euclidean distance: subtract a constant and cut off below zero
/// (sort and threshold). Cost: one sort.
pub fn project(shares: &[f64]) -> Vec<f64> {
    let mut sorted = shares.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut constant) = (0.0, 0.0);
    for (kept, share) in sorted.iter().enumerate() {
        sum += share;
        let candidate = (sum - 1.0) / (kept + 1) as f64;
        if share - candidate > 0.0 {
            constant = candidate;
        }
    }
    shares.iter().map(|share| (share - constant).max(0.0)).collect()
}

/// Cut off below zero and divide by what remains: common in the literature, and not the closest
/// distribution (paper 004, section 6.4, says so; errata). All zero if nothing is positive.
pub fn clip(shares: &[f64]) -> Vec<f64> {
    let sum: f64 = shares.iter().map(|share| share.max(0.0)).sum();
    let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
    shares.iter().map(|share| share.max(0.0) * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6)
    }

    #[test]
    fn golden_projections() {
        let v = [0.7, 0.5, -0.2];
        assert!(close(&project(&v), &[0.6, 0.4, 0.0]));
        assert!(close(&clip(&v), &[0.583_333, 0.416_667, 0.0]));
        let infeasible = [1.078_947, 0.026_316, -0.105_263];
        assert!(close(&project(&infeasible), &[1.0, 0.0, 0.0]));
        assert!(close(&clip(&infeasible), &[0.976_190, 0.023_810, 0.0]));
        assert!(close(&project(&[0.25; 4]), &[0.25; 4]));
        assert_eq!(clip(&[-1.0, -2.0]), [0.0, 0.0]);
    }

    #[test]
    fn projections_are_distributions_and_closest() {
        let v: Vec<f64> = (0..40).map(|i| f64::from(i * 37 % 23) / 90.0 - 0.08).collect();
        let distance = |w: &[f64]| w.iter().zip(&v).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let (projected, clipped) = (project(&v), clip(&v));
        for w in [&projected, &clipped] {
            assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12 && w.iter().all(|x| *x >= 0.0));
        }
        assert!(distance(&projected) <= distance(&clipped));
    }
}
