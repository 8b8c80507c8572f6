//! Variation operators: random matrices, column crossover and proportional column mutation.
//!
//! See Huang and Du 2008, sections V-A, V-E, V-F. Matrices are stored column by column:
//! `columns[j n + z] = P(answer z | category j)`.

use rand_core::Rng;

use super::random::{below, unit};

/// Returns a random matrix `a I + (1 - a) R`, with `a` uniform and each column of `R` uniform on the simplex.
///
/// So the first population ranges from fully informative to uninformative matrices.
pub fn random(n: usize, rng: &mut impl Rng) -> Vec<f64> {
    let kept = unit(rng);
    let mut matrix = Vec::with_capacity(n * n);
    for j in 0..n {
        let draws: Vec<f64> = (0..n).map(|_| -(1.0 - unit(rng)).ln()).collect();
        let sum: f64 = draws.iter().sum();
        matrix.extend(draws.iter().enumerate().map(|(z, d)| (1.0 - kept) * d / sum + if z == j { kept } else { 0.0 }));
    }
    matrix
}

/// Swaps all columns to the right of a random line between two neighboring columns.
pub fn crossover(a: &mut [f64], b: &mut [f64], n: usize, rng: &mut impl Rng) {
    let line = (1 + below(rng, n - 1)) * n;
    a[line..].swap_with_slice(&mut b[line..]);
}

/// Adds or subtracts a random value, at most `step`, at a random element of a random column.
///
/// The others of the column compensate: in proportion to themselves after an addition, in proportion to one minus
/// themselves after a subtraction.
pub fn mutate(matrix: &mut [f64], n: usize, step: f64, rng: &mut impl Rng) {
    let column = &mut matrix[below(rng, n) * n..][..n];
    let place = below(rng, n);
    let value = column[place];
    let addition = rng.next_u64() & 1 == 1;
    let room = if addition { 1.0 - value } else { value };
    // Small changes are more likely than large ones.
    let change = room.min(step * unit(rng) * unit(rng));
    if addition {
        let others = 1.0 - value;
        if others <= 0.0 {
            return;
        }
        let shrink = (others - change) / others;
        column.iter_mut().for_each(|p| *p *= shrink);
        column[place] = value + change;
    } else {
        // The sum of one minus each of the others: n - 1 minus their sum.
        let capacity = (n - 1) as f64 - (1.0 - value);
        let capacity = if capacity > 0.0 { capacity } else { return };
        column.iter_mut().for_each(|p| *p += change * (1.0 - *p) / capacity);
        column[place] = value - change;
    }
    let sum: f64 = column.iter().sum();
    column.iter_mut().for_each(|p| *p /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::randomness::Source;
    use proptest::prelude::*;

    fn is_channel(matrix: &[f64], n: usize) -> bool {
        matrix.iter().all(|p| (0.0..=1.0 + 1e-12).contains(p))
            && matrix.chunks_exact(n).all(|column| (column.iter().sum::<f64>() - 1.0).abs() < 1e-12)
    }

    proptest! {
        #[test]
        fn everything_stays_a_channel(n in 2usize..12, seed in any::<u64>(), step in 0.001f64..1.0) {
            let mut rng = Source::from_seed(seed).stream(0);
            let (mut a, mut b) = (random(n, &mut rng), random(n, &mut rng));
            prop_assert!(is_channel(&a, n) && is_channel(&b, n));
            let mut columns: Vec<Vec<f64>> = a.chunks_exact(n).chain(b.chunks_exact(n)).map(<[f64]>::to_vec).collect();
            crossover(&mut a, &mut b, n, &mut rng);
            let mut after: Vec<Vec<f64>> = a.chunks_exact(n).chain(b.chunks_exact(n)).map(<[f64]>::to_vec).collect();
            columns.sort_by(|x, y| x.partial_cmp(y).unwrap());
            after.sort_by(|x, y| x.partial_cmp(y).unwrap());
            prop_assert_eq!(columns, after);
            for _ in 0..50 {
                mutate(&mut a, n, step, &mut rng);
                prop_assert!(is_channel(&a, n));
            }
        }
    }

    /// Extreme cases: columns with a certain answer, and two categories.
    #[test]
    fn certain_columns_can_mutate() {
        let mut rng = Source::from_seed(1).stream(0);
        for n in [2, 3] {
            let mut matrix: Vec<f64> = (0..n * n).map(|i| f64::from(u8::from(i % (n + 1) == 0))).collect();
            for _ in 0..1000 {
                mutate(&mut matrix, n, 1.0, &mut rng);
                assert!(is_channel(&matrix, n));
            }
        }
    }
}
