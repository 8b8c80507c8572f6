//! Distinct records with their frequencies.

use std::hash::{BuildHasher, RandomState};

use candor_base::plan::Plan;

use crate::table_list::TableList;
use crate::tally::{Codes, CountLayout, Rows, TableCounts};

/// Hash multiplier without pattern: 2^64 divided by the golden ratio, made odd.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Distinct records and their frequencies, in order of first occurrence.
///
/// Memory is proportional to the number of distinct records. Counts of parts of the data can be
/// [merged](DistinctRecords::merge).
///
/// ```
/// use candor_analysis::adjust::DistinctRecords;
///
/// let mut records = DistinctRecords::new(2);
/// for record in [[0, 1], [2, 2], [0, 1]] {
///     records.add(&record, 1);
/// }
/// assert_eq!((records.len(), records.counts()), (2, &[2, 1][..]));
/// assert_eq!(records.columns(), [[0, 2], [1, 2]]);
/// ```
#[derive(Clone, Debug)]
pub struct DistinctRecords {
    width: usize,
    /// Codes, record by record.
    codes: Vec<u16>,
    counts: Vec<u64>,
    /// Hash table with the number of each record plus one, or zero.
    ///
    /// Its size is a power of two, and it is at most half full.
    slots: Vec<u32>,
    /// Random hash key, which prevents constructed collisions.
    seed: u64,
}

impl DistinctRecords {
    /// Creates an empty collection with this number of columns.
    pub fn new(width: usize) -> DistinctRecords {
        DistinctRecords {
            width,
            codes: Vec::new(),
            counts: Vec::new(),
            slots: vec![0; 16],
            seed: RandomState::new().hash_one(width),
        }
    }

    /// Returns the number of distinct records.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the frequency of each record.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the number of records, including repetitions.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns one record.
    pub fn record(&self, number: usize) -> &[u16] {
        &self.codes[number * self.width..][..self.width]
    }

    /// Returns the codes by column.
    pub fn columns(&self) -> Vec<Vec<u16>> {
        let column = |at: usize| self.codes.iter().skip(at).step_by(self.width).copied().collect();
        (0..self.width).map(column).collect()
    }

    /// Counts tables of records that are responses under a plan.
    ///
    /// # Panics
    /// Panics if the columns do not match the plan.
    pub fn tallies(&self, plan: &Plan, tables: &TableList) -> Vec<TableCounts> {
        let columns = self.columns();
        let codes: Vec<Codes<'_>> = columns.iter().map(|column| Codes::One(column)).collect();
        let counts: Vec<f64> = self.counts.iter().map(|&count| count as f64).collect();
        let count = |table: &Vec<usize>| {
            let mut tally = TableCounts::new(CountLayout::new(plan, table));
            tally.add(plan, &codes, Rows::Counted(&counts), |_| true);
            tally
        };
        tables.lists().iter().map(count).collect()
    }

    /// Adds a record with a frequency.
    ///
    /// # Panics
    /// Panics if it has another number of columns.
    pub fn add(&mut self, record: &[u16], times: u64) {
        self.add_numbered(record, times);
    }

    /// Adds a record and returns its number, in order of first occurrence.
    pub(crate) fn add_numbered(&mut self, record: &[u16], times: u64) -> usize {
        assert_eq!(record.len(), self.width, "a code for each column");
        let slot = self.slot(record);
        match self.slots[slot] {
            0 => {
                self.codes.extend_from_slice(record);
                self.counts.push(times);
                self.slots[slot] = u32::try_from(self.counts.len()).expect("fewer than 2^32 different records");
                if 2 * self.counts.len() > self.slots.len() {
                    self.grow();
                }
                self.len() - 1
            }
            number => {
                self.counts[number as usize - 1] += times;
                number as usize - 1
            }
        }
    }

    /// Adds one record for each row of these columns.
    pub fn add_rows(&mut self, columns: &[&[u16]]) {
        let mut record = vec![0; self.width];
        for row in 0..columns.first().map_or(0, |column| column.len()) {
            record.iter_mut().zip(columns).for_each(|(code, column)| *code = column[row]);
            self.add(&record, 1);
        }
    }

    /// Adds the records of another part of the data.
    pub fn merge(&mut self, other: &DistinctRecords) {
        for number in 0..other.len() {
            self.add(other.record(number), other.counts[number]);
        }
    }

    /// Returns the slot of a record, or the free slot for it.
    fn slot(&self, record: &[u16]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = self.hash(record) as usize & mask;
        while self.slots[slot] != 0 && self.record(self.slots[slot] as usize - 1) != record {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Hashes four codes at a time by multiplication and folding.
    fn hash(&self, record: &[u16]) -> u64 {
        record.chunks(4).fold(self.seed, |hash, codes| {
            let word = codes.iter().fold(0, |word, &code| word << 16 | u64::from(code));
            let product = u128::from(hash ^ word) * u128::from(MULTIPLIER);
            (product >> 64) as u64 ^ product as u64
        })
    }

    fn grow(&mut self) {
        self.slots = vec![0; 2 * self.slots.len()];
        for number in 0..self.len() {
            let slot = self.slot(self.record(number));
            self.slots[slot] = number as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_are_those_of_a_map(rows in prop::collection::vec([0u16..4, 0..3, 0..5], 0..300), cut in 0usize..300) {
            let mut expected: BTreeMap<[u16; 3], u64> = BTreeMap::new();
            rows.iter().for_each(|row| *expected.entry(*row).or_default() += 1);
            let column = |rows: &[[u16; 3]], at: usize| rows.iter().map(|row| row[at]).collect::<Vec<u16>>();
            let count = |rows: &[[u16; 3]]| {
                let columns: Vec<Vec<u16>> = (0..3).map(|at| column(rows, at)).collect();
                let mut records = DistinctRecords::new(3);
                records.add_rows(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
                records
            };
            let (first, second) = rows.split_at(cut.min(rows.len()));
            let mut merged = count(first);
            merged.merge(&count(second));
            for records in [count(&rows), merged] {
                prop_assert_eq!(records.total(), rows.len() as u64);
                let found: BTreeMap<[u16; 3], u64> =
                    (0..records.len()).map(|n| (records.record(n).try_into().unwrap(), records.counts()[n])).collect();
                prop_assert_eq!(found.len(), records.len());
                prop_assert_eq!(&found, &expected);
                let mut order: Vec<[u16; 3]> = Vec::new();
                rows.iter().for_each(|row| if !order.contains(row) { order.push(*row) });
                let in_order = (0..records.len()).all(|n| records.record(n) == order[n]);
                prop_assert!(in_order);
            }
        }
    }
}
