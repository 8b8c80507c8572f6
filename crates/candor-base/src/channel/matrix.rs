//! Matrix channels: any column-stochastic matrix over one variable.
//!
//! Columns are inputs and sum to one. Rows are outputs, which may outnumber inputs. Most of the cited papers use this
//! orientation; Domingo-Ferrer and Soria-Comas 2020 write the transpose.
//!
//! The variable may be a cross-classification of several attributes. The column of the categories `(x1, x2, ...)` is
//! then at `(x1 * a2 + x2) * a3 + ...`, first attribute slowest.

use num_bigint::BigUint;
use num_traits::One;

use super::epsilon::{Epsilon, Rational, nearest, parity};
use super::{ChannelError, check_categories};
use crate::schema::MAX_CATEGORIES;
use crate::shape::Shape;

/// Largest exponent of a power of two that columns may sum to.
const MAX_BITS: u32 = 64;

/// Largest allowed difference between 1 and the sum of a given column of probabilities.
pub const COLUMN_TOLERANCE: f64 = 1e-9;

/// A matrix channel with integer entries, whose columns all sum to the same total.
///
/// The total is a power of two, or the number of equally likely outcomes of a device.
///
/// ```
/// use candor_base::channel::Matrix;
///
/// let columns = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
/// let labels = ["a", "b", "c"].map(String::from).to_vec();
/// let matrix = Matrix::rounded(vec![3], labels, &columns)?;
/// let certified = matrix.record_epsilon().finite().unwrap();
/// assert!(certified <= 7f64.ln() && certified > 7f64.ln() - 1e-9);
/// # Ok::<(), candor_base::channel::ChannelError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    shape: Shape,
    labels: Vec<String>,
    total: u128,
    columns: Vec<Vec<u64>>,
}

impl Matrix {
    /// Creates a channel whose columns are integers that sum to `2^bits`.
    ///
    /// `sizes` are the numbers of categories of the attributes. Each output has a label, and each input a column of
    /// `labels.len()` integers.
    ///
    /// # Errors
    /// Returns [`ChannelError::Bits`] if `bits` is not from 1 to 64, and the errors of [`Matrix::with_total`].
    pub fn new(
        sizes: Vec<usize>,
        labels: Vec<String>,
        bits: u32,
        columns: Vec<Vec<u64>>,
    ) -> Result<Matrix, ChannelError> {
        if !(1..=MAX_BITS).contains(&bits) {
            return Err(ChannelError::Bits(bits));
        }
        Matrix::with_total(sizes, labels, 1 << bits, columns)
    }

    /// Creates a channel whose columns are integers that sum to any total from 2 to `2^64`.
    ///
    /// A die, for example, has a total of six.
    ///
    /// ```
    /// use candor_base::channel::Matrix;
    ///
    /// // 1 to 4: the true answer, 5: yes, 6: no.
    /// let labels = ["no", "yes"].map(String::from).to_vec();
    /// let die = Matrix::with_total(vec![2], labels, 6, vec![vec![5, 1], vec![1, 5]])?;
    /// assert!((die.record_epsilon().as_f64() - 5f64.ln()).abs() < 1e-12);
    /// # Ok::<(), candor_base::channel::ChannelError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the number of attributes, categories, columns, rows or outputs is wrong, if two outputs have
    /// the same label ([`ChannelError::DuplicateOutput`]), if the total is out of range ([`ChannelError::Total`]), or
    /// if a column does not sum to the total ([`ChannelError::ColumnSum`]).
    pub fn with_total(
        sizes: Vec<usize>,
        labels: Vec<String>,
        total: u128,
        columns: Vec<Vec<u64>>,
    ) -> Result<Matrix, ChannelError> {
        check_shape(&sizes, &labels, columns.iter().map(Vec::len))?;
        if !(2..=1 << MAX_BITS).contains(&total) {
            return Err(ChannelError::Total(total));
        }
        for (column, entries) in columns.iter().enumerate() {
            let sum: u128 = entries.iter().map(|&entry| u128::from(entry)).sum();
            if sum != total {
                return Err(ChannelError::ColumnSum { column, sum, expected: total });
            }
        }
        Ok(Matrix { shape: Shape::new(sizes), labels, total, columns })
    }

    /// Rounds a matrix of probabilities to integers without raising its epsilon.
    ///
    /// Columns sum to `2^64`, or to `2^63` if some entry is 1. Zeros stay zeros. Entries change by a few units in the
    /// last place. If that raises epsilon, all non-zero entries move closer together by a few more units until the
    /// certified epsilon no longer exceeds that of the given matrix.
    ///
    /// # Errors
    /// Returns [`ChannelError::Entry`] if an entry is negative or not finite, [`ChannelError::ColumnProbability`] if
    /// the sum of a column differs from 1 by more than [`COLUMN_TOLERANCE`], and the errors of [`Matrix::new`].
    pub fn rounded(sizes: Vec<usize>, labels: Vec<String>, columns: &[Vec<f64>]) -> Result<Matrix, ChannelError> {
        Matrix::rounded_within(sizes, labels, columns, f64::INFINITY)
    }

