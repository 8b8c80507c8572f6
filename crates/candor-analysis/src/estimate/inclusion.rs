//! Joint counts of two cells for any channels: the full covariance matrix of an estimate.
//!
//! Whether an answer contains two cells depends on the true cell only through which of the three categories agree:
//! one of five *kinds* per attribute. So one number for each combination of kinds suffices, and the sum over all
//! true cells needs only margins of the table.

use candor_base::shape::Shape;
use nalgebra::DMatrix;

use super::asked::Asked;
use super::components::{join, scale, split};
use super::law::GroupLaw;

/// Maximum number of cells of a table whose covariance matrix is computed.
pub(crate) const MAX_DENSE: usize = 4096;

/// Which of the categories of two cells and of the true cell agree: all; the two cells; the first and the true one;
/// the second and the true one; none.
const KINDS: usize = 5;
const ALL: usize = 0;
const TWO: usize = 1;
const FIRST: usize = 2;
const SECOND: usize = 3;
const NONE: usize = 4;

/// Returns the covariance of one response's observations in all pairs of cells, given a table of true shares.
///
/// The cost is the square of the number of cells, times `3^attributes`.
pub(super) fn covariance(law: &GroupLaw, sizes: &[usize], shares: &[f64]) -> DMatrix<f64> {
    let shape = Shape::new(sizes.to_vec());
    let pairs = by_margins(&together(law, sizes), sizes.len());
    let margins = with_sums(shares, sizes);
    let wide = Shape::new(sizes.iter().map(|size| size + 1).collect());
    let codes: Vec<Vec<usize>> = (0..shape.cells()).map(|cell| shape.codes(cell)).collect();
    let mean = expected(law, sizes, shares);
    DMatrix::from_fn(codes.len(), codes.len(), |y, z| {
        both(&pairs, &margins, &wide, sizes, &codes[y], &codes[z]) - mean[y] * mean[z]
    })
}

/// Returns whether the covariance of all pairs of cells is computed for attributes with these sizes.
pub(super) fn is_small(sizes: &[usize]) -> bool {
    sizes.len() <= 6 && sizes.iter().fold(1, |cells: usize, &size| cells.saturating_mul(size)) <= MAX_DENSE
}

/// Returns the expected observation of a response in each cell.
fn expected(law: &GroupLaw, sizes: &[usize], shares: &[f64]) -> Vec<f64> {
    let mut table = shares.to_vec();
    let factor = |component: usize| {
        let outside = sizes.iter().enumerate().filter(|(axis, _)| component >> axis & 1 == 0);
        law.eigenvalues[component] * law.observed[component] * outside.map(|(_, &a)| a as f64).product::<f64>()
    };
    split(&mut table, sizes, sizes.len());
    let factors: Vec<f64> = (0..law.observed.len()).map(factor).collect();
    scale(&mut table, sizes, sizes.len(), &factors);
    join(&mut table, sizes, sizes.len());
    table
}

/// Adds a category to every attribute: the sum of all others.
fn with_sums(shares: &[f64], sizes: &[usize]) -> Vec<f64> {
    let mut table = shares.to_vec();
    for axis in 0..sizes.len() {
        let inner: usize = sizes[axis + 1..].iter().product();
        let lines = table.chunks(sizes[axis] * inner);
        table = lines
            .flat_map(|line| {
                let sums = (0..inner).map(|at| line.iter().skip(at).step_by(inner).sum());
                line.iter().copied().chain(sums.collect::<Vec<f64>>()).collect::<Vec<f64>>()
            })
            .collect();
    }
    table
}

