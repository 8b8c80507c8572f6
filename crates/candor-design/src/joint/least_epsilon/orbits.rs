//! Patterns counted by class: for equal attributes only the number of misses matters.
//!
//! An *orbit* is the number of misses in each class. Thirty attributes in four classes have several thousand orbits,
//! and two halves of the classes have a few dozen each. If all attributes differ, each has its own class, and the
//! halves have `2^(k/2)` orbits.

use super::levels::EpsilonTargets;

/// Maximum number of orbits that are listed for half of the classes.
const MAX_ORBITS: usize = 1 << 15;

/// The orbits of one half of the classes with their probabilities.
struct Half {
    /// The number of attributes in each class.
    counts: Vec<usize>,
    /// The probability of each orbit, first class fastest.
    probability: Vec<f64>,
}

/// A sum of weights, and the orbit that has it.
type Sum = (u64, u32);

impl Half {
    fn new(levels: &EpsilonTargets, classes: std::ops::Range<usize>) -> Half {
        let mut half = Half { counts: Vec::new(), probability: vec![1.0] };
        for class in classes {
            let row = binomial(levels.count(class) as usize, levels.miss(class));
            half.probability = row.iter().flat_map(|p| half.probability.iter().map(move |q| p * q)).collect();
            half.counts.push(levels.count(class) as usize);
        }
        half
    }

    /// Returns the orbits within the limit, by increasing sum.
    fn sorted(&self, weights: &[u64], limit: u64) -> Vec<Sum> {
        let (mut sorted, mut stride): (Vec<Sum>, u32) = (vec![(0, 0)], 1);
        for (&count, &weight) in self.counts.iter().zip(weights) {
            let base = sorted.clone();
            for misses in 1..=count as u32 {
                let shift = weight.saturating_mul(misses.into());
                let shifted = base.iter().map(|&(sum, orbit)| (sum.saturating_add(shift), orbit + misses * stride));
                let within = base.partition_point(|&(sum, _)| sum.saturating_add(shift) <= limit);
                if within == 0 {
                    break;
                }
                sorted = merged(&sorted, shifted.take(within));
            }
            stride *= count as u32 + 1;
        }
        sorted
    }

    /// Returns the probability of each orbit together with a sum of the other half that stays within the limit.
    fn joint(&self, sorted: &[Sum], other: &Half, others: &[Sum], limit: u64) -> Vec<f64> {
        let mut cumulated = Vec::with_capacity(others.len() + 1);
        cumulated.push(0.0);
        let mut total = 0.0;
        for &(_, orbit) in others {
            total += other.probability[orbit as usize];
            cumulated.push(total);
        }
        let mut joint = vec![0.0; self.probability.len()];
        let mut within = others.len();
        for &(sum, orbit) in sorted {
            while within > 0 && others[within - 1].0 > limit - sum {
                within -= 1;
            }
            joint[orbit as usize] = self.probability[orbit as usize] * cumulated[within];
        }
        joint
    }

    /// Returns the sum over all orbits, and for each class the part in which one particular attribute of it misses.
    fn margins(&self, mut joint: Vec<f64>) -> (f64, Vec<f64>) {
        let mut missing = vec![0.0; self.counts.len()];
        for (class, &count) in self.counts.iter().enumerate().rev() {
            let stride = joint.len() / (count + 1);
            let (first, others) = joint.split_at_mut(stride);
            for (misses, block) in (1..).zip(others.chunks(stride)) {
                missing[class] += f64::from(misses) * block.iter().sum::<f64>() / count as f64;
                first.iter_mut().zip(block).for_each(|(sum, more)| *sum += more);
            }
            joint.truncate(stride);
        }
        (joint[0], missing)
    }
}

/// Returns the probabilities of `0..=count` misses among `count` attributes.
fn binomial(count: usize, miss: f64) -> Vec<f64> {
    let mut row = vec![0.0; count + 1];
    row[0] = 1.0;
    for attributes in 1..=count {
        for s in (0..=attributes).rev() {
            row[s] = (1.0 - miss) * row[s] + if s > 0 { miss * row[s - 1] } else { 0.0 };
        }
    }
    row
}

