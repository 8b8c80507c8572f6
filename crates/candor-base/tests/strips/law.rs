//! The distribution of the reference sampler, by enumerating its choices; guarantees of plans, by listing all
//! responses.

use std::collections::HashMap;

use candor_base::channel::{Answer, Axis, Channel, Epsilon, Part, Pattern, PatternSet, Rational, Sampler, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::shape::Shape;
use num_bigint::BigUint;
use num_traits::One;
use rand_core::{TryCryptoRng, TryRng};

use super::{plan, sides, strip, strip_definition, weighted};

/// A generator that makes `below` return given numbers, each in the bytes of docs/reference/sampling-algorithm.md.
struct Chosen {
    bytes: Vec<u8>,
    used: usize,
}

impl Chosen {
    fn new(choices: impl IntoIterator<Item = (u64, u64)>) -> Chosen {
        let bytes = choices.into_iter().flat_map(|(number, below)| {
            assert!(number < below);
            let bits = 64 - (below - 1).leading_zeros() as usize;
            number.to_be_bytes()[8 - bits.div_ceil(8)..].to_vec()
        });
        Chosen { bytes: bytes.collect(), used: 0 }
    }
}

impl TryRng for Chosen {
    type Error = std::convert::Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        unreachable!("the sampler reads bytes only")
    }
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        unreachable!("the sampler reads bytes only")
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
        out.copy_from_slice(&self.bytes[self.used..self.used + out.len()]);
        self.used += out.len();
        Ok(())
    }
}

impl TryCryptoRng for Chosen {}

/// Returns every sequence of numbers, each below its bound.
fn sequences(bounds: &[u64]) -> Vec<Vec<(u64, u64)>> {
    bounds.iter().fold(vec![vec![]], |rows, &bound| {
        rows.iter().flat_map(|row| (0..bound).map(move |number| [&row[..], &[(number, bound)]].concat())).collect()
    })
}

/// Returns the probability of each answer of the sampler, times `(hit + all) m K` and the number of shuffles.
fn drawn(strip: &Strip, record: &[u16]) -> HashMap<Vec<usize>, u64> {
    let channel = Channel::from(strip.clone());
    let sampler = Sampler::new(&channel);
    let [hit, all] = strip.weights();
    let (m, k) = (strip.members().len() as u64, strip.table().cells() as u64);
    let shuffles: Vec<u64> = strip.table().sizes().iter().flat_map(|&size| (2..size as u64).rev()).collect();
    let shuffles = sequences(&shuffles);
    let mut law = HashMap::new();
    for (part, labels, weight) in [(0, m, hit * k), (hit, k, all * m)] {
        for label in 0..labels {
            for shuffle in &shuffles {
                let first = [(part, hit + all), (label, labels)].into_iter();
                let mut rng = Chosen::new(first.chain(shuffle.iter().copied()));
                let Ok(answers) = sampler.draw(record, &mut rng);
                assert_eq!(rng.used, rng.bytes.len(), "every choice is asked for");
                let [Answer::Set(cells)] = &answers[..] else { panic!("a strip answers with one set") };
                assert!(cells.is_sorted_by(|a, b| a < b));
                *law.entry(cells.iter().map(|&cell| cell.into()).collect()).or_insert(0) += weight;
            }
        }
    }
    law
}

/// Checks for every record that the sampler's distribution is the defined one, over all answers.
fn assert_law(strip: &Strip) {
    let answers = strip_definition::answers(strip);
    let shuffles: usize = strip.table().sizes().iter().map(|&size| (1..size).product::<usize>()).product();
    let [hit, all] = strip.weights().map(BigUint::from);
    let scale = (hit + all) * strip.members().len() * strip.table().cells() * shuffles;
    for cell in 0..strip.table().cells() {
        let record = strip.table().codes(cell);
        let drawn = drawn(strip, &record.iter().map(|&code| code as u16).collect::<Vec<_>>());
        assert_eq!(drawn.len(), answers.len(), "{strip:?}: as many answers");
        for (answer, p) in answers.iter().zip(strip_definition::law(strip, &answers, &record)) {
            assert_eq!(Rational::new(drawn[answer].into(), scale.clone()), p, "{strip:?} {record:?} {answer:?}");
        }
    }
}

