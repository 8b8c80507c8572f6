//! Requests for plans that are optimized for tables.

use candor_analysis::structural_zeros::possible;
use candor_analysis::table_list::TableList;
use candor_base::channel::Channel;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use super::{Workload, lottery, lottery_for, sampling, single};
use crate::bound::squared_error;
use crate::independent::independent;
use crate::joint::least_epsilon::search::SearchLimits;
use crate::outcome::{Choice, DesignOutcome, OtherMethod};
use crate::traits::{Candidates, ComparisonTarget, Design, parameters};
use crate::{DEFAULT_RESPONDENTS, DesignError, budget, randomized_attributes};

/// Parameters of a workload-optimal plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadRequest {
    /// Record-level epsilon.
    pub epsilon: f64,
    /// The tables whose error is minimized, with weights such as `a,b:2;c`; all pairs by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<String>,
    /// Whether all respondents use one channel, instead of a lottery.
    #[serde(
        rename(serialize = "single", deserialize = "one_channel"),
        alias = "single",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub single: bool,
    /// Search time limit in seconds; [`DEFAULT_TIME_LIMIT_SECS`](candor_runtime::progress::DEFAULT_TIME_LIMIT_SECS) by
    /// default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// Number of respondents, if known; each table then gets at least about 30 of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub respondents: Option<f64>,
}

/// Parameters of sampling one of the tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingRequest {
    /// Record-level epsilon.
    pub epsilon: f64,
    /// The tables to assign, with weights such as `a,b:2;c`; all pairs by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<String>,
}

/// Returns the requested tables with their weights; by default all pairs, or the only attribute.
///
/// # Errors
/// Returns [`DesignError::Tables`] if the text does not name tables of the schema.
pub fn asked_tables(schema: &Schema, tables: Option<&str>) -> Result<(TableList, Vec<f64>), DesignError> {
    let default = if randomized_attributes(schema)?.len() > 1 { "pairs" } else { "marginals" };
    Ok(TableList::parse_weighted(tables.unwrap_or(default), schema)?)
}

impl WorkloadRequest {
    /// Creates a request for the least error of all pairs at this record-level epsilon.
    pub fn new(epsilon: f64) -> Self {
        WorkloadRequest { epsilon, tables: None, single: false, time_limit: None, respondents: None }
    }

    parameters! {
        /// Sets the tables, such as `marginals` or `a,b;c`, with weights such as `a,b:2;c`; all pairs by default.
        tables(tables: impl Into<String>): tables = Some(tables.into());
        /// Sets the search time limit in seconds.
        time_limit(seconds: f64): time_limit = Some(seconds);
        /// Sets the number of respondents, of whom each table gets at least about 30.
        respondents(respondents: f64): respondents = Some(respondents);
    }

    parameters! {
        /// Uses one channel for all respondents, instead of a lottery.
        one_channel: single;
    }
}

impl Design for WorkloadRequest {
    fn design(&self, schema: &Schema, progress: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let (tables, weights) = asked_tables(schema, self.tables.as_deref())?;
        let effort = SearchLimits::within(randomized_attributes(schema)?.len(), self.time_limit, progress);
        let (found, kind) = match (self.single, self.respondents) {
            (true, _) => (single(schema, self.epsilon, &tables, &weights, effort)?, ONE_CHANNEL),
            (false, None) => (lottery(schema, self.epsilon, &tables, &weights, effort)?, LOTTERY),
            (false, Some(n)) => (lottery_for(schema, self.epsilon, &tables, &weights, n, effort)?, LOTTERY),
        };
        let stopped = effort.stopped();
        let choice = choice(&found, kind, schema, self.epsilon, &tables, &weights);
        let notes = what_it_answers(&found.plan).into_iter().collect();
        Ok(DesignOutcome { workload: Some(choice), stopped, notes, ..DesignOutcome::from(found.plan) })
    }

    fn at(_: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        let (tables, time_limit) = (Some(goal.tables.to_owned()), goal.time_limit.map(|limit| limit.as_secs_f64()));
        let respondents = Some(goal.respondents);
        vec![(None, Ok(WorkloadRequest { epsilon: goal.epsilon, tables, single: false, time_limit, respondents }))]
    }
}

