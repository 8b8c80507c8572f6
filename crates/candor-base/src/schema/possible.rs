//! Possible records: the combinations of categories that a person can have.
//!
//! Two attributes are *joined* if one is asked depending on the other, or if they share a source column. Attributes
//! connected by such joins are *tied*: changing one may force a change of another. The loss of a tied attribute is
//! therefore taken over possible records only, which may differ in all attributes of its component.
//!
//! Conditions distinguish few sets of categories. So the categories of an attribute fall into *classes* that every
//! condition treats alike, and the possibility of a record depends on its classes alone.
//!
//! A schema may come from an untrusted source. The work is linear in its length, plus a bounded number of steps for
//! listing possible records. If these do not suffice, every combination counts as possible, which makes the loss an
//! upper bound.

use std::collections::HashMap;

use super::conditions::Condition;
use super::{Schema, parts};

/// Largest number of combinations of classes that are listed; with more, losses are upper bounds.
const MAX_RECORDS: usize = 512;

/// Largest number of comparisons of labels and conditions that listing may take for one schema.
const MAX_STEPS: usize = 1 << 26;

/// A set of tied attributes, and their possible combinations.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    attributes: Vec<usize>,
    /// For each attribute of the component, its categories by class.
    classes: Vec<Vec<Vec<u16>>>,
    /// The possible combinations of classes; `None` if every combination counts as possible.
    records: Option<Vec<Vec<u16>>>,
}

impl Component {
    /// Returns the positions of its attributes in the schema, including public ones, in increasing order.
    pub fn attributes(&self) -> &[usize] {
        &self.attributes
    }

    /// Returns whether it has more than one attribute.
    pub fn is_tied(&self) -> bool {
        self.attributes.len() > 1
    }

    /// Returns the categories of each of its attributes, by class.
    pub fn classes(&self) -> &[Vec<Vec<u16>>] {
        &self.classes
    }

    /// Returns the possible combinations of classes, one class for each attribute.
    ///
    /// Every combination of categories in these classes is possible. Returns `None` if all combinations count as
    /// possible: they are too many to list, or labels would exclude some category altogether.
    pub fn records(&self) -> Option<&[Vec<u16>]> {
        self.records.as_deref()
    }

    /// Returns the possible combinations of categories, or `None` if there are more than `limit` or they are not
    /// listed.
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
    /// Returns the components of tied attributes, in the order of their first attributes.
    ///
    /// An attribute that is not tied to any other is a component of its own. Cost: linear in the schema, plus at most
    /// 2^26 comparisons for listing possible records.
    pub fn components(&self) -> Vec<Component> {
        let n = self.attributes.len();
        let conditions = self.conditions();
        let mut leader: Vec<usize> = (0..n).collect();
        for (a, b) in self.joins(&conditions) {
            let (a, b) = (root(&mut leader, a), root(&mut leader, b));
            leader[a.max(b)] = a.min(b);
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); n];
        (0..n).for_each(|a| members[root(&mut leader, a)].push(a));
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
        conditions.iter().enumerate().for_each(|(a, condition)| {
            condition.iter().for_each(|(on, _)| children[*on].push(a));
        });
        let mut tied = Tied { schema: self, conditions: &conditions, children, left: MAX_STEPS };
        members.into_iter().filter(|members| !members.is_empty()).map(|members| tied.component(members)).collect()
    }

    /// Returns the pairs of attributes that are joined.
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

/// Returns the representative of all attributes joined with this one, and shortens the path to it.
fn root(leader: &mut [usize], mut a: usize) -> usize {
    while leader[a] != a {
        leader[a] = leader[leader[a]];
        a = leader[a];
    }
    a
}

/// A schema with its conditions resolved.
struct Tied<'a> {
    schema: &'a Schema,
    conditions: &'a [Condition],
    /// For each attribute, the attributes that are asked depending on it.
    children: Vec<Vec<usize>>,
    /// The number of comparisons left.
    left: usize,
}

