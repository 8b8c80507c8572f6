//! Expected standard errors of a plan.

use candor_analysis::estimate::{TableEstimator, Target};
use candor_base::plan::Plan;
use candor_runtime::parallel;
use serde::Serialize;

/// Simultaneous confidence level of the answer shares of a table.
const CONFIDENCE: f64 = 0.95;

/// Expected errors of one table, for a uniform population and for others.
#[derive(Default, Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Expectation {
    /// Names of the attributes.
    pub attributes: Vec<String>,
    /// Number of cells.
    pub cells: usize,
    /// Whether the table is identifiable under the plan.
    pub identifiable: bool,
    /// Root mean square standard error over the cells; `None` if it cannot be estimated.
    pub standard_error: Option<f64>,
    /// Upper bound on the root mean square standard error of shares of the last attribute within groups of the others.
    ///
    /// It is for a group of average size; `None` for one attribute, or if the table cannot be estimated.
    pub conditional_error: Option<f64>,
    /// Standard error for the expected shares; `None` without them, or if not computed.
    pub anticipated_error: Option<f64>,
    /// Largest standard error of any cell in the worst case; `None` if not computed.
    pub worst_error: Option<f64>,
    /// Absolute error of the observed answer shares, simultaneously with confidence 0.95.
    ///
    /// See Domingo-Ferrer and Soria-Comas 2020.
    pub absolute_error: Option<f64>,
    /// Relative error of the observed answer shares.
    pub relative_error: Option<f64>,
}

/// Returns the number of groups formed by all attributes of a table but the last.
///
/// A share within a group is a cell divided by the group's share `g`. With `p = 1 / categories`, its variance is
/// `(Var x - 2 p Cov(x, g) + p^2 Var g) / g^2`. If all cells of a group are alike, this equals
/// `(Var x - p^2 Var g) / g^2`, which is at most `Var x / g^2`. The mean of `1 / g` over people is the number of
/// groups, for any group sizes.
pub fn groups(plan: &Plan, table: &[usize]) -> f64 {
    let others = &table[..table.len().saturating_sub(1)];
    others.iter().map(|&attribute| plan.schema().size(attribute) as f64).product()
}

/// Returns the expected errors of each table for this number of respondents, computed in parallel.
pub fn expectations(plan: &Plan, tables: &[Vec<usize>], respondents: f64) -> Vec<Expectation> {
    parallel::map(tables.len(), parallel::threads(), |number| {
        let table = &tables[number];
        let estimator = TableEstimator::new(plan, table);
        let answers = estimator.as_ref().ok().and_then(|e| e.answer_errors(respondents, CONFIDENCE));
        let predicted = estimator.and_then(|estimator| estimator.predict(respondents, Target::Population));
        let standard_error = predicted.ok().map(|estimate| estimate.root_mean_square_error());
        Expectation {
            attributes: table.iter().map(|&a| plan.schema().name(a).to_owned()).collect(),
            cells: table.iter().map(|&a| plan.schema().size(a)).product(),
            identifiable: standard_error.is_some(),
            standard_error,
            conditional_error: standard_error.filter(|_| table.len() > 1).map(|error| error * groups(plan, table)),
            anticipated_error: None,
            worst_error: None,
            absolute_error: answers.map(|(absolute, _)| absolute),
            relative_error: answers.map(|(_, relative)| relative),
        }
    })
}

/// Standard errors of tables for populations other than uniform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorScenarios {
    /// Root mean square error over all cells for the expected shares; `None` without them, or if not computed for a
    /// table.
    pub anticipated: Option<f64>,
    /// Largest error of any cell in the worst case; `None` if not computed for a table.
    pub worst: Option<f64>,
}

impl ErrorScenarios {
    /// Computes errors of identifiable tables.
    ///
    /// `anticipated` has the expected share of each cell of each table, if given.
    pub fn new(
        plan: &Plan,
        tables: &[Vec<usize>],
        anticipated: Option<&[Vec<f64>]>,
        respondents: f64,
    ) -> ErrorScenarios {
        let worst = |table: &Vec<usize>| TableEstimator::new(plan, table).ok()?.worst_error(respondents).ok()?;
        let worst = parallel::map(tables.len(), parallel::threads(), |number| worst(&tables[number]));
        let worst: Option<Vec<f64>> = worst.into_iter().collect();
        let squares = |(table, truth): (&Vec<usize>, &Vec<f64>)| {
            let predicted = TableEstimator::new(plan, table).ok()?.predict_at(respondents, truth).ok()??;
            Some(predicted.standard_errors.iter().map(|error| error * error).sum::<f64>())
        };
        let root_mean = |truths: &[Vec<f64>]| {
            let sum = tables.iter().zip(truths).map(squares).sum::<Option<f64>>()?;
            Some((sum / truths.iter().map(Vec::len).sum::<usize>().max(1) as f64).sqrt())
        };
        ErrorScenarios {
            anticipated: anticipated.and_then(root_mean),
            worst: worst.map(|worst| worst.into_iter().fold(0.0, f64::max)),
        }
    }
}
