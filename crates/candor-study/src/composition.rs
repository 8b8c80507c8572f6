//! Several plans answered by the same people: what holds for somebody who answers all of them.

use candor::channel::Epsilon;
use candor::plan::Plan;

/// What answering several plans gives away at most, together.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// Epsilon of all responses together.
    pub epsilon: Epsilon,
    /// Each attribute that some plan randomizes: its name, the sum of its conditional epsilons, and in how many plans it is.
    pub attributes: Vec<(String, Epsilon, usize)>,
}

/// The responses of one person to several plans are drawn independently given their record, so ratios of likelihoods
/// multiply and epsilons add up (sequential composition; exact for the record, an upper bound for an attribute). Attributes
/// are the same if they have the same name. An unbounded plan makes the whole unbounded.
pub fn compose(plans: &[&Plan]) -> Composition {
    let ratios = plans.iter().map(|plan| plan.guarantee().parity().cloned());
    let product = ratios.reduce(|product, ratio| Some(product? * ratio?));
    let mut attributes: Vec<(String, Epsilon, usize)> = Vec::new();
    for plan in plans {
        for guarantee in plan.guarantee().attributes() {
            let name = plan.schema().name(guarantee.attribute);
            match attributes.iter_mut().find(|(held, ..)| held == name) {
                Some((_, epsilon, times)) => {
                    *epsilon = epsilon.plus(guarantee.conditional);
                    *times += 1;
                }
                None => attributes.push((name.to_owned(), guarantee.conditional, 1)),
            }
        }
    }
    let epsilon = product.map_or(Epsilon::ZERO, |product| Epsilon::of_parity(product.as_ref()));
    Composition { epsilon, attributes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor::channel::{Axis, Part, Pattern, PatternSet};
    use candor::plan::Block;
    use candor::schema::Schema;

    fn plan(sizes: &[usize], blocks: Vec<Block>) -> Plan {
        Plan::new(Schema::of_sizes(sizes).unwrap(), blocks).unwrap()
    }

    #[test]
    fn several_plans_add_up() {
        let k_ary = |n: usize, epsilon: f64| Pattern::k_ary(vec![Axis::single(n)], epsilon).unwrap();
        let first = plan(&[3, 4], vec![Block::new(vec![0], k_ary(3, 1.0)), Block::new(vec![1], k_ary(4, 0.5))]);
        let second = plan(&[3], vec![Block::new(vec![0], k_ary(3, 0.25))]);
        let together = compose(&[&first, &second]);
        assert!((together.epsilon.get() - 1.75).abs() < 1e-9);
        assert_eq!(together.attributes.len(), 2);
        assert!((together.attributes[0].1.get() - 1.25).abs() < 1e-9 && together.attributes[0].2 == 2);
        // Of both responses, written out.
        let kept = k_ary(3, 0.25).keep_probability(0);
        let ratio = (kept * kept) / ((1.0 - kept) / 2.0 * (1.0 - kept) / 2.0);
        assert!((compose(&[&second, &second]).epsilon.get() - ratio.ln()).abs() < 1e-9);
        let no_miss = vec![Part { set: PatternSet::no_miss(), weight: 1 }];
        let diverse = plan(&[3], vec![Block::new(vec![0], Pattern::new(vec![Axis::set(3, 2)], no_miss).unwrap())]);
        assert_eq!(compose(&[&first, &diverse]).epsilon.value(), None);
        assert_eq!(compose(&[]).epsilon, Epsilon::ZERO);
    }
}
