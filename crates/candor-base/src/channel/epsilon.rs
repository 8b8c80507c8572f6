//! Certified epsilons: upper bounds computed from exact ratios and rounded upward.

use std::fmt;
use std::ops::Add;

use num_bigint::BigUint;
use num_rational::Ratio;
use num_traits::{One, ToPrimitive, Zero};

/// `2^64`, the total weight that constructors allocate to the parts of a channel.
pub const FULL_WEIGHT: u128 = 1 << 64;

/// An exact non-negative rational number.
pub type Rational = Ratio<BigUint>;

/// A certified privacy loss: an upper bound on the true loss, or *unbounded*.
///
/// The value is the logarithm of an exact rational, rounded upward. It exceeds the true logarithm by a few units in the
/// last place (relative 1e-15), except that ratios beyond `2^1000` are overestimated by up to `2 ln 2`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Epsilon(f64);

/// Assumed error of `f64::ln_1p`, in units in the last place. Known implementations err by less than two.
const LN_MARGIN_ULPS: u32 = 4;

impl Epsilon {
    /// No loss: the answer does not depend on the true record.
    pub const ZERO: Epsilon = Epsilon(0.0);
    /// No finite bound: some answer is possible under one true record and impossible under another.
    pub const UNBOUNDED: Epsilon = Epsilon(f64::INFINITY);

    /// Returns `ln(larger / smaller)`, rounded upward; 0/0 counts as 1 and a/0 as unbounded.
    ///
    /// The result is 0 if `larger` does not exceed `smaller`. The logarithm is computed as
    /// `ln(1 + (larger - smaller)/smaller)` with an exact difference, so small losses keep their relative accuracy.
    pub fn of_ratio(larger: &Rational, smaller: &Rational) -> Epsilon {
        Epsilon::of_integers(&(larger.numer() * smaller.denom()), &(smaller.numer() * larger.denom()))
    }

    /// Computes [`Epsilon::of_ratio`] from two integers. Common factors are not removed, because that would dominate
    /// the running time.
    pub(crate) fn of_integers(larger: &BigUint, smaller: &BigUint) -> Epsilon {
        if larger <= smaller {
            return Epsilon::ZERO;
        }
        if smaller.is_zero() {
            return Epsilon::UNBOUNDED;
        }
        let excess = larger - smaller;
        let bits = magnitude(&excess, smaller);
        let ln = if bits > 1000 {
            // Beyond the range of f64: ln(1 + excess) < (bits + 2) ln 2.
            (bits + 2) as f64 * std::f64::consts::LN_2
        } else {
            round_up(&excess, smaller).ln_1p()
        };
        Epsilon(up(ln, LN_MARGIN_ULPS))
    }

    /// Returns the largest `|ln(a/b)|` over all pairs.
    ///
    /// Pairs whose excess `larger/smaller - 1` agrees within a relative `2^-128` count as equal; the upward rounding of
    /// the certificate is far larger.
    pub(crate) fn of_worst<'a>(pairs: impl Iterator<Item = (&'a BigUint, &'a BigUint)>) -> Epsilon {
        let mut worst: Option<((i64, BigUint), &BigUint, &BigUint)> = None;
        for (a, b) in pairs.filter(|(a, b)| a != b) {
            let (larger, smaller) = (a.max(b), a.min(b));
            if smaller.is_zero() {
                return Epsilon::UNBOUNDED;
            }
            let (quotient, scale) = scaled_quotient(&(larger - smaller), smaller, 128);
            let excess = (scale, quotient);
            if worst.as_ref().is_none_or(|(known, ..)| *known < excess) {
                worst = Some((excess, larger, smaller));
            }
        }
        worst.map_or(Epsilon::ZERO, |(_, larger, smaller)| Epsilon::of_integers(larger, smaller))
    }

    /// Returns the logarithm of a likelihood ratio that is at least 1; `None` stands for an infinite ratio.
    pub fn of_parity(parity: Option<&Rational>) -> Epsilon {
        parity.map_or(Epsilon::UNBOUNDED, |parity| Epsilon::of_ratio(parity, &Rational::one()))
    }

    /// Returns the larger of `ln(a/b)` and `ln(b/a)`.
    pub fn between(a: &Rational, b: &Rational) -> Epsilon {
        Epsilon::of_ratio(a.max(b), a.min(b))
    }

    /// Returns the value, or `None` if it is unbounded.
    pub fn finite(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }

    /// Returns the value as a float; infinity means unbounded.
    pub fn as_f64(self) -> f64 {
        self.0
    }

    /// Returns the larger epsilon.
    #[must_use]
    pub fn max(self, other: Epsilon) -> Epsilon {
        Epsilon(self.0.max(other.0))
    }

    /// Returns the smaller of two bounds on the same loss.
    #[must_use]
    pub fn min(self, other: Epsilon) -> Epsilon {
        Epsilon(self.0.min(other.0))
    }

    /// Returns the value as a decimal rounded up to twelve places, or `None` if it is unbounded.
    ///
    /// The result is "0" only if the value is 0. Plan files contain this form, because it does not depend on the last
    /// bits of a platform's logarithm.
    pub fn decimal(self) -> Option<String> {
        let units = (exact(self.finite()?)? * BigUint::from(10u64.pow(12))).ceil().to_integer();
        let digits = format!("{units:0>13}", units = units.to_string());
        let (whole, decimals) = digits.split_at(digits.len() - 12);
        let decimals = decimals.trim_end_matches('0');
        Some(if decimals.is_empty() { whole.to_owned() } else { format!("{whole}.{decimals}") })
    }
}

