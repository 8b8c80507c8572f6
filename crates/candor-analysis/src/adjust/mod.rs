//! RR-Adjustment: rakes answers to the estimated margins (Domingo-Ferrer and Soria-Comas 2020, section 5, Algorithm
//! 2).
//!
//! Randomization weakens the associations between answers, but does not erase them. Raking keeps the answer records
//! and gives each a weight such that the weighted shares of every attribute (or cluster of attributes) equal the
//! estimates; among all such weights, those closest to the answers in relative entropy. This is iterative
//! proportional fitting. It uses only the answers, so no further privacy is lost.
//!
//! All functions work on [`DistinctRecords`]: equal records have the same weight. [`rake`] is the algorithm for any
//! records and margins; [`adjust`] also estimates the margins that are not known from answers under a plan. For its
//! uses see docs/explanation/raking-and-synthesis.md.

mod raking;
mod records;

pub(crate) use raking::rake_weights;
pub use raking::{Margin, Options, RakeError, Raked, Unattainable, rake, rake_with_progress};
pub use records::DistinctRecords;

use candor_base::plan::{Content, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;

use crate::estimate::simplex::clip;
use crate::estimate::{Estimate, EstimateError, TableEstimator, Target};
use crate::table_list::TableList;
use crate::tally::Codes;

/// Conversion of an estimated table, which can have negative shares, to a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Targets {
    /// Projection to the closest distribution.
    #[default]
    Projected,
    /// Negative shares become 0 and the others are rescaled (Domingo-Ferrer and Soria-Comas 2020, section 6.4).
    Clipped,
}

impl Targets {
    fn shares(self, estimate: &Estimate) -> Vec<f64> {
        match self {
            Targets::Projected => estimate.distribution(),
            Targets::Clipped => clip(&estimate.shares),
        }
    }
}

/// Known share of the population (a benchmark), by names.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownShare {
    /// Name of the attribute.
    pub attribute: String,
    /// Label of the category.
    pub category: String,
    /// Number of people or share; at least 0.
    pub share: f64,
}

/// One-way margin that is known for the population.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownMargin {
    /// Position of the attribute in the schema.
    pub attribute: usize,
    /// Share of each of its categories.
    pub shares: Vec<f64>,
}

/// Raked answer records, with convergence information.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjusted {
    /// Result of raking.
    pub raked: Raked,
    /// Tables that were raked to, as positions of attributes in the schema: first estimated tables, then known
    /// margins.
    pub tables: Vec<Vec<usize>>,
    /// Target shares of each table.
    pub targets: Vec<Vec<f64>>,
}

/// Rakes answer records under a plan to unbiased estimates of tables, converted to distributions.
///
/// Known margins replace the estimates of their attributes. `progress` receives the sweeps.
///
/// The columns of the records are the attributes of the schema, in order. Cost: one pass over the distinct records
/// for each table, then [`rake`].
///
/// # Errors
/// Returns [`AdjustError`] if the answers of the plan are not records ([`check_plan`]), the records are not answers
/// under the plan, a table cannot be estimated, raking cannot start, or `progress` cancels.
///
/// # Panics
/// Panics if a known margin does not have one share for each category.
pub fn adjust(
    plan: &Plan,
    records: &DistinctRecords,
    tables: &TableList,
    known: &[KnownMargin],
    targets: Targets,
    options: &Options,
    progress: ProgressSink<'_>,
) -> Result<Adjusted, AdjustError> {
    check_plan(plan)?;
    let columns = records.columns();
    check_records(plan.schema(), &columns)?;
    if records.is_empty() {
        return Err(RakeError::NoRecords.into());
    }
    let cells = |table: &[usize]| {
        let mut cells = vec![0u32; records.len()];
        for &attribute in table {
            let size = plan.schema().size(attribute) as u32;
            cells.iter_mut().zip(&columns[attribute]).for_each(|(cell, &code)| *cell = *cell * size + u32::from(code));
        }
        cells
    };
    let (mut raked_to, mut margins) = (Vec::new(), Vec::new());
    for (table, tally) in tables.lists().iter().zip(records.tallies(plan, tables)) {
        if known.iter().any(|known| table[..] == [known.attribute]) {
            continue;
        }
        let estimate = TableEstimator::new(plan, table)?.estimate(&tally, Target::Population)?;
        margins.push(Margin { cells: cells(table), shares: targets.shares(&estimate) });
        raked_to.push(table.clone());
    }
    for KnownMargin { attribute, shares } in known {
        assert_eq!(shares.len(), plan.schema().size(*attribute), "a known margin has one share for each category");
        margins.push(Margin { cells: cells(&[*attribute]), shares: shares.clone() });
        raked_to.push(vec![*attribute]);
    }
    let raked = rake_with_progress(records.counts(), &margins, options, progress)?;
    let targets = margins.into_iter().map(|margin| margin.shares).collect();
    Ok(Adjusted { raked, tables: raked_to, targets })
}

