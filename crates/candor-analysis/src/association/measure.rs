//! Measures of association as functions of a two-way table, with their derivatives.

use std::fmt;

use candor_base::schema::{Attribute, Kind};

/// A measure of association: the covariance is at least 0, and all others are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// `|r|`, the absolute value of Pearson's correlation of the categories' positions, for two ordinal attributes.
    ///
    /// It is expression 8 of Domingo-Ferrer and Soria-Comas 2020.
    Pearson,
    /// Cramér's `V = sqrt( phi^2 / min(r-1, c-1) )`, `phi^2 = sum (p_ij - p_i p_j)^2 / (p_i p_j)`, for any
    /// attributes.
    ///
    /// It is expression 9 of the paper, which prints chi-square with another denominator than its definition.
    CramersV,
    /// Mutual information divided by the smaller entropy: 1 if one attribute determines the other.
    MutualInformation,
    /// Absolute value of the covariance of the categories' positions (section 4.1).
    ///
    /// Suppose that every attribute is kept with the same probability `p`, and otherwise replaced uniformly.
    /// Covariances of the answers are then those of the true values times `p^2` (Corollary 1), so even answers have
    /// the right order.
    Covariance,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::Pearson => "pearson",
            Measure::CramersV => "cramer",
            Measure::MutualInformation => "mutual-information",
            Measure::Covariance => "covariance",
        })
    }
}

impl Measure {
    /// Returns the measure that the paper chooses: Pearson's for two ordinal attributes, and Cramér's otherwise.
    ///
    /// A missing value has no place in an order, nor has a question that was not asked. So an attribute with such a
    /// category counts as nominal.
    pub fn suited(a: &Attribute, b: &Attribute) -> Measure {
        let ordered = |attribute: &Attribute| {
            attribute.kind() == Kind::Ordinal && (0..attribute.categories().len()).all(|code| attribute.is_answer(code))
        };
        if ordered(a) && ordered(b) { Measure::Pearson } else { Measure::CramersV }
    }

    /// Returns the association in a table of counts or shares, with the first attribute varying slowest.
    ///
    /// They must not be negative. The result is 0 for an empty table, and if only one category of an attribute
    /// occurs.
    ///
    /// # Panics
    /// Panics if the table does not have `rows x columns` cells.
    ///
    /// ```
    /// use candor_analysis::association::Measure;
    /// assert_eq!(Measure::CramersV.of_table(2, 2, &[5.0, 0.0, 0.0, 5.0]), 1.0);
    /// assert_eq!(Measure::CramersV.of_table(2, 2, &[1.0, 1.0, 1.0, 1.0]), 0.0);
    /// ```
    pub fn of_table(self, rows: usize, columns: usize, cells: &[f64]) -> f64 {
        assert_eq!(cells.len(), rows * columns, "a table of {rows} x {columns}");
        let total: f64 = cells.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        let shares: Vec<f64> = cells.iter().map(|cell| cell / total).collect();
        let table = TwoWay::new(rows, columns, &shares);
        let value = match self {
            Measure::Pearson => table.correlation().abs(),
            Measure::CramersV => (table.phi_squared() / (rows.min(columns).max(2) - 1) as f64).sqrt(),
            Measure::MutualInformation => match table.least_entropy() {
                entropy if entropy > 0.0 => table.information() / entropy,
                _ => 0.0,
            },
            Measure::Covariance => return table.covariance().abs(),
        };
        value.clamp(0.0, 1.0)
    }
}

/// Returns the mutual information of a two-way distribution, in nats.
pub(crate) fn information(rows: usize, columns: usize, shares: &[f64]) -> f64 {
    TwoWay::new(rows, columns, shares).information()
}

/// Largest standard deviation of positions that counts as zero.
const MIN_SPREAD: f64 = 1e-6;

/// A two-way table of shares that sum to 1, with the margins for the comparison.
pub(super) struct TwoWay<'a> {
    pub(super) columns: usize,
    pub(super) shares: &'a [f64],
    pub(super) row_shares: Vec<f64>,
    pub(super) column_shares: Vec<f64>,
}