impl Add for Epsilon {
    type Output = Epsilon;

    /// Returns the sum of two losses, rounded upward.
    fn add(self, other: Epsilon) -> Epsilon {
        match (self, other) {
            (Epsilon::ZERO, loss) | (loss, Epsilon::ZERO) => loss,
            _ => Epsilon((self.0 + other.0).next_up()),
        }
    }
}

impl fmt::Display for Epsilon {
    /// Writes the value rounded up to four decimals (four digits if it is below 0.001), or "unbounded".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.finite() {
            Some(value) => f.write_str(&rounded_up(value)),
            None => f.write_str("unbounded"),
        }
    }
}

/// Formats a certified number for people, rounded up to four decimals, or to four digits if it is below 0.001.
///
/// An excess of at most 1e-11, which the certificate's own rounding causes, does not raise the last digit.
pub fn rounded_up(value: f64) -> String {
    let up = |unit: f64| ((value - 1e-11 * value.min(1.0)) / unit).ceil() * unit;
    if value > 0.0 && value < 0.001 {
        let unit = 10f64.powi(value.log10().floor() as i32 - 3);
        return format!("{:.3e}", up(unit));
    }
    format!("{:.4}", up(1e-4))
}

/// Formats a lower bound for people, rounded down to four decimals.
///
/// As in [`rounded_up`], a shortfall of at most 1e-11 does not change the last digit.
pub fn rounded_down(value: f64) -> String {
    format!("{:.4}", ((value + 1e-11 * value.min(1.0)) / 1e-4).floor() * 1e-4)
}

/// Returns the float that is `steps` representable values above `x`; infinity and NaN are unchanged.
fn up(x: f64, steps: u32) -> f64 {
    (0..steps).fold(x, |x, _| x.next_up())
}

/// Returns `larger / smaller`, where 0/0 is 1, or `None` for a/0.
pub(crate) fn parity(larger: &Rational, smaller: &Rational) -> Option<Rational> {
    if larger == smaller {
        return Some(Rational::one());
    }
    (!smaller.is_zero()).then(|| larger / smaller)
}

/// Returns a float at or above `numerator / denominator`, within two units in the last place; both must be positive.
fn round_up(numerator: &BigUint, denominator: &BigUint) -> f64 {
    let (quotient, scale) = scaled_quotient(numerator, denominator, 64);
    up(ldexp((quotient + 1u32).to_f64().unwrap_or(f64::INFINITY), scale), 1)
}

/// Returns the value as a float, within two units in the last place.
pub(crate) fn nearest(exact: &Rational) -> f64 {
    nearest_quotient(exact.numer(), exact.denom())
}

/// Returns `numerator / denominator` as a float, within two units in the last place.
pub(crate) fn nearest_quotient(numerator: &BigUint, denominator: &BigUint) -> f64 {
    if numerator.is_zero() {
        return 0.0;
    }
    let (quotient, scale) = scaled_quotient(numerator, denominator, 64);
    ldexp(quotient.to_f64().unwrap_or(f64::INFINITY), scale)
}

/// Returns the largest `e` with `2^e <= numerator / denominator`. Common factors do not change the result.
fn magnitude(numerator: &BigUint, denominator: &BigUint) -> i64 {
    let bits = numerator.bits() as i64 - denominator.bits() as i64;
    let reaches = match bits >= 0 {
        true => *numerator >= denominator << bits as u64,
        false => numerator << (-bits) as u64 >= *denominator,
    };
    if reaches { bits } else { bits - 1 }
}

