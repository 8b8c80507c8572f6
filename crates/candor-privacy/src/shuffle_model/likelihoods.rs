//! Likelihoods of answers under two records, from which bounds after shuffling are computed.

use super::doubling;

/// Relative margin for the rounding of likelihoods and masses, which are products and sums of a few floats.
const ROOM: f64 = 4e-13;

/// A kind of answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Likelihood under the first record, relative to the blanket.
    pub u: f64,
    /// Likelihood under the second record, relative to the blanket.
    pub v: f64,
    /// Mass of the blanket on these answers.
    pub p: f64,
}

/// All kinds of answers that two records can give, for the two records in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihoods(Vec<Level>);

impl Likelihoods {
    /// Creates the likelihoods from kinds of answers, merging equal kinds.
    pub(super) fn new(mut levels: Vec<Level>) -> Likelihoods {
        levels.retain(|level| level.p > 0.0);
        levels.sort_by(|a, b| a.u.total_cmp(&b.u).then(a.v.total_cmp(&b.v)));
        levels.dedup_by(|next, kept| {
            let same = next.u == kept.u && next.v == kept.v;
            kept.p += if same { next.p } else { 0.0 };
            same
        });
        Likelihoods(levels)
    }

    /// Returns the number of kinds.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the likelihoods of two answers that are drawn independently.
    pub(super) fn times(&self, other: &Likelihoods) -> Likelihoods {
        let product = |a: &Level, b: &Level| Level { u: a.u * b.u, v: a.v * b.v, p: a.p * b.p };
        Likelihoods::new(self.0.iter().flat_map(|a| other.0.iter().map(move |b| product(a, b))).collect())
    }

    /// Returns the values of `G = u - e v` with their probabilities; `G` is 0 with the remaining probability.
    ///
    /// Both are rounded so that the bound can only grow.
    fn gains(&self, e: f64) -> Vec<(f64, f64)> {
        let gain = |&Level { u, v, p }: &Level| {
            let g = u - e * v + (u + e * v) * ROOM;
            (g, p * (1.0 + ROOM.copysign(g)))
        };
        self.0.iter().map(gain).collect()
    }

    /// Returns a bound on `delta` by exponential moments.
    ///
    /// It uses `x_+ <= e^(theta x) / (e theta)` for every `theta > 0`. Its cost does not depend on the number of
    /// respondents.
    pub fn delta_at_most(&self, respondents: u64, epsilon: f64) -> f64 {
        let (n, gains) = (respondents as f64, self.gains(epsilon.exp()));
        let log_delta = |log_theta: f64| {
            let theta = log_theta.exp();
            let (mut sum, mut size) = (0.0, 0.0);
            for &(g, p) in &gains {
                let term = p * (theta * g).exp_m1();
                sum += term;
                size += term.abs();
            }
            n * sum.ln_1p() - 1.0 - (theta * n).ln() + n * 2f64.powi(-50) * size
        };
        // Golden section search; every theta gives a valid bound.
        let (mut low, mut high) = (-60.0f64, 6.0f64);
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        for _ in 0..90 {
            let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
            // NaN counts as too large.
            if log_delta(a) < log_delta(b) || log_delta(b).is_nan() { high = b } else { low = a }
        }
        let found = log_delta((low + high) / 2.0);
        if found.is_nan() { 1.0 } else { found.exp().min(1.0) }
    }

    /// Returns a bound on `delta` for this epsilon, by doubling; `None` if rounding could matter.
    ///
    /// Terms that are negligible compared with `target` are dropped, which only increases the bound.
    pub fn delta(&self, respondents: u64, epsilon: f64, target: f64) -> Option<f64> {
        doubling::delta(&self.gains(epsilon.exp()), respondents, target)
    }
}
