//! What a plan provably gives: computed from its integers, rounded outward.

use num_traits::One;

use super::{Block, tied};
use crate::channel::{Channel, Epsilon, Rational};
use crate::schema::Schema;

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
    /// matrix over a cross-classification, a strip over several attributes).
    pub marginal: Option<Epsilon>,
    /// For a reader of the whole response who knows all attributes that are not tied to this one
    /// ([`Schema::components`]): the largest loss between possible records that agree there. This is what a respondent
    /// should be told.
    pub conditional: Epsilon,
    /// The probability that the answer is, or contains, the truth; of a matrix the smallest over
    /// categories. `None` where answers are not about the attribute alone, or not every channel asks about it.
    pub keep_probability: Option<f64>,
}

impl Guarantee {
    /// Blocks are answered independently: their ratios of likelihoods multiply (exactly; the
    /// logarithm is taken and rounded once). Within a block the public lottery tells nothing about
    /// the truth: the worst channel counts.
    pub(super) fn new(schema: &Schema, blocks: &[Block]) -> Guarantee {
        let mut guarantee = Guarantee::of_untied(blocks);
        for component in schema.components().iter().filter(|component| component.is_tied()) {
            let together = tied::conditional(schema, blocks, component).min(guarantee.epsilon);
            let attributes = guarantee.attributes.iter_mut();
            attributes.filter(|a| component.attributes().contains(&a.attribute)).for_each(|a| a.conditional = together);
        }
        guarantee
    }

    /// The same if every combination of categories were possible: then attributes change one at a time.
    pub(super) fn of_untied(blocks: &[Block]) -> Guarantee {
        let blocks: Vec<(Option<Rational>, Vec<AttributeGuarantee>)> = blocks.iter().map(of_block).collect();
        // Reducing the fraction after every block would cost more than all the rest.
        let parities = blocks.iter().map(|(parity, _)| parity.as_ref());
        let product = { parities }.try_fold(Rational::one(), |product, parity| {
            let parity = parity?;
            Some(Rational::new_raw(product.numer() * parity.numer(), product.denom() * parity.denom()))
        });
        let epsilon = Epsilon::of_parity(product.as_ref());
        let mut attributes: Vec<AttributeGuarantee> =
            blocks.into_iter().flat_map(|(_, attributes)| attributes).collect();
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

/// The largest ratio of likelihoods of a block, `None` if infinite, and what it gives for each attribute.
fn of_block(block: &Block) -> (Option<Rational>, Vec<AttributeGuarantee>) {
    let attribute = |&attribute: &usize| AttributeGuarantee {
        attribute,
        marginal: Some(Epsilon::ZERO),
        conditional: Epsilon::ZERO,
        keep_probability: Some(0.0),
    };
    let mut attributes: Vec<AttributeGuarantee> = block.attributes.iter().map(attribute).collect();
    let mut worst = Some(Rational::one());
    for (share, channel) in block.shares() {
        let (parity, conditionals) = channel.losses();
        worst = worst.zip(parity).map(|(worst, parity)| worst.max(parity));
        if let Channel::Strip(_) = channel {
            attributes.iter_mut().for_each(|attribute| attribute.keep_probability = None);
        }
        for ((place, conditional), (marginal, kept)) in
            channel.places().into_iter().zip(conditionals).zip(channel.marginals())
        {
            let attribute = &mut attributes[place];
            attribute.conditional = attribute.conditional.max(conditional);
            attribute.marginal = attribute.marginal.zip(marginal).map(|(worst, epsilon)| worst.max(epsilon));
            let kept = kept.map(|kept| share * kept);
            attribute.keep_probability = attribute.keep_probability.zip(kept).map(|(sum, kept)| sum + kept);
        }
    }
    (worst, attributes)
}
