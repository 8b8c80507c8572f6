//! Rakes weights of answer records to the estimated tables.

use candor_analysis::adjust::{self, Raked, adjust, check_plan};
pub use candor_analysis::adjust::{DistinctRecords, KnownShare, Options, Targets};
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_runtime::progress::ProgressSink;
use serde::Serialize;

use crate::benchmarks::distributions;
use crate::choice::Choice;
use crate::error::StudyError;
use crate::format::plural;

/// Raked weights and their convergence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Adjustment {
    /// Records that are weighted: `answers`, or records drawn by `tree` or `entropy` from two-way tables.
    pub method: &'static str,
    /// Number of responses.
    pub respondents: u64,
    /// Number of distinct answer records; each has one weight.
    pub records: usize,
    /// Number of sweeps over all margins.
    pub iterations: usize,
    /// Whether the weights are within the tolerance of their limit.
    pub converged: bool,
    /// Reason why they did not converge, with a remedy.
    pub reason: Option<String>,
    /// Largest difference between a margin of the weights and its target.
    pub largest_margin_error: f64,
    /// Largest relative change of a weight in the last sweep.
    pub largest_weight_change: f64,
    /// Extrapolated distance of any share from its limit; `None` if unknown.
    pub distance: Option<f64>,
    /// Tables to which the weights are raked, as names of attributes.
    pub margins: Vec<Vec<String>>,
    /// Cells with a positive target that no weighted record has.
    pub unattainable: Vec<Unattainable>,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Seed of a simulation. The caller sets it.
    pub simulation: Option<u64>,
    /// Elapsed seconds, including input and output. The caller sets it.
    pub seconds: Option<f64>,
    /// Weight of each distinct record, for all its copies together; they sum to 1. Not in JSON.
    #[serde(skip)]
    pub weights: Vec<f64>,
}

/// A cell of a margin that no weights can reach.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Unattainable {
    /// The cell, such as `a = 1, b = 2`.
    pub cell: String,
    /// Target share of the cell.
    pub share: f64,
}

/// Returns the tables to rake to: those given, or one for each block of the plan and each public attribute.
///
/// # Errors
/// Returns [`StudyError::Adjust`] if answers of the plan cannot be weighted.
/// Returns [`StudyError::Tables`] if a table is invalid.
pub fn margins(plan: &Plan, named: Option<&str>) -> Result<TableList, StudyError> {
    check_plan(plan)?;
    let tables = match named {
        None | Some("blocks") => TableList::of_blocks(plan),
        Some(named) => TableList::parse(named, plan.schema()),
    };
    tables.map_err(|error| StudyError::Tables { parameter: "margins", error })
}

/// Options of raking.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RakeOptions {
    /// Known shares of the population, which replace the estimates of their attributes.
    pub benchmarks: Vec<KnownShare>,
    /// Conversion of estimated margins to distributions.
    pub targets: Targets,
    /// Stopping rule.
    pub stop: Options,
}

impl RakeOptions {
    candor_runtime::options! {
        benchmarks: Vec<KnownShare>,
        targets: Targets,
        stop: Options,
    }
}

impl Choice for Targets {
    const PARAMETER: &'static str = "targets";
    const ALL: &'static [(&'static str, Targets, &'static str)] = &[
        ("projected", Targets::Projected, "The closest distribution"),
        ("clipped", Targets::Clipped, "Negative shares cut off, the others rescaled, as in the paper"),
    ];
}

/// Weights answer records so that their margins equal the estimates or benchmarks.
///
/// The columns of the records are those of the plan. `progress` receives the sweeps over the margins.
///
/// # Errors
/// Returns [`StudyError`] if the plan's answers are not records, there are no records, a margin cannot be estimated,
/// an option is out of range, or `progress` cancels.
/// Returns it as well if a benchmark names an unknown attribute or category, or one twice, or if all shares of an
/// attribute are 0.
///
/// ```
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2, 3])?;
/// let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// let truths = [(0..900).map(|i| i % 2).collect(), (0..900).map(|i| i % 3).collect()];
/// let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
///
/// let records = DistinctRecords::from_codes(&plan, &answer_codes(&plan, &responses))?;
/// let margins = margins(&plan, None)?;
/// let found = rake(&plan, &records, &margins, &RakeOptions::default(), ProgressSink::none())?;
/// assert!(found.converged && found.weights.len() == records.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rake(
    plan: &Plan,
    records: &DistinctRecords,
    margins: &TableList,
    options: &RakeOptions,
    progress: ProgressSink<'_>,
) -> Result<Adjustment, StudyError> {
    let RakeOptions { benchmarks, targets, stop } = options;
    check_options(stop)?;
    let known = distributions(plan.schema(), benchmarks, |_, _| Ok(0.0))?;
    let found = adjust(plan, records, margins, &known, *targets, stop, progress)?;
    Ok(adjustment(plan, "answers", records, found.raked, &found.tables, stop))
}

