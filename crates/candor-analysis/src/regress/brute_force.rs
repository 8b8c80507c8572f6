//! Tests likelihoods and weights against all possible responses, by definition.
#![cfg(test)]

use std::collections::BTreeMap;

use candor_base::channel::{Axis, Channel, Matrix, Part, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Content, Plan};
use candor_base::schema::{Attribute, Schema};
use candor_base::shape::Shape;
use candor_bulk::{AnswerColumn, Sets, UNANSWERED};

use super::answers::Answers;
use super::{Formula, Model, ModelOptions};
use crate::tally::Codes;

/// An answer of a block: its channel ID, a set for each attribute, and the cells of a subset channel.
type Sent = (u16, Vec<Vec<u16>>, Vec<u16>);

fn subsets(n: usize, q: usize) -> Vec<Vec<u16>> {
    let all = (0..1u32 << n).filter(|set| set.count_ones() as usize == q);
    all.map(|set| (0..n as u16).filter(|i| set >> i & 1 == 1).collect()).collect()
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let longer = |order: &Vec<usize>, at: usize| [&order[..at], &[n - 1], &order[at..]].concat();
    shorter.iter().flat_map(|order| (0..n).map(move |at| longer(order, at))).collect()
}

fn holds(set: &PatternSet, missing: &[usize]) -> bool {
    match set {
        PatternSet::All => true,
        PatternSet::Only(these) => these == missing,
        PatternSet::Hits(these) => these.iter().all(|i| !missing.contains(i)),
        other => panic!("no definition of {other:?} here"),
    }
}

/// Reported sets of categories and cells, with their probability.
type Law = Vec<(Vec<Vec<u16>>, Vec<u16>, f64)>;

/// Returns every answer of a channel with its probability, given the true categories.
fn law(channel: &Channel, truth: &[usize]) -> Law {
    match channel {
        Channel::Pattern(pattern) => law_of_pattern(pattern, truth),
        Channel::Matrix(matrix) => {
            let input = matrix.shape().cell(truth);
            let one = |output: usize| (vec![vec![output as u16]], Vec::new(), matrix.probability(output, input));
            (0..matrix.labels().len()).map(one).collect()
        }
        Channel::Strip(strip) => law_of_strip(strip, truth),
    }
}

fn law_of_pattern(pattern: &Pattern, truth: &[usize]) -> Law {
    let axes = pattern.axes();
    let answers = axes.iter().fold(vec![Vec::new()], |all: Vec<Vec<Vec<u16>>>, axis| {
        let sets = subsets(axis.categories, axis.answer);
        all.iter().flat_map(|one| sets.iter().map(move |set| [one.clone(), vec![set.clone()]].concat())).collect()
    });
    let missing = |answer: &Vec<Vec<u16>>| -> Vec<usize> {
        (0..axes.len()).filter(|&i| !answer[i].contains(&(truth[i] as u16))).collect()
    };
    let total: f64 = pattern.parts().iter().map(|part| part.weight as f64).sum();
    let probability = |answer: &Vec<Vec<u16>>| -> f64 {
        let own = pattern.parts().iter().filter(|part| holds(&part.set, &missing(answer)));
        let share = |part: &Part| {
            let members = answers.iter().filter(|other| holds(&part.set, &missing(other))).count();
            part.weight as f64 / total / members as f64
        };
        own.map(share).sum()
    };
    answers.iter().map(|answer| (answer.clone(), Vec::new(), probability(answer))).collect()
}

