//! Few primary sampling units: a one-step score test with the bias-reduced variance CR2.
//!
//! The degrees of freedom are those of Bell and McCaffrey (2002). Let `u_g` and `I_g` be the score and the
//! information of a cluster, `I` the sum of the latter, `delta = I^-1 u`, `A_g = I^-1/2 I_g I^-1/2` and `k = I^-1/2
//! c`. The statistic is `c'delta / sqrt(V)` with `V = sum_g (k' (1 - A_g)^-1/2 I^-1/2 (u_g - I_g delta))^2`. Its
//! degrees of freedom are `(tr WB)^2 / tr WBWB` with `B = diag(a) - b'b`, `a_g = k' A_g (1 - A_g)^-1 k` and `b_g =
//! A_g (1 - A_g)^-1/2 k`, which assume independent residuals. `W` centers the residual sums of a stratum with `m`
//! clusters about their mean, times `m / (m - 1)`; without strata, it is the identity. All matrices have the size of
//! the model.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::tally::LonelyPsu;

/// Eigenvalue of the scaled information below which it is singular.
const SINGULAR: f64 = 1e-11;

/// Largest part of the information about a direction that one cluster may have.
const ALONE: f64 = 1.0 - 1e-9;

/// Smallest degrees of freedom that are used.
const MIN_DF: f64 = 0.5;

/// Sums of one primary sampling unit.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) score: DVector<f64>,
    pub(super) information: DMatrix<f64>,
}

impl Cluster {
    /// Creates an empty unit.
    pub(super) fn new(n: usize) -> Cluster {
        Cluster { score: DVector::zeros(n), information: DMatrix::zeros(n, n) }
    }
}

/// Primary sampling units, by stratum and number.
pub(super) type Clusters = BTreeMap<(u32, u32), Cluster>;

/// A step, with its standard error and degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OneStep {
    pub(super) step: f64,
    pub(super) error: f64,
    pub(super) df: f64,
}

/// Takes a step of one parameter from the point of the sums; `None` if the information or the error is not
/// identified.
///
/// `strata` is the treatment of strata with one cluster; `None` if there is a single stratum.
pub(super) fn one_step(clusters: &Clusters, n: usize, tested: usize, strata: Option<LonelyPsu>) -> Option<OneStep> {
    let mut total = Cluster::new(n);
    for cluster in clusters.values() {
        total.score += &cluster.score;
        total.information += &cluster.information;
    }
    let root = inverse_root(&total.information)?;
    let step = &root * (&root * &total.score);
    let direction = root.column(tested).into_owned();
    let mut residuals: BTreeMap<u32, Vec<Residual>> = BTreeMap::new();
    for ((stratum, _), cluster) in clusters {
        let left = &root * (&cluster.score - &cluster.information * &step);
        let eigen = (&root * &cluster.information * &root).symmetric_eigen();
        let (mut residual, mut alpha, mut beta) = (0.0, 0.0, DVector::zeros(n));
        for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
            if *value > ALONE {
                continue;
            }
            let (along, scale) = (vector.dot(&direction), (1.0 - value).sqrt().recip());
            residual += along * scale * vector.dot(&left);
            alpha += along * along * value * scale * scale;
            beta.axpy(along * value * scale, &vector, 1.0);
        }
        residuals.entry(*stratum).or_default().push(Residual { value: residual, alpha, beta });
    }
    let variance: f64 = residuals.values().map(|own| squares(own, strata)).sum();
    let lonely = residuals.values().filter(|own| strata == Some(LonelyPsu::Average) && own.len() == 1).count();
    let variance = variance * residuals.len() as f64 / (residuals.len() - lonely) as f64;
    let df = degrees(&residuals, n, strata).max(MIN_DF);
    let found = OneStep { step: step[tested], error: variance.sqrt(), df };
    (variance > 0.0 && df.is_finite() && found.step.is_finite()).then_some(found)
}

/// Residual of a cluster in the tested direction, with the components of its variance.
struct Residual {
    value: f64,
    alpha: f64,
    beta: DVector<f64>,
}

/// How the residuals of a stratum count: not at all, as they are, or about their mean.
#[derive(Clone, Copy, PartialEq)]
enum Centering {
    Nothing,
    Plain,
    Centered,
}

