//! Possible records: which combinations of categories a person can have.
//!
//! Two attributes are *joined* if one is asked depending on the other, or if they share a source column. Attributes
//! that are connected by such joins are *tied*: changing one may force a change of another. What answers reveal about a
//! tied attribute must be judged over possible records only, and over all that a change of its component can change.
//!
//! Conditions look at categories through a few sets only, so the categories of an attribute fall into *classes* that
//! every condition treats alike. Whether a record is possible depends on classes alone.

use std::collections::HashMap;

use super::{Schema, parts};

/// More possible combinations of classes than this are not listed; what follows is then an upper bound.
const MAX_RECORDS: usize = 512;

/// Tied attributes, and what is possible among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    attributes: Vec<usize>,
    /// For each attribute of the component, its categories class by class.
    classes: Vec<Vec<Vec<u16>>>,
    /// The possible combinations of classes; `None` if they are too many to list.
    records: Option<Vec<Vec<u16>>>,
}

impl Component {
    /// The positions of its attributes in the schema, public ones included, in increasing order.
    pub fn attributes(&self) -> &[usize] {
        &self.attributes
    }

    /// Whether it has more than one attribute.
    pub fn is_tied(&self) -> bool {
        self.attributes.len() > 1
    }

    /// The categories of each of its attributes, class by class.
    pub fn classes(&self) -> &[Vec<Vec<u16>>] {
        &self.classes
    }

    /// The possible combinations of classes, one class for each attribute; `None` if they are too many to list. Every
    /// combination of categories in these classes is possible.
    pub fn records(&self) -> Option<&[Vec<u16>]> {
        self.records.as_deref()
    }

    /// The possible combinations of categories; `None` if they are more than `limit`.
    pub fn combinations(&self, limit: usize) -> Option<Vec<Vec<u16>>> {
        let mut found: Vec<Vec<u16>> = Vec::new();
        for record in self.records.as_ref()? {
            let mut combinations = vec![Vec::with_capacity(record.len())];
            for (&class, classes) in record.iter().zip(&self.classes) {
                let longer = |start: &Vec<u16>| {
                    let extended = |&category: &u16| start.iter().copied().chain([category]).collect::<Vec<u16>>();
                    classes[usize::from(class)].iter().map(extended).collect::<Vec<_>>()
                };
                let size = combinations.len().saturating_mul(classes[usize::from(class)].len());
                if found.len().saturating_add(size) > limit {
                    return None;
                }
                combinations = combinations.iter().flat_map(longer).collect();
            }
            found.extend(combinations);
        }
        Some(found)
    }
}

impl Schema {
    /// The components of tied attributes, in the order of their first attributes. An attribute that nothing is tied to
    /// is a component of its own.
    ///
    /// Cost: the square of the number of attributes, and at most 512 combinations of classes for each component.
    pub fn components(&self) -> Vec<Component> {
        let n = self.attributes.len();
        let conditions: Vec<Condition> = (0..n).map(|a| self.asked_if(a)).collect();
        let mut leader: Vec<usize> = (0..n).collect();
        for (a, b) in self.joins(&conditions) {
            let (from, to) = (leader[a].max(leader[b]), leader[a].min(leader[b]));
            if from != to {
                leader.iter_mut().filter(|leader| **leader == from).for_each(|leader| *leader = to);
            }
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); n];
        leader.iter().enumerate().for_each(|(a, &leader)| members[leader].push(a));
        let tied = Tied { schema: self, conditions: &conditions };
        members.into_iter().filter(|members| !members.is_empty()).map(|members| tied.component(members)).collect()
    }

    /// The pairs of attributes that are joined.
    fn joins(&self, conditions: &[Condition]) -> Vec<(usize, usize)> {
        let asked = conditions.iter().enumerate().filter_map(|(a, condition)| Some((a, condition.as_ref()?.0)));
        let mut joins: Vec<(usize, usize)> = asked.collect();
        let mut first = HashMap::new();
        for a in 0..self.attributes.len() {
            for column in parts(self.name(a)).into_iter().chain([self.name(a)]) {
                joins.push((a, *first.entry(column).or_insert(a)));
            }
        }
        joins
    }
}

/// On which attribute it depends whether one is asked, and for which of its categories it is.
type Condition = Option<(usize, Vec<bool>)>;

/// A schema with its conditions looked up.
struct Tied<'a> {
    schema: &'a Schema,
    conditions: &'a [Condition],
}