/// Returns the expectation of the product of the observations in cells `y` and `z`.
fn both(pairs: &[f64], margins: &[f64], wide: &Shape, sizes: &[usize], y: &[usize], z: &[usize]) -> f64 {
    let mut terms = vec![(0usize, 0usize)];
    for (axis, &size) in sizes.iter().enumerate() {
        let stride = wide.stride(axis);
        let ways: &[(usize, usize)] = match y[axis] == z[axis] {
            true => &[(ALL, y[axis]), (TWO, size)],
            false => &[(FIRST, y[axis]), (SECOND, z[axis]), (NONE, size)],
        };
        terms = terms
            .iter()
            .flat_map(|(kinds, at)| ways.iter().map(move |(kind, code)| (kinds * KINDS + kind, at + code * stride)))
            .collect();
    }
    terms.into_iter().map(|(kinds, at)| pairs[kinds] * margins[at]).sum()
}

/// Converts values by kinds to coefficients of the margins.
///
/// For equal categories, `f(ALL) t(y) + f(TWO) (sum - t(y))`, and similarly for different ones.
fn by_margins(values: &[f64], axes: usize) -> Vec<f64> {
    along_kinds(values, axes, |[all, two, first, second, none]| [all - two, two, first - none, second - none, none])
}

/// Applies a map of the five kinds along every axis.
fn along_kinds(values: &[f64], axes: usize, map: impl Fn([f64; KINDS]) -> [f64; KINDS]) -> Vec<f64> {
    let mut values = values.to_vec();
    for axis in 0..axes {
        let stride = KINDS.pow(axis as u32);
        for start in (0..values.len()).filter(|at| (at / stride).is_multiple_of(KINDS)) {
            let at = |kind: usize| start + kind * stride;
            let mapped = map(std::array::from_fn(|kind| values[at(kind)]));
            mapped.into_iter().enumerate().for_each(|(kind, value)| values[at(kind)] = value);
        }
    }
    values
}

/// Returns the expected product of an answer's observations in two cells, for each combination of kinds.
fn together(law: &GroupLaw, sizes: &[usize]) -> Vec<f64> {
    let patterns: Vec<usize> = law.patterns().collect();
    let mut parts = vec![(patterns.clone(), of_patterns(law, &patterns, sizes))];
    parts.extend(law.strips.iter().map(|strip| (strip.axes.clone(), of_strip(strip))));
    let kind = |kinds: usize, axis: usize| kinds / KINDS.pow((sizes.len() - 1 - axis) as u32) % KINDS;
    let value = |kinds: usize| {
        let of = |(axes, values): &(Vec<usize>, Vec<f64>)| {
            values[axes.iter().fold(0, |local, &axis| local * KINDS + kind(kinds, axis))]
        };
        parts.iter().map(of).product()
    };
    (0..KINDS.pow(sizes.len() as u32)).map(value).collect()
}

/// Returns these expectations for a pattern: a set of `q` of `a` categories that contains the true one or not.
fn of_patterns(law: &GroupLaw, axes: &[usize], sizes: &[usize]) -> Vec<f64> {
    let spread = |local: usize| axes.iter().enumerate().map(|(bit, &axis)| (local >> bit & 1) << axis).sum::<usize>();
    // From eigenvalues to moments of `hit - q/a`, and then to probabilities of patterns (a set bit is a miss).
    let moment = |local: usize| {
        let inside = axes.iter().enumerate().filter(|(bit, _)| local >> bit & 1 == 1);
        inside.fold(law.eigenvalues[spread(local)], |m, (_, &axis)| m * (1.0 - 1.0 / sizes[axis] as f64))
    };
    let mut patterns: Vec<f64> = (0..1 << axes.len()).map(moment).collect();
    for (bit, &axis) in axes.iter().enumerate() {
        let p = law.shares[axis];
        for without in (0..patterns.len()).filter(|set| set >> bit & 1 == 0) {
            let (constant, deviation) = (patterns[without], patterns[without | 1 << bit]);
            patterns[without] = p * constant + deviation;
            patterns[without | 1 << bit] = (1.0 - p) * constant - deviation;
        }
    }
    let by_kind = |axis: usize| -> [[f64; KINDS]; 2] {
        let a = sizes[axis] as f64;
        let q = (law.shares[axis] * a).round();
        let others = if a > 2.0 { (a - 1.0) * (a - 2.0) } else { 1.0 };
        let beside = (q - 1.0) / (a - 1.0);
        [
            [1.0, beside, beside, beside, (q - 1.0) * (q - 2.0).max(0.0) / others],
            [0.0, q / (a - 1.0), 0.0, 0.0, q * (q - 1.0) / others],
        ]
    };
    let kinds: Vec<[[f64; KINDS]; 2]> = axes.iter().map(|&axis| by_kind(axis)).collect();
    let value = |combination: usize| -> f64 {
        let kind = |place: usize| combination / KINDS.pow((axes.len() - 1 - place) as u32) % KINDS;
        let given =
            |set: usize| (0..axes.len()).map(|place| kinds[place][set >> place & 1][kind(place)]).product::<f64>();
        patterns.iter().enumerate().map(|(set, p)| p * given(set)).sum()
    };
    (0..KINDS.pow(axes.len() as u32)).map(value).collect()
}

