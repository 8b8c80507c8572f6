//! The large optimal set: one place per interval of privacy (Huang and Du 2008, section V-H).

use super::Candidate;

/// The matrix with the smallest variance seen in each interval of privacy, found by a lookup.
#[derive(Clone, Debug)]
pub struct Omega {
    places: Vec<Option<Candidate>>,
}

impl Omega {
    /// Creates an empty set of this size.
    pub fn new(size: usize) -> Omega {
        Omega { places: vec![None; size] }
    }

    /// Compares a candidate with the one in its place, and stores the one with the smaller variance in both.
    ///
    /// Returns whether the set changed.
    pub fn exchange(&mut self, candidate: &mut Candidate) -> bool {
        let size = self.places.len();
        let number = ((candidate.measures.privacy.max(0.0) * size as f64) as usize).min(size - 1);
        let place = &mut self.places[number];
        match place {
            Some(held) if held.measures.variance <= candidate.measures.variance => {
                candidate.clone_from(held);
                false
            }
            _ if candidate.measures.variance.is_finite() => {
                *place = Some(candidate.clone());
                true
            }
            _ => false,
        }
    }

    /// Adopts every better member of another set.
    pub fn absorb(&mut self, other: &Omega) {
        for candidate in other.places.iter().flatten() {
            self.exchange(&mut candidate.clone());
        }
    }

    /// Returns the members that no other dominates, by increasing privacy and variance.
    pub fn front(&self) -> Vec<&Candidate> {
        let mut best = f64::INFINITY;
        let mut front: Vec<&Candidate> = Vec::new();
        let mut members: Vec<&Candidate> = self.places.iter().flatten().collect();
        members.sort_by(|a, b| b.measures.privacy.total_cmp(&a.measures.privacy));
        for candidate in members {
            if candidate.measures.variance < best {
                best = candidate.measures.variance;
                front.push(candidate);
            }
        }
        front.reverse();
        front
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pareto::measure::Measures;
    use proptest::prelude::*;

    fn candidate(privacy: f64, variance: f64) -> Candidate {
        Candidate { matrix: vec![privacy], measures: Measures { privacy, variance, worst_posterior: 0.5 } }
    }

    #[test]
    fn the_paper_s_example_of_indexing() {
        let mut omega = Omega::new(1000);
        assert!(omega.exchange(&mut candidate(0.1523, 2.0)));
        assert!(omega.places[152].is_some() && omega.places.iter().flatten().count() == 1);
        // A worse one in the same interval is replaced by the stored one; a better one replaces it.
        let mut worse = candidate(0.1529, 3.0);
        assert!(!omega.exchange(&mut worse) && worse.measures.variance == 2.0);
        assert!(omega.exchange(&mut candidate(0.1521, 1.0)));
        assert!(!omega.exchange(&mut candidate(0.7, f64::INFINITY)), "what estimates nothing is not kept");
    }

    proptest! {
        #[test]
        fn the_front_is_pareto_consistent(
            points in prop::collection::vec((0.0f64..1.0, 0.5f64..50.0), 1..200), size in 1usize..100,
        ) {
            let (mut omega, mut other) = (Omega::new(size), Omega::new(size));
            for (i, &(p, v)) in points.iter().enumerate() {
                let set = if i % 2 == 0 { &mut omega } else { &mut other };
                set.exchange(&mut candidate(p, v));
            }
            omega.absorb(&other);
            let front = omega.front();
            prop_assert!(!front.is_empty());
            for (i, a) in front.iter().enumerate() {
                prop_assert!(front.iter().enumerate().all(|(j, b)| i == j || !b.measures.dominates(&a.measures)));
            }
            // The smallest variance of all is never lost.
            let best = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(front[0].measures.variance, best);
        }
    }
}
