//! Records from independent estimated tables, or from weights.

use candor_base::plan::Plan;
use candor_base::schema::Schema;
use rand_core::CryptoRng;

use super::rounding::{shuffled, systematic_counts};
use crate::adjust::DistinctRecords;
use crate::estimate::{EstimateError, TableEstimator, Target};
use crate::tally::TableCounts;

/// A table from which records are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Positions of its attributes in the schema.
    pub attributes: Vec<usize>,
    /// Shares of its cells, a distribution with the first attribute varying slowest.
    pub shares: Vec<f64>,
}

/// Estimates tables for making records: without bias, then projected to the closest distribution.
///
/// # Errors
/// Returns [`EstimateError`] if a table cannot be estimated.
pub fn estimated_tables<'a>(
    plan: &Plan,
    tallies: impl IntoIterator<Item = &'a TableCounts>,
) -> Result<Vec<Part>, EstimateError> {
    let one = |tally: &'a TableCounts| {
        let attributes = tally.layout().attributes.clone();
        let estimate = TableEstimator::new(plan, &attributes)?.estimate(tally, Target::Population)?;
        Ok(Part { attributes, shares: estimate.distribution() })
    };
    tallies.into_iter().map(one).collect()
}

/// Makes records from independent parts, with one column of codes per attribute of the schema.
///
/// For each part, the records get cells with [systematic counts](systematic_counts), in an independent uniformly
/// random order. With one part for all attributes, the counts are exact and only the order is random. With several,
/// the parts are independent up to chance. The cost is a random number per record and part, and memory for the
/// codes.
///
/// # Panics
/// Panics if the parts do not contain every attribute exactly once, or their shares are not distributions over
/// their cells.
pub fn from_tables(schema: &Schema, parts: &[Part], records: u64, rng: &mut dyn CryptoRng) -> Vec<Vec<u16>> {
    let mut columns: Vec<Vec<u16>> = vec![Vec::new(); schema.attributes().len()];
    for Part { attributes: table, shares } in parts {
        let shape = schema.shape(table);
        assert_eq!(shape.cells(), shares.len(), "a share for each cell");
        let cells = shuffled(&systematic_counts(shares, records), rng);
        for (place, &attribute) in table.iter().enumerate() {
            assert!(columns[attribute].is_empty(), "every attribute is in one part");
            columns[attribute] = cells.iter().map(|&cell| shape.code(cell as usize, place) as u16).collect();
        }
    }
    assert!(columns.iter().all(|column| column.len() as u64 == records), "every attribute is in a part");
    columns
}

/// Makes records with the shares of their weights, with one column of codes per column of the records.
///
/// It uses [systematic counts](systematic_counts) over the sorted records, in uniformly random order.
///
/// # Panics
/// Panics unless there is one nonnegative weight for each record.
pub fn from_weights(
    answers: &DistinctRecords,
    weights: &[f64],
    records: u64,
    rng: &mut dyn CryptoRng,
) -> Vec<Vec<u16>> {
    assert_eq!(answers.len(), weights.len(), "a weight for each record");
    // In sorted order, records with the same first categories are consecutive, so that their sums are right as
    // well.
    let mut order: Vec<u32> = (0..answers.len() as u32).collect();
    order.sort_unstable_by_key(|&number| answers.record(number as usize));
    let weights: Vec<f64> = order.iter().map(|&number| weights[number as usize]).collect();
    let drawn = shuffled(&systematic_counts(&weights, records), rng);
    let source = answers.columns();
    let pick = |column: &Vec<u16>| drawn.iter().map(|&at| column[order[at as usize] as usize]).collect();
    source.iter().map(pick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::randomness::Source;

    fn part(attributes: &[usize], shares: &[f64]) -> Part {
        Part { attributes: attributes.to_vec(), shares: shares.to_vec() }
    }

    #[test]
    fn one_table_is_exact_and_several_are_independent() {
        let schema = Schema::with_sizes(&[2, 3, 2]).unwrap();
        let mut rng = Source::from_seed(5).stream(0);
        let joint: Vec<f64> = (1..=12).map(|i| f64::from(i) / 78.0).collect();
        let columns = from_tables(&schema, &[part(&[2, 0, 1], &joint)], 7800, &mut rng);
        let mut counts = vec![0; 12];
        (0..7800).for_each(|row| {
            counts
                [usize::from(columns[2][row]) * 6 + usize::from(columns[0][row]) * 3 + usize::from(columns[1][row])] +=
                1;
        });
        assert_eq!(counts, (1..=12).map(|i| 100 * i).collect::<Vec<i32>>());
        let parts = [part(&[1], &[0.5, 0.3, 0.2]), part(&[2, 0], &[0.4, 0.1, 0.1, 0.4])];
        let columns = from_tables(&schema, &parts, 100_000, &mut rng);
        let share = |holds: &dyn Fn(usize) -> bool| (0..100_000).filter(|&row| holds(row)).count() as f64 / 1e5;
        assert_eq!(share(&|row| columns[1][row] == 0), 0.5);
        assert_eq!(share(&|row| columns[2][row] == 0 && columns[0][row] == 0), 0.4);
        // Paired at random: the standard deviation of this share is 0.0007, and five times that has a
        // probability of 6e-7.
        let both = share(&|row| columns[1][row] == 0 && columns[2][row] == 0);
        assert!((both - 0.25).abs() < 0.004, "{both}");
    }

    #[test]
    fn weights_are_kept() {
        let mut answers = DistinctRecords::new(2);
        [[1, 0], [0, 1], [0, 0]].iter().for_each(|record| answers.add(record, 1));
        let columns = from_weights(&answers, &[0.5, 0.3, 0.2], 10, &mut Source::from_seed(1).stream(0));
        let count = |a: u16, b: u16| (0..10).filter(|&row| (columns[0][row], columns[1][row]) == (a, b)).count();
        assert_eq!((count(1, 0), count(0, 1), count(0, 0), count(1, 1)), (5, 3, 2, 0));
    }
}
