//! Counts many tables at once: a few larger tables cover them, and are then summed over the other attributes.
//!
//! Counting takes one addition per record and table. Eight attributes have twenty-eight pairs, but half a dozen
//! tables of four attributes, each small enough for the cache, contain them all.

use candor_base::shape::Shape;

/// Maximum number of cells of a covering table, so that its counts stay in the cache.
const MAX_COVER_CELLS: usize = 1 << 14;

/// Number of records per block.
const RUN: usize = 2048;

/// Counts of true records: tables by their attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    tables: Vec<(Vec<usize>, Vec<u64>)>,
    records: u64,
}

impl RecordCounts {
    /// Creates counts from tables and the number of records.
    ///
    /// Each table has the positions of its attributes in the schema, and the number of records in each cell, first
    /// attribute slowest.
    pub fn new(tables: impl IntoIterator<Item = (Vec<usize>, Vec<u64>)>, records: u64) -> RecordCounts {
        RecordCounts { tables: tables.into_iter().collect(), records }
    }

    /// Returns the counts of the table of these attributes in this order; `None` if it was not counted.
    pub fn table(&self, attributes: &[usize]) -> Option<&[u64]> {
        let own = self.tables.iter().find(|(table, _)| table == attributes);
        own.map(|(_, counts)| &counts[..])
    }

    /// Returns the number of records.
    pub fn records(&self) -> u64 {
        self.records
    }
}

/// Counts records by the categories of each list of columns, with the first column varying slowest.
///
/// `sizes` are the numbers of categories; every code must be below the size of its column.
pub fn count_categories(sizes: &[usize], columns: &[&[u16]], tables: &[Vec<usize>]) -> Vec<Vec<u64>> {
    let cells = |table: &[usize]| table.iter().map(|&c| sizes[c]).product::<usize>();
    let mut results: Vec<Vec<u64>> = vec![Vec::new(); tables.len()];
    for cover in covers(sizes, tables) {
        let counts = count_one(sizes, columns, &cover);
        for (table, result) in tables.iter().zip(&mut results) {
            if result.is_empty() && table.iter().all(|column| cover.contains(column)) {
                *result = summed_out(sizes, &cover, &counts, table);
            }
        }
    }
    debug_assert!(results.iter().zip(tables).all(|(result, table)| result.len() == cells(table)));
    results
}

/// Returns tables that together contain all the given ones.
///
/// Each starts with an uncovered table, and greedily adds the columns that cover most others while it stays small.
fn covers(sizes: &[usize], tables: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut open: Vec<&Vec<usize>> = tables.iter().collect();
    let mut covers: Vec<Vec<usize>> = Vec::new();
    open.sort_by_key(|table| std::cmp::Reverse(table.iter().map(|&c| sizes[c]).product::<usize>()));
    while let Some(first) = open.first() {
        let mut cover = (*first).clone();
        let mut cells: usize = cover.iter().map(|&c| sizes[c]).product();
        let mut held = vec![false; sizes.len()];
        cover.iter().for_each(|&column| held[column] = true);
        loop {
            let gains = gains(&held, &open);
            let candidate = (0..sizes.len())
                .filter(|&column| gains[column] > 0 && cells * sizes[column] <= MAX_COVER_CELLS)
                .max_by_key(|&column| (gains[column], std::cmp::Reverse(sizes[column])));
            let Some(column) = candidate else { break };
            held[column] = true;
            cover.push(column);
            cells *= sizes[column];
        }
        open.retain(|table| !table.iter().all(|&column| held[column]));
        covers.push(cover);
    }
    covers
}

/// Returns, for each column, how many more tables would be covered if it were added.
///
/// These are the tables that lack no other column. It takes one pass over the tables, for any number of columns.
fn gains(held: &[bool], open: &[&Vec<usize>]) -> Vec<usize> {
    let mut gains = vec![0; held.len()];
    for table in open {
        let mut missing = table.iter().filter(|&&column| !held[column]);
        if let (Some(&column), None) = (missing.next(), missing.next()) {
            gains[column] += 1;
        }
    }
    gains
}

