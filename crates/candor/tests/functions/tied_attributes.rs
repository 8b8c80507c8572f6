//! Numbers about tied attributes agree with brute force over all possible records and responses.

use candor::guarantee::certified;
use candor_base::channel::{Channel, Matrix};
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Schema};
use candor_base::shape::Shape;
use candor_design::{Request, design};
use candor_privacy::{AuditRequest, audit};

use crate::sent::all_sent;

/// Maximum number of values; more take too long.
const MAX: usize = 1 << 21;

/// A generator of small numbers with a fixed sequence.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Returns a random schema with skip logic.
///
/// It has chains, several children, public parents, and categories for missing values.
fn conditional_schema(chance: &mut Chance) -> Schema {
    let attributes = 2 + chance.below(3);
    Schema::from_toml(&conditional(chance, 'q', attributes)).unwrap()
}

/// Returns two components with skip logic, and perhaps an attribute that is tied to none.
fn two_components(chance: &mut Chance) -> Schema {
    let mut text = conditional(chance, 'q', 2) + &conditional(chance, 'r', 2);
    if chance.below(2) == 0 {
        text += "[[attribute]]\nname = \"free\"\ncategories = [\"0\", \"1\"]\n";
    }
    Schema::from_toml(&text).unwrap()
}

/// Returns attributes in TOML, some of which are asked depending on others.
fn conditional(chance: &mut Chance, letter: char, attributes: usize) -> String {
    let mut text = String::new();
    let mut labels: Vec<Vec<String>> = Vec::new();
    let mut public = Vec::new();
    for a in 0..attributes {
        let mut own: Vec<String> = (0..2 + chance.below(2)).map(|c| format!("c{c}")).collect();
        if chance.below(4) == 0 {
            own.push(String::new());
        }
        let parent = (a > 0 && chance.below(5) > 0).then(|| chance.below(a));
        let is_public = chance.below(5) == 0 && parent.is_none_or(|parent| public[parent]);
        text += &format!("[[attribute]]\nname = \"{letter}{a}\"\npublic = {is_public}\ncategories = {own:?}\n");
        if let Some(parent) = parent {
            let some = labels[parent].iter().filter(|_| chance.below(2) == 0).cloned().collect::<Vec<String>>();
            let asks = if some.is_empty() { vec![labels[parent][0].clone()] } else { some };
            text += &format!("asked_if = {{ attribute = \"{letter}{parent}\", categories = {asks:?} }}\n");
            own.push("(not asked)".to_owned());
        }
        labels.push(own);
        public.push(is_public);
    }
    if public.iter().all(|&public| public) {
        text += &format!("[[attribute]]\nname = \"{letter}more\"\ncategories = [\"0\", \"1\"]\n");
    }
    text
}

/// Returns attributes, cross-classifications, and attributes together with their cross-classifications.
fn crossed_schema(chance: &mut Chance) -> Schema {
    let labels = |n: usize, letter: char| (0..n).map(|i| format!("{letter}{i}")).collect::<Vec<String>>();
    let (a, b) = (labels(2 + chance.below(2), 'a'), labels(2, 'b'));
    let both = a.iter().flat_map(|x| b.iter().map(move |y| format!("{x}*{y}"))).collect::<Vec<String>>();
    let mut attributes = vec![Attribute::new("A*B", both).unwrap()];
    if chance.below(4) > 0 {
        attributes.push(Attribute::new("A", a).unwrap());
    }
    if chance.below(2) > 0 {
        attributes.push(Attribute::new("B", b).unwrap());
    }
    attributes.push(Attribute::new("free", labels(2, 'f')).unwrap());
    Schema::new(attributes).unwrap()
}

/// Returns whether a person can have these categories, derived from the schema again.
fn is_possible(schema: &Schema, record: &[usize]) -> bool {
    let label = |a: usize| schema.attributes()[a].categories()[record[a]].as_str();
    let asked = |a: usize| match schema.attributes()[a].asked_if() {
        Some(condition) => {
            let parent = schema.position(&condition.attribute).unwrap();
            condition.categories.iter().any(|asks| asks == label(parent)) == (label(a) != "(not asked)")
        }
        None => true,
    };
    let part = |a: usize, column: &str| {
        let at = schema.name(a).split('*').position(|part| part == column)?;
        if schema.name(a).contains('*') { label(a).split('*').nth(at) } else { Some(label(a)) }
    };
    let same = |column: &str| {
        let mut labels = (0..record.len()).filter_map(|a| part(a, column));
        labels.next().is_none_or(|first| labels.all(|other| other == first))
    };
    (0..record.len()).all(asked) && ["A", "B"].into_iter().all(same)
}