fn law_of_strip(strip: &Strip, truth: &[usize]) -> Law {
    let table = strip.table();
    let own: Vec<usize> = strip.places().iter().map(|&place| truth[place]).collect();
    let truth = table.cell(&own) as u16;
    let orders = table.sizes().iter().map(|&size| permutations(size)).fold(vec![Vec::new()], |all, orders| {
        let longer = |one: &Vec<Vec<usize>>| orders.iter().map(|o| [one.clone(), vec![o.clone()]].concat()).collect();
        all.iter().flat_map(|one| -> Vec<_> { longer(one) }).collect()
    });
    let mut sets: BTreeMap<Vec<u16>, f64> = BTreeMap::new();
    let [hit, all] = strip.weights().map(|weight| weight as f64);
    let relabelled = |order: &Vec<Vec<usize>>| {
        let cell = |&cell: &u16| {
            let codes: Vec<usize> =
                table.codes(cell.into()).iter().zip(order).map(|(&code, order)| order[code]).collect();
            table.cell(&codes) as u16
        };
        let mut set: Vec<u16> = strip.members().iter().map(cell).collect();
        set.sort_unstable();
        set
    };
    let hits = orders.iter().filter(|order| relabelled(order).contains(&truth)).count() as f64;
    for order in &orders {
        let set = relabelled(order);
        let in_hit = if set.contains(&truth) { hit / hits } else { 0.0 };
        *sets.entry(set).or_insert(0.0) += (all / orders.len() as f64 + in_hit) / (hit + all);
    }
    sets.into_iter().map(|(set, p)| (Vec::new(), set, p)).collect()
}

fn everything(block: &Block, truth: &[usize]) -> Vec<(Sent, f64)> {
    let of = |(tag, (share, channel)): (usize, (f64, &Channel))| {
        law(channel, truth).into_iter().map(move |(sets, cells, p)| ((tag as u16, sets, cells), share * p))
    };
    block.shares().enumerate().flat_map(of).collect()
}

/// Returns the columns of one response to a plan with one block.
fn columns(plan: &Plan, (tag, sets, cells): &Sent) -> Vec<AnswerColumn> {
    let one = |content: &Content| match content {
        Content::Answer { place, set: true, .. } => {
            AnswerColumn::Set([sets.get(*place).cloned().unwrap_or_default()].iter().collect::<Sets>())
        }
        Content::Answer { place, .. } => AnswerColumn::One(vec![sets.get(*place).map_or(UNANSWERED, |set| set[0])]),
        Content::Tag { .. } => AnswerColumn::One(vec![*tag]),
        Content::Cells { .. } => AnswerColumn::Set([cells.clone()].iter().collect::<Sets>()),
        Content::Public { .. } => AnswerColumn::One(vec![0]),
    };
    plan.columns().iter().map(|column| one(&column.content)).collect()
}

/// Returns a plan with one block over attributes `a`, `b` and `c` of these sizes.
fn plan(sizes: &[usize], lottery: Vec<(u64, Channel)>) -> Plan {
    let labels = |size: usize| (0..size).map(|code| code.to_string()).collect::<Vec<String>>();
    let attribute = |(name, &size): (&str, &usize)| Attribute::new(name, labels(size)).unwrap();
    let schema = Schema::new(["a", "b", "c"].into_iter().zip(sizes).map(attribute).collect()).unwrap();
    Plan::new(schema, vec![Block::lottery((0..sizes.len()).collect(), lottery)]).unwrap()
}

fn check(plan: &Plan, formula: &str) {
    let model = Model::new(plan, &formula.parse::<Formula>().unwrap(), &ModelOptions::default()).unwrap();
    let answers = Answers::new(plan, &model);
    answers.check(plan, &model).unwrap();
    let all = Shape::new(plan.schema().sizes());
    // For each record that a model can distinguish, its probability under every combination of true categories.
    let mut records: BTreeMap<Vec<u16>, Vec<f64>> = BTreeMap::new();
    for truth in 0..all.cells() {
        for (sent, p) in everything(&plan.blocks()[0], &all.codes(truth)) {
            let columns = columns(plan, &sent);
            let codes: Vec<Codes<'_>> = columns.iter().map(Codes::from).collect();
            let mut record = vec![0; answers.width];
            answers.encode(&codes, 0, &mut record);
            records.entry(record).or_insert_with(|| vec![0.0; all.cells()])[truth] += p;
        }
    }
    let mut expected = vec![vec![0.0; answers.shape.cells()]; all.cells()];
    let shares: Vec<f64> = plan.blocks()[0].shares().map(|(share, _)| share).collect();
    for (record, by_truth) in &records {
        let (likelihood, log) = answers.likelihood(record);
        let weights = answers.weights(record);
        let share = if shares.len() > 1 { shares[usize::from(record[0])] } else { 1.0 };
        let hidden = |truth: usize| all.project_cell(truth, &model.hidden);
        let scale = share * log.exp();
        for (truth, p) in by_truth.iter().enumerate() {
            let found = likelihood[hidden(truth)] * scale;
            assert!((found - p).abs() < 1e-12, "{formula}: {record:?} given {truth}: {found}, {p} by definition");
            expected[truth].iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += p * weight);
        }
    }
    let possible = answers.possible(records.len()).unwrap();
    assert_eq!(possible.len(), records.len(), "{formula}: everything that can be answered, once");
    for (record, factor) in possible {
        let likelihood = answers.likelihood(&record).0;
        for (truth, p) in records[&record].iter().enumerate() {
            let found = factor * likelihood[all.project_cell(truth, &model.hidden)];
            assert!((found - p).abs() < 1e-12, "{formula}: {record:?} given {truth}: {found}, {p} by definition");
        }
    }
    assert_eq!(answers.possible(records.len() - 1), None);
    for (truth, means) in expected.iter().enumerate() {
        for (cell, mean) in means.iter().enumerate() {
            let is = f64::from(u8::from(cell == all.project_cell(truth, &model.hidden)));
            assert!((mean - is).abs() < 1e-9, "{formula}: weight of {cell} given {truth} is {mean}");
        }
    }
}

