//! Privacy, error and worst posterior of a channel for a prior (Huang and Du 2008, section IV).
//!
//! The paper calls the mean squared error *utility*. The error of an estimated share is
//! `MSE_k = (1/N)(sum_z b_kz^2 lambda_z - pi_k^2)` with `lambda = M pi` and `B = M^-1`. Theorem 6 of the paper prints a
//! factor 2 before covariances that it sums over both orders of each pair. The factor belongs to one order only, and
//! simulation agrees with the formula here. With more answers than categories the estimate is the best linear unbiased
//! one for the prior: `sum_k MSE_k = (1/N)(tr J^-1 - sum pi^2)`, `J = M' diag(1/lambda) M`. For a square matrix the two
//! are equal.

use nalgebra::DMatrix;

use super::channel::FrontChannel;
use super::prior::Prior;

/// The measures of Huang and Du 2008 for a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// Eq. 8: probability that the best guess is wrong.
    pub privacy: f64,
    /// `N sum_k MSE_k`: total variance of the estimated shares, times the number of respondents.
    ///
    /// Infinite if the shares are not identifiable.
    pub variance: f64,
    /// Eq. 9: largest posterior of any category given any answer.
    pub worst_posterior: f64,
}

impl Measures {
    /// Returns eq. 10: the average mean squared error of `n` shares estimated from `respondents`.
    pub fn mse(&self, respondents: f64, n: usize) -> f64 {
        self.variance / (respondents * n as f64)
    }

    /// Returns whether this is at least as good as the other in privacy and variance, and better in one of them.
    pub fn dominates(&self, other: &Measures) -> bool {
        let as_good = self.privacy >= other.privacy && self.variance <= other.variance;
        as_good && (self.privacy > other.privacy || self.variance < other.variance)
    }
}

/// Returns the measures of any channel, in time `O(m n^2 + n^3)`.
pub fn measure(channel: &FrontChannel, prior: &Prior) -> Measures {
    let (mut right, mut worst) = (0.0, 0.0f64);
    for row in channel.rows() {
        let largest = row.iter().copied().fold(0.0, f64::max);
        right += largest;
        worst = worst.max(largest / row.iter().sum::<f64>());
    }
    let variance = Information::of(channel.rows(), prior).map_or(f64::INFINITY, |information| information.variance);
    Measures { privacy: 1.0 - right, variance, worst_posterior: worst }
}

/// The information about the shares: `K = sum_z x_z x_z' / lambda_z = diag(pi) J diag(pi)`, and its consequences.
pub(crate) struct Information {
    /// `K^-1`.
    pub inverse: DMatrix<f64>,
    /// `B = K^-1 diag(pi^2) K^-1`; minus the derivative of the variance by `K`.
    pub slope: DMatrix<f64>,
    /// `tr(diag(pi^2) K^-1) - sum pi^2`.
    pub variance: f64,
}

impl Information {
    /// Returns `None` if the shares are not identifiable.
    pub fn of<'a>(rows: impl Iterator<Item = &'a [f64]>, prior: &Prior) -> Option<Information> {
        let n = prior.len();
        let mut k = DMatrix::<f64>::zeros(n, n);
        for row in rows {
            let weight: f64 = row.iter().sum();
            if weight <= 0.0 {
                continue;
            }
            for j in 0..n {
                let scaled = row[j] / weight;
                if scaled != 0.0 {
                    k.column_mut(j).iter_mut().zip(row).for_each(|(cell, x)| *cell += scaled * x);
                }
            }
        }
        Information::from_matrix(k, prior)
    }

    /// Computes the information from `K`; `None` unless it is positive definite.
    pub fn from_matrix(mut k: DMatrix<f64>, prior: &Prior) -> Option<Information> {
        let n = prior.len();
        // Scaled to shares of about one, so that rare categories do not harm the factorization.
        let scale: Vec<f64> = prior.shares().iter().map(|p| 1.0 / p.sqrt()).collect();
        for j in 0..n {
            for i in 0..n {
                k[(i, j)] *= scale[i] * scale[j];
            }
        }
        let factor = k.cholesky()?;
        let pivots = (0..n).map(|i| factor.l_dirty()[(i, i)]);
        let (least, most) = pivots.fold((f64::INFINITY, 0.0f64), |(low, high), p| (low.min(p), high.max(p)));
        if least.is_nan() || least <= 1e-7 * most {
            return None;
        }
        let mut inverse = factor.inverse();
        for j in 0..n {
            for i in 0..n {
                inverse[(i, j)] *= scale[i] * scale[j];
            }
        }
        let squares = prior.shares().iter().map(|p| p * p);
        let variance = squares.clone().enumerate().map(|(i, p)| p * inverse[(i, i)]).sum::<f64>() - prior.squares();
        let mut weighted = inverse.clone();
        for (i, p) in squares.enumerate() {
            weighted.row_mut(i).iter_mut().for_each(|cell| *cell *= p);
        }
        let slope = &inverse * weighted;
        Some(Information { inverse, slope, variance })
    }
}

