//! Intervals within 0 and 1 that hold for few responses and rare cells.
//!
//! Each response adds to a cell a number between `a` and `b`, so the mean of `n` of them is that of a count between
//! `n a` and `n b`. If there are only two such numbers, as for a one-way table, the count is binomial. The interval
//! of Clopper and Pearson (1934) then covers the true share at least at the stated rate, in any population. With 500
//! or more responses of either kind, a score interval replaces it, whose coverage is at most 0.2 points lower: see
//! [`binomial_interval`].
//!
//! If there are more than two numbers, the estimate is treated as a binomial count, with the number of trials that
//! gives its variance (Korn and Graubard 1998). The variance is taken at the estimate with a few pseudo-respondents
//! [added](super::moments::ADDED).
//!
//! Under a sampling design, the number of trials is that of independently drawn respondents, or smaller if the
//! variance of the design is larger. It is reduced further if there are few sampling units, which estimate a
//! variance poorly. The variance is at least that of the randomization.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::checked_beta_reg;

use super::components::pattern_function;
use super::moments::{Moments, effective_people, smoothed};
use super::strips::extremes;
use super::structure::{Structure, unit};
use super::{Cell, Estimate, EstimateError, Interval, MAX_DENSE, Options, TableEstimator, Target, Uncertainty};
use crate::tally::TableCounts;

/// Number of responses of either kind from which the normal approximation replaces the binomial distribution.
const MIN_SCORE_COUNT: f64 = 500.0;

/// Returns the interval of a binomial share, given the observed share and the number of trials, which may be
/// fractional.
///
/// It is the Clopper-Pearson interval, which covers at least at the stated rate. From [`MIN_SCORE_COUNT`] of either
/// kind on, it is the score interval with continuity correction, because the beta distribution of statrs is not exact
/// for large numbers. Its 95% intervals miss with at most 2.63% on one side and 2.58% on the other, so their coverage
/// is at least 94.79%. That of 90% intervals is at least 89.78%, of 99% intervals 98.89%, and of 99.9% intervals
/// 99.87%. These are sums of the binomial distribution at the ends of intervals, where the tails are largest; the worst
/// case is 500 of very many.
pub(crate) fn binomial_interval(share: f64, trials: f64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    let (hits, misses) = (trials * share, trials * (1.0 - share));
    if hits.min(misses) >= MIN_SCORE_COUNT {
        let reach = -Normal::standard().inverse_cdf(tail);
        return (score_end(share, trials, -reach), score_end(share, trials, reach));
    }
    let low = if hits <= 0.0 { 0.0 } else { quantile(hits, misses + 1.0, tail) };
    let high = if misses <= 0.0 { 1.0 } else { quantile(hits + 1.0, misses, 1.0 - tail) };
    (low, high)
}

/// Returns an end of the score interval with continuity correction.
///
/// At this share, the observed one, moved half a response closer, is `reach` standard errors away.
fn score_end(share: f64, trials: f64, reach: f64) -> f64 {
    let seen = (share + reach.signum() * 0.5 / trials).clamp(0.0, 1.0);
    let square = reach * reach / trials;
    let root = (square * seen * (1.0 - seen) + square * square / 4.0).sqrt();
    (seen + square / 2.0 + reach.signum() * root) / (1.0 + square)
}

/// Returns whether the observed share is plausible under this mean.
///
/// It is if a binomial share is at least as extreme, on the same side, with at least half of the error probability.
fn is_likely(seen: f64, mean: f64, trials: f64, options: &Options) -> bool {
    let tail = (1.0 - options.confidence) / 2.0;
    let (hits, misses) = (trials * seen, trials * (1.0 - seen));
    if hits.min(misses) >= MIN_SCORE_COUNT {
        let reach = -Normal::standard().inverse_cdf(tail);
        let off = ((seen - mean).abs() - 0.5 / trials).max(0.0);
        return off * off <= reach * reach * mean * (1.0 - mean) / trials;
    }
    // At least this number of hits, or at most.
    let below = |a: f64, b: f64| checked_beta_reg(a, b, mean).unwrap_or(0.5);
    let chance = match mean < seen {
        true if hits <= 0.0 => 1.0,
        true => below(hits, misses + 1.0),
        false if misses <= 0.0 => 1.0,
        false => 1.0 - below(hits + 1.0, misses),
    };
    chance >= tail
}