/// Returns the attributes that are tied to one, including itself.
fn component(schema: &Schema, attribute: usize) -> Vec<usize> {
    let mut found = vec![attribute];
    let shared = |a: usize, b: usize| schema.name(a).split('*').any(|x| schema.name(b).split('*').any(|y| x == y));
    let asks = |a: usize, b: usize| schema.asked_if(a).is_some_and(|(parent, _)| parent == b);
    while let Some(next) = (0..schema.attributes().len())
        .find(|&a| !found.contains(&a) && found.iter().any(|&b| shared(a, b) || asks(a, b) || asks(b, a)))
    {
        found.push(next);
    }
    found
}

/// All records, the possible ones, and the likelihood of every response under each; `None` if there are too many.
struct Written {
    records: Vec<Vec<usize>>,
    likelihoods: Vec<Vec<f64>>,
}

fn written_out(plan: &Plan) -> Option<Written> {
    let shape = Shape::new(plan.schema().sizes());
    let records: Vec<Vec<usize>> = (0..shape.cells()).map(|cell| shape.codes(cell)).collect();
    let mut likelihoods = vec![vec![1.0]; records.len()];
    for block in plan.blocks() {
        let sent = all_sent(plan, block)?;
        if sent.len() * likelihoods[0].len() * records.len() > MAX {
            return None;
        }
        let own = plan.schema().shape(block.attributes());
        for (record, row) in records.iter().zip(&mut likelihoods) {
            let cell = own.cell(&block.attributes().iter().map(|&a| record[a]).collect::<Vec<usize>>());
            *row = row.iter().flat_map(|p| sent.iter().map(move |sent| p * sent.likelihoods[cell])).collect();
        }
    }
    Some(Written { records, likelihoods })
}

/// Returns the largest log ratio between possible records that agree outside of the component.
fn conditional_epsilon(plan: &Plan, written: &Written, tied: &[usize]) -> f64 {
    let mut worst = 0.0f64;
    let possible: Vec<usize> =
        (0..written.records.len()).filter(|&r| is_possible(plan.schema(), &written.records[r])).collect();
    for &x in &possible {
        let agree = |y: &&usize| {
            (0..written.records[x].len()).all(|a| tied.contains(&a) || written.records[x][a] == written.records[**y][a])
        };
        for &y in possible.iter().filter(agree) {
            let pairs = written.likelihoods[x].iter().zip(&written.likelihoods[y]);
            worst = pairs.filter(|(p, _)| **p > 0.0).map(|(p, q)| (p / q).ln()).fold(worst, f64::max);
        }
    }
    worst
}

/// What everything that is sent, including public answers, reveals about an attribute.
struct Revealed {
    right: f64,
    surest: f64,
    bits: f64,
}

/// Returns it for a prior that is uniform over the attribute's categories, then uniform over possible records.
fn revealed(plan: &Plan, written: &Written, attribute: usize) -> Revealed {
    let schema = plan.schema();
    let categories = schema.size(attribute);
    let mut counts = vec![0.0f64; categories];
    let public: Vec<usize> = (0..schema.attributes().len()).filter(|&a| schema.attributes()[a].is_public()).collect();
    let mut sums: std::collections::HashMap<Vec<usize>, Vec<Vec<f64>>> = std::collections::HashMap::new();
    let people = written.records.iter().zip(&written.likelihoods);
    for (record, row) in people.filter(|(record, _)| is_possible(schema, record)) {
        counts[record[attribute]] += 1.0;
        let seen: Vec<usize> = public.iter().map(|&a| record[a]).collect();
        let sums = sums.entry(seen).or_insert_with(|| vec![vec![0.0; row.len()]; categories]);
        sums[record[attribute]].iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
    }
    let mut bits = 0.0;
    let (mut right, mut surest) = (0.0, 0.0f64);
    for sums in sums.values() {
        let possible = counts.iter().filter(|count| **count > 0.0).count() as f64;
        let responses = sums[0].len();
        for z in 0..responses {
            let joint = sums.iter().zip(&counts).map(|(sums, count)| sums[z] / count.max(1.0) / possible);
            let joint: Vec<f64> = joint.collect();
            let (all, best) = (joint.iter().sum::<f64>(), joint.iter().copied().fold(0.0, f64::max));
            right += best;
            surest = surest.max(if all > 0.0 { best / all } else { 0.0 });
            let term = |p: f64| if p > 0.0 { p * (p * possible / all).log2() } else { 0.0 };
            bits += joint.into_iter().map(term).sum::<f64>();
        }
    }
    Revealed { right, surest, bits }
}

