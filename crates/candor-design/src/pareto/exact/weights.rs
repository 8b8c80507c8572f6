//! From weights of posteriors to a channel that has the prior and the privacy to the last digit.

use nalgebra::{DMatrix, DVector};

use super::super::FrontProblem;
use super::super::channel::FrontChannel;
use super::sparse;

/// Answers that would come less often are dropped, where answers may tell much; less often where they may tell little.
const RARE: f64 = 1e-8;

/// Weights below this, relative to the heaviest, are left to rounding.
const NEGLIGIBLE: f64 = 1e-10;

/// The channel of the weights, with as few outputs as its information needs.
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
    // Close to the largest privacy all that tells anything is rare.
    let largest = goal.prior().largest();
    let rare = RARE * ((aim - largest) / (goal.bound() - largest).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let pruned: Vec<f64> = few.iter().map(|&w| if w > rare { w } else { 0.0 }).collect();
    let fewer = settled(&scaled, &pruned, &roots, aim).or_else(|| settled(&scaled, &few, &roots, aim)).unwrap_or(few);
    let rows = kept.iter().zip(fewer).filter(|(_, w)| *w > 0.0);
    let cells = rows.flat_map(|(&a, w)| posteriors[a].0.iter().map(move |p| w * p)).collect();
    FrontChannel::new(goal.prior(), cells).within(goal, aim)
}

/// Weights that make up for what the iteration left of `sum w phi = sqrt(pi)` and `sum w max <= A`, the heavy ones
/// moved most; `None` if these atoms cannot.
fn settled(scaled: &[(Vec<f64>, f64)], weights: &[f64], roots: &[f64], accuracy: f64) -> Option<Vec<f64>> {
    let (n, m) = (roots.len(), weights.len());
    let constraints = DMatrix::from_fn(n + 1, m, |i, a| if i < n { scaled[a].0[i] } else { scaled[a].1 });
    let right = DVector::from_fn(n + 1, |i, _| if i < n { roots[i] } else { accuracy });
    let mut w = DVector::from_column_slice(weights);
    for _ in 0..4 {
        let mut missing = &right - &constraints * &w;
        // More privacy than aimed at is no harm.
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
