//! Disclosure with certainty against its definition: the true records that can give a response.

use candor_base::channel::{Axis, Bitmap, Channel, Matrix, Part, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Schema;
use candor_privacy::certain_disclosure::{Exclusion, exclusion};
use num_traits::Zero;
use proptest::prelude::*;

#[path = "../../candor-base/tests/definition/mod.rs"]
mod definition;
#[path = "../../candor-base/tests/strip_definition/mod.rs"]
mod strip_definition;

/// Returns the disclosure by definition: for every answer and attribute, the categories that can give it.
fn by_definition(channel: &Channel) -> Exclusion {
    let sizes = channel.sizes();
    let truths = definition::product(&sizes.iter().map(|&n| (0..n).collect()).collect::<Vec<Vec<usize>>>());
    let possible: Vec<Vec<bool>> = match channel {
        Channel::Matrix(matrix) => {
            matrix.columns().iter().map(|column| column.iter().map(|&entry| entry > 0).collect()).collect()
        }
        Channel::Pattern(pattern) => {
            let answers = definition::answers(pattern.axes());
            let of =
                |truth: &Vec<usize>| definition::law(pattern, &answers, truth).iter().map(|p| !p.is_zero()).collect();
            truths.iter().map(of).collect()
        }
        Channel::Strip(strip) => {
            let answers = strip_definition::answers(strip);
            let of = |truth: &Vec<usize>| {
                strip_definition::law(strip, &answers, truth).iter().map(|p| !p.is_zero()).collect()
            };
            truths.iter().map(of).collect()
        }
    };
    let mut most = Exclusion::Nothing;
    for i in 0..sizes.len() {
        for truth in truths.iter().filter(|truth| truth[i] == 0) {
            let alike = |other: &Vec<usize>| (0..sizes.len()).all(|j| j == i || other[j] == truth[j]);
            let members: Vec<usize> = (0..truths.len()).filter(|&t| alike(&truths[t])).collect();
            let left = |z: usize| members.iter().filter(|&&t| possible[t][z]).count();
            let settled = |z: usize| match left(z) {
                1 => Exclusion::AllButOne,
                left if left == 0 || left == sizes[i] => Exclusion::Nothing,
                _ => Exclusion::Some,
            };
            most = (0..possible[0].len()).map(settled).fold(most, Exclusion::max);
        }
    }
    most
}

fn plan(channel: Channel) -> Plan {
    let sizes = channel.sizes();
    let block = Block::lottery((0..sizes.len()).collect(), vec![(1, channel)]);
    Plan::new(Schema::with_sizes(&sizes).unwrap(), vec![block]).unwrap()
}

fn agrees(channel: Channel) -> Exclusion {
    let expected = by_definition(&channel);
    let plan = plan(channel);
    assert_eq!(exclusion(&plan), expected, "{:?}", plan.blocks());
    assert_eq!(plan.guarantee().epsilon().finite().is_some(), expected == Exclusion::Nothing);
    assert_eq!(expected.sentence().is_none(), expected == Exclusion::Nothing);
    expected
}

fn part(k: usize) -> impl Strategy<Value = Part> {
    let list = move |mask: u32| (0..k).filter(|i| mask >> i & 1 == 1).collect::<Vec<usize>>();
    prop_oneof![
        4 => (0u32..1 << k).prop_map(move |mask| PatternSet::Only(list(mask))),
        4 => (0u32..1 << k).prop_map(move |mask| PatternSet::Hits(list(mask))),
        4 => (1u32..1 << (1 << k)).prop_map(move |set| PatternSet::Bitmap(Bitmap::new(k, |p| set >> p & 1 == 1))),
        1 => Just(PatternSet::All),
    ]
    .prop_map(|set| Part { set, weight: 1 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn patterns(
        (axes, parts, resampling) in prop::collection::vec((2usize..4).prop_flat_map(|a| (Just(a), 1..=a)), 1..4)
            .prop_flat_map(|axes| {
            let k = axes.len();
            let resampling = prop::collection::vec(prop_oneof![2 => Just(0), 1 => Just(1u64 << 60)], k);
            (Just(axes), prop::collection::vec(part(k), 1..4), resampling)
        }),
    ) {
        let axes = axes.into_iter().map(|(a, q)| Axis::set(a, q)).collect();
        let pattern = Pattern::new(axes, parts);
        prop_assume!(pattern.is_ok());
        agrees(pattern.unwrap().resampled(resampling).into());
    }

    #[test]
    fn matrices(cells in prop::collection::vec(0u64..3, 16), crossed in any::<bool>()) {
        let column = |cells: &[u64]| [&cells.iter().map(|c| c % 2).collect::<Vec<u64>>()[..], &[16 - cells.iter()
            .map(|c| c % 2).sum::<u64>()]].concat();
        let columns = cells.chunks(4).map(column).collect();
        let sizes = if crossed { vec![2, 2] } else { vec![4] };
        agrees(Matrix::new(sizes, (0..5).map(|z| z.to_string()).collect(), 4, columns).unwrap().into());
    }
}

#[test]
fn by_method() {
    // Local l-diversity: three of five categories are reported, including the true one.
    let no_miss = || vec![Part { set: PatternSet::no_miss(), weight: 1 }];
    assert_eq!(agrees(Pattern::new(vec![Axis::set(5, 3)], no_miss()).unwrap().into()), Exclusion::Some);
    assert_eq!(agrees(Pattern::new(vec![Axis::set(5, 1)], no_miss()).unwrap().into()), Exclusion::AllButOne);
    assert_eq!(agrees(Pattern::k_ary(vec![Axis::single(4)], 1.0).unwrap().into()), Exclusion::Nothing);
    let strip = |weights: [u64; 2]| Strip::new(vec![0, 1], vec![3, 4], 3, weights).unwrap();
    assert_eq!(agrees(strip([7, 5]).into()), Exclusion::Nothing);
    assert_eq!(agrees(strip([u64::MAX, 1]).into()), Exclusion::Nothing);
    // A matrix with zeros that leave one category, and one with zeros that leave two.
    let matrix = |columns: &[[u64; 3]; 3]| -> Channel {
        let labels = (0..3).map(|z| z.to_string()).collect();
        Matrix::new(vec![3], labels, 2, columns.iter().map(|column| column.to_vec()).collect()).unwrap().into()
    };
    assert_eq!(agrees(matrix(&[[1, 0, 3], [0, 1, 3], [0, 0, 4]])), Exclusion::AllButOne);
    assert_eq!(agrees(matrix(&[[0, 2, 2], [2, 0, 2], [2, 2, 0]])), Exclusion::Some);
    // More than twenty attributes.
    let many = |q: usize| plan(Pattern::new(vec![Axis::set(3, q); 21], no_miss()).unwrap().into());
    assert_eq!(exclusion(&many(1)), Exclusion::AllButOne);
    assert_eq!(exclusion(&many(2)), Exclusion::Some);
}

/// Lists of three-category answers about a question and its follow-ups, each in a block of its own.
#[test]
fn answers_to_follow_ups_prove_the_question_they_depend_on() {
    let attribute =
        |name: &str, asked: &str| format!("[[attribute]]\nname = \"{name}\"\n{asked}categories = [\"no\", \"yes\"]\n");
    let asked = "asked_if = \"Use = yes\"\n";
    let text = attribute("Use", "") + &attribute("Daily", asked) + &attribute("Alone", asked);
    let schema = Schema::from_toml(&text).unwrap();
    let set = |a: usize, q: usize| {
        let part = Part { set: PatternSet::no_miss(), weight: 1 };
        Channel::from(Pattern::new(vec![Axis::set(a, q)], vec![part]).unwrap())
    };
    let plan = |sizes: [usize; 3]| {
        let block = |attribute: usize| Block::new(vec![attribute], set(schema.size(attribute), sizes[attribute]));
        Plan::new(schema.clone(), (0..3).map(block).collect()).unwrap()
    };
    // Records are (Use, Daily, Alone); 2 is "(not asked)".
    let possible = [[0, 2, 2], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]];
    for sizes in [[2, 2, 2], [2, 2, 3], [2, 3, 3], [1, 3, 3], [2, 3, 1]] {
        let lists: Vec<Vec<Vec<usize>>> = (0..3)
            .map(|a| {
                let all = 0..1usize << schema.size(a);
                let members = |mask: usize| (0..schema.size(a)).filter(|c| mask >> c & 1 == 1).collect::<Vec<usize>>();
                all.map(members).filter(|list| list.len() == sizes[a]).collect()
            })
            .collect();
        let mut expected = Exclusion::Nothing;
        for answer in definition::product(&lists.iter().map(|lists| (0..lists.len()).collect()).collect::<Vec<_>>()) {
            let gives = |record: &&[usize; 3]| (0..3).all(|a| lists[a][answer[a]].contains(&record[a]));
            let left: Vec<&[usize; 3]> = possible.iter().filter(gives).collect();
            for a in (0..3).filter(|_| !left.is_empty()) {
                let mut categories: Vec<usize> = left.iter().map(|record| record[a]).collect();
                categories.sort_unstable();
                categories.dedup();
                expected = expected.max(match categories.len() {
                    1 => Exclusion::AllButOne,
                    n if n == schema.size(a) => Exclusion::Nothing,
                    _ => Exclusion::Some,
                });
            }
        }
        assert_eq!(exclusion(&plan(sizes)), expected, "{sizes:?}");
    }
}
