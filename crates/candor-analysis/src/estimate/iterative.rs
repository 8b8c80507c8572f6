//! The iterative Bayesian update: maximum likelihood by expectation maximization.
//!
//! The update is `P_i <- sum over observed j of P*_j theta_ji P_i / sum_l theta_jl P_l` (Huang and Du 2008, eq. 3
//! with the indices of docs/project/errata.md). It gives a proper distribution, and beats the unbiased estimate if
//! many cells are near zero, but it is biased. Plain steps can take thousands of updates. They are extrapolated
//! (SQUAREM, scheme 3 of Varadhan and Roland 2008), and a step that decreases the likelihood is undone.

use super::likelihood::{MIN_PROBABILITY, proper};
use super::sets;
use super::{EstimateError, GroupLaw, TableEstimator};
use crate::structural_zeros::possible;
use crate::tally::{ChannelCounts, TableCounts};

/// Result of the iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Iterated {
    /// Distribution, with the first attribute varying slowest.
    pub shares: Vec<f64>,
    /// Number of updates.
    pub updates: usize,
    /// Whether the last update moved no share by more than the tolerance.
    pub converged: bool,
}

impl TableEstimator<'_> {
    /// Iterates from the uniform distribution until no share moves by more than `tolerance`.
    ///
    /// For a one-way table of sets, the counts must have [kept](TableCounts::keeping_sets) them.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if there are no responses, or the counts do not determine the likelihood. That is
    /// the case if sets were not kept, or if the table has only some attributes of a matrix over several.
    pub fn iterate(&self, tally: &TableCounts, tolerance: f64, most: usize) -> Result<Iterated, EstimateError> {
        self.iterate_while(tally, tolerance, most, || true)
    }

    /// Iterates while `goes_on` returns true; otherwise the result has not converged.
    ///
    /// # Errors
    /// Returns the errors of [`iterate`](TableEstimator::iterate).
    pub(super) fn iterate_while(
        &self,
        tally: &TableCounts,
        tolerance: f64,
        most: usize,
        goes_on: impl Fn() -> bool,
    ) -> Result<Iterated, EstimateError> {
        let groups = self.group_laws(tally);
        if tally.total() <= 0.0 {
            return Err(EstimateError::NoResponses);
        }
        let (shares, updates, converged) = match self.set_groups(tally) {
            Some(sets) => iterate(self.start(), tolerance, most, goes_on, |shares| sets::update(&sets, shares)),
            None => {
                self.check_likelihood(&groups)?;
                self.check_possible(&groups)?;
                let update = |shares: &[f64]| self.update(&groups, tally.total(), shares);
                iterate(self.start(), tolerance, most, goes_on, update)
            }
        };
        let estimate = self.in_order(shares, Vec::new(), tally.total());
        Ok(Iterated { shares: estimate.shares, updates, converged })
    }

    /// Returns the uniform distribution over all possible cells; a share of zero stays zero.
    fn start(&self) -> Vec<f64> {
        let possible = possible(self.plan.schema(), &self.layout.attributes);
        let possible = possible.unwrap_or_else(|| vec![true; self.cells()]);
        let each = 1.0 / possible.iter().filter(|possible| **possible).count() as f64;
        self.held_order(&possible.into_iter().map(|possible| if possible { each } else { 0.0 }).collect::<Vec<f64>>())
    }

    /// Checks that no answer is impossible under every true value, by its probability in a uniform population.
    fn check_possible(&self, groups: &[(GroupLaw, &ChannelCounts)]) -> Result<(), EstimateError> {
        const ROUNDING: f64 = 1e-14;
        let uniform = self.forward(&vec![1.0 / self.cells() as f64; self.cells()]);
        for (law, group) in groups {
            let expected = self.expected(&uniform, law);
            let most = expected.iter().copied().fold(0.0, f64::max);
            if expected.iter().zip(&group.counts).any(|(p, count)| *count > 0.0 && *p <= ROUNDING * most) {
                return Err(EstimateError::NoLikelihood("some of its answers cannot come about under the plan"));
            }
        }
        Ok(())
    }

    /// Returns the updated shares, and the log-likelihood per response before the update.
    fn update(&self, groups: &[(GroupLaw, &ChannelCounts)], total: f64, shares: &[f64]) -> (Vec<f64>, f64) {
        let mut next = vec![0.0; shares.len()];
        let mut likelihood = 0.0;
        for (law, group) in groups {
            let mut ratio = self.expected(&self.forward(shares), law);
            for (expected, count) in ratio.iter_mut().zip(&group.counts) {
                // Rounding can make a tiny expectation negative.
                let positive = expected.max(MIN_PROBABILITY);
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
        (proper(next, shares), likelihood / total)
    }

    /// Applies the transposed matrices along their axes, from outputs to cells.
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

/// Updates until no share moves by more than the tolerance.
///
/// Returns the shares, the number of updates, and whether they converged.
fn iterate(
    start: Vec<f64>,
    tolerance: f64,
    most: usize,
    goes_on: impl Fn() -> bool,
    update: impl Fn(&[f64]) -> (Vec<f64>, f64),
) -> (Vec<f64>, usize, bool) {
    let mut shares = start;
    let (mut updates, mut converged) = (0, false);
    while updates < most && !converged && goes_on() {
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
    (shares, updates, converged)
}

/// Extrapolates the last two updates within the simplex.
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
            // A share that reaches zero stays zero, so a part of it is kept.
            ahead.max(0.01 * second)
        })
        .collect();
    let sum: f64 = gone.iter().sum();
    gone.iter().map(|share| share / sum).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use candor_base::channel::{Axis, Channel, Matrix, Pattern};
    use candor_base::plan::{Block, Plan};
    use candor_base::schema::Schema;

    fn counted(estimator: &TableEstimator<'_>, counts: Vec<f64>) -> TableCounts {
        let total = counts.iter().sum();
        let group = ChannelCounts { total, squares: total, counts, square_counts: Vec::new() };
        TableCounts::from_groups(estimator.plan, estimator.layout().clone(), BTreeMap::from([(Vec::new(), group)]))
    }

    /// Golden A of Huang and Du 2008: one and ten plain updates from the uniform distribution.
    #[test]
    fn plain_updates_of_paper_001() {
        let labels = ["0", "1", "2"].map(String::from).to_vec();
        let columns = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
        let matrix: Channel = Matrix::rounded(vec![3], labels, &columns).unwrap().into();
        let plan = Plan::new(Schema::with_sizes(&[3]).unwrap(), vec![Block::new(vec![0], matrix)]).unwrap();
        let estimator = TableEstimator::new(&plan, &[0]).unwrap();
        let tally = counted(&estimator, vec![470.0, 380.0, 150.0]);
        let groups: Vec<(GroupLaw, &ChannelCounts)> =
            tally.groups().iter().map(|(t, g)| (estimator.law(t), g)).collect();
        let mut shares = vec![1.0 / 3.0; 3];
        for step in 1..=10 {
            shares = estimator.update(&groups, 1000.0, &shares).0;
            let golden = match step {
                1 => [0.414_757_575_757_575_7, 0.334_606_060_606_060_6, 0.250_636_363_636_363_6],
                10 => [0.555_596_803_175_65, 0.367_319_068_753_18, 0.077_084_128_071_17],
                _ => continue,
            };
            for (share, golden) in shares.iter().zip(golden) {
                assert!((share - golden).abs() < 1e-12, "step {step}: {share} {golden}");
            }
        }
    }

    /// Extrapolation reaches the same limit in far fewer updates.
    #[test]
    fn extrapolation_pays() {
        let channel = Pattern::k_ary(vec![Axis::single(50)], 2.0).unwrap();
        let plan = Plan::new(Schema::with_sizes(&[50]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
        let estimator = TableEstimator::new(&plan, &[0]).unwrap();
        let tally = counted(&estimator, (0..50).map(|c| 2000.0 + f64::from(c * c % 37) * 10.0).collect());
        let groups: Vec<(GroupLaw, &ChannelCounts)> =
            tally.groups().iter().map(|(t, g)| (estimator.law(t), g)).collect();
        let fast = estimator.iterate(&tally, 1e-12, 1_000_000).unwrap();
        let (mut shares, mut plain) = (vec![1.0 / 50.0; 50], 0);
        loop {
            let next = estimator.update(&groups, tally.total(), &shares).0;
            plain += 1;
            let moved = next.iter().zip(&shares).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            shares = next;
            if moved <= 1e-12 || plain > 1_000_000 {
                break;
            }
        }
        assert!(fast.converged && fast.updates * 4 < plain, "{} against {plain}", fast.updates);
        assert!(fast.shares.iter().zip(&shares).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}
