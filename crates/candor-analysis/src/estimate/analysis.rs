//! An estimated table with intervals, or the reason why there is none.

use candor_base::plan::Plan;
use candor_runtime::progress::Steps;

use super::{Estimate, EstimateError, Interval, TableEstimator, Target, simplex};
use crate::tally::TableCounts;

/// Estimation method; only the first is unbiased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Unbiased and not clipped: cells can be negative, and averages over surveys are right.
    #[default]
    Unbiased,
    /// Like unbiased, with weights from the responses to invert matrices with more outputs than inputs and to remove
    /// structural zeros.
    ///
    /// Errors are smaller in skewed populations, and the bias vanishes as the number of responses grows.
    PlugIn,
    /// Maximum likelihood by iteration: a proper distribution.
    Iterative,
    /// The distribution closest to the unbiased estimate.
    Projected,
    /// All tables together, as distributions that agree with each other and are closest to the unbiased estimates.
    ///
    /// Precise estimates are moved least ([`constrained`](super::constrained)).
    Constrained,
    /// Negative cells set to zero and the rest rescaled, for comparison with the literature.
    Clipped,
}

/// Options of estimation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Estimation method.
    pub method: Method,
    /// Inference target.
    pub target: Target,
    /// Type of interval.
    pub interval: Interval,
    /// Confidence level, above 0 and below 1.
    pub confidence: f64,
}

impl Options {
    candor_runtime::options! {
        method: Method,
        target: Target,
        interval: Interval,
        confidence: f64,
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            method: Method::default(),
            target: Target::default(),
            interval: Interval::default(),
            confidence: 0.95,
        }
    }
}

/// A cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Estimated share.
    pub estimate: f64,
    /// Standard error and interval, for unbiased, plug-in and constrained estimates.
    pub uncertainty: Option<Uncertainty>,
}

/// Uncertainty of a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uncertainty {
    /// Standard error; for a constrained estimate, the root mean square error, which includes bias.
    ///
    /// NaN if the simulation for it would be too large.
    pub standard_error: f64,
    /// Lower confidence limit.
    pub low: f64,
    /// Upper confidence limit.
    pub high: f64,
}

/// An estimated table.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// Positions of the attributes in the schema.
    pub attributes: Vec<usize>,
    /// Number of responses, or sum of their weights.
    pub respondents: f64,
    /// Cells, with the first attribute varying slowest, or the reason why there are none.
    pub cells: Result<Vec<Cell>, EstimateUnavailable>,
    /// Effective sample size of each cell: number of respondents with equal weights that would give the same
    /// precision.
    ///
    /// Empty for estimates without standard errors.
    pub effective: Vec<f64>,
    /// Largest condition number of the matrices, if there are any.
    pub condition: Option<f64>,
    /// Whether the responses are implausible under the plan: wrong plan, wrong file, or edited.
    ///
    /// For honest responses, the probability is below one in a million.
    pub implausible: bool,
}

/// Reason why a table has no estimates.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateUnavailable {
    /// It cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// It can be estimated, but every interval is wider than the range from 0 to 1.
    #[error(
        "too imprecise: with {respondents:.0} responses every interval spans the whole possible range; use about \
         {needed:.0} responses or more, or a plan with less noise on these attributes"
    )]
    Uninformative {
        /// Number of responses.
        respondents: f64,
        /// Number at which the narrowest interval would be half as wide as the range.
        needed: f64,
    },
}

fn bare(shares: Vec<f64>) -> Vec<Cell> {
    shares.into_iter().map(|estimate| Cell { estimate, uncertainty: None }).collect()
}

/// Estimates one table from its counts separately; constrained estimates start as unbiased ones.
pub(super) fn analyse_alone(plan: &Plan, tally: &TableCounts, options: &Options, steps: &Steps<'_>) -> Analysis {
    let attributes = tally.layout().attributes.clone();
    let respondents = tally.total();
    let estimator = match TableEstimator::new(plan, &attributes) {
        Ok(estimator) => estimator,
        Err(error) => {
            let cells = Err(error.into());
            return Analysis {
                attributes,
                respondents,
                cells,
                effective: Vec::new(),
                condition: None,
                implausible: false,
            };
        }
    };
    let condition = estimator.condition();
    let population = estimator.estimate(tally, Target::Population);
    let implausible = population.as_ref().is_ok_and(|estimate| estimator.is_implausible(tally, estimate));
    let found = population
        .map_err(EstimateUnavailable::from)
        .and_then(|population| cells(estimator, population, tally, options, steps));
    let (cells, effective) = match found {
        Ok((cells, effective)) => (Ok(cells), effective),
        Err(error) => (Err(error), Vec::new()),
    };
    Analysis { attributes, respondents, cells, effective, condition, implausible }
}

