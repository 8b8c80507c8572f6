//! Bootstrap intervals, by resampling the responses.

use candor_base::randomness::Source;
use candor_runtime::progress::Steps;
use rand_distr::{Binomial, Distribution};

use super::structure::Structure;
use super::{EstimateError, Options, TableEstimator, Target};
use crate::tally::{ChannelCounts, TableCounts};

/// Number of resampled surveys.
const REPLICATES: usize = 1000;

/// Maximum number of values that are stored for sorting.
const MAX_NUMBERS: usize = 100_000_000;

impl TableEstimator<'_> {
    /// Returns percentile intervals from a thousand resampled surveys, at the cost of a thousand estimates.
    ///
    /// Each survey draws as many responses again from the answers observed with the same channel IDs. The random
    /// numbers are always the same, so that an analysis is reproducible.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if the target is `Table`, responses are weighted, answers are sets, or the table
    /// has too many cells.
    pub(super) fn bootstrap(
        &self,
        tally: &TableCounts,
        structure: Option<&Structure>,
        options: &Options,
        steps: &Steps<'_>,
    ) -> Result<Vec<(f64, f64)>, EstimateError> {
        let groups = self.group_laws(tally);
        self.check_likelihood(&groups)?;
        let refused = match () {
            () if options.target == Target::Table => {
                Some("resampling responses is for a population, not for these records")
            }
            () if tally.drawn().is_some() => Some("its respondents are no simple random sample"),
            () if groups.iter().any(|(_, group)| !group.square_counts.is_empty()) => Some("its responses are weighted"),
            () if self.cells() * REPLICATES > MAX_NUMBERS => Some("it has too many cells to be resampled"),
            () => None,
        };
        if let Some(reason) = refused {
            return Err(EstimateError::NoLikelihood(reason));
        }
        let weights = self.component_weights(groups.iter().map(|(law, group)| (law, group.total)))?;
        let mut rng = Source::from_seed(0).stream(0);
        let mut replicates = vec![Vec::with_capacity(REPLICATES); self.cells()];
        for _ in 0..REPLICATES {
            // The result is discarded after cancellation.
            if !steps.still_goes_on() {
                return Err(EstimateError::NoLikelihood("it was stopped"));
            }
            let mut shares = vec![0.0; self.cells()];
            for ((law, group), weights) in groups.iter().zip(&weights) {
                let drawn: Vec<f64> = resample(group, &mut rng).iter().map(|count| count / group.total).collect();
                let mut part = self.invert(&drawn, false);
                self.apply(&mut part, law, &self.estimate_coefficients(weights));
                shares.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
            }
            let shares = self.to_order(shares);
            let shares = structure.map_or_else(|| shares.clone(), |structure| structure.shares(&shares));
            replicates.iter_mut().zip(shares).for_each(|(values, share)| values.push(share));
        }
        let tail = (1.0 - options.confidence) / 2.0;
        let at = |share: f64| ((REPLICATES - 1) as f64 * share).round() as usize;
        let interval = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            (values[at(tail)], values[at(1.0 - tail)])
        };
        Ok(replicates.into_iter().map(interval).collect())
    }
}

/// Draws multinomial counts with the observed shares, as a sequence of binomials.
fn resample(group: &ChannelCounts, rng: &mut chacha20::ChaCha12Rng) -> Vec<f64> {
    let (mut left, mut mass) = (group.total as u64, group.total);
    let mut draw = |count: f64| {
        let share = if mass > 0.0 { (count / mass).clamp(0.0, 1.0) } else { 0.0 };
        let drawn = Binomial::new(left, share).map_or(0, |law| law.sample(rng));
        left -= drawn;
        mass -= count;
        drawn as f64
    };
    group.counts.iter().map(|&count| if count > 0.0 { draw(count) } else { 0.0 }).collect()
}
