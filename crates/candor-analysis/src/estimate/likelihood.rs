//! Functions that likelihood methods share, for any kind of answers.

/// Lower limit of probabilities, so that counts divided by them stay finite.
pub(super) const MIN_PROBABILITY: f64 = 1e-200;

/// Normalizes updated shares; returns the previous ones if all are zero.
pub(super) fn proper(updated: Vec<f64>, before: &[f64]) -> Vec<f64> {
    let sum: f64 = updated.iter().sum();
    if sum > 0.0 { updated.into_iter().map(|share| share / sum).collect() } else { before.to_vec() }
}
