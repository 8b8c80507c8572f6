//! Priors of one attribute: the probability of each category.

use statrs::distribution::{ContinuousCDF, Gamma, Normal};

use super::FrontError;

/// Smallest positive share that can be computed with.
const SMALLEST: f64 = 1e-9;

/// Tolerance for the sum of given shares.
const TOLERANCE: f64 = 1e-6;

/// Maximum number of categories of a front.
const MAX_FRONT: usize = 1000;

/// The shares of the categories, and the numbers that state them in a plan.
///
/// Categories with share zero never occur; computations leave them out.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    shares: Vec<f64>,
    /// Numbers proportional to the shares.
    stated: Vec<f64>,
    kept: Vec<usize>,
    given: usize,
}

impl Prior {
    /// Creates a prior from shares that sum to one.
    ///
    /// # Errors
    /// Returns [`FrontError::Prior`] if one is negative, not finite, or positive but below 1e-9, if they do not sum to
    /// one within 1e-6, or if fewer than two are positive.
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

    /// Creates a prior from the numbers that a plan states, which are kept unchanged; shares are proportional to them.
    ///
    /// # Errors
    /// Returns the errors of [`Prior::new`], except for the sum.
    pub fn stated_as(numbers: &[f64]) -> Result<Prior, FrontError> {
        match numbers.iter().find(|p| !(p.is_finite() && **p >= 0.0)) {
            Some(number) => Err(FrontError::Prior(format!("has {number} as a share; shares are numbers from 0 on"))),
            None => Prior::proportional(numbers),
        }
    }

    /// Creates a prior proportional to numbers that are finite and not negative.
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

    /// Rounds every share to two significant digits, never to zero, for publication in a plan.
    ///
    /// Each share is rounded separately, so that it reveals nothing about the others. All computations divide by their
    /// sum.
    #[must_use]
    pub fn rounded(&self) -> Prior {
        let round = |share: &f64| format!("{share:.1e}").parse().unwrap_or(*share);
        let stated: Vec<f64> = self.shares.iter().map(round).collect();
        let sum: f64 = stated.iter().sum();
        Prior { shares: stated.iter().map(|p| p / sum).collect(), stated, kept: self.kept.clone(), given: self.given }
    }

    /// Creates a prior proportional to counts.
    ///
    /// # Errors
    /// Returns the errors of [`Prior::new`].
    pub fn from_counts(counts: &[f64]) -> Result<Prior, FrontError> {
        let sum: f64 = counts.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(FrontError::Prior("is of no records: there is nothing to count".to_owned()));
        }
        Prior::new(&counts.iter().map(|count| count / sum).collect::<Vec<f64>>())
    }

    /// Creates a prior of `n` equal shares.
    ///
    /// # Errors
    /// Returns the errors of [`Prior::new`].
    pub fn uniform(n: usize) -> Result<Prior, FrontError> {
        Prior::new(&vec![1.0 / n as f64; n])
    }

    /// Creates a prior from the standard normal distribution in `n` bins of equal width on `[-3, 3]`, renormalized.
    ///
    /// Huang and Du 2008 do not state how they divided a normal distribution into categories. Of nine ways tried, this
    /// one agrees best with the numbers in their text.
    ///
    /// # Errors
    /// Returns the errors of [`Prior::new`].
    pub fn normal(n: usize) -> Result<Prior, FrontError> {
        Prior::binned(n, -3.0, 3.0, |x| Normal::standard().cdf(x))
    }

    /// Creates a prior from the gamma distribution in `n` bins of equal width, renormalized.
    ///
    /// The bins cover `[0, mean + 3 standard deviations]`. The shares do not depend on the scale.
    ///
    /// # Errors
    /// Returns [`FrontError::Parameter`] if shape or scale is not positive and finite, and the errors of
    /// [`Prior::new`].
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

    /// Returns the numbers that state the positive shares in a plan.
    ///
    /// They are proportional to the shares, as they were given or rounded. Certificates are for these numbers.
    pub fn stated(&self) -> &[f64] {
        &self.stated
    }

    /// Returns the positive shares, which sum to one.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Returns the number of categories that occur.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Always returns false: a prior has at least two categories.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the positions of the positive shares among the given categories.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Returns [`Prior::stated`] for all given categories, with zero for those that never occur.
    pub fn all_stated(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.given];
        self.kept.iter().zip(&self.stated).for_each(|(&category, &share)| all[category] = share);
        all
    }

    /// Returns the number of given categories that never occur.
    pub fn left_out(&self) -> usize {
        self.given - self.kept.len()
    }

    /// Returns the largest share, which is the guess accuracy without any answer.
    pub fn largest(&self) -> f64 {
        self.shares.iter().copied().fold(0.0, f64::max)
    }

    /// Returns `sum_k pi_k^2`.
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
        // Numbers stated in a plan are read unchanged.
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