/// Returns these expectations for a subset channel with a uniformly random relabeling, and given the true cell.
fn of_strip(strip: &Asked) -> Vec<f64> {
    let axes = strip.dims.len();
    // Sums over triples of label cells that agree at least this far, then exactly this far, then their means.
    let agreeing = |squared: bool| -> Vec<f64> {
        let ones = vec![1.0; strip.means.len()];
        let third = if squared { &ones } else { &strip.means };
        let margins = [&strip.means, &strip.means, third].map(|table| with_sums(table, &strip.dims));
        (0..KINDS.pow(axes as u32)).map(|kinds| contraction(&margins, &strip.dims, kinds)).collect()
    };
    let numbers = (0..KINDS.pow(axes as u32)).map(|kinds| {
        let of = |axis: usize| {
            let (a, kind) = (strip.dims[axis] as f64, kinds / KINDS.pow((axes - 1 - axis) as u32) % KINDS);
            [a, a * (a - 1.0), a * (a - 1.0), a * (a - 1.0), a * (a - 1.0) * (a - 2.0)][kind]
        };
        (0..axes).map(of).product::<f64>()
    });
    let exact = |sums: Vec<f64>| {
        along_kinds(&sums, axes, |[all, two, first, second, none]| {
            [all, two - all, first - all, second - all, none - two - first - second + 2.0 * all]
        })
    };
    let (any, held) = (exact(agreeing(true)), exact(agreeing(false)));
    let whole = 1.0 + strip.excess * strip.density;
    let mean = |((any, held), number): ((f64, f64), f64)| match number > 0.0 {
        true => (any + strip.excess * held) / (number * whole),
        false => 0.0,
    };
    any.into_iter().zip(held).zip(numbers).map(mean).collect()
}

/// Returns the sum of the product of three functions over all triples of cells that agree at least where `kinds`
/// requires it.
///
/// The functions are given with their margins.
fn contraction(margins: &[Vec<f64>; 3], dims: &[usize], kinds: usize) -> f64 {
    let axes = dims.len();
    let wide = Shape::new(dims.iter().map(|size| size + 1).collect());
    let kind = |axis: usize| kinds / KINDS.pow((axes - 1 - axis) as u32) % KINDS;
    // Which of the three share the category; the others are summed over.
    let linked = |axis: usize| match kind(axis) {
        ALL => [true; 3],
        TWO => [true, true, false],
        FIRST => [true, false, true],
        SECOND => [false, true, true],
        _ => [false; 3],
    };
    let mut terms = vec![[0usize; 3]];
    for (axis, &size) in dims.iter().enumerate() {
        let (stride, linked) = (wide.stride(axis), linked(axis));
        let codes = if kind(axis) == NONE { 1 } else { size };
        let step = |code: usize| linked.map(|shared| stride * if shared { code } else { size });
        let mut longer = Vec::with_capacity(terms.len() * codes);
        for term in &terms {
            longer.extend((0..codes).map(|code| {
                let step = step(code);
                std::array::from_fn(|which| term[which] + step[which])
            }));
        }
        terms = longer;
    }
    terms.iter().map(|at| (0..3).map(|which| margins[which][at[which]]).product::<f64>()).sum()
}
