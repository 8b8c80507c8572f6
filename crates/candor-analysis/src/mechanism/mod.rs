//! Lower bounds on the epsilon of any mechanism, from its answers only.
//!
//! A mechanism with unknown internals is given some true values repeatedly ([`Draws`]). Half of the answers select
//! events: sets of answers that seem likely under one value and unlikely under another. The other half tests them.
//! For an event `E` and values `x` and `y`, take a lower limit of `P(E | x)` and an upper limit of `P(E | y)`
//! (Clopper and Pearson 1934, exact). Then
//!
//! ```text
//! epsilon >= ln P(E | x) - ln P(E | y) >= ln lower - ln upper
//! ```
//!
//! All limits hold jointly with the stated confidence (Bonferroni). Half of the error probability goes to the most
//! promising event of each kind, and the rest equally to all others. The selection of events is arbitrary, because
//! the draws that test them are independent of those that selected them. The only assumption about the mechanism is
//! that draws are independent.
//!
//! No number of draws can bound epsilon from above: sufficiently rare answers do not occur
//! ([`Found::unseen_below`]).
//!
//! ```
//! use candor_analysis::mechanism::{Draws, lower_bound};
//!
//! // A mechanism that reports the true value three times out of four.
//! let mut draws = Draws::new(&["no", "yes"], 8_000)?;
//! for draw in 0..4_000 {
//!     let lies = draw % 4 == 0;
//!     draws.add(0, if lies { "yes" } else { "no" })?;
//!     draws.add(1, if lies { "no" } else { "yes" })?;
//! }
//! let found = lower_bound(&draws, 0.95);
//! assert!(found.epsilon > 0.9 && found.epsilon < 3f64.ln());
//! # Ok::<(), candor_analysis::mechanism::DrawsError>(())
//! ```

mod tail;
mod draws;
mod columns;
mod event;
mod choose;

pub use draws::{Draws, DrawsError, MAX_ANSWER, MAX_DRAWS, MAX_TRUTHS};

use choose::{Chosen, choose};
use columns::Columns;
use draws::Half;

/// Rounding error of limits of `ln p`.
const ROUNDING: f64 = 1e-9;

/// Result of a lower bound.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// Lower bound on epsilon at the requested confidence; 0 if no event shows a difference.
    pub epsilon: f64,
    /// Index in [`Found::pairs`] of the pair with this bound, if it is above 0.
    pub best: Option<usize>,
    /// Ordered pairs of true values, each with its best event.
    pub pairs: Vec<Pair>,
    /// Number of tested events.
    pub events: usize,
    /// Probability below which an event has probably (95%) not occurred in one of the two halves, under any true
    /// value.
    pub unseen_below: f64,
}

/// Result for an ordered pair of true values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// Value under which the event is more likely.
    pub truth: usize,
    /// Value under which the event is less likely.
    pub other: usize,
    /// Lower bound on `ln P(event | truth) - ln P(event | other)`; at least 0.
    pub epsilon: f64,
    /// Description of the event.
    pub event: String,
    /// Number of occurrences under the first value, among the draws for testing.
    pub hits: u64,
    /// Number of occurrences under the other value.
    pub other_hits: u64,
    /// Number of draws for testing of the first value.
    pub draws: u64,
    /// Number of draws for testing of the other value.
    pub other_draws: u64,
}

/// Returns a lower bound on the epsilon of the mechanism that gave these answers, at this confidence level.
///
/// # Panics
/// Panics if the confidence level is not between 0 and 1.
pub fn lower_bound(draws: &Draws, confidence: f64) -> Found {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence is between 0 and 1");
    let (columns, chosen) = choose(draws);
    let hits = count(draws, &columns, &chosen);
    let trials = |truth: usize| draws.of(Half::Tests, truth);
    let favorites = favorites(&chosen);
    let fails = (1.0 - confidence) / 2.0;
    let level = fails / chosen.len().max(1) as f64;
    let favored = fails / favorites.len().max(1) as f64;
    let mut pairs: Vec<Pair> = Vec::new();
    for (place, (one, hits)) in chosen.iter().zip(hits).enumerate() {
        let level = level + if favorites.contains(&place) { favored } else { 0.0 };
        let tested = Pair {
            truth: one.truth,
            other: one.other,
            epsilon: ratio(hits, (trials(one.truth), trials(one.other)), level),
            event: one.event.describe(&columns, draws),
            hits: hits.0,
            other_hits: hits.1,
            draws: trials(one.truth),
            other_draws: trials(one.other),
        };
        match pairs.iter_mut().find(|pair| (pair.truth, pair.other) == (one.truth, one.other)) {
            Some(known) if known.epsilon < tested.epsilon => *known = tested,
            Some(_) => {}
            None => pairs.push(tested),
        }
    }
    let best = (0..pairs.len()).max_by(|&i, &j| pairs[i].epsilon.total_cmp(&pairs[j].epsilon));
    let best = best.filter(|&best| pairs[best].epsilon > 0.0);
    let halves = (0..draws.truths().len()).flat_map(|truth| [draws.of(Half::Chooses, truth), trials(truth)]);
    let fewest = halves.min().unwrap_or(0);
    Found {
        epsilon: best.map_or(0.0, |best| pairs[best].epsilon),
        best,
        events: chosen.len(),
        unseen_below: tail::upper(0, fewest.max(1), 0.05),
        pairs,
    }
}

/// Counts how often each event occurred under its two values, among the draws for testing.
fn count(draws: &Draws, columns: &Columns, chosen: &[Chosen]) -> Vec<(u64, u64)> {
    let mut hits = vec![(0, 0); chosen.len()];
    let mut codes = vec![0; columns.len()];
    for row in draws.rows(Half::Tests).iter() {
        columns.code(draws.answer(row.answer), &mut codes);
        let counts: Vec<u64> = (0..draws.truths().len()).map(|truth| row.count(truth)).collect();
        for (one, hits) in chosen.iter().zip(&mut hits) {
            let (first, second) = (counts[one.truth], counts[one.other]);
            if first + second > 0 && one.event.holds(row.answer, &codes) {
                hits.0 += first;
                hits.1 += second;
            }
        }
    }
    hits
}

/// Returns the most promising event of each kind.
fn favorites(chosen: &[Chosen]) -> Vec<usize> {
    let best = |of_answers: bool| {
        let places = (0..chosen.len()).filter(|&place| chosen[place].event.is_of_answers() == of_answers);
        places.max_by(|&i, &j| chosen[i].score.total_cmp(&chosen[j].score))
    };
    [true, false].into_iter().filter_map(best).collect()
}

/// Returns a lower limit of the log ratio of two probabilities, with this error probability; at least 0.
fn ratio((hits, other_hits): (u64, u64), (draws, other_draws): (u64, u64), level: f64) -> f64 {
    if hits == 0 || other_draws == 0 {
        return 0.0;
    }
    let (low, high) = (tail::lower(hits, draws, level / 2.0), tail::upper(other_hits, other_draws, level / 2.0));
    (low.ln() - high.ln() - ROUNDING).max(0.0)
}