    /// Rounds a matrix as [`Matrix::rounded`] does, and keeps its certified epsilon within the given one, too.
    ///
    /// Use it for a matrix that was computed for an epsilon: rounding errors of its floats may have raised the matrix's
    /// own epsilon slightly above it.
    ///
    /// # Errors
    /// Returns the errors of [`Matrix::rounded`].
    pub fn rounded_within(
        sizes: Vec<usize>,
        labels: Vec<String>,
        columns: &[Vec<f64>],
        epsilon: f64,
    ) -> Result<Matrix, ChannelError> {
        check_shape(&sizes, &labels, columns.iter().map(Vec::len))?;
        let mut ideal = Vec::with_capacity(columns.len());
        for (column, entries) in columns.iter().enumerate() {
            if let Some(row) = entries.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
                return Err(ChannelError::Entry { row, column, value: entries[row] });
            }
            let sum: f64 = entries.iter().sum();
            if (sum - 1.0).abs() > COLUMN_TOLERANCE {
                return Err(ChannelError::ColumnProbability { column, sum });
            }
            ideal.push(entries.iter().map(|p| p / sum).collect::<Vec<f64>>());
        }
        let asked = ideal_epsilon(&ideal).min(epsilon);
        let certain = ideal.iter().flatten().any(|&p| p == 1.0);
        let bits = if certain { MAX_BITS - 1 } else { MAX_BITS };
        let mut units = 0u64;
        loop {
            let columns = ideal.iter().map(|column| round_column(column, bits, units)).collect();
            let matrix = Matrix::new(sizes.clone(), labels.clone(), bits, columns)?;
            if matrix.record_epsilon().as_f64() <= asked || units == u64::MAX {
                return Ok(matrix);
            }
            units = units.saturating_mul(2).max(1);
        }
    }

    /// Returns the number of categories of each attribute that the input cross-classifies.
    pub fn sizes(&self) -> &[usize] {
        self.shape.sizes()
    }

    /// Returns the shape whose cells are the inputs.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the labels of the outputs.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns the columns: `columns()[input][output] / total()` is the probability of the output.
    pub fn columns(&self) -> &[Vec<u64>] {
        &self.columns
    }

    /// Returns the total that every column sums to.
    pub fn total(&self) -> u128 {
        self.total
    }

    /// Returns the exponent of the total if it is a power of two.
    pub fn bits(&self) -> Option<u32> {
        self.total.is_power_of_two().then(|| self.total.trailing_zeros())
    }

    /// Returns the probability of an output, given an input.
    pub fn probability(&self, output: usize, input: usize) -> f64 {
        self.columns[input][output] as f64 / self.total as f64
    }

    /// Returns the largest ratio of two entries of one row, where 0/0 is 1; `None` if it is infinite.
    ///
    /// Its logarithm is the record-level epsilon.
    pub fn parity(&self) -> Option<Rational> {
        let row = |output: usize| {
            let entries = || self.columns.iter().map(|column| column[output]);
            let whole = |entry: Option<u64>| Rational::from(BigUint::from(entry.unwrap_or(0)));
            parity(&whole(entries().max()), &whole(entries().min()))
        };
        (0..self.labels.len()).map(row).try_fold(Rational::one(), |worst, row| Some(worst.max(row?)))
    }

    /// Returns the certified record-level epsilon: the logarithm of [`Matrix::parity`].
    pub fn record_epsilon(&self) -> Epsilon {
        Epsilon::of_parity(self.parity().as_ref())
    }

    /// Returns the certified conditional epsilon of each attribute, over inputs that differ in that attribute only.
    pub fn conditional_epsilons(&self) -> Vec<Epsilon> {
        (0..self.sizes().len()).map(|attribute| self.conditional_epsilon(attribute)).collect()
    }

    fn conditional_epsilon(&self, attribute: usize) -> Epsilon {
        // Compare products: one logarithm per pair would dominate the running time.
        let (mut larger, mut smaller) = (1u64, 1u64);
        for inputs in self.shape.fibers(attribute) {
            for output in 0..self.labels.len() {
                let entries = || inputs.clone().map(|input| self.columns[input][output]);
                let (most, least) = (entries().max().unwrap_or(0), entries().min().unwrap_or(0));
                if most > 0 && u128::from(most) * u128::from(smaller) > u128::from(larger) * u128::from(least) {
                    (larger, smaller) = (most, least);
                }
            }
        }
        Epsilon::of_integers(&larger.into(), &smaller.into())
    }

    /// Returns the smallest probability, over all inputs, that the output is the input itself.
    ///
    /// Returns `None` unless there are as many outputs as inputs.
    pub fn keep_probability(&self) -> Option<f64> {
        let square = self.labels.len() == self.columns.len();
        let kept = self.columns.iter().enumerate().map(|(input, column)| column.get(input).copied());
        let least = kept.min().flatten().filter(|_| square)?;
        Some(nearest(&Rational::new(least.into(), BigUint::from(self.total))))
    }
}

