//! Rounds shares to integer counts, and shuffles.

use candor_base::randomness::below_u64;
use rand_core::CryptoRng;

/// Rounds shares to integer counts: cell `k` gets `floor(N C_k + 1/2) - floor(N C_(k-1) + 1/2)`.
///
/// `C_k` is the sum of the first `k` shares. The counts sum to `total`. Each differs by less than one from `N` times
/// its share, and so does the sum of any consecutive cells, such as a category of the first attribute of a table.
/// The result is deterministic, and takes one pass.
///
/// ```
/// use candor_analysis::synthesize::systematic_counts;
///
/// assert_eq!(systematic_counts(&[0.26, 0.26, 0.48], 5), [1, 2, 2]);
/// ```
///
/// # Panics
/// Panics if a share is negative or not a number, or all are zero.
pub fn systematic_counts(shares: &[f64], total: u64) -> Vec<u64> {
    counts_from(shares, total, 0.5)
}

/// Rounds shares with `start`, from 0 to below 1, in place of 1/2.
///
/// If it is uniformly random, the expected counts are `N` times their shares. Many small totals need that, because
/// fixed rounding would always go in the same direction.
pub(super) fn counts_from(shares: &[f64], total: u64, start: f64) -> Vec<u64> {
    assert!(shares.iter().all(|share| *share >= 0.0 && share.is_finite()), "shares are not negative");
    let sum: f64 = shares.iter().sum();
    assert!(sum > 0.0, "some share is positive");
    // Sums of the same numbers in the same order end at exactly `sum`, and so at exactly `total`.
    let (mut cumulated, mut before) = (0.0, 0);
    let count = |&share: &f64| {
        cumulated += share;
        let up_to = ((cumulated / sum) * total as f64 + start).floor() as u64;
        up_to.min(total) - std::mem::replace(&mut before, up_to.min(total))
    };
    shares.iter().map(count).collect()
}

/// Returns a uniformly random number from 0 to below 1.
pub(super) fn uniform(rng: &mut dyn CryptoRng) -> f64 {
    let Ok(drawn) = below_u64(1 << 53, rng);
    drawn as f64 / (1u64 << 53) as f64
}

/// Returns each index as often as its count, in uniformly random order (Fisher and Yates).
pub(super) fn shuffled(counts: &[u64], rng: &mut dyn CryptoRng) -> Vec<u32> {
    let numbers = counts.iter().zip(0u32..).flat_map(|(&count, number)| std::iter::repeat_n(number, count as usize));
    let mut shuffled: Vec<u32> = numbers.collect();
    for place in (1..shuffled.len()).rev() {
        let Ok(other) = below_u64(place as u128 + 1, rng);
        shuffled.swap(place, other as usize);
    }
    shuffled
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::randomness::Source;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_keep_the_total_and_every_run_of_cells(
            weights in prop::collection::vec(prop_oneof![Just(0.0), 0.0f64..1.0], 1..60),
            total in prop_oneof![0u64..100, 0u64..100_000_000],
        ) {
            let sum: f64 = weights.iter().sum();
            prop_assume!(sum > 0.0);
            let counts = systematic_counts(&weights, total);
            prop_assert_eq!(counts.iter().sum::<u64>(), total);
            for start in 0..weights.len() {
                for end in start + 1..=weights.len() {
                    let expected = weights[start..end].iter().sum::<f64>() / sum * total as f64;
                    let found = counts[start..end].iter().sum::<u64>() as f64;
                    prop_assert!((found - expected).abs() < 1.0 + 1e-6, "{found} {expected}");
                }
            }
            let nothing = weights.iter().zip(&counts).all(|(&weight, &count)| weight > 0.0 || count == 0);
            prop_assert!(nothing, "nobody in a cell without a share");
        }
    }

    #[test]
    fn rounding_is_as_documented() {
        assert_eq!(systematic_counts(&[0.25; 4], 2), [1, 0, 1, 0]);
        assert_eq!(systematic_counts(&[1.0, 0.0], 7), [7, 0]);
        assert_eq!(systematic_counts(&[2.0, 6.0], 4), [1, 3]);
        assert_eq!(systematic_counts(&[0.1; 10], 0), [0; 10]);
    }

    #[test]
    fn orders_are_uniformly_random() {
        // All 24 orders of four records, 24,000 times; the false-alarm rate is below 1e-6.
        let mut rng = Source::from_seed(3).stream(0);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            *seen.entry(shuffled(&[1, 1, 1, 1], &mut rng)).or_insert(0.0) += 1.0;
        }
        let statistic: f64 = seen.values().map(|count: &f64| (count - 1000.0).powi(2) / 1000.0).sum();
        assert_eq!(seen.len(), 24);
        assert!(statistic < 75.0, "{statistic} with 23 degrees of freedom");
    }
}
