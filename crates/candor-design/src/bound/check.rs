//! The check of a proof, in exact arithmetic with a final rounding down. It shares no code with the search for the
//! proof.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;

use super::exchangeable::{Kind, type_of};
use super::three::Checked;
use super::{Costs, Prices};

/// Largest epsilon for which a bound is given.
const MAX_EPSILON: f64 = 600.0;

/// Returns the bound that prices prove, or `None` if they prove nothing.
///
/// No channel of this epsilon, with any kind of answers, has `sum of C_U / I_U` below it. Prices are a number
/// `y_S >= 0` for every type of pattern, for all patterns of the type together. Let
/// `yhat_U = sum over S of y_S chi_U(S)` and `E = exp(epsilon)`. If `yhat_U <= 1` for every non-empty `U` and
/// `yhat_0 < E`, the error is at least
///
/// ```text
/// 4 (E - yhat_0) / (E - 1)^2 * ( sum over U of sqrt( C_U d_U (1 - yhat_U) ) )^2
/// ```
///
/// See docs/mathematics/lower-bound.md, theorem 3; without prices the bound is theorem 2. Floats are integers over
/// powers of two, so the conditions are checked in integers. Only then are floats used, and each is rounded in the safe
/// direction.
pub fn checked(costs: &Costs, prices: Option<&Prices>, epsilon: f64) -> Option<f64> {
    if !(epsilon > 0.0 && epsilon <= MAX_EPSILON) {
        return None;
    }
    let (least, most) = exponential(epsilon);
    let one = BigInt::from(1) << FRACTION;
    // Raised by more than the error of the quotient.
    let excess = quotient_below(&(BigInt::from(most) - &one), &one)? * (1.0 + 1e-14);
    let (above, slacks) = match prices {
        None => (quotient_below(&least.into(), &one)?, Vec::new()),
        Some(prices) if covers(costs, &prices.kinds) => slacks(prices, &least.into())?,
        Some(_) => return None,
    };
    let mut root = 0.0f64;
    for (component, cost) in costs.components.iter().zip(&costs.costs) {
        let dimension = component.iter().fold(1.0, |product, &i| below(product * (costs.sizes[i] as f64 - 1.0)));
        let slack = prices.map_or(1.0, |prices| slacks[type_of(&prices.kinds, component)]);
        root = below(root + below(below(below(cost * dimension) * slack).sqrt()));
    }
    let half = below(below(2.0 * root) / excess);
    Some(below(below(half * half) * above))
}

/// Returns the bound that a checked certificate of theorem 4 gives with its prices `h_U`, by type.
///
/// It is `( sum of sqrt(C_U h_U) )^2` divided by the largest `sum of h_U I_U(A)` over all sets. Returns `None` if the
/// kinds are not those of the attributes.
pub fn by_moments(costs: &Costs, kinds: &[Kind], prices: &[f64], proven: &Checked, epsilon: f64) -> Option<f64> {
    let in_range = epsilon > 0.0 && epsilon <= MAX_EPSILON;
    if !in_range || !covers(costs, kinds) {
        return None;
    }
    let one = BigInt::from(1) << FRACTION;
    let excess = BigRational::new(BigInt::from(exponential(epsilon).1) - &one, one);
    let largest = proven.largest(&excess);
    // Raised by more than the error of the quotient.
    let above = quotient_below(largest.numer(), largest.denom())? * (1.0 + 1e-14);
    let mut root = 0.0f64;
    for (component, cost) in costs.components.iter().zip(&costs.costs) {
        let price = prices.get(type_of(kinds, component)).filter(|price| **price >= 0.0)?;
        root = below(root + below(below(cost * price).sqrt()));
    }
    Some(below(below(root * root) / above))
}

/// Returns the error without any randomization, which is the sum of the costs.
///
/// Answers carry no more information than true records, so `I_U <= 1`.
pub fn sampling_error(costs: &Costs) -> f64 {
    costs.costs.iter().fold(0.0, |sum, cost| below(sum + cost))
}

/// Returns `E - yhat_0`, and `1 - yhat_U` by type, rounded down; the empty type has 0.
///
/// Returns `None` if one of them is negative, or if the first is not positive. `least` is a lower bound of `E`, times
/// `2^FRACTION`.
fn slacks(prices: &Prices, least: &BigInt) -> Option<(f64, Vec<f64>)> {
    let (numerators, bits) = fixed_point(&prices.y)?;
    let (sums, denominator) = transformed(&prices.kinds, numerators, bits)?;
    let above = least * &denominator - (&sums[0] << FRACTION);
    let above = quotient_below(&above, &(&denominator << FRACTION))?;
    let slack = |(u, sum): (usize, &BigInt)| match denominator.cmp(sum) {
        _ if u == 0 => Some(0.0),
        Ordering::Less => None,
        Ordering::Equal => Some(0.0),
        Ordering::Greater => quotient_below(&(&denominator - sum), &denominator),
    };
    Some((above, sums.iter().enumerate().map(slack).collect::<Option<_>>()?))
}

