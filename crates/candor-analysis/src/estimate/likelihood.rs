//! What the methods of likelihood share, whatever the answers are.

/// What probabilities of answers are at least taken for: counts divided by it stay finite.
pub(super) const MIN_PROBABILITY: f64 = 1e-200;

/// Updated shares that sum to one; as before, if nothing is left of them.
pub(super) fn proper(updated: Vec<f64>, before: &[f64]) -> Vec<f64> {
    let sum: f64 = updated.iter().sum();
    if sum > 0.0 { updated.into_iter().map(|share| share / sum).collect() } else { before.to_vec() }
}
