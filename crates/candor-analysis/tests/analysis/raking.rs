//! Tests of raking: the algorithm as printed, its limit, and its statements about convergence.

use candor_analysis::adjust::{
    DistinctRecords, Margin, Options, RakeError, Raked, Targets, Unattainable, adjust, rake,
};
use candor_analysis::estimate::simplex;
use candor_analysis::table_list::TableList;
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::{AnswerColumn, Randomizer};
use candor_runtime::progress::ProgressSink;
use proptest::prelude::*;

fn margin(cells: &[u32], shares: &[f64]) -> Margin {
    Margin { cells: cells.to_vec(), shares: shares.to_vec() }
}

/// Rakes Example 1 of Domingo-Ferrer and Soria-Comas 2020, with records 1-4, 5-6 and 7-10.
fn example(options: Options) -> Raked {
    let margins = [margin(&[0, 1, 1], &[0.5, 0.5]), margin(&[0, 0, 1], &[0.5, 0.5])];
    rake(&[4, 2, 4], &margins, &options).unwrap()
}

fn sweeps(max_iterations: usize) -> Options {
    Options::default().tolerance(1e-12).max_iterations(max_iterations)
}

#[test]
fn example_one_sweep_by_sweep() {
    for t in 1..=400 {
        let raked = example(sweeps(t));
        let fifth = 1.0 / (8.0 * (t as f64 + 1.0));
        let expected = [4.0 * (0.125 - fifth / 2.0), 2.0 * fifth, 4.0 * 0.125];
        assert_eq!(raked.iterations, t);
        assert!(raked.weights.iter().zip(expected).all(|(w, e)| (w - e).abs() < 1e-13), "sweep {t}: {raked:?}");
    }
}

#[test]
fn example_one_is_not_called_converged_before_it_is() {
    // The limits of the weights of records 5 and 6 are zero, so these weights are the distance.
    let distance = |raked: &Raked| raked.weights[1];
    for t in [3, 10, 100, 350, 1000] {
        let raked = example(sweeps(t));
        let told = raked.distance.unwrap();
        let truth = distance(&raked);
        assert!(told >= truth && told < 6.0 * truth, "sweep {t}: told {told}, truth {truth}");
        assert!(!raked.converged);
    }
    // A rule based on changes of weights would stop here, 3.5e-4 from the limit.
    let early = example(Options::default().tolerance(1e-6).max_iterations(351));
    let change = (early.weights[1] - example(sweeps(350)).weights[1]).abs() / 2.0;
    assert!(change < 1.1e-6 && early.weights[1] / 2.0 > 3.5e-4 && !early.converged, "{change}");
    assert!(!example(Options::default()).converged);
    let patient = example(Options::default().tolerance(1e-4).max_iterations(100_000));
    assert!(patient.converged && distance(&patient) <= 1e-4 && patient.largest_margin_error <= 1e-4, "{patient:?}");
}

/// Runs Algorithm 2 as printed on single records, with the corrections of docs/project/errata.md.
fn printed(records: &[Vec<u32>], shares: &[Vec<f64>], sweeps: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / records.len() as f64; records.len()];
    for _ in 0..sweeps {
        for (j, shares) in shares.iter().enumerate() {
            let mut sums = vec![0.0; shares.len()];
            records.iter().zip(&weights).for_each(|(record, w)| sums[record[j] as usize] += w);
            let attainable: f64 = shares.iter().zip(&sums).filter(|(_, s)| **s > 0.0).map(|(p, _)| p).sum();
            for (record, weight) in records.iter().zip(&mut weights) {
                let v = record[j] as usize;
                if sums[v] > 0.0 {
                    *weight *= shares[v] / attainable / sums[v];
                }
            }
        }
    }
    weights
}

/// Generates records of these sizes, with attainable shares.
fn cases(sizes: &'static [u32], rows: std::ops::Range<usize>) -> impl Strategy<Value = (Vec<Vec<u32>>, Vec<Vec<f64>>)> {
    let record = sizes.iter().map(|&size| 0..size).collect::<Vec<_>>();
    let shares = sizes.iter().map(|&size| prop::collection::vec(0.05f64..1.0, size as usize)).collect::<Vec<_>>();
    let normal = |shares: Vec<Vec<f64>>| {
        let one = |s: Vec<f64>| s.iter().map(|x| x / s.iter().sum::<f64>()).collect();
        shares.into_iter().map(one).collect()
    };
    (prop::collection::vec(record, rows), shares.prop_map(normal))
}

fn distinct(records: &[Vec<u32>]) -> DistinctRecords {
    let mut distinct = DistinctRecords::new(records[0].len());
    records.iter().for_each(|r| distinct.add(&r.iter().map(|&c| c as u16).collect::<Vec<_>>(), 1));
    distinct
}

fn margins_of(distinct: &DistinctRecords, shares: &[Vec<f64>]) -> Vec<Margin> {
    let columns = distinct.columns();
    let one = |(column, shares): (&Vec<u16>, &Vec<f64>)| Margin {
        cells: column.iter().map(|&code| u32::from(code)).collect(),
        shares: shares.clone(),
    };
    columns.iter().zip(shares).map(one).collect()
}