/// A tie between the classes of two attributes: equal marks, or no mark (0) on one side.
struct Tie {
    /// The place of the earlier attribute in the component.
    before: usize,
    /// The number of its marks, and of the later attribute's marks.
    marks: [usize; 2],
}

/// The ties of each attribute of a component with earlier ones, and the marks of the classes they compare.
#[derive(Default)]
struct Ties {
    with: Vec<Vec<Tie>>,
    marks: Vec<Vec<u32>>,
}

impl Ties {
    fn join(&mut self, (a, marks_a): (usize, usize), (b, marks_b): (usize, usize)) {
        let (before, after, marks) = if a < b { (a, b, [marks_a, marks_b]) } else { (b, a, [marks_b, marks_a]) };
        self.with[after].push(Tie { before, marks });
    }

    fn add(&mut self, marks: Vec<u32>) -> usize {
        self.marks.push(marks);
        self.marks.len() - 1
    }
}

impl<'a> Tied<'a> {
    /// Subtracts from the comparisons left; `None` if too few are left.
    fn spend(&mut self, comparisons: usize) -> Option<()> {
        self.left = self.left.checked_sub(comparisons)?;
        Some(())
    }

    fn component(&mut self, attributes: Vec<usize>) -> Component {
        let single = attributes.len() == 1;
        let crossed = self.is_crossed(&attributes);
        let classes = |&attribute: &usize| match (single, crossed) {
            (true, _) => vec![(0..self.schema.size(attribute) as u16).collect()],
            (_, true) => (0..self.schema.size(attribute) as u16).map(|category| vec![category]).collect(),
            _ => self.classes(attribute),
        };
        let classes: Vec<Vec<Vec<u16>>> = attributes.iter().map(classes).collect();
        let mut component = Component { attributes, classes, records: None };
        component.records = match single {
            true => Some(vec![vec![0]]),
            false => self.possible_classes(&component),
        };
        component
    }

    /// Returns whether labels refer to source columns. Otherwise no two attributes share one.
    fn is_crossed(&self, attributes: &[usize]) -> bool {
        attributes.iter().any(|&a| parts(self.schema.name(a)).len() > 1)
    }

    /// Groups the categories of an attribute by their meaning for the conditions on it and on whether it is asked.
    fn classes(&self, attribute: usize) -> Vec<Vec<u16>> {
        let mut asked: Vec<Vec<usize>> = vec![Vec::new(); self.schema.size(attribute)];
        for &child in &self.children[attribute] {
            let codes = self.conditions[child].iter().flat_map(|(_, codes)| codes);
            codes.for_each(|&code| asked[usize::from(code)].push(child));
        }
        let (mut known, mut classes) = (HashMap::new(), Vec::<Vec<u16>>::new());
        for (category, asked) in asked.into_iter().enumerate() {
            let category = category as u16;
            let kind = (asked, self.is_not_asked(attribute, category));
            let class = *known.entry(kind).or_insert(classes.len());
            if class == classes.len() {
                classes.push(Vec::new());
            }
            classes[class].push(category);
        }
        classes
    }

    fn is_not_asked(&self, attribute: usize, category: u16) -> bool {
        self.schema.attributes[attribute].not_asked() == Some(category)
    }