/// Returns how far the condition holds on the way from one number to another.
fn furthest(from: f64, to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    if holds(to) {
        return to;
    }
    let (mut inside, mut outside) = (from, to);
    for _ in 0..50 {
        let middle = (inside + outside) / 2.0;
        if holds(middle) { inside = middle } else { outside = middle }
    }
    inside
}

/// Returns the quantile of the beta distribution with these parameters.
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

/// An estimated share, with what its interval depends on.
struct Seen {
    estimate: f64,
    /// Share at which the variance was computed.
    likely: f64,
    variance: f64,
    /// Smallest and largest possible estimate.
    range: (f64, f64),
    people: f64,
    /// Effective number of trials under a sampling design.
    trials: Option<f64>,
    /// For the target `Table`, if the variance depends on the share: second moment of a response's contribution
    /// to its own cell.
    own: Option<f64>,
}

/// Variances of a share under a sampling design.
struct DesignVariances {
    /// Variance estimated from the sampling units.
    design: f64,
    /// Variance for independently drawn respondents, at the likely share.
    model: f64,
    /// Part of that variance that is due to randomization.
    noise: f64,
}

impl DesignVariances {
    /// Returns the number of independent respondents that are as informative as `people` of the sample; at most
    /// `people`.
    fn worth(&self, people: f64, fewer: f64) -> f64 {
        let of_design = self.design.max(self.noise);
        people * fewer * if of_design > 0.0 { (self.model / of_design).min(1.0) } else { 1.0 }
    }

    /// Returns the effective number of trials for a share between `a` and `b` (Korn and Graubard 1998).
    ///
    /// It is the number of independent respondents, reduced if the variance of the design is larger. That variance
    /// is at least that of the randomization. `fewer` is the factor for few units.
    fn trials(&self, likely: f64, (a, b): (f64, f64), people: f64, fewer: f64) -> f64 {
        let place = ((likely - a) / (b - a)).clamp(0.0, 1.0);
        let one = place * (1.0 - place) * (b - a).powi(2);
        let worth = |variance: f64| if variance > 0.0 && one > 0.0 { one / variance } else { people };
        fewer * worth(self.model).min(worth(self.design.max(self.noise)))
    }
}

/// Returns the factor that reduces the number of trials, because few units estimate the variance poorly.
///
/// It is the ratio of the squared quantiles of Student's t.
pub(crate) fn fewer_by_units(tally: &TableCounts, people: f64, options: &Options) -> f64 {
    let whole = options.interval.reach_with(Some(people - 1.0), options.confidence, 1);
    (whole / options.interval.reach_of(tally, options.confidence, 1)).powi(2).min(1.0)
}

/// Extends the range of an estimate to include all shares from 0 to 1.
fn with_shares((a, b): (f64, f64)) -> (f64, f64) {
    (a.min(0.0), b.max(1.0))
}

impl Seen {
    fn interval(&self, options: &Options) -> (f64, f64) {
        let &Seen { likely, variance, people, .. } = self;
        let (a, b) = with_shares(self.range);
        let place = |share: f64| ((share - a) / (b - a)).clamp(0.0, 1.0);
        let trials = |share: f64, variance: f64| {
            let trials = place(share) * (1.0 - place(share)) * (b - a) * (b - a) / variance;
            if trials.is_finite() && trials > 0.0 { trials } else { people }
        };
        // An estimate outside is moved to the nearest end, so that the interval is never empty.
        let moved = self.estimate.clamp(0.0, 1.0);
        if let Some(own) = self.own {
            let other = (people * variance - likely * (own - 1.0)).max(0.0) / (1.0 - likely).max(f64::MIN_POSITIVE);
            let variance = |share: f64| (share * (own - 1.0) + (1.0 - share) * other).max(0.0) / people;
            let holds = |share: f64| {
                let (mean, trials) = (place(share), trials(share, variance(share)));
                // The estimate changes by entire responses, which are more than one trial each.
                let nearer = (0.5 / people - 0.5 / trials).max(0.0);
                let seen = place(moved);
                let seen = if mean < seen { mean.max(seen - nearer) } else { mean.min(seen + nearer) };
                is_likely(seen, mean, trials, options)
            };
            return (furthest(moved, 0.0, holds), furthest(moved, 1.0, holds));
        }
        let trials = self.trials.unwrap_or_else(|| trials(likely, variance));
        let (low, high) = binomial_interval(place(moved), trials, options.confidence);
        ((a + (b - a) * low).clamp(0.0, 1.0), (a + (b - a) * high).clamp(0.0, 1.0))
    }
}

