//! A single number for the errors of many tables.

use std::time::Instant;

use candor_analysis::estimate::{EstimateError, TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_base::channel::Channel;
use candor_base::plan::{Block, Plan};

use crate::expectation::groups;
use crate::traits::NotApplicable;

/// Returns the root mean square standard error over all cells of all tables, for a uniform population.
///
/// # Errors
/// Returns an [`EstimateError`] if a table is not identifiable.
pub fn predicted_error(
    plan: &Plan,
    tables: &[Vec<usize>],
    respondents: f64,
    target: Target,
) -> Result<f64, EstimateError> {
    let mut sum = Squares::default();
    tables.iter().try_for_each(|table| sum.add(plan, table, respondents, target))?;
    Ok(sum.root_mean())
}

/// Squared standard errors of cells, summed.
#[derive(Default)]
pub(crate) struct Squares {
    /// Sum over all cells.
    pub sum: f64,
    /// Sum for shares within groups.
    conditional: f64,
    cells: usize,
}

impl Squares {
    fn add(&mut self, plan: &Plan, table: &[usize], respondents: f64, target: Target) -> Result<(), EstimateError> {
        let predicted = TableEstimator::new(plan, table)?.predict(respondents, target)?;
        let squares = predicted.standard_errors.iter().map(|error| error * error).sum::<f64>();
        self.sum += squares;
        self.conditional += squares * groups(plan, table).powi(2);
        self.cells += predicted.possible_cells();
        Ok(())
    }

    pub fn root_mean(&self) -> f64 {
        (self.sum / self.cells.max(1) as f64).sqrt()
    }

    /// Returns an upper bound for shares within groups of all attributes of a table but the last.
    pub fn root_mean_conditional(&self) -> f64 {
        (self.conditional / self.cells.max(1) as f64).sqrt()
    }
}

/// Largest number of cells times channels for which errors are predicted: about ten seconds.
const MAX_CELLS: usize = 1 << 23;

/// Returns the squared errors of each list; `None` if a table is not identifiable.
///
/// # Errors
/// Returns [`NotApplicable::TooLarge`] if the computation takes too long.
pub(crate) fn errors_within(
    plan: &Plan,
    lists: &[TableList],
    respondents: f64,
    deadline: Option<Instant>,
) -> Result<Vec<Option<Squares>>, NotApplicable> {
    let size = |&attribute: &usize| plan.schema().size(attribute);
    let cells = |table: &Vec<usize>| table.iter().map(size).fold(1, usize::saturating_mul);
    let tables = || lists.iter().flat_map(TableList::lists);
    let work = tables().map(|table| cells(table).saturating_mul(asking(plan, table))).fold(0, usize::saturating_add);
    let too_large = || NotApplicable::TooLarge {
        tables: tables().count(),
        cells: tables().map(cells).fold(0, usize::saturating_add),
        channels: plan.blocks().iter().map(|block| block.channels().len()).max().unwrap_or(1),
    };
    if work > MAX_CELLS {
        return Err(too_large());
    }
    let error = |list: &TableList| {
        let mut sum = Squares::default();
        for table in list.lists() {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(too_large());
            }
            if sum.add(plan, table, respondents, Target::Population).is_err() {
                return Ok(None);
            }
        }
        Ok(Some(sum))
    };
    lists.iter().map(error).collect()
}

/// Returns the largest number of channels, over all blocks, that ask about an attribute of a table.
fn asking(plan: &Plan, table: &[usize]) -> usize {
    let asks = |block: &Block, channel: &Channel| match channel {
        Channel::Strip(strip) => strip.places().iter().any(|&place| table.contains(&block.attributes()[place])),
        Channel::Pattern(_) | Channel::Matrix(_) => true,
    };
    let asking = |block: &Block| block.channels().iter().filter(|(_, channel)| asks(block, channel)).count();
    plan.blocks().iter().map(asking).max().unwrap_or(1).max(1)
}
