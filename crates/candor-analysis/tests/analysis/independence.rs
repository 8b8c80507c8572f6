//! Tests of the test of independence, corrected for the randomization: level, power and measures.

use candor_analysis::estimate::{TableEstimator, test_independence};
use candor_analysis::tally::{Rows, TableCounts, answer_codes};
use candor_base::channel::{Axis, Channel, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;

fn k_ary(axes: &[Axis], epsilon: f64) -> Channel {
    Pattern::k_ary(axes.to_vec(), epsilon).unwrap().into()
}

/// Counts answers of people drawn from a two-way table.
fn survey(plan: &Plan, table: &[f64], people: usize, seed: u64) -> TableCounts {
    let sizes = plan.schema().sizes();
    let mut rng = Source::from_seed(seed).stream(0);
    let mut columns = vec![Vec::new(); 2];
    for _ in 0..people {
        let u = rand_core::Rng::next_u64(&mut rng) as f64 / 2f64.powi(64);
        let mut below = 0.0;
        let cell = table.iter().position(|p| {
            below += p;
            u < below
        });
        let cell = cell.unwrap_or(table.len() - 1);
        columns[0].push((cell / sizes[1]) as u16);
        columns[1].push((cell % sizes[1]) as u16);
    }
    let answers = Randomizer::new(plan).batch(&columns, &mut Source::from_seed(seed).stream(1)).unwrap();
    let codes = answer_codes(plan, &answers);
    let mut tally = TableCounts::new(TableEstimator::new(plan, &[0, 1]).unwrap().layout().clone());
    tally.add(plan, &codes, Rows::Single, |_| true);
    tally
}

/// At a level of 5%, 4% to 6% of the tests reject under independence, for independent, joint and several channels.
/// Pearson's test of the answers is wrong if the channel itself associates the attributes.
#[test]
fn the_level_of_the_independence_test() {
    let single = |sizes: &[usize]| sizes.iter().copied().map(Axis::single).collect::<Vec<Axis>>();
    let margins = |n: usize| -> Vec<f64> {
        let raw: Vec<f64> = (0..n).map(|i| 1.0 / (1.0 + i as f64)).collect();
        raw.iter().map(|w| w / raw.iter().sum::<f64>()).collect()
    };
    let hits = |list: &[usize]| {
        let sets = [(PatternSet::Hits(list.to_vec()), 2), (PatternSet::no_miss(), 1), (PatternSet::All, 2)];
        let parts = sets.into_iter().map(|(set, weight)| Part { set, weight }).collect();
        Channel::from(Pattern::new(single(&[5, 5]), parts).unwrap())
    };
    let lottery = vec![(1, hits(&[0, 1])), (1, hits(&[0])), (1, hits(&[1]))];
    let cases: Vec<(&str, [usize; 2], Vec<Block>, usize)> = vec![
        ("product", [5, 5], (0..2).map(|i| Block::new(vec![i], k_ary(&single(&[5]), 2.0))).collect(), 1000),
        ("joint", [5, 5], vec![Block::new(vec![0, 1], k_ary(&single(&[5, 5]), 4.0))], 1000),
        ("lottery", [5, 5], vec![Block::lottery(vec![0, 1], lottery)], 1000),
        ("two by two", [2, 2], (0..2).map(|i| Block::new(vec![i], k_ary(&single(&[2]), 1.0))).collect(), 2000),
    ];
    let surveys = 3000;
    for (name, sizes, blocks, people) in cases {
        let plan = Plan::new(Schema::with_sizes(&sizes).unwrap(), blocks).unwrap();
        let (p, q) = (margins(sizes[0]), margins(sizes[1]));
        let table: Vec<f64> = (0..sizes[0] * sizes[1]).map(|cell| p[cell / sizes[1]] * q[cell % sizes[1]]).collect();
        let rejected = (0..surveys)
            .filter(|&seed| {
                let tally = survey(&plan, &table, people, seed);
                test_independence(&plan, &tally, 0.95).unwrap().corrected.p_value < 0.05
            })
            .count();
        let level = rejected as f64 / surveys as f64;
        assert!((0.04..0.06).contains(&level), "{name}: {level}");
    }
}

#[test]
fn dependence_is_found() {
    let axes = [Axis::single(2), Axis::single(2)];
    // Odds ratio near 5.4.
    let table = [0.35, 0.15, 0.15, 0.35];
    let product: Vec<Block> = (0..2).map(|i| Block::new(vec![i], k_ary(&axes[..1], 1.5))).collect();
    let joint = vec![Block::new(vec![0, 1], k_ary(&axes, 2.5))];
    for blocks in [product, joint] {
        let plan = Plan::new(Schema::with_sizes(&[2, 2]).unwrap(), blocks).unwrap();
        let mut last = 1.0;
        for people in [200, 2000, 20_000] {
            let result = test_independence(&plan, &survey(&plan, &table, people, 3), 0.95).unwrap();
            assert!(result.corrected.p_value <= last, "power grows: {result:?}");
            last = result.corrected.p_value;
        }
        let result = test_independence(&plan, &survey(&plan, &table, 200_000, 4), 0.999_999).unwrap();
        let odds = result.odds_ratio.unwrap();
        let truth = 0.35 * 0.35 / (0.15 * 0.15);
        assert!(odds.low < truth && truth < odds.high && odds.high / odds.low < 1.5, "{odds:?} {truth}");
        assert!(result.naive.unwrap().statistic < result.corrected.statistic * 1.5);
        assert_eq!(result.corrected.degrees, 1);
    }
}
