//! A quick ascent of the dual, which finds good prices before the linear program starts.

use super::cut::{PricedSet, Pricer};
use super::levels::EpsilonTargets;

/// Number of steps that the quasi-Newton method remembers.
const MEMORY: usize = 8;

/// Climbs `ln(sum of b_i y_i) - ln E[(Y - Z)^+]` in the variables `ln y` (L-BFGS).
///
/// Its maximum is the optimum. The ascent starts from known prices, or else from a guess, and calls `visit` with every
/// priced set on the way. The function is smooth except for the granularity of the patterns. So the ascent stops at a
/// good point rather than the best one, unless there are very many attributes.
pub fn climb(
    levels: &EpsilonTargets,
    pricer: &Pricer,
    known: &[f64],
    evaluations: usize,
    mut visit: impl FnMut(PricedSet) -> bool,
) {
    let k = levels.len();
    let mut at: Vec<f64> = start(levels, known);
    let mut look = |at: &[f64]| -> (f64, Vec<f64>, bool) {
        let largest = at.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let y: Vec<f64> = at.iter().map(|u| (u - largest).exp()).collect();
        let priced = pricer.price(&y, |_| 0.5);
        let paid = levels.paid(&priced.prices);
        let slope = |i: usize| {
            let gained = levels.need(i) / paid - priced.cut.gain(levels, i) / priced.best_gain;
            levels.count(i) * priced.prices[i] * gained
        };
        let (value, slopes) = (priced.bound(levels).ln(), (0..k).map(slope).collect());
        (value, slopes, visit(priced))
    };
    let (mut value, mut slopes, mut go_on) = look(&at);
    let mut steps: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let mut spent = 1;
    while go_on && spent < evaluations {
        let direction = ascent(&slopes, &steps);
        let rise = dot(&direction, &slopes);
        let (mut length, mut moved) = (1.0, None);
        while moved.is_none() && spent < evaluations && length > 1e-3 {
            let there: Vec<f64> = at.iter().zip(&direction).map(|(u, d)| u + length * d).collect();
            let found = look(&there);
            spent += 1;
            go_on &= found.2;
            if found.0 > value + 1e-4 * length * rise {
                moved = Some((there, found.0, found.1));
            }
            length *= 0.4;
        }
        let Some((there, higher, new_slopes)) = moved else {
            if steps.is_empty() {
                return;
            }
            steps.clear();
            continue;
        };
        let step: Vec<f64> = there.iter().zip(&at).map(|(new, old)| new - old).collect();
        let change: Vec<f64> = slopes.iter().zip(&new_slopes).map(|(old, new)| old - new).collect();
        if dot(&step, &change) > 1e-12 * dot(&step, &step) {
            steps.push((step, change));
            if steps.len() > MEMORY {
                steps.remove(0);
            }
        }
        let gained = higher - value;
        (at, value, slopes) = (there, higher, new_slopes);
        if gained < 1e-9 {
            return;
        }
    }
}

/// Returns the logarithms of the starting prices.
fn start(levels: &EpsilonTargets, known: &[f64]) -> Vec<f64> {
    // A miss of attribute `i` makes the answer less likely by about its epsilon.
    let guess = |i: usize| levels.epsilon(i) / levels.weight_of_price(i);
    // The ascent cannot leave a price of zero.
    let least = 1e-6 * known.iter().copied().fold(0.0, f64::max);
    (0..levels.len()).map(|i| known.get(i).map_or_else(|| guess(i), |&price| price.max(least)).ln()).collect()
}

/// Returns the direction of ascent, by the two-loop recursion of L-BFGS.
fn ascent(slopes: &[f64], steps: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let mut direction = slopes.to_vec();
    let mut factors = Vec::with_capacity(steps.len());
    for (step, change) in steps.iter().rev() {
        let factor = dot(step, &direction) / dot(step, change);
        direction.iter_mut().zip(change).for_each(|(d, c)| *d -= factor * c);
        factors.push(factor);
    }
    let scale = match steps.last() {
        Some((step, change)) => dot(step, change) / dot(change, change),
        // The first step changes no price by more than about a tenth.
        None => 0.1 / slopes.iter().fold(1e-300f64, |largest, s| largest.max(s.abs())),
    };
    direction.iter_mut().for_each(|d| *d *= scale);
    for ((step, change), factor) in steps.iter().zip(factors.iter().rev()) {
        let back = dot(change, &direction) / dot(step, change);
        direction.iter_mut().zip(step).for_each(|(d, s)| *d += (factor - back) * s);
    }
    // No price changes by more than a factor of e^2 at once.
    let largest = direction.iter().fold(0.0f64, |largest, d| largest.max(d.abs()));
    if largest > 2.0 {
        direction.iter_mut().for_each(|d| *d *= 2.0 / largest);
    }
    direction
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
