//! Likelihoods of answers under two records: what a bound after shuffling is made of.

use super::doubling;

/// Room for the rounding of likelihoods and masses, which are products and sums of a few floats.
const ROOM: f64 = 4e-13;

/// A kind of answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// How likely they are under the first record, relative to the blanket.
    pub u: f64,
    /// And under the second.
    pub v: f64,
    /// The blanket's mass on them.
    pub p: f64,
}

/// All kinds of answers that two records can give, in this order of the two.
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihoods(Vec<Level>);

impl Likelihoods {
    /// These kinds, equal ones as one.
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

    /// How many kinds there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Of two answers that are drawn independently.
    pub(super) fn times(&self, other: &Likelihoods) -> Likelihoods {
        let product = |a: &Level, b: &Level| Level { u: a.u * b.u, v: a.v * b.v, p: a.p * b.p };
        Likelihoods::new(self.0.iter().flat_map(|a| other.0.iter().map(move |b| product(a, b))).collect())
    }

    /// The values of `G = u - e v` with their probabilities, both rounded so that the bound can only grow; the rest is
    /// 0.
    fn gains(&self, e: f64) -> Vec<(f64, f64)> {
        let gain = |&Level { u, v, p }: &Level| {
            let g = u - e * v + (u + e * v) * ROOM;
            (g, p * (1.0 + ROOM.copysign(g)))
        };
        self.0.iter().map(gain).collect()
    }

    /// A bound on `delta` by exponential moments: `x_+ <= e^(theta x) / (e theta)` for every `theta > 0`. Its cost does
    /// not depend on the number of respondents.
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
        // Golden section; any theta is valid.
        let (mut low, mut high) = (-60.0f64, 6.0f64);
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        for _ in 0..90 {
            let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
            // What is no number is too large.
            if log_delta(a) < log_delta(b) || log_delta(b).is_nan() { high = b } else { low = a }
        }
        let found = log_delta((low + high) / 2.0);
        if found.is_nan() { 1.0 } else { found.exp().min(1.0) }
    }

    /// A bound on `delta` for this epsilon, by doubling; `None` if rounding could matter. `target` says what is not
    /// worth keeping.
    pub fn delta(&self, respondents: u64, epsilon: f64, target: f64) -> Option<f64> {
        doubling::delta(&self.gains(epsilon.exp()), respondents, target)
    }
}
