//! Privacy after shuffling: what a reader of the *published* responses learns about one of many respondents, who does
//! not know in which order they arrived.
//!
//! `n` people answer under one plan, and the multiset of their responses is published. Replacing one person's record by
//! any other changes the probability of every event by at most a factor `e^eps`, but for `delta`. That `eps` is far
//! below the plan's own. It protects nobody from the collector, who sees responses arrive.
//!
//! The bound is that of the *privacy blanket* (Balle, Bell, Gascon and Nissim 2019): everybody else answers, with
//! probability `gamma`, from a distribution that does not depend on their record. With `u`, `v` the likelihoods of an
//! answer under the two records, relative to the blanket, `delta <= (1/n) E (G_1 + ... + G_n)_+`, where `G = u - e^eps
//! v` with the blanket's probability, else 0. All pairs of records are tried where they can be listed (module `pairs`).
//! Moving `(u, v)` to the corners of the square `[1, rho]^2` keeps the mean and can only increase it, so otherwise
//! three numbers of the plan suffice ([`Blanket`]). The sum is bounded from above in two ways: by its exponential
//! moments ([`Likelihoods::delta_at_most`]), and by doubling it on a grid, every rounding of which is a mean-preserving
//! spread or moves mass up (module `doubling`). Formulas that are published as tight and are no upper bounds are not
//! used.

mod doubling;
mod likelihoods;
mod blanket;
mod pairs;

pub use blanket::Blanket;
pub use likelihoods::Likelihoods;
pub use pairs::of_plan as pairs_of_plan;

use candor_base::plan::Plan;

/// The central epsilon of so many shuffled responses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shuffled {
    /// The bound; never above the plan's own epsilon.
    pub epsilon: f64,
    /// Whether shuffling helps at all: the bound is below the plan's own epsilon.
    pub amplified: bool,
    /// Whether all pairs of records were tried, so that nothing was lost by three numbers standing for the plan.
    pub by_pairs: bool,
}

/// How many respondents are reckoned with at most: more cannot protect better here.
pub const MAX_RESPONDENTS: u64 = 1 << 32;

/// How near the least epsilon is searched for, relative to it.
const TOLERANCE: f64 = 2e-4;

/// The least epsilon that is certified for `respondents` shuffled responses under a plan and this `delta`; `None` if
/// answers can rule records out.
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

/// The least epsilon that is certified by three numbers.
///
/// Cost: some fifteen doublings of at most 2,048 points for each binary digit of the number of respondents.
pub fn shuffled(blanket: &Blanket, respondents: u64, delta: f64) -> Shuffled {
    worst(&[blanket.likelihoods()], blanket.rho.ln(), respondents, delta)
}

/// The least epsilon that is certified for every one of these pairs, at most `own`.
pub fn worst(pairs: &[Likelihoods], own: f64, respondents: u64, delta: f64) -> Shuffled {
    let n = respondents.clamp(1, MAX_RESPONDENTS);
    // The search needs no proof: whatever it ends with was certified.
    let quick = |pair: &Likelihoods| least(0.0, own, |epsilon| pair.delta_at_most(n, epsilon) <= delta);
    let mut pairs: Vec<(f64, &Likelihoods)> = pairs.iter().map(|pair| (quick(pair), pair)).collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut epsilon = 0.0f64;
    for (upper, pair) in pairs {
        // All that follow are certified by their exponential moments.
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

/// The least argument between two that holds, to the tolerance; the upper end if none below it was found to hold.
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
    /// A bound on `delta` by exponential moments ([`Likelihoods::delta_at_most`]).
    pub fn delta_at_most(&self, respondents: u64, epsilon: f64) -> f64 {
        self.likelihoods().delta_at_most(respondents, epsilon)
    }

    /// A bound on `delta` for this epsilon, by doubling; `None` if rounding could matter.
    pub fn delta(&self, respondents: u64, epsilon: f64, target: f64) -> Option<f64> {
        self.likelihoods().delta(respondents, epsilon, target)
    }
}
