//! An estimated table, or why there is none.

use candor_base::shape::Shape;

use super::simplex;

/// Whose table is estimated; the point estimates are the same, the standard errors are not
/// (docs/explanation/estimation.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The population from which the respondents are an independent sample.
    #[default]
    Population,
    /// The very records that were randomized: only the randomization is uncertain.
    Table,
}

/// An unbiased estimate of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The attributes, by position in the schema.
    pub attributes: Vec<usize>,
    /// The number of categories of each.
    pub dims: Vec<usize>,
    /// The share of each cell, first attribute slowest; they sum to 1 and can be negative.
    pub shares: Vec<f64>,
    /// The standard error of each share.
    pub standard_errors: Vec<f64>,
    /// How many responses it is from.
    pub respondents: f64,
}

impl Estimate {
    /// The root mean square of the standard errors over the cells that can be.
    pub fn root_mean_square_error(&self) -> f64 {
        let squares: f64 = self.standard_errors.iter().map(|se| se * se).sum();
        (squares / self.possible_cells().max(1) as f64).sqrt()
    }

    /// How many cells have a share or an error: all but those that cannot be.
    pub fn possible_cells(&self) -> usize {
        self.shares.iter().zip(&self.standard_errors).filter(|(share, error)| **share != 0.0 || **error > 0.0).count()
    }

    /// A proper distribution whose one-way shares are right: the [projection](simplex::project) of the shares, which
    /// moves much where a table has many noisy cells, fitted to the projections of the estimated one-way shares, which
    /// move little. The estimate itself, where it is a distribution. Cost: thirty passes over the cells for each
    /// attribute, more for small tables.
    pub fn distribution(&self) -> Vec<f64> {
        let projected = simplex::project(&self.shares);
        if self.dims.len() < 2 || self.shares.iter().all(|share| *share >= 0.0) {
            return projected;
        }
        let shape = Shape::new(self.dims.clone());
        let one_way = |axis: usize| simplex::project(&shape.margin(&self.shares, axis));
        let margins: Vec<Vec<f64>> = (0..self.dims.len()).map(one_way).collect();
        simplex::fitted(&projected, &shape, &margins)
    }

    /// The largest standard error.
    pub fn largest_error(&self) -> f64 {
        self.standard_errors.iter().copied().fold(0.0, f64::max)
    }

    /// How many respondents it takes for intervals that reach `reach` standard errors to reach no
    /// further than `margin` in any cell, if the truth is like this estimate: variances fall as one
    /// over the number of respondents.
    pub fn respondents_for(&self, margin: f64, reach: f64) -> f64 {
        (self.respondents * (reach * self.largest_error() / margin).powi(2)).ceil()
    }
}

/// Why a table cannot be estimated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// There are no responses.
    #[error("there are no responses to estimate from")]
    NoResponses,
    /// The plan erases what the table asks for.
    #[error(
        "not identifiable: under this plan the answers tell nothing about {}; a plan that answers {} with less noise, \
         or a table without {}, would do",
        together(.0), if .0.len() == 1 { "it" } else { "them together" },
            if .0.len() == 1 { "it" } else { "one of them" }
    )]
    NotIdentifiable(Vec<String>),
    /// The iteration did not settle.
    #[error("the iterative method had not settled after {0} updates; use unbiased or projected")]
    NotConverged(usize),
    /// Nobody is in the group with the weights of a replicate.
    #[error(
        "with the weights of a replicate there are no responses here, so that they tell no error; merge groups, or \
         leave this one out"
    )]
    EmptyReplicate,
    /// What units add to the cells is not held.
    #[error(
        "its {cells} cells are too many for the errors of {units} sampling units; ask for a smaller table, or name \
         larger units"
    )]
    TooManyUnits {
        /// How many units there are.
        units: usize,
        /// How many cells.
        cells: usize,
    },
    /// The counts do not hold the likelihood that a method needs.
    #[error("this method does not apply to the table: {0}")]
    NoLikelihood(&'static str),
}

fn together(names: &[String]) -> String {
    match names {
        [one] => format!("\"{one}\""),
        several => format!(
            "how {} depend on each other",
            several.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ")
        ),
    }
}