fn merged(sorted: &[Sum], with: impl ExactSizeIterator<Item = Sum>) -> Vec<Sum> {
    let mut all = Vec::with_capacity(sorted.len() + with.len());
    let mut with = with.peekable();
    for &without in sorted {
        while let Some(next) = with.next_if(|next| next.0 < without.0) {
            all.push(next);
        }
        all.push(without);
    }
    all.extend(with);
    all
}

/// The orbits of a list of classes.
pub struct Orbits {
    low: Half,
    high: Half,
}

impl Orbits {
    /// Lists the orbits of these classes, or returns `None` if there are too many.
    pub fn new(levels: &EpsilonTargets) -> Option<Orbits> {
        let orbits = |classes: std::ops::Range<usize>| classes.map(|c| levels.count(c) + 1.0).product::<f64>();
        let larger = |middle: usize| orbits(0..middle).max(orbits(middle..levels.len()));
        let middle = (0..=levels.len()).min_by(|&a, &b| larger(a).total_cmp(&larger(b)))?;
        let fits = larger(middle) <= MAX_ORBITS as f64;
        fits.then(|| Orbits { low: Half::new(levels, 0..middle), high: Half::new(levels, middle..levels.len()) })
    }

    /// Returns the probability that the weights of misses sum to at most `limit`.
    ///
    /// Also returns, for each class, the probability that in addition one particular attribute of it misses. Cost:
    /// [`Orbits::steps`].
    pub fn measure(&self, weights: &[u64], limit: u64) -> (f64, Vec<f64>) {
        let middle = self.low.counts.len();
        let low = self.low.sorted(&weights[..middle], limit);
        let high = self.high.sorted(&weights[middle..], limit);
        let (_, mut missing) = self.low.margins(self.low.joint(&low, &self.high, &high, limit));
        let (inside, more) = self.high.margins(self.high.joint(&high, &self.low, &low, limit));
        missing.extend(more);
        (inside, missing)
    }

    /// Returns the approximate number of sums that one measurement takes.
    pub fn steps(&self) -> u64 {
        let merging = |half: &Half| (8 + half.counts.iter().max().unwrap_or(&0)) * half.probability.len();
        (merging(&self.low) + merging(&self.high)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::threshold;
    use proptest::prelude::*;

    proptest! {
        /// The base measures attribute by attribute, without classes.
        #[test]
        fn classes_measure_like_their_attributes(
            classes in prop::collection::vec((2usize..7, 1usize..6, 0u64..50), 1..5),
            limit in 0u64..200,
        ) {
            let (mut sizes, mut epsilons, mut class_of, mut weights) = (vec![], vec![], vec![], vec![]);
            for (class, &(size, count, weight)) in classes.iter().enumerate() {
                for _ in 0..count {
                    sizes.push(size);
                    epsilons.push(2.0 + class as f64);
                    class_of.push(class);
                    weights.push(weight);
                }
            }
            let levels = EpsilonTargets::new(sizes, epsilons).unwrap();
            let (grouped, group_of) = levels.in_classes();
            prop_assert_eq!((grouped.len(), grouped.attributes()), (classes.len(), class_of.len()));
            let mut by_group = vec![0; classes.len()];
            group_of.iter().zip(&weights).for_each(|(&group, &weight)| by_group[group] = weight);
            let (inside, missing) = Orbits::new(&grouped).unwrap().measure(&by_group, limit);
            let ways: Vec<[f64; 2]> = (0..levels.len()).map(|i| [1.0 / levels.size(i), levels.miss(i)]).collect();
            let expected = threshold::measure(&weights, limit, &ways).unwrap();
            prop_assert!((inside - expected.inside).abs() < 1e-12 * expected.inside);
            for (i, &group) in group_of.iter().enumerate() {
                prop_assert!((missing[group] - expected.missing[i]).abs() <= 1e-12 * expected.missing[i]);
            }
        }
    }

    #[test]
    fn too_many_orbits_are_not_listed() {
        let different = |k: usize| EpsilonTargets::new(vec![3; k], (1..=k).map(|i| 0.1 * i as f64).collect()).unwrap();
        assert!(Orbits::new(&different(30)).is_some() && Orbits::new(&different(31)).is_none());
        let alike = EpsilonTargets::new(vec![3; 1_000], vec![0.1; 1_000]).unwrap();
        assert!(Orbits::new(&alike.in_classes().0).unwrap().steps() < 2_000_000);
    }
}
