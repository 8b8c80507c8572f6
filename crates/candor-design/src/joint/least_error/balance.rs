//! Optimal weights of given channels.

use nalgebra::{DMatrix, DVector};

/// Weights of channels, their combined information, and the resulting error.
#[derive(Clone, Debug)]
pub struct WeightSolution {
    /// One weight per channel; positive, with sum 1.
    pub weights: Vec<f64>,
    /// For each component, the combined information of all channels.
    pub totals: Vec<f64>,
    /// `sum of cost / total^power`.
    pub value: f64,
}

/// The information of a channel: component numbers, increasing, with their values. Missing components have none.
pub type Information = Vec<(usize, f64)>;

/// Power for lotteries, in which information adds up: the error is `cost / information`.
pub const LOTTERY: f64 = 1.0;

/// Power for single channels, in which eigenvalues average: the error is `cost / eigenvalue^2`.
pub const SINGLE: f64 = 2.0;

/// Minimizes `sum over U of cost_U / total_U^power` over weights that sum to 1, to a relative gap of `gap`.
///
/// Here `total_U = sum over c of weight_c gives_cU`. The error at `start` should be within the relative gap `known` of
/// the minimum.
///
/// The function is convex where all totals are positive, as they must be at `start`. A barrier method is used: Newton
/// steps on the error minus `barrier` times the sum of the logarithms of the weights. The barrier is lowered until its
/// effect is below the gap. Cost: the cube of the number of components per step, and a few dozen steps.
pub fn balance(
    costs: &[f64],
    gives: &[Information],
    power: f64,
    start: Vec<f64>,
    known: f64,
    gap: f64,
) -> WeightSolution {
    let whole: f64 = start.iter().sum();
    let mut weights = DVector::from_iterator(start.len(), start.iter().map(|weight| weight / whole));
    if costs.len() > MAX_NEWTON {
        return by_multiplying(costs, gives, power, weights, gap);
    }
    let mut value = error(costs, &totals(costs, gives, weights.as_slice()), power);
    let mut barrier = known * value / weights.len() as f64;
    while value.is_finite() {
        for _ in 0..12 {
            let (step, decrement) = newton_step(costs, gives, power, &weights, barrier);
            let merit =
                |weights: &DVector<f64>, value: f64| value - barrier * weights.iter().map(|w| w.ln()).sum::<f64>();
            let before = merit(&weights, value);
            // The largest step for which all weights stay positive.
            let room =
                weights.iter().zip(&step).filter(|(_, s)| **s < 0.0).map(|(w, s)| -w / s).fold(f64::INFINITY, f64::min);
            let mut length = (0.95 * room).min(1.0);
            while length > 1e-12 {
                let next = &weights + length * &step;
                let next_value = error(costs, &totals(costs, gives, next.as_slice()), power);
                if merit(&next, next_value) <= before - 1e-4 * length * decrement {
                    (weights, value) = (next, next_value);
                    break;
                }
                length *= 0.5;
            }
            if length <= 1e-12 || decrement < 1e-3 * barrier {
                break;
            }
        }
        if barrier * weights.len() as f64 <= gap * value {
            break;
        }
        barrier *= 0.15;
    }
    let totals = totals(costs, gives, weights.as_slice());
    WeightSolution { weights: weights.iter().copied().collect(), totals, value }
}

/// Largest number of components for which Newton steps are affordable.
pub const MAX_NEWTON: usize = 256;

/// Limit on the total number of multiplications.
const MAX_WORK: usize = 1 << 27;

/// Smallest gap of the multiplicative method; a smaller one takes too many rounds.
const MIN_GAP: f64 = 1e-4;

/// Minimizes the same error by `weight *= (price / mean price)^(1 / (1 + power))`.
///
/// This never raises the error if no channel gives negative information, and is exact at once if no two channels share
/// a component. It ends if no price exceeds the mean by more than the gap, or after several thousand rounds.
fn by_multiplying(costs: &[f64], gives: &[Information], power: f64, start: DVector<f64>, gap: f64) -> WeightSolution {
    let mut weights: Vec<f64> = start.iter().copied().collect();
    let mut total = totals(costs, gives, &weights);
    let mut value = error(costs, &total, power);
    let work: usize = gives.iter().map(Information::len).sum();
    for _ in 0..(MAX_WORK / work.max(1)).clamp(50, 5_000) {
        let slopes: Vec<f64> = costs.iter().zip(&total).map(|(cost, total)| cost / total.powf(power + 1.0)).collect();
        let prices: Vec<f64> = gives.iter().map(|gives| worth(gives, &slopes)).collect();
        if prices.iter().all(|price| *price <= value * (1.0 + gap.max(MIN_GAP))) {
            break;
        }
        let factor = |price: f64| (price / value).max(1e-6).powf(1.0 / (1.0 + power));
        let mut next: Vec<f64> = weights.iter().zip(&prices).map(|(weight, &price)| weight * factor(price)).collect();
        let whole: f64 = next.iter().sum();
        next.iter_mut().for_each(|weight| *weight /= whole);
        let next_total = totals(costs, gives, &next);
        let next_value = error(costs, &next_total, power);
        if next_value >= value {
            break;
        }
        (weights, total, value) = (next, next_total, next_value);
    }
    WeightSolution { weights, totals: total, value }
}

/// Returns the value of this information at the given prices.
pub fn worth(gives: &Information, slopes: &[f64]) -> f64 {
    gives.iter().map(|&(u, give)| give * slopes[u]).sum()
}

/// Returns the combined information of all channels.
pub fn totals(costs: &[f64], gives: &[Information], weights: &[f64]) -> Vec<f64> {
    let mut totals = vec![0.0; costs.len()];
    for (gives, weight) in gives.iter().zip(weights) {
        gives.iter().for_each(|&(u, give)| totals[u] += weight * give);
    }
    totals
}

