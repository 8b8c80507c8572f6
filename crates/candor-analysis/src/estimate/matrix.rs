//! Inverts matrix channels, with one factorization per block.
//!
//! With as many outputs as inputs, it is the inverse. With more, it is generalized least squares with weights fixed
//! by the plan (the variances of the outputs in a uniform population), which is exactly unbiased. Several matrices
//! in a block are one matrix whose outputs are the pairs of channel ID and output.

use candor_base::channel::Channel;
use candor_base::plan::Plan;
use candor_base::shape::Shape;
use nalgebra::DMatrix;

use super::EstimateError;

/// Condition number above which the inverse consists of rounding errors.
const HOPELESS: f64 = 1e12;

/// A block of matrices as an axis of counts.
pub(super) struct MatrixAxis {
    attributes: Vec<usize>,
    /// Rows: cells of the table's own attributes of the block; columns: outputs.
    inverse: DMatrix<f64>,
    squared: DMatrix<f64>,
    /// Probabilities of the outputs if all inputs are equally likely.
    uniform: Vec<f64>,
    /// Rows: outputs; columns: cells. `None` unless the table has all attributes of the block.
    channel: Option<DMatrix<f64>>,
    condition: f64,
}

impl MatrixAxis {
    /// Prepares the attributes of `table` that belong to the block.
    ///
    /// `observed` are shares of outputs for plug-in weights, instead of those of a uniform population.
    pub(super) fn new(
        plan: &Plan,
        block: usize,
        table: &[usize],
        observed: Option<&[f64]>,
    ) -> Result<MatrixAxis, EstimateError> {
        let content = &plan.blocks()[block];
        let name = |&attribute: &usize| plan.schema().name(attribute).to_owned();
        let hopeless = || EstimateError::NotIdentifiable(content.attributes().iter().map(name).collect());
        let total: f64 = content.channels().iter().map(|&(weight, _)| weight as f64).sum();
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for (weight, channel) in content.channels() {
            let Channel::Matrix(matrix) = channel else { continue };
            let share = *weight as f64 / total;
            for output in 0..matrix.labels().len() {
                let entry = |input| share * matrix.probability(output, input);
                rows.push((0..matrix.columns().len()).map(entry).collect());
            }
        }
        let inputs = rows.first().map_or(0, Vec::len);
        let channel = DMatrix::from_fn(rows.len(), inputs, |output, input| rows[output][input]);
        let uniform: Vec<f64> = rows.iter().map(|row| row.iter().sum::<f64>() / inputs as f64).collect();
        let (inverse, condition) = invert(&channel, observed.unwrap_or(&uniform)).ok_or_else(hopeless)?;

        // Sum over the attributes of the block that are not in the table.
        let shape = Shape::new(content.channels()[0].1.sizes());
        let wanted: Vec<usize> = table.iter().copied().filter(|a| content.attributes().contains(a)).collect();
        let places: Vec<usize> =
            wanted.iter().filter_map(|a| content.attributes().iter().position(|b| b == a)).collect();
        let table_shape = shape.project(&places);
        let cells = table_shape.cells();
        let mut reduced = DMatrix::zeros(cells, channel.nrows());
        for input in 0..inputs {
            let mut row = reduced.row_mut(shape.project_cell(input, &places));
            row += inverse.row(input);
        }
        let squared = reduced.map(|entry| entry * entry);
        // With all attributes, cells are inputs in another order.
        let whole = (wanted.len() == shape.sizes().len()).then(|| {
            let order: Vec<usize> =
                (0..places.len()).filter_map(|p| places.iter().position(|&place| place == p)).collect();
            let input = |cell: usize| table_shape.project_cell(cell, &order);
            DMatrix::from_fn(channel.nrows(), cells, |output, cell| channel[(output, input(cell))])
        });
        Ok(MatrixAxis { attributes: wanted, inverse: reduced, squared, uniform, channel: whole, condition })
    }

    /// Returns its attributes in the order of the table.
    pub(super) fn attributes(&self) -> &[usize] {
        &self.attributes
    }

    /// Returns the number of cells of these attributes.
    pub(super) fn cells(&self) -> usize {
        self.inverse.nrows()
    }

