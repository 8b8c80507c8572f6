//! The randomization matrices of section 6.3, in several readings.
//!
//! All have one probability on the main diagonal and another one off it. Section 6.3.1 prints `p` and `(1 - p)/|A|`,
//! whose rows do not sum to 1 (docs/project/errata.md), so the printed recipe needs an interpretation.

/// An interpretation of section 6.3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// `p` on the main diagonal, the rest allocated equally to the other categories; epsilons keep their sign.
    Diagonal,
    /// As `Diagonal`, with the absolute values of the printed formula.
    DiagonalAbsolute,
    /// The answer is true with probability `p`, else uniform over all categories, as in Proposition 1.
    Keep,
    /// The printed entries, each row rescaled to sum to 1; epsilons keep their sign.
    Rescaled,
    /// As `Rescaled`, with the absolute values of the printed formula.
    RescaledAbsolute,
}

impl Reading {
    /// Returns the column heading of the reading.
    pub fn name(self) -> &'static str {
        match self {
            Reading::Diagonal => "p on the diagonal",
            Reading::DiagonalAbsolute => "p on the diagonal, absolute epsilons",
            Reading::Keep => "keep with p, else uniform",
            Reading::Rescaled => "printed entries, rows rescaled",
            Reading::RescaledAbsolute => "printed entries, rows rescaled, absolute epsilons",
        }
    }

    /// Returns the logarithm of the ratio of diagonal to off-diagonal, for an attribute with this many categories.
    pub fn epsilon(self, categories: usize, p: f64) -> f64 {
        let r = categories as f64;
        match self {
            Reading::Diagonal => (p * (r - 1.0) / (1.0 - p)).ln(),
            Reading::DiagonalAbsolute => (p * (r - 1.0) / (1.0 - p)).ln().abs(),
            Reading::Keep => (p * r / (1.0 - p)).ln_1p(),
            Reading::Rescaled => (p * r / (1.0 - p)).ln(),
            Reading::RescaledAbsolute => (p * r / (1.0 - p)).ln().abs(),
        }
    }
}

/// Attributes randomized together: reported unchanged with probability `diagonal`, else as any other combination.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub attributes: Vec<usize>,
    pub cells: usize,
    pub diagonal: f64,
}

impl Block {
    /// Creates a cluster that spends the sum of the epsilons of its attributes (section 6.3.2, with the sign of
    /// docs/project/errata.md).
    fn new(attributes: &[usize], sizes: &[usize], p: f64, reading: Reading) -> Block {
        let cells = attributes.iter().map(|&attribute| sizes[attribute]).product();
        let sum: f64 = attributes.iter().map(|&attribute| reading.epsilon(sizes[attribute], p)).sum();
        let diagonal = 1.0 / (1.0 + (cells - 1) as f64 * (-sum).exp());
        Block { attributes: attributes.to_vec(), cells, diagonal }
    }

    /// Changes the matrix so that the cluster spends this share of its epsilon.
    pub fn spend(&mut self, share: f64) {
        let ratio = self.diagonal / self.other();
        self.diagonal = 1.0 / (1.0 + (self.cells - 1) as f64 * ratio.powf(-share));
    }

    /// Returns the probability of each other combination.
    fn other(&self) -> f64 {
        (1.0 - self.diagonal) / (self.cells - 1) as f64
    }

    /// Returns the estimate of equation (2) for this matrix. If diagonal and off-diagonal are equal, the answers carry
    /// no information and are returned unchanged.
    pub fn estimate(&self, answered: &[f64]) -> Vec<f64> {
        let (other, span) = (self.other(), self.diagonal - self.other());
        match span.abs() < 1e-12 {
            true => answered.to_vec(),
            false => answered.iter().map(|share| (share - other) / span).collect(),
        }
    }
}

/// Returns one block per cluster.
pub fn blocks(sizes: &[usize], clusters: &[Vec<usize>], p: f64, reading: Reading) -> Vec<Block> {
    clusters.iter().map(|cluster| Block::new(cluster, sizes, p, reading)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_the_matrices_they_say() {
        let diagonal = |r: usize, p: f64, reading| Block::new(&[0], &[r], p, reading).diagonal;
        assert!((diagonal(9, 0.1, Reading::Diagonal) - 0.1).abs() < 1e-12);
        assert!((diagonal(9, 0.7, Reading::Keep) - (0.7 + 0.3 / 9.0)).abs() < 1e-12);
        // Printed: .7 and .3/9; the row sums to .7 + 8 * .3/9.
        assert!((diagonal(9, 0.7, Reading::Rescaled) - 0.7 / (0.7 + 8.0 * 0.3 / 9.0)).abs() < 1e-12);
        assert!((diagonal(9, 0.1, Reading::Rescaled) - 1.0 / 9.0).abs() < 1e-12, "the printed epsilon is 0 there");
        // p_C of {Relationship, Sex, Income} at p = .7: .734161, and .954425 if values are kept with probability p.
        let cluster = |reading| Block::new(&[0, 1, 2], &[6, 2, 2], 0.7, reading).diagonal;
        assert!((cluster(Reading::Diagonal) - 0.73416096).abs() < 1e-8);
        assert!((cluster(Reading::Keep) - 0.95442536).abs() < 1e-8);
    }

    #[test]
    fn estimates_invert_the_matrix() {
        for reading in [Reading::Diagonal, Reading::Keep, Reading::Rescaled] {
            let block = Block::new(&[0], &[5], 0.3, reading);
            let truth = [0.5, 0.2, 0.2, 0.1, 0.0];
            let answered = truth.map(|share| block.diagonal * share + block.other() * (1.0 - share));
            let estimate = block.estimate(&answered);
            assert!(estimate.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-12), "{estimate:?}");
        }
        let singular = Block::new(&[0], &[2], 0.5, Reading::Diagonal);
        assert_eq!(singular.estimate(&[0.4, 0.6]), [0.4, 0.6]);
    }
}