impl Tied<'_> {
    fn component(&self, attributes: Vec<usize>) -> Component {
        let single = attributes.len() == 1;
        let crossed = attributes.iter().any(|&a| parts(self.schema.name(a)).len() > 1);
        let classes = |&attribute: &usize| match (single, crossed) {
            (true, _) => vec![(0..self.schema.size(attribute) as u16).collect()],
            (_, true) => (0..self.schema.size(attribute) as u16).map(|category| vec![category]).collect(),
            _ => self.classes(attribute, &attributes),
        };
        let classes: Vec<Vec<Vec<u16>>> = attributes.iter().map(classes).collect();
        let mut component = Component { attributes, classes, records: None };
        component.records = self.possible_classes(&component);
        component
    }

    /// The categories of an attribute by what they mean for the conditions on it and for whether it is asked.
    fn classes(&self, attribute: usize, tied: &[usize]) -> Vec<Vec<u16>> {
        let depends = |&a: &usize| self.conditions[a].as_ref().filter(|(on, _)| *on == attribute);
        let conditions: Vec<&Vec<bool>> = tied.iter().filter_map(depends).map(|(_, asks)| asks).collect();
        let mut classes: Vec<(Vec<bool>, Vec<u16>)> = Vec::new();
        for category in 0..self.schema.size(attribute) as u16 {
            let asks = conditions.iter().map(|asks| asks[usize::from(category)]);
            let kind: Vec<bool> = asks.chain([self.is_not_asked(attribute, category)]).collect();
            match classes.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, members)) => members.push(category),
                None => classes.push((kind, vec![category])),
            }
        }
        classes.into_iter().map(|(_, members)| members).collect()
    }

    fn is_not_asked(&self, attribute: usize, category: u16) -> bool {
        self.schema.attributes[attribute].not_asked() == Some(category)
    }

    /// Attribute by attribute, each with the classes that fit those before it.
    fn possible_classes(&self, component: &Component) -> Option<Vec<Vec<u16>>> {
        let mut records: Vec<Vec<u16>> = vec![Vec::new()];
        for at in 0..component.attributes.len() {
            let mut longer = Vec::new();
            for record in &records {
                for class in 0..component.classes[at].len() as u16 {
                    if (0..at).all(|before| self.fit(component, (before, record[before]), (at, class))) {
                        longer.push(record.iter().copied().chain([class]).collect());
                    }
                    if longer.len() > MAX_RECORDS {
                        return None;
                    }
                }
            }
            records = longer;
        }
        Some(records)
    }

    /// Whether two attributes of a component, each with a class, can be a person's.
    fn fit(&self, component: &Component, one: (usize, u16), other: (usize, u16)) -> bool {
        let category = |(at, class): (usize, u16)| component.classes[at][usize::from(class)][0];
        let place = |(at, _): (usize, u16)| component.attributes[at];
        let asked = |child: (usize, u16), parent: (usize, u16)| match &self.conditions[place(child)] {
            Some((on, asks)) if *on == place(parent) => {
                asks[usize::from(category(parent))] != self.is_not_asked(place(child), category(child))
            }
            _ => true,
        };
        let labels = |at: (usize, u16)| {
            let label = &self.schema.attributes[place(at)].categories()[usize::from(category(at))];
            columns(self.schema.name(place(at)), label)
        };
        let (of_one, of_other) = (labels(one), labels(other));
        let agree =
            |(column, label): &(&str, &str)| of_other.iter().all(|(other, same)| column != other || label == same);
        asked(one, other) && asked(other, one) && of_one.iter().all(agree)
    }
}

/// The source columns of an attribute with what a label says of each; nothing where the label cannot be taken apart.
fn columns<'a>(name: &'a str, label: &'a str) -> Vec<(&'a str, &'a str)> {
    let (names, labels) = (parts(name), parts(label));
    match names.len() {
        1 => vec![(name, label)],
        n if n == labels.len() => names.into_iter().zip(labels).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Attribute, NOT_ASKED};
    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::from_toml(text).unwrap()
    }

    #[test]
    fn conditions_tie_parents_children_and_siblings() {
        let schema = schema(
            "[[attribute]]\nname = \"a\"\ncategories = [\"n\", \"y\", \"z\"]\n\
             [[attribute]]\nname = \"free\"\ncategories = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"b\"\nasked_if = \"a = y\"\ncategories = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"c\"\nasked_if = \"b = 1\"\ncategories = [\"0\", \"1\", \"2\"]\n",
        );
        let components = schema.components();
        let attributes: Vec<&[usize]> = components.iter().map(Component::attributes).collect();
        assert_eq!(attributes, [&[0, 2, 3][..], &[1]]);
        // a in (n, z) | b, c not asked; a = y, b = 0, c not asked; a = y, b = 1, c asked.
        assert_eq!(components[0].records().unwrap().len(), 3);
        let combinations = components[0].combinations(100).unwrap();
        assert_eq!(combinations.len(), 2 + 1 + 3);
        assert!(combinations.contains(&vec![1, 1, 2]) && !combinations.contains(&vec![0, 1, 2]));
        assert_eq!(components[0].combinations(5), None);
        assert_eq!(schema.attributes()[2].categories()[2], NOT_ASKED);
    }

    #[test]
    fn source_columns_tie_what_is_crossed() {
        let attribute = |name: &str, labels: &[&str]| {
            Attribute::new(name, labels.iter().map(|&label| label.to_owned()).collect()).unwrap()
        };
        let pairs = ["x*0", "x*1", "y*0", "y*1"];
        let schema = Schema::new(vec![attribute("a", &["x", "y"]), attribute("a*b", &pairs)]).unwrap();
        let components = schema.components();
        assert_eq!(components.len(), 1);
        assert_eq!(components[0].combinations(10).unwrap(), [[0, 0], [0, 1], [1, 2], [1, 3]]);
    }
}