fn check_shape(
    sizes: &[usize],
    labels: &[String],
    columns: impl ExactSizeIterator<Item = usize>,
) -> Result<(), ChannelError> {
    if sizes.is_empty() {
        return Err(ChannelError::NoAttribute);
    }
    check_categories(sizes)?;
    let inputs = sizes.iter().try_fold(1usize, |n, &a| n.checked_mul(a)).filter(|&n| n <= MAX_CATEGORIES);
    if inputs != Some(columns.len()) {
        return Err(ChannelError::Columns { found: columns.len(), expected: inputs });
    }
    if labels.len() > MAX_CATEGORIES || labels.is_empty() {
        return Err(ChannelError::Outputs(labels.len()));
    }
    for (column, rows) in columns.enumerate() {
        if rows != labels.len() {
            return Err(ChannelError::Rows { column, found: rows, expected: labels.len() });
        }
    }
    let mut sorted: Vec<&String> = labels.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(ChannelError::DuplicateOutput(pair[0].clone())),
        None => Ok(()),
    }
}

/// Returns the epsilon of a matrix of probabilities: the target of rounding, not a certificate.
fn ideal_epsilon(columns: &[Vec<f64>]) -> f64 {
    let rows = columns.first().map_or(0, Vec::len);
    let row = |output: usize| {
        let entries = || columns.iter().map(|column| column[output]);
        let (largest, smallest) = (entries().fold(0.0, f64::max), entries().fold(f64::INFINITY, f64::min));
        if largest > smallest { (largest / smallest).ln() } else { 0.0 }
    };
    (0..rows).map(row).fold(0.0, f64::max)
}

