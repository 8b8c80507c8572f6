//! A table as it is published: estimates with intervals, or the reason why there are none.

use candor_base::plan::Plan;
use candor_runtime::progress::Steps;

use super::{Estimate, EstimateError, Interval, TableEstimator, Target, simplex};
use crate::tally::TableCounts;

/// Which estimate; only the first is unbiased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Unbiased and unclipped: cells can be negative, means over surveys are right.
    #[default]
    Unbiased,
    /// As unbiased, but matrices with more outputs than inputs are inverted, and what is seen of impossible cells is
    /// taken out, by weights from the responses: smaller errors for skewed truths, unbiased only with many responses.
    PlugIn,
    /// The likelihood, by iteration: a proper distribution.
    Iterative,
    /// The distribution closest to the unbiased estimate.
    Projected,
    /// All tables together: the distributions that agree with each other and are closest to the unbiased estimates,
    /// what is known well moved least ([`constrained`](super::constrained)).
    Constrained,
    /// Negative cells set to zero, the rest rescaled: for comparison with the literature.
    Clipped,
}

/// How tables are to be estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Which estimate.
    pub method: Method,
    /// Whose table.
    pub target: Target,
    /// Which intervals.
    pub interval: Interval,
    /// With which confidence, above 0 and below 1.
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

/// One cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The estimated share.
    pub estimate: f64,
    /// Its standard error and interval; unbiased, plug-in and constrained estimates have them.
    pub uncertainty: Option<Uncertainty>,
}

/// The uncertainty of a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uncertainty {
    /// The standard error; of a constrained estimate the root mean square error, with its bias, not a number where too
    /// much would have to be simulated.
    pub standard_error: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// A table as it is published.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The attributes, by position in the schema.
    pub attributes: Vec<usize>,
    /// The number of responses (or the sum of their weights).
    pub respondents: f64,
    /// The cells, first attribute slowest, or why there are none.
    pub cells: Result<Vec<Cell>, EstimateUnavailable>,
    /// The effective sample size of each cell: how many independent respondents with equal weights would tell as much.
    /// None of estimates without errors.
    pub effective: Vec<f64>,
    /// The condition number of the matrices involved, if there are any.
    pub condition: Option<f64>,
    /// Whether the responses can hardly have come from the plan: wrong plan, wrong file, or answers
    /// edited. The chance of saying so of honest responses is below one in a million.
    pub implausible: bool,
}

/// Why a table has no numbers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateUnavailable {
    /// It cannot be estimated at all.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// It can, but every interval is wider than all that is possible, from 0 to 1.
    #[error(
        "too imprecise: with {respondents:.0} responses every interval spans the whole possible range; use about \
         {needed:.0} responses or more, or a plan with less noise on these attributes"
    )]
    Uninformative {
        /// How many responses there are.
        respondents: f64,
        /// With how many the best interval would be half as wide as what is possible.
        needed: f64,
    },
}

fn bare(shares: Vec<f64>) -> Vec<Cell> {
    shares.into_iter().map(|estimate| Cell { estimate, uncertainty: None }).collect()
}

/// Estimates one table from its counts by itself; constrained as if unbiased.
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

/// How many updates the iterative method may take: a hundred thousand, less often where one of them takes long.
/// Counted, so that the same responses give the same on every machine.
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

/// The cells as asked for, from the estimate for the population, with the effective sample size of each.
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

/// Rejects estimates of which no interval of a possible cell excludes anything, and says how many respondents would
/// tell something.
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

    /// Eleven attributes of three categories would take an hour with all updates.
    #[test]
    fn large_tables_are_updated_less_often() {
        assert_eq!(most_updates(&[4, 5], 3), 100_000);
        let most = most_updates(&[3; 11], 1);
        assert!((1_000..5_000).contains(&most), "{most}");
        assert_eq!(most_updates(&[65_535; 20], 1_000), 100);
    }
}
