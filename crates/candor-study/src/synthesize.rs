//! Records of people who do not exist, as the responses tell of those who do.

use candor::plan::Plan;
use candor::randomness::Source;
use candor_analysis::adjust::DistinctRecords;
use candor_analysis::synthesize::{MAX_CELLS, MAX_RECORDS, estimated_tables, from_tables, from_weights};
use candor_analysis::table_list::TableList;
use serde::Serialize;

use crate::adjust::Adjustment;
use crate::choice::Choice;
use crate::counts::Counts;
use crate::error::StudyError;
use crate::words::count;

/// Which estimated tables records are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// The table of all attributes; for small domains.
    Joint,
    /// The table of each block of the plan, blocks independent of each other.
    Clusters,
}

/// Synthetic records, and what they are made from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Synthesis {
    /// How many records.
    pub records: u64,
    /// How many responses they are made from.
    pub respondents: u64,
    /// How: `joint`, `clusters` or `adjusted`.
    pub method: &'static str,
    /// Whether the weights converged, if they are made from weights.
    pub converged: Option<bool>,
    /// What made their order reproducible, if anything: for who chose it to say.
    pub seed: Option<u64>,
    /// The plan's fingerprint.
    pub fingerprint: String,
    /// How long it took, reading and writing included: for who does that to say.
    pub seconds: Option<f64>,
    /// The codes, one column per attribute of the schema. Not in JSON.
    #[serde(skip)]
    pub columns: Vec<Vec<u16>>,
}

impl Choice for Parts {
    const PARAMETER: &'static str = "method";
    const ALL: &'static [(&'static str, Parts)] = &[("joint", Parts::Joint), ("clusters", Parts::Clusters)];
}

impl Parts {
    /// What to use where these tables do not serve.
    fn instead(self, plan: &Plan) -> &'static str {
        // Lotteries have no records to give weights to.
        if plan.blocks().iter().any(|block| block.has_tag()) {
            return "a plan whose answers are records, such as those of `method independent`, joint or clusters";
        }
        match self {
            Parts::Joint => "`method clusters` or adjusted",
            Parts::Clusters => "`method adjusted`, or a plan with smaller blocks",
        }
    }

    fn refuse(self, plan: &Plan, problem: impl std::fmt::Display) -> StudyError {
        StudyError::Refused(format!("{problem}; use {}", self.instead(plan)))
    }
}

/// The tables that records are made from; together they hold every attribute once.
///
/// # Errors
/// If one is too large: then with what to use instead.
pub fn tables(plan: &Plan, parts: Parts) -> Result<TableList, StudyError> {
    let schema = plan.schema();
    let tables = match parts {
        Parts::Joint => TableList::of(vec![(0..schema.attributes().len()).collect()], schema),
        Parts::Clusters => TableList::of_blocks(plan),
    };
    let tables = tables.map_err(|error| parts.refuse(plan, error))?;
    for table in tables.lists() {
        let cells = schema.shape(table).cells();
        if cells > MAX_CELLS {
            let names: Vec<&str> = table.iter().map(|&attribute| schema.name(attribute)).collect();
            let problem = format!(
                "the table of {} has {} cells; records are made from tables of up to {}",
                names.join(", "),
                count(cells as u64),
                count(MAX_CELLS as u64)
            );
            return Err(parts.refuse(plan, problem));
        }
    }
    Ok(tables)
}

/// Makes records, as many as responses unless a number is said, from the counts of these [`tables`].
///
/// # Errors
/// If a table was not counted or cannot be estimated, or there would be too many records, or none.
pub fn synthesize(
    plan: &Plan,
    parts: Parts,
    counts: &Counts,
    records: Option<u64>,
    source: &Source,
) -> Result<Synthesis, StudyError> {
    let records = check_records(records.unwrap_or(counts.responses()))?;
    let wanted = tables(plan, parts)?;
    let tallies: Option<Vec<_>> = wanted.lists().iter().map(|table| counts.table(table)).collect();
    let tallies = tallies.ok_or(StudyError::Counts("the tables that records are made from must be counted"))?;
    let estimated = estimated_tables(plan, tallies).map_err(|error| parts.refuse(plan, error))?;
    let columns = from_tables(plan.schema(), &estimated, records, &mut source.stream(0));
    Ok(made(plan, parts.called(), counts.responses(), columns))
}

/// Makes records from answer records with the weights of [`adjust`](crate::adjust::adjust), which reach every dependence that the
/// answers still have.
///
/// # Errors
/// If the weights are not those of the records, or there would be too many records.
pub fn synthesize_weighted(
    plan: &Plan,
    answers: &DistinctRecords,
    adjustment: &Adjustment,
    records: Option<u64>,
    source: &Source,
) -> Result<Synthesis, StudyError> {
    let records = check_records(records.unwrap_or(adjustment.respondents))?;
    let weights = &adjustment.weights;
    let are_weights = weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
    if weights.len() != answers.len() || !are_weights || weights.iter().sum::<f64>() <= 0.0 {
        return Err(StudyError::Counts("there must be one weight, 0 or more, for each record"));
    }
    let columns = from_weights(answers, weights, records, &mut source.stream(0));
    let converged = Some(adjustment.converged);
    Ok(Synthesis { converged, ..made(plan, "adjusted", adjustment.respondents, columns) })
}

fn made(plan: &Plan, method: &'static str, respondents: u64, columns: Vec<Vec<u16>>) -> Synthesis {
    Synthesis {
        records: columns.first().map_or(0, |column| column.len() as u64),
        respondents,
        method,
        converged: None,
        seed: None,
        fingerprint: plan.fingerprint().as_str().to_owned(),
        seconds: None,
        columns,
    }
}

fn check_records(records: u64) -> Result<u64, StudyError> {
    match records <= MAX_RECORDS {
        true => Ok(records),
        false => Err(StudyError::Refused(format!(
            "there are {} responses, and at most {} synthetic records can be made; say `records`",
            count(records),
            count(MAX_RECORDS)
        ))),
    }
}

impl Synthesis {
    /// What such records are worth, and to whom they do no harm.
    pub fn caution(&self) -> &'static str {
        "They carry the noise of the estimates they are made from: a table of them is no more certain than its estimate. They are made from the \
         responses alone, so nobody loses any further privacy by them."
    }
}
