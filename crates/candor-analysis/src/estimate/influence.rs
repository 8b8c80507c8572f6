//! What some of the responses add to an estimate.

use super::{EstimateError, TableEstimator};
use crate::tally::TableTally;

impl TableEstimator<'_> {
    /// What some of all responses add to the estimate beyond their part of its mean, in the order of the table: over parts that make up all, these
    /// sum to zero, and what is estimated from all varies as their sum does.
    pub(crate) fn influence(&self, all: &TableTally, part: &TableTally) -> Result<Vec<f64>, EstimateError> {
        let groups = self.group_laws(all);
        let weights = self.component_weights(groups.iter().map(|(law, group)| (law, group.total)))?;
        let mut sum = vec![0.0; self.cells()];
        for (((law, group), weights), key) in groups.iter().zip(&weights).zip(all.groups().keys()) {
            let Some(own) = part.groups().get(key) else { continue };
            let coefficients = self.estimate_coefficients(weights);
            let added = |counts: &[f64]| {
                let mut cells = self.invert(&self.frequencies(law, counts, group.total), false);
                self.apply(&mut cells, law, &coefficients);
                cells
            };
            let share = own.total / group.total;
            let less = |(sum, (own, mean)): (&mut f64, (f64, f64))| *sum += own - share * mean;
            sum.iter_mut().zip(added(&own.counts).into_iter().zip(added(&group.counts))).for_each(less);
        }
        Ok(self.to_order(sum))
    }
}
