//! What is asked: attributes with their numbers of categories and their attribute epsilons.

use crate::DesignError;

/// Attribute epsilons to be met, each positive.
///
/// With `a` categories and attribute epsilon `e`, the *odds* are `g = exp(e) / (a - 1)` and the
/// *need* is `b = (exp(e) - 1) / a`: a channel `x = 1 + sum of lambda_D over the sets D that hold the
/// pattern` has that marginal epsilon if the gains of its sets, weighted by `lambda`, sum to `b`.
///
/// Attributes with the same numbers are exchangeable: [`EpsilonTargets::in_classes`] lists them once, with how many
/// they are.
#[derive(Clone, Debug, PartialEq)]
pub struct EpsilonTargets {
    sizes: Vec<usize>,
    epsilons: Vec<f64>,
    counts: Vec<usize>,
}

/// The largest attribute epsilon: beyond it `exp` leaves no room for products.
pub const MAX_EPSILON: f64 = 300.0;

impl EpsilonTargets {
    /// # Errors
    /// If an epsilon is not a positive number up to [`MAX_EPSILON`].
    ///
    /// # Panics
    /// If there is not one epsilon for each size, or a size is below two.
    pub fn new(sizes: Vec<usize>, epsilons: Vec<f64>) -> Result<EpsilonTargets, DesignError> {
        assert!(sizes.len() == epsilons.len() && sizes.iter().all(|&a| a >= 2), "one epsilon per attribute");
        match epsilons.iter().find(|&&e| !(e > 0.0 && e <= MAX_EPSILON)) {
            Some(&bad) => Err(DesignError::Epsilon(bad)),
            None => Ok(EpsilonTargets { counts: vec![1; sizes.len()], sizes, epsilons }),
        }
    }

    /// As many attributes as told, all alike: one class.
    ///
    /// # Errors
    /// If the epsilon is not positive or is beyond the range of floats.
    ///
    /// # Panics
    /// If there is no attribute, or one has fewer than two categories.
    pub fn one_class(attributes: usize, size: usize, epsilon: f64) -> Result<EpsilonTargets, DesignError> {
        assert!(attributes > 0, "one attribute or more");
        Ok(EpsilonTargets { counts: vec![attributes], ..EpsilonTargets::new(vec![size], vec![epsilon])? })
    }

    /// Attributes of equal size and epsilon as one class, listed once; and the class of every attribute.
    ///
    /// Averaging a channel over permutations inside a class keeps every level and does not raise the record epsilon, so
    /// that an optimal one treats a class alike.
    pub fn in_classes(&self) -> (EpsilonTargets, Vec<usize>) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let key = |i: usize| (self.sizes[i], self.epsilons[i]);
        order.sort_by(|&i, &j| key(j).0.cmp(&key(i).0).then(key(j).1.total_cmp(&key(i).1)));
        let (mut classes, mut class_of) =
            (EpsilonTargets { sizes: vec![], epsilons: vec![], counts: vec![] }, vec![0; self.len()]);
        for i in order {
            let same =
                classes.sizes.last() == Some(&self.sizes[i]) && classes.epsilons.last() == Some(&self.epsilons[i]);
            match classes.counts.last_mut().filter(|_| same) {
                Some(count) => *count += self.counts[i],
                None => {
                    classes.sizes.push(self.sizes[i]);
                    classes.epsilons.push(self.epsilons[i]);
                    classes.counts.push(self.counts[i]);
                }
            }
            class_of[i] = classes.len() - 1;
        }
        (classes, class_of)
    }

    /// How many attributes of class `i` there are.
    pub fn count(&self, i: usize) -> f64 {
        self.counts[i] as f64
    }

    /// The number of attributes, of all classes together.
    pub fn attributes(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The number of attributes, or of classes.
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

    /// What meeting every level exactly costs at these prices.
    pub fn paid(&self, prices: &[f64]) -> f64 {
        prices.iter().enumerate().map(|(i, price)| self.count(i) * self.need(i) * price).sum()
    }
}
