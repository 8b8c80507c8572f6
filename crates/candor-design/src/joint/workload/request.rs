//! Plans for tables, as requests.

use candor::plan::Plan;
use candor::schema::Schema;
use candor_analysis::estimate::Target;
use candor_analysis::table_list::TableList;
use serde::{Deserialize, Serialize};

use super::{Workload, lottery, sampling, single};
use crate::designed::{Designed, Goodness, OtherMethod};
use crate::independent::independent;
use crate::joint::optimal::search::Effort;
use crate::method::{Candidates, Design, Goal, Skipped};
use crate::predict::predicted_error;
use crate::{DEFAULT_RESPONDENTS, DesignError, budget, private};

/// What a workload-optimal plan takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadRequest {
    /// The epsilon of the record.
    pub epsilon: f64,
    /// The tables whose error is made small, with weights such as `a,b:2;c`; all pairs by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<String>,
    /// One channel for everybody instead of a lottery.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single: bool,
    /// Stop searching after so many seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
}

/// What sampling one of the tables takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingRequest {
    /// The epsilon of the record.
    pub epsilon: f64,
    /// The tables to draw from, with weights such as `a,b:2;c`; all pairs by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<String>,
}

/// The tables asked for, with their weights: all pairs by default, or the one attribute there is.
///
/// # Errors
/// If the text names no tables of the schema.
pub fn asked_tables(schema: &Schema, tables: Option<&str>) -> Result<(TableList, Vec<f64>), DesignError> {
    let default = if private(schema)?.len() > 1 { "pairs" } else { "marginals" };
    Ok(TableList::parse_weighted(tables.unwrap_or(default), schema)?)
}

impl Design for WorkloadRequest {
    fn design(&self, schema: &Schema) -> Result<Designed, DesignError> {
        let (tables, weights) = asked_tables(schema, self.tables.as_deref())?;
        let effort = Effort::within(private(schema)?.len(), self.time_limit);
        let make = if self.single { single } else { lottery };
        let found = make(schema, self.epsilon, &tables, &weights, effort)?;
        let out_of_time = effort.is_over();
        let goodness = goodness(&found, schema, self.epsilon, &tables, &weights);
        Ok(Designed { workload: Some(goodness), out_of_time, ..Designed::from(found.plan) })
    }

    fn at(schema: &Schema, goal: &Goal<'_>) -> Candidates<Self> {
        let request = || {
            check_lottery(schema.private().len(), TableList::parse(goal.tables, schema)?.lists().len())?;
            let (tables, time_limit) = (Some(goal.tables.to_owned()), goal.time_limit.map(|limit| limit.as_secs_f64()));
            Ok(WorkloadRequest { epsilon: goal.epsilon, tables, single: false, time_limit })
        };
        vec![(None, request())]
    }
}

impl Design for SamplingRequest {
    fn design(&self, schema: &Schema) -> Result<Designed, DesignError> {
        let (tables, weights) = asked_tables(schema, self.tables.as_deref())?;
        let found = sampling(schema, self.epsilon, &tables, &weights)?;
        Ok(Designed { recommend_workload: true, ..Designed::from(found.plan) })
    }

    fn at(schema: &Schema, goal: &Goal<'_>) -> Candidates<Self> {
        let request = |text: &str| {
            let tables = TableList::parse(text, schema)?;
            check_lottery(schema.private().len(), tables.lists().len())?;
            Ok(SamplingRequest { epsilon: goal.epsilon, tables: Some(text.to_owned()) })
        };
        vec![(Some("sampling one attribute"), request("marginals")), (Some("sampling one pair"), request("pairs"))]
    }
}

/// The number of patterns by channels up to which a lottery is certified, which lists them up to 20 attributes: some ten
/// seconds.
const MOST_PATTERNS: usize = 1 << 23;

fn check_lottery(attributes: usize, tables: usize) -> Result<(), Skipped> {
    match attributes <= 20 && tables << attributes > MOST_PATTERNS {
        true => Err(Skipped::Slow { attributes, tables }),
        false => Ok(()),
    }
}

/// How good a plan is, beside what else the total could buy.
fn goodness(found: &Workload, schema: &Schema, total: f64, tables: &TableList, weights: &[f64]) -> Goodness {
    let error =
        |plan: Option<Plan>| predicted_error(&plan?, tables.lists(), DEFAULT_RESPONDENTS, Target::Population).ok();
    let shares = budget::share(total, &vec![1.0; schema.private().len()]);
    let alone = shares.ok().and_then(|shares| independent(schema, &shares).ok());
    let sampled = sampling(schema, total, tables, weights).ok().map(|found| found.plan);
    let others = vec![
        ("this plan", error(Some(found.plan.clone()))),
        ("sampling one table per respondent", error(sampled)),
        ("independent", error(alone)),
    ];
    let others = others.into_iter().map(|(method, standard_error)| OtherMethod { method, standard_error }).collect();
    Goodness { error: found.error, lower_bound: found.lower_bound.min(found.error), proven: found.proven, others }
}