/// Intervals of sums of a table's cells.
pub(super) struct Sums<'e> {
    /// A distribution near the estimate, with the variances if it were the true table.
    likely: Vec<f64>,
    moments: Moments<'e>,
    /// Smallest and largest possible estimate of each cell.
    ranges: (Vec<f64>, Vec<f64>),
    tally: &'e TableCounts,
    options: &'e Options,
}

impl Sums<'_> {
    /// Returns the interval of an estimated sum with these coefficients.
    pub(super) fn interval(&self, estimate: f64, coefficients: &[f64]) -> (f64, f64) {
        let Sums { likely, moments, ranges, tally, options } = self;
        let people = effective_people(tally);
        let sum: f64 = coefficients.iter().zip(likely).map(|(g, share)| g * share).sum();
        let sampling = if options.target == Target::Table { sum * (1.0 - sum) / people } else { 0.0 };
        let variance = (moments.variance(coefficients) - sampling).max(0.0);
        let independent = moments.independent();
        let range = independent.unwrap_or(moments).range(coefficients).unwrap_or_else(|| {
            let ends = coefficients
                .iter()
                .zip(ranges.0.iter().zip(&ranges.1))
                .map(|(g, (low, high))| bounds([g * low, g * high]));
            ends.fold((0.0, 0.0), |(low, high), (from, to)| (low + from, high + to))
        });
        let trials = independent.map(|_| {
            let fewer = fewer_by_units(tally, people, options);
            self.of_design(coefficients, variance).trials(sum, with_shares(range), people, fewer)
        });
        Seen { estimate, likely: sum, variance, range, people, trials, own: None }.interval(options)
    }

    /// Returns the variances of a sum under the sampling design.
    fn of_design(&self, coefficients: &[f64], design: f64) -> DesignVariances {
        let dot =
            |power: i32| coefficients.iter().zip(&self.likely).map(|(g, share)| g.powi(power) * share).sum::<f64>();
        let (sum, squares) = (dot(1), dot(2));
        let model = self.moments.independent().map_or(design, |independent| independent.variance(coefficients));
        let noise = (model - (squares - sum * sum) / effective_people(self.tally)).max(0.0);
        DesignVariances { design, model, noise }
    }

    /// Returns the number of independent respondents with equal weights that would be as informative about a sum.
    fn worth(&self, coefficients: &[f64]) -> f64 {
        let people = effective_people(self.tally);
        let variance = self.moments.variance(coefficients);
        self.of_design(coefficients, variance).worth(people, fewer_by_units(self.tally, people, self.options))
    }
}

