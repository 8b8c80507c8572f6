//! Privacy after shuffling: protection against an adversary who sees only the shuffled, *published* responses.
//!
//! `n` respondents answer under one plan, and the multiset of their responses is published. Replacing one respondent's
//! record by any other changes the probability of every event by at most a factor `e^eps`, except for `delta`. That
//! `eps` is far below the plan's own. It does not protect against the collector, who sees responses arrive.
//!
//! The bound is that of the *privacy blanket* (Balle, Bell, Gascon and Nissim 2019). With probability `gamma`, each
//! other respondent answers from a distribution that does not depend on their record. Let `u` and `v` be the
//! likelihoods of an answer under the two records, relative to the blanket. Then
//! `delta <= (1/n) E (G_1 + ... + G_n)_+`, where `G = u - e^eps v` with the blanket's probability, and 0 otherwise.
//!
//! - All pairs of records are evaluated if they can be listed (module `pairs`).
//! - Otherwise three numbers of the plan suffice ([`Blanket`]). Moving `(u, v)` to the corners of the square
//!   `[1, rho]^2` keeps the mean and can only increase the bound.
//! - The sum is bounded by its exponential moments ([`Likelihoods::delta_at_most`]), and more tightly by doubling it on
//!   a grid (module `doubling`). Every rounding there is a mean-preserving spread or moves mass up, so it can only
//!   increase the bound.
//!
//! Published formulas that are tight approximations but not upper bounds are not used.

mod doubling;
mod likelihoods;
mod blanket;
mod pairs;

pub use blanket::Blanket;
pub use likelihoods::Likelihoods;
pub use pairs::of_plan as pairs_of_plan;

use candor_base::plan::Plan;

/// The central epsilon of a batch of shuffled responses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shuffled {
    /// The certified bound; never above the plan's own epsilon.
    pub epsilon: f64,
    /// Whether shuffling helps: the bound is below the plan's own epsilon.
    pub amplified: bool,
    /// Whether all pairs of records were evaluated, which loses nothing by representing the plan by three numbers.
    pub by_pairs: bool,
}

/// Number of respondents beyond which the bound is not lowered further.
pub const MAX_RESPONDENTS: u64 = 1 << 32;

/// Relative tolerance of the search for the smallest epsilon.
const TOLERANCE: f64 = 2e-4;

/// Returns the smallest certified epsilon of `respondents` shuffled responses under a plan, for this `delta`.
///
/// Returns `None` if the plan is unbounded, because answers can then rule records out.
pub fn shuffled_plan(plan: &Plan, respondents: u64, delta: f64) -> Option<Shuffled> {
    let own = plan.guarantee().epsilon().finite()?;
    let nothing = Shuffled { epsilon: own, amplified: false, by_pairs: false };
    let Some(blanket) = Blanket::of_plan(plan) else { return Some(nothing) };
    let found = match pairs_of_plan(plan) {
        Some(pairs) => Shuffled { by_pairs: true, ..worst(&pairs, own, respondents, delta) },
        None => shuffled(&blanket, respondents, delta),
    };
    Some(Shuffled { epsilon: found.epsilon.min(own), ..found })
}

/// Returns the smallest epsilon that is certified from three numbers.
///
/// Cost: about fifteen doublings of at most 2,048 points for each binary digit of the number of respondents.
pub fn shuffled(blanket: &Blanket, respondents: u64, delta: f64) -> Shuffled {
    worst(&[blanket.likelihoods()], blanket.rho.ln(), respondents, delta)
}

/// Returns the smallest epsilon that is certified for every one of these pairs, at most `own`.
pub fn worst(pairs: &[Likelihoods], own: f64, respondents: u64, delta: f64) -> Shuffled {
    let n = respondents.clamp(1, MAX_RESPONDENTS);
    // The search itself needs no proof: its result is always a certified epsilon.
    let quick = |pair: &Likelihoods| least(0.0, own, |epsilon| pair.delta_at_most(n, epsilon) <= delta);
    let mut pairs: Vec<(f64, &Likelihoods)> = pairs.iter().map(|pair| (quick(pair), pair)).collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut epsilon = 0.0f64;
    for (upper, pair) in pairs {
        // All remaining pairs are certified by their exponential moments.
        if upper <= epsilon {
            break;
        }
        let exact = |epsilon: f64| pair.delta(n, epsilon, delta).is_some_and(|found| found <= delta);
        if epsilon == 0.0 || !exact(epsilon) {
            epsilon = match exact(upper * (1.0 - TOLERANCE)) {
                true => least(epsilon.max(upper / 3.0), upper, exact),
                false => upper,
            };
        }
    }
    Shuffled { epsilon, amplified: epsilon < own, by_pairs: false }
}

/// Returns the smallest argument between two for which `holds` was found true, within the tolerance, or else `high`.
fn least(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    while high - low > TOLERANCE * high && high > 1e-9 {
        let middle = if low > 0.0 { (low + high) / 2.0 } else { high / 2.0 };
        match holds(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

impl Blanket {
    /// Returns a bound on `delta` by exponential moments ([`Likelihoods::delta_at_most`]).
    pub fn delta_at_most(&self, respondents: u64, epsilon: f64) -> f64 {
        self.likelihoods().delta_at_most(respondents, epsilon)
    }

    /// Returns a bound on `delta` for this epsilon, by doubling; `None` if rounding could matter.
    pub fn delta(&self, respondents: u64, epsilon: f64, target: f64) -> Option<f64> {
        self.likelihoods().delta(respondents, epsilon, target)
    }
}
