//! SPEA2: fitness, environmental selection and binary tournaments (Huang and Du 2008, sections V-B to V-D).
//!
//! Distances are between points (privacy, decimal logarithm of variance / 6). The paper does not state how it makes the
//! two objectives comparable, and variances span orders of magnitude. (Section V-B says that a dominated matrix has
//! "worse fitness (higher quality)". Fitness is minimized, so lower quality is meant.)

use rand_core::Rng;

use super::random::below;
use crate::pareto::measure::Measures;

/// Returns the position of a matrix for distances.
fn place(measures: &Measures) -> (f64, f64) {
    (measures.privacy, measures.variance.clamp(1e-12, 1e12).log10() / 6.0)
}

fn squared(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)
}

/// Returns the fitness of every member of a set (eq. 11), in time `O(m^2)`.
///
/// It is the sum of the strengths of the members that dominate it, plus its density `1/(sigma + 2)`, where `sigma` is
/// the distance to its `neighbour`-th nearest. It is below 1 exactly for undominated members.
pub fn fitness(members: &[Measures], neighbour: usize) -> Vec<f64> {
    let m = members.len();
    let mut strength = vec![0u32; m];
    for (i, a) in members.iter().enumerate() {
        strength[i] = members.iter().map(|b| u32::from(a.dominates(b))).sum();
    }
    let places: Vec<(f64, f64)> = members.iter().map(place).collect();
    let mut distances = Vec::with_capacity(m);
    let mut of = |i: usize| {
        let raw: f64 =
            (0..m).map(|j| if members[j].dominates(&members[i]) { f64::from(strength[j]) } else { 0.0 }).sum();
        let sigma = if neighbour == 1 {
            let others = places.iter().enumerate().filter(|&(j, _)| j != i);
            others.map(|(_, &place)| squared(places[i], place)).fold(f64::INFINITY, f64::min)
        } else {
            distances.clear();
            distances.extend(places.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, &p)| squared(places[i], p)));
            let kth = (neighbour - 1).min(distances.len().saturating_sub(1));
            match distances.is_empty() {
                true => f64::INFINITY,
                false => *distances.select_nth_unstable_by(kth, f64::total_cmp).1,
            }
        };
        raw + 1.0 / (sigma.sqrt() + 2.0)
    };
    (0..m).map(&mut of).collect()
}

/// Returns the places of the members that survive into the archive (eq. 12).
///
/// All undominated members survive. If they are too few, the fittest others are added; if too many, the one closest to
/// its neighbors is removed repeatedly.
pub fn survivors(members: &[Measures], fitness: &[f64], size: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|&a, &b| fitness[a].total_cmp(&fitness[b]).then(a.cmp(&b)));
    let undominated = order.iter().take_while(|&&i| fitness[i] < 1.0).count();
    if undominated <= size {
        order.truncate(size);
        return order;
    }
    order.truncate(undominated);
    thin(members, order, size)
}

/// Removes, one by one, the member with the smallest distance to its nearest neighbor.
///
/// Ties are decided by the second nearest neighbor, and so on. Undominated points form a chain: sorted by privacy they
/// are also sorted by variance, so neighbors in the chain are the nearest. Comparing distances outward along the chain
/// costs `O(1)` except for ties. The total is `O(m^2)` instead of the paper's `O(m^3)`.
fn thin(members: &[Measures], mut chain: Vec<usize>, size: usize) -> Vec<usize> {
    chain.sort_by(|&a, &b| members[a].privacy.total_cmp(&members[b].privacy).then(a.cmp(&b)));
    let mut places: Vec<(f64, f64)> = chain.iter().map(|&i| place(&members[i])).collect();
    while chain.len() > size {
        let mut crowded = 0;
        for i in 1..chain.len() {
            if nearer(&places, i, crowded) {
                crowded = i;
            }
        }
        chain.remove(crowded);
        places.remove(crowded);
    }
    chain
}

/// Returns whether the sorted distances of `a` to the others are smaller than those of `b`, in lexicographic order.
fn nearer(places: &[(f64, f64)], a: usize, b: usize) -> bool {
    let (mut of_a, mut of_b) = (Outward::from(places, a), Outward::from(places, b));
    loop {
        match (of_a.next(), of_b.next()) {
            (Some(a), Some(b)) if a != b => return a < b,
            (Some(_), Some(_)) => {}
            _ => return false,
        }
    }
}

