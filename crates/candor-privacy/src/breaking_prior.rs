//! The closest prior that violates a bound on posteriors, which measures how wrong the assumed prior may be.

use crate::variables::Variable;
use crate::view::{Favoured, LeastOthers, View};

/// A prior for which the posterior of some category given some answer reaches the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakingPrior {
    /// The attribute.
    pub attribute: String,
    /// Total variation distance to the assumed prior; 0 if that already violates the bound.
    pub distance: f64,
    /// Probability of each category.
    pub prior: Vec<f64>,
}

/// Returns the prior closest to the assumed one for which some posterior reaches the bound.
///
/// Closeness is total variation; posteriors are of any category given any answer. For one answer and one category `j`
/// the condition is linear in the prior: `L_j p_j >= bound * sum L_l p_l`. The shortest way to satisfy it moves
/// probability to `j` from the categories that the answer makes most likely. For sets, the best answer contains `j` and
/// the least probable others.
///
/// Cost: `a log a` for sets, and at most outputs times inputs squared for a matrix.
pub(crate) fn closest(variable: &Variable, bound: f64) -> Option<BreakingPrior> {
    let prior = &variable.prior;
    let of_view = |view: &View| match view {
        View::Set { categories, size, hit } => of_sets(&View::favoured(*categories, *size, *hit), prior, bound),
        View::Table(columns) => of_table(columns, prior, bound),
        View::Bounded { epsilon, .. } => Some(of_bound(*epsilon, prior, bound)),
    };
    let found = variable.views.iter().filter_map(|(_, view)| of_view(view)).min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(BreakingPrior { attribute: variable.name.clone(), distance: found.0, prior: found.1 })
}

/// Returns the smallest move if likelihoods are known only to be bounded: all other categories have the least.
fn of_bound(epsilon: f64, prior: &[f64], bound: f64) -> (f64, Vec<f64>) {
    let needed = bound / (bound + (1.0 - bound) * epsilon.exp());
    let most = (0..prior.len()).max_by(|&a, &b| prior[a].total_cmp(&prior[b])).unwrap_or(0);
    let distance = (needed - prior[most]).max(0.0);
    (distance, moved(prior, most, distance, (0..prior.len()).filter(|&other| other != most)))
}

fn of_sets(favoured: &Favoured, prior: &[f64], bound: f64) -> Option<(f64, Vec<f64>)> {
    let least = LeastOthers::new(prior, favoured.count);
    let needed = |j: usize| {
        let (p, beside) = (prior[j], least.beside(j, prior[j]));
        let rest = (1.0 - p - beside).max(0.0);
        let missing = bound * (p + beside + favoured.others * rest) - p;
        match missing <= beside {
            true => missing.max(0.0),
            false => beside + (missing - beside) / (1.0 - bound + bound * favoured.others),
        }
    };
    let distances = (0..prior.len()).map(|j| (needed(j), j));
    let (distance, j) = distances.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let members = least.members(j);
    let others = (0..prior.len()).filter(|i| *i != j && !members.contains(i)).collect::<Vec<_>>();
    Some((distance, moved(prior, j, distance, members.into_iter().chain(others))))
}

fn of_table(columns: &[Vec<f64>], prior: &[f64], bound: f64) -> Option<(f64, Vec<f64>)> {
    let mut best: Option<(f64, usize, Vec<usize>)> = None;
    for z in 0..columns.first().map_or(0, Vec::len) {
        let row: Vec<f64> = columns.iter().map(|column| column[z]).collect();
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
        let sum: f64 = row.iter().zip(prior).map(|(l, p)| l * p).sum();
        for j in (0..row.len()).filter(|&j| row[j] > 0.0) {
            let mut missing = bound * sum - row[j] * prior[j];
            let gain = |l: usize| (1.0 - bound) * row[j] + bound * row[l];
            // A lower bound on the move: all of the category that the answer favors most, then the rest at the next
            // one's rate.
            let mut others = order.iter().copied().filter(|&l| l != j);
            let (first, next) = (others.next().unwrap_or(j), others.next().unwrap_or(j));
            let all = gain(first) * prior[first];
            let least =
                if missing <= all { missing / gain(first) } else { prior[first] + (missing - all) / gain(next) };
            if best.as_ref().is_some_and(|(distance, ..)| *distance <= least.max(0.0)) {
                continue;
            }
            let mut distance = 0.0;
            for &l in order.iter().filter(|&&l| l != j) {
                if missing <= 0.0 {
                    break;
                }
                let taken = (missing / gain(l)).min(prior[l]);
                distance += taken;
                missing -= taken * gain(l);
            }
            if best.as_ref().is_none_or(|(held, ..)| distance < *held) {
                best = Some((distance, j, order.clone()));
            }
        }
    }
    let (distance, j, order) = best?;
    Some((distance, moved(prior, j, distance, order.into_iter().filter(|&l| l != j))))
}