/// Rounds a column to integers that sum to `2^bits`, after moving its non-zero entries closer together by `units`.
///
/// All entries but the largest are rounded up. The largest takes the rest, which changes it least in relative terms.
fn round_column(column: &[f64], bits: u32, units: u64) -> Vec<u64> {
    let total = 1u128 << bits;
    let support = column.iter().filter(|&&p| p > 0.0).count() as u128;
    let shared = u128::from(units).min(total / support);
    let scale = (total - shared * support) as f64;
    let round = |&p: &f64| if p > 0.0 { (p * scale).ceil() as u128 + shared } else { 0 };
    let mut rounded: Vec<u128> = column.iter().map(round).collect();
    let largest = (0..column.len()).max_by(|&i, &j| column[i].total_cmp(&column[j])).unwrap_or(0);
    let others: u128 = rounded.iter().sum::<u128>() - rounded[largest];
    rounded[largest] = total - others;
    rounded.into_iter().map(|n| n as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(n: usize) -> Vec<String> {
        (0..n).map(|i| i.to_string()).collect()
    }

    /// A matrix computed for an epsilon keeps it, even if rounding errors of its floats exceed it.
    #[test]
    fn rounding_stays_within_an_epsilon() {
        let mut exceeded = 0;
        for size in 3..9 {
            for epsilon in [0.1f64, 0.3, 0.7, 1.0, 1.1, 2.3] {
                let hit = epsilon.exp() / (epsilon.exp() + size as f64 - 1.0);
                let entry = |z, x| if z == x { hit } else { (1.0 - hit) / (size as f64 - 1.0) };
                let columns: Vec<Vec<f64>> = (0..size).map(|x| (0..size).map(|z| entry(z, x)).collect()).collect();
                let within = Matrix::rounded_within(vec![size], labels(size), &columns, epsilon).unwrap();
                let certified = within.record_epsilon().as_f64();
                assert!(certified <= epsilon && certified > epsilon - 1e-9, "{size} {epsilon}: {certified}");
                let alone = Matrix::rounded(vec![size], labels(size), &columns).unwrap();
                exceeded += usize::from(alone.record_epsilon().as_f64() > epsilon);
            }
        }
        assert!(exceeded > 0, "else nothing is tested");
    }

    #[test]
    fn rounding_keeps_sums_zeros_and_never_raises_epsilon() {
        let cases: [(&[Vec<f64>], f64); 5] = [
            (&[vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.2, 0.7]], 7f64.ln()),
            (&[vec![1.0 / 3.0; 3], vec![1.0 / 3.0; 3]], 0.0),
            (&[vec![0.5, 0.0, 0.5], vec![0.0, 0.5, 0.5]], f64::INFINITY),
            (&[vec![1.0, 0.0], vec![0.5, 0.5]], f64::INFINITY),
            (&[vec![1e-10, 1.0 - 1e-10], vec![0.5, 0.5]], (0.5f64 / 1e-10).ln()),
        ];
        for (columns, asked) in cases {
            let matrix = Matrix::rounded(vec![columns.len()], labels(columns[0].len()), columns).unwrap();
            let certified = matrix.record_epsilon().as_f64();
            assert!(certified <= asked, "{certified} exceeds {asked}");
            assert!(asked.is_infinite() || certified >= asked - 1e-9, "{certified} wastes {asked}");
            for (ideal, column) in columns.iter().zip(matrix.columns()) {
                assert_eq!(column.iter().map(|&n| u128::from(n)).sum::<u128>(), matrix.total());
                for (p, &n) in ideal.iter().zip(column) {
                    assert!((n as f64 / matrix.total() as f64 - p).abs() < 1e-15);
                    assert_eq!(*p == 0.0, n == 0);
                }
            }
        }
    }

    #[test]
    fn conditional_epsilon_of_a_cross_classification() {
        // Two binary attributes; the output reveals much about the second one and little about the first.
        let p = |first: f64, second: f64| vec![first * second, first * (1.0 - second), 1.0 - first];
        let columns = [p(0.5, 0.8), p(0.5, 0.2), p(0.6, 0.8), p(0.6, 0.2)];
        let matrix = Matrix::rounded(vec![2, 2], labels(3), &columns).unwrap();
        assert!((matrix.conditional_epsilons()[0].as_f64() - (0.5f64 / 0.4).ln()).abs() < 1e-9);
        assert!((matrix.conditional_epsilons()[1].as_f64() - 4f64.ln()).abs() < 1e-9);
        assert!((matrix.record_epsilon().as_f64() - 4.8f64.ln()).abs() < 1e-9);
        assert_eq!(matrix.keep_probability(), None);
    }

    #[test]
    fn columns_sum_to_what_a_device_has_outcomes() {
        // Two dice: a sum of 2 to 4 forces yes, 11 or 12 forces no, any other sum the true answer. The ratios are 33/6
        // and 30/3.
        let dice = Matrix::with_total(vec![2], labels(2), 36, vec![vec![30, 6], vec![3, 33]]).unwrap();
        assert_eq!(dice.parity(), Some(Rational::from(BigUint::from(10u32))));
        assert_eq!((dice.total(), dice.bits(), dice.probability(1, 0)), (36, None, 6.0 / 36.0));
        assert_eq!(dice.keep_probability(), Some(30.0 / 36.0));
        let of = |total, columns| Matrix::with_total(vec![2], labels(2), total, columns);
        assert_eq!(of(8, vec![vec![5, 3], vec![3, 5]]).unwrap().bits(), Some(3));
        assert_eq!(of(0, vec![vec![0, 0], vec![0, 0]]), Err(ChannelError::Total(0)));
        assert_eq!(of(1, vec![vec![1, 0], vec![0, 1]]), Err(ChannelError::Total(1)));
        let wrong = ChannelError::ColumnSum { column: 1, sum: 5, expected: 6 };
        assert_eq!(of(6, vec![vec![5, 1], vec![1, 4]]), Err(wrong));
    }

    #[test]
    fn what_is_not_a_channel_is_refused() {
        let new = |sizes: &[usize], columns: Vec<Vec<u64>>| Matrix::new(sizes.to_vec(), labels(2), 2, columns);
        assert!(matches!(new(&[2], vec![vec![1, 3], vec![2, 1]]), Err(ChannelError::ColumnSum { column: 1, .. })));
        assert!(matches!(new(&[2], vec![vec![1, 3]]), Err(ChannelError::Columns { .. })));
        assert!(matches!(new(&[2], vec![vec![1, 3], vec![4]]), Err(ChannelError::Rows { column: 1, .. })));
        assert!(matches!(new(&[1], vec![vec![1, 3]]), Err(ChannelError::Categories { .. })));
        let rounded = |columns: &[Vec<f64>]| Matrix::rounded(vec![2], labels(2), columns);
        assert!(matches!(
            rounded(&[vec![0.5, 0.5], vec![-0.5, 1.5]]),
            Err(ChannelError::Entry { row: 0, column: 1, .. })
        ));
        assert!(matches!(
            rounded(&[vec![0.5, 0.5], vec![0.5, 0.6]]),
            Err(ChannelError::ColumnProbability { column: 1, .. })
        ));
        assert!(matches!(rounded(&[vec![f64::NAN, 0.5], vec![0.5, 0.5]]), Err(ChannelError::Entry { .. })));
    }
}