impl<'a> TwoWay<'a> {
    pub(super) fn new(rows: usize, columns: usize, shares: &'a [f64]) -> TwoWay<'a> {
        let row_shares = (0..rows).map(|i| shares[i * columns..][..columns].iter().sum()).collect();
        let column_shares = (0..columns).map(|j| (0..rows).map(|i| shares[i * columns + j]).sum()).collect();
        TwoWay { columns, shares, row_shares, column_shares }
    }

    /// Returns the share of a cell under independence.
    pub(super) fn independent(&self, cell: usize) -> f64 {
        self.row_shares[cell / self.columns] * self.column_shares[cell % self.columns]
    }

    /// Returns the cells with a positive share under independence.
    fn allowed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.shares.len()).filter(|&cell| self.independent(cell) > 0.0)
    }

    pub(super) fn phi_squared(&self) -> f64 {
        let term = |cell| {
            let expected = self.independent(cell);
            (self.shares[cell] - expected).powi(2) / expected
        };
        self.allowed().map(term).sum()
    }

    /// Returns the derivative of `phi^2 = sum p^2/(r c) - 1` in each cell: `2 p/(r c)`, less the effect of the
    /// margins.
    pub(super) fn phi_squared_gradient(&self) -> Vec<f64> {
        let (mut by_row, mut by_column) = (vec![0.0; self.row_shares.len()], vec![0.0; self.columns]);
        for cell in self.allowed() {
            let (i, j) = (cell / self.columns, cell % self.columns);
            let part = self.shares[cell].powi(2) / self.independent(cell);
            by_row[i] += part / self.row_shares[i];
            by_column[j] += part / self.column_shares[j];
        }
        let mut gradient = vec![0.0; self.shares.len()];
        for cell in self.allowed() {
            let own = 2.0 * self.shares[cell] / self.independent(cell);
            gradient[cell] = own - by_row[cell / self.columns] - by_column[cell % self.columns];
        }
        gradient
    }

    /// Returns the mutual information, in nats.
    pub(super) fn information(&self) -> f64 {
        let occurring = self.allowed().filter(|&cell| self.shares[cell] > 0.0);
        occurring.map(|cell| self.shares[cell] * (self.shares[cell] / self.independent(cell)).ln()).sum()
    }

    /// Returns its derivative in each cell, up to a constant; 0 in empty cells.
    pub(super) fn information_gradient(&self) -> Vec<f64> {
        let one = |cell: usize| match self.shares[cell] > 0.0 && self.independent(cell) > 0.0 {
            true => (self.shares[cell] / self.independent(cell)).ln(),
            false => 0.0,
        };
        (0..self.shares.len()).map(one).collect()
    }

    /// Returns the smaller entropy of the two attributes, in nats.
    pub(super) fn least_entropy(&self) -> f64 {
        let entropy =
            |shares: &[f64]| -shares.iter().filter(|share| **share > 0.0).map(|share| share * share.ln()).sum::<f64>();
        entropy(&self.row_shares).min(entropy(&self.column_shares))
    }

    /// Returns mean and standard deviation of the positions of the categories.
    fn moments(shares: &[f64]) -> (f64, f64) {
        let mean: f64 = shares.iter().enumerate().map(|(score, share)| score as f64 * share).sum();
        let spread: f64 = shares.iter().enumerate().map(|(score, share)| (score as f64 - mean).powi(2) * share).sum();
        (mean, spread.max(0.0).sqrt())
    }

    /// Returns each attribute's positions, centered.
    fn centered(&self) -> [Vec<f64>; 2] {
        [&self.row_shares, &self.column_shares].map(|shares| {
            let mean = TwoWay::moments(shares).0;
            (0..shares.len()).map(|score| score as f64 - mean).collect()
        })
    }

    /// Returns the covariance of the positions of the categories.
    pub(super) fn covariance(&self) -> f64 {
        self.covariance_gradient().iter().zip(self.shares).map(|(product, share)| product * share).sum()
    }

    /// Returns its derivative in each cell, up to a constant: `(x - mean x)(y - mean y)`.
    pub(super) fn covariance_gradient(&self) -> Vec<f64> {
        let [x, y] = self.centered();
        (0..self.shares.len()).map(|cell| x[cell / self.columns] * y[cell % self.columns]).collect()
    }

    /// Returns each attribute's positions, standardized; `None` if one has no variance.
    pub(super) fn standardized(&self) -> Option<[Vec<f64>; 2]> {
        let one = |shares: &[f64]| {
            let (mean, spread) = TwoWay::moments(shares);
            (spread > MIN_SPREAD).then(|| (0..shares.len()).map(|score| (score as f64 - mean) / spread).collect())
        };
        Some([one(&self.row_shares)?, one(&self.column_shares)?])
    }

    /// Returns Pearson's correlation of the positions of the categories.
    pub(super) fn correlation(&self) -> f64 {
        let Some([x, y]) = self.standardized() else { return 0.0 };
        (0..self.shares.len()).map(|cell| self.shares[cell] * x[cell / self.columns] * y[cell % self.columns]).sum()
    }

    /// Returns its derivative in each cell: `x y - r (x^2 + y^2)/2` with standardized positions.
    pub(super) fn correlation_gradient(&self) -> Vec<f64> {
        let Some([x, y]) = self.standardized() else { return vec![0.0; self.shares.len()] };
        let r = self.correlation();
        let one = |cell: usize| {
            let (x, y) = (x[cell / self.columns], y[cell % self.columns]);
            x * y - r * (x * x + y * y) / 2.0
        };
        (0..self.shares.len()).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Measure; 3] = [Measure::Pearson, Measure::CramersV, Measure::MutualInformation];

    #[test]
    fn one_if_one_decides_the_other_and_zero_if_independent() {
        for measure in ALL {
            assert!((measure.of_table(3, 3, &[2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 5.0]) - 1.0).abs() < 1e-12);
            assert!(measure.of_table(2, 3, &[2.0, 4.0, 6.0, 3.0, 6.0, 9.0]) < 1e-7, "{measure}");
            // An empty table, and an attribute with a single category that occurs.
            assert_eq!(measure.of_table(2, 2, &[0.0; 4]), 0.0);
            assert_eq!(measure.of_table(2, 2, &[1.0, 2.0, 0.0, 0.0]), 0.0);
            assert_eq!(measure.of_table(1, 2, &[1.0, 2.0]), 0.0);
        }
    }

    #[test]
    fn for_two_binary_attributes_cramers_is_pearsons() {
        let cells = [7.0, 2.0, 3.0, 11.0];
        let [pearson, cramer] = [Measure::Pearson, Measure::CramersV].map(|measure| measure.of_table(2, 2, &cells));
        assert!((pearson - cramer).abs() < 1e-12);
        // (ad - bc) / sqrt of the product of the margins.
        assert!((pearson - (7.0 * 11.0 - 2.0 * 3.0) / (9.0f64 * 14.0 * 10.0 * 13.0).sqrt()).abs() < 1e-12);
    }

    /// Proposition 1: `Cov(Y, Y') = p p' Cov(X, X')` if values are kept with these probabilities, and otherwise
    /// uniform.
    #[test]
    fn covariances_of_answers_are_those_of_the_truth_times_what_is_kept() {
        let truth = [0.3, 0.05, 0.1, 0.05, 0.2, 0.02, 0.08, 0.1, 0.1];
        let answered = |p: f64, q: f64| -> Vec<f64> {
            let kept = |p: f64, i: usize, k: usize| (1.0 - p) / 3.0 + if i == k { p } else { 0.0 };
            let cell = |to: usize| {
                (0..9).map(|from| truth[from] * kept(p, from / 3, to / 3) * kept(q, from % 3, to % 3)).sum()
            };
            (0..9).map(cell).collect()
        };
        let covariance = |table: &[f64]| Measure::Covariance.of_table(3, 3, table);
        let mean = |of: &dyn Fn(usize) -> usize| (0..9).map(|c| truth[c] * of(c) as f64).sum::<f64>();
        let by_hand = mean(&|c| (c / 3) * (c % 3)) - mean(&|c| c / 3) * mean(&|c| c % 3);
        assert!((covariance(&truth) - by_hand).abs() < 1e-12 && by_hand > 0.1);
        for (p, q) in [(0.7, 0.7), (0.1, 0.9), (0.5, 0.3)] {
            assert!((covariance(&answered(p, q)) - p * q * by_hand).abs() < 1e-12);
        }
        // A covariance may exceed 1.
        assert!(
            (Measure::Covariance.of_table(
                5,
                5,
                &std::array::from_fn::<f64, 25, _>(|c| f64::from(u8::from(c == 0 || c == 24)))
            ) - 4.0)
                .abs()
                < 1e-12
        );
    }

    #[test]
    fn the_sign_of_a_correlation_does_not_matter() {
        let value = Measure::Pearson.of_table(3, 2, &[0.0, 3.0, 1.0, 1.0, 3.0, 0.0]);
        assert!((value - Measure::Pearson.of_table(3, 2, &[3.0, 0.0, 1.0, 1.0, 0.0, 3.0])).abs() < 1e-12);
        assert!(value > 0.8);
    }

    proptest! {
        #[test]
        fn values_are_from_zero_to_one(cells in prop::collection::vec(0.0f64..9.0, 12)) {
            for measure in ALL {
                let value = measure.of_table(3, 4, &cells);
                prop_assert!((0.0..=1.0).contains(&value), "{measure}: {value}");
            }
        }

        /// Derivatives, compared with small steps that keep the total.
        #[test]
        fn derivatives(cells in prop::collection::vec(0.5f64..9.0, 12), up in 0usize..12, down in 0usize..12) {
            let total: f64 = cells.iter().sum();
            let shares: Vec<f64> = cells.iter().map(|cell| cell / total).collect();
            let step = 1e-6;
            let moved = |by: f64| {
                let mut shares = shares.clone();
                shares[up] += by;
                shares[down] -= by;
                shares
            };
            let (more, less) = (moved(step), moved(-step));
            let [here, more, less] = [&shares, &more, &less].map(|shares| TwoWay::new(3, 4, shares));
            let check = |gradient: Vec<f64>, value: fn(&TwoWay<'_>) -> f64| {
                let slope = (value(&more) - value(&less)) / (2.0 * step);
                let expected = gradient[up] - gradient[down];
                prop_assert!((slope - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{slope} {expected}");
                Ok(())
            };
            check(here.phi_squared_gradient(), |table| table.phi_squared())?;
            check(here.information_gradient(), |table| table.information())?;
            check(here.correlation_gradient(), |table| table.correlation())?;
            check(here.covariance_gradient(), |table| table.covariance())?;
        }
    }
}