fn centering(own: &[Residual], strata: Option<LonelyPsu>) -> Centering {
    match strata {
        Some(LonelyPsu::Certainty | LonelyPsu::Average) if own.len() == 1 => Centering::Nothing,
        Some(_) if own.len() > 1 => Centering::Centered,
        _ => Centering::Plain,
    }
}

/// Returns the sum of squares of a stratum's residuals, about their mean if there are several strata.
fn squares(own: &[Residual], strata: Option<LonelyPsu>) -> f64 {
    let count = own.len() as f64;
    match centering(own, strata) {
        Centering::Nothing => 0.0,
        Centering::Plain => own.iter().map(|one| one.value * one.value).sum(),
        Centering::Centered => {
            let mean = own.iter().map(|one| one.value).sum::<f64>() / count;
            own.iter().map(|one| (one.value - mean).powi(2)).sum::<f64>() * count / (count - 1.0)
        }
    }
}

/// Returns `(tr WB)^2 / tr WBWB`, summed by stratum. `B` is a diagonal matrix less an inner product of one row
/// per cluster.
fn degrees(residuals: &BTreeMap<u32, Vec<Residual>>, n: usize, strata: Option<LonelyPsu>) -> f64 {
    let (mut trace, mut fourth, mut products) = (0.0, 0.0, DMatrix::zeros(n, n));
    for own in residuals.values() {
        let count = own.len() as f64;
        let (mean, scale) = match centering(own, strata) {
            Centering::Nothing => continue,
            Centering::Plain => (0.0, 1.0),
            Centering::Centered => (1.0 / count, count / (count - 1.0)),
        };
        let alphas: f64 = own.iter().map(|one| one.alpha).sum();
        let square: f64 = own.iter().map(|one| one.alpha * one.alpha).sum();
        let middle = own.iter().fold(DVector::zeros(n), |sum, one| sum + &one.beta) * mean;
        trace += scale * (1.0 - mean) * alphas;
        fourth += scale * scale * ((1.0 - 2.0 * mean) * square + mean * mean * alphas * alphas);
        for one in own {
            let off = &one.beta - &middle;
            fourth -= 2.0 * scale * scale * one.alpha * off.norm_squared();
            products.ger(scale, &off, &off, 1.0);
        }
    }
    fourth += products.norm_squared();
    (trace - products.trace()).powi(2) / fourth
}

/// Returns the symmetric root of the inverse; `None` if the matrix, scaled to a unit diagonal, is singular.
fn inverse_root(matrix: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let scale: Vec<f64> = matrix.diagonal().iter().map(|d| d.sqrt().recip()).collect();
    if !scale.iter().all(|s| s.is_finite()) {
        return None;
    }
    let scaled = DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)] * scale[i] * scale[j]);
    if scaled.symmetric_eigenvalues().min() < SINGULAR {
        return None;
    }
    let eigen = matrix.clone().symmetric_eigen();
    let roots = eigen.eigenvalues.map(|value| value.max(0.0).sqrt().recip());
    roots
        .iter()
        .all(|root| root.is_finite())
        .then(|| &eigen.eigenvectors * DMatrix::from_diagonal(&roots) * eigen.eigenvectors.transpose())
}

/// Converts a quantile of Student's t to the standard normal quantile with the same probability.
pub(super) fn normal_of_student(t: f64, df: f64) -> f64 {
    let Ok(law) = StudentsT::new(0.0, 1.0, df) else { return t };
    let tail = law.sf(t.abs());
    let quantile = if tail > 1e-300 { -Normal::standard().inverse_cdf(tail) } else { 37.0 };
    quantile.copysign(t)
}

