//! Which attributes matter for what a response reveals about one of them.
//!
//! Answers about tied attributes are informative about others that the same channel answers, because not every
//! combination of their categories is possible, and public ones are known. So the adversary considers the components
//! of tied attributes together that blocks connect.

use std::collections::BTreeMap;

use candor_base::channel::Channel;
use candor_base::plan::{Block, Plan};
use candor_base::schema::Component;

/// Maximum number of combinations that are listed.
const MAX_COMBINATIONS: usize = 1 << 12;

/// Returns the places of the attributes that matter for the answers of a channel.
///
/// If no set of patterns depends on an attribute, its answer is uniform, whatever the record is.
pub(crate) fn places(channel: &Channel) -> Vec<usize> {
    let Channel::Pattern(pattern) = channel else { return channel.places() };
    let matters = |place: &usize| pattern.parts().iter().any(|part| part.set.looks_at(*place));
    channel.places().into_iter().filter(matters).collect()
}

/// Returns whether some block answers attributes both inside and outside the component of an attribute.
pub(crate) fn is_mixed(plan: &Plan, attribute: usize) -> bool {
    let components = plan.schema().components();
    let component = components.iter().find(|component| component.attributes().contains(&attribute));
    let inside = |a: &usize| component.is_some_and(|component| component.attributes().contains(a));
    let mixed = |block: &Block| block.attributes().iter().any(inside) && !block.attributes().iter().all(inside);
    plan.blocks().iter().any(mixed)
}

/// Combinations of categories of some attributes.
pub(crate) struct Scope {
    /// The attributes, by position in the schema.
    pub(crate) attributes: Vec<usize>,
    /// The combinations, each with its probability, and with a category for each attribute.
    pub(crate) combinations: Vec<(f64, Vec<u16>)>,
}

impl Scope {
    fn empty() -> Scope {
        Scope { attributes: Vec::new(), combinations: vec![(1.0, Vec::new())] }
    }

    /// Returns both scopes together, which are independent; `None` if there are too many combinations.
    pub(crate) fn with(&self, other: &Scope) -> Option<Scope> {
        if self.combinations.len().saturating_mul(other.combinations.len()) > MAX_COMBINATIONS {
            return None;
        }
        let both = |(p, x): &(f64, Vec<u16>)| {
            let pair = |(q, y): &(f64, Vec<u16>)| (p * q, [&x[..], &y[..]].concat());
            other.combinations.iter().map(pair).collect::<Vec<_>>()
        };
        Some(Scope {
            attributes: [&self.attributes[..], &other.attributes[..]].concat(),
            combinations: self.combinations.iter().flat_map(both).collect(),
        })
    }

    /// Returns the place of an attribute.
    pub(crate) fn place(&self, attribute: usize) -> Option<usize> {
        self.attributes.iter().position(|&other| other == attribute)
    }

    /// Returns the scope reduced to some of its attributes; equal combinations are merged.
    fn reduced(&self, wanted: impl Fn(usize) -> bool) -> Scope {
        let places: Vec<usize> = (0..self.attributes.len()).filter(|&at| wanted(self.attributes[at])).collect();
        let mut merged: BTreeMap<Vec<u16>, f64> = BTreeMap::new();
        for (p, combination) in &self.combinations {
            *merged.entry(places.iter().map(|&at| combination[at]).collect()).or_default() += p;
        }
        Scope {
            attributes: places.iter().map(|&at| self.attributes[at]).collect(),
            combinations: merged.into_iter().map(|(combination, p)| (p, combination)).collect(),
        }
    }
}

/// The components of a plan, and the blocks that connect them.
pub(crate) struct Neighbors<'a> {
    plan: &'a Plan,
    components: Vec<Component>,
    /// The number of each attribute's component.
    of_attribute: Vec<usize>,
    /// The blocks that answer each component.
    blocks: Vec<Vec<usize>>,
}

