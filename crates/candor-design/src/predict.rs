//! One number for the errors of many tables.

use std::time::Instant;

use candor_analysis::estimate::{EstimateError, TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_base::channel::Channel;
use candor_base::plan::{Block, Plan};

use crate::expectation::groups;
use crate::method::NotApplicable;

/// The root mean square standard error over all cells of all tables, if the truth is uniform.
///
/// # Errors
/// If the plan erases what a table asks for.
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

/// Squared standard errors of cells.
#[derive(Default)]
pub(crate) struct Squares {
    /// Over all cells.
    pub sum: f64,
    /// The same of shares within groups.
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

    /// At most that of shares within the groups of all attributes of a table but its last.
    pub fn root_mean_conditional(&self) -> f64 {
        (self.conditional / self.cells.max(1) as f64).sqrt()
    }
}

/// The number of cells by channels up to which errors are predicted: some ten seconds.
const MAX_CELLS: usize = 1 << 23;

/// The squared errors of each list, `None` where a table is not identifiable.
///
/// # Errors
/// If that takes too long.
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

/// How many channels of a lottery ask about an attribute of a table, the most of any block.
fn asking(plan: &Plan, table: &[usize]) -> usize {
    let asks = |block: &Block, channel: &Channel| match channel {
        Channel::Strip(strip) => strip.places().iter().any(|&place| table.contains(&block.attributes()[place])),
        Channel::Pattern(_) | Channel::Matrix(_) => true,
    };
    let asking = |block: &Block| block.channels().iter().filter(|(_, channel)| asks(block, channel)).count();
    plan.blocks().iter().map(asking).max().unwrap_or(1).max(1)
}
