//! Tests of associations estimated from responses: their mean and standard errors, for every kind of plan.

use std::collections::BTreeMap;

use candor_analysis::association::{Association, Measure, attenuated, estimated, merged};
use candor_analysis::tally::{ChannelCounts, CountLayout, Rows, TableCounts, answer_codes};
use candor_base::channel::{Axis, Channel, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use rand_core::Rng;

const MEASURES: [Measure; 3] = [Measure::Pearson, Measure::CramersV, Measure::MutualInformation];

/// Counts answers of people drawn from a two-way table: one-way, one-way, two-way.
fn survey(plan: &Plan, table: &[f64], people: usize, seed: u64) -> [TableCounts; 3] {
    let columns = plan.schema().size(1);
    let mut rng = Source::from_seed(seed).stream(0);
    let mut truths = vec![Vec::new(); 2];
    for _ in 0..people {
        let u = rng.next_u64() as f64 / 2f64.powi(64);
        let mut below = 0.0;
        let cell = table.iter().position(|p| {
            below += p;
            u < below
        });
        let cell = cell.unwrap_or(table.len() - 1);
        truths[0].push((cell / columns) as u16);
        truths[1].push((cell % columns) as u16);
    }
    let answers = Randomizer::new(plan).batch(&truths, &mut Source::from_seed(seed).stream(1)).unwrap();
    let codes = answer_codes(plan, &answers);
    [&[0][..], &[1], &[0, 1]].map(|table| {
        let mut tally = TableCounts::new(CountLayout::new(plan, table));
        tally.add(plan, &codes, Rows::Single, |_| true);
        tally
    })
}

fn measured(plan: &Plan, [a, b, pair]: &[TableCounts; 3], measure: Measure) -> Association {
    estimated(plan, [a, b], pair, measure).unwrap()
}

/// Returns 4 x 3 tables with strong, weak and no association, and skewed margins.
fn tables() -> [Vec<f64>; 3] {
    let strong = [0.30, 0.05, 0.01, 0.06, 0.20, 0.03, 0.02, 0.06, 0.12, 0.01, 0.02, 0.12];
    let margin = |parts: &[f64], cell: fn(usize) -> usize| -> Vec<f64> {
        let mut sums = vec![0.0; 12];
        for (at, part) in parts.iter().enumerate() {
            sums[cell(at)] += part;
        }
        sums
    };
    let (rows, columns) = (margin(&strong, |at| at / 3), margin(&strong, |at| at % 3));
    let none: Vec<f64> = (0..12).map(|at| rows[at / 3] * columns[at % 3]).collect();
    let weak = strong.iter().zip(&none).map(|(s, n)| 0.15 * s + 0.85 * n).collect();
    [strong.to_vec(), weak, none]
}

fn plans() -> Vec<(&'static str, Plan)> {
    let plan = |blocks: Vec<Block>| Plan::new(Schema::with_sizes(&[4, 3]).unwrap(), blocks).unwrap();
    let (a, b) = (Axis::single(4), Axis::single(3));
    let k_ary = |axes: &[Axis], epsilon: f64| Channel::from(Pattern::k_ary(axes.to_vec(), epsilon).unwrap());
    let hits = |list: &[usize]| {
        let sets = [(PatternSet::Hits(list.to_vec()), 3), (PatternSet::no_miss(), 2), (PatternSet::All, 1)];
        let parts = sets.into_iter().map(|(set, weight)| Part { set, weight }).collect();
        Channel::from(Pattern::new(vec![a, b], parts).unwrap())
    };
    let columns = [vec![0.7, 0.1, 0.1, 0.1], vec![0.1, 0.6, 0.1, 0.2], vec![0.1, 0.1, 0.2, 0.6]];
    let labels = (0..4).map(|output| format!("o{output}")).collect();
    let matrix = Channel::from(Matrix::rounded(vec![3], labels, &columns).unwrap());
    vec![
        ("independent", plan(vec![Block::new(vec![0], k_ary(&[a], 2.5)), Block::new(vec![1], k_ary(&[b], 2.0))])),
        ("matrix", plan(vec![Block::new(vec![0], k_ary(&[a], 2.5)), Block::new(vec![1], matrix)])),
        (
            "sets",
            plan(vec![Block::new(vec![0], k_ary(&[Axis::set(4, 2)], 2.5)), Block::new(vec![1], k_ary(&[b], 2.0))]),
        ),
        ("joint", plan(vec![Block::new(vec![0, 1], k_ary(&[a, b], 4.0))])),
        ("lottery", plan(vec![Block::lottery(vec![0, 1], vec![(1, hits(&[0, 1])), (1, hits(&[0])), (1, hits(&[1]))])])),
    ]
}

#[test]
fn right_on_average_and_as_uncertain_as_said() {
    let (surveys, people) = (120u64, 20_000);
    for (name, plan) in plans() {
        for (strength, table) in tables().iter().enumerate() {
            let counted: Vec<[TableCounts; 3]> = (0..surveys).map(|seed| survey(&plan, table, people, seed)).collect();
            for measure in MEASURES {
                let truth = measure.of_table(4, 3, table);
                let found: Vec<Association> = counted.iter().map(|tallies| measured(&plan, tallies, measure)).collect();
                let n = surveys as f64;
                let mean = found.iter().map(|d| d.value).sum::<f64>() / n;
                let spread = (found.iter().map(|d| (d.value - mean).powi(2)).sum::<f64>() / n).sqrt();
                let said = (found.iter().map(|d| d.standard_error.unwrap().powi(2)).sum::<f64>() / n).sqrt();
                let case = format!("{name}, {measure}, {truth:.3}: mean {mean:.4}, spread {spread:.4}, said {said:.4}");
                // The mean of 120 is beyond 5.1 of its standard errors once in three million times; half a standard
                // error is allowed for bias.
                assert!((mean - truth).abs() < 5.1 * spread / n.sqrt() + 0.5 * spread, "{case}");
                // Near zero, values are clipped, so they vary less than stated.
                let least = if strength == 0 { 0.75 } else { 0.3 };
                assert!(spread > least * said && spread < 1.35 * said, "{case}");
            }
        }
    }
}

#[test]
fn answers_depend_less_than_the_truth() {
    let [strong, ..] = tables();
    for (name, plan) in plans() {
        let tallies = survey(&plan, &strong, 100_000, 5);
        match attenuated(&tallies[2], Measure::CramersV) {
            None => assert!(["sets", "matrix"].contains(&name)),
            Some(answers) => {
                let truth = measured(&plan, &tallies, Measure::CramersV).value;
                assert!(answers.value < 0.9 * truth, "{name}: {} {truth}", answers.value);
            }
        }
    }
}

/// If noise is as large as the entropy, mutual information has no standard error. An attribute that seems to have a
/// single category has no correlation.
#[test]
fn what_is_not_told_is_not_claimed() {
    let schema = Schema::with_sizes(&[10, 10]).unwrap();
    let k_ary = || Pattern::k_ary(vec![Axis::single(10)], 1.0).unwrap();
    let plan = Plan::new(schema, vec![Block::new(vec![0], k_ary()), Block::new(vec![1], k_ary())]).unwrap();
    let identical: Vec<f64> = (0..100).map(|cell| if cell / 10 == cell % 10 { 0.1 } else { 0.0 }).collect();
    let tallies = survey(&plan, &identical, 20_000, 1);
    assert_eq!(measured(&plan, &tallies, Measure::MutualInformation).standard_error, None);
    let found = measured(&plan, &tallies, Measure::CramersV);
    assert!((found.value - 1.0).abs() < 5.0 * found.standard_error.unwrap(), "{found:?}");
    let found = measured(&plan, &survey(&plan, &identical, 1, 1), Measure::Pearson);
    assert_eq!((found.value, found.standard_error), (0.0, None));
}

/// The contribution of rare categories remains unknown, so V is slightly too small if they are associated, and never
/// too large.
#[test]
fn merged_categories_never_add_dependence() {
    let schema = Schema::with_sizes(&[4, 4]).unwrap();
    let k_ary = || Pattern::k_ary(vec![Axis::single(4)], 2.0).unwrap();
    let plan = Plan::new(schema, vec![Block::new(vec![0], k_ary()), Block::new(vec![1], k_ary())]).unwrap();
    let margin = [0.93, 0.04, 0.02, 0.01];
    let cell = |cell: usize| {
        let (i, j) = (cell / 4, cell % 4);
        0.5 * margin[i] * margin[j] + if i == j { 0.5 * margin[i] } else { 0.0 }
    };
    let table: Vec<f64> = (0..16).map(cell).collect();
    assert!((Measure::CramersV.of_table(4, 4, &table) - 0.5).abs() < 1e-12);
    let values: Vec<f64> =
        (0..40).map(|seed| measured(&plan, &survey(&plan, &table, 20_000, seed), Measure::CramersV).value).collect();
    let mean = values.iter().sum::<f64>() / 40.0;
    assert!(mean > 0.35 && mean < 0.51, "{mean}");
}

/// A rare category must not drown the others in noise.
#[test]
fn rare_categories_count_as_one() {
    let schema = Schema::with_sizes(&[6, 2]).unwrap();
    let k_ary = |size: usize| Pattern::k_ary(vec![Axis::single(size)], 2.0).unwrap();
    let plan = Plan::new(schema, vec![Block::new(vec![0], k_ary(6)), Block::new(vec![1], k_ary(2))]).unwrap();
    let table = [0.4, 0.1, 0.1, 0.3, 0.098, 0.0, 0.0, 0.001, 0.0, 0.0005, 0.0005, 0.0];
    let truth = Measure::CramersV.of_table(6, 2, &table);
    for seed in 0..50 {
        let found = measured(&plan, &survey(&plan, &table, 20_000, seed), Measure::CramersV);
        assert!((found.value - truth).abs() < 0.1, "{found:?} against {truth}");
    }
    // With very few responses, no association is detected, or it has a standard error.
    for seed in 0..50 {
        let found = measured(&plan, &survey(&plan, &table, 5, seed), Measure::CramersV);
        assert!((0.0..=1.0).contains(&found.value) && found.standard_error.is_none_or(f64::is_finite), "{found:?}");
    }
}

/// Two of four categories are too rare to be distinguished; with many more people, all are.
#[test]
fn rare_categories_are_named() {
    let channel = Pattern::k_ary(vec![Axis::single(4)], 1.0).unwrap();
    let plan = Plan::new(Schema::with_sizes(&[4]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
    let found = |people: f64| {
        let kept = 1f64.exp() / (1f64.exp() + 3.0);
        let chance = |share: f64| share * kept + (1.0 - share) * (1.0 - kept) / 3.0;
        let counts: Vec<f64> = [0.5, 0.44, 0.03, 0.03].into_iter().map(|share| people * chance(share)).collect();
        let group = ChannelCounts { total: people, squares: people, counts, square_counts: Vec::new() };
        let groups = BTreeMap::from([(Vec::new(), group)]);
        merged(&plan, 0, &TableCounts::from_groups(&plan, CountLayout::new(&plan, &[0]), groups)).unwrap()
    };
    assert_eq!(found(20_000.0), [2, 3]);
    assert!(found(2e6).is_empty());
}
