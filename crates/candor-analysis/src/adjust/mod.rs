//! RR-Adjustment: weights for the answers that agree with the estimated margins (Domingo-Ferrer and Soria-Comas 2020,
//! section 5, Algorithm 2).
//!
//! Randomization weakens how answers depend on each other, but does not erase it. Adjustment keeps the answer
//! records and gives each a weight such that the weighted shares of every attribute (or cluster of attributes) are the
//! estimated ones: of all weightings that do, the one closest to the answers in relative entropy. That is raking, or
//! iterative proportional fitting, and it uses the answers only: no further privacy is lost.
//!
//! Everything works on [`DistinctRecords`]: records that are alike have the same weight. [`rake`] is the algorithm for
//! any records and margins; [`adjust`] also estimates the margins from answers under a plan.
//! docs/explanation/raking-and-synthesis.md says when it helps.

mod raking;
mod records;

pub(crate) use raking::rake_weights;
pub use raking::{Margin, Options, RakeError, Raked, Unattainable, rake};
pub use records::DistinctRecords;

use candor_base::plan::{Content, Plan};

use crate::estimate::{EstimateError, TableEstimator, Target};
use crate::table_list::TableList;

/// Answer records with weights, and how they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjusted {
    /// What raking found.
    pub raked: Raked,
    /// The tables whose shares were aimed at, as attributes by their positions in the schema.
    pub tables: Vec<Vec<usize>>,
    /// The shares aimed at, one list per table: estimated and projected to proper distributions.
    pub targets: Vec<Vec<f64>>,
}

/// Weights for answer records under a plan: estimates the tables (unbiased, then projected to a proper
/// distribution) and rakes the records to them.
///
/// The columns of the records are the attributes of the schema, in order. Cost: one pass over the distinct records
/// for each table, then [`rake`].
///
/// # Errors
/// If the plan does not answer with records ([`check_plan`]), a table cannot be estimated, or raking cannot begin.
///
/// # Panics
/// If the records are not answers under the plan.
pub fn adjust(
    plan: &Plan,
    records: &DistinctRecords,
    tables: &TableList,
    options: &Options,
) -> Result<Adjusted, AdjustError> {
    check_plan(plan)?;
    let columns = records.columns();
    let attributes = plan.schema().attributes();
    let mut margins = Vec::with_capacity(tables.lists().len());
    for (table, tally) in tables.lists().iter().zip(records.tallies(plan, tables)) {
        let estimate = TableEstimator::new(plan, table)?.estimate(&tally, Target::Population)?;
        let mut cells = vec![0u32; records.len()];
        for &attribute in table {
            let size = attributes[attribute].categories().len() as u32;
            cells.iter_mut().zip(&columns[attribute]).for_each(|(cell, &code)| *cell = *cell * size + u32::from(code));
        }
        margins.push(Margin { cells, shares: estimate.distribution() });
    }
    let raked = rake(records.counts(), &margins, options)?;
    let targets = margins.into_iter().map(|margin| margin.shares).collect();
    Ok(Adjusted { raked, tables: tables.lists().to_vec(), targets })
}

/// Whether answers under a plan are records: one category of each attribute, all through the same channels.
///
/// # Errors
/// What stands against it, and what to use instead.
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

/// Why there are no adjusted weights.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdjustError {
    /// Responses went through different channels.
    #[error(
        "adjustment does not apply to a lottery of channels: responses with different tags tell about different \
         attributes, so no single set of weights fits them; estimate tables instead, which uses every response for \
         what it tells"
    )]
    Lottery,
    /// Answers are sets.
    #[error(
        "adjustment does not apply: \"{0}\" is answered with sets of categories, and a set is not a record that could \
         be given a weight; any table can be estimated from sets instead"
    )]
    Sets(String),
    /// A matrix over several attributes answers in one column.
    #[error(
        "adjustment does not apply: \"{0}\" answers for several attributes at once; estimate their table instead, or \
         make a plan with `method joint`, which answers each by itself"
    )]
    Crossed(String),
    /// Answers that are not categories.
    #[error(
        "adjustment does not apply: the answers about \"{0}\" are not its categories, in their order, so they are not \
         records that could be given a weight; any table can be estimated from them instead"
    )]
    OtherAnswers(String),
    /// A margin cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// Raking cannot begin.
    #[error(transparent)]
    Rake(#[from] RakeError),
}
