//! Guess accuracy and worst posterior of an adversary with a known prior (Huang and Du 2008, section IV).
//!
//! Both numbers hold for this prior only.

use num_bigint::BigUint;
use num_traits::Zero;

use super::Matrix;
use super::epsilon::{Rational, exact, nearest};

/// Exact guess accuracy and worst posterior of one matrix under one prior.
///
/// ```
/// use candor_base::channel::Matrix;
///
/// let columns = vec![vec![3, 1], vec![1, 3]];
/// let matrix = Matrix::new(vec![2], vec!["yes".into(), "no".into()], 2, columns)?;
/// let guess = matrix.guess(&[0.5, 0.5]).unwrap();
/// assert_eq!((guess.map_privacy(), guess.worst_posterior()), (0.25, 0.75));
/// # Ok::<(), candor_base::channel::ChannelError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    accuracy: Rational,
    worst: Rational,
}

impl Guess {
    /// Returns the guess accuracy, `sum over answers of max over categories P(answer, category)`.
    pub fn accuracy(&self) -> &Rational {
        &self.accuracy
    }

    /// Returns the largest `P(category | answer)` over all answers that can occur.
    pub fn worst(&self) -> &Rational {
        &self.worst
    }

    /// Returns the MAP privacy (Huang and Du 2008, eq. 8): the probability that the best guess is wrong, rounded down.
    pub fn map_privacy(&self) -> f64 {
        let one = Rational::from(BigUint::from(1u32));
        // The subtraction cannot be negative: the maxima are part of a distribution, so they sum to at most 1.
        let wrong = if self.accuracy < one { one - &self.accuracy } else { Rational::zero() };
        let close = nearest(&wrong);
        if exact(close).is_some_and(|value| value <= wrong) { close } else { close.next_down().max(0.0) }
    }

    /// Returns the worst posterior (Huang and Du 2008, eq. 9), rounded up. It is the smallest bound delta that holds.
    pub fn worst_posterior(&self) -> f64 {
        let close = nearest(&self.worst);
        if exact(close).is_some_and(|value| value >= self.worst) { close } else { close.next_up() }
    }
}

impl Matrix {
    /// Returns guess accuracy and worst posterior if the inputs have these prior probabilities.
    ///
    /// The prior is scaled exactly to sum to one. Returns `None` unless it has one number per input, none negative and
    /// some positive.
    ///
    /// With integers `c` of output `z` given input `j`, and prior `p`:
    /// `accuracy = sum_z max_j c_zj p_j / (total sum p)`, `worst = max_zj c_zj p_j / sum_l c_zl p_l`. Both are exact;
    /// the cost is one multiplication of big integers per entry.
    pub fn guess(&self, prior: &[f64]) -> Option<Guess> {
        if prior.len() != self.columns().len() {
            return None;
        }
        let prior: Vec<Rational> = prior.iter().map(|&p| exact(p)).collect::<Option<_>>()?;
        let sum: Rational = prior.iter().fold(Rational::zero(), |sum, p| sum + p);
        if sum.is_zero() {
            return None;
        }
        // Bring the shares to a common denominator, so that the rest is integer arithmetic.
        let denominator = prior.iter().map(Rational::denom).max()?.clone();
        let shares: Vec<BigUint> = prior.iter().map(|p| p.numer() * (&denominator / p.denom())).collect();
        let (mut right, mut worst) = (BigUint::zero(), Rational::zero());
        for output in 0..self.labels().len() {
            let joint = self.columns().iter().zip(&shares).map(|(column, share)| share * column[output]);
            let (mut largest, mut total) = (BigUint::zero(), BigUint::zero());
            for cell in joint {
                total += &cell;
                largest = largest.max(cell);
            }
            if !total.is_zero() {
                worst = worst.max(Rational::new(largest.clone(), total));
            }
            right += largest;
        }
        let whole = shares.iter().sum::<BigUint>() * self.total();
        Some(Guess { accuracy: Rational::new(right, whole), worst })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(n: u64, d: u64) -> Rational {
        Rational::new(n.into(), d.into())
    }

    fn labels(n: usize) -> Vec<String> {
        (0..n).map(|i| i.to_string()).collect()
    }

    #[test]
    fn by_hand() {
        // Outputs 0 and 1; joint probabilities (3/8, 1/8) and (1/8, 3/8) of the true categories (0, 1).
        let matrix = Matrix::new(vec![2], labels(2), 2, vec![vec![3, 1], vec![1, 3]]).unwrap();
        let guess = matrix.guess(&[0.5, 0.5]).unwrap();
        assert_eq!((guess.accuracy(), guess.worst()), (&rational(3, 4), &rational(3, 4)));
        // With prior (1/4, 3/4): joint (3/16, 3/16; 1/16, 9/16).
        let guess = matrix.guess(&[0.25, 0.75]).unwrap();
        assert_eq!((guess.accuracy(), guess.worst()), (&rational(12, 16), &rational(9, 10)));
        // Unscaled priors are scaled; an output that cannot occur has no posterior.
        assert_eq!(matrix.guess(&[1.0, 3.0]), Some(guess));
        let guess = matrix.guess(&[0.0, 2.0]).unwrap();
        assert_eq!((guess.map_privacy(), guess.worst_posterior()), (0.0, 1.0));
    }

    #[test]
    fn golden_a_and_b_of_paper_001() {
        let a = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
        let guess = Matrix::rounded(vec![3], labels(3), &a).unwrap().guess(&[0.5, 0.3, 0.2]).unwrap();
        assert!((guess.map_privacy() - 0.35).abs() < 1e-15);
        assert!((guess.worst_posterior() - 0.813_953_488_372_093).abs() < 1e-15);
        let column = |j: usize| (0..4).map(|z| if z == j { 0.6 } else { 0.4 / 3.0 }).collect::<Vec<f64>>();
        let b: Vec<Vec<f64>> = (0..4).map(column).collect();
        let guess = Matrix::rounded(vec![4], labels(4), &b).unwrap().guess(&[0.1, 0.2, 0.3, 0.4]).unwrap();
        assert!((guess.map_privacy() - 0.4).abs() < 1e-15 && (guess.worst_posterior() - 0.75).abs() < 1e-15);
    }

    #[test]
    fn rounded_outward() {
        let matrix = Matrix::new(vec![2], labels(2), 2, vec![vec![3, 1], vec![1, 3]]).unwrap();
        for prior in [[0.1, 0.2], [1.0 / 3.0, 0.7], [1e-300, 1.0], [0.3, 0.3]] {
            let guess = matrix.guess(&prior).unwrap();
            let wrong = rational(1, 1) - guess.accuracy();
            assert!(exact(guess.map_privacy()).unwrap() <= wrong, "{prior:?}");
            assert!(exact(guess.worst_posterior()).unwrap() >= *guess.worst(), "{prior:?}");
            assert!((guess.map_privacy() - nearest(&wrong)).abs() < 1e-15);
        }
    }

    #[test]
    fn what_is_no_prior() {
        let matrix = Matrix::new(vec![2], labels(2), 2, vec![vec![3, 1], vec![1, 3]]).unwrap();
        for prior in
            [&[0.5][..], &[0.5, 0.25, 0.25], &[-0.5, 1.5], &[f64::NAN, 1.0], &[0.0, 0.0], &[f64::INFINITY, 1.0]]
        {
            assert_eq!(matrix.guess(prior), None, "{prior:?}");
        }
    }
}