/// Returns the Newton step within the plane of constant sum, and its expected decrease.
///
/// In units of the weights, the second derivative is `barrier + M' M`, with one row of `M` for each component. Its
/// inverse follows from that of `barrier + M M'`, which is small for any number of channels (Woodbury's identity).
fn newton_step(
    costs: &[f64],
    gives: &[Information],
    power: f64,
    weights: &DVector<f64>,
    barrier: f64,
) -> (DVector<f64>, f64) {
    let totals = totals(costs, gives, weights.as_slice());
    let first: Vec<f64> = costs.iter().zip(&totals).map(|(c, t)| -power * c / t.powf(power + 1.0)).collect();
    let second: Vec<f64> =
        costs.iter().zip(&totals).map(|(c, t)| (power * (power + 1.0) * c / t.powf(power + 2.0)).sqrt()).collect();
    let mut small = DMatrix::from_diagonal_element(costs.len(), costs.len(), barrier);
    for (gives, weight) in gives.iter().zip(weights) {
        for (at, &(u, one)) in gives.iter().enumerate() {
            let scaled = one * second[u] * weight * weight;
            gives[..=at].iter().for_each(|&(v, other)| small[(u, v)] += scaled * other * second[v]);
        }
    }
    let none = DVector::zeros(weights.len());
    let Some(factors) = small.cholesky() else { return (none, 0.0) };
    let solve = |right: DVector<f64>| {
        let scaled = right.component_mul(weights);
        let mut across = DVector::zeros(costs.len());
        for ((gives, weight), value) in gives.iter().zip(weights).zip(&scaled) {
            gives.iter().for_each(|&(u, give)| across[u] += give * second[u] * weight * value);
        }
        let across = factors.solve(&across);
        let back = |c: usize| gives[c].iter().map(|&(u, give)| give * second[u] * across[u]).sum::<f64>() * weights[c];
        DVector::from_fn(weights.len(), |c, _| (scaled[c] - back(c)) / barrier * weights[c])
    };
    let gradient = DVector::from_fn(weights.len(), |c, _| worth(&gives[c], &first) - barrier / weights[c]);
    let (plain, along) = (solve(gradient.clone()), solve(DVector::from_element(weights.len(), 1.0)));
    let step = &along * (plain.sum() / along.sum()) - plain;
    let decrement = -step.dot(&gradient);
    if decrement.is_finite() { (step, decrement.max(0.0)) } else { (none, 0.0) }
}

/// Returns the error, which is infinite if a component with a cost has no information.
pub fn error(costs: &[f64], totals: &[f64], power: f64) -> f64 {
    let one = |(cost, total): (&f64, &f64)| if *total > 0.0 { cost / total.powf(power) } else { f64::INFINITY };
    costs.iter().zip(totals).map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disjoint_channels_have_a_closed_form() {
        // cost / (w give): w proportional to sqrt(cost / give).
        let (costs, give) = ([1.0, 4.0, 9.0], [0.5, 0.25, 1.0]);
        let gives: Vec<Information> = (0..3).map(|c| vec![(c, give[c])]).collect();
        let found = balance(&costs, &gives, LOTTERY, vec![1.0; 3], 0.1, 1e-9);
        let roots: Vec<f64> = (0..3).map(|c| (costs[c] / give[c]).sqrt()).collect();
        let whole: f64 = roots.iter().sum();
        assert!((found.value - whole * whole).abs() < 1e-6);
        for (weight, root) in found.weights.iter().zip(&roots) {
            assert!((weight - root / whole).abs() < 1e-4);
        }
    }

    #[test]
    fn many_channels_come_to_the_same() {
        let costs: Vec<f64> = (0..20).map(|u| 1.0 + f64::from(u)).collect();
        let give = |c: u32, u: u32| {
            (f64::from(c * 7 + u * u * 3) * 0.618).fract() * if (c + u).is_multiple_of(3) { 1.0 } else { 0.05 }
        };
        let gives: Vec<Information> = (0..60).map(|c| (0..20).map(|u| (u as usize, give(c, u))).collect()).collect();
        let newton = balance(&costs, &gives, LOTTERY, vec![1.0; 60], 0.1, 1e-8);
        let multiplied = by_multiplying(&costs, &gives, LOTTERY, DVector::from_element(60, 1.0 / 60.0), 1e-8);
        assert!((newton.value - multiplied.value).abs() < 1e-3 * newton.value);
    }

    #[test]
    fn one_eigenvalue_may_be_negative() {
        let found = balance(
            &[1.0, 1.0],
            &[vec![(0, 0.8), (1, -0.1)], vec![(0, 0.2), (1, 0.5)]],
            SINGLE,
            vec![0.1, 0.9],
            0.1,
            1e-9,
        );
        let at = |w: f64| (0.8 * w + 0.2 * (1.0 - w)).powi(-2) + (-0.1 * w + 0.5 * (1.0 - w)).powi(-2);
        let best = (0..8_000).map(|i| at(f64::from(i) / 10_000.0)).fold(f64::INFINITY, f64::min);
        assert!((found.value - best).abs() < 1e-4 * best, "{} for {best}", found.value);
    }

    #[test]
    fn useless_channels_get_hardly_any_weight() {
        let gives = [vec![(0, 1.0), (1, 0.5)], vec![(0, 0.5), (1, 1.0)], vec![(0, 0.1), (1, 0.1)]];
        let found = balance(&[1.0, 1.0], &gives, LOTTERY, vec![1.0; 3], 0.1, 1e-9);
        assert!(found.weights[2] < 1e-7 && (found.weights[0] - 0.5).abs() < 1e-4, "{found:?}");
    }
}
