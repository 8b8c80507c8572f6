//! The standard errors to expect from a plan.

use candor::plan::Plan;
use candor_analysis::estimate::{TableEstimator, Target};
use serde::Serialize;

/// With this confidence all shares of a table's answers are as near as the errors of the answers say.
const CONFIDENCE: f64 = 0.95;

/// What to expect of one table, if the truth is uniform.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Expectation {
    /// The attributes' names.
    pub attributes: Vec<String>,
    /// How many cells it has.
    pub cells: usize,
    /// Whether the plan leaves enough to estimate it.
    pub identifiable: bool,
    /// The root mean square standard error over the cells; `None` if it cannot be estimated.
    pub standard_error: Option<f64>,
    /// How far the observed shares of answers may be off, all at once with confidence 0.95 (Domingo-Ferrer and Soria-Comas 2020).
    pub absolute_error: Option<f64>,
    /// The same, relative to the shares.
    pub relative_error: Option<f64>,
}

/// What to expect of each table from so many respondents, if the truth is uniform.
pub fn expectations(plan: &Plan, tables: &[Vec<usize>], respondents: f64) -> Vec<Expectation> {
    let one = |table: &Vec<usize>| {
        let estimator = TableEstimator::new(plan, table);
        let answers = estimator.as_ref().ok().and_then(|e| e.answer_errors(respondents, CONFIDENCE));
        let predicted = estimator.and_then(|estimator| estimator.predict(respondents, Target::Population));
        let standard_error = predicted.ok().map(|estimate| estimate.root_mean_square_error());
        Expectation {
            attributes: table.iter().map(|&a| plan.schema().name(a).to_owned()).collect(),
            cells: table.iter().map(|&a| plan.schema().size(a)).product(),
            identifiable: standard_error.is_some(),
            standard_error,
            absolute_error: answers.map(|(absolute, _)| absolute),
            relative_error: answers.map(|(_, relative)| relative),
        }
    };
    tables.iter().map(one).collect()
}
