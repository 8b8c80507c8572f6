//! The iterative Bayesian update: expectation maximisation of the likelihood (paper 001, eq. 3 with
//! the indices of the errata).
//!
//! `P_i <- sum over observed j of P*_j theta_ji P_i / sum_l theta_jl P_l`. It gives a proper
//! distribution and is better than the unbiased estimate where many cells are near zero; it is not
//! unbiased. Plain steps can take thousands; they are extrapolated (SQUAREM, scheme 3 of Varadhan and
//! Roland 2008) and a step that loses likelihood is taken back.

use super::{EstimateError, GroupLaw, TableEstimator};
use crate::tally::{Group, TableTally};

/// What the iteration came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Iterated {
    /// The distribution, first attribute slowest.
    pub shares: Vec<f64>,
    /// How many updates it took.
    pub updates: usize,
    /// Whether the last update moved no share by more than the tolerance.
    pub converged: bool,
}

impl TableEstimator<'_> {
    /// Iterates from the uniform distribution until no share moves by more than `tolerance`.
    ///
    /// # Errors
    /// If there are no responses, answers are sets (their counts do not hold the likelihood), or a
    /// matrix over several attributes is only partly in the table.
    pub fn iterate(&self, tally: &TableTally, tolerance: f64, most: usize) -> Result<Iterated, EstimateError> {
        let groups: Vec<(GroupLaw, &Group)> =
            tally.groups().iter().map(|(tags, group)| (self.law(tags), group)).collect();
        if tally.total() <= 0.0 {
            return Err(EstimateError::NoResponses);
        }
        self.check_likelihood(&groups)?;
        let update = |shares: &[f64]| self.update(&groups, tally.total(), shares);
        let mut shares = vec![1.0 / self.cells() as f64; self.cells()];
        let (mut updates, mut converged) = (0, false);
        while updates < most && !converged {
            let (first, likelihood) = update(&shares);
            let (second, _) = update(&first);
            updates += 2;
            let moved = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            converged = moved(&second, &first) <= tolerance;
            let extrapolated = extrapolate(&shares, &first, &second);
            let (steadied, better) = update(&extrapolated);
            updates += 1;
            shares = if better >= likelihood { steadied } else { second };
        }
        let estimate = self.in_order(shares, Vec::new(), tally.total());
        Ok(Iterated { shares: estimate.shares, updates, converged })
    }

    /// One update, and the log-likelihood per response before it.
    fn update(&self, groups: &[(GroupLaw, &Group)], total: f64, shares: &[f64]) -> (Vec<f64>, f64) {
        let mut next = vec![0.0; shares.len()];
        let mut likelihood = 0.0;
        for (law, group) in groups {
            let mut ratio = self.expected(&self.forward(shares), law);
            for (expected, count) in ratio.iter_mut().zip(&group.counts) {
                // Rounding can leave a vanishing expectation just below zero.
                let positive = expected.max(f64::MIN_POSITIVE);
                if *count > 0.0 {
                    likelihood += count * positive.ln();
                }
                *expected = count / positive;
            }
            let back = self.backward(&self.expected(&ratio, law));
            next.iter_mut()
                .zip(back)
                .zip(shares)
                .for_each(|((next, back), share)| *next += share * back.max(0.0) / total);
        }
        let sum: f64 = next.iter().sum();
        next.iter_mut().for_each(|share| *share /= sum);
        (next, likelihood / total)
    }

    /// Applies the transposed matrices along their axes: from outputs to cells.
    fn backward(&self, outputs: &[f64]) -> Vec<f64> {
        let mut table = outputs.to_vec();
        let mut outer: usize = self.dims[..self.attributes.len()].iter().product();
        for (i, axis) in self.matrices.iter().enumerate() {
            let inner: usize = self.matrices[i + 1..].iter().map(|axis| axis.outputs()).product();
            table = axis.backward(&table, outer, inner);
            outer *= axis.cells();
        }
        table
    }
}

/// Goes on along the way the last two updates went, but stays inside the simplex.
fn extrapolate(start: &[f64], first: &[f64], second: &[f64]) -> Vec<f64> {
    let r: Vec<f64> = first.iter().zip(start).map(|(a, b)| a - b).collect();
    let v: Vec<f64> = second.iter().zip(first).zip(&r).map(|((c, b), r)| c - b - r).collect();
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let step = if norm(&v) > 0.0 { (norm(&r) / norm(&v)).max(1.0) } else { 1.0 };
    let gone: Vec<f64> = start
        .iter()
        .zip(&r)
        .zip(&v)
        .zip(second)
        .map(|(((x, r), v), second)| {
            let ahead = x + 2.0 * step * r + step * step * v;
            // A share that reaches zero stays there for ever: keep a part of what it had.
            ahead.max(0.01 * second)
        })
        .collect();
    let sum: f64 = gone.iter().sum();
    gone.iter().map(|share| share / sum).collect()
}
