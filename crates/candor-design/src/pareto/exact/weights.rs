//! Converts weights of posteriors to a channel with the exact prior and privacy, up to the last digit.

use nalgebra::{DMatrix, DVector};

use super::super::FrontProblem;
use super::super::channel::FrontChannel;
use super::sparse;

/// Probability below which answers are dropped; smaller if answers may carry only little information.
const RARE: f64 = 1e-8;

/// Weight, relative to the largest, below which weights count as rounding errors.
const NEGLIGIBLE: f64 = 1e-10;

/// Returns the channel of the weights, with as few outputs as its information needs.
pub(super) fn assemble(goal: &FrontProblem, posteriors: &[(Vec<f64>, f64)], weights: &[f64], aim: f64) -> FrontChannel {
    let heaviest = weights.iter().copied().fold(0.0, f64::max);
    let kept: Vec<usize> = (0..posteriors.len()).filter(|&a| weights[a] > NEGLIGIBLE * heaviest.max(1e-3)).collect();
    let roots: Vec<f64> = goal.prior().shares().iter().map(|p| p.sqrt()).collect();
    let scaled: Vec<(Vec<f64>, f64)> = kept
        .iter()
        .map(|&a| (posteriors[a].0.iter().zip(&roots).map(|(p, root)| p / root).collect(), posteriors[a].1))
        .collect();
    let kept_weights: Vec<f64> = kept.iter().map(|&a| weights[a]).collect();
    let few = sparse::sparse(&scaled, &kept_weights);
    // Near the largest privacy, all informative answers are rare.
    let largest = goal.least_accurate();
    let rare = RARE * ((aim - largest) / (goal.most_accurate() - largest).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let pruned: Vec<f64> = few.iter().map(|&w| if w > rare { w } else { 0.0 }).collect();
    let fewer = settled(&scaled, &pruned, &roots, aim).or_else(|| settled(&scaled, &few, &roots, aim)).unwrap_or(few);
    let rows = kept.iter().zip(fewer).filter(|(_, w)| *w > 0.0);
    let cells = rows.flat_map(|(&a, w)| posteriors[a].0.iter().map(move |p| w * p)).collect();
    FrontChannel::new(goal.prior(), cells).within(goal, aim)
}

/// Corrects the residuals of `sum w phi = sqrt(pi)` and `sum w max <= A`, mostly through heavy weights.
///
/// Returns `None` if these atoms cannot satisfy the conditions.
fn settled(scaled: &[(Vec<f64>, f64)], weights: &[f64], roots: &[f64], accuracy: f64) -> Option<Vec<f64>> {
    let (n, m) = (roots.len(), weights.len());
    let constraints = DMatrix::from_fn(n + 1, m, |i, a| if i < n { scaled[a].0[i] } else { scaled[a].1 });
    let right = DVector::from_fn(n + 1, |i, _| if i < n { roots[i] } else { accuracy });
    let mut w = DVector::from_column_slice(weights);
    for _ in 0..4 {
        let mut missing = &right - &constraints * &w;
        // More privacy than requested does no harm.
        missing[n] = missing[n].min(0.0);
        if missing.amax() < 1e-14 {
            break;
        }
        let weighted = DMatrix::from_fn(n + 1, m, |i, a| constraints[(i, a)] * w[a] * w[a]);
        let gram = &weighted * constraints.transpose();
        let size = gram.amax();
        let multipliers = gram.svd(true, true).solve(&missing, 1e-14 * size).ok()?;
        w += weighted.tr_mul(&multipliers);
    }
    let mut missing = &right - &constraints * &w;
    missing[n] = missing[n].min(0.0);
    (missing.amax() < 1e-12 && w.min() >= 0.0).then(|| w.iter().copied().collect())
}
