//! Exact limits of a binomial probability (Clopper and Pearson 1934), for counts of any size.
//!
//! The incomplete beta function loses precision for counts in the hundreds of thousands. So tails are summed term by
//! term, and the remainder is bounded by a geometric series. A tail is never too small.

use statrs::function::gamma::ln_gamma;

/// Relative error of the first term, for which limits allow.
const SLACK: f64 = 1e-7;

/// Returns the lower confidence limit: the largest probability under which at least `hits` has probability at
/// most `level`.
pub(super) fn lower(hits: u64, trials: u64, level: f64) -> f64 {
    let (mut low, mut high) = (0.0, hits as f64 / trials as f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match at_least(hits, trials, middle) <= level {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

/// Returns the upper limit: the smallest probability under which at most `hits` has probability at most `level`.
pub(super) fn upper(hits: u64, trials: u64, level: f64) -> f64 {
    1.0 - lower(trials - hits, trials, level)
}

/// Returns an upper bound on the probability of at least `hits`, if the observed share is at least `probability`.
fn at_least(hits: u64, trials: u64, probability: f64) -> f64 {
    if hits == 0 {
        return 1.0;
    }
    let odds = probability / (1.0 - probability);
    let (mut term, mut sum) = (exactly(hits, trials, probability), 0.0);
    for more in hits..=trials {
        sum += term;
        let ratio = (trials - more) as f64 / (more + 1) as f64 * odds;
        term *= ratio;
        // The ratio decreases from here on.
        if ratio < 1.0 && term <= sum * SLACK * (1.0 - ratio) {
            return (sum + term / (1.0 - ratio)) * (1.0 + SLACK);
        }
    }
    sum * (1.0 + SLACK)
}

/// Returns the probability of exactly `hits`, by the saddle point expansion (Loader 2000).
fn exactly(hits: u64, trials: u64, probability: f64) -> f64 {
    let (x, n) = (hits as f64, trials as f64);
    if hits == trials {
        return (n * probability.ln()).exp();
    }
    let deviance = |seen: f64, expected: f64| seen * (seen / expected).ln();
    let far = deviance(x, n * probability) + deviance(n - x, n * (1.0 - probability));
    let corrections = stirling(n) - stirling(x) - stirling(n - x);
    (n / (std::f64::consts::TAU * x * (n - x))).sqrt() * (corrections - far).exp()
}

/// Returns the error of Stirling's formula for `ln n!`.
fn stirling(n: f64) -> f64 {
    if n < 16.0 {
        return ln_gamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * std::f64::consts::TAU.ln();
    }
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / n
}

#[cfg(test)]
mod tests {
    use statrs::function::beta::checked_beta_reg;

    use super::*;

    #[test]
    fn tails_are_those_of_the_beta_function() {
        for (hits, trials, probability) in
            [(1, 1, 0.3), (3, 10, 0.1), (10, 10, 0.7), (40, 1000, 0.03), (999, 1000, 0.99), (1, 5000, 1e-6)]
        {
            let expected = checked_beta_reg(hits as f64, (trials - hits) as f64 + 1.0, probability).unwrap_or(f64::NAN);
            let expected = if hits == trials { probability.powi(trials as i32) } else { expected };
            let found = at_least(hits, trials, probability);
            assert!((found / expected - 1.0).abs() < 1e-6, "{hits} of {trials} at {probability}: {found} {expected}");
        }
    }

    /// R: `qbeta(0.025, x, n - x + 1)`, `qbeta(0.975, x + 1, n - x)`.
    #[test]
    fn limits_are_those_of_clopper_and_pearson() {
        for (hits, trials, low, high) in [
            (0, 20, 0.0, 0.168_433_470_983_09),
            (3, 20, 0.032_070_937_185_464, 0.378_926_826_545_31),
            (20, 20, 0.831_566_529_016_91, 1.0),
            (120_000, 250_000, 0.478_039_845_967_62, 0.481_960_617_746_01),
            (7, 1_000_000, 2.814_367_534_302_2e-6, 1.442_262_183_433_1e-5),
        ] {
            let (found_low, found_high) = (lower(hits, trials, 0.025), upper(hits, trials, 0.025));
            let near = |found: f64, expected: f64| (found - expected).abs() <= 2e-7 * expected.max(1e-6);
            assert!(near(found_low, low) && near(found_high, high), "{hits} of {trials}: {found_low} {found_high}");
            assert!(found_low <= low * (1.0 + 1e-11) && found_high >= high * (1.0 - 1e-11));
        }
    }
}
