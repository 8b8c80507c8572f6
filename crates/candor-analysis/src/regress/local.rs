//! Intermediate results for one group of the data.

use super::family::Derivatives;
use super::hidden_predictors::SparseRows;

/// Intermediate results for one group.
#[derive(Default)]
pub(super) struct Local {
    /// Rows of the design matrix, for each combination of randomized predictors.
    pub(super) x: Vec<f64>,
    /// Rows of the predictors' own law, and their mean.
    pub(super) d: SparseRows,
    pub(super) mean: Vec<f64>,
    /// Shares of the combinations, and their logarithms.
    pub(super) shares: Vec<f64>,
    pub(super) log_shares: Vec<f64>,
    /// Log-likelihood of outcome and predictors by true combination, with its derivatives in the indices.
    ///
    /// The outcome varies slowest.
    pub(super) log: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) hessian: Vec<f64>,
    /// Likelihood of each combination before any answer, and the logarithm of its scale.
    pub(super) prior: Vec<f64>,
    pub(super) scale: f64,
    pub(super) largest: f64,
    pub(super) derivatives: Derivatives,
    /// Sums over the group's responses of the posterior probability of each combination.
    pub(super) posterior: Vec<f64>,
    /// Weight of each combination, and the score with these weights.
    pub(super) truth: Vec<f64>,
    pub(super) score: Vec<f64>,
}

impl Local {
    /// Creates storage that includes logarithms of likelihoods.
    pub(super) fn with_logs() -> Local {
        let mut local = Local::default();
        local.derivatives.logs = true;
        local
    }
}

/// Likelihoods of a group's combinations at some parameters.
pub(super) struct Law<'a> {
    /// Rows of the design matrix, for each combination of randomized predictors.
    pub(super) x: &'a [f64],
    /// Shares of these combinations.
    pub(super) shares: &'a [f64],
    /// By true combination, with the outcome varying slowest.
    pub(super) log: &'a [f64],
    /// By true combination, then by index.
    pub(super) gradient: &'a [f64],
    /// By true combination, then by pair of indices.
    pub(super) hessian: &'a [f64],
}
