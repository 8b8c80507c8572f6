//! What is known of an attribute beforehand: the share of each category.

use statrs::distribution::{ContinuousCDF, Gamma, Normal};

use super::FrontError;

/// Shares below this are too small to compute with.
const SMALLEST: f64 = 1e-9;

/// How far given shares may be from summing to one.
const TOLERANCE: f64 = 1e-6;

/// The largest number of categories of a front.
const MAX_FRONT: usize = 1000;

/// The shares of the categories, and the numbers that state them in a plan. Categories with share zero never occur:
/// they are left out of every computation, and remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    shares: Vec<f64>,
    /// Proportional to the shares.
    stated: Vec<f64>,
    kept: Vec<usize>,
    given: usize,
}

impl Prior {
    /// The given shares.
    ///
    /// # Errors
    /// If one is negative, not finite or positive but below 1e-9, they do not sum to one within 1e-6, or
    /// fewer than two are positive.
    pub fn new(shares: &[f64]) -> Result<Prior, FrontError> {
        let wrong = |problem: String| Err(FrontError::Prior(problem));
        if shares.len() < 2 {
            return wrong(format!("has {} categories; there is something to hide from two on", shares.len()));
        }
        if let Some(i) = shares.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
            return wrong(format!("has {} as share {}; shares are numbers from 0 to 1", shares[i], i + 1));
        }
        let sum: f64 = shares.iter().sum();
        if (sum - 1.0).abs() > TOLERANCE {
            return wrong(format!("sums to {sum}, not to 1"));
        }
        Prior::proportional(shares)
    }

    /// Shares proportional to the numbers that a plan states: those stay as they are.
    ///
    /// # Errors
    /// As [`Prior::new`], but for the sum.
    pub fn stated_as(numbers: &[f64]) -> Result<Prior, FrontError> {
        match numbers.iter().find(|p| !(p.is_finite() && **p >= 0.0)) {
            Some(number) => Err(FrontError::Prior(format!("has {number} as a share; shares are numbers from 0 on"))),
            None => Prior::proportional(numbers),
        }
    }

    /// Shares proportional to numbers that are finite and not negative.
    fn proportional(stated: &[f64]) -> Result<Prior, FrontError> {
        let wrong = |problem: String| Err(FrontError::Prior(problem));
        let sum: f64 = stated.iter().sum();
        if let Some(i) = stated.iter().position(|&p| p > 0.0 && p / sum < SMALLEST) {
            return wrong(format!(
                "has {} as share {}: too small to compute with. Use 0 for a category that never occurs, or at least \
                 {SMALLEST}",
                stated[i],
                i + 1
            ));
        }
        let kept: Vec<usize> = (0..stated.len()).filter(|&i| stated[i] > 0.0).collect();
        if kept.len() < 2 {
            return wrong("has fewer than two categories that occur: there is nothing to hide".to_owned());
        }
        if kept.len() > MAX_FRONT {
            return wrong(format!("has {} categories; a front takes at most {MAX_FRONT}", kept.len()));
        }
        let given = stated.len();
        let stated: Vec<f64> = kept.iter().map(|&i| stated[i]).collect();
        Ok(Prior { shares: stated.iter().map(|p| p / sum).collect(), stated, kept, given })
    }

    /// The same with every share rounded to two significant digits, never to zero, for a plan that everybody may read.
    /// Each is rounded by itself, so that it tells nothing about the others; what they sum to is divided out again,
    /// here and by whoever computes with them.
    #[must_use]
    pub fn rounded(&self) -> Prior {
        let round = |share: &f64| format!("{share:.1e}").parse().unwrap_or(*share);
        let stated: Vec<f64> = self.shares.iter().map(round).collect();
        let sum: f64 = stated.iter().sum();
        Prior { shares: stated.iter().map(|p| p / sum).collect(), stated, kept: self.kept.clone(), given: self.given }
    }

    /// Shares proportional to counts.
    ///
    /// # Errors
    /// As [`Prior::new`].
    pub fn from_counts(counts: &[f64]) -> Result<Prior, FrontError> {
        let sum: f64 = counts.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(FrontError::Prior("is of no records: there is nothing to count".to_owned()));
        }
        Prior::new(&counts.iter().map(|count| count / sum).collect::<Vec<f64>>())
    }

    /// `n` equal shares.
    ///
    /// # Errors
    /// As [`Prior::new`].
    pub fn uniform(n: usize) -> Result<Prior, FrontError> {
        Prior::new(&vec![1.0 / n as f64; n])
    }

    /// The standard normal distribution in `n` bins of equal width on `[-3, 3]`, renormalised.
    ///
    /// Huang and Du 2008 do not say how they made categories of a normal distribution; of nine ways tried, this
    /// one agrees best with the numbers in their text.
    ///
    /// # Errors
    /// As [`Prior::new`].
    pub fn normal(n: usize) -> Result<Prior, FrontError> {
        Prior::binned(n, -3.0, 3.0, |x| Normal::standard().cdf(x))
    }

    /// The gamma distribution in `n` bins of equal width on `[0, mean + 3 standard deviations]`,
    /// renormalised. The shares do not depend on the scale.
    ///
    /// # Errors
    /// If shape or scale is not positive and finite, or as [`Prior::new`].
    pub fn gamma(n: usize, shape: f64, scale: f64) -> Result<Prior, FrontError> {
        let range = "it must be a positive number";
        for (name, value) in [("shape", shape), ("scale", scale)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(FrontError::Parameter { name, value, range });
            }
        }
        let gamma = Gamma::new(shape, 1.0).map_err(|_| FrontError::Parameter { name: "shape", value: shape, range })?;
        Prior::binned(n, 0.0, shape + 3.0 * shape.sqrt(), |x| gamma.cdf(x))
    }

    fn binned(n: usize, low: f64, high: f64, cdf: impl Fn(f64) -> f64) -> Result<Prior, FrontError> {
        let edge = |i: usize| cdf(low + (high - low) * i as f64 / n as f64);
        let within = edge(n) - edge(0);
        Prior::new(&(0..n).map(|i| (edge(i + 1) - edge(i)) / within).collect::<Vec<f64>>())
    }

    /// The numbers that state the positive shares in a plan: proportional to them, as they were given or rounded. What
    /// is certified is certified for these.
    pub fn stated(&self) -> &[f64] {
        &self.stated
    }

    /// The positive shares; they sum to one.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// How many categories occur.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Never: a prior has at least two categories.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Which of the given categories the shares are of.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// [`Prior::stated`] of all given categories: zero for those that never occur.
    pub fn all_stated(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.given];
        self.kept.iter().zip(&self.stated).for_each(|(&category, &share)| all[category] = share);
        all
    }

    /// How many given categories never occur.
    pub fn left_out(&self) -> usize {
        self.given - self.kept.len()
    }

    /// The largest share: how often guessing without any answer is right.
    pub fn largest(&self) -> f64 {
        self.shares.iter().copied().fold(0.0, f64::max)
    }

    /// `sum_k pi_k^2`.
    pub(crate) fn squares(&self) -> f64 {
        self.shares.iter().map(|p| p * p).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(prior: &Prior, golden: &[f64], tolerance: f64) {
        assert_eq!(prior.len(), golden.len());
        for (share, golden) in prior.shares().iter().zip(golden) {
            assert!((share - golden).abs() < tolerance, "{share} {golden}");
        }
    }

    #[test]
    fn golden_priors() {
        let half =
            [0.006866175165647909, 0.02780785873587246, 0.07935358961763775, 0.1596143737863534, 0.22635800269448847];
        let normal: Vec<f64> = half.iter().chain(half.iter().rev()).copied().collect();
        close(&Prior::normal(10).unwrap(), &normal, 1e-10);
        let gamma = [
            0.33583091167,
            0.22511419217,
            0.15089855566,
            0.10115032678,
            0.06780309170,
            0.04544977155,
            0.03046589296,
            0.02042189877,
            0.01368920812,
            0.00917615062,
        ];
        close(&Prior::gamma(10, 1.0, 2.0).unwrap(), &gamma, 1e-10);
        close(&Prior::gamma(10, 1.0, 7.0).unwrap(), &gamma, 1e-10);
        close(&Prior::uniform(4).unwrap(), &[0.25; 4], 1e-16);
        close(&Prior::from_counts(&[1.0, 3.0]).unwrap(), &[0.25, 0.75], 1e-16);
    }

    #[test]
    fn rounded_to_two_digits_and_never_to_zero() {
        let prior = Prior::from_counts(&[66_667.0, 33_332.0, 1.0]).unwrap().rounded();
        assert_eq!(prior.stated(), [0.67, 0.33, 0.00001]);
        close(&prior, &[0.67 / 1.00001, 0.33 / 1.00001, 0.00001 / 1.00001], 1e-15);
        let thirds = Prior::from_counts(&[1.0, 1.0, 1.0]).unwrap().rounded();
        assert_eq!(thirds.stated(), [0.33; 3]);
        close(&thirds, &[1.0 / 3.0; 3], 1e-15);
        // What a plan states is read as it stands.
        assert_eq!(Prior::stated_as(thirds.stated()).unwrap(), thirds);
        assert_eq!(Prior::new(&[0.7, 0.2, 0.1]).unwrap().stated(), [0.7, 0.2, 0.1]);
        assert!(Prior::stated_as(&[0.3, -0.1]).is_err() && Prior::stated_as(&[0.0, 0.0]).is_err());
    }

    #[test]
    fn categories_that_never_occur_are_left_out() {
        let prior = Prior::new(&[0.5, 0.0, 0.25, 0.25, 0.0]).unwrap();
        assert_eq!((prior.shares(), prior.kept(), prior.left_out()), (&[0.5, 0.25, 0.25][..], &[0, 2, 3][..], 2));
    }

    #[test]
    fn what_is_no_prior_is_refused() {
        for (shares, part) in [
            (&[0.5, 0.4][..], "sums to 0.9, not to 1"),
            (&[1.5, -0.5], "-0.5 as share 2"),
            (&[f64::NAN, 1.0], "NaN as share 1"),
            (&[1.0, 0.0], "fewer than two"),
            (&[1.0 - 1e-12, 1e-12], "too small"),
            (&[0.0, 0.0], "sums to 0"),
            (&[], "has 0 categories"),
        ] {
            let error = Prior::new(shares).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(Prior::uniform(0).is_err() && Prior::uniform(1).is_err() && Prior::uniform(2000).is_err());
        assert!(Prior::normal(1).is_err() && Prior::from_counts(&[0.0, 0.0]).is_err());
        for (shape, scale) in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert!(matches!(Prior::gamma(10, shape, scale), Err(FrontError::Parameter { .. })));
        }
    }
}
