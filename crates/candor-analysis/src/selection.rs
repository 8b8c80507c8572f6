//! Multiple testing: adjusted p-values, and the stability of a selection of the most significant tests.

use candor_base::randomness::Source;
use rand_core::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::estimate::ChiSquareTest;

/// Adjustment for multiple testing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjustment {
    /// Holm 1979: bounds the probability of any false discovery, for any dependence of the tests.
    Holm,
    /// Benjamini and Hochberg 1995: bounds the expected share of false discoveries.
    ///
    /// The tests must be independent or positively dependent.
    BenjaminiHochberg,
}

/// Returns the adjusted p-values in the same order.
///
/// A test rejects at a level if its adjusted p-value does not exceed it.
pub fn adjusted(p_values: &[f64], adjustment: Adjustment) -> Vec<f64> {
    let n = p_values.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; n];
    match adjustment {
        Adjustment::Holm => {
            let mut largest = 0.0f64;
            for (rank, &test) in order.iter().enumerate() {
                largest = largest.max(p_values[test] * (n - rank) as f64).min(1.0);
                adjusted[test] = largest;
            }
        }
        Adjustment::BenjaminiHochberg => {
            let mut smallest = 1.0f64;
            for (rank, &test) in order.iter().enumerate().rev() {
                smallest = smallest.min(p_values[test] * n as f64 / (rank + 1) as f64);
                adjusted[test] = smallest;
            }
        }
    }
    adjusted
}

/// Number of parametric bootstrap draws.
const DRAWS: usize = 500;

/// Returns how often each of the first `top` tests would be among the `top` again, as a share of bootstrap draws.
///
/// The tests must be sorted by decreasing evidence. A statistic with `d` degrees of freedom is drawn anew as
/// noncentral chi-square with its own estimate of the noncentrality, `max(x - d, 0)`. Statistics with different
/// degrees of freedom are compared by the normal deviates of Wilson and Hilferty. The seed is fixed, so that the
/// same counts give the same result.
pub fn selected_again(tests: &[ChiSquareTest], top: usize) -> Vec<f64> {
    let top = top.min(tests.len());
    let mut times = vec![0u32; top];
    let mut random = Source::from_seed(1).stream(0);
    let mut deviates: Vec<(f64, usize)> = Vec::with_capacity(tests.len());
    for _ in 0..DRAWS {
        deviates.clear();
        deviates.extend(tests.iter().enumerate().map(|(place, test)| (drawn(test, &mut random), place)));
        if top < deviates.len() {
            deviates.select_nth_unstable_by(top, |a, b| b.0.total_cmp(&a.0));
        }
        deviates[..top].iter().filter(|(_, place)| *place < top).for_each(|(_, place)| times[*place] += 1);
    }
    times.into_iter().map(|times| f64::from(times) / DRAWS as f64).collect()
}

/// Draws a new statistic and returns its normal deviate.
fn drawn(test: &ChiSquareTest, random: &mut impl Rng) -> f64 {
    let mut normal = || -> f64 { StandardNormal.sample(random) };
    let d = test.degrees as f64;
    let centre = (test.statistic - d).max(0.0).sqrt();
    let first = centre + normal();
    let rest: f64 = (1..test.degrees).map(|_| normal().powi(2)).sum();
    let spread = 2.0 / (9.0 * d.max(1.0));
    (((first * first + rest) / d.max(1.0)).cbrt() - (1.0 - spread)) / spread.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: Holm multiplies by n, n-1, .. and is nondecreasing; Benjamini and Hochberg by n/rank, from the
    /// largest down.
    #[test]
    fn adjusted_by_hand() {
        let p = [0.04, 0.01, 0.03, 0.005];
        let near = |found: Vec<f64>, expected: [f64; 4]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?}");
        };
        near(adjusted(&p, Adjustment::Holm), [0.06, 0.03, 0.06, 0.02]);
        near(adjusted(&p, Adjustment::BenjaminiHochberg), [0.04, 0.02, 0.04, 0.02]);
        assert_eq!(adjusted(&[0.9, 0.8], Adjustment::Holm), [1.0, 1.0]);
        assert!(adjusted(&[], Adjustment::Holm).is_empty());
    }

    /// A statistic far above the others is always selected again; equal ones are selected by chance.
    #[test]
    fn certainty_of_selection() {
        let test = |statistic| ChiSquareTest { statistic, degrees: 1, p_value: 0.5 };
        let mut tests = vec![test(400.0)];
        tests.extend(vec![test(9.0); 10]);
        let again = selected_again(&tests, 2);
        assert_eq!(again[0], 1.0);
        assert!((again[1] - 0.1).abs() < 0.08, "{again:?}");
        assert_eq!(selected_again(&tests[..1], 5), [1.0]);
    }

    /// Noncentral draws have the mean d + noncentrality, and the deviates of Wilson and Hilferty rank them alike for
    /// all degrees of freedom.
    #[test]
    fn deviates_are_standard_without_an_effect() {
        let mut random = Source::from_seed(1).stream(0);
        for degrees in [1, 2, 6] {
            let test = ChiSquareTest { statistic: 0.0, degrees, p_value: 1.0 };
            let draws: Vec<f64> = (0..20_000).map(|_| drawn(&test, &mut random)).collect();
            let mean = draws.iter().sum::<f64>() / 20_000.0;
            let square = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
            assert!(mean.abs() < 0.06 && (square - 1.0).abs() < 0.15, "{degrees}: {mean} {square}");
        }
    }
}
