//! Results of a comparison of methods.

use candor_base::plan::Plan;
use candor_design::{Method, Request};
use serde::Serialize;

use crate::verdict::Verdict;

/// Largest useful standard error of a share; above it, an interval spans all possible values.
const USELESS: f64 = 0.25;

/// Comparison of methods at the same record-level epsilon.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MethodComparison {
    /// Whether the recommended method is precise enough for the tables.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Certified record-level epsilon, the same for every method.
    pub epsilon: f64,
    /// Number of respondents.
    pub respondents: f64,
    /// Tables whose error is compared.
    pub tables: String,
    /// The methods.
    pub methods: Vec<ComparedMethod>,
    /// Method with the least error, for the expected shares if given; `None` if no method can estimate the tables.
    pub recommended: Option<&'static str>,
    /// Optimality gap of the recommended method, if the lower bound is known.
    pub optimality: Option<Verdict>,
    /// Cost to each attribute of randomizing the others as well; empty for a single attribute.
    pub attributes: Vec<ComparedAttribute>,
    /// Names of the table lists with errors: one-way, two-way and, if different, the requested ones. Not in JSON.
    #[serde(skip)]
    pub lists: Vec<String>,
    /// Clusters of several attributes, by name. Not in JSON; the request contains them.
    #[serde(skip)]
    pub together: Vec<Vec<String>>,
    /// Number of simulated records. Not in JSON.
    #[serde(skip)]
    pub simulated: Option<usize>,
}

/// Errors of the requested tables that contain one attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparedAttribute {
    /// Name of the attribute.
    pub attribute: String,
    /// Root mean square standard error over all cells of its tables, for the recommended method.
    pub error: f64,
    /// The same if no other attribute were randomized, for the best method in that case.
    pub alone: f64,
}

/// One method of a comparison.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ComparedMethod {
    /// Name of the method.
    pub method: &'static str,
    /// Certified epsilon; `None` if unbounded or not applicable.
    pub epsilon: Option<f64>,
    /// Root mean square standard error over all cells of all one-way tables; `None` if one is not identifiable.
    pub one_way: Option<f64>,
    /// The same for two-way tables.
    pub two_way: Option<f64>,
    /// The same for the requested tables.
    pub error: Option<f64>,
    /// Upper bound on the same for conditional shares: those of the last attribute within groups of the others.
    pub conditional_error: Option<f64>,
    /// Error for the expected shares; `None` without them, or if not computed.
    pub anticipated_error: Option<f64>,
    /// Root mean square error of constrained estimates of the requested tables; `None` if not computed.
    ///
    /// It is for the expected shares, or for a uniform population without them.
    pub constrained_error: Option<f64>,
    /// Largest standard error of any cell of the requested tables in the worst case; `None` if not computed.
    pub worst_error: Option<f64>,
    /// Squared error of the requested tables divided by the lower bound, for a uniform population or in the worst
    /// case.
    ///
    /// The bound holds for all methods of this epsilon (delta 0) with unbiased estimates.
    pub times_the_bound: Option<f64>,
    /// Whether the requested tables are identifiable; `None` if the method does not apply.
    pub identifiable: Option<bool>,
    /// Number of columns of a response.
    pub columns: Option<usize>,
    /// Number of categories that a response names.
    pub categories: Option<usize>,
    /// Size of a response in bits.
    pub bits: Option<f64>,
    /// Largest conditional epsilon of any attribute.
    pub conditional_epsilon: Option<f64>,
    /// Explanation for respondents in one sentence.
    pub told: Option<String>,
    /// Design request for this plan.
    pub request: Option<Request>,
    /// Command that makes this plan. The caller sets it.
    pub command: Option<String>,
    /// Fingerprint of the plan.
    pub fingerprint: Option<String>,
    /// Whether the search reached its time limit.
    pub out_of_time: Option<bool>,
    /// Whether the search was cancelled.
    pub interrupted: Option<bool>,
    /// Reason why the method does not apply.
    pub reason: Option<String>,
    /// Predicted and observed errors of each table list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Vec<SimulatedError>>,
    /// The plan, if there is one. Not in JSON.
    #[serde(skip)]
    pub plan: Option<Plan>,
    /// What happens to a respondent's answers, in a few words. Not in JSON; see `told`.
    #[serde(skip)]
    pub happens: Option<String>,
    /// Error of each table list. Not in JSON.
    #[serde(skip)]
    pub errors: Vec<Option<f64>>,
    /// Whether the method was left out because it takes too long. Not in JSON.
    #[serde(skip)]
    pub takes_long: bool,
}

/// Errors of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SimulatedError {
    /// Name of the table list.
    pub tables: String,
    /// Predicted error for these records, assuming a uniform population.
    pub predicted: Option<f64>,
    /// Observed error.
    pub simulated: Option<f64>,
}

impl ComparedMethod {
    /// Returns the error of the requested tables that decides the recommendation.
    pub fn told_error(&self) -> Option<f64> {
        self.anticipated_error.or(self.error)
    }

    /// Returns the method of the request.
    pub fn asks(&self) -> Option<Method> {
        self.request.as_ref().map(Request::method)
    }
}

impl MethodComparison {
    /// Returns the recommended method.
    pub fn best(&self) -> Option<&ComparedMethod> {
        self.methods.iter().find(|method| Some(method.method) == self.recommended)
    }

    /// Returns how many times more respondents independent randomization needs than the recommended method.
    ///
    /// Returns `None` if independent randomization is the recommended method.
    pub fn times_as_many_respondents(&self) -> Option<f64> {
        let best = self.best().filter(|best| best.asks() != Some(Method::Independent))?;
        let alone = self.methods.iter().find(|method| method.asks() == Some(Method::Independent))?;
        Some((alone.told_error()? / best.told_error()?).powi(2))
    }

    /// Returns whether even the recommended method is too imprecise to be useful.
    pub fn tells_nothing(&self) -> bool {
        self.best().and_then(ComparedMethod::told_error).is_some_and(|error| error > USELESS)
    }
}
