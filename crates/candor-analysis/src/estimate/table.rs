//! An estimated table, or the reason why it cannot be estimated.

use candor_base::shape::Shape;

use super::simplex;

/// Inference target.
///
/// Point estimates are the same for both, and standard errors differ (docs/explanation/estimation.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The population of which the respondents are an independent sample.
    #[default]
    Population,
    /// The randomized records themselves: only the randomization is uncertain.
    Table,
}

/// An unbiased estimate of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The attributes, by position in the schema.
    pub attributes: Vec<usize>,
    /// Number of categories of each.
    pub dims: Vec<usize>,
    /// Share of each cell, with the first attribute varying slowest; they sum to 1 and can be negative.
    pub shares: Vec<f64>,
    /// Standard error of each share.
    pub standard_errors: Vec<f64>,
    /// Number of responses.
    pub respondents: f64,
}

impl Estimate {
    /// Returns the root mean square of the standard errors over the possible cells.
    pub fn root_mean_square_error(&self) -> f64 {
        let squares: f64 = self.standard_errors.iter().map(|se| se * se).sum();
        (squares / self.possible_cells().max(1) as f64).sqrt()
    }

    /// Returns the number of cells that are not structural zeros.
    pub fn possible_cells(&self) -> usize {
        self.shares.iter().zip(&self.standard_errors).filter(|(share, error)| **share != 0.0 || **error > 0.0).count()
    }

    /// Returns a proper distribution with correct one-way shares; a proper estimate is returned unchanged.
    ///
    /// It is the [projection](simplex::project) of the shares, raked to the projections of the one-way shares. The
    /// first changes tables with many noisy cells considerably, and the second change little. The cost is thirty
    /// passes over the cells for each attribute, or more for small tables.
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

    /// Returns the largest standard error.
    pub fn largest_error(&self) -> f64 {
        self.standard_errors.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the sample size at which intervals of `reach` standard errors extend at most `margin` in any cell.
    ///
    /// The population is assumed to be like this estimate; variances are inversely proportional to the number of
    /// respondents.
    pub fn respondents_for(&self, margin: f64, reach: f64) -> f64 {
        (self.respondents * (reach * self.largest_error() / margin).powi(2)).ceil()
    }
}

/// Reason why a table cannot be estimated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// There are no responses.
    #[error("no responses to estimate from")]
    NoResponses,
    /// The table is not identifiable under the plan.
    #[error(
        "not identifiable: under this plan the answers carry no information about {}; use a plan that randomizes {} \
         less, or a table without {}",
        together(.0), if .0.len() == 1 { "it" } else { "them together" },
            if .0.len() == 1 { "it" } else { "one of them" }
    )]
    NotIdentifiable(Vec<String>),
    /// The iteration did not converge.
    #[error("the iterative method did not converge after {0} updates; use the method unbiased or projected")]
    NotConverged(usize),
    /// No responses in the group have a positive weight in one of the replicates.
    #[error(
        "no responses have a positive weight in one of the replicates, so the error cannot be estimated; merge groups, \
         or leave this one out"
    )]
    EmptyReplicate,
    /// Too many cells to store the contributions of the sampling units.
    #[error(
        "its {cells} cells are too many to estimate errors from {units} sampling units; use a smaller table, or larger \
         units"
    )]
    TooManyUnits {
        /// Number of sampling units.
        units: usize,
        /// Number of cells.
        cells: usize,
    },
    /// The counts do not determine the likelihood that a method requires.
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