fn pattern(axes: &[(usize, usize)], parts: Vec<(PatternSet, u64)>) -> Channel {
    let axes = axes.iter().map(|&(categories, answer)| Axis { categories, answer }).collect();
    let parts = parts.into_iter().map(|(set, weight)| Part { set, weight }).collect();
    Channel::Pattern(Pattern::new(axes, parts).unwrap())
}

#[test]
fn patterns_and_sets() {
    let none = || PatternSet::no_miss();
    let joint =
        pattern(&[(2, 1), (3, 1), (4, 2)], vec![(none(), 5), (PatternSet::Only(vec![1]), 3), (PatternSet::All, 4)]);
    let one = plan(&[2, 3, 4], vec![(1, joint.clone())]);
    ["a ~ b", "a ~ b + c", "c ~ a", "b ~ 1"].iter().for_each(|formula| check(&one, formula));
    let away = pattern(&[(2, 1), (3, 1), (4, 2)], vec![(PatternSet::Hits(vec![0, 2]), 2), (PatternSet::All, 3)]);
    let lottery = plan(&[2, 3, 4], vec![(2, joint), (3, away)]);
    ["a ~ c", "a ~ b + c", "c ~ 1"].iter().for_each(|formula| check(&lottery, formula));
}

#[test]
fn matrices() {
    let columns = |skew: f64| -> Vec<Vec<f64>> {
        (0..4)
            .map(|i| {
                (0..5)
                    .map(|o| {
                        if o == 4 {
                            0.1
                        } else if o == i {
                            0.6 - skew
                        } else {
                            0.1 + skew / 3.0
                        }
                    })
                    .collect()
            })
            .collect()
    };
    let labels: Vec<String> = ["p", "q", "r", "s", "none"].map(str::to_owned).to_vec();
    let matrix = |skew| Channel::Matrix(Matrix::rounded(vec![2, 2], labels.clone(), &columns(skew)).unwrap());
    check(&plan(&[2, 2], vec![(1, matrix(0.0))]), "a ~ b");
    check(&plan(&[2, 2], vec![(1, matrix(0.0)), (2, matrix(0.2))]), "b ~ a");
}

#[test]
fn strips_and_patterns_in_one_lottery() {
    let strip = |places: Vec<usize>, sizes: Vec<usize>, cells: usize| {
        Channel::Strip(Strip::new(places, sizes, cells, [5, 3]).unwrap())
    };
    let none = || PatternSet::no_miss();
    let lottery = vec![
        (2, strip(vec![0, 1], vec![2, 3], 2)),
        (3, strip(vec![1, 2], vec![3, 2], 4)),
        (1, pattern(&[(2, 1), (3, 1), (2, 1)], vec![(none(), 4), (PatternSet::All, 3)])),
    ];
    let plan = plan(&[2, 3, 2], lottery);
    ["a ~ b", "b ~ c", "a ~ b + c", "c ~ 1"].iter().for_each(|formula| check(&plan, formula));
}