    /// Lists the possible combinations of classes, extending them attribute by attribute.
    ///
    /// Returns `None` if they are too many or finding them takes too long. It also returns `None` if labels would
    /// exclude some category altogether, as `yes` next to `Y*m` does: then labels do not mean what they seem to, and
    /// people have the records that labels would exclude.
    fn possible_classes(&mut self, component: &Component) -> Option<Vec<Vec<u16>>> {
        let mut ties = Ties { with: component.attributes.iter().map(|_| Vec::new()).collect(), marks: Vec::new() };
        self.tie_conditions(component, &mut ties)?;
        self.tie_columns(component, &mut ties)?;
        let mut records: Vec<Vec<u16>> = vec![Vec::new()];
        for (at, with) in ties.with.iter().enumerate() {
            let mut longer = Vec::new();
            for record in &records {
                for class in 0..component.classes[at].len() {
                    let agree = |tie: &Tie| {
                        let [before, own] = tie.marks.map(|number| &ties.marks[number]);
                        let marks = (before[usize::from(record[tie.before])], own[class]);
                        marks.0 == marks.1 || marks.0 == 0 || marks.1 == 0
                    };
                    let differs = with.iter().position(|tie| !agree(tie));
                    self.spend(1 + differs.unwrap_or(with.len()))?;
                    if differs.is_none() {
                        self.spend(1 + record.len() / 16)?;
                        longer.push(record.iter().copied().chain([class as u16]).collect());
                    }
                    if longer.len() > MAX_RECORDS {
                        return None;
                    }
                }
            }
            records = longer;
        }
        let occurs = |at: usize, class: usize| records.iter().any(|record| usize::from(record[at]) == class);
        let all_occur = |(at, classes): (usize, &Vec<Vec<u16>>)| (0..classes.len()).all(|class| occurs(at, class));
        let listed = !self.is_crossed(&component.attributes) || component.classes.iter().enumerate().all(all_occur);
        listed.then_some(records)
    }

    /// Ties each condition: respondents who are asked have an answer, and no others do.
    fn tie_conditions(&mut self, component: &Component, ties: &mut Ties) -> Option<()> {
        let conditions = self.conditions;
        for (child, &attribute) in component.attributes.iter().enumerate() {
            let Some((on, codes)) = &conditions[attribute] else { continue };
            let parent = component.attributes.binary_search(on).ok()?;
            self.spend(component.classes[parent].len() + component.classes[child].len())?;
            let asks = |class: &Vec<u16>| 1 + u32::from(codes.binary_search(&class[0]).is_ok());
            let answers = |class: &Vec<u16>| 1 + u32::from(!self.is_not_asked(attribute, class[0]));
            let asks = ties.add(component.classes[parent].iter().map(asks).collect());
            let answers = ties.add(component.classes[child].iter().map(answers).collect());
            ties.join((parent, asks), (child, answers));
        }
        Some(())
    }