#[test]
fn the_reference_sampler_by_all_its_choices() {
    let pairs = (2..=4).flat_map(|a| (2..=4).map(move |b| vec![a, b]));
    let others = [vec![2], vec![5], vec![2, 3, 4], vec![3, 2, 2], vec![2, 2, 2, 2]];
    for sizes in pairs.chain(others) {
        let places: Vec<usize> = (0..sizes.len()).collect();
        for cells in 1..sizes.iter().product() {
            assert_law(&strip(&places, &sizes, cells, [7, 5]));
        }
        let shorter = Shape::new(sizes.iter().map(|size| size - 1).collect());
        for cell in 0..shorter.cells() {
            let chosen: Vec<usize> = shorter.codes(cell).iter().map(|side| side + 1).collect();
            assert_law(&strip(&places, &sizes, sides(&chosen), [7, 5]));
        }
    }
}

/// Relabeling the strip itself, instead of finding the cells that are labeled into it, would keep epsilon but give
/// another distribution.
#[test]
fn the_truth_is_in_the_answer_as_often_as_it_should() {
    let strip = strip(&[0, 1], &[3, 4], 3, [7, 5]);
    for cell in 0..12 {
        let record: Vec<u16> = strip.table().codes(cell).iter().map(|&code| code as u16).collect();
        let law = drawn(&strip, &record);
        let inside: u64 = law.iter().filter(|(answer, _)| answer.contains(&cell)).map(|(_, weight)| weight).sum();
        assert_eq!(inside as f64 / law.values().sum::<u64>() as f64, 0.6875);
    }
}

/// Returns `law[record][response]` of a block, exactly, including tags.
fn of_block(plan: &Plan, block: &Block, records: &[Vec<usize>]) -> Vec<Vec<Rational>> {
    let total: u128 = block.channels().iter().map(|&(weight, _)| u128::from(weight)).sum();
    let mut columns = vec![Vec::new(); records.len()];
    for (weight, channel) in block.channels() {
        let drawn = Rational::new((*weight).into(), total.into());
        let answers = match channel {
            Channel::Strip(strip) => strip_definition::answers(strip),
            _ => block.attributes().iter().fold(vec![vec![]], |rows, &attribute| {
                let size = plan.schema().size(attribute);
                rows.iter().flat_map(|row| (0..size).map(move |x| [&row[..], &[x]].concat())).collect()
            }),
        };
        for (record, column) in records.iter().zip(&mut columns) {
            let truth: Vec<usize> = block.attributes().iter().map(|&attribute| record[attribute]).collect();
            let law = match channel {
                Channel::Strip(strip) => strip_definition::law(strip, &answers, &truth),
                Channel::Pattern(pattern) => answers.iter().map(|answer| likelihood(pattern, answer, &truth)).collect(),
                Channel::Matrix(_) => unreachable!("these blocks hold none"),
            };
            column.extend(law.into_iter().map(|p| p * &drawn));
        }
    }
    columns
}

/// Returns the likelihood under a pattern channel with the parts "these hit" and "all", one category each.
fn likelihood(pattern: &Pattern, answer: &[usize], truth: &[usize]) -> Rational {
    let total: u64 = pattern.parts().iter().map(|part| part.weight).sum();
    let of_part = |part: &Part| {
        let hits: &[usize] = match &part.set {
            PatternSet::Hits(hits) => hits,
            PatternSet::All => &[],
            other => panic!("{other:?}"),
        };
        let free = |i: &usize| !hits.contains(i);
        let ways: usize = (0..truth.len()).filter(free).map(|i| pattern.axes()[i].categories).product();
        let possible = hits.iter().all(|&i| answer[i] == truth[i]);
        Rational::new((part.weight * u64::from(possible)).into(), BigUint::from(total) * ways)
    };
    pattern.parts().iter().map(of_part).sum()
}

fn two_level(sizes: &[usize], hits: &[usize], weights: [u64; 2]) -> Pattern {
    let parts = vec![
        Part { set: PatternSet::Hits(hits.to_vec()), weight: weights[0] },
        Part { set: PatternSet::All, weight: weights[1] },
    ];
    Pattern::new(sizes.iter().map(|&size| Axis::single(size)).collect(), parts).unwrap()
}

/// Returns the largest likelihood ratio of any response between two records of a group.
fn worst(columns: &[Vec<Rational>], groups: &[Vec<usize>]) -> Rational {
    let ratio = |group: &[usize], z: usize| {
        let of = || group.iter().map(|&record| &columns[record][z]);
        of().max().unwrap() / of().min().unwrap()
    };
    let responses = columns[0].len();
    let ratios = groups.iter().flat_map(|group| (0..responses).map(move |z| ratio(group, z)));
    ratios.fold(Rational::one(), Rational::max)
}

