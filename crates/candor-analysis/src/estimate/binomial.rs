//! Intervals inside 0 and 1 that hold for few responses and rare cells.
//!
//! Each response adds to a cell a number between `a` and `b`, so the mean of `n` of them is that of a count between `n a` and `n b`. Where
//! there are two such numbers only, as for a cell of any one attribute, the count is binomial, and its interval by Clopper and Pearson
//! (1934) holds at least as often as it says, whatever the truth. Where there are more, it is taken for a binomial count of
//! the number of trials that gives it its variance (Korn and Graubard 1998); the variance is that at the estimate with a few people of
//! no particular kind [added](super::moments::ADDED).

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::checked_beta_reg;

use super::components::pattern_function;
use super::moments::{effective_people, smoothed};
use super::strips::extremes;
use super::{Estimate, Options, TableEstimator};
use crate::tally::TableTally;

/// From so many of either kind on, the normal law stands for the binomial one.
const MANY: f64 = 500.0;

/// The interval of a binomial share of which `share` was seen in `trials`, which need not be whole.
pub(crate) fn clopper_pearson(share: f64, trials: f64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    let (hits, misses) = (trials * share, trials * (1.0 - share));
    if hits.min(misses) >= MANY {
        let reach = -Normal::standard().inverse_cdf(tail);
        return (score_end(share, trials, -reach), score_end(share, trials, reach));
    }
    let low = if hits <= 0.0 { 0.0 } else { quantile(hits, misses + 1.0, tail) };
    let high = if misses <= 0.0 { 1.0 } else { quantile(hits + 1.0, misses, 1.0 - tail) };
    (low, high)
}

/// The end of the score interval with the correction for continuity: the share at which the one seen, half a response nearer, is so many
/// standard errors off.
fn score_end(share: f64, trials: f64, reach: f64) -> f64 {
    let seen = (share + reach.signum() * 0.5 / trials).clamp(0.0, 1.0);
    let square = reach * reach / trials;
    let root = (square * seen * (1.0 - seen) + square * square / 4.0).sqrt();
    (seen + square / 2.0 + reach.signum() * root) / (1.0 + square)
}

/// The point below which the beta law with these parameters has this share.
fn quantile(a: f64, b: f64, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match checked_beta_reg(a, b, middle).is_ok_and(|below| below < share) {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

impl TableEstimator<'_> {
    /// The interval of every cell, in the order of the table.
    pub(super) fn binomial(&self, tally: &TableTally, estimate: &Estimate, options: &Options) -> Vec<(f64, f64)> {
        let people = effective_people(tally);
        let likely = smoothed(estimate, tally, 1);
        let variances = self.cell_variances(tally, &likely, options.target);
        let (lowest, highest) = self.ranges(tally);
        let interval = |cell: usize| {
            let (a, b) = (lowest[cell].min(0.0), highest[cell].max(1.0));
            let place = |share: f64| ((share - a) / (b - a)).clamp(0.0, 1.0);
            let (mean, variance) = match &variances {
                Some(variances) => (place(likely[cell]), variances[cell]),
                None => (place(estimate.shares[cell]), estimate.standard_errors[cell].powi(2)),
            };
            let trials = mean * (1.0 - mean) * (b - a) * (b - a) / variance;
            let trials = if trials.is_finite() && trials > 0.0 { trials } else { people };
            // What is outside is moved to the nearest end: the interval is never empty.
            let seen = place(estimate.shares[cell].clamp(0.0, 1.0));
            let (low, high) = clopper_pearson(seen, trials, options.confidence);
            ((a + (b - a) * low).clamp(0.0, 1.0), (a + (b - a) * high).clamp(0.0, 1.0))
        };
        (0..estimate.shares.len()).map(interval).collect()
    }

    /// Between which numbers the estimate of each cell can lie, whatever the responses with these tags.
    fn ranges(&self, tally: &TableTally) -> (Vec<f64>, Vec<f64>) {
        let groups = self.group_laws(tally);
        let mut ranges = (vec![0.0; self.cells()], vec![0.0; self.cells()]);
        let Ok(weights) = self.component_weights(groups.iter().map(|(law, group)| (law, group.total))) else {
            return ranges;
        };
        let matrices = self.inverse_ranges();
        for ((law, _), weights) in groups.iter().zip(&weights) {
            let contribution = self.estimate_coefficients(weights);
            let (least, most) = match law.has_strips() {
                true => extremes(law, &contribution),
                false => bounds(pattern_function(&contribution, &law.shares)),
            };
            for (cell, (low, high)) in ranges.0.iter_mut().zip(&mut ranges.1).enumerate() {
                let (smallest, largest) = matrices[cell % matrices.len()];
                let (from, to) = bounds([least, most].iter().flat_map(|x| [x * smallest, x * largest]));
                *low += from;
                *high += to;
            }
        }
        (self.to_order(ranges.0), self.to_order(ranges.1))
    }

    /// For each cell of the matrices' attributes, the first slowest, the least and the largest product of entries of their inverses.
    fn inverse_ranges(&self) -> Vec<(f64, f64)> {
        self.matrices.iter().fold(vec![(1.0, 1.0)], |ranges, axis| {
            let rows = axis.inverse_rows();
            let product = |(low, high): &(f64, f64), row: &[f64]| {
                let (least, most) = bounds(row.iter().copied());
                bounds([low * least, low * most, high * least, high * most])
            };
            ranges.iter().flat_map(|range| rows.iter().map(|row| product(range, row)).collect::<Vec<_>>()).collect()
        })
    }
}

/// The least and the largest of some numbers.
pub(super) fn bounds(numbers: impl IntoIterator<Item = f64>) -> (f64, f64) {
    numbers.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R 4.2: `binom.test(x, n)$conf.int`.
    #[test]
    fn golden_numbers() {
        let golden = [
            (0.0, 5.0, 0.0, 0.521_823_750_104_981),
            (1.0, 1.0, 0.025, 1.0),
            (1.0, 50.0, 0.000_506_227_983_040_829, 0.106_469_545_711_499_913),
            (7.0, 20.0, 0.153_909_204_784_541, 0.592_188_534_532_828),
            (600.0, 1500.0, 0.375_091_238_483_980, 0.425_301_126_446_281),
        ];
        for (hits, trials, low, high) in golden {
            let found = clopper_pearson(hits / trials, trials, 0.95);
            let near = if hits < MANY { 1e-12 } else { 1e-4 };
            assert!((found.0 - low).abs() < near && (found.1 - high).abs() < near, "{hits} of {trials}: {found:?}");
        }
    }

    /// Exact: the chance that the interval holds the truth is a finite sum, and never below the confidence.
    #[test]
    fn they_hold_for_every_share() {
        for trials in [1u32, 2, 5, 13, 40] {
            let intervals: Vec<(f64, f64)> = (0..=trials)
                .map(|x| clopper_pearson(f64::from(x) / f64::from(trials), f64::from(trials), 0.95))
                .collect();
            for step in 0..=200 {
                let truth = f64::from(step) / 200.0;
                let mut chance = (1.0 - truth).powi(trials as i32);
                let mut holds = 0.0;
                for (x, (low, high)) in intervals.iter().enumerate() {
                    if (*low..=*high).contains(&truth) {
                        holds += chance;
                    }
                    let x = x as f64;
                    chance *=
                        if truth < 1.0 { (f64::from(trials) - x) / (x + 1.0) * truth / (1.0 - truth) } else { 0.0 };
                }
                assert!(holds >= 0.95 - 1e-9 || truth == 1.0, "{trials}, {truth}: {holds}");
            }
        }
    }
}