    /// Returns the number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.inverse.ncols()
    }

    /// Returns the probabilities of the outputs if all inputs are equally likely.
    pub(super) fn outputs_of_uniform(&self) -> impl Iterator<Item = f64> + '_ {
        self.uniform.iter().copied()
    }

    /// Returns the condition number: the largest growth of relative errors of the outputs when the channel is
    /// inverted.
    pub(super) fn condition(&self) -> f64 {
        self.condition
    }

    /// Returns whether the table has all attributes of the block.
    pub(super) fn is_whole(&self) -> bool {
        self.channel.is_some()
    }

    /// Applies the inverse, or its entrywise square, along the middle axis of an `outer x outputs x inner` table.
    pub(super) fn apply(&self, table: &[f64], outer: usize, inner: usize, squared: bool) -> Vec<f64> {
        let matrix = if squared { &self.squared } else { &self.inverse };
        along(matrix.shape(), |cell, output| matrix[(cell, output)], table, outer, inner)
    }

    /// Returns the rows of the inverse, one for each cell.
    pub(super) fn inverse_rows(&self) -> Vec<Vec<f64>> {
        self.inverse.row_iter().map(|row| row.iter().copied().collect()).collect()
    }

    /// Applies the transposed inverse along the middle axis of an `outer x cells x inner` table.
    pub(super) fn apply_transposed(&self, table: &[f64], outer: usize, inner: usize) -> Vec<f64> {
        let shape = (self.inverse.ncols(), self.inverse.nrows());
        along(shape, |output, cell| self.inverse[(cell, output)], table, outer, inner)
    }

    /// Applies the channel along the middle axis of an `outer x cells x inner` table.
    pub(super) fn forward(&self, table: &[f64], outer: usize, inner: usize) -> Vec<f64> {
        let channel = self.channel.as_ref().expect("a table with all attributes of the block");
        along(channel.shape(), |output, cell| channel[(output, cell)], table, outer, inner)
    }

    /// Applies the transposed channel along the middle axis of an `outer x outputs x inner` table.
    pub(super) fn backward(&self, table: &[f64], outer: usize, inner: usize) -> Vec<f64> {
        let channel = self.channel.as_ref().expect("a table with all attributes of the block");
        along((channel.ncols(), channel.nrows()), |cell, output| channel[(output, cell)], table, outer, inner)
    }
}

/// Multiplies the middle axis of an `outer x columns x inner` table by a `rows x columns` matrix.
fn along(
    (rows, columns): (usize, usize),
    entry: impl Fn(usize, usize) -> f64,
    table: &[f64],
    outer: usize,
    inner: usize,
) -> Vec<f64> {
    let mut result = vec![0.0; outer * rows * inner];
    for o in 0..outer {
        for row in 0..rows {
            let target = &mut result[(o * rows + row) * inner..][..inner];
            for column in 0..columns {
                let factor = entry(row, column);
                let source = &table[(o * columns + column) * inner..][..inner];
                target.iter_mut().zip(source).for_each(|(sum, value)| *sum += factor * value);
            }
        }
    }
    result
}

/// Returns the best left inverse for outputs with these shares, and the condition number; `None` if there is no
/// inverse.
fn invert(channel: &DMatrix<f64>, shares: &[f64]) -> Option<(DMatrix<f64>, f64)> {
    let norm = |m: &DMatrix<f64>| m.column_iter().map(|c| c.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let solve = |square: DMatrix<f64>, right: &DMatrix<f64>| {
        let size = norm(&square);
        let identity = DMatrix::identity(square.nrows(), square.nrows());
        let factorised = square.lu();
        let condition = size * norm(&factorised.solve(&identity)?);
        let solved = factorised.solve(right).filter(|_| condition.is_finite() && condition < HOPELESS)?;
        Some((solved, condition))
    };
    if channel.nrows() < channel.ncols() {
        return None;
    }
    if channel.is_square() {
        return solve(channel.clone(), &DMatrix::identity(channel.nrows(), channel.nrows()));
    }
    let weighted = DMatrix::from_fn(channel.ncols(), channel.nrows(), |input, output| {
        if shares[output] > 0.0 { channel[(output, input)] / shares[output] } else { 0.0 }
    });
    // The condition number of the normal equations is the square of the channel's.
    solve(&weighted * channel, &weighted).map(|(inverse, condition)| (inverse, condition.sqrt()))
}