fn count_one(sizes: &[usize], columns: &[&[u16]], table: &[usize]) -> Vec<u64> {
    let cells: usize = table.iter().map(|&c| sizes[c]).product();
    let rows = table.first().map_or(0, |&c| columns[c].len());
    let mut totals = vec![0u64; cells];
    // Two arrays of 32-bit counts, so that consecutive records of the same cell do not wait for each other. They
    // are added up before they can overflow.
    let mut halves = [vec![0u32; cells], vec![0u32; cells]];
    let mut index = [0u32; RUN];
    for start in (0..rows).step_by(RUN) {
        let length = RUN.min(rows - start);
        let index = &mut index[..length];
        index.fill(0);
        for &column in table {
            let size = sizes[column] as u32;
            for (index, &code) in index.iter_mut().zip(&columns[column][start..start + length]) {
                *index = *index * size + u32::from(code);
            }
        }
        let [even, odd] = &mut halves;
        let (pairs, rest) = index.as_chunks::<2>();
        for &[a, b] in pairs {
            even[a as usize] += 1;
            odd[b as usize] += 1;
        }
        rest.iter().for_each(|&a| even[a as usize] += 1);
        let last = start + RUN >= rows;
        if last || (start / RUN).is_multiple_of(1 << 20) {
            for half in &mut halves {
                totals
                    .iter_mut()
                    .zip(half.iter_mut())
                    .for_each(|(total, count)| *total += u64::from(std::mem::take(count)));
            }
        }
    }
    totals
}

/// Returns the counts of the columns of `table`, from those of all columns of `cover`.
fn summed_out(sizes: &[usize], cover: &[usize], counts: &[u64], table: &[usize]) -> Vec<u64> {
    let shape = Shape::new(cover.iter().map(|&column| sizes[column]).collect());
    let places: Vec<usize> = table.iter().filter_map(|c| cover.iter().position(|held| held == c)).collect();
    let mut result = vec![0; shape.project(&places).cells()];
    shape.project_all(&places).zip(counts).for_each(|(cell, count)| result[cell] += count);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_hold_every_table_and_are_few() {
        let sizes = [9, 16, 7, 15, 6, 5, 2, 2];
        let pairs: Vec<Vec<usize>> = (0..8).flat_map(|a| (a + 1..8).map(move |b| vec![a, b])).collect();
        let found = covers(&sizes, &pairs);
        assert!(found.len() <= 7, "{found:?}");
        assert!(pairs.iter().all(|pair| found.iter().any(|cover| pair.iter().all(|c| cover.contains(c)))));
        let ones: Vec<Vec<usize>> = (0..8).map(|a| vec![a]).collect();
        assert!(covers(&sizes, &ones).len() <= 2);
        // A table larger than any cover is counted separately.
        assert_eq!(covers(&[300, 300], &[vec![0, 1]]), [vec![0, 1]]);
    }

    /// By definition: the tables covered with the column, less those covered without it.
    #[test]
    fn gains_are_tables_newly_covered() {
        let mut tables: Vec<Vec<usize>> =
            (0..60usize).map(|i| (0..1 + i % 4).map(|j| (i * 7 + j * (1 + i % 3)) % 11).collect()).collect();
        tables.iter_mut().for_each(|table| {
            table.sort_unstable();
            table.dedup();
        });
        for mask in 0..1usize << 11 {
            let mut held: Vec<bool> = (0..11).map(|column| mask >> column & 1 == 1).collect();
            let covered = |held: &[bool]| tables.iter().filter(|table| table.iter().all(|&c| held[c])).count();
            let found = gains(&held, &tables.iter().collect::<Vec<_>>());
            let before = covered(&held);
            for column in (0..11).filter(|column| mask >> column & 1 == 0) {
                held[column] = true;
                assert_eq!(found[column], covered(&held) - before);
                held[column] = false;
            }
        }
    }

    #[test]
    fn counts_are_those_of_a_plain_loop() {
        let sizes = [3, 5, 2, 300];
        let rows = 5000;
        let columns: Vec<Vec<u16>> = sizes
            .iter()
            .enumerate()
            .map(|(i, &n)| (0..rows).map(|r| ((r * (7 + i) / 3) % n) as u16).collect())
            .collect();
        let columns: Vec<&[u16]> = columns.iter().map(Vec::as_slice).collect();
        let tables = [vec![0], vec![3, 1], vec![1, 0], vec![2, 3, 0], vec![0, 1, 2, 3], vec![2]];
        for (table, counts) in tables.iter().zip(count_categories(&sizes, &columns, &tables)) {
            let mut plain = vec![0u64; table.iter().map(|&c| sizes[c]).product()];
            for row in 0..rows {
                plain[table.iter().fold(0, |cell, &c| cell * sizes[c] + usize::from(columns[c][row]))] += 1;
            }
            assert_eq!(counts, plain, "{table:?}");
        }
        assert_eq!(count_categories(&[2], &[&[]], &[vec![0]]), [vec![0, 0]]);
    }
}