/// Returns the next float below, or 0: a lower bound of the number that was rounded.
fn below(rounded: f64) -> f64 {
    rounded.next_down().max(0.0)
}

/// Returns whether every attribute of every component belongs to exactly one kind, and to one of its size.
fn covers(costs: &Costs, kinds: &[Kind]) -> bool {
    let mut of = vec![0usize; costs.sizes.len()];
    for kind in kinds {
        for &i in &kind.members {
            if costs.sizes.get(i) != Some(&kind.size) || kind.size < 2 {
                return false;
            }
            of[i] += 1;
        }
    }
    let held = |component: &Vec<usize>| !component.is_empty() && component.iter().all(|&i| of[i] == 1);
    of.iter().all(|&times| times <= 1) && costs.components.iter().all(held)
}

/// Returns floats as integers over one power of two; `None` if one is negative, infinite or not a number.
fn fixed_point(values: &[f64]) -> Option<(Vec<BigInt>, u64)> {
    // A float is an integer times 2^(exponent - 1075). With the sign bit set, the exponent is out of range.
    let part = |value: &f64| {
        let (exponent, fraction) = (value.to_bits() >> 52, value.to_bits() & ((1 << 52) - 1));
        match exponent {
            0 => Some((fraction, 1)),
            1..1075 => Some((fraction | 1 << 52, exponent)),
            _ => None,
        }
    };
    let parts: Vec<(u64, u64)> = values.iter().map(part).collect::<Option<_>>()?;
    let least = parts.iter().filter(|(integer, _)| *integer > 0).map(|(_, exponent)| *exponent).min().unwrap_or(1075);
    let scaled = |(integer, exponent): (u64, u64)| BigInt::from(integer) << exponent.saturating_sub(least);
    Some((parts.into_iter().map(scaled).collect(), 1075 - least))
}

/// Returns `yhat_U` of every type, as integers over one denominator.
fn transformed(kinds: &[Kind], mut values: Vec<BigInt>, bits: u64) -> Option<(Vec<BigInt>, BigInt)> {
    let (mut denominator, mut stride) = (BigInt::from(1) << bits, 1);
    if values.len() != kinds.iter().map(|kind| kind.members.len() + 1).product::<usize>() {
        return None;
    }
    for kind in kinds {
        let n = kind.members.len();
        let (rows, scale) = integer_averages(kind.size, n);
        for block in values.chunks_mut(stride * (n + 1)) {
            for at in 0..stride {
                let line: Vec<BigInt> = (0..=n).map(|j| block[j * stride + at].clone()).collect();
                for (u, row) in rows.iter().enumerate() {
                    block[u * stride + at] = row.iter().zip(&line).map(|(factor, value)| factor * value).sum();
                }
            }
        }
        denominator *= scale;
        stride *= n + 1;
    }
    Some((values, denominator))
}

/// Returns the mean of `chi_U(S)` over the sets `S` of `j` of `n` attributes, for `U` of size `u`, in integers.
///
/// Each mean is multiplied by `n! (a-1)^n`, which is returned, too. The integer is
/// `sum over h of C(u,h) C(n-u,j-h) (-1)^h (a-1)^(n-h) j! (n-j)!`, where `h` is the size of the intersection of `U` and
/// `S`.
fn integer_averages(size: usize, n: usize) -> (Vec<Vec<BigInt>>, BigInt) {
    let mut choose = vec![vec![BigInt::from(1)]];
    for row in 0..n {
        let above = |k: usize| choose[row].get(k).cloned().unwrap_or_default();
        let next = (0..=row + 1).map(|k| above(k) + k.checked_sub(1).map(above).unwrap_or_default()).collect();
        choose.push(next);
    }
    let factorial = |n: usize| (1..=n).map(BigInt::from).product::<BigInt>();
    let powers: Vec<BigInt> = (0..=n as u32).map(|e| BigInt::from(size - 1).pow(e)).collect();
    let entry = |u: usize, j: usize| -> BigInt {
        let shared = (u + j).saturating_sub(n)..=u.min(j);
        let terms = shared.map(|h| {
            let term = &choose[u][h] * &choose[n - u][j - h] * &powers[n - h];
            if h % 2 == 0 { term } else { -term }
        });
        terms.sum::<BigInt>() * factorial(j) * factorial(n - j)
    };
    let rows = (0..=n).map(|u| (0..=n).map(|j| entry(u, j)).collect()).collect();
    (rows, factorial(n) * &powers[n])
}