/// Returns the maximum number of updates of the iterative method: 100,000, or fewer if one takes long.
///
/// A count instead of a time limit makes results reproducible on every machine.
fn most_updates(dims: &[usize], groups: usize) -> usize {
    const MAX_UPDATES: usize = 100_000;
    const MAX_STEPS: usize = 1 << 33;
    let cells = dims.iter().fold(1usize, |cells, &size| cells.saturating_mul(size));
    let steps = cells.saturating_mul(2 + dims.len()).saturating_mul(groups);
    (MAX_STEPS / steps.max(1)).clamp(100, MAX_UPDATES)
}

fn iterated(
    estimator: &TableEstimator<'_>,
    tally: &TableCounts,
    steps: &Steps<'_>,
) -> Result<Vec<Cell>, EstimateUnavailable> {
    const TOLERANCE: f64 = 1e-10;
    let most = most_updates(&tally.layout().dims(), tally.groups().len());
    let found = estimator.iterate_while(tally, TOLERANCE, most, || steps.still_goes_on())?;
    if found.converged { Ok(bare(found.shares)) } else { Err(EstimateError::NotConverged(found.updates).into()) }
}

/// Returns the cells for the requested method and target, with the effective sample size of each.
fn cells(
    mut estimator: TableEstimator<'_>,
    population: Estimate,
    tally: &TableCounts,
    options: &Options,
    steps: &Steps<'_>,
) -> Result<(Vec<Cell>, Vec<f64>), EstimateUnavailable> {
    if options.method == Method::PlugIn {
        estimator = estimator.with_plug_in_weights(tally)?;
    }
    if options.method == Method::Iterative {
        return Ok((iterated(&estimator, tally, steps)?, Vec::new()));
    }
    let estimate = match (options.method, options.target) {
        (Method::PlugIn, target) | (_, target @ Target::Table) => estimator.estimate(tally, target)?,
        (_, Target::Population) => population,
    };
    let structure = match options.method {
        Method::PlugIn => estimator.plug_in_structure(tally, &estimate),
        _ => estimator.structure(tally),
    };
    let estimate = match &structure {
        Some(structure) => estimator.within(structure, estimate, tally, options.target)?,
        None => estimate,
    };
    let reach = options.interval.reach_of(tally, options.confidence, estimate.shares.len());
    let intervals: Vec<(f64, f64)> = match (options.interval, &structure) {
        (Interval::Binomial, Some(structure)) => estimator.binomial_within(structure, tally, &estimate, options)?,
        (Interval::Binomial, None) => estimator.binomial(tally, &estimate, options),
        (Interval::Bootstrap | Interval::Wald | Interval::Simultaneous, _) => {
            let around = |(share, se): (&f64, &f64)| (share - reach * se, share + reach * se);
            estimate.shares.iter().zip(&estimate.standard_errors).map(around).collect()
        }
    };
    let open = |cell: &usize| structure.as_ref().is_none_or(|structure| structure.is_possible(*cell));
    let possible: Vec<usize> = (0..estimate.shares.len()).filter(open).collect();
    check_informative(&estimate, &intervals, &possible, options.interval, reach)?;
    let intervals = match (options.method, options.interval) {
        (Method::Projected, _) => return Ok((bare(simplex::project(&estimate.shares)), Vec::new())),
        (Method::Clipped, _) => return Ok((bare(simplex::clip(&estimate.shares)), Vec::new())),
        (_, Interval::Bootstrap) => estimator.bootstrap(tally, structure.as_ref(), options, steps)?,
        _ => intervals,
    };
    let cell = |((&estimate, &standard_error), (low, high)): ((&f64, &f64), (f64, f64))| Cell {
        estimate,
        uncertainty: Some(Uncertainty { standard_error, low, high }),
    };
    let effective = estimator.effective(tally, &estimate, structure.as_ref(), options)?;
    Ok((estimate.shares.iter().zip(&estimate.standard_errors).zip(intervals).map(cell).collect(), effective))
}

/// Rejects estimates if no interval of a possible cell excludes any value, and computes the number of respondents
/// needed.
fn check_informative(
    estimate: &Estimate,
    intervals: &[(f64, f64)],
    possible: &[usize],
    interval: Interval,
    reach: f64,
) -> Result<(), EstimateUnavailable> {
    let whole = possible.iter().map(|&cell| intervals[cell]).all(|(low, high)| match interval {
        Interval::Binomial => low <= 0.0 && high >= 1.0,
        _ => high - low >= 1.0,
    });
    if !whole {
        return Ok(());
    }
    let least = possible.iter().map(|&cell| estimate.standard_errors[cell]).fold(f64::INFINITY, f64::min);
    let respondents = estimate.respondents;
    let needed = (respondents * (4.0 * reach * least).powi(2)).ceil();
    Err(EstimateUnavailable::Uninformative { respondents, needed })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eleven attributes with three categories would take an hour with all updates.
    #[test]
    fn large_tables_are_updated_less_often() {
        assert_eq!(most_updates(&[4, 5], 3), 100_000);
        let most = most_updates(&[3; 11], 1);
        assert!((1_000..5_000).contains(&most), "{most}");
        assert_eq!(most_updates(&[65_535; 20], 1_000), 100);
    }
}