impl DistinctRecords {
    /// Counts the records among responses in memory, such as those of
    /// [`answer_codes`](crate::tally::answer_codes).
    ///
    /// # Errors
    /// Returns [`AdjustError`] if the answers of the plan are not records ([`check_plan`]), or
    /// [`AdjustError::NotAnswers`] if the columns are not answers under the plan.
    pub fn from_codes(plan: &Plan, columns: &[Codes<'_>]) -> Result<DistinctRecords, AdjustError> {
        check_plan(plan)?;
        let one = |codes: &Codes<'_>| match codes {
            Codes::One(codes) => Ok(codes.to_vec()),
            Codes::Set(_) => Err(AdjustError::NotAnswers),
        };
        let columns: Vec<Vec<u16>> = columns.iter().map(one).collect::<Result<_, _>>()?;
        check_records(plan.schema(), &columns)?;
        if columns.windows(2).any(|two| two[0].len() != two[1].len()) {
            return Err(AdjustError::NotAnswers);
        }
        let mut records = DistinctRecords::new(columns.len());
        records.add_rows(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
        Ok(records)
    }
}

/// Checks that records are answers: one category of each attribute of the schema.
fn check_records(schema: &Schema, columns: &[Vec<u16>]) -> Result<(), AdjustError> {
    let fits = |(attribute, codes): (usize, &Vec<u16>)| {
        let size = schema.size(attribute);
        codes.iter().all(|&code| usize::from(code) < size)
    };
    match columns.len() == schema.attributes().len() && columns.iter().enumerate().all(fits) {
        true => Ok(()),
        false => Err(AdjustError::NotAnswers),
    }
}

/// Checks that answers under a plan are records: one category of each attribute, with one channel per block.
///
/// # Errors
/// Returns [`AdjustError`] with the reason why they are not, and a remedy.
pub fn check_plan(plan: &Plan) -> Result<(), AdjustError> {
    for column in plan.columns() {
        match &column.content {
            Content::Public { .. } => {}
            Content::Tag { .. } | Content::Cells { .. } => return Err(AdjustError::Lottery),
            Content::Answer { set: true, .. } => return Err(AdjustError::Sets(column.name.clone())),
            Content::Answer { block, place, labels, .. } => {
                let block = &plan.blocks()[*block];
                let categories = plan.schema().attributes()[block.attributes()[*place]].categories();
                if column.name.as_str() != plan.schema().name(block.attributes()[*place]) {
                    return Err(AdjustError::Crossed(column.name.clone()));
                }
                if labels != categories {
                    return Err(AdjustError::OtherAnswers(column.name.clone()));
                }
            }
        }
    }
    Ok(())
}

/// Error of raking answers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdjustError {
    /// Channels are randomly assigned.
    #[error(
        "raking is not available for plans with randomly assigned channels: their responses carry information about \
         different attributes, so no single set of weights fits; estimate tables instead"
    )]
    Lottery,
    /// Answers are sets.
    #[error(
        "raking is not available: answers to \"{0}\" are sets of categories, which cannot be weighted as records; \
         estimate tables instead"
    )]
    Sets(String),
    /// An answer is a combination of several attributes.
    #[error(
        "raking is not available: \"{0}\" is one answer about several attributes; estimate their table instead, or \
         design a plan with `method joint`, which answers each attribute separately"
    )]
    Crossed(String),
    /// Answers are not the categories of the attribute.
    #[error(
        "raking is not available: the answers to \"{0}\" are not its categories in their order, so they cannot be \
         weighted as records; estimate tables instead"
    )]
    OtherAnswers(String),
    /// Records that are not answers under the plan.
    #[error("the records are not answers under the plan: expected a category of each attribute")]
    NotAnswers,
    /// A margin cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// Raking cannot start.
    #[error(transparent)]
    Rake(#[from] RakeError),
}