/// Number of fractional bits of the exponential.
const FRACTION: u64 = 256;

/// Number of halvings of the argument of the exponential, after which it is below 1/90.
const HALVINGS: u64 = 16;

/// Returns integers below and above `2^FRACTION exp(x)`, for `x` from 0 to [`MAX_EPSILON`].
fn exponential(x: f64) -> (BigUint, BigUint) {
    let one = BigUint::from(1u32) << FRACTION;
    // x = integer * 2^(exponent - 1075), so x 2^(FRACTION - HALVINGS) rounded down is:
    let (integer, exponent) = match x.to_bits() >> 52 {
        0 => (x.to_bits(), 1),
        exponent => (x.to_bits() & ((1 << 52) - 1) | 1 << 52, exponent),
    };
    let least = (BigUint::from(integer) << (exponent + FRACTION - HALVINGS)) >> 1075u32;
    let most = &least + 1u32;
    let series = |x: &BigUint, round: u32| {
        let (mut term, mut sum, mut i) = (one.clone(), one.clone(), 0u32);
        while term > BigUint::from(round) {
            i += 1;
            term = ((&term * x) >> FRACTION) / i + round;
            sum += &term;
        }
        // The remainder is less than the last term.
        sum + 2 * round
    };
    let (mut low, mut high) = (series(&least, 0), series(&most, 1));
    for _ in 0..HALVINGS {
        low = (&low * &low) >> FRACTION;
        high = ((&high * &high) >> FRACTION) + 1u32;
    }
    (low, high)
}