/// Returns whether a channel answers the attribute together with tied ones, or it is tied itself.
fn is_concerned(plan: &Plan, attribute: usize) -> bool {
    let is_tied = |attribute: usize| component(plan.schema(), attribute).len() > 1;
    let answers = |block: &Block| {
        let touched = |(_, channel): &(u64, Channel)| {
            let places = channel.places().into_iter().map(|place| block.attributes()[place]).collect::<Vec<usize>>();
            places.contains(&attribute) && places.into_iter().any(is_tied)
        };
        block.channels().iter().any(touched)
    };
    is_tied(attribute) || plan.blocks().iter().any(answers)
}

/// Compares all numbers about every attribute with brute force.
///
/// Returns how many attributes were compared, and for how many the numbers were exact.
fn check(plan: &Plan, note: &str) -> (usize, usize) {
    let Some(written) = written_out(plan) else { return (0, 0) };
    let printed = certified(plan);
    let findings = audit(&AuditRequest::new(plan));
    let of = |name: &str, about: &str| {
        let finding = findings.iter().find(|finding| finding.name() == name).unwrap();
        finding.details.iter().find(|detail| detail.about == about).and_then(|detail| detail.value)
    };
    let (mut compared, mut exact) = (0, 0);
    for (printed, attribute) in printed.iter().zip(plan.schema().randomized()) {
        let tied = component(plan.schema(), attribute);
        let note = format!("{note}, {}: {plan:?}", printed.name);
        let epsilon = conditional_epsilon(plan, &written, &tied);
        let certified = printed.conditional_epsilon.unwrap_or(f64::INFINITY);
        assert!(certified >= epsilon - 1e-12, "conditional {certified} < {epsilon}, {note}");
        let Revealed { right, surest, bits } = revealed(plan, &written, attribute);
        assert!(printed.guess_probability >= right - 1e-9, "{} < {right}, {note}", printed.guess_probability);
        assert!(printed.worst_posterior >= surest - 1e-9, "{} < {surest}, {note}", printed.worst_posterior);
        if printed.guess_exact {
            assert!((printed.guess_probability - right).abs() < 1e-9, "{} {right}, {note}", printed.guess_probability);
            assert!((printed.worst_posterior - surest).abs() < 1e-9, "{} {surest}, {note}", printed.worst_posterior);
        }
        if is_concerned(plan, attribute) {
            let sure = |found: Option<f64>| found.unwrap_or(f64::INFINITY);
            assert!(sure(of("worst-posterior", &printed.name)) >= surest - 1e-9, "worst-posterior, {note}");
            assert!(sure(of("guessing", &printed.name)) >= right - 1e-9, "guessing, {note}");
            assert!(of("map-privacy", &printed.name).unwrap_or(0.0) <= 1.0 - right + 1e-9, "map-privacy, {note}");
            assert!(sure(of("mutual-information", &printed.name)) >= bits - 1e-9, "mutual-information, {note}");
        }
        compared += 1;
        exact += usize::from((certified - epsilon).abs() < 1e-9 || certified == epsilon);
    }
    (compared, exact)
}

