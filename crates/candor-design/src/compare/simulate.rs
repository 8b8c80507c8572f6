//! Checks predicted errors by simulation: records are randomized repeatedly, and estimates compared with true shares.

use candor_analysis::estimate::{EstimateError, TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{CountLayout, Rows, answer_codes, count_categories, count_tables};
use candor_base::plan::Plan;
use candor_base::randomize::RandomizeError;
use candor_base::randomness::Source;
use candor_bulk::Randomizer;

/// Settings of a simulation.
pub struct Simulation<'a> {
    /// True records: one column of codes per attribute of the schema, including public ones.
    pub truths: &'a [Vec<u16>],
    /// Number of randomizations.
    pub repeats: u64,
    /// Source of randomness.
    pub source: &'a Source,
}

/// Returns, for each list of tables, the root mean square error over all cells and repetitions.
///
/// An entry is `None` if a table is not identifiable. The expected value is
/// [`predicted_error`](crate::predict::predicted_error) for [`Target::Table`] and this number of records. For pattern
/// channels without a lottery this holds for all true records, because these channels treat all categories alike. With
/// a lottery, skewed records have smaller errors: the respondents of one channel are a sample, and samples of a uniform
/// population vary most.
///
/// # Errors
/// Returns a [`RandomizeError`] if the records do not fit the plan.
pub fn simulated_errors(
    plan: &Plan,
    lists: &[&TableList],
    simulation: &Simulation<'_>,
) -> Result<Vec<Option<f64>>, RandomizeError> {
    let tables: Vec<Vec<usize>> = lists.iter().flat_map(|list| list.lists()).cloned().collect();
    let sizes = plan.schema().sizes();
    let (found, expected) = (simulation.truths.len(), sizes.len());
    if found != expected {
        return Err(RandomizeError::Columns { found, expected });
    }
    let columns: Vec<&[u16]> = simulation.truths.iter().map(Vec::as_slice).collect();
    let records = columns.iter().map(|column| column.len()).max().unwrap_or(0);
    let truth = count_categories(&sizes, &columns, &tables);
    let estimators: Vec<Result<TableEstimator<'_>, EstimateError>> =
        tables.iter().map(|table| TableEstimator::new(plan, table)).collect();
    let layouts: Vec<CountLayout> = tables.iter().map(|table| CountLayout::new(plan, table)).collect();
    let randomizer = Randomizer::new(plan);
    // By table; `None` once the table proves not to be identifiable.
    let mut squares: Vec<Option<f64>> = estimators.iter().map(|e| e.as_ref().ok().map(|_| 0.0)).collect();
    for repeat in 0..simulation.repeats {
        let answers = randomizer.batch(simulation.truths, &mut simulation.source.stream(repeat))?;
        let tallies = count_tables(plan, &answer_codes(plan, &answers), Rows::Single, &layouts);
        for (((estimator, tally), truth), sum) in estimators.iter().zip(&tallies).zip(&truth).zip(&mut squares) {
            let estimate = estimator.as_ref().ok().and_then(|e| e.estimate(tally, Target::Table).ok());
            let error = estimate.map(|estimate| {
                let error = |(share, &count): (&f64, &u64)| (share - count as f64 / records as f64).powi(2);
                estimate.shares.iter().zip(truth).map(error).sum::<f64>()
            });
            *sum = sum.zip(error).map(|(sum, error)| sum + error);
        }
    }
    let cells = truth.iter().map(Vec::len);
    let mut each = squares.into_iter().zip(cells);
    let mean = |list: &&TableList| {
        let (mut sum, mut count) = (Some(0.0), 0);
        for (squares, cells) in each.by_ref().take(list.lists().len()) {
            sum = sum.zip(squares).map(|(sum, squares)| sum + squares);
            count += cells;
        }
        sum.map(|sum| (sum / (count as f64 * simulation.repeats as f64)).sqrt())
    };
    Ok(lists.iter().map(mean).collect())
}
