//! Variances of the answers of subset channels.

use super::asked::Asked;
use super::components::{coefficients, pattern_function};
use super::law::GroupLaw;

/// Returns the expected square of a response's contribution to a cell, as coefficients of the true components.
///
/// Components are margin sums. The contribution is the sum over components `V` of `contribution_V` times the
/// observed component. The cost is `4^axes` for each combination of labels of the subset channels.
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

/// Returns the smallest and the largest contribution of a response to a cell.
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

/// Calls `tell` with the contributions by pattern, for each combination of labels of the subset channels.
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

/// Returns the products of one function per subset channel, by their joint component.
fn products(law: &GroupLaw, of: &[Vec<Vec<f64>>], labels: &[usize]) -> Vec<(usize, f64)> {
    law.strips.iter().zip(of).zip(labels).fold(vec![(0usize, 1.0)], |products, ((strip, of), &label)| {
        let one = |(set, values): (usize, &Vec<f64>)| (spread(set, &strip.axes), values[label]);
        let all: Vec<(usize, f64)> = of.iter().enumerate().map(one).collect();
        products.iter().flat_map(|(mask, x)| all.iter().map(move |(set, y)| (mask | set, x * y))).collect()
    })
}

/// Converts a set of axes of a subset channel to bits of the table's axes.
fn spread(local: usize, axes: &[usize]) -> usize {
    axes.iter().enumerate().map(|(bit, &axis)| (local >> bit & 1) << axis).sum()
}

/// Advances to the next combination of labels of all subset channels; returns whether there is one.
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