impl SamplingRequest {
    /// Creates a request in which each respondent answers one of all pairs, at this record-level epsilon.
    pub fn new(epsilon: f64) -> Self {
        SamplingRequest { epsilon, tables: None }
    }

    parameters! {
        /// Sets the tables, such as `marginals` or `a,b;c`, with weights such as `a,b:2;c`; all pairs by default.
        tables(tables: impl Into<String>): tables = Some(tables.into());
    }
}

impl Design for SamplingRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let (tables, weights) = asked_tables(schema, self.tables.as_deref())?;
        let found = sampling(schema, self.epsilon, &tables, &weights)?;
        Ok(DesignOutcome { recommend_workload: true, ..DesignOutcome::from(found.plan) })
    }

    fn at(schema: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        let request = |text: &str| {
            TableList::parse(text, schema)?;
            Ok(SamplingRequest { epsilon: goal.epsilon, tables: Some(text.to_owned()) })
        };
        vec![(Some("sampling one attribute"), request("marginals")), (Some("sampling one pair"), request("pairs"))]
    }
}

/// The kind of plans with a single channel.
const ONE_CHANNEL: &str = "one channel for everybody";

/// The kind of plans with a lottery.
const LOTTERY: &str = "a lottery of strips and boxes of about these sizes and of channels that answer with one \
                       category of each attribute";

/// Describes the tables that a lottery with strips answers; `None` if it has no strips.
fn what_it_answers(plan: &Plan) -> Option<String> {
    let block = plan.blocks().iter().find(|block| block.strips().next().is_some())?;
    let weight = |strips: bool| -> f64 {
        let is_asked = |channel: &Channel| matches!(channel, Channel::Strip(_)) == strips;
        block.channels().iter().filter(|(_, channel)| is_asked(channel)).map(|(weight, _)| *weight as f64).sum()
    };
    let of_strips = weight(true) / (weight(true) + weight(false));
    let asked = "It answers the tables named, and those inside them, such as the attributes of a pair";
    let name = "name every table that you will want";
    Some(match of_strips < 1.0 {
        true => format!(
            "{asked}. {:.0}% of the respondents are asked about a few attributes only; the other responses carry \
             little or no information on other tables: {name}.",
            100.0 * of_strips
        ),
        false => {
            format!(
                "{asked}: every respondent is asked about a few attributes. Responses carry little or no information \
                 on other tables: {name}."
            )
        }
    })
}

/// Returns the errors of other methods for the same record-level epsilon.
fn choice(
    found: &Workload,
    kind: &'static str,
    schema: &Schema,
    total: f64,
    tables: &TableList,
    weights: &[f64],
) -> Choice {
    let cells = tables.lists().iter().zip(weights).map(|(table, weight)| {
        let size = |&attribute: &usize| schema.size(attribute) as f64;
        let of_those = |cells: Vec<bool>| cells.into_iter().filter(|possible| *possible).count() as f64;
        weight * possible(schema, table).map_or_else(|| table.iter().map(size).product(), of_those)
    });
    let scale = cells.sum::<f64>() * DEFAULT_RESPONDENTS;
    // The minimized error is that of the plan, except for the rounding to integers.
    let minimised = |error: f64| (error / scale).sqrt();
    let error = |plan: &Plan| Some(minimised(squared_error(plan, tables, weights).ok()?));
    let shares = budget::share(total, &vec![1.0; schema.randomized().len()]);
    let alone = shares.ok().and_then(|shares| independent(schema, &shares).ok());
    let sampled = sampling(schema, total, tables, weights).ok();
    let others = [
        ("this plan", Some(minimised(found.error))),
        ("sampling one table per respondent", sampled.map(|sampled| minimised(sampled.error))),
        ("independent", alone.as_ref().and_then(error)),
    ];
    let others = others.into_iter().map(|(method, standard_error)| OtherMethod { method, standard_error }).collect();
    Choice { of_its_kind: found.of_its_kind.map(|least| (least, kind)), others }
}
