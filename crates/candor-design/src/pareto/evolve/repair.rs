//! Repair of matrices that violate the posterior bound (Huang and Du 2008, section V-G).
//!
//! The paper repairs column by column: it reduces elements with a posterior above the bound, and increases the other
//! elements of the column in proportion to their capacity. But changing a column changes the posteriors of all others
//! in the same rows. So this may never end, or find no element with capacity.
//!
//! The bound `M_zj pi_j <= delta sum_l M_zl pi_l` is *linear* in the matrix. So mixing with the uninformative channel
//! (every column equal to the distribution of the answers) leads straight to the bound. After a few sweeps of the
//! paper's repair, the smallest sufficient mixture removes the remaining excess.

const SWEEPS: usize = 3;

/// Reduces all posteriors to at most `bound`, which must be at least the largest share; columns still sum to one.
pub fn repair(matrix: &mut [f64], shares: &[f64], bound: f64) {
    let n = shares.len();
    let mut law = law_of(matrix, shares);
    for _ in 0..SWEEPS {
        if within(matrix, shares, &law, bound) {
            return;
        }
        for (column, &share) in matrix.chunks_exact_mut(n).zip(shares) {
            repair_column(column, share, &mut law, bound);
        }
        law = law_of(matrix, shares);
    }
    mix(matrix, shares, &law, bound);
}

/// Returns the probability of each answer.
fn law_of(matrix: &[f64], shares: &[f64]) -> Vec<f64> {
    let mut law = vec![0.0; shares.len()];
    for (column, share) in matrix.chunks_exact(shares.len()).zip(shares) {
        law.iter_mut().zip(column).for_each(|(sum, p)| *sum += p * share);
    }
    law
}

fn within(matrix: &[f64], shares: &[f64], law: &[f64], bound: f64) -> bool {
    let column = |(column, share): (&[f64], &f64)| column.iter().zip(law).all(|(p, law)| p * share <= bound * law);
    matrix.chunks_exact(shares.len()).zip(shares).all(column)
}

/// Repairs one column by the paper's method, as far as possible.
fn repair_column(column: &mut [f64], share: f64, law: &mut [f64], bound: f64) {
    // The value at which the posterior equals the bound, with all other columns fixed.
    let limit = |p: f64, law: f64| bound * (law - p * share).max(0.0) / (share * (1.0 - bound));
    let (mut excess, mut room) = (0.0, 0.0);
    for (p, law) in column.iter().zip(&*law) {
        let spare = limit(*p, *law) - p;
        if spare < 0.0 { excess -= spare } else { room += spare.min(1.0 - p) }
    }
    if excess <= 0.0 || room <= 0.0 {
        return;
    }
    let part = (room / excess).min(1.0);
    let given = excess * part / room;
    for (p, law) in column.iter_mut().zip(law) {
        let spare = limit(*p, *law) - *p;
        let change = if spare < 0.0 { spare * part } else { spare.min(1.0 - *p) * given };
        *p += change;
        *law += change * share;
    }
}

/// Applies the smallest mixture with the uninformative channel that meets the bound.
fn mix(matrix: &mut [f64], shares: &[f64], law: &[f64], bound: f64) {
    let n = shares.len();
    let mut part = 0.0f64;
    for (column, share) in matrix.chunks_exact(n).zip(shares) {
        for (p, law) in column.iter().zip(law).filter(|(_, law)| **law > 0.0) {
            let posterior = p * share / law;
            if posterior > bound {
                part = part.max((posterior - bound) / (posterior - share));
            }
        }
    }
    if part > 0.0 {
        // Slightly more, for rounding.
        let part = (part * (1.0 + 1e-12) + 1e-15).min(1.0);
        for column in matrix.chunks_exact_mut(n) {
            column.iter_mut().zip(law).for_each(|(p, law)| *p += part * (law - *p));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::variation::random;
    use super::*;
    use crate::pareto::measure::measure_square;
    use crate::pareto::prior::Prior;
    use candor_base::randomness::Source;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_bound_is_met_and_columns_sum_to_one(
            n in 2usize..12, seed in any::<u64>(), over in 0.0f64..1.0, skew in 0.0f64..3.0,
        ) {
            let mut rng = Source::from_seed(seed).stream(0);
            let counts: Vec<f64> = (0..n).map(|i| (-skew * i as f64).exp() + 1e-4).collect();
            let prior = Prior::from_counts(&counts).unwrap();
            let bound = prior.largest() + over * (1.0 - prior.largest());
            let mut matrix = random(n, &mut rng);
            repair(&mut matrix, prior.shares(), bound);
            prop_assert!(measure_square(&matrix, &prior).worst_posterior <= bound * (1.0 + 1e-9));
            for column in matrix.chunks_exact(n) {
                prop_assert!((column.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                prop_assert!(column.iter().all(|&p| (-1e-12..=1.0 + 1e-12).contains(&p)));
            }
        }
    }

    /// The paper's repair alone never ends for the identity under a tight bound: no element has capacity.
    #[test]
    fn the_identity_is_repaired() {
        let prior = Prior::normal(10).unwrap();
        for bound in [0.3, 0.6, 0.99] {
            let mut matrix: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i % 11 == 0))).collect();
            repair(&mut matrix, prior.shares(), bound);
            let found = measure_square(&matrix, &prior);
            assert!(found.worst_posterior <= bound * (1.0 + 1e-9), "{found:?}");
        }
    }
}
