//! Estimates several tables of the same responses, separately or constrained to agree, with errors and intervals.

use candor_base::plan::Plan;
use candor_runtime::parallel;
use candor_runtime::progress::{Cancelled, ProgressSink, Steps};

use super::analysis::analyse_alone;
use super::constrained::made_to_agree;
use super::constrained_errors::{ConstrainedErrors, SimulationError, with_estimate};
use super::moments::effective_people;
use super::{Analysis, Cell, Method, Options, Uncertainty};
use crate::tally::TableCounts;

/// Estimates one table from its counts.
pub fn analyse(plan: &Plan, tally: &TableCounts, options: &Options) -> Analysis {
    match options.method {
        Method::Constrained => analyse_all(plan, std::slice::from_ref(tally), options).remove(0),
        _ => analyse_alone(plan, tally, options, &Steps::new("tables", Some(1), ProgressSink::none())),
    }
}

/// Estimates tables of the same responses from their counts, on all cores.
///
/// With the constrained method, all identifiable tables are estimated together.
pub fn analyse_all(plan: &Plan, tallies: &[TableCounts], options: &Options) -> Vec<Analysis> {
    analyse_all_with_progress(plan, tallies, options, ProgressSink::none()).unwrap_or_default()
}

/// Estimates tables of the same responses. `progress` receives the tables, and the simulated surveys.
///
/// # Errors
/// Returns [`Cancelled`] if `progress` cancels.
pub fn analyse_all_with_progress(
    plan: &Plan,
    tallies: &[TableCounts],
    options: &Options,
    progress: ProgressSink<'_>,
) -> Result<Vec<Analysis>, Cancelled> {
    let each = |options: &Options| {
        let steps = Steps::new("tables", Some(tallies.len() as u64), progress);
        let one = |at: usize| {
            let waits = steps.check().is_ok();
            let analysis = waits.then(|| analyse_alone(plan, &tallies[at], options, &steps));
            steps.go_on();
            analysis
        };
        let found = parallel::map(tallies.len(), parallel::threads(), one);
        steps.check().map(|()| found.into_iter().flatten().collect::<Vec<Analysis>>())
    };
    if options.method != Method::Constrained {
        return each(options);
    }
    let mut analyses = each(&Options { method: Method::Unbiased, ..*options })?;
    let told: Vec<usize> = (0..tallies.len()).filter(|&at| analyses[at].cells.is_ok()).collect();
    if told.is_empty() {
        return Ok(analyses);
    }
    let counted: Vec<&TableCounts> = told.iter().map(|&at| &tallies[at]).collect();
    match made_to_agree(plan, &counted) {
        Ok((estimates, problem)) => {
            let people = counted.iter().map(|tally| effective_people(tally)).fold(f64::INFINITY, f64::min);
            let shares: Vec<Vec<f64>> = estimates.into_iter().map(|estimate| estimate.shares).collect();
            let found = (problem, shares.clone());
            let errors = match ConstrainedErrors::of_estimates(plan, &counted, found, options.target, progress) {
                Ok(errors) => Some(errors.of_cells(people, progress)?),
                Err(SimulationError::Cancelled(cancelled)) => return Err(cancelled),
                Err(SimulationError::Estimate(_) | SimulationError::OutOfReach) => None,
            };
            for (number, shares) in shares.into_iter().enumerate() {
                let Ok(cells) = &mut analyses[told[number]].cells else { continue };
                for (at, (cell, share)) in cells.iter_mut().zip(shares).enumerate() {
                    *cell = agreed(share, errors.as_ref().map_or(f64::NAN, |errors| errors[number][at]), cell);
                }
            }
        }
        Err(error) => told.iter().for_each(|&at| analyses[at].cells = Err(error.clone().into())),
    }
    Ok(analyses)
}

/// Returns a cell of a constrained table: its share and error, with the interval of the unbiased estimate.
fn agreed(estimate: f64, error: f64, unbiased: &Cell) -> Cell {
    let told = |own: Uncertainty| {
        let (low, high) = with_estimate((own.low, own.high), estimate);
        Uncertainty { standard_error: error, low, high }
    };
    Cell { estimate, uncertainty: unbiased.uncertainty.map(told) }
}