/// Describes the result of raking, with names instead of positions.
pub(crate) fn adjustment(
    plan: &Plan,
    method: &'static str,
    records: &DistinctRecords,
    raked: Raked,
    tables: &[Vec<usize>],
    options: &Options,
) -> Adjustment {
    let name = |&attribute: &usize| plan.schema().name(attribute).to_owned();
    let unattainable = |missing: &adjust::Unattainable| Unattainable {
        cell: cell(plan, &tables[missing.margin], missing.cell),
        share: missing.share,
    };
    Adjustment {
        method,
        respondents: records.total(),
        records: records.len(),
        iterations: raked.iterations,
        converged: raked.converged,
        reason: reason(&raked, options.tolerance),
        largest_margin_error: raked.largest_margin_error,
        largest_weight_change: raked.largest_weight_change,
        distance: raked.distance,
        margins: tables.iter().map(|table| table.iter().map(name).collect()).collect(),
        unattainable: raked.unattainable.iter().map(unattainable).collect(),
        fingerprint: plan.fingerprint().as_str().to_owned(),
        simulation: None,
        seconds: None,
        weights: raked.weights,
    }
}

pub(crate) fn check_options(options: &Options) -> Result<(), StudyError> {
    match (1e-12..1.0).contains(&options.tolerance) && options.max_iterations > 0 {
        true => Ok(()),
        false => Err(StudyError::InvalidParameter(
            "`tolerance` must be at least 1e-12 and below 1, such as 1e-6, and `max_iterations` at least 1",
        )),
    }
}

/// Formats a cell of a table with names and labels.
fn cell(plan: &Plan, table: &[usize], cell: usize) -> String {
    let shape = plan.schema().shape(table);
    let one = |(place, &attribute): (usize, &usize)| {
        let attribute = &plan.schema().attributes()[attribute];
        format!("{} = {}", attribute.name(), attribute.categories()[shape.code(cell, place)])
    };
    table.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns the reason why the weights did not converge; `None` if they did.
fn reason(raked: &Raked, tolerance: f64) -> Option<String> {
    let error = raked.largest_margin_error;
    let sweeps = plural(raked.iterations, "iteration");
    match raked.distance {
        _ if raked.converged => None,
        Some(distance) if distance <= tolerance => Some(format!(
            "the weights settled after {sweeps}, but margins stay up to {error:.1e} from their estimates: no weights \
             of these responses agree with all margins. Use fewer or smaller `margins`."
        )),
        distance => {
            let far = distance.map_or("an unknown distance".to_owned(), |distance| format!("about {distance:.1e}"));
            Some(format!(
                "after {sweeps} margins are up to {error:.1e} from their estimates, weights still change by up to \
                 {:.1e} of themselves, and shares may be {far} from their limit. Weights that go to zero do so slowly, \
                 and margins that overlap may contradict each other; allow more `max_iterations`, a larger \
                 `tolerance`, or fewer `margins`.",
                raked.largest_weight_change
            ))
        }
    }
}

impl Adjustment {
    /// Describes the convergence in a sentence.
    pub fn summary(&self) -> String {
        let Some(reason) = &self.reason else {
            let of = match self.unattainable.is_empty() {
                true => "their estimates",
                false => "what can be attained of their estimates",
            };
            return format!(
                "Converged after {}: margins are within {} of {of}, and any share is within about {} of its limit.",
                plural(self.iterations, "iteration"),
                small(self.largest_margin_error),
                small(self.distance.unwrap_or_default())
            );
        };
        format!("NOT CONVERGED: {reason}")
    }

    /// Returns the unattainable cells, largest target share first.
    pub fn missing(&self) -> Vec<&Unattainable> {
        let mut missing: Vec<&Unattainable> = self.unattainable.iter().collect();
        missing.sort_by(|one, other| other.share.total_cmp(&one.share));
        missing
    }

    /// Returns the introduction to the list of unattainable cells; `None` if there are none.
    pub fn about_missing(&self) -> Option<String> {
        // Summed in the order of the list.
        let all: f64 = self.missing().iter().map(|missing| missing.share).sum();
        (!self.unattainable.is_empty()).then(|| {
            format!(
                "No record with a weight has these, although their estimated shares are positive ({all:.1e} in all), \
                 which the other cells of their margins take:"
            )
        })
    }
}

/// Formats a small number; zero has no exponent.
fn small(number: f64) -> String {
    if number == 0.0 { "0".to_owned() } else { format!("{number:.1e}") }
}
