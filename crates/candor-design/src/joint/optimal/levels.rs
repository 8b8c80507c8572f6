//! What is asked: attributes with their numbers of categories and their attribute epsilons.

use crate::DesignError;

/// Attribute epsilons to be met, each positive.
///
/// With `a` categories and attribute epsilon `e`, the *odds* are `g = exp(e) / (a - 1)` and the
/// *need* is `b = (exp(e) - 1) / a`: a channel `x = 1 + sum of lambda_D over the sets D that hold the
/// pattern` has that marginal epsilon if the gains of its sets, weighted by `lambda`, sum to `b`.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    sizes: Vec<usize>,
    epsilons: Vec<f64>,
}

/// The largest attribute epsilon: beyond it `exp` leaves no room for products.
pub const MAX_EPSILON: f64 = 300.0;

impl Levels {
    /// # Errors
    /// If an epsilon is not a positive number up to [`MAX_EPSILON`].
    ///
    /// # Panics
    /// If there is not one epsilon for each size, or a size is below two.
    pub fn new(sizes: Vec<usize>, epsilons: Vec<f64>) -> Result<Levels, DesignError> {
        assert!(sizes.len() == epsilons.len() && sizes.iter().all(|&a| a >= 2), "one epsilon per attribute");
        match epsilons.iter().find(|&&e| !(e > 0.0 && e <= MAX_EPSILON)) {
            Some(&bad) => Err(DesignError::Epsilon(bad)),
            None => Ok(Levels { sizes, epsilons }),
        }
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no attribute.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Whether all attributes have the same number of categories and the same epsilon.
    pub fn are_alike(&self) -> bool {
        self.sizes.windows(2).all(|pair| pair[0] == pair[1]) && self.epsilons.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// The number of categories of attribute `i`.
    pub fn size(&self, i: usize) -> f64 {
        self.sizes[i] as f64
    }

    /// The epsilon asked of attribute `i`.
    pub fn epsilon(&self, i: usize) -> f64 {
        self.epsilons[i]
    }

    /// The probability that attribute `i` of a uniformly random answer misses the truth.
    pub fn miss(&self, i: usize) -> f64 {
        (self.size(i) - 1.0) / self.size(i)
    }

    /// `1 + g`: how many times its price a miss of attribute `i` costs.
    pub fn weight_of_price(&self, i: usize) -> f64 {
        1.0 + self.epsilons[i].exp() / (self.size(i) - 1.0)
    }

    /// `b`, what the sets must gain for attribute `i`.
    pub fn need(&self, i: usize) -> f64 {
        self.epsilons[i].exp_m1() / self.size(i)
    }
}
