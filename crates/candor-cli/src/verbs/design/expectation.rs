//! The standard errors to expect from a plan.

use candor::plan::Plan;
use candor_analysis::estimate::{EstimateError, TableEstimator, Target};

/// The standard errors to expect from a table.
pub struct Expectation {
    pub attributes: Vec<usize>,
    pub cells: usize,
    /// Root mean square over the cells, if the truth is uniform; or why there is none.
    pub standard_error: Result<f64, EstimateError>,
    /// Absolute and relative error of the answers' shares, all at once with confidence 0.95 (Domingo-Ferrer and Soria-Comas 2020).
    pub answer_errors: Option<(f64, f64)>,
}

impl Expectation {
    /// The predicted root mean square error, if there is one.
    pub fn error(&self) -> Option<f64> {
        self.standard_error.as_ref().ok().copied()
    }
}

/// What to expect of each table, if the truth is uniform.
pub fn expectations(plan: &Plan, tables: &[Vec<usize>], respondents: f64) -> Vec<Expectation> {
    let one = |table: &Vec<usize>| {
        let sizes = table.iter().map(|&attribute| plan.schema().size(attribute));
        let estimator = TableEstimator::new(plan, table);
        let answer_errors = estimator.as_ref().ok().and_then(|e| e.answer_errors(respondents, 0.95));
        let predicted = estimator.and_then(|estimator| estimator.predict(respondents, Target::Population));
        Expectation {
            answer_errors,
            attributes: table.clone(),
            cells: sizes.product(),
            standard_error: predicted.map(|estimate| estimate.root_mean_square_error()),
        }
    };
    tables.iter().map(one).collect()
}

/// The names of the attributes, as `--tables` takes them.
pub fn table_name(plan: &Plan, attributes: &[usize]) -> String {
    attributes.iter().map(|&a| plan.schema().name(a)).collect::<Vec<_>>().join(",")
}
