//! Two-level channels: answers with a pattern in a set are `exp(epsilon)` times as likely as the others.

use candor_base::channel::{Bitmap, MAX_ENUMERATED, PatternSet};

/// A set of patterns: listed for few attributes, "none of these misses" for any number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Support {
    /// Membership by pattern number.
    Listed(Vec<bool>),
    /// The attributes that must hit, in increasing order.
    Hits(Vec<usize>),
}

/// The attributes and the record-level epsilon of a design.
pub struct Space {
    sizes: Vec<usize>,
    /// `exp(epsilon) - 1`.
    excess: f64,
    /// For few attributes: the probability of each pattern under a uniform answer.
    probabilities: Vec<f64>,
}

impl Space {
    /// Creates the space of attributes of the given sizes at a record-level epsilon.
    pub fn new(sizes: &[usize], epsilon: f64) -> Space {
        let mut probabilities = vec![1.0];
        for &size in sizes.iter().take_while(|_| sizes.len() <= MAX_ENUMERATED) {
            let miss = (size as f64 - 1.0) / size as f64;
            let with: Vec<f64> = probabilities.iter().map(|p| p * miss).collect();
            probabilities.iter_mut().for_each(|p| *p /= size as f64);
            probabilities.extend(with);
        }
        Space { sizes: sizes.to_vec(), excess: epsilon.exp_m1(), probabilities }
    }

    /// Returns whether patterns are listed.
    pub fn is_listed(&self) -> bool {
        self.sizes.len() <= MAX_ENUMERATED
    }

