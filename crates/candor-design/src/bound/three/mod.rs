//! Theorem 4: bounds from moments of three records, for at most six attributes or few kinds of them.
//!
//! Sets whose size is far from optimal are handled by moments of pairs, which are cheap. The search works in floats and
//! is not trusted: its numbers are rounded to a [`Certificate`] of integers. The bound is the result of the exact check
//! of that certificate.

mod verify;
mod moments;
mod cone;
mod interval;
mod master;
mod search;

pub use verify::{BITS, Certificate, Checked, Proof};

use candor_runtime::progress::Deadline;
use nalgebra::DMatrix;
use num_bigint::BigInt;

use super::exchangeable::Kind;
use interval::Piece;
use moments::Moments;
use search::Limit;

/// Maximum number of moments for the solver.
const MAX_MOMENTS: f64 = 1500.0;

/// Limit on the number of records, so that sizes are exact in floats.
const MAX_RECORDS: f64 = 1e15;

/// Approximate number of operations of a search for each second of its time limit.
///
/// It is so small that the count ends a search before the deadline does, even on a busy machine. So every run gives the
/// same bound.
const WORK: f64 = 1.7e8;

/// Approximate number of steps of one solution.
const STEPS: f64 = 15.0;

/// Smallest number of programs for which a search is started, and the largest number solved.
const SOLVES: (f64, f64) = (60.0, 800.0);

/// Approximate operations per second; a search that would not end in time is not started.
const SPEED: f64 = 1e9;

/// Returns the best certificate found, or `None` if there are too many moments or too little time.
///
/// `costs` are sums by type, and `excess` is `exp(epsilon) - 1`.
pub fn find(kinds: &[Kind], costs: &[f64], excess: f64, deadline: &Deadline<'_>) -> Option<Certificate> {
    let records: f64 = kinds.iter().map(|kind| (kind.size as f64).powi(kind.members.len() as i32)).product();
    if moments::estimate(kinds) > MAX_MOMENTS || !(2.0..MAX_RECORDS).contains(&records) {
        return None;
    }
    let moments = Moments::new(kinds);
    let work = STEPS * moments.work();
    if SOLVES.0 * work / SPEED > deadline.seconds() {
        return None;
    }
    let solves = (WORK * deadline.seconds() / work).clamp(SOLVES.0, SOLVES.1) as usize;
    let limit = Limit { solves, stop: &|| deadline.check(None).is_some() };
    let found = search::search(&moments, costs, excess, limit)?;
    let mut proofs: Vec<Proof> = found.pieces.iter().map(rounded).collect();
    proofs.sort_by_key(|proof| proof.first);
    Some(Certificate { kinds: kinds.to_vec(), prices: found.prices, proofs })
}