/// Returns a float below the quotient of two integers, by less than a few units in the last place.
///
/// Returns `None` if the numerator is not positive.
fn quotient_below(numerator: &BigInt, denominator: &BigInt) -> Option<f64> {
    if numerator.sign() != Sign::Plus {
        return None;
    }
    let (numerator, denominator) = (numerator.magnitude(), denominator.magnitude());
    let shift = 55 + denominator.bits() as i64 - numerator.bits() as i64;
    let quotient = match shift >= 0 {
        true => (numerator << shift as u64) / denominator,
        false => numerator / (denominator << (-shift) as u64),
    };
    // 55 or 56 bits; three are dropped.
    let integer = u64::try_from(quotient >> 3u32).ok()?;
    let power = i32::try_from(3 - shift).ok().filter(|power| *power < 900)?;
    // In two steps, so that no power of two is out of range; such a small result may be rounded up.
    let half = power / 2;
    Some(below(integer as f64 * 2f64.powi(half) * 2f64.powi(power - half)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(sizes: &[usize]) -> Vec<Kind> {
        sizes.iter().enumerate().map(|(i, &size)| Kind { size, members: vec![i] }).collect()
    }

    fn checked(costs: &Costs, kinds: &[Kind], y: &[f64], epsilon: f64) -> Option<f64> {
        super::checked(costs, Some(&Prices { kinds: kinds.to_vec(), y: y.to_vec() }), epsilon)
    }

    fn one_component(sizes: &[usize], component: &[usize]) -> Costs {
        Costs { sizes: sizes.to_vec(), components: vec![component.to_vec()], costs: vec![1.0], fixed: 0.0 }
    }

    #[test]
    fn the_exponential_is_between_its_bounds() {
        for x in [1e-300, 1e-9, 0.1, 1.0, 2.5, 50.0, 600.0] {
            let (low, high) = exponential(x);
            let one = BigInt::from(1) << FRACTION;
            assert!(low <= high);
            let excess = |bound: BigUint| quotient_below(&(BigInt::from(bound) - &one), &one).unwrap_or(0.0);
            let (low, high) = (excess(low), excess(high));
            let expected = x.exp_m1();
            let near = |bound: f64| (bound / expected - 1.0).abs() < 1e-14 || expected < 1e-70;
            assert!(near(low) && near(high), "{x}: {low} {high} {expected}");
        }
        // 40 digits of e, from a table.
        let digits: BigUint = "27182818284590452353602874713526624977572".parse().unwrap();
        let ten = BigUint::from(10u32).pow(40);
        let (low, high) = exponential(1.0);
        assert_eq!((low * &ten) >> FRACTION, digits);
        assert_eq!((high * &ten) >> FRACTION, digits);
    }

    #[test]
    fn quotients_are_below_and_close() {
        for (a, b) in [(1u64, 3u64), (2, 1), (1, 1), (u64::MAX, 3), (7, u64::MAX), (1 << 60, 1)] {
            let found = quotient_below(&a.into(), &b.into()).unwrap();
            let exact = a as f64 / b as f64;
            assert!(found < exact.next_up() && found > exact * (1.0 - 1e-14), "{a}/{b}: {found}");
        }
        assert_eq!(quotient_below(&0.into(), &1.into()), None);
        assert_eq!(quotient_below(&(-1).into(), &1.into()), None);
    }

    #[test]
    fn without_prices_it_is_the_closed_form() {
        let costs = one_component(&[3, 4], &[0, 1]);
        for epsilon in [0.01, 0.5, 3.0, 20.0f64] {
            let found = super::checked(&costs, None, epsilon).unwrap();
            assert!((checked(&costs, &alone(&[3, 4]), &[0.0; 4], epsilon).unwrap() / found - 1.0).abs() < 1e-14);
            let expected = 6.0 / (epsilon / 2.0).sinh().powi(2);
            assert!(found < expected * (1.0 + 1e-14) && found > expected * (1.0 - 1e-13), "{found} for {expected}");
        }
    }

    /// By hand: one attribute of 3 categories, all of `y` at the pattern that misses: `yhat_0 = y`, `yhat_1 = -y/2`.
    #[test]
    fn a_proof_by_hand() {
        let (costs, kinds) = (one_component(&[3], &[0]), alone(&[3]));
        let (epsilon, y) = (2.0f64, 0.75);
        let found = checked(&costs, &kinds, &[0.0, y], epsilon).unwrap();
        let e = epsilon.exp();
        let expected = 4.0 * (e - y) / (e - 1.0).powi(2) * 2.0 * (1.0 + y / 2.0);
        assert!(found < expected && found > expected * (1.0 - 1e-13));
    }

    #[test]
    fn what_is_no_proof_is_refused() {
        let (costs, kinds) = (one_component(&[3, 4], &[0]), alone(&[3, 4]));
        let good = [0.25, 0.5, 0.0, 0.0];
        assert!(checked(&costs, &kinds, &good, 1.0).is_some());
        // Negative, not a number, too few, yhat_U = 1 + 2^-52 for a component that has no cost, yhat_0 at E or above.
        for bad in [
            &[0.25, -1e-300, 0.0, 0.0][..],
            &[f64::NAN, 0.0, 0.0, 0.0],
            &[f64::INFINITY, 0.0, 0.0, 0.0],
            &[0.25, 0.5, 0.0],
            &[1.0 + f64::EPSILON, 0.0, 0.0, 0.0],
            &[0.7, 1.4, 0.7, 0.0],
        ] {
            assert_eq!(checked(&costs, &kinds, bad, 1.0), None, "{bad:?}");
        }
        assert!(checked(&costs, &kinds, &[1.0, 0.0, 0.0, 0.0], 1.0).is_some_and(|bound| bound == 0.0), "true, if idle");
        for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY, 601.0] {
            assert_eq!(checked(&costs, &kinds, &good, epsilon), None);
        }
        // Kinds that are not those of the attributes.
        let twice = [Kind { size: 3, members: vec![0] }, Kind { size: 3, members: vec![0] }];
        let wrong = [Kind { size: 4, members: vec![0] }, Kind { size: 3, members: vec![1] }];
        let missing = [Kind { size: 4, members: vec![1] }];
        for (kinds, types) in [(&twice[..], 4), (&wrong, 4), (&missing, 2)] {
            assert_eq!(checked(&costs, kinds, &vec![0.0; types], 1.0), None);
        }
    }

    /// A kind of several attributes gives the same result as its numbers spread over all patterns.
    #[test]
    fn kinds_stand_for_all_their_patterns() {
        let sizes = [3, 3, 3, 5];
        let components = vec![vec![0], vec![1, 2], vec![0, 3], vec![0, 1, 2, 3]];
        let costs = Costs { sizes: sizes.to_vec(), components, costs: vec![1.0, 2.0, 0.5, 3.0], fixed: 0.0 };
        let together = [Kind { size: 3, members: vec![0, 1, 2] }, Kind { size: 5, members: vec![3] }];
        // Multiples of 3/64, so that a third is a float.
        let types = [0.0, 3.0, 6.0, 1.0, 2.0, 9.0, 12.0, 4.0].map(|y| y / 64.0);
        let choose = [1.0, 3.0, 3.0, 1.0];
        let spread = |pattern: usize| {
            let (first, last) = ((pattern & 7).count_ones() as usize, pattern >> 3);
            types[first + 4 * last] / choose[first]
        };
        let patterns: Vec<f64> = (0..16).map(spread).collect();
        let one = checked(&costs, &together, &types, 2.0).unwrap();
        let other = checked(&costs, &alone(&sizes), &patterns, 2.0).unwrap();
        assert!((one / other - 1.0).abs() < 1e-13, "{one} {other}");
    }
}
