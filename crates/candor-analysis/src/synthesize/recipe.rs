//! How records are put together: attributes drawn one after another, each given some that are there already.

use std::collections::BTreeMap;

use candor_base::schema::Schema;
use candor_base::shape::Shape;
use candor_runtime::progress::ProgressSink;
use rand_core::CryptoRng;

use super::rounding::{counts_from, shuffled, systematic_counts, uniform};
use super::tables::Part;
use crate::adjust::{DistinctRecords, Margin, Options, RakeError, Raked, rake_with_progress};

/// Some attributes, drawn given others.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The attributes that must be there, by their positions in the schema.
    pub given: Vec<usize>,
    /// Those that are drawn.
    pub drawn: Vec<usize>,
    /// Their table, the given ones first.
    pub shares: Vec<f64>,
}

/// How well tables were fitted to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// How many sweeps over all tables.
    pub sweeps: usize,
    /// The largest difference between a share of the recipe and the estimated one, over all cells of all linked pairs.
    pub largest_margin_error: f64,
    /// Whether it is within the tolerance.
    pub converged: bool,
}

/// How records are made: public attributes as they are in the responses, then step after step.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The public attributes together.
    pub public: Option<Part>,
    /// The steps.
    pub steps: Vec<Step>,
    /// Which of the [links](super::PairTables::links) it keeps.
    pub kept: Vec<usize>,
    /// The shares that its records have, of every link kept and every attribute without one.
    pub tables: Vec<Part>,
    /// How well they agree with the estimates, where that is not exact.
    pub fit: Option<Fit>,
}

impl Recipe {
    /// So many records, one column of codes per attribute of the schema, in a uniformly random order.
    ///
    /// Public attributes have [systematic counts](systematic_counts): with as many records as responses they are just
    /// those of the responses. Of the records with the same given categories as many get each drawn cell as its share
    /// says, up to less than one, by systematic counts with a random start: no share is off on average. Cost: a pass
    /// and two random numbers per record and step.
    ///
    /// # Panics
    /// If a step is given what is not there, draws what is, or has another number of shares than cells; or an attribute
    /// is never drawn.
    pub fn draw(&self, schema: &Schema, records: u64, rng: &mut dyn CryptoRng) -> Vec<Vec<u16>> {
        let mut columns: Vec<Vec<u16>> = vec![Vec::new(); schema.attributes().len()];
        if let Some(Part { attributes, shares }) = &self.public {
            let shape = schema.shape(attributes);
            let cells = shuffled(&systematic_counts(shares, records), rng);
            for (place, &attribute) in attributes.iter().enumerate() {
                columns[attribute] = cells.iter().map(|&cell| shape.code(cell as usize, place) as u16).collect();
            }
        }
        for step in &self.steps {
            let drawn = step.draw(schema, &columns, records as usize, rng);
            let shape = schema.shape(&step.drawn);
            for (place, &attribute) in step.drawn.iter().enumerate() {
                assert!(columns[attribute].is_empty(), "every attribute is drawn once");
                columns[attribute] = drawn.iter().map(|&cell| shape.code(cell as usize, place) as u16).collect();
            }
        }
        assert!(columns.iter().all(|column| column.len() as u64 == records), "every attribute is drawn");
        columns
    }

    /// The different ones of records that were [drawn](Recipe::draw), with weights such that the
    /// [tables](Recipe::tables) and the public attributes together have their shares without the rounding of whole
    /// records: of all such weights those closest to the records.
    ///
    /// # Errors
    /// If there are no records, none that a table gives a share, or `progress` cancels.
    pub fn weigh(
        &self,
        schema: &Schema,
        columns: &[Vec<u16>],
        options: &Options,
        progress: ProgressSink<'_>,
    ) -> Result<(DistinctRecords, Raked), RakeError> {
        let mut records = DistinctRecords::new(columns.len());
        records.add_rows(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let distinct = records.columns();
        let margin = |Part { attributes, shares }: &Part| {
            let cells: Vec<usize> = cells(schema, attributes, &distinct);
            Margin { cells: cells.iter().map(|&cell| cell as u32).collect(), shares: shares.clone() }
        };
        let mut margins: Vec<Margin> = self.tables.iter().map(margin).collect();
        margins.extend(self.public.as_ref().map(|public| occurring(schema, public, &distinct)));
        let raked = rake_with_progress(records.counts(), &margins, options, progress)?;
        Ok((records, raked))
    }
}

/// For each record its cell of a table.
fn cells(schema: &Schema, attributes: &[usize], columns: &[Vec<u16>]) -> Vec<usize> {
    let shape = schema.shape(attributes);
    let own: Vec<&[u16]> = attributes.iter().map(|&attribute| &columns[attribute][..]).collect();
    (0..columns.first().map_or(0, Vec::len)).map(|row| shape.cell_at(&own, row)).collect()
}

/// The margin of a table of which only those cells count that some record is in: few of all combinations of public
/// attributes.
fn occurring(schema: &Schema, part: &Part, columns: &[Vec<u16>]) -> Margin {
    let cells = cells(schema, &part.attributes, columns);
    let numbered: BTreeMap<usize, f64> = cells.iter().map(|&cell| (cell, part.shares[cell])).collect();
    let sum: f64 = numbered.values().sum();
    let numbers: BTreeMap<usize, u32> = numbered.keys().copied().zip(0..).collect();
    Margin {
        cells: cells.iter().map(|cell| numbers[cell]).collect(),
        shares: numbered.values().map(|share| share / sum).collect(),
    }
}

impl Step {
    /// For each record the cell of what is drawn.
    fn draw(&self, schema: &Schema, columns: &[Vec<u16>], records: usize, rng: &mut dyn CryptoRng) -> Vec<u32> {
        let (given, width) = (schema.shape(&self.given), schema.shape(&self.drawn).cells());
        assert_eq!(given.cells() * width, self.shares.len(), "a share for each cell");
        let sources: Vec<&[u16]> = self.given.iter().map(|&attribute| &columns[attribute][..]).collect();
        let mut drawn = vec![0; records];
        for (cell, rows) in groups(&given, &sources, records).iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let own = &self.shares[cell * width..][..width];
            let everybody: Vec<f64>;
            let shares = match own.iter().sum::<f64>() > 0.0 {
                true => own,
                // Nobody should be here, yet public attributes stay as they are: as everybody else.
                false => {
                    everybody = (0..width).map(|at| self.shares.iter().skip(at).step_by(width).sum()).collect();
                    &everybody
                }
            };
            let counts = counts_from(shares, rows.len() as u64, uniform(rng));
            rows.iter().zip(shuffled(&counts, rng)).for_each(|(&row, cell)| drawn[row as usize] = cell);
        }
        drawn
    }
}

/// For each cell the records in it.
fn groups(shape: &Shape, columns: &[&[u16]], records: usize) -> Vec<Vec<u32>> {
    let mut groups = vec![Vec::new(); shape.cells()];
    (0..records).for_each(|row| groups[shape.cell_at(columns, row)].push(row as u32));
    groups
}