    /// Returns the number of attributes.
    pub fn attributes(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the probability of a set under a uniform answer.
    fn probability(&self, support: &Support) -> f64 {
        match support {
            Support::Listed(members) => {
                self.probabilities.iter().zip(members).filter(|(_, m)| **m).map(|(p, _)| p).sum()
            }
            Support::Hits(hits) => hits.iter().map(|&i| 1.0 / self.sizes[i] as f64).product(),
        }
    }

    /// Returns the probability that the answer is drawn from the set instead of all answers.
    pub fn share(&self, support: &Support) -> f64 {
        let probability = self.probability(support);
        probability / (1.0 / self.excess + probability)
    }

    /// Returns the non-zero eigenvalues of the two-level channel, by component.
    ///
    /// They are `lambda_U = exc * sum over S in D of P_S chi_U(S) / (1 + exc P(D))`, with
    /// `chi_U(S) = prod over i in both of -1/(a_i - 1)`.
    pub fn eigenvalues(&self, support: &Support, components: &[Vec<usize>]) -> Vec<(usize, f64)> {
        let scale = 1.0 / (1.0 / self.excess + self.probability(support));
        match support {
            Support::Hits(hits) => {
                let inside = |component: &Vec<usize>| component.iter().all(|i| hits.binary_search(i).is_ok());
                let value = scale * self.probability(support);
                (0..components.len()).filter(|&u| inside(&components[u])).map(|u| (u, value)).collect()
            }
            Support::Listed(members) => {
                let mut sums: Vec<f64> =
                    self.probabilities.iter().zip(members).map(|(&p, &member)| if member { p } else { 0.0 }).collect();
                for (i, &size) in self.sizes.iter().enumerate() {
                    let miss = -1.0 / (size as f64 - 1.0);
                    pairs(&mut sums, i, |without, with| (without + with, without + miss * with));
                }
                // Values that are zero except for rounding would look like information.
                let negligible = 1e-12 * sums[0];
                let eigenvalue = |(u, component): (usize, &Vec<usize>)| (u, sums[mask(component)]);
                let all = components.iter().enumerate().map(eigenvalue);
                all.filter(|(_, sum)| sum.abs() > negligible).map(|(u, sum)| (u, scale * sum)).collect()
            }
        }
    }

    /// Returns the set that maximizes `sum over U of slopes_U lambda_U`, for listed patterns only.
    ///
    /// It has all patterns for which `phi(S) = sum of slopes_U chi_U(S)` exceeds the maximum itself (Dinkelbach's
    /// method for ratios). Cost: `k 2^k`.
    pub fn best(&self, components: &[Vec<usize>], slopes: &[f64]) -> Support {
        let mut phi = vec![0.0; self.probabilities.len()];
        for (component, slope) in components.iter().zip(slopes) {
            phi[mask(component)] += slope;
        }
        for (i, &size) in self.sizes.iter().enumerate() {
            let miss = -1.0 / (size as f64 - 1.0);
            pairs(&mut phi, i, |without, with| (without + with, without + miss * with));
        }
        let mut threshold = 0.0;
        loop {
            let (mut inside, mut value) = (0.0, 0.0);
            for (p, phi) in self.probabilities.iter().zip(&phi).filter(|(_, phi)| **phi > threshold) {
                inside += p;
                value += p * phi;
            }
            let ratio = value / (1.0 / self.excess + inside);
            if ratio <= threshold * (1.0 + 1e-14) {
                return Support::Listed(phi.iter().map(|&phi| phi > threshold).collect());
            }
            threshold = ratio;
        }
    }

    /// Returns the set in the form that plans contain.
    pub fn set(&self, support: &Support) -> PatternSet {
        match support {
            Support::Hits(hits) => PatternSet::Hits(hits.clone()),
            Support::Listed(members) => {
                // "None of these misses" is a shorter form, if it applies.
                let hits: Vec<usize> = (0..self.attributes()).filter(|&i| !members[1 << i]).collect();
                let outside = mask(&hits);
                if members.iter().enumerate().all(|(pattern, &member)| member == (pattern & outside == 0)) {
                    return PatternSet::Hits(hits);
                }
                PatternSet::Bitmap(Bitmap::new(self.attributes(), |pattern| members[pattern as usize]))
            }
        }
    }

    /// Returns "none of these misses" as a list of patterns.
    pub fn listed(&self, hits: &[usize]) -> Support {
        let outside = mask(hits);
        Support::Listed((0..self.probabilities.len()).map(|pattern| pattern & outside == 0).collect())
    }
}

fn mask(attributes: &[usize]) -> usize {
    attributes.iter().fold(0, |mask, i| mask | 1 << i)
}

/// Combines the values without and with attribute `i`.
fn pairs(values: &mut [f64], i: usize, combine: impl Fn(f64, f64) -> (f64, f64)) {
    for block in values.chunks_mut(2 << i) {
        let (without, with) = block.split_at_mut(1 << i);
        for (without, with) in without.iter_mut().zip(with) {
            (*without, *with) = combine(*without, *with);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::{Axis, Pattern};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn eigenvalues_are_those_of_the_channel(
            sizes in prop::collection::vec(2usize..6, 1..5),
            chosen in any::<u32>(),
            epsilon in 0.1f64..6.0,
        ) {
            let k = sizes.len();
            let members: Vec<bool> = (0..1usize << k).map(|p| p == 0 || chosen >> (p % 32) & 1 == 1).collect();
            prop_assume!(members.iter().any(|m| !m));
            let space = Space::new(&sizes, epsilon);
            let support = Support::Listed(members);
            let components: Vec<Vec<usize>> =
                (1usize..1 << k).map(|u| (0..k).filter(|i| u >> i & 1 == 1).collect()).collect();
            let axes = sizes.iter().map(|&a| Axis::single(a)).collect();
            let pattern = Pattern::two_level(axes, space.set(&support), epsilon).unwrap();
            let expected = pattern.marginal(&(0..k).collect::<Vec<_>>()).eigenvalues();
            let mut found = vec![0.0; components.len()];
            space.eigenvalues(&support, &components).into_iter().for_each(|(u, value)| found[u] = value);
            for (u, found) in found.into_iter().enumerate() {
                prop_assert!((found - expected[u + 1]).abs() < 1e-8, "{:?}: {} for {}", components[u], found,
                    expected[u + 1]);
            }
        }

        /// Compares with all sets of patterns over three attributes.
        #[test]
        fn the_best_set_is_the_best(
            sizes in prop::collection::vec(2usize..6, 3),
            slopes in prop::collection::vec(-1.0f64..1.0, 7),
            epsilon in 0.1f64..6.0,
        ) {
            let space = Space::new(&sizes, epsilon);
            let components: Vec<Vec<usize>> =
                (1usize..8).map(|u| (0..3).filter(|i| u >> i & 1 == 1).collect()).collect();
            let value = |support: &Support| -> f64 {
                space.eigenvalues(support, &components).into_iter().map(|(u, l)| l * slopes[u]).sum()
            };
            let found = value(&space.best(&components, &slopes));
            for set in 0..256u32 {
                let other = Support::Listed((0..8).map(|p| set >> p & 1 == 1).collect());
                prop_assert!(value(&other) <= found + 1e-12);
            }
        }
    }
}
