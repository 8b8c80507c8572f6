//! Basic RAPPOR as a baseline: formulas only.
//!
//! See Erlingsson, Pihur and Korolova 2014; Nayak and Zhai 2019, section 5. The true category is one bit of `k`, and
//! every bit is flipped with probability `1/(1 + sqrt g)`. The parity is exactly `g`. Each share is estimated from its
//! own bit.

/// Returns the variance that the randomization adds, `k sqrt(g)/(sqrt(g) - 1)^2`.
///
/// It is for one respondent, summed over the categories, and the same for all true categories.
pub fn added_variance(categories: usize, parity: f64) -> f64 {
    let s = parity.sqrt();
    // In this form, an unbounded parity gives 0.
    if s <= 1.0 { f64::INFINITY } else { categories as f64 / (s * (1.0 - 1.0 / s).powi(2)) }
}

/// Returns the parity that adds this variance: the larger root of `t s^2 - (2 t + k) s + t = 0`, squared.
pub fn parity_at(categories: usize, variance: f64) -> f64 {
    let (k, t) = (categories as f64, variance);
    let b = 2.0 * t + k;
    ((b + (b * b - 4.0 * t * t).sqrt()) / (2.0 * t)).powi(2)
}

/// Returns the guess accuracy without prior knowledge.
///
/// The best guess is any bit that is set, or any category if none is. Let `f` be the probability of a flip and `B` the
/// binomial number of other bits set. The guess accuracy is `(1-f) E[1/(1+B)] + f (1-f)^(k-1) / k`, with
/// `E[1/(1+B)] = (1 - (1-f)^k)/(k f)`.
pub fn guessing(categories: usize, parity: f64) -> f64 {
    let (k, f) = (categories as f64, 1.0 / (1.0 + parity.sqrt()));
    let none = (k * (-f).ln_1p()).exp();
    let share = if f > 0.0 { (1.0 - none) / (k * f) } else { 1.0 };
    (1.0 - f) * share + f * none / ((1.0 - f) * k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All 2^k answers are enumerated.
    #[test]
    fn parity_variance_and_guessing_by_enumeration() {
        for (k, g) in [(2usize, 3.0), (4, 1.5), (5, 10.0), (8, 20.0)] {
            let f: f64 = 1.0 / (1.0 + f64::sqrt(g));
            let likelihood = |z: u32, x: usize| -> f64 {
                (0..k).map(|i| if (z >> i & 1 == 1) == (i == x) { 1.0 - f } else { f }).product()
            };
            let (mut parity, mut guess, mut variance): (f64, f64, f64) = (1.0, 0.0, 0.0);
            for z in 0..1u32 << k {
                let row: Vec<f64> = (0..k).map(|x| likelihood(z, x)).collect();
                let (most, least) = row.iter().fold((0f64, 1f64), |(m, l), &p| (m.max(p), l.min(p)));
                parity = parity.max(most / least);
                guess += most / k as f64;
                // The estimate of category 0 from one answer if the true category is 0: (bit - f)/(1 - 2f).
                for i in 0..k {
                    let estimate = (f64::from(z >> i & 1) - f) / (1.0 - 2.0 * f);
                    variance += row[0] * (estimate - f64::from(u8::from(i == 0))).powi(2);
                }
            }
            assert!((parity / g - 1.0).abs() < 1e-9);
            assert!((guess - guessing(k, g)).abs() < 1e-12, "{guess} {}", guessing(k, g));
            assert!((variance - added_variance(k, g)).abs() < 1e-9, "{variance}");
            assert!((parity_at(k, variance) / g - 1.0).abs() < 1e-9);
        }
        assert_eq!(added_variance(5, 1.0), f64::INFINITY);
        assert!((guessing(5, 1.0) - 0.2).abs() < 1e-12, "parity 1 tells nothing");
    }
}
