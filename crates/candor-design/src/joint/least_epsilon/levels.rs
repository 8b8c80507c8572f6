//! The targets of a design: attributes with their numbers of categories and their attribute epsilons.

use crate::DesignError;

/// Attribute epsilons to be met, each positive.
///
/// With `a` categories and attribute epsilon `e`, the *odds* are `g = exp(e) / (a - 1)` and the *need* is
/// `b = (exp(e) - 1) / a`. Consider a channel `x = 1 + sum of lambda_D over the sets D that contain the pattern`. It
/// has that marginal epsilon if the gains of its sets, weighted by `lambda`, sum to `b`.
///
/// Attributes with the same numbers are exchangeable: [`EpsilonTargets::in_classes`] lists each class once, with its
/// number of attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct EpsilonTargets {
    sizes: Vec<usize>,
    epsilons: Vec<f64>,
    counts: Vec<usize>,
}

/// Largest attribute epsilon; beyond it, products of `exp` could overflow.
pub const MAX_EPSILON: f64 = 300.0;

impl EpsilonTargets {
    /// Creates targets from the numbers of categories and the attribute epsilons.
    ///
    /// # Errors
    /// Returns [`DesignError::Epsilon`] if an epsilon is not a positive number up to [`MAX_EPSILON`].
    ///
    /// # Panics
    /// Panics unless there is one epsilon for each size, and every size is at least two.
    pub fn new(sizes: Vec<usize>, epsilons: Vec<f64>) -> Result<EpsilonTargets, DesignError> {
        assert!(sizes.len() == epsilons.len() && sizes.iter().all(|&a| a >= 2), "one epsilon per attribute");
        match epsilons.iter().find(|&&e| !(e > 0.0 && e <= MAX_EPSILON)) {
            Some(&bad) => Err(DesignError::Epsilon(bad)),
            None => Ok(EpsilonTargets { counts: vec![1; sizes.len()], sizes, epsilons }),
        }
    }

    /// Creates targets for this number of equal attributes, as one class.
    ///
    /// # Errors
    /// Returns [`DesignError::Epsilon`] if the epsilon is not a positive number up to [`MAX_EPSILON`].
    ///
    /// # Panics
    /// Panics if there is no attribute, or if they have fewer than two categories.
    pub fn one_class(attributes: usize, size: usize, epsilon: f64) -> Result<EpsilonTargets, DesignError> {
        assert!(attributes > 0, "one attribute or more");
        Ok(EpsilonTargets { counts: vec![attributes], ..EpsilonTargets::new(vec![size], vec![epsilon])? })
    }

    /// Returns the classes of attributes with equal size and epsilon, and the class of every attribute.
    ///
    /// Averaging a channel over permutations within a class keeps every level and does not raise the record-level
    /// epsilon. So some optimal channel treats the attributes of a class alike.
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

    /// Returns the number of attributes in class `i`.
    pub fn count(&self, i: usize) -> f64 {
        self.counts[i] as f64
    }

    /// Returns the number of attributes in all classes together.
    pub fn attributes(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Returns the number of entries: attributes, or classes.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Returns whether all attributes have the same number of categories and the same epsilon.
    pub fn are_alike(&self) -> bool {
        self.sizes.windows(2).all(|pair| pair[0] == pair[1]) && self.epsilons.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Returns the number of categories of attribute `i`.
    pub fn size(&self, i: usize) -> f64 {
        self.sizes[i] as f64
    }

    /// Returns the epsilon required of attribute `i`.
    pub fn epsilon(&self, i: usize) -> f64 {
        self.epsilons[i]
    }

    /// Returns the probability that a uniformly random answer misses in attribute `i`.
    pub fn miss(&self, i: usize) -> f64 {
        (self.size(i) - 1.0) / self.size(i)
    }

    /// Returns `1 + g`, the cost of a miss of attribute `i` as a multiple of its price.
    pub fn weight_of_price(&self, i: usize) -> f64 {
        1.0 + self.epsilons[i].exp() / (self.size(i) - 1.0)
    }

    /// Returns `b`, the gain that the sets must have for attribute `i`.
    pub fn need(&self, i: usize) -> f64 {
        self.epsilons[i].exp_m1() / self.size(i)
    }

    /// Returns the cost of meeting every level exactly at these prices.
    pub fn paid(&self, prices: &[f64]) -> f64 {
        prices.iter().enumerate().map(|(i, price)| self.count(i) * self.need(i) * price).sum()
    }
}