/// Returns `(q, s)` with `q 2^s <= numerator / denominator < (q + 1) 2^s`, where `q` has `bits + 1` bits.
fn scaled_quotient(numerator: &BigUint, denominator: &BigUint, bits: i64) -> (BigUint, i64) {
    let shift = bits - magnitude(numerator, denominator);
    let quotient = if shift >= 0 {
        (numerator << shift as u64) / denominator
    } else {
        numerator / (denominator << (-shift) as u64)
    };
    (quotient, -shift)
}

/// Returns `x * 2^exponent` without intermediate overflow or underflow to zero.
fn ldexp(x: f64, exponent: i64) -> f64 {
    let (mut x, mut rest) = (x, exponent.clamp(-4000, 4000) as i32);
    while rest != 0 {
        let step = rest.clamp(-1000, 1000);
        x *= 2f64.powi(step);
        rest -= step;
    }
    x
}

/// Returns the exact value of a float, or `None` if it is negative or not finite.
pub fn exact(x: f64) -> Option<Rational> {
    if !x.is_finite() || x < 0.0 {
        return None;
    }
    let (mantissa, exponent, _) = num_traits::float::FloatCore::integer_decode(x);
    let mantissa = BigUint::from(mantissa);
    Some(match exponent >= 0 {
        true => Rational::from(mantissa << exponent as u16),
        false => Rational::new(mantissa, BigUint::from(1u32) << exponent.unsigned_abs()),
    })
}

/// Returns the largest weight `w` for which a two-part mixture stays within a certified epsilon.
///
/// With probability `w / 2^64` the mixture draws uniformly from `inside` of `whole` equally likely answers, otherwise
/// from all of them. Its epsilon is `ln(1 + w whole / ((2^64 - w) inside))`. The certified value does not exceed
/// `epsilon` less `margin`.
pub(crate) fn weight_within(inside: &BigUint, whole: &BigUint, epsilon: f64, margin: f64) -> u64 {
    let certified = |weight: u64| {
        let uniform = inside * (FULL_WEIGHT - u128::from(weight));
        Epsilon::of_integers(&(&uniform + whole * weight), &uniform)
    };
    // This small reserve keeps the certified sum over several blocks, which is rounded upward once more, within the sum
    // of the requested epsilons.
    let target = epsilon * (1.0 - 2f64.powi(-48)) - margin;
    let fits = |weight| certified(weight).as_f64() <= target;
    let (mut fitting, mut beyond) = (if fits(u64::MAX) { u64::MAX } else { 0 }, u64::MAX);
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        *(if fits(middle) { &mut fitting } else { &mut beyond }) = middle;
    }
    fitting
}

/// Returns the binomial coefficient `C(n, k)` as a product of prime powers, without long division.
///
/// The exponent of a prime is the number of carries when `k` and `n - k` are added in that base (Kummer 1852).
pub(crate) fn choose(n: usize, k: usize) -> BigUint {
    if k > n {
        return BigUint::ZERO;
    }
    let carries = |prime: usize| {
        let (mut k, mut rest, mut carry, mut carries) = (k, n - k, 0, 0);
        while k + rest + carry > 0 {
            carry = usize::from(k % prime + rest % prime + carry >= prime);
            carries += carry as u32;
            (k, rest) = (k / prime, rest / prime);
        }
        carries
    };
    let powers: Vec<BigUint> = primes(n).map(|prime| BigUint::from(prime).pow(carries(prime))).collect();
    product(&powers)
}

/// Iterates over the primes up to `n`.
fn primes(n: usize) -> impl Iterator<Item = usize> {
    let mut composite = vec![false; n + 1];
    (2..=n).filter(move |&p| {
        let prime = !composite[p];
        if prime {
            (p.saturating_mul(p)..=n).step_by(p).for_each(|multiple| composite[multiple] = true);
        }
        prime
    })
}

