//! Recipes for synthetic records: attributes are drawn one after another, each given some that are already drawn.

use std::collections::BTreeMap;

use candor_base::schema::Schema;
use candor_base::shape::Shape;
use candor_runtime::progress::ProgressSink;
use rand_core::CryptoRng;

use super::rounding::{counts_from, shuffled, systematic_counts, uniform};
use super::tables::Part;
use crate::adjust::{DistinctRecords, Margin, Options, RakeError, Raked, rake_with_progress};

/// A step of a recipe: attributes that are drawn given others.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Positions of the given attributes in the schema.
    pub given: Vec<usize>,
    /// Positions of the drawn attributes.
    pub drawn: Vec<usize>,
    /// Their joint table, with the given attributes first.
    pub shares: Vec<f64>,
}

/// Agreement of the fitted tables with the estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Number of sweeps over all tables.
    pub sweeps: usize,
    /// Largest difference between a share of the recipe and its estimate, over all cells of all linked pairs.
    pub largest_margin_error: f64,
    /// Whether it is within the tolerance.
    pub converged: bool,
}

/// A recipe for records: public attributes as in the responses, then step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Joint table of the public attributes.
    pub public: Option<Part>,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Indices of the preserved [links](super::PairTables::links).
    pub kept: Vec<usize>,
    /// Shares of the records, for every preserved link and every attribute without one.
    pub tables: Vec<Part>,
    /// Agreement with the estimates; `None` if it is exact.
    pub fit: Option<Fit>,
}

impl Recipe {
    /// Draws records, with one column of codes per attribute of the schema, in uniformly random order.
    ///
    /// Public attributes have [systematic counts](systematic_counts); with as many records as responses, these are
    /// the counts of the responses. Among records with the same given categories, the counts of drawn cells follow
    /// their shares to within less than one. They are systematic counts with a random start, so that shares are
    /// right on average. The cost is a pass and two random numbers per record and step.
    ///
    /// # Panics
    /// Panics if
    /// - a step is given an attribute that is not drawn yet, or draws one again,
    /// - the number of shares of a step differs from its number of cells,
    /// - an attribute is never drawn.
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

    /// Returns the distinct records among [drawn](Recipe::draw) ones, with weights that undo their rounding to
    /// integer counts.
    ///
    /// The [tables](Recipe::tables) and the public attributes then have exactly their shares. Of all such weights,
    /// these are closest to the records.
    ///
    /// # Errors
    /// Returns [`RakeError`] if there are no records, if no table gives any of them a share, or if `progress` cancels.
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

/// Returns the cell of each record in a table.
fn cells(schema: &Schema, attributes: &[usize], columns: &[Vec<u16>]) -> Vec<usize> {
    let shape = schema.shape(attributes);
    let own: Vec<&[u16]> = attributes.iter().map(|&attribute| &columns[attribute][..]).collect();
    (0..columns.first().map_or(0, Vec::len)).map(|row| shape.cell_at(&own, row)).collect()
}

/// Returns the margin of a table, restricted to cells that occur: few combinations of public attributes do.
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
    /// Draws the cell of the drawn attributes for each record.
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
                // No record should have these given categories, but public attributes are kept, so the overall
                // shares are used.
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

/// Returns the records in each cell.
fn groups(shape: &Shape, columns: &[&[u16]], records: usize) -> Vec<Vec<u32>> {
    let mut groups = vec![Vec::new(); shape.cells()];
    (0..records).for_each(|row| groups[shape.cell_at(columns, row)].push(row as u32));
    groups
}