/// Returns plans of every method that supports the schema, and one of random matrices.
fn plans(schema: &Schema, chance: &mut Chance) -> Vec<(String, Plan)> {
    let epsilon = [0.5f64, 1.0, 2.0, 4.0][chance.below(4)];
    let requests = [
        format!(r#"{{"method": "independent", "epsilon": {epsilon}}}"#),
        format!(r#"{{"method": "joint", "epsilon": {epsilon}}}"#),
        format!(r#"{{"method": "minimax", "parity": {:?}}}"#, vec![epsilon.exp(); schema.randomized().len()]),
        format!(r#"{{"method": "sampling", "epsilon": {epsilon}}}"#),
        format!(r#"{{"method": "workload", "epsilon": {epsilon}, "tables": "pairs"}}"#),
        format!(r#"{{"method": "optimal", "epsilon": {epsilon}}}"#),
        format!(r#"{{"method": "l-diversity", "l": {:?}}}"#, vec![2; schema.randomized().len()]),
    ];
    let mut found = Vec::new();
    for text in requests {
        let request: Request = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        if let Ok(designed) = design(schema, &request) {
            found.push((text, designed.plan));
        }
    }
    let block = |attribute: usize| {
        let (n, outputs) = (schema.size(attribute), 2 + chance.below(2));
        let column = |_| {
            let weights: Vec<f64> = (0..outputs).map(|_| 1.0 + chance.below(9) as f64).collect();
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|w| w / sum).collect::<Vec<f64>>()
        };
        let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
        let labels = (0..outputs).map(|z| format!("z{z}")).collect();
        Block::new(vec![attribute], Channel::Matrix(Matrix::rounded(vec![n], labels, &columns).unwrap()))
    };
    let blocks = schema.randomized().into_iter().map(block).collect();
    found.push(("matrices".to_owned(), Plan::new(schema.clone(), blocks).unwrap()));
    found
}

#[test]
fn nothing_printed_about_tied_attributes_is_too_small() {
    let mut chance = Chance(20);
    let (mut compared, mut exact) = (0, 0);
    for number in 0..80 {
        let schema = match number % 8 {
            3 => crossed_schema(&mut chance),
            1 | 4 | 6 => two_components(&mut chance),
            _ => conditional_schema(&mut chance),
        };
        for (note, plan) in plans(&schema, &mut chance) {
            let (all, same) = check(&plan, &note);
            compared += all;
            exact += same;
        }
    }
    assert!(compared > 800, "only {compared} attributes were compared");
    assert!(exact * 10 > compared * 9, "only {exact} of {compared} conditional epsilons are exact");
}

/// Attributes that one channel answers together with those of another component.
#[test]
fn other_components_of_the_same_channel_reveal_something() {
    // The public answer proves that "b" was not asked, so that the joint answer about both reveals whether it was kept.
    let question =
        |name: &str, more: &str| format!("[[attribute]]\nname = \"{name}\"\n{more}\ncategories = [\"no\", \"yes\"]\n");
    let text = question("c", "public = true") + &question("b", "asked_if = \"c = yes\"") + &question("a", "");
    let schema = Schema::from_toml(&text).unwrap();
    let made = |text: &str| design(&schema, &serde_json::from_str(text).unwrap()).unwrap().plan;
    let plan = made(r#"{"method": "joint", "epsilon": 2}"#);
    let printed = &certified(&plan)[1];
    let sure = 2f64.exp() / (1.0 + 2f64.exp());
    assert!(printed.guess_exact && (printed.worst_posterior - sure).abs() < 1e-9, "{printed:?} {sure}");
    assert_eq!(check(&plan, "public"), (2, 2));
    // Answered apart, "b" reveals nothing about "a".
    let printed = &certified(&made(r#"{"method": "independent", "epsilon": 2}"#))[1];
    assert!((printed.worst_posterior - 1f64.exp() / (1.0 + 1f64.exp())).abs() < 1e-9, "{printed:?}");
}

/// The schema of the attack: one question, and three that are asked only of people who answer yes.
#[test]
fn a_question_with_three_follow_ups() {
    let mut text = "[[attribute]]\nname = \"Drug use\"\ncategories = [\"no\", \"yes\"]\n".to_owned();
    for number in 1..4 {
        text += &format!(
            "[[attribute]]\nname = \"Follow-up {number}\"\nasked_if = \"'Drug use' = yes\"\ncategories = \
             [\"a\", \"b\"]\n"
        );
    }
    let schema = Schema::from_toml(&text).unwrap();
    let made = |text: &str| design(&schema, &serde_json::from_str(text).unwrap()).unwrap().plan;
    let plan = made(r#"{"method": "independent", "epsilon": 4}"#);
    let printed = &certified(&plan)[0];
    assert!((printed.conditional_epsilon.unwrap() - 4.0).abs() < 1e-9, "{printed:?}");
    assert!((printed.marginal_epsilon.unwrap() - 1.0).abs() < 1e-9);
    assert!((printed.worst_posterior - 0.98201).abs() < 1e-5 && (printed.guess_probability - 0.80920).abs() < 1e-5);
    assert!(printed.guess_exact);
    assert_eq!(check(&plan, "follow-ups"), (4, 4));
    for text in
        [r#"{"method": "sampling", "epsilon": 2}"#, r#"{"method": "workload", "epsilon": 2, "tables": "pairs"}"#]
    {
        let plan = made(text);
        assert_eq!(check(&plan, text), (4, 4));
        assert!(certified(&plan)[0].guess_probability > 0.71, "{text}");
    }
}
