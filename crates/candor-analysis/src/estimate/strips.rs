//! How far the answers of strips scatter.

use super::asked::Asked;
use super::components::{coefficients, pattern_function};
use super::law::GroupLaw;

/// The expectation of the square of a response's contribution to a cell, as coefficients of the true components (margin
/// sums): the contribution is the sum over components `V` of `contribution_V` times what is observed of it.
///
/// Cost: `4^axes` for each combination of labels of the strips.
pub(super) fn second_moment(law: &GroupLaw, contribution: &[f64]) -> Vec<f64> {
    let functions: Vec<Vec<Vec<f64>>> = law.strips.iter().map(Asked::component_functions).collect();
    let expectations: Vec<Vec<Vec<f64>>> =
        law.strips.iter().zip(&functions).map(|(strip, functions)| strip.expectations(functions)).collect();
    let patterns: Vec<usize> = law.patterns().collect();
    let shares: Vec<f64> = patterns.iter().map(|&axis| law.shares[axis]).collect();
    let mut moment = vec![0.0; contribution.len()];
    for_each_label(law, contribution, &functions, |labels, values| {
        let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
        let expected = products(law, &expectations, labels);
        for (local, coefficient) in coefficients(&squares, &shares).into_iter().enumerate() {
            let own = spread(local, &patterns);
            for (set, value) in &expected {
                moment[own | set] += coefficient * law.eigenvalues[own] * value;
            }
        }
    });
    moment
}

/// The least and the largest contribution of a response to a cell.
pub(super) fn extremes(law: &GroupLaw, contribution: &[f64]) -> (f64, f64) {
    let functions: Vec<Vec<Vec<f64>>> = law.strips.iter().map(Asked::component_functions).collect();
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for_each_label(law, contribution, &functions, |_, values| {
        for value in values {
            (least, most) = (least.min(*value), most.max(*value));
        }
    });
    (least, most)
}

/// Tells, for each combination of labels of the strips, the contributions by the pattern of the other attributes.
fn for_each_label(
    law: &GroupLaw,
    contribution: &[f64],
    functions: &[Vec<Vec<f64>>],
    mut tell: impl FnMut(&[usize], &[f64]),
) {
    let patterns: Vec<usize> = law.patterns().collect();
    let shares: Vec<f64> = patterns.iter().map(|&axis| law.shares[axis]).collect();
    let mut labels = vec![0usize; law.strips.len()];
    loop {
        let observed = products(law, functions, &labels);
        let along = |local: usize| -> f64 {
            let own = spread(local, &patterns);
            observed.iter().map(|(set, value)| contribution[own | set] * value).sum()
        };
        tell(&labels, &pattern_function(&(0..1 << patterns.len()).map(along).collect::<Vec<f64>>(), &shares));
        if !next(&mut labels, &law.strips) {
            return;
        }
    }
}

/// The products over strips of one function each, by the component that they make up together.
fn products(law: &GroupLaw, of: &[Vec<Vec<f64>>], labels: &[usize]) -> Vec<(usize, f64)> {
    law.strips.iter().zip(of).zip(labels).fold(vec![(0usize, 1.0)], |products, ((strip, of), &label)| {
        let one = |(set, values): (usize, &Vec<f64>)| (spread(set, &strip.axes), values[label]);
        let all: Vec<(usize, f64)> = of.iter().enumerate().map(one).collect();
        products.iter().flat_map(|(mask, x)| all.iter().map(move |(set, y)| (mask | set, x * y))).collect()
    })
}

/// A set of places among these axes, as bits of the table's axes.
fn spread(local: usize, axes: &[usize]) -> usize {
    axes.iter().enumerate().map(|(bit, &axis)| (local >> bit & 1) << axis).sum()
}

/// The next combination of labels of all strips; whether there is one.
fn next(labels: &mut [usize], strips: &[Asked]) -> bool {
    for (label, strip) in labels.iter_mut().zip(strips) {
        *label += 1;
        if *label < strip.means.len() {
            return true;
        }
        *label = 0;
    }
    false
}
