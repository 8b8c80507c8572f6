//! The outcome of a design: a plan with bounds, alternatives and notes.

use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_runtime::progress::{Deadline, ProgressSink, Stopped};
use serde::Serialize;

use crate::bound::OptimalityGap;

/// A plan and the findings of its design.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DesignOutcome {
    /// The plan, certified.
    pub plan: Plan,
    /// Lower bound on the record-level epsilon of all channels with the same marginal epsilons.
    pub lower_bound: Option<f64>,
    /// The reason why the search ended early, if it did. The plan is the best found, and its bounds hold.
    pub stopped: Option<Stopped>,
    /// Record-level epsilons of other methods for the same attribute epsilons.
    pub alternatives: Vec<AlternativeMethod>,
    /// Attributes whose epsilon differs from the requested one.
    pub altered: Vec<AdjustedEpsilon>,
    /// For named tables: the optimality gap of the plan.
    pub standing: Option<OptimalityGap>,
    /// For a workload: the errors of other methods.
    pub workload: Option<Choice>,
    /// Further findings, in sentences.
    pub notes: Vec<String>,
    /// Whether a plan optimized for the tables would have smaller errors.
    pub recommend_workload: bool,
}

/// Another method for the same attribute epsilons.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlternativeMethod {
    /// The method.
    pub method: &'static str,
    /// Record-level epsilon that it would need.
    pub epsilon: f64,
    /// Number of attribute epsilons that would differ from the requested ones.
    pub altered: usize,
    /// Number of these that would be larger.
    pub raised: usize,
}

impl AlternativeMethod {
    /// Creates the entry of a method that meets every attribute epsilon at this record-level epsilon.
    pub(crate) fn exact(method: &'static str, epsilon: f64) -> AlternativeMethod {
        AlternativeMethod { method, epsilon, altered: 0, raised: 0 }
    }
}

/// An attribute epsilon that differs from the requested one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AdjustedEpsilon {
    /// The attribute's name.
    pub attribute: String,
    /// The requested epsilon.
    pub asked: f64,
    /// The achieved epsilon.
    pub achieved: f64,
}

/// The alternatives among which a plan for tables was chosen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// Lower bound on the error of all plans of this kind, and the name of the kind, if all were tried.
    pub of_its_kind: Option<(f64, &'static str)>,
    /// Other methods at the same record-level epsilon.
    pub others: Vec<OtherMethod>,
}

/// The error of another method for the same tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OtherMethod {
    /// The method.
    pub method: &'static str,
    /// Root mean square standard error over all tables, by their weights; `None` if they cannot be estimated.
    pub standard_error: Option<f64>,
}

/// The quality of a plan for the named tables, as numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GapReport {
    /// Squared standard errors of all cells of all tables, by their weights, times the number of respondents.
    pub error: Option<f64>,
    /// Lower bound on the error of all methods with unbiased estimates and an epsilon (delta 0) of at most the plan's.
    ///
    /// It is for a uniform population, or for the worst case.
    pub bound: Option<f64>,
    /// The methods that the bound covers.
    pub bound_over: &'static str,
    /// The error divided by the bound.
    pub times_the_bound: Option<f64>,
    /// Lower bound on the error of all plans of its kind, if all were tried.
    pub of_its_kind: Option<f64>,
    /// Other methods at the same record-level epsilon.
    pub others: Vec<OtherMethod>,
}

impl DesignOutcome {
    /// Computes the optimality gap of the plan for these tables.
    pub fn judge(&mut self, tables: &TableList, weights: &[f64]) {
        self.judge_within(tables, weights, &Deadline::start(None, ProgressSink::none()));
    }

    /// Computes the optimality gap with a deadline, at which the search for a bound returns the best found so far.
    pub fn judge_within(&mut self, tables: &TableList, weights: &[f64], deadline: &Deadline<'_>) {
        self.standing = OptimalityGap::within(&self.plan, tables, weights, deadline);
    }

    /// Returns the quality of the plan for tables, or `None` if no tables were considered.
    pub fn judgement(&self) -> Option<GapReport> {
        if self.standing.is_none() && self.workload.is_none() {
            return None;
        }
        let of_its_kind = self.workload.as_ref().and_then(|choice| choice.of_its_kind);
        Some(GapReport {
            error: self.standing.map(|standing| standing.error),
            bound: self.standing.map(|standing| standing.bound),
            bound_over: "all local mechanisms with unbiased estimates",
            times_the_bound: self.standing.map(|standing| standing.times()),
            of_its_kind: of_its_kind.map(|(least, _)| least),
            others: self.workload.iter().flat_map(|choice| choice.others.clone()).collect(),
        })
    }
}

impl From<Plan> for DesignOutcome {
    fn from(plan: Plan) -> DesignOutcome {
        DesignOutcome {
            plan,
            lower_bound: None,
            stopped: None,
            alternatives: Vec::new(),
            altered: Vec::new(),
            standing: None,
            workload: None,
            notes: Vec::new(),
            recommend_workload: false,
        }
    }
}
