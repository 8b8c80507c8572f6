//! The standard errors to expect from a plan.

use candor_analysis::estimate::{TableEstimator, Target};
use candor_base::plan::Plan;
use candor_runtime::parallel;
use serde::Serialize;

/// With this confidence all shares of a table's answers are as near as the errors of the answers say.
const CONFIDENCE: f64 = 0.95;

/// What to expect of one table, if the truth is uniform, and if it is another.
#[derive(Default, Clone, Debug, PartialEq, Serialize)]
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
    /// At most the root mean square standard error of a share within the groups of all attributes but the last ("the
    /// last given the others"), in a group of average size; `None` for one attribute, or if it cannot be estimated.
    pub conditional_error: Option<f64>,
    /// The same as `standard_error` if the truth is as anticipated; `None` if nothing is, or it is not worked out.
    pub anticipated_error: Option<f64>,
    /// The largest standard error of any cell, whatever the truth; `None` if it is not worked out.
    pub worst_error: Option<f64>,
    /// How far the observed shares of answers may be off, all at once with confidence 0.95 (Domingo-Ferrer and
    /// Soria-Comas 2020).
    pub absolute_error: Option<f64>,
    /// The same, relative to the shares.
    pub relative_error: Option<f64>,
}

/// How many groups the attributes of a table but the last one make.
///
/// A share within a group is a cell over the group's share `g`. With `p = 1 / categories`, its variance is
/// `(Var x - 2 p Cov(x, g) + p^2 Var g) / g^2`, which is `(Var x - p^2 Var g) / g^2` where all cells of a group are
/// alike, and so at most `Var x / g^2`. The mean of `1 / g` over people is the number of groups, whatever their sizes.
pub fn groups(plan: &Plan, table: &[usize]) -> f64 {
    let others = &table[..table.len().saturating_sub(1)];
    others.iter().map(|&attribute| plan.schema().size(attribute) as f64).product()
}

/// What to expect of each table from so many respondents, if the truth is uniform. On all cores.
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

/// The standard errors of tables of a plan for other truths than the uniform one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorScenarios {
    /// The root mean square over all cells if the truth is as anticipated; `None` if nothing is, or it is not worked
    /// out for a table.
    pub anticipated: Option<f64>,
    /// The largest of any cell, whatever the truth; `None` if it is not worked out for a table.
    pub worst: Option<f64>,
}

impl ErrorScenarios {
    /// Of tables that the plan leaves enough of; `anticipated` has the share of each cell of each table, if something
    /// is anticipated.
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
