//! The posteriors that best channels are made of, for any accuracy function.
//!
//! Where a guess is best the accuracy is linear and `psi psi'` convex, so some best channel answers with vertices of
//! these regions: `T_g = {psi in simplex, psi <= delta, (G_g - G_h) psi >= 0 for all h}`. They are found by the double
//! description method: constraints are added one at a time, and each cuts the edges it crosses.

use microlp::{ComparisonOp, OptimizationDirection, Problem};

use super::dot;

/// Maximum number of categories, of vertices of one region and of all, and of steps.
const MAX_CATEGORIES: usize = 40;
const MAX_IN_REGION: usize = 4096;
const MAX_IN_ALL: usize = 20_000;
const MAX_STEPS: u64 = 2_000_000_000;

/// Tolerance within which a constraint is tight.
const TIGHT: f64 = 1e-10;

/// A posterior, and the constraints that it meets with equality, as bits.
#[derive(Clone)]
struct Vertex {
    psi: Vec<f64>,
    tight: u128,
}

/// Returns all vertices of all regions, without duplicates; `None` if there are too many.
pub(super) fn all(scores: &[Vec<f64>], n: usize, bound: f64) -> Option<Vec<Vec<f64>>> {
    if n > MAX_CATEGORIES {
        return None;
    }
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut steps = 0;
    for (guess, own) in scores.iter().enumerate() {
        let mut constraints: Vec<Vec<f64>> = Vec::new();
        if bound < 1.0 {
            constraints.extend((0..n).map(|j| (0..n).map(|i| bound - f64::from(u8::from(i == j))).collect()));
        }
        for (other, scores) in scores.iter().enumerate().filter(|(other, _)| *other != guess) {
            let ahead: Vec<f64> = own.iter().zip(scores).map(|(a, b)| a - b).collect();
            let size = ahead.iter().fold(0.0f64, |size, x| size.max(x.abs()));
            // Of guesses that are equally good everywhere the first one stands for all.
            if size > TIGHT {
                constraints.push(ahead.iter().map(|x| x / size).collect());
            } else if other < guess {
                constraints.clear();
                constraints.push(vec![-1.0; n]);
                break;
            }
        }
        found.extend(region(&constraints, n, &mut steps)?);
        if found.len() > 4 * MAX_IN_ALL {
            return None;
        }
    }
    let key = |psi: &Vec<f64>| psi.iter().map(|p| (p * 1e9).round() as i64).collect::<Vec<_>>();
    found.sort_by_cached_key(key);
    found.dedup_by_key(|psi| key(psi));
    (found.len() <= MAX_IN_ALL).then_some(found)
}

/// Returns the vertices of the simplex within half-spaces `a psi >= 0`.
fn region(constraints: &[Vec<f64>], n: usize, steps: &mut u64) -> Option<Vec<Vec<f64>>> {
    let corner = |j: usize| Vertex {
        psi: (0..n).map(|i| f64::from(u8::from(i == j))).collect(),
        tight: ((1u128 << n) - 1) & !(1 << j),
    };
    let mut vertices: Vec<Vertex> = (0..n).map(corner).collect();
    for (number, constraint) in constraints.iter().enumerate() {
        let bit = 1u128.checked_shl((n + number) as u32)?;
        vertices = cut(vertices, constraint, bit, steps)?;
        if vertices.len() > MAX_IN_REGION {
            return None;
        }
    }
    Some(vertices.into_iter().map(|vertex| vertex.psi).collect())
}

/// Returns the remaining vertices, and new ones on the edges that the constraint crosses.
fn cut(mut vertices: Vec<Vertex>, constraint: &[f64], bit: u128, steps: &mut u64) -> Option<Vec<Vertex>> {
    let value = |vertex: &Vertex| dot(constraint, &vertex.psi);
    let values: Vec<f64> = vertices.iter().map(value).map(|v| if v.abs() < TIGHT { 0.0 } else { v }).collect();
    for (vertex, _) in vertices.iter_mut().zip(&values).filter(|(_, value)| **value == 0.0) {
        vertex.tight |= bit;
    }
    let n = constraint.len();
    let mut fresh = Vec::new();
    for (inside, &ahead) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        for (outside, &behind) in values.iter().enumerate().filter(|(_, value)| **value < 0.0) {
            let common = vertices[inside].tight & vertices[outside].tight;
            if (common.count_ones() as usize) + 2 < n {
                continue;
            }
            *steps += vertices.len() as u64;
            if *steps > MAX_STEPS {
                return None;
            }
            let between =
                |(k, vertex): (usize, &Vertex)| k != inside && k != outside && vertex.tight & common == common;
            if vertices.iter().enumerate().any(between) {
                continue;
            }
            let part = ahead / (ahead - behind);
            let mix = |(a, b): (&f64, &f64)| (1.0 - part) * a + part * b;
            let psi = vertices[inside].psi.iter().zip(&vertices[outside].psi).map(mix).collect();
            fresh.push(Vertex { psi, tight: common | bit });
        }
    }
    let mut each = values.iter();
    vertices.retain(|_| each.next().is_some_and(|value| *value >= 0.0));
    vertices.append(&mut fresh);
    Some(vertices)
}

/// Returns the weights of the vertices in the mixture with mean `row` whose total score is largest, and that score.
///
/// `None` if no mixture has this mean.
pub(in crate::pareto) fn best_mixture(row: &[f64], vertices: &[&(Vec<f64>, f64)]) -> Option<(Vec<f64>, f64)> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let variables: Vec<_> = vertices.iter().map(|(_, score)| problem.add_var(*score, (0.0, f64::INFINITY))).collect();
    for (j, x) in row.iter().enumerate() {
        let terms: Vec<_> = vertices
            .iter()
            .zip(&variables)
            .filter(|((psi, _), _)| psi[j] > 0.0)
            .map(|((psi, _), &v)| (v, psi[j]))
            .collect();
        problem.add_constraint(&terms, ComparisonOp::Eq, *x);
    }
    let solution = problem.solve().ok()?;
    Some((variables.iter().map(|&v| solution.var_value(v)).collect(), solution.objective()))
}

/// Returns the largest accuracy of all channels with these posteriors.
pub(super) fn largest(shares: &[f64], vertices: &[(Vec<f64>, f64)]) -> Option<f64> {
    best_mixture(shares, &vertices.iter().collect::<Vec<_>>()).map(|(_, accuracy)| accuracy)
}