/// Returns the product, multiplying factors of similar length with each other.
pub(super) fn product(factors: &[BigUint]) -> BigUint {
    match factors {
        [] => BigUint::one(),
        [one] => one.clone(),
        several => {
            let (low, high) = several.split_at(several.len() / 2);
            product(low) * product(high)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(n: u64, d: u64) -> Rational {
        Rational::new(n.into(), d.into())
    }

    #[test]
    fn logarithms_are_upper_bounds_and_tight() {
        // ln 3, ln(1 + 1e-12) and ln(2^80), to more digits than f64 holds.
        for (n, d, ln) in [
            (rational(3, 1), rational(1, 1), 1.098_612_288_668_109_8),
            (rational(1_000_000_000_001, 1_000_000_000_000), rational(1, 1), 9.999_999_999_995e-13),
            (Rational::from(BigUint::from(1u32) << 80), rational(1, 1), 55.451_774_444_795_625),
        ] {
            let e = Epsilon::of_ratio(&n, &d).as_f64();
            assert!(e >= ln && e <= ln * (1.0 + 4e-15), "{e} against {ln}");
        }
    }

    #[test]
    fn conventions_for_zero() {
        let (zero, one) = (rational(0, 1), rational(1, 1));
        assert_eq!(Epsilon::of_ratio(&zero, &zero), Epsilon::ZERO);
        assert_eq!(Epsilon::of_ratio(&one, &zero), Epsilon::UNBOUNDED);
        assert_eq!(Epsilon::UNBOUNDED.finite(), None);
        assert_eq!(Epsilon::between(&one, &rational(2, 1)), Epsilon::of_ratio(&rational(2, 1), &one));
    }

    #[test]
    fn ratios_beyond_the_floats_stay_finite() {
        let huge = Rational::from(BigUint::from(1u32) << 5000);
        let e = Epsilon::of_ratio(&huge, &rational(1, 1)).as_f64();
        let ln = 5000.0 * std::f64::consts::LN_2;
        assert!(e >= ln && e < ln + 3.0);
        let (tiny, small) = (rational(1, 3) / &huge, rational(1, 2));
        assert!(Epsilon::of_ratio(&small, &tiny).as_f64() >= ln);
    }

    #[test]
    fn decimals_round_up() {
        assert_eq!(Epsilon(4.0).decimal().as_deref(), Some("4"));
        assert_eq!(Epsilon(0.0).decimal().as_deref(), Some("0"));
        assert_eq!(Epsilon(3.999_999_999_999_9).decimal().as_deref(), Some("4"));
        assert_eq!(Epsilon(0.100_000_000_000_1).decimal().as_deref(), Some("0.100000000001"));
        assert_eq!(Epsilon(5e-324).decimal().as_deref(), Some("0.000000000001"));
        assert_eq!(Epsilon(12_345.25).decimal().as_deref(), Some("12345.25"));
        // 9000 plus two units in the last place (3.6e-12): above 9000.000000000003.
        assert_eq!(Epsilon(9000f64.next_up().next_up()).decimal().as_deref(), Some("9000.000000000004"));
        assert_eq!(Epsilon::UNBOUNDED.decimal(), None);
    }

    #[test]
    fn shown_values_are_not_below_the_certified_ones() {
        for (value, shown) in [
            (4.0, "4.0000"),
            (1.098_612_3, "1.0987"),
            (0.00104, "0.0011"),
            (1.234_56e-5, "1.235e-5"),
            (0.0, "0.0000"),
            (3.999_999_999_999_5, "4.0000"),
        ] {
            assert_eq!(Epsilon(value).to_string(), shown);
        }
    }

    #[test]
    fn binomials() {
        assert_eq!(choose(5, 2), BigUint::from(10u32));
        assert_eq!(choose(4, 5), BigUint::ZERO);
        assert_eq!(choose(60, 30), BigUint::from(118_264_581_564_861_424u64));
        let pascal = |n: usize, k: usize| choose(n - 1, k - 1) + choose(n - 1, k);
        assert!((1..80).all(|n| (1..=n).all(|k| choose(n, k) == pascal(n, k))));
        assert_eq!(choose(65_535, 32_767), pascal(65_535, 32_767));
    }

    #[test]
    fn losses_and_floats_do_not_depend_on_shared_factors() {
        for (n, d) in [(3u64, 1u64), (1_000_003, 1_000_000), (7, 8), (u64::MAX, 12_345)] {
            let (n, d) = (BigUint::from(n), BigUint::from(d));
            for factor in (1u32..200).chain([u32::MAX]) {
                assert_eq!(Epsilon::of_integers(&(&n * factor), &(&d * factor)), Epsilon::of_integers(&n, &d));
                assert_eq!(nearest_quotient(&(&n * factor), &(&d * factor)), nearest_quotient(&n, &d));
            }
        }
    }

    #[test]
    fn floats_are_dyadic_rationals() {
        assert_eq!(exact(0.375), Some(rational(3, 8)));
        assert_eq!(exact(0.0), Some(rational(0, 1)));
        assert_eq!(exact(1e300).map(|x| nearest(&x)), Some(1e300));
        assert_eq!(exact(5e-324).map(|x| nearest(&x)), Some(5e-324));
        assert_eq!((exact(-1.0), exact(f64::NAN), exact(f64::INFINITY)), (None, None, None));
    }

    #[test]
    fn floats_of_exact_values() {
        assert_eq!(nearest(&rational(1, 4)), 0.25);
        assert!((nearest(&rational(1, 3)) - 1.0 / 3.0).abs() < 1e-16);
        let small = rational(1, 1) / Rational::from(BigUint::from(1u32) << 1060);
        assert!(nearest(&small) > 0.0);
    }
}
