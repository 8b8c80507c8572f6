//! Computes the sample size that a margin of error requires.

pub use candor_analysis::estimate::Interval;
use candor_analysis::estimate::{ConstrainedErrors, TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_design::expectation::groups;
use candor_runtime::progress::ProgressSink;
use serde::Serialize;

use crate::error::{StudyError, check_confidence};
use crate::shares::Shares;
use crate::verdict::{self, Verdict, named};

/// Sample sizes of tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SampleSizes {
    /// Whether there is a sufficient sample size.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Target margin of error, as a share.
    pub margin: f64,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Result for each table.
    pub tables: Vec<TableSampleSize>,
}

/// Sample size for one table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TableSampleSize {
    /// Names of the attributes.
    pub attributes: Vec<String>,
    /// Sample size in a uniform population.
    pub respondents: Option<f64>,
    /// Sample size with constrained estimates, for the expected shares or a uniform population; `None` if not
    /// computed.
    ///
    /// At this size, their largest root mean square error equals the standard error of an interval with this
    /// margin.
    pub constrained: Option<f64>,
    /// Upper bound on the sample size for conditional shares; `None` for one-way tables.
    ///
    /// They are the shares of the last attribute, within groups of average size by the others.
    pub conditional: Option<f64>,
    /// Sample size for the expected shares; `None` without them, or if not computed.
    pub anticipated: Option<f64>,
    /// Sample size in the worst case; `None` if not computed.
    pub worst_case: Option<f64>,
    /// Reason why no sample size suffices.
    pub reason: Option<String>,
}

/// Options of the sample size.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleSizeOptions {
    /// Target margin of error, as a share.
    pub margin: f64,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Whether the confidence level holds for each interval or for all intervals of a table.
    pub interval: Interval,
    /// Expected shares, for which a sample size is also computed.
    pub expected: Option<Shares>,
}

impl SampleSizeOptions {
    /// Creates options for a margin of error, with 95% confidence for each interval.
    pub fn new(margin: f64) -> SampleSizeOptions {
        SampleSizeOptions { margin, confidence: 0.95, interval: Interval::Wald, expected: None }
    }

    candor_runtime::options! {
        confidence: f64,
        interval: Interval,
        expected: impl Into<Option<Shares>>,
    }
}

/// Computes the sample size at which every interval of these tables has at most the given margin.
///
/// It does so for a uniform population, for the worst case and, if given, for the expected shares.
///
/// # Errors
/// Returns [`StudyError`] if the margin is not above 0 and below 1, the confidence level is invalid, or too many
/// combinations of expected values must be distinguished.
///
/// ```
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2, 3])?;
/// let plan = design(&schema, &Independent::new(2.0).into(), &DesignOptions::default())?.plan;
/// let tables = TableList::parse("marginals", &schema)?;
/// let two_points = sample_size(&plan, &tables, &SampleSizeOptions::new(0.02))?;
/// let four_points = sample_size(&plan, &tables, &SampleSizeOptions::new(0.04))?;
/// assert!(two_points.tables[0].respondents > four_points.tables[0].respondents);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sample_size(plan: &Plan, tables: &TableList, options: &SampleSizeOptions) -> Result<SampleSizes, StudyError> {
    let SampleSizeOptions { margin, confidence, interval, ref expected } = *options;
    check_confidence(confidence)?;
    if !(margin > 0.0 && margin < 1.0) {
        return Err(StudyError::InvalidParameter("`margin` must be above 0 and below 1, such as 0.02"));
    }
    let one = |table: &Vec<usize>| {
        let estimator = TableEstimator::new(plan, table);
        let predicted = estimator
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|estimator| Ok((estimator.predict(1.0, Target::Population)?, estimator.worst_error(1.0)?)));
        let needed = predicted.map(|(estimate, worst)| {
            let reach = interval.reach(confidence, estimate.shares.len());
            let within = estimate.respondents_for(margin / groups(plan, table), reach);
            (
                estimate.respondents_for(margin, reach),
                worst.map(|error| (reach * error / margin).powi(2).ceil()),
                within,
            )
        });
        TableSampleSize {
            attributes: table.iter().map(|&a| plan.schema().name(a).to_owned()).collect(),
            respondents: needed.as_ref().ok().map(|(uniform, ..)| *uniform),
            constrained: needed.as_ref().ok().and_then(|(uniform, ..)| with_constraints(plan, table, None, *uniform)),
            conditional: needed.as_ref().ok().filter(|_| table.len() > 1).map(|(_, _, within)| *within),
            anticipated: None,
            worst_case: needed.as_ref().ok().and_then(|(_, worst, _)| *worst),
            reason: needed.err().map(|error| error.to_string()),
        }
    };
    let mut sizes: Vec<TableSampleSize> = tables.lists().iter().map(one).collect();
    if let Some(expected) = expected {
        for (size, table) in sizes.iter_mut().zip(tables.lists()) {
            add_expected(plan, table, size, expected, options)?;
        }
    }
    Ok(SampleSizes { verdict: takes(&sizes, margin), margin, confidence, tables: sizes })
}

