//! What a plan provably gives: computed from its integers, rounded outward.

use num_traits::One;

use super::Block;
use crate::channel::{Channel, Epsilon, Rational};

/// The certified losses of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    epsilon: Epsilon,
    parity: Option<Rational>,
    attributes: Vec<AttributeGuarantee>,
}

/// The certified losses of one randomized attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeGuarantee {
    /// Its position in the schema.
    pub attribute: usize,
    /// For a reader of this attribute's answer alone; `None` if it has no answer of its own (a
    /// matrix over a cross-classification).
    pub marginal: Option<Epsilon>,
    /// For a reader of the whole response who knows all other attributes. This is what a
    /// respondent should be told.
    pub conditional: Epsilon,
    /// The probability that the answer is, or contains, the truth; of a matrix the smallest over
    /// categories.
    pub keep_probability: Option<f64>,
}

impl Guarantee {
    /// Blocks are answered independently: their ratios of likelihoods multiply (exactly; the
    /// logarithm is taken and rounded once). Within a block the public lottery tells nothing about
    /// the truth: the worst channel counts.
    pub(super) fn of(blocks: &[Block]) -> Guarantee {
        let worst = |block: &Block| {
            let parities = block.lottery.iter().map(|(_, channel)| channel.parity());
            { parities }.try_fold(Rational::one(), |worst, parity| Some(worst.max(parity?)))
        };
        // Reducing the fraction after every block would cost more than all the rest.
        let product = blocks.iter().map(worst).try_fold(Rational::one(), |product, parity| {
            let parity = parity?;
            Some(Rational::new_raw(product.numer() * parity.numer(), product.denom() * parity.denom()))
        });
        let epsilon = Epsilon::of_parity(product.as_ref());
        let mut attributes: Vec<AttributeGuarantee> = blocks.iter().flat_map(of_attributes).collect();
        attributes.sort_by_key(|guarantee| guarantee.attribute);
        Guarantee { epsilon, parity: product, attributes }
    }

    /// The largest conditional epsilon of any attribute: what respondents are told.
    pub fn conditional(&self) -> Epsilon {
        self.attributes.iter().map(|attribute| attribute.conditional).fold(Epsilon::ZERO, Epsilon::max)
    }

    /// Certified epsilon of the whole record.
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The largest ratio of likelihoods of a response under two records, exactly; `None` if infinite. Its logarithm is
    /// the epsilon. (Beyond 20 attributes in one channel an upper bound, like the epsilon.)
    pub fn parity(&self) -> Option<&Rational> {
        self.parity.as_ref()
    }

    /// One entry per randomized attribute, in the order of the schema.
    pub fn attributes(&self) -> &[AttributeGuarantee] {
        &self.attributes
    }
}

fn of_attributes(block: &Block) -> Vec<AttributeGuarantee> {
    let total: f64 = block.lottery.iter().map(|&(weight, _)| weight as f64).sum();
    let mut conditional = vec![Epsilon::ZERO; block.attributes.len()];
    for (_, channel) in &block.lottery {
        for (worst, epsilon) in conditional.iter_mut().zip(channel.conditional_epsilons()) {
            *worst = worst.max(epsilon);
        }
    }
    let attribute = |(place, conditional): (usize, Epsilon)| {
        let mut marginals = block.lottery.iter().map(|(_, channel)| channel.marginal_epsilon(place));
        let kept = |(weight, channel): &(u64, Channel)| Some(*weight as f64 / total * channel.keep_probability(place)?);
        AttributeGuarantee {
            attribute: block.attributes[place],
            marginal: marginals.try_fold(Epsilon::ZERO, |worst, epsilon| Some(worst.max(epsilon?))),
            conditional,
            keep_probability: block.lottery.iter().map(kept).sum(),
        }
    };
    conditional.into_iter().enumerate().map(attribute).collect()
}