/// Returns the prior with this much probability moved to `j`, taken from the others in this order.
fn moved(prior: &[f64], j: usize, distance: f64, order: impl Iterator<Item = usize>) -> Vec<f64> {
    let mut prior = prior.to_vec();
    let mut open = distance;
    for l in order {
        let taken = open.min(prior[l]);
        prior[l] -= taken;
        prior[j] += taken;
        open -= taken;
    }
    prior
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(view: View, prior: &[f64]) -> Variable {
        Variable {
            name: "x".to_owned(),
            prior: prior.to_vec(),
            views: vec![(1.0, view)],
            bounded: false,
            tied: false,
            whole: None,
        }
    }

    /// Listing all sets as a table gives the same result, and none of many closer priors reaches the bound.
    #[test]
    fn the_closest_prior_of_sets_is_that_of_their_table_and_nothing_nearer_is_found() {
        let cases: [(usize, f64); 6] = [(1, 0.6), (2, 1.0), (2, 0.7), (3, 0.3), (1, 0.05), (4, 0.9)];
        let prior = [0.4, 0.3, 0.15, 0.1, 0.05];
        for (size, hit) in cases {
            let sets: Vec<u32> = (0..32u32).filter(|set| set.count_ones() as usize == size).collect();
            let ways = |hits: bool| sets.iter().filter(|&&set| (set & 1 == 1) == hits).count() as f64;
            let column = |x: usize| {
                let likelihood =
                    |&set: &u32| if set >> x & 1 == 1 { hit / ways(true) } else { (1.0 - hit) / ways(false) };
                sets.iter().map(likelihood).collect::<Vec<f64>>()
            };
            let table = || View::Table((0..5).map(column).collect());
            let set = || View::Set { categories: 5, size, hit };
            assert!((set().guess(&prior) - table().guess(&prior)).abs() < 1e-12, "{size} {hit}");
            assert!((set().worst_posterior(&prior) - table().worst_posterior(&prior)).abs() < 1e-12, "{size} {hit}");
            assert!((set().largest_distance() - table().largest_distance()).abs() < 1e-12, "{size} {hit}");
            for bound in [0.5, 0.75, 0.95] {
                let by_set = closest(&variable(set(), &prior), bound).unwrap();
                let by_table = closest(&variable(table(), &prior), bound).unwrap();
                assert!((by_set.distance - by_table.distance).abs() < 1e-12, "{size} {hit} {bound}");
                assert!((by_set.prior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(table().worst_posterior(&by_set.prior) >= bound - 1e-9);
                let distance = by_set.prior.iter().zip(&prior).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0;
                assert!((distance - by_set.distance).abs() < 1e-12);
                let mut state = 7u64;
                for _ in 0..2000 {
                    let mut other: Vec<f64> = prior
                        .iter()
                        .map(|p| {
                            state =
                                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                            p * (state >> 40) as f64
                        })
                        .collect();
                    let sum: f64 = other.iter().sum();
                    other.iter_mut().for_each(|p| *p /= sum);
                    // Moved toward the assumed prior until it is slightly closer than the prior found.
                    let far = other.iter().zip(&prior).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0;
                    let pull = (0.999 * by_set.distance / far).min(1.0);
                    let near: Vec<f64> = other.iter().zip(&prior).map(|(a, b)| b + pull * (a - b)).collect();
                    assert!(by_set.distance == 0.0 || set().worst_posterior(&near) < bound, "{size} {hit} {bound}");
                }
            }
        }
    }
}
