//! Equal attributes: the optimum in closed form, for any number of them.

use super::levels::EpsilonTargets;

/// The optimal threshold set and `lambda` for `k` attributes with `a` categories and attribute epsilon `e` each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alike {
    /// Largest number of attributes that miss.
    pub most: u64,
    /// `exp(epsilon) - 1` of the record.
    pub lambda: f64,
}

/// Returns the optimum for equal attributes.
///
/// By symmetry and convexity all prices are equal, so only the number of misses matters. The set is "at most
/// `j = floor(k / (1 + g))` misses". Its `lambda` is `b / c`, with
/// `c = sum over s <= j of Pr[s misses] (1 - (1 + g) s / k)`.
///
/// The terms decrease geometrically below `j`. Cost: a few standard deviations' worth of terms.
pub fn alike(levels: &EpsilonTargets) -> Alike {
    let (k, miss) = (levels.attributes() as f64, levels.miss(0));
    let weight = levels.weight_of_price(0);
    let most = (k / weight).floor();
    let (mut term, mut sum, mut misses) = (1.0, 0.0, most);
    loop {
        sum += term * (1.0 - weight * misses / k);
        if misses == 0.0 || term < 1e-18 * sum {
            break;
        }
        // Pr[s - 1] / Pr[s].
        term *= misses / (k - misses + 1.0) * (1.0 - miss) / miss;
        misses -= 1.0;
    }
    // Through the logarithm, because the probability may be far below the range of floats.
    let ln_gain = ln_binomial(most, k, miss) + sum.ln();
    Alike { most: most as u64, lambda: (levels.need(0).ln() - ln_gain).exp() }
}

/// Returns `ln` of the probability of `s` misses among `k`, to full relative accuracy of the probability.
///
/// It is the saddle-point expansion of C. Loader, 2000.
fn ln_binomial(s: f64, k: f64, miss: f64) -> f64 {
    if s == 0.0 {
        return k * (-miss).ln_1p();
    }
    if s == k {
        return k * miss.ln();
    }
    let tail = stirling_error(k) - stirling_error(s) - stirling_error(k - s);
    let body = deviance(s, k * miss) + deviance(k - s, k * (1.0 - miss));
    tail - body + 0.5 * (k / (std::f64::consts::TAU * s * (k - s))).ln()
}

/// Returns `ln n! - ln( sqrt(2 pi n) (n/e)^n )`.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        let ln_factorial: f64 = (2..=n as u32).map(|i| f64::from(i).ln()).sum();
        return ln_factorial - (0.5 * (std::f64::consts::TAU * n).ln() + n * n.ln() - n);
    }
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square) / square) / square)
        / n
}

/// Returns `x ln(x / mean) + mean - x` without cancellation.
fn deviance(x: f64, mean: f64) -> f64 {
    let ratio = (x - mean) / (x + mean);
    if ratio.abs() > 0.1 {
        return x * (x / mean).ln() + mean - x;
    }
    let mut sum = (x - mean) * ratio;
    let (mut power, mut odd) = (2.0 * x * ratio, 1.0);
    loop {
        power *= ratio * ratio;
        odd += 2.0;
        let next = sum + power / odd;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(k: usize, categories: usize, epsilon: f64) -> EpsilonTargets {
        EpsilonTargets::new(vec![categories; k], vec![epsilon; k]).unwrap()
    }

    #[test]
    fn probabilities_by_multiplying() {
        for (s, k, miss) in
            [(0u32, 7u32, 0.5), (3, 7, 0.8), (7, 7, 0.8), (20, 60, 0.3), (150, 200, 0.75), (1, 500, 0.5)]
        {
            let choose: f64 = (0..s).map(|i| (f64::from(k - i) / f64::from(i + 1)).ln()).sum();
            let direct = choose + f64::from(s) * f64::ln(miss) + f64::from(k - s) * f64::ln_1p(-miss);
            assert!(
                (ln_binomial(s.into(), k.into(), miss) - direct).abs() < 1e-11 * (1.0 + direct.abs()),
                "{s} of {k}"
            );
        }
    }

    /// The values of docs/mathematics/optimal.md: 1.02, 3.36, 13.6 and 91.8 for `a = 5`, 0.1 each.
    #[test]
    fn growth_with_the_number_of_attributes() {
        for (k, expected, digit) in [(100, 1.02, 0.01), (1_000, 3.36, 0.01), (10_000, 13.6, 0.1), (100_000, 91.8, 0.1)]
        {
            let found = alike(&levels(k, 5, 0.1)).lambda.ln_1p();
            assert!((found - expected).abs() <= 0.5001 * digit, "{k}: {found}");
        }
    }

    #[test]
    fn a_million_is_no_trouble() {
        let found = alike(&levels(1_000_000, 5, 0.001));
        assert!(found.lambda.is_finite() && found.most > 700_000);
    }
}
