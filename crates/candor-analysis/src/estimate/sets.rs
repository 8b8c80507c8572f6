//! Set-valued answers about one attribute (local l-diversity, subset selection; Nayak and Zhai 2019).
//!
//! Functions return the likelihood of the sets and the full covariance of the estimates. A set `z` of `q` of `a`
//! categories contains the true one with probability `p`. Relative to a uniformly random set, its likelihood is `h =
//! p a/q` under the categories in it, and `m = (1-p) a/(a-q)` under the others.

use super::TableEstimator;
use super::likelihood::{MIN_PROBABILITY, proper};
use crate::tally::{SetCounts, TableCounts};

/// Sets of the responses with the same channel IDs, and their likelihoods.
pub(super) struct SetGroup<'a> {
    counts: &'a SetCounts,
    /// Relative likelihood under the categories in a set, and under the others.
    inside: f64,
    outside: f64,
}

impl TableEstimator<'_> {
    /// Returns the sets that the counts kept; `None` if there are none.
    pub(super) fn set_groups<'a>(&self, tally: &'a TableCounts) -> Option<Vec<SetGroup<'a>>> {
        let kept = tally.sets().filter(|_| !self.layout.has_strips())?;
        let group = |(tags, counts): (&Vec<u16>, &'a SetCounts)| {
            let (q, p) = self.size_and_hit(tags);
            let a = self.dims[0] as f64;
            let outside = if q < a { (1.0 - p) * a / (a - q) } else { 1.0 };
            SetGroup { counts, inside: p * a / q, outside: outside.max(0.0) }
        };
        Some(kept.iter().map(group).collect())
    }

    /// Returns `q` and `p` of the channel with these IDs, from its eigenvalue `(a p - q)/(a - 1)`.
    fn size_and_hit(&self, tags: &[u16]) -> (f64, f64) {
        let law = self.law(tags);
        let a = self.dims[0] as f64;
        let q = (law.shares[0] * a).round();
        (q, ((law.eigenvalues[1] * (a - 1.0) + q) / a).clamp(0.0, 1.0))
    }

    /// Returns the covariance matrix of a one-way estimate in a population with these shares; `None` for other
    /// tables.
    ///
    /// The result is `columns[i][j]`, in the order of the categories. With `V` the inclusion counts of one group of
    /// responses, `Cov(V/n) = Sigma/n` and `Sigma_ij = zeta_ij - zeta_i zeta_j`. Here `zeta` are the probabilities
    /// that a set contains `i`, or `i` and `j`. The estimate divides deviations by the eigenvalue, so its covariance
    /// is `Sigma / (n lambda^2)` (Nayak and Zhai 2019, section 4.2, where `1/n` is printed squared).
    pub fn one_way_covariance(&self, tally: &TableCounts, shares: &[f64]) -> Option<Vec<Vec<f64>>> {
        if self.attributes.len() != 1 || !self.matrices.is_empty() || shares.len() != self.dims[0] {
            return None;
        }
        let covariance = match self.design_covariance(tally).ok()? {
            Some(covariance) => covariance,
            None => self.covariance(&self.group_laws(tally), shares).ok()?,
        };
        Some(covariance.row_iter().map(|row| row.iter().copied().collect()).collect())
    }
}

/// Returns the update `P_i <- P_i mean( L(z | i)/P(z) )`, and the log-likelihood per response before it.
///
/// The cost is the number of categories in all distinct sets.
pub(super) fn update(groups: &[SetGroup<'_>], shares: &[f64]) -> (Vec<f64>, f64) {
    let mut next = vec![0.0; shares.len()];
    let (mut likelihood, mut total, mut everywhere) = (0.0, 0.0, 0.0);
    for SetGroup { counts, inside, outside } in groups {
        for (set, count) in counts.iter() {
            let held: f64 = set.iter().map(|&category| shares[usize::from(category)]).sum();
            let seen = (outside + (inside - outside) * held).max(MIN_PROBABILITY);
            let ratio = count / seen;
            set.iter().for_each(|&category| next[usize::from(category)] += (inside - outside) * ratio);
            everywhere += outside * ratio;
            likelihood += count * seen.ln();
            total += count;
        }
    }
    next.iter_mut().zip(shares).for_each(|(next, share)| *next = share * (*next + everywhere).max(0.0));
    (proper(next, shares), likelihood / total)
}
