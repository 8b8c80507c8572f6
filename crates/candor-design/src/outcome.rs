//! A plan with what its design found out: bounds, what other methods would have cost, and what there is to know of it.

use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_runtime::progress::{Deadline, ProgressSink, Stopped};
use serde::Serialize;

use crate::bound::OptimalityGap;

/// A plan and what is known about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DesignOutcome {
    /// The plan, certified.
    pub plan: Plan,
    /// No channel with the same marginal attribute epsilons has a smaller record epsilon.
    pub lower_bound: Option<f64>,
    /// Why the search ended before it was done, if it did: the plan is the best until then, and its bounds hold.
    pub stopped: Option<Stopped>,
    /// What the same attribute epsilons would cost otherwise.
    pub alternatives: Vec<AlternativeMethod>,
    /// Attributes whose epsilon is not the one asked for.
    pub altered: Vec<AdjustedEpsilon>,
    /// Where tables are named: how the plan stands to the least possible error of them.
    pub standing: Option<OptimalityGap>,
    /// For a workload: what else could be had.
    pub workload: Option<Choice>,
    /// What else there is to know, in sentences.
    pub notes: Vec<String>,
    /// Whether a plan made for the tables would serve better.
    pub recommend_workload: bool,
}

/// Another method at the same attribute epsilons.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlternativeMethod {
    /// The method.
    pub method: &'static str,
    /// The record epsilon it would take.
    pub epsilon: f64,
    /// How many attribute epsilons would not be the ones asked for.
    pub altered: usize,
    /// How many of these would be larger.
    pub raised: usize,
}

impl AlternativeMethod {
    /// A method that meets every attribute epsilon at this record epsilon.
    pub(crate) fn exact(method: &'static str, epsilon: f64) -> AlternativeMethod {
        AlternativeMethod { method, epsilon, altered: 0, raised: 0 }
    }
}

/// An attribute epsilon that is not the one asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AdjustedEpsilon {
    /// The attribute's name.
    pub attribute: String,
    /// What was asked for.
    pub asked: f64,
    /// What came out.
    pub achieved: f64,
}

/// What a plan for tables was chosen among.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// No plan of this kind has a smaller error, where all were tried; and what the kind is.
    pub of_its_kind: Option<(f64, &'static str)>,
    /// Other methods at the same total epsilon.
    pub others: Vec<OtherMethod>,
}

/// What another method would do for the same tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OtherMethod {
    /// The method.
    pub method: &'static str,
    /// The root mean square standard error over all tables, by their weights; `None` if they cannot be estimated.
    pub standard_error: Option<f64>,
}

/// How good a plan is for the tables named, as numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GapReport {
    /// The number of respondents times the squared standard errors of all cells of all tables, by their weights.
    pub error: Option<f64>,
    /// No method with unbiased estimates and an epsilon (delta 0) not above the plan's has a smaller error, for a
    /// uniform population or in its worst case.
    pub bound: Option<f64>,
    /// Whom the bound is about.
    pub bound_over: &'static str,
    /// The error over the bound.
    pub times_the_bound: Option<f64>,
    /// No plan of its kind has a smaller error, where all were tried.
    pub of_its_kind: Option<f64>,
    /// Other methods at the same total epsilon.
    pub others: Vec<OtherMethod>,
}

impl DesignOutcome {
    /// Finds out how the plan stands to the lower bound on the error of these tables.
    pub fn judge(&mut self, tables: &TableList, weights: &[f64]) {
        self.judge_within(tables, weights, &Deadline::start(None, ProgressSink::none()));
    }

    /// The same with a deadline, which ends the search for a bound with the best found until then.
    pub fn judge_within(&mut self, tables: &TableList, weights: &[f64], deadline: &Deadline<'_>) {
        self.standing = OptimalityGap::within(&self.plan, tables, weights, deadline);
    }

    /// How good the plan is for tables; `None` if it was neither made nor judged for any.
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
