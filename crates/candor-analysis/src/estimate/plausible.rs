//! Tests whether responses are plausible under the plan: wrong plan, wrong file, or edited answers.

use super::independence::chi_square;
use super::simplex::project;
use super::{Estimate, Interval, TableEstimator, Target};
use crate::tally::TableCounts;

/// Probability of calling honest responses implausible.
const FALSE_ALARM: f64 = 1e-6;

impl TableEstimator<'_> {
    /// Returns whether the estimate is out of range, or outputs are inconsistent, by more than chance explains.
    ///
    /// Two tests decide: whether a cell of the population estimate is below 0 or above 1, and whether the outputs of a
    /// matrix with more outputs than inputs can follow from any distribution of inputs.
    pub(super) fn is_implausible(&self, tally: &TableCounts, estimate: &Estimate) -> bool {
        let reach = Interval::Simultaneous.reach(1.0 - FALSE_ALARM, estimate.shares.len());
        let mut errors = estimate.standard_errors.clone();
        // A few sampling units may agree by chance.
        if let Some(simple) = tally.drawn().and_then(|_| self.estimate_simply(tally, Target::Population).ok()) {
            errors.iter_mut().zip(simple.standard_errors).for_each(|(error, simple)| *error = error.max(simple));
        }
        let outside = |(share, se): (&f64, &f64)| share + reach * se < 0.0 || share - reach * se > 1.0;
        let impossible = estimate.shares.iter().zip(&errors).any(outside);
        impossible || self.misfit(tally, &estimate.shares).is_some_and(|p_value| p_value < FALSE_ALARM)
    }

    /// Returns the p-value of a chi-square test of the outputs against those expected from the estimated table.
    ///
    /// `None` unless there are more outputs than cells.
    fn misfit(&self, tally: &TableCounts, shares: &[f64]) -> Option<f64> {
        let groups = self.group_laws(tally);
        let [(law, group)] = &groups[..] else { return None };
        self.check_likelihood(&groups).ok().filter(|()| group.counts.len() > self.cells())?;
        let expected = self.expected(&self.forward(&self.held_order(&project(shares))), law);
        // Cells that are too rare for the approximation are merged.
        let (mut statistic, mut kept, mut rare) = (0.0, 0usize, (0.0, 0.0));
        for (expected, count) in expected.iter().map(|p| p * group.total).zip(&group.counts) {
            if expected < 20.0 {
                rare = (rare.0 + expected, rare.1 + count);
            } else {
                statistic += (count - expected).powi(2) / expected;
                kept += 1;
            }
        }
        if rare.0 >= 20.0 {
            statistic += (rare.1 - rare.0).powi(2) / rare.0;
            kept += 1;
        }
        (kept > self.cells()).then(|| chi_square(statistic, kept - self.cells()).p_value)
    }
}