impl TableEstimator<'_> {
    /// Returns the interval of every cell, in the order of the table.
    pub(super) fn binomial(&self, tally: &TableCounts, estimate: &Estimate, options: &Options) -> Vec<(f64, f64)> {
        let people = effective_people(tally);
        let likely = smoothed(estimate, tally, 1);
        let variances = self.cell_variances(tally, &likely, options.target);
        let design = tally.drawn().map(|_| self.design_variances(tally, estimate, &likely));
        let fewer = fewer_by_units(tally, people, options);
        let (lowest, highest) = self.ranges(tally);
        // For the target `Table`, only the randomization is uncertain, by an amount that depends on the share.
        let own = if options.target == Target::Table { self.own_square() } else { None };
        let interval = |cell: usize| {
            let (likely, variance) = match &variances {
                Some(variances) => (likely[cell], variances[cell]),
                None => (estimate.shares[cell], estimate.standard_errors[cell].powi(2)),
            };
            let range = (lowest[cell], highest[cell]);
            let worth = |design: &Vec<DesignVariances>| design[cell].trials(likely, with_shares(range), people, fewer);
            let trials = design.as_ref().map(worth);
            Seen { estimate: estimate.shares[cell], likely, variance, range, people, trials, own }.interval(options)
        };
        (0..estimate.shares.len()).map(interval).collect()
    }

    /// Returns the effective sample size of each cell (`n*` of Korn and Graubard).
    ///
    /// It is the number of independent respondents with equal weights that would be as informative. Without a
    /// sampling design, it is Kish's effective sample size in every cell.
    pub(super) fn effective(
        &self,
        tally: &TableCounts,
        estimate: &Estimate,
        structure: Option<&Structure>,
        options: &Options,
    ) -> Result<Vec<f64>, EstimateError> {
        let (cells, people) = (estimate.shares.len(), effective_people(tally));
        if tally.drawn().is_none() {
            return Ok(vec![people; cells]);
        }
        if let Some(structure) = structure {
            let sums = self.sums(tally, estimate, Some(structure), options)?;
            return Ok((0..cells).map(|cell| sums.worth(&structure.coefficients(&unit(cell, cells)))).collect());
        }
        let fewer = fewer_by_units(tally, people, options);
        let variances = self.design_variances(tally, estimate, &smoothed(estimate, tally, 1));
        Ok(variances.iter().map(|one| one.worth(people, fewer)).collect())
    }

    /// Returns the variances of each cell under the sampling design.
    fn design_variances(&self, tally: &TableCounts, estimate: &Estimate, likely: &[f64]) -> Vec<DesignVariances> {
        let people = effective_people(tally);
        let drawing = |cell: usize| likely[cell] * (1.0 - likely[cell]) / people;
        let cells = likely.len();
        let models = self.cell_variances(tally, likely, Target::Population).or_else(|| {
            let moments = self.independent_moments(tally, likely).ok().filter(|_| cells <= MAX_DENSE)?;
            let one =
                |cell: usize| moments.variance(&(0..cells).map(|c| f64::from(u8::from(c == cell))).collect::<Vec<_>>());
            Some((0..cells).map(one).collect())
        });
        let one = |cell: usize| {
            let design = estimate.standard_errors[cell].powi(2);
            let model = models.as_ref().map_or(design, |models| models[cell]);
            DesignVariances { design, model, noise: (model - drawing(cell)).max(0.0) }
        };
        (0..cells).map(one).collect()
    }

    /// Returns the sum of some cells, with standard error and interval. Coefficients are 1 for these cells and 0
    /// for others.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if the table cannot be estimated, or answers are sets and it is too large.
    pub fn sum(&self, tally: &TableCounts, members: &[f64], options: &Options) -> Result<Cell, EstimateError> {
        let mut estimate = self.estimate(tally, options.target)?;
        let structure = self.structure(tally);
        let mut members = members.to_vec();
        if let Some(structure) = &structure {
            estimate.shares = structure.shares(&estimate.shares);
            members = structure.coefficients(&members);
        }
        let found = self.linear_of(tally, &estimate, &members, options.target);
        let Some(standard_error) = found.standard_error else {
            return Ok(Cell { estimate: found.value, uncertainty: None });
        };
        let reach = options.interval.reach_of(tally, options.confidence, 1);
        let (low, high) = match (options.interval, self.sums(tally, &estimate, structure.as_ref(), options)) {
            (Interval::Binomial, Ok(sums)) => sums.interval(found.value, &members),
            _ => (found.value - reach * standard_error, found.value + reach * standard_error),
        };
        Ok(Cell { estimate: found.value, uncertainty: Some(Uncertainty { standard_error, low, high }) })
    }

    /// Returns the intervals of sums of cells of an estimate, given its structural zeros.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if answers are sets and the table is too large.
    pub(super) fn sums<'e>(
        &'e self,
        tally: &'e TableCounts,
        estimate: &Estimate,
        structure: Option<&Structure>,
        options: &'e Options,
    ) -> Result<Sums<'e>, EstimateError> {
        let smooth = smoothed(estimate, tally, 1);
        let likely = structure.map_or_else(|| smooth.clone(), |structure| structure.likely(&smooth));
        let moments = self.moments(tally, &likely)?;
        Ok(Sums { moments, likely, ranges: self.ranges(tally), tally, options })
    }

    /// Returns the smallest and largest possible estimate of each cell, over all responses with these channel IDs.
    fn ranges(&self, tally: &TableCounts) -> (Vec<f64>, Vec<f64>) {
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

    /// Returns the smallest and largest product of entries of the matrices' inverses, for each cell of their
    /// attributes.
    pub(super) fn inverse_ranges(&self) -> Vec<(f64, f64)> {
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

/// Returns the smallest and the largest of some numbers.
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
            (1.0, 50.0, 0.000_506_227_983_040_829, 0.106_469_545_711_499_91),
            (7.0, 20.0, 0.153_909_204_784_541, 0.592_188_534_532_828),
            (600.0, 1500.0, 0.375_091_238_483_980, 0.425_301_126_446_281),
        ];
        for (hits, trials, low, high) in golden {
            let found = binomial_interval(hits / trials, trials, 0.95);
            let near = if hits < MIN_SCORE_COUNT { 1e-12 } else { 1e-4 };
            assert!((found.0 - low).abs() < near && (found.1 - high).abs() < near, "{hits} of {trials}: {found:?}");
        }
    }

    /// Returns the probability that the interval of a binomial count covers the true share.
    ///
    /// It is a sum over all counts within ten standard deviations.
    fn coverage(trials: f64, truth: f64, confidence: f64) -> f64 {
        let (mean, deviation) = (trials * truth, (trials * truth * (1.0 - truth)).sqrt());
        let (first, last) = ((mean - 10.0 * deviation).floor().max(0.0), (mean + 10.0 * deviation).ceil().min(trials));
        // Relative to the first probability; division by the sum of all normalizes them.
        let (mut chance, mut all, mut holds) = (1e-200, 0.0, 0.0);
        for hits in first as u64..=last as u64 {
            let hits = hits as f64;
            let (low, high) = binomial_interval(hits / trials, trials, confidence);
            all += chance;
            holds += if (low..=high).contains(&truth) { chance } else { 0.0 };
            chance *= (trials - hits) / (hits + 1.0) * truth / (1.0 - truth);
        }
        holds / all
    }

    /// Exact as well: the stated coverage for many responses is true at the worst shares, and coverage is better
    /// elsewhere.
    #[test]
    fn they_fall_short_by_little_where_methods_meet() {
        let worst =
            [(500.0, 10_000.0, 0.9, 0.8978), (521.0, 100_000.0, 0.95, 0.9479), (513.0, 100_000.0, 0.99, 0.9889)];
        for (hits, trials, confidence, least) in worst {
            // Just outside of the end of an interval.
            let truth = binomial_interval(hits / trials, trials, confidence).0 * (1.0 - 1e-11);
            let holds = coverage(trials, truth, confidence);
            assert!(least <= holds && holds < confidence - 5e-4, "{hits} of {trials}: {holds}");
        }
        for (trials, truth) in [(3_000.0, 0.4), (10_000.0, 0.2), (10_000.0, 0.587_1), (100_000.0, 0.03)] {
            let holds = coverage(trials, truth, 0.95);
            assert!((0.95..0.955).contains(&holds), "{trials}, {truth}: {holds}");
        }
    }

    /// Exact: coverage is a finite sum, and never below the confidence level.
    #[test]
    fn they_hold_for_every_share() {
        for trials in [1u32, 2, 5, 13, 40] {
            let intervals: Vec<(f64, f64)> = (0..=trials)
                .map(|x| binomial_interval(f64::from(x) / f64::from(trials), f64::from(trials), 0.95))
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
