//! RR-Adjustment: rakes answers to the estimated margins (Domingo-Ferrer and Soria-Comas 2020, section 5, Algorithm
//! 2).
//!
//! Randomization weakens the associations between answers, but does not erase them. Raking keeps the answer records
//! and gives each a weight such that the weighted shares of every attribute (or cluster of attributes) equal the
//! estimates; among all such weights, those closest to the answers in relative entropy. This is iterative
//! proportional fitting. It uses only the answers, so no further privacy is lost.
//!
//! All functions work on [`DistinctRecords`]: equal records have the same weight. [`rake`] is the algorithm for any
//! records and margins; [`adjust`] also estimates the margins from answers under a plan. For its uses see
//! docs/explanation/raking-and-synthesis.md.

mod raking;
mod records;

pub(crate) use raking::rake_weights;
pub use raking::{Margin, Options, RakeError, Raked, Unattainable, rake};
pub use records::DistinctRecords;

use candor_base::plan::{Content, Plan};

use crate::estimate::{EstimateError, TableEstimator, Target};
use crate::table_list::TableList;

/// Raked answer records, with convergence information.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjusted {
    /// Result of raking.
    pub raked: Raked,
    /// Tables that were raked to, as positions of attributes in the schema.
    pub tables: Vec<Vec<usize>>,
    /// Target shares of each table: estimated, and projected to proper distributions.
    pub targets: Vec<Vec<f64>>,
}

/// Rakes answer records under a plan to tables that are estimated without bias and projected to distributions.
///
/// The columns of the records are the attributes of the schema, in order. Cost: one pass over the distinct records
/// for each table, then [`rake`].
///
/// # Errors
/// Returns [`AdjustError`] if the answers of the plan are not records ([`check_plan`]), a table cannot be estimated,
/// or raking cannot start.
///
/// # Panics
/// Panics if the records are not answers under the plan.
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
    /// A margin cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// Raking cannot start.
    #[error(transparent)]
    Rake(#[from] RakeError),
}