/// Compares every number that a plan guarantees with the list of all its responses.
fn assert_guarantee(plan: &Plan) {
    let sizes = plan.schema().sizes();
    let records: Vec<Vec<usize>> = sizes.iter().fold(vec![vec![]], |rows, &size| {
        rows.iter().flat_map(|row: &Vec<usize>| (0..size).map(move |x| [&row[..], &[x]].concat())).collect()
    });
    let columns = plan.blocks().iter().map(|block| of_block(plan, block, &records)).reduce(|before, block| {
        let both =
            |(x, y): (&Vec<Rational>, &Vec<Rational>)| x.iter().flat_map(|p| y.iter().map(move |q| p * q)).collect();
        before.iter().zip(&block).map(both).collect()
    });
    let columns = columns.unwrap();
    let sum: Rational = columns[0].iter().sum();
    assert!(sum.is_one());
    let parity = worst(&columns, &[(0..records.len()).collect()]);
    assert_eq!(plan.guarantee().parity(), Some(&parity));
    for (attribute, found) in plan.guarantee().attributes().iter().enumerate() {
        let firsts = (0..records.len()).filter(|&record| records[record][attribute] == 0);
        let alike = |x: usize, y: usize| (0..sizes.len()).all(|i| i == attribute || records[x][i] == records[y][i]);
        let groups: Vec<Vec<usize>> = firsts.map(|x| (0..records.len()).filter(|&y| alike(x, y)).collect()).collect();
        let expected = Epsilon::of_parity(Some(&worst(&columns, &groups)));
        assert!((found.conditional.as_f64() - expected.as_f64()).abs() < 1e-12, "{attribute}: {found:?} {expected:?}");
    }
}

#[test]
fn guarantees_by_all_responses() {
    let single = |sizes: &[usize], strip: Strip| plan(sizes, vec![Block::new((0..sizes.len()).collect(), strip)]);
    assert_guarantee(&single(&[5], strip(&[0], &[5], 2, [3, 4])));
    for cells in 1..12 {
        assert_guarantee(&single(&[3, 4], strip(&[0, 1], &[3, 4], cells, [3, 4])));
    }
    assert_guarantee(&single(&[2, 3, 2], strip(&[0, 1, 2], &[2, 3, 2], 5, [1, 9])));
    for chosen in [[1, 3], [2, 1], [2, 3]] {
        assert_guarantee(&single(&[3, 4], strip(&[0, 1], &[3, 4], sides(&chosen), [3, 4])));
    }
    assert_guarantee(&single(&[2, 3, 2], strip(&[0, 1, 2], &[2, 3, 2], sides(&[1, 2, 1]), [1, 9])));
    // An attribute that only one channel of the lottery asks about, and one that none does.
    let sizes = [2, 3, 2, 2];
    let lottery = vec![
        weighted(2, strip(&[0, 1], &[2, 3], 2, [1, 3])),
        weighted(1, strip(&[0], &[2], 1, [5, 3])),
        weighted(3, strip(&[0, 1], &[2, 3], sides(&[1, 2]), [2, 3])),
        weighted(4, two_level(&sizes, &[0, 2], [2, 7])),
    ];
    let mixed = plan(&sizes, vec![Block::lottery(vec![0, 1, 2, 3], lottery)]);
    assert_guarantee(&mixed);
    assert_eq!(mixed.guarantee().attributes()[3].conditional, Epsilon::ZERO);
    // Marginal epsilons: `None` if a strip over several attributes asks about it, otherwise that of its own answers.
    let marginals: Vec<Option<Epsilon>> = mixed.guarantee().attributes().iter().map(|a| a.marginal).collect();
    assert_eq!(marginals[..2], [None, None]);
    assert_eq!(marginals[2], Some(two_level(&sizes, &[0, 2], [2, 7]).marginal_epsilon(2)));
    assert!(mixed.guarantee().attributes().iter().all(|attribute| attribute.keep_probability.is_none()));
    // Several blocks: ratios multiply.
    let blocks = vec![
        Block::lottery(
            vec![2, 0],
            vec![weighted(1, strip(&[0, 1], &[2, 3], 1, [1, 2])), weighted(1, two_level(&[2, 3], &[0], [1, 1]))],
        ),
        Block::new(vec![1], strip(&[0], &[3], 2, [4, 3])),
    ];
    assert_guarantee(&plan(&[3, 3, 2], blocks));
}