/// Returns the sample size at which constrained estimates of a table are as precise as unbiased ones with `needed`.
///
/// The precision is the largest root mean square error of a cell.
fn with_constraints(plan: &Plan, table: &[usize], truth: Option<Vec<f64>>, needed: f64) -> Option<f64> {
    // The error of constrained estimates decreases with the number of respondents, and never exceeds that of
    // unbiased ones by much.
    const HALVINGS: usize = 20;
    const MAX_RATIO: f64 = 4.0;
    let (tables, truth, nobody) = ([table.to_vec()], truth.map(|truth| [truth]), ProgressSink::none());
    let errors = ConstrainedErrors::expected(plan, &tables, truth.as_ref().map(|truth| &truth[..]), nobody).ok()?;
    let over_unbiased = |respondents: f64| match truth {
        Some(_) => errors.largest_over_unbiased(respondents, nobody).ok(),
        // All cells have the same error.
        None => errors.over_unbiased(respondents, nobody).ok(),
    };
    if over_unbiased(needed)? >= 1.0 - 1e-9 && over_unbiased(needed)? <= 1.0 + 1e-9 {
        return Some(needed);
    }
    let (mut low, mut high) = (0.0f64, (MAX_RATIO * needed.max(1.0)).ln());
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        let enough = over_unbiased(middle.exp())?.powi(2) * needed <= middle.exp();
        if enough { high = middle } else { low = middle }
    }
    Some(high.exp().ceil())
}

/// Returns the verdict on the most demanding table.
fn takes(tables: &[TableSampleSize], margin: f64) -> Verdict {
    let silent = tables.iter().filter(|table| table.respondents.is_none()).map(|table| named(&table.attributes));
    let most = |number: fn(&TableSampleSize) -> Option<f64>| tables.iter().filter_map(number).fold(0.0, f64::max);
    let within =
        tables.iter().any(|table| table.conditional.is_some()).then(|| most(|t| t.conditional.or(t.respondents)));
    verdict::size(&silent.collect::<Vec<_>>(), margin, most(|table| table.respondents), within)
}

/// Adds the sample size for the expected shares to that of a table.
fn add_expected(
    plan: &Plan,
    table: &[usize],
    size: &mut TableSampleSize,
    expected: &Shares,
    options: &SampleSizeOptions,
) -> Result<(), StudyError> {
    let truth = expected.table(plan.schema(), table)?;
    let reach = options.interval.reach(options.confidence, truth.len());
    let predicted = TableEstimator::new(plan, table).and_then(|estimator| estimator.predict_at(1.0, &truth));
    size.anticipated = predicted.ok().flatten().map(|estimate| estimate.respondents_for(options.margin, reach));
    size.constrained = size.anticipated.and_then(|needed| with_constraints(plan, table, Some(truth), needed));
    Ok(())
}