fn agrees_with_printed(records: &[Vec<u32>], shares: &[Vec<f64>], sweeps: usize) -> Result<(), TestCaseError> {
    let distinct = distinct(records);
    let raked = rake(
        distinct.counts(),
        &margins_of(&distinct, shares),
        &Options::default().tolerance(0.0).max_iterations(sweeps),
    )
    .unwrap();
    let mut expected = vec![0.0; distinct.len()];
    for (record, weight) in records.iter().zip(printed(records, shares, sweeps)) {
        let codes: Vec<u16> = record.iter().map(|&code| code as u16).collect();
        expected[(0..distinct.len()).find(|&n| distinct.record(n) == codes).unwrap()] += weight;
    }
    for (weight, expected) in raked.weights.iter().zip(expected) {
        prop_assert!((weight - expected).abs() < 1e-12, "{weight} {expected}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_table_is_the_printed_algorithm((records, shares) in cases(&[3, 2, 4, 2], 1..60), t in 1usize..6) {
        agrees_with_printed(&records, &shares, t)?;
    }

    #[test]
    fn several_tables_are_the_printed_algorithm(
        (records, shares) in cases(&[50, 41, 3, 700, 5, 600], 1..200), t in 1usize..6,
    ) {
        agrees_with_printed(&records, &shares, t)?;
    }

    #[test]
    fn what_is_called_converged_is(
        (records, shares) in cases(&[4, 3, 5], 20..200),
    ) {
        let distinct = distinct(&records);
        let margins = margins_of(&distinct, &shares);
        let until = |tolerance: f64, sweeps| {
            let options = Options::default().tolerance(tolerance).max_iterations(sweeps);
            rake(distinct.counts(), &margins, &options).unwrap()
        };
        let (raked, limit) = (until(1e-3, 10_000), until(1e-11, 100_000));
        if raked.converged && limit.converged {
            let distance: f64 = raked.weights.iter().zip(&limit.weights).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0;
            prop_assert!(distance <= 1e-3, "{distance}, told {:?}", raked.distance);
            prop_assert!((limit.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        for (margin, shares) in margins.iter().zip(&shares) {
            let mut sums = vec![0.0; shares.len()];
            margin.cells.iter().zip(&raked.weights).for_each(|(&cell, w)| sums[cell as usize] += w);
            let attainable: f64 = shares.iter().zip(&sums).filter(|(_, s)| **s > 0.0).map(|(p, _)| p).sum();
            let error = shares.iter().zip(&sums).filter(|(_, s)| **s > 0.0).map(|(p, s)| (p / attainable - s).abs())
                .fold(0.0, f64::max);
            prop_assert!(error <= raked.largest_margin_error + 1e-12);
            prop_assert!(!raked.converged || error <= 1e-3);
        }
    }

    #[test]
    fn the_odds_ratio_of_the_answers_is_kept(
        counts in [1u64..100, 1..100, 1..100, 1..100], p in 0.1f64..0.9, q in 0.1f64..0.9,
    ) {
        // Weights are counts times a factor for each category: of all that match the margins, they are closest
        // to the counts.
        let margins = [margin(&[0, 0, 1, 1], &[p, 1.0 - p]), margin(&[0, 1, 0, 1], &[q, 1.0 - q])];
        let raked = rake(&counts, &margins, &Options::default().tolerance(1e-11).max_iterations(100_000)).unwrap();
        prop_assert!(raked.converged);
        let ratio = |v: [f64; 4]| v[0] * v[3] / (v[1] * v[2]);
        let weights: [f64; 4] = raked.weights.clone().try_into().unwrap();
        prop_assert!((ratio(weights) / ratio(counts.map(|c| c as f64)) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn what_cannot_be_attained_is_told_and_the_rest_shared_out() {
    // Category 2 of the first margin does not occur; category 1 of the third occurs only with one of share 0.
    let margins = [
        margin(&[0, 0, 1, 1, 1], &[0.4, 0.4, 0.2]),
        margin(&[0, 1, 0, 1, 2], &[0.5, 0.5, 0.0]),
        margin(&[0, 0, 0, 0, 1], &[0.9, 0.1]),
    ];
    let raked = rake(&[5, 1, 2, 2, 3], &margins, &Options::default()).unwrap();
    let unattainable = |margin, cell, share| Unattainable { margin, cell, share };
    assert_eq!(raked.unattainable, [unattainable(0, 2, 0.2), unattainable(2, 1, 0.1)]);
    assert!((raked.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12 && raked.weights[4] == 0.0);
    assert!((raked.weights[0] + raked.weights[1] - 0.5).abs() < 1e-6 && raked.converged, "{raked:?}");
}

#[test]
fn margins_that_contradict_each_other_are_not_called_converged() {
    let margins = [margin(&[0, 1], &[0.5, 0.5]), margin(&[0, 1], &[0.2, 0.8])];
    let raked = rake(&[1, 1], &margins, &Options::default()).unwrap();
    assert_eq!((raked.converged, raked.distance, raked.iterations), (false, Some(0.0), 2));
    assert!((raked.largest_margin_error - 0.3).abs() < 1e-12);
}

#[test]
fn shares_below_zero_are_projected_first() {
    let cells = [0, 1, 2];
    let raked = rake(&[3, 3, 3], &[margin(&cells, &[0.7, 0.5, -0.2])], &Options::default()).unwrap();
    assert!(raked.weights.iter().zip([0.6, 0.4, 0.0]).all(|(w, e)| (w - e).abs() < 1e-12), "{raked:?}");
    assert!(raked.converged && raked.iterations <= 2 && raked.unattainable.is_empty());
}

#[test]
fn what_does_not_fit_is_refused() {
    let fault = |counts: &[u64], margins: &[Margin]| rake(counts, margins, &Options::default()).unwrap_err();
    assert_eq!(fault(&[], &[]), RakeError::NoRecords);
    assert_eq!(fault(&[0], &[margin(&[0], &[1.0])]), RakeError::NoRecords);
    assert_eq!(fault(&[1], &[]), RakeError::NoMargins);
    let length = RakeError::Length { margin: 0, found: 2, expected: 1 };
    assert_eq!(fault(&[1], &[margin(&[0, 0], &[1.0])]), length);
    let cell = RakeError::Cell { margin: 1, record: 0, cell: 1, shares: 1 };
    assert_eq!(fault(&[1], &[margin(&[0], &[1.0]), margin(&[1], &[1.0])]), cell);
    assert_eq!(fault(&[1], &[margin(&[0], &[f64::NAN])]), RakeError::Share { margin: 0 });
    assert_eq!(fault(&[1], &[margin(&[0], &[0.0, 1.0])]), RakeError::Empty { margin: 0 });
}

/// Returns responses of people whose second attribute follows the first, and the plan with blocks {a1, a2} and
/// {a3}.
fn responses(epsilon: f64, people: usize) -> (Plan, DistinctRecords, DistinctRecords) {
    let schema = Schema::with_sizes(&[3, 4, 2]).unwrap();
    let joint = Pattern::k_ary(vec![Axis::single(3), Axis::single(4)], epsilon).unwrap();
    let single = Pattern::k_ary(vec![Axis::single(2)], epsilon).unwrap();
    let plan = Plan::new(schema, vec![Block::new(vec![0, 1], joint), Block::new(vec![2], single)]).unwrap();
    let first: Vec<u16> = (0..people).map(|i| (i % 7 % 3) as u16).collect();
    let second: Vec<u16> = (0..people).map(|i| if i % 5 == 0 { 3 } else { first[i] }).collect();
    let third: Vec<u16> = (0..people).map(|i| u16::from(first[i] == 0)).collect();
    let truths = vec![first, second, third];
    let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(5).stream(0)).unwrap();
    let columns: Vec<Vec<u16>> = answers
        .blocks
        .iter()
        .flat_map(|block| &block.columns)
        .map(|column| match column {
            AnswerColumn::One(codes) => codes.clone(),
            AnswerColumn::Set(_) => unreachable!("single answers"),
        })
        .collect();
    let count = |columns: &[Vec<u16>]| {
        let mut records = DistinctRecords::new(3);
        records.add_rows(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
        records
    };
    (plan, count(&columns), count(&truths))
}

#[test]
fn answers_are_adjusted_to_the_estimates_of_their_blocks() {
    let (plan, answers, _) = responses(2.0, 50_000);
    let tables = TableList::of_blocks(&plan).unwrap();
    assert_eq!(tables.lists(), [vec![0, 1], vec![2]]);
    let adjusted =
        adjust(&plan, &answers, &tables, &[], Targets::default(), &Options::default(), ProgressSink::none()).unwrap();
    assert!(adjusted.raked.converged, "{:?}", adjusted.raked);
    for (table, targets) in adjusted.tables.iter().zip(&adjusted.targets) {
        assert_eq!(simplex::project(targets).len(), targets.len());
        let mut shares = vec![0.0; targets.len()];
        for (number, weight) in adjusted.raked.weights.iter().enumerate() {
            let sizes = [3, 4, 2];
            shares[table.iter().fold(0, |cell, &a| cell * sizes[a] + usize::from(answers.record(number)[a]))] += weight;
        }
        assert!(shares.iter().zip(targets).all(|(s, t)| (s - t).abs() < 1e-6), "{shares:?} {targets:?}");
    }
}

#[test]
fn answers_that_are_the_truth_keep_their_shares() {
    let (plan, answers, truths) = responses(40.0, 10_000);
    assert_eq!(answers.total(), truths.total());
    let tables = TableList::parse("marginals", plan.schema()).unwrap();
    let adjusted =
        adjust(&plan, &answers, &tables, &[], Targets::default(), &Options::default(), ProgressSink::none()).unwrap();
    let shares = answers.counts().iter().map(|&count| count as f64 / 10_000.0);
    assert!(adjusted.raked.weights.iter().zip(shares).all(|(w, s)| (w - s).abs() < 1e-9));
}