    /// Ties source columns: labels must agree on them. A label that does not split into their number agrees with any.
    fn tie_columns(&mut self, component: &Component, ties: &mut Ties) -> Option<()> {
        if !self.is_crossed(&component.attributes) {
            return Some(());
        }
        let (mut labels, mut tellers) = (HashMap::new(), HashMap::<&str, Vec<(usize, usize)>>::new());
        for (at, &attribute) in component.attributes.iter().enumerate() {
            let (columns, categories) =
                (parts(self.schema.name(attribute)), self.schema.attributes[attribute].categories());
            self.spend(columns.len().saturating_mul(categories.len()))?;
            let mut marks = vec![Vec::with_capacity(categories.len()); columns.len()];
            for label in categories {
                let said = if columns.len() == 1 { vec![label.as_str()] } else { parts(label) };
                for (column, marks) in marks.iter_mut().enumerate() {
                    let known = labels.len() as u32 + 1;
                    let mark = said.get(column).filter(|_| said.len() == columns.len());
                    marks.push(mark.map_or(0, |part| *labels.entry(*part).or_insert(known)));
                }
            }
            for (column, marks) in columns.into_iter().zip(marks) {
                let own = (at, ties.add(marks));
                let others = tellers.entry(column).or_default();
                self.spend(others.len())?;
                others.iter().filter(|(before, _)| *before < at).for_each(|&other| ties.join(other, own));
                others.push(own);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::super::{Attribute, NOT_ASKED};
    use super::*;
    use crate::channel::{Axis, Pattern};
    use crate::plan::{Block, Plan};

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
        // a in (n, z) and b, c not asked; a = y, b = 0 and c not asked; a = y, b = 1 and c asked.
        assert_eq!(components[0].records().unwrap().len(), 3);
        let combinations = components[0].combinations(100).unwrap();
        assert_eq!(combinations.len(), 2 + 1 + 3);
        assert!(combinations.contains(&vec![1, 1, 2]) && !combinations.contains(&vec![0, 1, 2]));
        assert_eq!(components[0].combinations(5), None);
        assert_eq!(schema.attributes()[2].categories()[2], NOT_ASKED);
    }

    #[test]
    fn source_columns_tie_what_is_crossed() {
        let attribute = |name: &str, labels: &[&str]| Attribute::new(name, labels.iter().copied()).unwrap();
        let pairs = ["x*0", "x*1", "y*0", "y*1"];
        let schema = Schema::new(vec![attribute("a", &["x", "y"]), attribute("a*b", &pairs)]).unwrap();
        let components = schema.components();
        assert_eq!(components.len(), 1);
        assert_eq!(components[0].combinations(10).unwrap(), [[0, 0], [0, 1], [1, 2], [1, 3]]);
    }

    /// Checks the definition: columns agree, and exactly the questions that are asked have an answer.
    fn is_possible(schema: &Schema, record: &[u16]) -> bool {
        let label = |a: usize| schema.attributes()[a].categories()[usize::from(record[a])].as_str();
        let said = |a: usize| match parts(schema.name(a)) {
            names if names.len() == 1 => vec![(names[0], label(a))],
            names if names.len() == parts(label(a)).len() => names.into_iter().zip(parts(label(a))).collect(),
            _ => Vec::new(),
        };
        let all: Vec<(&str, &str)> = (0..record.len()).flat_map(said).collect();
        all.iter().all(|one| all.iter().all(|other| one.0 != other.0 || one.1 == other.1))
            && (0..record.len()).all(|a| match schema.asked_if(a) {
                Some((on, asks)) => asks[usize::from(record[on])] != (label(a) == NOT_ASKED),
                None => true,
            })
    }

    fn combinations(schema: &Schema) -> Vec<Vec<u16>> {
        let shape = schema.shape(&(0..schema.attributes().len()).collect::<Vec<_>>());
        (0..shape.cells()).map(|cell| shape.codes(cell).into_iter().map(|code| code as u16).collect()).collect()
    }

    /// Lists exactly the records that the definition allows, for conditions on any attribute, siblings and crossings.
    #[test]
    fn records_are_possible_by_definition() {
        let condition = |on: usize, label: usize| format!("asked_if = \"a{on} = {label}\"\n");
        let mut listed = 0;
        for way in 0..2000usize {
            // The digits of the number give the attribute on which each attribute depends, if any.
            let attribute = |a: usize| {
                let (on, asks) = (way / 6usize.pow(a as u32) % 6, (way + a) % 2);
                let asked = if on < 4 && on != a { condition(on, asks) } else { String::new() };
                let labels = if asked.is_empty() { "[\"0\", \"1\", \"2\"]" } else { "[\"0\", \"1\"]" };
                format!("[[attribute]]\nname = \"a{a}\"\n{asked}categories = {labels}\n")
            };
            let crossed = "[[attribute]]\nname = \"a0*b\"\ncategories = [\"0*x\", \"0*y\", \"1*x\", \"?\"]\n\
                           [[attribute]]\nname = \"b\"\ncategories = [\"x\", \"y\"]\n";
            let text = (0..4).map(attribute).collect::<String>() + if way % 3 == 0 { crossed } else { "" };
            let Ok(schema) = Schema::from_toml(&text) else { continue };
            for component in schema.components().iter().filter(|component| component.is_tied()) {
                listed += 1;
                let of = component.attributes();
                let project = |record: Vec<u16>| of.iter().map(|&a| record[a]).collect::<Vec<u16>>();
                let possible = combinations(&schema).into_iter().filter(|record| is_possible(&schema, record));
                let expected: BTreeSet<Vec<u16>> = possible.map(project).collect();
                let found = component.combinations(usize::MAX).unwrap();
                assert_eq!(found.len(), found.iter().collect::<BTreeSet<_>>().len(), "{text}");
                assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "{text}");
            }
        }
        assert!(listed > 500, "{listed}");
    }

    /// A category that matches no label of another attribute shows that labels have another meaning. Then no
    /// combination may count as impossible, or the loss of the answers would be understated.
    #[test]
    fn labels_that_exclude_a_category_exclude_nothing() {
        for labels in [&["N*m", "N*f", "Y*m", "Y*f"][..], &["no*m", "no*f", "Yes*m", "Yes*f"], &["no*m", "no*f"]] {
            let attribute = |name: &str, labels: &[&str]| Attribute::new(name, labels.iter().copied()).unwrap();
            let schema = Schema::new(vec![attribute("drug", &["no", "yes"]), attribute("drug*sex", labels)]).unwrap();
            assert_eq!((schema.components().len(), schema.components()[0].records()), (1, None), "{labels:?}");
            let of = |size| Pattern::k_ary(vec![Axis::single(size)], 2.0).unwrap();
            let blocks = vec![Block::new(vec![0], of(2)), Block::new(vec![1], of(labels.len()))];
            let plan = Plan::new(schema, blocks).unwrap();
            let guarantee = plan.guarantee();
            assert!(guarantee.attributes().iter().all(|a| a.conditional == guarantee.epsilon()));
        }
    }

    /// Schemas that once took minutes or too much memory; they end now, and list nothing.
    #[test]
    fn the_work_is_bounded_whatever_the_schema() {
        let labels = |n: usize, of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<String>>();
        let attribute = |name: &str, labels: Vec<String>| Attribute::new(name, labels).unwrap();
        let plain = |i: usize| format!("c{i}");
        // Many crossings of one column, and one crossing with the largest number of labels.
        let one = attribute("a", labels(500, &plain));
        let crossings = |n: usize, cells: usize, of: &dyn Fn(usize) -> String| {
            let crossing = |i: usize| attribute(&format!("a*b{i}"), labels(cells, of));
            Schema::new(std::iter::once(one.clone()).chain((0..n).map(crossing)).collect()).unwrap()
        };
        let some = crossings(3, 500, &|i| format!("c{i}*d")).components();
        assert_eq!(some[0].records().map(<[_]>::len), Some(500));
        assert_eq!(crossings(300, 500, &|i| format!("c{i}*d")).components()[0].records(), None);
        assert_eq!(crossings(3, 65_535, &|i| format!("z*{i}")).components()[0].records(), None);
        // A chain, and 40 questions that depend on an attribute with the largest number of categories.
        let asked = |name: String, on: String, asks: Vec<String>| {
            let asked_if = json!({ "attribute": on, "categories": asks });
            let text = json!({ "name": name, "asked_if": asked_if, "categories": ["x", "y"] });
            Attribute::checked(serde_json::from_value(text).unwrap()).unwrap()
        };
        let link = |i: usize| asked(format!("a{i}"), format!("a{}", i - 1), vec!["x".to_owned()]);
        let first = attribute("a0", labels(2, &|i| ["x", "y"][i].to_owned()));
        let chain = Schema::new(std::iter::once(first).chain((1..20_000).map(link)).collect()).unwrap();
        assert_eq!((chain.components().len(), chain.components()[0].records()), (1, None));
        let all = labels(65_535, &plain);
        let child = |i: usize| asked(format!("q{i}"), "p".to_owned(), all[i..i + 30_000].to_vec());
        let parent = attribute("p", all.clone());
        let wide = Schema::new(std::iter::once(parent).chain((0..40).map(child)).collect()).unwrap();
        assert_eq!(wide.components()[0].records().map(<[_]>::len), Some(80));
    }
}
