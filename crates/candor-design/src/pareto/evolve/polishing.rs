//! The last step of a search: repeated local optimization of every kept matrix, from different starts.
//!
//! A local optimum is rarely the global one. In each round, every privacy level tries the new findings of its
//! neighbors. It also tries a perturbed copy of its own best matrix, in which noise replaces most values or a few
//! entries are exchanged within their columns.

use candor_base::randomness::Source;
use candor_runtime::parallel;
use candor_runtime::progress::Cancelled;
use rand_core::Rng;

use super::random::{below, unit};
use super::{Candidate, Evolved};
use crate::pareto::FrontProblem;
use crate::pareto::channel::FrontChannel;
use crate::pareto::polish::{FAR, NEAR, Polished, polish, polish_from};

/// Fraction of noise in a perturbed matrix.
const NOISE: f64 = 0.6;
/// Number of pairs of entries that a perturbed matrix exchanges.
const EXCHANGES: usize = 6;

/// Returns the best square matrix found for each privacy, starting from the members of the front.
///
/// An entry is `None` if no matrix with this privacy was found. `progress` receives the findings after each round and
/// may stop the search; `goes_on` is called before each matrix. The findings so far are then valid. Otherwise the
/// result depends on the seed, not on the number of threads.
pub fn polish_front(
    goal: &FrontProblem,
    evolved: &Evolved,
    privacies: &[f64],
    rounds: usize,
    seed: u64,
    goes_on: &(dyn Fn() -> bool + Sync),
    mut progress: impl FnMut(usize, &[Option<Polished>]) -> Result<(), Cancelled>,
) -> Vec<Option<Polished>> {
    let source = Source::from_seed(seed);
    let mut best = parallel::map(privacies.len(), parallel::threads(), |i| {
        if !goes_on() {
            return None;
        }
        let off = |candidate: &Candidate| (candidate.measures.privacy - privacies[i]).abs();
        let nearest = evolved.front.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
        polish(goal, privacies[i], &nearest.channel(goal))
    });
    let mut fresh = vec![true; best.len()];
    let mut ended = progress(0, &best).is_err();
    for round in 1..=rounds {
        if ended {
            break;
        }
        let tried = parallel::map(best.len(), parallel::threads(), |i| {
            let mut rng = source.stream((round * best.len() + i) as u64);
            let neighbours = [i.checked_sub(1), Some(i + 1)].into_iter().flatten();
            let offered = neighbours.filter(|&j| fresh.get(j) == Some(&true)).filter_map(|j| best[j].as_ref());
            let mut starts: Vec<(FrontChannel, f64)> = offered.map(|found| (found.channel.clone(), NEAR)).collect();
            if let Some(own) = &best[i] {
                starts.push((shaken(goal, &own.channel, (round + i).is_multiple_of(2), &mut rng), FAR));
            }
            let rival = best[i].as_ref().map_or(f64::INFINITY, |own| own.measures.variance);
            let polished = starts
                .iter()
                .take_while(|_| goes_on())
                .filter_map(|(start, first)| polish_from(goal, privacies[i], start, *first, rival));
            polished.min_by(|a, b| a.measures.variance.total_cmp(&b.measures.variance))
        });
        for (i, found) in tried.into_iter().enumerate() {
            let variance = |p: &Option<Polished>| p.as_ref().map_or(f64::INFINITY, |p| p.measures.variance);
            fresh[i] = variance(&found) < variance(&best[i]) * (1.0 - 1e-6);
            if fresh[i] {
                best[i] = found;
            }
        }
        ended = progress(round, &best).is_err();
    }
    best
}

/// Polishes matrices for `between` further privacies in each gap of the given ones, and beyond the last.
///
/// The front then has many points instead of a few steps. Each search starts at the nearest more private matrix, or at
/// the last one.
pub fn fill_in(
    goal: &FrontProblem,
    privacies: &[f64],
    best: &[Option<Polished>],
    between: usize,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Vec<Polished> {
    let gaps = privacies.len() * between;
    let filled = parallel::map(gaps, parallel::threads(), |number| {
        let (i, step) = (number / between, number % between + 1);
        let next = privacies.get(i + 1).copied().unwrap_or(goal.range().1);
        let privacy = privacies[i] + (next - privacies[i]) * step as f64 / (between + 1) as f64;
        let start = best.get(i + 1).or(best.get(i))?.as_ref().filter(|_| goes_on())?;
        polish_from(goal, privacy, &start.channel, NEAR, f64::INFINITY)
    });
    filled.into_iter().flatten().collect()
}

/// Returns a perturbed matrix, in the neighborhood or beyond it.
pub(crate) fn shaken(goal: &FrontProblem, channel: &FrontChannel, noisy: bool, rng: &mut impl Rng) -> FrontChannel {
    let (n, shares) = (goal.prior().len(), goal.prior().shares());
    let outputs = channel.outputs();
    let mut cells = channel.cells().to_vec();
    if noisy {
        for j in 0..n {
            let noise: Vec<f64> = (0..outputs).map(|_| unit(rng).powi(4)).collect();
            let sum: f64 = noise.iter().sum();
            for (z, noise) in noise.iter().enumerate() {
                let cell = &mut cells[z * n + j];
                *cell = (1.0 - NOISE) * *cell + NOISE * shares[j] * noise / sum;
            }
        }
    } else {
        for _ in 0..EXCHANGES {
            let (j, a, b) = (below(rng, n), below(rng, outputs), below(rng, outputs));
            cells.swap(a * n + j, b * n + j);
        }
    }
    FrontChannel::new(goal.prior(), cells)
}