impl<'a> Neighbors<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Neighbors<'a> {
        let components = plan.schema().components();
        let mut of_attribute = vec![0; plan.schema().attributes().len()];
        for (number, component) in components.iter().enumerate() {
            component.attributes().iter().for_each(|&attribute| of_attribute[attribute] = number);
        }
        let mut blocks: Vec<Vec<usize>> = vec![Vec::new(); components.len()];
        for (number, block) in plan.blocks().iter().enumerate() {
            for &attribute in block.attributes() {
                let known = &mut blocks[of_attribute[attribute]];
                if known.last() != Some(&number) {
                    known.push(number);
                }
            }
        }
        Neighbors { plan, components, of_attribute, blocks }
    }

    pub(crate) fn component(&self, number: usize) -> &Component {
        &self.components[number]
    }

    /// Returns the components about which more is sent than their own answers.
    ///
    /// They are tied, or some channel answers them together with tied attributes.
    pub(crate) fn concerned(&self) -> Vec<usize> {
        if !self.components.iter().any(Component::is_tied) {
            return Vec::new();
        }
        let mut concerned: Vec<bool> = self.components.iter().map(Component::is_tied).collect();
        for block in self.plan.blocks() {
            for (_, channel) in block.channels() {
                let touched = self.touched(block, channel);
                if touched.iter().any(|&number| self.components[number].is_tied()) {
                    touched.into_iter().for_each(|number| concerned[number] = true);
                }
            }
        }
        (0..concerned.len()).filter(|&number| concerned[number] && !self.blocks[number].is_empty()).collect()
    }

    /// Returns the components that a channel answers, in increasing order.
    fn touched(&self, block: &Block, channel: &Channel) -> Vec<usize> {
        let of_place = |place: usize| self.of_attribute[block.attributes()[place]];
        let mut found: Vec<usize> = places(channel).into_iter().map(of_place).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the component with all tied components that several blocks connect with it, in increasing order.
    ///
    /// Answers of other blocks about these are informative about it.
    pub(crate) fn joined(&self, number: usize) -> Vec<usize> {
        let mut joined = vec![number];
        let mut next = 0;
        while next < joined.len() {
            for &block in &self.blocks[joined[next]] {
                for &attribute in self.plan.blocks()[block].attributes() {
                    let other = self.of_attribute[attribute];
                    let several = self.components[other].is_tied() && self.blocks[other].len() > 1;
                    if several && !joined.contains(&other) {
                        joined.push(other);
                    }
                }
            }
            next += 1;
        }
        joined.sort_unstable();
        joined
    }

    /// Returns the blocks that answer some of these components.
    pub(crate) fn answering(&self, joined: &[usize]) -> Vec<&'a Block> {
        let mut numbers: Vec<usize> = joined.iter().flat_map(|&number| self.blocks[number].iter().copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|number| &self.plan.blocks()[number]).collect()
    }

    /// Returns the possible combinations of these components, equally likely; `None` if they are too many.
    pub(crate) fn scope(&self, joined: &[usize]) -> Option<Scope> {
        joined.iter().try_fold(Scope::empty(), |scope, &number| scope.with(&self.scope_of(number)?))
    }

    fn scope_of(&self, number: usize) -> Option<Scope> {
        let all = self.components[number].combinations(MAX_COMBINATIONS)?;
        let p = 1.0 / all.len() as f64;
        Some(Scope {
            attributes: self.components[number].attributes().to_vec(),
            combinations: all.into_iter().map(|combination| (p, combination)).collect(),
        })
    }

    /// Returns the answered and the public attributes of tied components that a channel answers in addition to these.
    ///
    /// Returns `None` if there are too many combinations.
    pub(crate) fn beside(&self, joined: &[usize], block: &Block, channel: &Channel) -> Option<Scope> {
        let answered: Vec<usize> = places(channel).into_iter().map(|place| block.attributes()[place]).collect();
        let public = |attribute: usize| self.plan.schema().attributes()[attribute].is_public();
        let others = self.touched(block, channel).into_iter();
        let mut others = others.filter(|number| self.components[*number].is_tied() && !joined.contains(number));
        others.try_fold(Scope::empty(), |scope, number| {
            scope.with(&self.scope_of(number)?.reduced(|a| answered.contains(&a) || public(a)))
        })
    }
}
