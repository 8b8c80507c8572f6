//! Channels with a limited number of outputs, by local search, with the lower bound for any number of outputs.

use candor_base::randomness::Source;
use candor_runtime::parallel;

use super::channel::FrontChannel;
use super::evolve::polishing::shaken;
use super::exact::{ExactPoint, exact};
use super::measure::measure;
use super::polish::{FAR, MAX_CELLS, Polished, polish, polish_from};
use super::{FrontError, FrontProblem};

/// Number of parallel searches, and of perturbations in each.
const SEARCHES: usize = 8;
const HOPS: usize = 4;

/// Returns a channel with at least this privacy and at most `outputs` outputs.
///
/// The search is heuristic: better channels may exist. But none is below the `lower_bound`, which is that of the best
/// channel with any number of outputs.
///
/// # Errors
/// Returns [`FrontError::Parameter`] if there are fewer outputs than categories, because shares are then not
/// identifiable, or if there are more joint probabilities than [`MAX_CELLS`]. Returns the errors of [`exact`].
pub fn with_outputs(goal: &FrontProblem, privacy: f64, outputs: usize, seed: u64) -> Result<ExactPoint, FrontError> {
    let n = goal.prior().len();
    if outputs < n {
        let range = "there must be at least as many outputs as categories, or shares cannot be estimated";
        return Err(FrontError::Parameter { name: "outputs", value: outputs as f64, range });
    }
    if goal.accuracy().is_some() {
        return Err(FrontError::Loss("cannot be used with `outputs`; leave one of them out".to_owned()));
    }
    let best = exact(goal, privacy)?;
    if best.channel.outputs() <= outputs {
        return Ok(best);
    }
    if outputs * n > MAX_CELLS {
        let range =
            "with so many outputs and categories local search would take too long; leave it out for the exact front";
        return Err(FrontError::Parameter { name: "outputs", value: outputs as f64, range });
    }
    let first = together(goal, &best.channel, outputs);
    let source = Source::from_seed(seed);
    let found = parallel::map(SEARCHES, parallel::threads(), |number| {
        let mut rng = source.stream(number as u64);
        let start = if number == 0 { first.clone() } else { shaken(goal, &first, number % 2 == 0, &mut rng) };
        let mut found = polish(goal, privacy, &start)?;
        for hop in 0..HOPS {
            let start = shaken(goal, &found.channel, hop % 2 == 0, &mut rng);
            let rival = found.measures.variance;
            let better = polish_from(goal, privacy, &start, FAR, rival);
            found = better.filter(|better| better.measures.variance < rival).unwrap_or(found);
        }
        Some(found)
    });
    let fallback = Polished { measures: measure(&first, goal.prior()), channel: first };
    let kept = found.into_iter().flatten().min_by(|a, b| a.measures.variance.total_cmp(&b.measures.variance));
    let Polished { channel, measures } = kept.unwrap_or(fallback);
    Ok(ExactPoint { asked: privacy, channel, measures, lower_bound: best.lower_bound })
}

/// Merges answers until only `outputs` are left: the most likely stay, and each other joins the most similar one.
fn together(goal: &FrontProblem, channel: &FrontChannel, outputs: usize) -> FrontChannel {
    let n = goal.prior().len();
    let mut rows: Vec<Vec<f64>> = channel.rows().map(<[f64]>::to_vec).collect();
    rows.sort_by(|a, b| b.iter().sum::<f64>().total_cmp(&a.iter().sum()));
    let others = rows.split_off(outputs);
    let mut joined = rows.clone();
    for other in others {
        let alike = |row: &Vec<f64>| {
            let dot: f64 = row.iter().zip(&other).map(|(a, b)| a * b).sum();
            dot / row.iter().map(|a| a * a).sum::<f64>().sqrt()
        };
        let near = (0..outputs).max_by(|&a, &b| alike(&rows[a]).total_cmp(&alike(&rows[b]))).unwrap_or(0);
        joined[near].iter_mut().zip(&other).for_each(|(sum, x)| *sum += x);
    }
    debug_assert!(joined.iter().all(|row| row.len() == n));
    FrontChannel::new(goal.prior(), joined.concat())
}

#[cfg(test)]
mod tests {
    use super::super::prior::Prior;
    use super::*;

    /// Values found by local search for four categories: n, n + 1 and 2 n outputs.
    #[test]
    fn golden_numbers_of_outputs() {
        let goal = FrontProblem::new(Prior::new(&[0.4, 0.3, 0.2, 0.1]).unwrap(), 0.75).unwrap();
        for (privacy, outputs, golden) in [
            (0.39, 4, 2.311326),
            (0.39, 5, 2.069002),
            (0.39, 8, 1.928811),
            (0.4775, 5, 2.508177),
            (0.4775, 8, 2.435892),
        ] {
            let found = with_outputs(&goal, privacy, outputs, 1).unwrap();
            assert!(found.channel.outputs() <= outputs);
            assert!(found.measures.variance < golden * 1.01, "{outputs}: {} {golden}", found.measures.variance);
            assert!(found.measures.variance >= found.lower_bound && found.measures.privacy >= privacy - 1e-12);
        }
        // As many as the exact channel needs: exact.
        assert!(with_outputs(&goal, 0.39, 11, 1).unwrap().gap() < 1e-6);
        assert!(matches!(with_outputs(&goal, 0.39, 3, 1), Err(FrontError::Parameter { name: "outputs", .. })));
    }
}
