//! Ratios of two linear combinations of shares, with Fieller's intervals.

use crate::estimate::binomial::fewer_by_units;
use crate::estimate::moments::{Moments, effective_people, smoothed};
use crate::estimate::structure::Structure;
use crate::estimate::{
    Cell, Estimate, EstimateError, MAX_DENSE, Options, TableEstimator, Target, Uncertainty, simplex,
};
use crate::tally::TableCounts;

/// Largest share that is treated as rounding error.
const NOBODY: f64 = 1e-12;

/// A table whose ratios are estimated.
pub(crate) struct Ratios<'a> {
    estimator: &'a TableEstimator<'a>,
    tally: &'a TableCounts,
    pub(crate) estimate: Estimate,
    options: &'a Options,
    /// Structural zeros, if any.
    structure: Option<Structure>,
    /// The estimate with pseudo-respondents added, and the variances there.
    likely: Vec<f64>,
    moments: Moments<'a>,
    /// Variances at the estimate, if answers are sets; computed once for all ratios.
    estimated: Option<Moments<'a>>,
}

/// The variances of `N` and `D`, and their covariance.
type Form = [f64; 3];

fn of_difference([n, d, both]: Form, r: f64) -> f64 {
    n - 2.0 * r * both + r * r * d
}

impl<'a> Ratios<'a> {
    /// Prepares the ratios of a table with this number of groups of cells.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if it cannot be estimated, or answers are sets and it is too large.
    pub(crate) fn new(
        estimator: &'a TableEstimator<'a>,
        tally: &'a TableCounts,
        groups: usize,
        options: &'a Options,
    ) -> Result<Ratios<'a>, EstimateError> {
        let mut estimate = estimator.estimate(tally, options.target)?;
        if estimate.shares.len() > MAX_DENSE {
            return Err(EstimateError::NoLikelihood(
                "shares within randomized groups, and means, are limited to tables of 4,096 cells; merge \
                 categories, or leave attributes out",
            ));
        }
        let structure = estimator.structure(tally);
        if let Some(structure) = &structure {
            estimate.shares = structure.shares(&estimate.shares);
        }
        let smooth = smoothed(&estimate, tally, groups);
        let likely = structure.as_ref().map_or_else(|| smooth.clone(), |structure| structure.likely(&smooth));
        let moments = estimator.moments(tally, &likely)?;
        let closest = || estimator.moments(tally, &simplex::project(&estimate.shares));
        let estimated = if moments.by_answers() { None } else { Some(closest()?) };
        Ok(Ratios { estimator, tally, estimate, options, structure, likely, moments, estimated })
    }

    /// Returns the ratio `N / D` of two sums with these coefficients, and the influence of a response on it.
    ///
    /// Coefficients are from 0 to 1, and those of `N` are at most those of `D`. `None` if `D` is estimated as
    /// empty.
    pub(crate) fn share(&self, over: &[f64], under: &[f64]) -> Option<(Cell, Vec<f64>)> {
        self.share_and_worth(over, under).map(|(cell, influence, _)| (cell, influence))
    }

    /// Returns the ratio and the influence, with the effective sample size within `D`.
    pub(crate) fn share_and_worth(&self, over: &[f64], under: &[f64]) -> Option<(Cell, Vec<f64>, f64)> {
        let (over, under) = (&self.within(over)[..], &self.within(under)[..]);
        let sum = |coefficients: &[f64]| dot(coefficients, &self.estimate.shares);
        let (n, d) = (sum(over), sum(under));
        // Rounding may leave a small share in an empty group.
        if d <= NOBODY {
            return None;
        }
        let ratio = n / d;
        let influence: Vec<f64> = over.iter().zip(under).map(|(g, h)| (g - ratio * h) / d).collect();
        let (standard_error, _) = self.error_and_reach(&influence);
        let (low, high) = self.interval(over, under, ratio, d);
        let cell = Cell { estimate: ratio, uncertainty: Some(Uncertainty { standard_error, low, high }) };
        Some((cell, influence, self.worth(over, under, ratio.clamp(0.0, 1.0))))
    }

    /// Returns the number of people in `D`, reduced by the variance of the design and for few units.
    fn worth(&self, over: &[f64], under: &[f64], r: f64) -> f64 {
        let people = effective_people(self.tally);
        let among = people * dot(under, &self.likely).clamp(0.0, 1.0);
        let Some(independent) = self.moments.independent() else { return among };
        let model = of_difference(independent.of_two(over, under), r);
        let design = of_difference(self.moments.of_two(over, under), r);
        let kept = if design > model && model > 0.0 { model / design } else { 1.0 };
        among * kept * fewer_by_units(self.tally, people, self.options)
    }

    /// Returns the coefficients that take structural zeros into account.
    fn within(&self, coefficients: &[f64]) -> Vec<f64> {
        self.structure.as_ref().map_or_else(|| coefficients.to_vec(), |structure| structure.coefficients(coefficients))
    }

    /// Returns the correlation of two ratios, given their influences.
    pub(crate) fn correlation(&self, first: &[f64], second: &[f64]) -> f64 {
        let [one, other, both] = self.moments.of_two(first, second);
        if one > 0.0 && other > 0.0 { (both / (one * other).sqrt()).clamp(-1.0, 1.0) } else { 0.0 }
    }

    /// Returns the standard error of a linear combination, and the half-width of intervals in standard errors.
    pub(crate) fn error_and_reach(&self, coefficients: &[f64]) -> (f64, f64) {
        let reach = self.options.interval.reach_of(self.tally, self.options.confidence, 1);
        let (moments, target) = (self.estimated.as_ref(), self.options.target);
        let within = self.within(coefficients);
        (self.estimator.error_of_sum(self.tally, &self.estimate, moments, &within, target), reach)
    }

    /// Returns all `r` from 0 to 1 for which `D (ratio - r)` is not further from 0 than chance explains.
    ///
    /// A ratio below 0 or above 1 is too far from every share. So the unexplained distance of the nearest share is
    /// allowed in addition, and the interval is never empty.
    fn interval(&self, over: &[f64], under: &[f64], ratio: f64, d: f64) -> (f64, f64) {
        let cells = self.estimate.shares.len();
        let reach = self.options.interval.reach_of(self.tally, self.options.confidence, cells);
        let likely = self.moments.of_two(over, under);
        let null = self.under_null(over, under);
        // The variance under a sampling design is at least that of the randomization.
        let independent = self.moments.independent().map(|moments| moments.of_two(over, under));
        let least = |r: f64| match (&null, independent) {
            (Some(null), _) => null(r),
            (None, Some(independent)) => of_difference(independent, r),
            (None, None) => 0.0,
        };
        let variance = |r: f64| (of_difference(likely, r).max(least(r)) - self.sampling(under, r)).max(0.0);
        let nearest = ratio.clamp(0.0, 1.0);
        let unexplained = match (d * (ratio - nearest)).powi(2) / variance(nearest) {
            most if most.is_finite() => most,
            _ => 0.0,
        };
        // If the variance is zero, only the nearest share remains.
        let holds = |r: f64| match variance(nearest) > 0.0 {
            true => (d * (ratio - r)).powi(2) <= (reach * reach + unexplained) * variance(r),
            false => (d * (nearest - r)).powi(2) <= reach * reach * variance(r),
        };
        let end = |limit: f64| match holds(limit) {
            true => limit,
            false => {
                let (mut inside, mut outside) = (nearest, limit);
                for _ in 0..50 {
                    let middle = (inside + outside) / 2.0;
                    if holds(middle) { inside = middle } else { outside = middle }
                }
                inside
            }
        };
        (end(0.0), end(1.0))
    }

    /// Returns the variance of drawing the records from a population, which the target `Table` excludes.
    fn sampling(&self, under: &[f64], r: f64) -> f64 {
        match self.options.target {
            Target::Population => 0.0,
            Target::Table => {
                let people = effective_people(self.tally);
                dot(under, &self.likely) * r * (1.0 - r) / people
            }
        }
    }

    /// Returns the variance of `N - r D` if `r` were the ratio, with all else as likely.
    ///
    /// It requires coefficients of 0 and 1, and answers that are categories. In other cases, the noise hardly
    /// depends on `r`.
    fn under_null(&self, over: &[f64], under: &[f64]) -> Option<impl Fn(f64) -> f64> {
        // A structural zero has a share of zero, for any coefficient.
        let apart = |(g, share): (&f64, &f64)| *g == 0.0 || *g == 1.0 || *share == 0.0;
        let whole = [over, under].into_iter().all(|sum| sum.iter().zip(&self.likely).all(apart));
        if !whole || !self.moments.independent().unwrap_or(&self.moments).by_answers() {
            return None;
        }
        let (n, d) = (dot(over, &self.likely), dot(under, &self.likely));
        let at = |r: f64| {
            let moved = |((share, g), h): ((&f64, &f64), &f64)| match (*g > 0.0, *h > 0.0) {
                (true, _) => share * r * d / n,
                (_, true) => share * (1.0 - r) * d / (d - n),
                _ => *share,
            };
            let table: Vec<f64> = self.likely.iter().zip(over).zip(under).map(moved).collect();
            self.estimator.independent_moments(self.tally, &table).ok().map(|moments| moments.of_two(over, under))
        };
        if !(n > 0.0 && d > n) {
            return None;
        }
        let (none, all) = (at(0.0)?, at(1.0)?);
        let people = effective_people(self.tally);
        // The variance of a mixture of two tables includes the distance of their means.
        Some(move |r: f64| {
            (1.0 - r) * of_difference(none, r) + r * of_difference(all, r) + r * (1.0 - r) * d * d / people
        })
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