/// Returns the measures of a square matrix given column by column, without allocation for up to 16 categories.
///
/// `columns[j n + z]` is `P(answer z | category j)`. The evolutionary search spends most of its time here.
///
/// # Panics
/// Panics unless there are `n^2` entries for the `n` shares of the prior.
pub fn measure_square(columns: &[f64], prior: &Prior) -> Measures {
    let shares = prior.shares();
    assert_eq!(columns.len(), shares.len() * shares.len(), "a square matrix");
    macro_rules! by_size {
        ($($n:literal)*) => {
            match shares.len() {
                $($n => fixed::<$n>(columns, shares),)*
                n => {
                    let mut work = columns.to_vec();
                    let mut rows: Vec<&mut [f64]> = work.chunks_exact_mut(n).collect();
                    let traits = guesses(columns, shares, &mut vec![0.0; n], &mut vec![0.0; n]);
                    finish(traits, spread(&mut rows, columns, shares, &mut vec![0.0; n]), shares)
                }
            }
        };
    }
    by_size!(2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
}

/// The compiler unrolls and vectorizes loops of known length.
fn fixed<const N: usize>(columns: &[f64], shares: &[f64]) -> Measures {
    let mut work = [[0.0; N]; N];
    for (row, column) in work.iter_mut().zip(columns.chunks_exact(N)) {
        row.copy_from_slice(column);
    }
    let (mut lambda, mut largest) = ([0.0; N], [0.0; N]);
    for (column, share) in work.iter().zip(shares) {
        for z in 0..N {
            let joint = column[z] * share;
            lambda[z] += joint;
            largest[z] = if joint > largest[z] { joint } else { largest[z] };
        }
    }
    let (mut right, mut worst) = (0.0, 0.0f64);
    for z in 0..N {
        right += largest[z];
        if lambda[z] > 0.0 {
            worst = worst.max(largest[z] / lambda[z]);
        }
    }
    let mut variance = 0.0;
    if invert_rows::<N>(&mut work) {
        for (row, lambda) in work.iter().zip(&lambda) {
            variance += lambda * row.iter().map(|b| b * b).sum::<f64>();
        }
    } else {
        variance = f64::INFINITY;
    }
    finish((right, worst), variance, shares)
}

fn finish((right, worst): (f64, f64), spread: f64, shares: &[f64]) -> Measures {
    let variance = spread - shares.iter().map(|p| p * p).sum::<f64>();
    let variance = if variance.is_nan() { f64::INFINITY } else { variance };
    Measures { privacy: 1.0 - right, variance, worst_posterior: worst }
}

/// Size of a pivot below which a matrix counts as singular.
const SINGULAR: f64 = 1e-9;

/// Inverts in place by Gauss-Jordan elimination with partial pivoting; returns false if the matrix is singular.
///
/// The result is the inverse up to a permutation of its columns, over which the variance sums anyway.
fn invert_rows<const N: usize>(rows: &mut [[f64; N]; N]) -> bool {
    for p in 0..N {
        let mut pivot = p;
        for r in p + 1..N {
            if rows[r][p].abs() > rows[pivot][p].abs() {
                pivot = r;
            }
        }
        rows.swap(p, pivot);
        let value = rows[p][p];
        if value.is_nan() || value.abs() <= SINGULAR {
            return false;
        }
        let scale = 1.0 / value;
        rows[p][p] = 1.0;
        let mut scaled = rows[p];
        scaled.iter_mut().for_each(|cell| *cell *= scale);
        rows[p] = scaled;
        for (r, row) in rows.iter_mut().enumerate() {
            if r != p {
                let factor = row[p];
                row[p] = 0.0;
                for c in 0..N {
                    row[c] -= factor * scaled[c];
                }
            }
        }
    }
    true
}

/// Returns guess accuracy and worst posterior of a square matrix of any size.
fn guesses(columns: &[f64], shares: &[f64], lambda: &mut [f64], largest: &mut [f64]) -> (f64, f64) {
    for (column, share) in columns.chunks_exact(shares.len()).zip(shares) {
        for ((cell, lambda), largest) in column.iter().zip(&mut *lambda).zip(&mut *largest) {
            *lambda += cell * share;
            *largest = largest.max(cell * share);
        }
    }
    let worst = lambda.iter().zip(&*largest).filter(|(l, _)| **l > 0.0).map(|(l, x)| x / l).fold(0.0, f64::max);
    (largest.iter().sum(), worst)
}

/// Returns `sum_kz b_kz^2 lambda_z` of a square matrix of any size; infinite if it is singular.
fn spread(rows: &mut [&mut [f64]], columns: &[f64], shares: &[f64], lambda: &mut [f64]) -> f64 {
    let n = shares.len();
    for (column, share) in columns.chunks_exact(n).zip(shares) {
        column.iter().zip(&mut *lambda).for_each(|(cell, lambda)| *lambda += cell * share);
    }
    for p in 0..n {
        let pivot = (p..n).max_by(|&a, &b| rows[a][p].abs().total_cmp(&rows[b][p].abs())).unwrap_or(p);
        rows.swap(p, pivot);
        let value = rows[p][p];
        if value.is_nan() || value.abs() <= SINGULAR {
            return f64::INFINITY;
        }
        rows[p][p] = 1.0;
        rows[p].iter_mut().for_each(|cell| *cell /= value);
        let (before, rest) = rows.split_at_mut(p);
        let Some((scaled, after)) = rest.split_first_mut() else { return f64::INFINITY };
        for row in before.iter_mut().chain(after) {
            let factor = row[p];
            row[p] = 0.0;
            row.iter_mut().zip(scaled.iter()).for_each(|(cell, s)| *cell -= factor * s);
        }
    }
    rows.iter().zip(lambda).map(|(row, lambda)| *lambda * row.iter().map(|b| b * b).sum::<f64>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn warner(n: usize, p: f64) -> Vec<f64> {
        (0..n * n).map(|i| if i % (n + 1) == 0 { p } else { (1.0 - p) / (n - 1) as f64 }).collect()
    }

    #[test]
    fn golden_a() {
        let prior = Prior::new(&[0.5, 0.3, 0.2]).unwrap();
        let found = measure_square(&[0.7, 0.2, 0.1, 0.2, 0.6, 0.2, 0.1, 0.3, 0.6], &prior);
        assert!((found.privacy - 0.35).abs() < 1e-15);
        assert!((found.worst_posterior - 0.813_953_488_372_093).abs() < 1e-15);
        assert!((found.mse(1000.0, 3) - 1.252_096_029_547_553_5e-3).abs() < 1e-15);
        // Theorem 6 as printed, with its factor 2 over ordered pairs, gives a different number.
        assert!((found.mse(1000.0, 3) - 1.587_240_073_868_883_4e-3).abs() > 3e-4);
    }

    #[test]
    fn golden_b() {
        let prior = Prior::new(&[0.1, 0.2, 0.3, 0.4]).unwrap();
        let found = measure_square(&warner(4, 0.6), &prior);
        assert!((found.privacy - 0.4).abs() < 1e-15 && (found.worst_posterior - 0.75).abs() < 1e-15);
        assert!((found.mse(1000.0, 4) - 8.484_693_877_551_022e-4).abs() < 1e-15);
    }

    #[test]
    fn singular_matrices_estimate_nothing() {
        for n in [2, 3, 10, 17, 40] {
            let prior = Prior::uniform(n).unwrap();
            let found = measure_square(&vec![1.0 / n as f64; n * n], &prior);
            assert_eq!(found.variance, f64::INFINITY);
            assert!((found.privacy - (1.0 - 1.0 / n as f64)).abs() < 1e-12);
            let columns = vec![vec![1.0 / n as f64; n]; n];
            let channel = FrontChannel::from_columns(&prior, &columns).unwrap();
            assert_eq!(measure(&channel, &prior).variance, f64::INFINITY);
        }
    }

    /// The estimates of eq. 2, drawn many times: their variance follows this formula, not the printed one.
    #[test]
    fn simulation_agrees_with_the_formula() {
        use candor_base::randomness::Source;
        use rand_core::Rng;
        let prior = Prior::new(&[0.5, 0.3, 0.2]).unwrap();
        let columns = [0.7, 0.2, 0.1, 0.2, 0.6, 0.2, 0.1, 0.3, 0.6];
        let formula = measure_square(&columns, &prior).variance;
        let m = nalgebra::Matrix3::from_column_slice(&columns);
        let inverse = m.try_inverse().unwrap();
        let lambda = m * nalgebra::Vector3::from_column_slice(prior.shares());
        let mut rng = Source::from_seed(1).stream(0);
        let (runs, respondents) = (40_000, 200);
        let mut total = 0.0;
        for _ in 0..runs {
            let mut counts = nalgebra::Vector3::zeros();
            for _ in 0..respondents {
                let u = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                counts[if u < lambda[0] {
                    0
                } else if u < lambda[0] + lambda[1] {
                    1
                } else {
                    2
                }] += 1.0;
            }
            let estimate = inverse * counts / f64::from(respondents);
            total += (0..3).map(|k| (estimate[k] - prior.shares()[k]).powi(2)).sum::<f64>();
        }
        let simulated = total / f64::from(runs) * f64::from(respondents);
        // One run has a relative standard deviation of about 0.8; 40,000 runs 0.004; 2.5% is six of them.
        assert!((simulated / formula - 1.0).abs() < 0.025, "{simulated} {formula}");
        let printed = 1.587_240_073_868_883_4e-3 * 3000.0;
        assert!((simulated / printed - 1.0).abs() > 0.2, "{simulated} {printed}");
    }

    proptest! {
        /// Compares the fast algorithm with the general one, for every size.
        #[test]
        fn fast_and_general_agree(n in 2usize..20, seed in prop::collection::vec(0.0f64..1.0, 420)) {
            let shares: Vec<f64> = (0..n).map(|i| 0.05 + seed[i]).collect();
            let prior = Prior::from_counts(&shares).unwrap();
            let mut columns = Vec::new();
            for j in 0..n {
                let mut column: Vec<f64> = (0..n).map(|z| seed[20 + j * n + z] + if z == j { 1.5 } else { 0.0 })
                    .collect();
                let sum: f64 = column.iter().sum();
                column.iter_mut().for_each(|p| *p /= sum);
                columns.push(column);
            }
            let fast = measure_square(&columns.concat(), &prior);
            let general = measure(&FrontChannel::from_columns(&prior, &columns).unwrap(), &prior);
            prop_assert!((fast.privacy - general.privacy).abs() < 1e-12);
            prop_assert!((fast.worst_posterior - general.worst_posterior).abs() < 1e-12);
            if fast.variance < 1e6 {
                prop_assert!((fast.variance / general.variance - 1.0).abs() < 1e-6, "{} {}", fast.variance,
                    general.variance);
            }
        }
    }
}
