//! Converts standard errors to confidence intervals.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::tally::TableCounts;

/// Type of confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interval {
    /// Each interval covers its cell at the given rate, including few responses and rare cells; within 0 and 1.
    #[default]
    Binomial,
    /// The large-sample version: a number of standard errors to either side of the estimate.
    Wald,
    /// All intervals of a table cover simultaneously at the given rate.
    ///
    /// This is the bound of Domingo-Ferrer and Soria-Comas 2020, in which `B` is the upper `alpha / r` point of
    /// chi-square with one degree of freedom, for the `r` cells of the table.
    Simultaneous,
    /// Each interval covers its cell at the given rate, by resampling the responses.
    ///
    /// Without a normal approximation, it is better for few responses and rare cells. It requires the target
    /// `Population`.
    Bootstrap,
}

impl Interval {
    /// Returns the half-width of an interval in standard errors.
    ///
    /// It is the upper `alpha/2` point of the normal distribution, or for simultaneous intervals that of `alpha/(2
    /// r)`, which is `sqrt(B)`. `confidence` must be above 0 and below 1.
    pub fn reach(self, confidence: f64, cells: usize) -> f64 {
        let alpha = 1.0 - confidence;
        let share = match self {
            Interval::Binomial | Interval::Wald | Interval::Bootstrap => alpha / 2.0,
            Interval::Simultaneous => alpha / 2.0 / cells.max(1) as f64,
        };
        // By symmetry, so that tiny tails keep their precision.
        -Normal::standard().inverse_cdf(share)
    }

    /// Returns the half-width by Student's t, if the counts have a sampling design; otherwise by the normal
    /// distribution.
    pub(crate) fn reach_of(self, tally: &TableCounts, confidence: f64, cells: usize) -> f64 {
        self.reach_with(tally.drawn().map(|drawn| drawn.degrees()), confidence, cells)
    }

    /// Returns the half-width with these degrees of freedom; `None` for the normal distribution.
    pub(crate) fn reach_with(self, degrees: Option<f64>, confidence: f64, cells: usize) -> f64 {
        let normal = self.reach(confidence, cells);
        // Beyond this number, the two agree to more than four digits.
        let degrees = degrees.filter(|degrees| *degrees < 1e5);
        match degrees.and_then(|degrees| StudentsT::new(0.0, 1.0, degrees).ok()) {
            Some(law) => -law.inverse_cdf(Normal::standard().cdf(-normal)),
            None => normal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_paper_004() {
        let golden = [(2, 2.241_403), (10, 2.807_034), (100, 3.480_756), (1000, 4.055_627), (10_000, 4.564_788)];
        for (cells, expected) in golden {
            let found = Interval::Simultaneous.reach(0.95, cells);
            assert!((found - expected).abs() < 1e-6, "{cells}: {found}");
        }
        assert!((Interval::Wald.reach(0.95, 100) - 1.959_964).abs() < 1e-6);
    }
}
