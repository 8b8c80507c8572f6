//! The guarantee of a plan: certified epsilons, computed from its integers and rounded upward.

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
    /// Marginal epsilon, for an adversary who sees this attribute's answer alone.
    ///
    /// `None` if the attribute has no answer of its own: in a matrix or a strip over several attributes.
    pub marginal: Option<Epsilon>,
    /// Conditional epsilon: the largest loss between possible records that agree outside the attribute's component.
    ///
    /// The adversary sees the whole response and knows all attributes that are not tied to this one
    /// ([`Schema::components`]). This epsilon belongs in what respondents read.
    pub conditional: Epsilon,
    /// Retention probability: that the answer is, or contains, the true category.
    ///
    /// For a matrix it is the smallest over all categories. It is `None` if answers are not about the attribute alone,
    /// or if some channel of the block does not ask about it.
    pub keep_probability: Option<f64>,
}

impl Guarantee {
    /// Computes the guarantee of a plan.
    ///
    /// - Blocks are answered independently, so their likelihood ratios multiply. The product is exact; its logarithm is
    ///   taken and rounded upward once.
    /// - The channel of a lottery is public and independent of the true record, so the worst channel of each block
    ///   counts.
    /// - Attributes of a tied component share one conditional epsilon, over possible records only.
    pub(super) fn new(schema: &Schema, blocks: &[Block]) -> Guarantee {
        let mut guarantee = Guarantee::of_untied(blocks);
        for component in schema.components().iter().filter(|component| component.is_tied()) {
            let together = tied::conditional(schema, blocks, component).min(guarantee.epsilon);
            let attributes = guarantee.attributes.iter_mut();
            attributes.filter(|a| component.attributes().contains(&a.attribute)).for_each(|a| a.conditional = together);
        }
        guarantee
    }

    /// Computes the guarantee as if every combination of categories were possible, so that attributes change one at a
    /// time.
    pub(super) fn of_untied(blocks: &[Block]) -> Guarantee {
        let blocks: Vec<(Option<Rational>, Vec<AttributeGuarantee>)> = blocks.iter().map(of_block).collect();
        // Reducing the fraction after every block would dominate the running time.
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

    /// Returns the largest conditional epsilon of any attribute.
    pub fn conditional(&self) -> Epsilon {
        self.attributes.iter().map(|attribute| attribute.conditional).fold(Epsilon::ZERO, Epsilon::max)
    }

    /// Returns the certified record-level epsilon.
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// Returns the largest likelihood ratio of a response between two records, or `None` if it is infinite.
    ///
    /// Its logarithm is the record-level epsilon. Like the epsilon, it is an upper bound if a channel has more than 12
    /// attributes or resamples answers: see [`Channel::parity`](crate::channel::Channel::parity).
    pub fn parity(&self) -> Option<&Rational> {
        self.parity.as_ref()
    }

    /// Returns one entry per randomized attribute, in the order of the schema.
    pub fn attributes(&self) -> &[AttributeGuarantee] {
        &self.attributes
    }
}

/// Returns the largest likelihood ratio of a block, `None` if infinite, and the losses of each attribute.
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