/// Converts a standard normal quantile to that of Student's t.
pub(super) fn student_of_normal(z: f64, df: f64) -> f64 {
    let law = StudentsT::new(0.0, 1.0, df).ok();
    law.map_or(z, |law| law.inverse_cdf(Normal::standard().cdf(z)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear model with one column and clusters of one person each: HC2 with its known degrees of freedom.
    #[test]
    fn single_people_are_hc2() {
        let x: [f64; 5] = [1.0, 2.0, 0.5, 1.5, 3.0];
        let e: [f64; 5] = [0.3, -0.2, 0.5, 0.1, -0.4];
        let mut clusters = Clusters::new();
        for (number, (x, e)) in x.iter().zip(e).enumerate() {
            let mut own = Cluster::new(1);
            (own.score[0], own.information[(0, 0)]) = (x * e, x * x);
            clusters.insert((0, number as u32), own);
        }
        let total: f64 = x.iter().map(|x| x * x).sum();
        let step: f64 = x.iter().zip(e).map(|(x, e)| x * e).sum::<f64>() / total;
        let hc2: f64 = x.iter().zip(e).map(|(x, e)| (x * (e - x * step)).powi(2) / (1.0 - x * x / total)).sum::<f64>()
            / total.powi(2);
        let found = one_step(&clusters, 1, 0, None).unwrap();
        assert!((found.step - step).abs() < 1e-12 && (found.error - hc2.sqrt()).abs() < 1e-12, "{found:?}");
        // By definition: B = G'(1 - H)G with G the columns x_g/sqrt(1 - h_g).
        let h: Vec<f64> = x.iter().map(|x| x * x / total).collect();
        let b = |i: usize, j: usize| {
            let own = x[i] * x[j] / ((1.0 - h[i]) * (1.0 - h[j])).sqrt();
            own * (f64::from(u8::from(i == j)) - x[i] * x[j] / total)
        };
        let trace: f64 = (0..5).map(|i| b(i, i)).sum();
        let norm: f64 = (0..25).map(|at| b(at / 5, at % 5).powi(2)).sum();
        assert!((found.df - trace * trace / norm).abs() < 1e-10, "{found:?} {}", trace * trace / norm);
    }

    /// By definition: `B` and `W` as explicit matrices, for clusters in strata.
    #[test]
    fn degrees_of_freedom_in_strata_are_those_of_the_quadratic_form() {
        let numbers = |seed: usize| ((seed * 37 % 23) as f64 - 11.0) / 10.0;
        let mut residuals: BTreeMap<u32, Vec<Residual>> = BTreeMap::new();
        for (at, stratum) in [0, 0, 0, 1, 1, 2, 2, 3].into_iter().enumerate() {
            let beta = DVector::from_vec(vec![0.1 * numbers(at + 3), 0.1 * numbers(2 * at + 5)]);
            let own = Residual { value: 0.0, alpha: 0.2 + 0.01 * at as f64, beta };
            residuals.entry(stratum).or_default().push(own);
        }
        let all: Vec<(u32, &Residual)> =
            residuals.iter().flat_map(|(stratum, own)| own.iter().map(|one| (*stratum, one))).collect();
        for strata in [None, Some(LonelyPsu::Adjust), Some(LonelyPsu::Certainty)] {
            let b = DMatrix::from_fn(8, 8, |i, j| {
                let own = if i == j { all[i].1.alpha } else { 0.0 };
                own - all[i].1.beta.dot(&all[j].1.beta)
            });
            let w = DMatrix::from_fn(8, 8, |i, j| {
                let (same, count) = (all[i].0 == all[j].0, residuals[&all[i].0].len() as f64);
                let one = f64::from(u8::from(i == j));
                match (strata, count) {
                    (None, _) => one,
                    (Some(LonelyPsu::Certainty), 1.0) => 0.0,
                    (_, 1.0) => one,
                    _ if same => (one - 1.0 / count) * count / (count - 1.0),
                    _ => 0.0,
                }
            });
            let product = &w * &b;
            let expected = product.trace().powi(2) / (&product * &product).trace();
            let found = degrees(&residuals, 2, strata);
            assert!((found - expected).abs() < 1e-10, "{strata:?}: {found} {expected}");
        }
    }

    #[test]
    fn student_and_normal_agree_with_many_degrees_of_freedom() {
        assert!((normal_of_student(1.7, 1e7) - 1.7).abs() < 1e-5);
        assert!((normal_of_student(-2.2621571, 9.0) + 1.959964).abs() < 1e-5);
        assert!(normal_of_student(1e9, 30.0).is_finite());
        assert!((student_of_normal(1.959964, 9.0) - 2.2621571).abs() < 1e-5);
    }
}