/// Rounds a proof to integers.
fn rounded(piece: &Piece) -> Proof {
    let scale = 2f64.powi(BITS as i32);
    let integer = |value: f64| BigInt::from((value * scale).round() as i128);
    let factor = |matrix: &DMatrix<f64>| {
        let parts = matrix.clone().symmetric_eigen();
        let entry =
            |row: usize, column: usize| parts.eigenvectors[(row, column)] * parts.eigenvalues[column].max(0.0).sqrt();
        let (size, none) = (matrix.nrows(), BigInt::from(0));
        let column = |column: usize| (0..size).map(|row| integer(entry(row, column))).collect::<Vec<_>>();
        let columns: Vec<_> = (0..size).map(column).filter(|column| column.iter().any(|x| *x != none)).collect();
        (0..size).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
    };
    Proof {
        first: piece.first,
        last: piece.last,
        multipliers: piece.multipliers.iter().map(|&value| integer(value)).collect(),
        spectrum: piece.spectrum.iter().map(|&value| integer(value.max(0.0))).collect(),
        factors: piece.matrices.iter().map(factor).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_runtime::progress::ProgressSink;
    use num_rational::BigRational;
    use serde_json::Value;

    fn binary(n: usize) -> Vec<Kind> {
        vec![Kind { size: 2, members: (0..n).collect() }]
    }

    /// Returns the sums of the costs of all pairs, by type.
    fn pairs(n: usize) -> Vec<f64> {
        let n = n as f64;
        let mut costs = vec![0.0; n as usize + 1];
        (costs[1], costs[2]) = (n * (n - 1.0) / 4.0, n * (n - 1.0) / 8.0);
        costs
    }

    /// Returns the bound that a certificate for all pairs of binary attributes gives at epsilon 2.
    fn bound(certificate: &Certificate) -> Option<f64> {
        let n = certificate.kinds[0].members.len();
        let largest = certificate.checked()?.largest(&BigRational::from_float(2f64.exp_m1())?);
        let bits = 80u64;
        let scaled: f64 = ((largest.numer() << bits) / largest.denom()).to_string().parse().ok()?;
        let sets = [0.0, n as f64, (n * (n - 1)) as f64 / 2.0];
        let root = |u: usize| (pairs(n)[u] * certificate.prices[u] * sets[u]).sqrt();
        Some((root(1) + root(2)).powi(2) / (scaled / 2f64.powi(bits as i32)))
    }

    fn found(n: usize) -> Certificate {
        find(&binary(n), &pairs(n), 2f64.exp_m1(), &Deadline::start(None, ProgressSink::none())).unwrap()
    }

    /// Parses a fraction as a float.
    fn fraction(value: &Value) -> f64 {
        let text = value.as_str().unwrap();
        let (a, b) = text.split_once('/').unwrap_or((text, "1"));
        a.parse::<f64>().unwrap() / b.parse::<f64>().unwrap()
    }

    /// Certificates made and checked by other code, whose matrices hold means where ours hold sums over `C(d, v)`
    /// places.
    ///
    /// The same multiplier therefore has `1/C(d, v)` times the factor. Everything is multiplied by 60 squared, so that
    /// it stays in integers.
    fn golden(text: &str, n: usize) -> Certificate {
        let value: Value = serde_json::from_str(text).unwrap();
        let integer = |value: &Value, by: u64| -> BigInt { value.to_string().parse::<BigInt>().unwrap() * by };
        let choose = |d: usize, v: usize| (0..v).fold(1u64, |product, i| product * (d - i) as u64 / (i as u64 + 1));
        let factor = |rows: &Value| {
            let rows = rows.as_array().unwrap();
            let row = |(v, row): (usize, &Value)| {
                row.as_array().unwrap().iter().map(|x| integer(x, 60 / choose(rows.len() - 1, v))).collect()
            };
            rows.iter().enumerate().map(row).collect()
        };
        let proof = |piece: &Value| Proof {
            first: (fraction(&piece[0]) * 2f64.powi(n as i32)).round() as u64,
            last: (fraction(&piece[1]) * 2f64.powi(n as i32)).round() as u64,
            multipliers: piece[2].as_array().unwrap().iter().map(|x| integer(x, 3600)).collect(),
            spectrum: vec![BigInt::from(0); n + 1],
            factors: piece[3].as_array().unwrap().iter().map(factor).collect(),
        };
        let mut proofs: Vec<Proof> = value["intervals"].as_array().unwrap().iter().map(proof).collect();
        proofs.sort_by_key(|proof| proof.first);
        // s_U squared over C_U of a single component.
        let price = |(u, s): (usize, &Value)| match u {
            1 => 3600.0 * fraction(s).powi(2) / ((n as f64 - 1.0) / 4.0),
            2 => 3600.0 * fraction(s).powi(2) / 0.25,
            _ => 0.0,
        };
        let prices = value["s"].as_array().unwrap().iter().enumerate().map(price).collect();
        Certificate { kinds: binary(n), prices, proofs }
    }

    #[test]
    fn golden_certificates_are_accepted() {
        let four = golden(include_str!("../../../tests/golden/certificate_2_4.json"), 4);
        let five = golden(include_str!("../../../tests/golden/certificate_2_5.json"), 5);
        for (certificate, claim) in [(four, 35.502_927_784_066_29), (five, 84.535_662_049_591_35)] {
            let bound = bound(&certificate).unwrap();
            assert!((bound / claim - 1.0).abs() < 1e-11, "{bound} for {claim}");
        }
    }

    #[test]
    fn own_certificates_reach_the_optimum() {
        for (n, optimum) in [(4, 35.502_927_8), (5, 84.535_662_05)] {
            let bound = bound(&found(n)).unwrap();
            assert!((bound / optimum - 1.0).abs() < 1e-8, "{bound} for {optimum}");
        }
    }

    /// An incomplete certificate is rejected. One with other numbers proves less, and never more than the optimum.
    #[test]
    fn mutated_certificates_are_rejected_or_prove_less() {
        let good = found(4);
        let best = bound(&good).unwrap();
        for at in 0..good.proofs.len() {
            let mut lacks = good.clone();
            lacks.proofs.remove(at);
            assert!(lacks.checked().is_none(), "sizes of proof {at} are missing");
            for (first, last) in [(0, good.proofs[at].last), (good.proofs[at].last + 1, good.proofs[at].last)] {
                let mut wrong = good.clone();
                (wrong.proofs[at].first, wrong.proofs[at].last) = (first, last);
                assert!(wrong.checked().is_none());
            }
            let mut short = good.clone();
            short.proofs[at].multipliers.pop();
            assert!(short.checked().is_none());
            let mut short = good.clone();
            short.proofs[at].factors.pop();
            assert!(short.checked().is_none());
            let mut short = good.clone();
            short.proofs[at].spectrum.pop();
            assert!(short.checked().is_none());
            let mut ragged = good.clone();
            ragged.proofs[at].factors[0][1].push(BigInt::from(1));
            assert!(ragged.checked().is_none());
            let mut negative = good.clone();
            negative.proofs[at].spectrum[2] = BigInt::from(-1);
            assert!(negative.checked().is_none(), "a multiplier of what is not negative");
        }
        for price in [-1.0, f64::NAN, f64::INFINITY] {
            let mut wrong = good.clone();
            wrong.prices[1] = price;
            assert!(wrong.checked().is_none());
        }
        let mut changed = 0;
        for at in 0..good.proofs.len() {
            for s in 0..5 {
                for by in [-1i64, 1] {
                    let mut other = good.clone();
                    other.proofs[at].multipliers[s] += by << 34;
                    let bound = bound(&other).unwrap();
                    assert!(bound <= 35.502_927_8 * (1.0 + 1e-9), "{at} {s}: {bound}");
                    changed += usize::from(bound < best * (1.0 - 1e-6));
                }
            }
            let mut other = good.clone();
            other.proofs[at].factors[0].iter_mut().flatten().for_each(|entry| *entry *= 2);
            assert!(bound(&other).unwrap() <= 35.502_927_8 * (1.0 + 1e-9));
        }
        assert!(changed > 20, "only {changed} changes matter");
    }

    /// Changing any number never proves a false bound; many changes prove less.
    #[test]
    fn no_number_of_a_certificate_can_be_forged() {
        for (n, optimum) in [(4, 35.502_927_8), (5, 84.535_662_05)] {
            let good = found(n);
            let best = bound(&good).unwrap();
            let (mut tried, mut less) = (0, 0);
            for trial in 0..300u64 {
                // Places and sizes from a multiplicative sequence.
                let random = (trial + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let pick = |shift: u64, of: usize| (random >> shift) as usize % of;
                let mut forged = good.clone();
                let at = pick(7, forged.proofs.len());
                let proof = &mut forged.proofs[at];
                let block = pick(23, proof.factors.len());
                let mut numbers: Vec<&mut BigInt> = match trial % 3 {
                    0 => proof.multipliers.iter_mut().collect(),
                    1 => proof.spectrum.iter_mut().collect(),
                    _ => proof.factors[block].iter_mut().flatten().collect(),
                };
                if numbers.is_empty() {
                    continue;
                }
                let chosen = pick(31, numbers.len());
                let by = BigInt::from(1) << (20 + pick(43, 20));
                *numbers[chosen] += if random >> 63 == 0 { by } else { -by };
                tried += 1;
                match bound(&forged) {
                    Some(bound) => {
                        assert!(bound <= optimum * (1.0 + 1e-9), "{n} {trial}: {bound}");
                        less += usize::from(bound < best);
                    }
                    None => less += 1,
                }
            }
            assert!(tried > 150 && less > tried / 3, "{less} of {tried} matter");
        }
    }
}
