//! Several plans answered by the same people: what holds for somebody who answers all of them.

use num_traits::One;

use crate::channel::{Epsilon, Rational};
use crate::plan::Plan;

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
    let product = plans.iter().try_fold(Rational::one(), |product, plan| Some(product * plan.guarantee().parity()?));
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
    Composition { epsilon: Epsilon::of_parity(product.as_ref()), attributes }
}
