//! Fieller's set: the values of a linear model's coefficient that its corrected score does not reject.
//!
//! The projected score of "the coefficient is B" is `u - B v`, so the set is where `(u - B v)^2 <= z^2 (c_uu - 2 B
//! c_uv + B^2 c_vv)`.

use nalgebra::{DMatrix, DVector};

use super::RegressError;
use super::corrected_profile::spread;
use super::cr2::{normal_of_student, student_of_normal};
use super::likelihood_profile::{Drawn, design_df};
use super::problem::Problem;
use super::walk::Found;

/// Returns the results for a coefficient, and whether the set is the complement of an interval.
pub(super) fn fieller(
    problem: &Problem<'_>,
    tables: &[f64],
    tested: usize,
    critical: f64,
    drawn: Drawn,
) -> Result<Option<(Found, bool)>, RegressError> {
    let n = problem.parameters;
    let df = design_df(problem);
    let critical = df.map_or(critical, |df| student_of_normal(critical.sqrt(), df).powi(2));
    let sums = problem.corrected(&vec![0.0; n], tables);
    let matrix = DMatrix::from_column_slice(n, n, &sums.complete);
    let free: Vec<usize> = (0..n).filter(|&at| at != tested).collect();
    // The other parameters at B = 0, and their slopes in B.
    let part = |i: usize, j: usize| matrix[(free[i], free[j])];
    let inside = DMatrix::from_fn(free.len(), free.len(), part).lu();
    let right = DVector::from_iterator(free.len(), free.iter().map(|&i| sums.gradient[i]));
    let column = DVector::from_iterator(free.len(), free.iter().map(|&i| matrix[(i, tested)]));
    // With an intercept only, there are no other parameters.
    let solve = |right: &DVector<f64>| if free.is_empty() { Some(right.clone()) } else { inside.solve(right) };
    let (Some(constant), Some(slope)) = (solve(&right), solve(&column)) else { return Ok(None) };
    let at = |value: f64| {
        let mut theta = vec![0.0; n];
        theta[tested] = value;
        free.iter().enumerate().for_each(|(i, &parameter)| theta[parameter] = constant[i] - value * slope[i]);
        theta
    };
    let mut weights = DVector::zeros(n);
    weights[tested] = 1.0;
    free.iter().enumerate().for_each(|(i, &parameter)| weights[parameter] = -slope[i]);
    let variance = |value: f64| spread(problem, &at(value), &weights, drawn);
    let (zero, up, down) = (variance(0.0)?, variance(1.0)?, variance(-1.0)?);
    let u = weights.dot(&DVector::from_column_slice(&problem.corrected(&at(0.0), tables).gradient));
    let v = u - weights.dot(&DVector::from_column_slice(&problem.corrected(&at(1.0), tables).gradient));
    let (c_vv, c_uv) = (0.5 * (up + down) - zero, 0.25 * (down - up));
    if v == 0.0 || zero <= 0.0 {
        return Ok(None);
    }
    let best = u / v;
    let (a, b, c) = (v * v - critical * c_vv, u * v - critical * c_uv, u * u - critical * zero);
    let discriminant = b * b - a * c;
    let error = (zero - 2.0 * best * c_uv + best * best * c_vv).max(0.0).sqrt() / v.abs();
    let root = u / zero.sqrt();
    let statistic = df.map_or(root, |df| normal_of_student(root, df)).powi(2);
    let mut found = Found { best, error, low: None, high: None, statistic, df, one_step: false };
    if a > 0.0 {
        let root = discriminant.max(0.0).sqrt();
        (found.low, found.high) = (Some((b - root) / a), Some((b + root) / a));
    }
    Ok(Some((found, a <= 0.0 && discriminant > 0.0)))
}
