//! From standard errors to intervals.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::tally::TableCounts;

/// How intervals are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interval {
    /// Each interval holds its cell with the given confidence, also with few responses and rare cells; inside 0 and 1.
    #[default]
    Binomial,
    /// The same for many responses: so many standard errors to either side of the estimate.
    Wald,
    /// All intervals of a table hold at once with the given confidence: the bound of Domingo-Ferrer and Soria-Comas
    /// 2020, in which `B` is the upper `alpha / r` point of chi-square with one degree of freedom for the `r` cells of
    /// the table.
    Simultaneous,
    /// Each interval holds its cell with the given confidence, by resampling the responses: no
    /// normal approximation, so better for few responses and rare cells. For a population only.
    Bootstrap,
}

impl Interval {
    /// By how many standard errors an interval reaches to either side: the upper `alpha/2` point of
    /// the normal distribution, or of `alpha/(2 r)`, which is `sqrt(B)`.
    ///
    /// `confidence` is above 0 and below 1.
    pub fn reach(self, confidence: f64, cells: usize) -> f64 {
        let alpha = 1.0 - confidence;
        let share = match self {
            Interval::Binomial | Interval::Wald | Interval::Bootstrap => alpha / 2.0,
            Interval::Simultaneous => alpha / 2.0 / cells.max(1) as f64,
        };
        // By symmetry, so that tiny tails keep their digits.
        -Normal::standard().inverse_cdf(share)
    }

    /// The same for errors that are estimated from few units or replicates of a survey's design, if the counts tell
    /// one: by Student's law.
    pub(crate) fn reach_of(self, tally: &TableCounts, confidence: f64, cells: usize) -> f64 {
        self.reach_with(tally.drawn().map(|drawn| drawn.degrees()), confidence, cells)
    }

    /// The same with so many degrees of freedom; none for the normal law.
    pub(crate) fn reach_with(self, degrees: Option<f64>, confidence: f64, cells: usize) -> f64 {
        let normal = self.reach(confidence, cells);
        // Beyond so many degrees the two are the same to more than four digits.
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
