//! What respondents are told equals brute force over everything that is sent.

mod sent;

use candor::channel::{Axis, Channel, Matrix, Pattern, Strip};
use candor::plan::{Block, Plan};
use candor::schema::Schema;
use candor_study::guess::guesses;
use proptest::prelude::*;
use sent::{all_sent, posterior};

/// How well an attribute of a block can be guessed; `None` if there is too much to look at.
fn by_brute_force(plan: &Plan, block: &Block, place: usize) -> Option<(f64, f64)> {
    let (mut right, mut surest) = (0.0, 0.0f64);
    for sent in all_sent(plan, block)? {
        let (chance, beliefs) = posterior(plan, block, place, &sent);
        let best = beliefs.into_iter().fold(0.0, f64::max);
        right += chance * best;
        surest = surest.max(best);
    }
    Some((right, surest))
}

/// Compares all attributes; gives how many there were.
fn check(plan: &Plan) -> usize {
    let (found, private) = (guesses(plan), plan.schema().private());
    assert_eq!(found.len(), private.len());
    let mut compared = 0;
    for block in plan.blocks() {
        for (place, attribute) in block.attributes().iter().enumerate() {
            let Some((right, surest)) = by_brute_force(plan, block, place) else { continue };
            let guess = found[private.iter().position(|a| a == attribute).unwrap()];
            assert!((guess.probability - right).abs() < 1e-9, "{guess:?} {right}");
            assert!((guess.worst_posterior - surest).abs() < 1e-9, "{guess:?} {surest}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn guesses_from_everything_that_is_sent_for_plans_of_every_family() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor/tests/plans/good");
    let mut compared: Vec<String> = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let plan = Plan::from_json(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if check(&plan) > 0 {
            compared.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    for family in ["k-ary", "matrix", "crossed-matrix", "joint", "lottery", "strip-pair", "box", "general-patterns"] {
        assert!(compared.iter().any(|name| name == family), "{family} was not compared: {compared:?}");
    }
}

#[test]
fn mirror_images_average_out_but_a_guess_does_not() {
    // With 3 : 1 for the truth, or against it: which one is sent along.
    let towards = Matrix::new(vec![2], vec!["0".into(), "1".into()], 2, vec![vec![3, 1], vec![1, 3]]).unwrap();
    let away = Matrix::new(vec![2], vec!["0".into(), "1".into()], 2, vec![vec![1, 3], vec![3, 1]]).unwrap();
    let block = Block::lottery(vec![0], vec![(1, Channel::Matrix(towards)), (1, Channel::Matrix(away))]);
    let plan = Plan::new(Schema::of_sizes(&[2]).unwrap(), vec![block]).unwrap();
    assert_eq!(plan.guarantee().attributes()[0].keep_probability, Some(0.5));
    let [guess] = guesses(&plan)[..] else { panic!("one attribute") };
    assert_eq!((guess.probability, guess.worst_posterior), (0.75, 0.75));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn guesses_equal_brute_force(
        sizes in proptest::collection::vec(2usize..4, 1..4),
        answer in 1usize..3,
        epsilon in 0.1f64..3.0,
        weights in [1u64..5, 1..5, 1..5],
        cells in 1usize..4,
    ) {
        let single: Vec<Axis> = sizes.iter().map(|&size| Axis::single(size)).collect();
        let sets: Vec<Axis> = sizes.iter().map(|&size| Axis::set(size, answer.min(size - 1))).collect();
        let strip = Strip::within(vec![0], vec![sizes[0]], cells.min(sizes[0] - 1), epsilon).unwrap();
        let table = Strip::within((0..sizes.len()).collect(), sizes.clone(), cells, epsilon);
        let mut lottery = vec![
            (weights[0], Channel::Pattern(Pattern::k_ary(single, epsilon).unwrap())),
            (weights[1], Channel::Pattern(Pattern::k_ary(sets, epsilon).unwrap())),
            (weights[2], Channel::Strip(strip)),
        ];
        lottery.extend(table.ok().map(|table| (weights[0], Channel::Strip(table))));
        let block = Block::lottery((0..sizes.len()).collect(), lottery);
        let plan = Plan::new(Schema::of_sizes(&sizes).unwrap(), vec![block]).unwrap();
        prop_assert_eq!(check(&plan), sizes.len());
    }
}