/// Distances from one point of a chain, in increasing order.
struct Outward<'a> {
    places: &'a [(f64, f64)],
    centre: usize,
    left: usize,
    right: usize,
}

impl Outward<'_> {
    fn from(places: &[(f64, f64)], centre: usize) -> Outward<'_> {
        Outward { places, centre, left: centre, right: centre + 1 }
    }
}

impl Iterator for Outward<'_> {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let to = |i: usize| squared(self.places[self.centre], self.places[i]);
        let left = self.left.checked_sub(1).map(to);
        let right = (self.right < self.places.len()).then(|| to(self.right));
        match (left, right) {
            (Some(l), Some(r)) if l <= r => self.left -= 1,
            (Some(_), None) => self.left -= 1,
            (None, None) => return None,
            _ => self.right += 1,
        }
        Some(left.unwrap_or(f64::INFINITY).min(right.unwrap_or(f64::INFINITY)))
    }
}

/// Runs a binary tournament: of two random members, the fitter one wins.
pub fn tournament(fitness: &[f64], rng: &mut impl Rng) -> usize {
    let (a, b) = (below(rng, fitness.len()), below(rng, fitness.len()));
    if fitness[b] < fitness[a] { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn member(privacy: f64, variance: f64) -> Measures {
        Measures { privacy, variance, worst_posterior: 0.5 }
    }

    /// Strengths by hand: A dominates B and C, B dominates C, and D is not comparable.
    #[test]
    fn strength_and_raw_fitness() {
        let members = [member(0.5, 1.0), member(0.4, 2.0), member(0.3, 3.0), member(0.2, 0.5)];
        let fitness = fitness(&members, 1);
        let raw: Vec<f64> = fitness.iter().map(|f| f.floor()).collect();
        assert_eq!(raw, [0.0, 2.0, 2.0 + 1.0, 0.0]);
        assert!(fitness.iter().all(|f| f.fract() > 0.0 && f.fract() <= 0.5));
    }

    /// Thins by comparing all sorted distances instead of the chain's.
    fn thin_by_definition(members: &[Measures], mut kept: Vec<usize>, size: usize) -> Vec<usize> {
        kept.sort_by(|&a, &b| members[a].privacy.total_cmp(&members[b].privacy).then(a.cmp(&b)));
        while kept.len() > size {
            let sorted = |i: usize| {
                let mut all: Vec<f64> = kept
                    .iter()
                    .filter(|&&j| j != i)
                    .map(|&j| squared(place(&members[i]), place(&members[j])))
                    .collect();
                all.sort_by(f64::total_cmp);
                all
            };
            let crowded = (0..kept.len())
                .min_by(|&a, &b| {
                    let (a, b) = (sorted(kept[a]), sorted(kept[b]));
                    a.iter()
                        .zip(&b)
                        .map(|(x, y)| x.total_cmp(y))
                        .find(|o| o.is_ne())
                        .unwrap_or(std::cmp::Ordering::Equal)
                })
                .unwrap();
            kept.remove(crowded);
        }
        kept
    }

    proptest! {
        #[test]
        fn selection_keeps_the_undominated_and_its_size(
            points in prop::collection::vec((0.0f64..1.0, 1.0f64..50.0), 2..60), size in 1usize..40, k in 1usize..6,
        ) {
            let members: Vec<Measures> = points.iter().map(|&(p, v)| member(p, v)).collect();
            let fit = fitness(&members, k);
            for (i, f) in fit.iter().enumerate() {
                let dominated = members.iter().any(|other| other.dominates(&members[i]));
                prop_assert_eq!(*f >= 1.0, dominated);
            }
            let kept = survivors(&members, &fit, size);
            prop_assert_eq!(kept.len(), size.min(members.len()));
            let undominated: Vec<usize> = (0..members.len()).filter(|&i| fit[i] < 1.0).collect();
            if undominated.len() <= size {
                prop_assert!(undominated.iter().all(|i| kept.contains(i)));
            } else {
                prop_assert_eq!(kept, thin_by_definition(&members, undominated, size));
            }
        }
    }
}
