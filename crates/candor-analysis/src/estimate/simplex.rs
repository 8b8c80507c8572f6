//! Converts an unbiased estimate to a proper distribution, which introduces bias.

use candor_base::shape::Shape;

use super::fitting::Axis;

/// Returns the closest distribution in Euclidean distance: subtracts a constant and clips at zero, at the cost of
/// a sort.
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

/// Clips shares at zero and rescales them; all are zero if none is positive.
///
/// This is common in the literature. It is not the closest distribution, contrary to Domingo-Ferrer and Soria-Comas
/// 2020, section 6.4 (docs/project/errata.md).
pub fn clip(shares: &[f64]) -> Vec<f64> {
    let sum: f64 = shares.iter().map(|share| share.max(0.0)).sum();
    let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
    shares.iter().map(|share| share.max(0.0) * scale).collect()
}

/// Fraction of the independent table that is mixed in, so that every category can reach its target share.
const MIXED_IN: f64 = 1e-3;

/// Tolerance of one-way shares at which fitting ends.
const CLOSE: f64 = 1e-6;

/// Maximum number of steps over cells; small tables, which may need many sweeps, are fitted to the tolerance.
const STEPS: usize = 1 << 30;

/// Returns a distribution fitted to one-way shares by iterative proportional fitting.
///
/// A thousandth of the independent table is mixed in. One-way shares agree to 1e-6, or with millions of cells as
/// closely as about thirty sweeps can.
pub(crate) fn fitted(shares: &[f64], shape: &Shape, margins: &[Vec<f64>]) -> Vec<f64> {
    let axes = margins.len();
    let independent = |cell: usize| (0..axes).map(|axis| margins[axis][shape.code(cell, axis)]).product::<f64>();
    let mix = |(cell, share): (usize, &f64)| (1.0 - MIXED_IN) * share + MIXED_IN * independent(cell);
    let mut table: Vec<f64> = shares.iter().enumerate().map(mix).collect();
    let sweeps = (STEPS / (table.len() * axes)).clamp(30, 10_000);
    let axis = |(axis, wanted): (usize, &Vec<f64>)| Axis::new(wanted.clone(), shape.stride(axis));
    let mut axes: Vec<Axis> = margins.iter().enumerate().map(axis).collect();
    for _ in 0..sweeps {
        let close = |axis: &mut Axis| {
            axis.sum(&table);
            axis.error() <= CLOSE
        };
        if axes.iter_mut().all(close) {
            break;
        }
        for axis in &mut axes {
            axis.sum(&table);
            axis.find_factors();
            axis.scale(&mut table);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over a thousand cells, of which noise leaves few; the remaining ones must still match every one-way share.
    #[test]
    fn sparse_tables_are_fitted_to_the_end() {
        let shape = Shape::new(vec![5, 4, 6, 5, 2]);
        let mut state = 1u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let raw: Vec<f64> =
            (0..1200).map(|cell| [0.6, 0.2, 0.1, 0.06, 0.04][cell / 240] / 240.0 + 0.02 * noise()).collect();
        let total: f64 = raw.iter().sum();
        let raw: Vec<f64> = raw.iter().map(|share| share + (1.0 - total) / 1200.0).collect();
        let wanted: Vec<Vec<f64>> = (0..5).map(|axis| project(&shape.margin(&raw, axis))).collect();
        let projected = project(&raw);
        assert!(projected.iter().filter(|share| **share == 0.0).count() > 600);
        let table = fitted(&projected, &shape, &wanted);
        for (axis, wanted) in wanted.iter().enumerate() {
            assert!(close(&shape.margin(&table, axis), wanted), "{axis}");
        }
    }

    #[test]
    fn fitted_tables_have_the_margins_asked_for() {
        // Many cells, mostly noise: projection changes the one-way shares, and fitting restores them.
        let noise = |cell: usize| if cell.is_multiple_of(2) { 0.05 } else { -0.05 };
        let truth = [0.5, 0.3, 0.2];
        let raw: Vec<f64> = (0..60).map(|cell| truth[cell / 20] / 20.0 + noise(cell)).collect();
        let shape = Shape::new(vec![3, 20]);
        let one_way = [shape.margin(&raw, 0), project(&shape.margin(&raw, 1))];
        let projected = project(&raw);
        let moved = shape.margin(&projected, 0).iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved > 0.05, "{moved}");
        let table = fitted(&projected, &shape, &one_way);
        assert!((table.iter().sum::<f64>() - 1.0).abs() < 1e-12 && table.iter().all(|share| *share >= 0.0));
        for (axis, wanted) in one_way.iter().enumerate() {
            assert!(close(&shape.margin(&table, axis), wanted), "{axis}");
        }
    }

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
