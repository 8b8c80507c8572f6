//! Pattern channels against their definition: the full matrix `P(answer | true record)`.

use std::collections::{HashMap, HashSet};

use candor_base::channel::{Axis, Bitmap, Epsilon, Part, Pattern, PatternSet, Rational};
use definition::{Law, answers, product, whole_law};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use proptest::prelude::*;

mod definition;

/// The matrix by definition: every answer (one category mask per attribute), every true record.
struct Oracle {
    axes: Vec<Axis>,
    truths: Vec<Vec<usize>>,
    answers: Vec<Vec<u32>>,
    /// `probability[record][answer]`, all over the same denominator.
    probability: Vec<Vec<BigUint>>,
    /// The same as floats.
    float: Vec<Vec<f64>>,
}

impl Oracle {
    fn new(pattern: &Pattern) -> Oracle {
        let axes = pattern.axes().to_vec();
        let listed = answers(&axes);
        let truths = product(&axes.iter().map(|axis| (0..axis.categories).collect()).collect::<Vec<Vec<usize>>>());
        let laws: Vec<Law> = truths.iter().map(|truth| whole_law(pattern, &listed, truth)).collect();
        let denominator = laws[0].denominator.clone();
        assert!(
            laws.iter()
                .all(|law| law.denominator == denominator && law.numerators.iter().sum::<BigUint>() == denominator)
        );
        let probability: Vec<Vec<BigUint>> = laws.into_iter().map(|law| law.numerators).collect();
        let float = |numerator: &BigUint| numerator.to_f64().unwrap() / denominator.to_f64().unwrap();
        let float = probability.iter().map(|row| row.iter().map(float).collect()).collect();
        let mask = |set: &Vec<usize>| set.iter().map(|c| 1u32 << c).sum::<u32>();
        let answers = listed.iter().map(|answer| answer.iter().map(mask).collect()).collect();
        Oracle { axes, truths, answers, probability, float }
    }

    /// Returns `ln` of the largest ratio between two true records with the same `key`.
    fn epsilon(&self, key: impl Fn(&[usize]) -> Vec<usize>) -> f64 {
        let mut groups: HashMap<Vec<usize>, Vec<usize>> = HashMap::new();
        for (t, truth) in self.truths.iter().enumerate() {
            groups.entry(key(truth)).or_default().push(t);
        }
        let mut worst = Epsilon::ZERO;
        for (members, z) in groups.values().flat_map(|members| (0..self.answers.len()).map(move |z| (members, z))) {
            worst = worst.max(largest_ratio(members.iter().map(|&t| &self.probability[t][z])));
        }
        worst.as_f64()
    }

    /// Returns the epsilon of the answer of attribute `i` alone, and checks that it depends on nothing else.
    fn marginal_epsilon(&self, i: usize) -> f64 {
        let masks: Vec<u32> = self.answers.iter().map(|answer| answer[i]).collect();
        let law = |t: usize, mask: u32| -> BigUint {
            (0..masks.len()).filter(|&z| masks[z] == mask).map(|z| &self.probability[t][z]).sum()
        };
        let mut worst = Epsilon::ZERO;
        for mask in masks.iter().copied().collect::<HashSet<u32>>() {
            let mut by_category: Vec<Option<BigUint>> = vec![None; self.axes[i].categories];
            for t in 0..self.truths.len() {
                let p = law(t, mask);
                let seen = &mut by_category[self.truths[t][i]];
                assert!(seen.as_ref().is_none_or(|seen| *seen == p), "the marginal depends on a different attribute");
                *seen = Some(p);
            }
            worst = worst.max(largest_ratio(by_category.iter().flatten()));
        }
        worst.as_f64()
    }

    /// Returns, for every true record, the mean of a function of exactly these attributes that sums to zero along each.
    fn contrasts(&self, attributes: &[usize]) -> Vec<f64> {
        let g: Vec<f64> = self.answers.iter().map(|answer| contrast(attributes.iter().map(|&i| answer[i]))).collect();
        self.float.iter().map(|law| law.iter().zip(&g).map(|(p, g)| p * g).sum()).collect()
    }

    fn expectation(&self, truth: usize, f: impl Fn(&[u32]) -> f64) -> f64 {
        self.answers.iter().zip(&self.float[truth]).map(|(answer, p)| p * f(answer)).sum()
    }
}

/// Returns `ln` of the largest over the smallest.
fn largest_ratio<'a>(values: impl Iterator<Item = &'a BigUint> + Clone) -> Epsilon {
    let [largest, smallest] = [values.clone().max(), values.min()].map(|value| Rational::from(value.unwrap().clone()));
    Epsilon::of_ratio(&largest, &smallest)
}

/// Returns the product over some attributes of `[first category answered] - [second category answered]`.
fn contrast(masks: impl Iterator<Item = u32>) -> f64 {
    masks.map(|mask| f64::from(mask & 1) - f64::from(mask >> 1 & 1)).product()
}

fn close(found: f64, expected: f64) -> bool {
    found == expected || (found - expected).abs() <= 1e-12 * (1.0 + expected.abs())
}

fn agrees_with_definition(pattern: &Pattern) {
    let oracle = Oracle::new(pattern);
    let k = oracle.axes.len();
    let record = oracle.epsilon(|_| vec![]);
    assert!(close(pattern.record_epsilon().as_f64(), record), "{pattern:?}: {record}");
    let conditionals = pattern.conditional_epsilons();
    for i in 0..k {
        let all_but_i = |x: &[usize]| [&x[..i], &x[i + 1..]].concat();
        let conditional = oracle.epsilon(all_but_i);
        assert!(close(conditionals[i].as_f64(), conditional), "{pattern:?} {i}: {conditional}");
        let marginal = oracle.marginal_epsilon(i);
        assert!(close(pattern.marginal_epsilon(i).as_f64(), marginal), "{pattern:?} {i}: {marginal}");
        let kept = oracle.expectation(0, |answer| f64::from(answer[i] & 1));
        assert!(close(pattern.keep_probability(i), kept), "{pattern:?} {i}: {kept}");
    }

    // The distribution of the pattern over every subset of attributes, and its eigenvalues.
    let subset = |chosen: usize| -> Vec<usize> { (0..k).filter(|i| chosen >> i & 1 == 1).collect() };
    let contrasts: Vec<Vec<f64>> = (0..1 << k).map(|chosen| oracle.contrasts(&subset(chosen))).collect();
    for chosen in 0usize..1 << k {
        let attributes: Vec<usize> = subset(chosen).into_iter().rev().collect();
        let masses = pattern.marginal(&attributes);
        let t = attributes.len();
        for wanted in 0..1 << t {
            let shown = |answer: &[u32]| {
                let missed = |at: usize| usize::from(answer[attributes[at]] & 1 == 0) << at;
                f64::from((0..t).map(missed).sum::<usize>() == wanted)
            };
            let expected = oracle.expectation(0, shown);
            assert!(close(masses.probabilities()[wanted], expected), "{pattern:?} {attributes:?}");
        }
        for (set, lambda) in masses.eigenvalues().into_iter().enumerate() {
            let inside: Vec<usize> = (0..t).filter(|at| set >> at & 1 == 1).map(|at| attributes[at]).collect();
            let expected = &contrasts[inside.iter().map(|i| 1 << i).sum::<usize>()];
            for (truth, &expected) in oracle.truths.iter().zip(expected) {
                let f = contrast(inside.iter().map(|&i| 1 << truth[i]));
                assert!(close(lambda * f, expected), "{pattern:?} {inside:?}: {lambda} * {f} != {expected}");
            }
        }
    }
}

/// Some set of every kind for `k` attributes, varied by `seed`.
fn sets(k: usize, seed: u32) -> Vec<PatternSet> {
    let some = |mask: u32| (0..k).filter(|i| mask >> i & 1 == 1).collect::<Vec<usize>>();
    vec![
        PatternSet::All,
        PatternSet::no_miss(),
        PatternSet::Only(some(seed)),
        PatternSet::Hits(some(seed >> 2)),
        PatternSet::Threshold {
            weights: (0..k).map(|i| u64::from(seed >> i & 3)).collect(),
            limit: u64::from(seed >> 4 & 3),
        },
        PatternSet::Bitmap(Bitmap::new(k, |p| p == 0 || seed >> (p % 31) & 1 == 1)),
    ]
}

/// Returns a channel unless the constructor rejects the parts, for example because of an empty set.
fn channel(axes: &[Axis], parts: Vec<(PatternSet, u64)>) -> Option<Pattern> {
    let parts = parts.into_iter().map(|(set, weight)| Part { set, weight }).collect();
    Pattern::new(axes.to_vec(), parts).ok()
}

#[test]
fn all_tiny_channels() {
    let single: Vec<Axis> = (2..=4).flat_map(|a| (1..=a).map(move |q| Axis::set(a, q))).collect();
    let pairs = product(&[single[..5].to_vec(), single[..5].to_vec()]);
    let mut tried = 0;
    for axes in single.iter().map(|&axis| vec![axis]).chain(pairs) {
        for seed in 0..8 {
            let sets = sets(axes.len(), seed * 37 + seed);
            for (a, b) in (0..sets.len()).flat_map(|a| (0..sets.len()).map(move |b| (a, b))) {
                let parts = vec![(sets[a].clone(), 3 + u64::from(seed)), (sets[b].clone(), 7)];
                if let Some(pattern) = channel(&axes, parts) {
                    agrees_with_definition(&pattern);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 5_000, "only {tried} channels were tried");
}

prop_compose! {
    /// Two to six attributes, at most 130 cells and 400 answers.
    fn small_axes()(raw in prop::collection::vec((2usize..6, 1usize..5), 2..7)) -> Vec<Axis> {
        let mut axes: Vec<Axis> = Vec::new();
        let (mut cells, mut answers) = (1, 1);
        for (a, q) in raw {
            let q = if q >= a { 1 } else { q };
            let ways = (0..q).fold(1, |ways, j| ways * (a - j) / (j + 1));
            if cells * a <= 130 && answers * ways <= 400 {
                (cells, answers) = (cells * a, answers * ways);
                axes.push(Axis::set(a, q));
            }
        }
        axes
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn sampled_channels(
        axes in small_axes(),
        seed in any::<u32>(),
        weights in prop::collection::vec(1u64..1_000_000, 1..5),
        chosen in prop::collection::vec(0usize..6, 5),
        resampling in prop::option::of(prop::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 6)),
    ) {
        let sets = sets(axes.len(), seed);
        let parts = weights.iter().zip(&chosen).map(|(&w, &s)| (sets[s].clone(), w)).collect();
        if let Some(mut pattern) = channel(&axes, parts) {
            if let Some(mut resampling) = resampling {
                resampling.truncate(axes.len());
                pattern = pattern.resampled(resampling);
            }
            agrees_with_definition(&pattern);
        }
    }

    /// The certified epsilon never exceeds the requested one, and is close to it.
    #[test]
    fn k_ary_is_tight(axes in small_axes(), epsilon in 0.0f64..12.0) {
        let pattern = Pattern::k_ary(axes.clone(), epsilon).unwrap();
        let certified = pattern.record_epsilon().as_f64();
        let silent = axes.iter().all(|axis| axis.answer == axis.categories);
        prop_assert!(certified <= epsilon);
        prop_assert!(silent || certified >= epsilon - 1e-9, "{certified} for {epsilon}");
    }
}

#[test]
fn k_ary_at_the_edge_of_the_promise() {
    // The rarest answer has probability 1e-10 here, for few and for many categories.
    for categories in [2usize, 3, 16, 1000, 65_535] {
        for rarest in [1e-10, 1e-8, 1e-5] {
            let kept = 1.0 - rarest * (categories - 1) as f64;
            let epsilon = (kept / rarest).ln();
            let pattern = Pattern::k_ary(vec![Axis::single(categories)], epsilon).unwrap();
            let certified = pattern.record_epsilon().as_f64();
            assert!(certified <= epsilon && certified >= epsilon - 1e-9, "{categories} {rarest}: {certified}");
        }
    }
    for epsilon in [0.0, 1e-300, 1e-12, 1e-6] {
        let pattern = Pattern::k_ary(vec![Axis::single(4)], epsilon).unwrap();
        assert!(pattern.record_epsilon().as_f64() <= epsilon && pattern.record_epsilon().as_f64() >= epsilon - 1e-9);
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(Pattern::k_ary(vec![Axis::single(4)], bad).is_err());
    }
}

#[test]
fn large_subsets_and_large_joints_are_exact_too() {
    let subsets = Pattern::k_ary(vec![Axis::set(10_000, 5_000)], 1.0).unwrap();
    assert!((subsets.record_epsilon().as_f64() - 1.0).abs() < 1e-9);
    let joint = Pattern::k_ary([9, 16, 7, 15, 6, 5, 2, 2].map(Axis::single).to_vec(), 4.0).unwrap();
    assert!(joint.record_epsilon().as_f64() <= 4.0 && joint.record_epsilon().as_f64() > 4.0 - 1e-9);
    for i in 0..8 {
        assert_eq!(joint.conditional_epsilons()[i], joint.record_epsilon());
        assert!(joint.marginal_epsilon(i).as_f64() < 1e-3);
    }
}

/// With too many attributes to enumerate, the structure of the sets gives the same results.
#[test]
fn structure_agrees_with_enumeration() {
    // Twenty attributes are enumerated; a twenty-first that no set depends on changes nothing.
    let sizes: Vec<usize> = (0..20).map(|i| 2 + i % 3).collect();
    let weights: Vec<u64> = (0..20).map(|i| 1 + i % 4).collect();
    let parts = |k: usize| {
        let mut weights = weights.clone();
        weights.resize(k, 0);
        vec![
            Part { set: PatternSet::Threshold { weights, limit: 9 }, weight: 1_000 },
            Part { set: PatternSet::Hits(vec![0, 3]), weight: 500 },
            Part { set: PatternSet::All, weight: 100_000 },
        ]
    };
    let axes = |k: usize| (0..k).map(|i| Axis::single(sizes.get(i).copied().unwrap_or(2))).collect();
    let few = Pattern::new(axes(20), parts(20)).unwrap();
    let many = Pattern::new(axes(21), parts(21)).unwrap();
    assert!(close(many.record_epsilon().as_f64(), few.record_epsilon().as_f64()));
    let (exact, bounds) = (few.conditional_epsilons(), many.conditional_epsilons());
    for i in 0..20 {
        assert!(close(many.marginal_epsilon(i).as_f64(), few.marginal_epsilon(i).as_f64()));
        assert!(bounds[i] >= exact[i], "an upper bound");
        assert!(bounds[i] <= many.record_epsilon());
    }
    assert_eq!(bounds[20], Epsilon::ZERO);
    let (a, b) = (few.marginal(&[3, 7]), many.marginal(&[3, 7]));
    for (x, y) in a.probabilities().iter().zip(b.probabilities()) {
        assert!(close(*x, *y));
    }

    // Equal attributes share cached results; several at once, in any order.
    for attributes in [vec![7, 3], vec![0, 1, 2], vec![12, 5, 19], vec![18, 19, 17, 4]] {
        let (a, b) = (few.marginal(&attributes), many.marginal(&attributes));
        for (x, y) in a.probabilities().iter().zip(b.probabilities()) {
            assert!((x - y).abs() < 1e-12, "{attributes:?}: {x} {y}");
        }
    }

    // Resampling is ignored for the record, but not for the attribute.
    let mut weights = vec![0; 21];
    weights[3] = 1 << 62;
    let (few, many) = (few.resampled(weights[..20].to_vec()), many.resampled(weights));
    assert!(few.record_epsilon() <= many.record_epsilon());
    assert!(close(many.marginal_epsilon(3).as_f64(), few.marginal_epsilon(3).as_f64()));
    assert!(few.marginal_epsilon(3).as_f64() < 0.8 * exact[3].as_f64());
    let (a, b) = (few.marginal(&[3, 7]), many.marginal(&[3, 7]));
    for (x, y) in a.probabilities().iter().zip(b.probabilities()) {
        assert!(close(*x, *y));
    }

    // Parts that are single patterns, as in the heuristic of Yamamoto and Shibuya 2024.
    let mut parts: Vec<Part> =
        (0..30).map(|j| Part { set: PatternSet::Only(vec![j]), weight: 10 + j as u64 }).collect();
    parts.push(Part { set: PatternSet::no_miss(), weight: 7 });
    parts.push(Part { set: PatternSet::All, weight: 1 << 40 });
    let heuristic = Pattern::new(vec![Axis::single(2); 30], parts).unwrap();
    // X of {29} is the largest: 39 + 2^40/2^30, against 2^40/2^30.
    let expected = ((39.0 + 1024.0) / 1024.0f64).ln();
    assert!(close(heuristic.record_epsilon().as_f64(), expected));
}

#[test]
fn what_is_not_a_channel_is_refused() {
    let all = |weight| Part { set: PatternSet::All, weight };
    let new = |axes: &[Axis], parts: &[Part]| Pattern::new(axes.to_vec(), parts.to_vec()).map(|_| ());
    let two = [Axis::single(2), Axis::single(3)];
    let message = |result: Result<(), candor_base::channel::ChannelError>| result.unwrap_err().to_string();
    assert!(message(new(&[], &[all(1)])).contains("at least one attribute"));
    assert!(message(new(&two, &[])).contains("at least one part"));
    assert!(message(new(&[Axis::single(1)], &[all(1)])).contains("1 categories"));
    assert!(message(new(&[Axis::set(3, 0)], &[all(1)])).contains("answer size"));
    assert!(message(new(&[Axis::set(3, 4)], &[all(1)])).contains("answer size"));
    assert!(message(new(&two, &[all(0)])).contains("weight 0"));
    assert!(message(new(&two, &[all(u64::MAX), all(2)])).contains("sum to more than 2^64"));
    assert!(new(&two, &[all(u64::MAX), all(1)]).is_ok());
    let set = |set| [Part { set, weight: 1 }];
    assert!(message(new(&two, &set(PatternSet::Only(vec![2])))).contains("does not fit"));
    assert!(message(new(&two, &set(PatternSet::Hits(vec![1, 0])))).contains("does not fit"));
    assert!(message(new(&two, &set(PatternSet::Threshold { weights: vec![1], limit: 1 }))).contains("does not fit"));
    assert!(message(new(&two, &set(PatternSet::Bitmap(Bitmap::new(3, |_| true))))).contains("does not fit"));
    assert!(message(new(&two, &set(PatternSet::Bitmap(Bitmap::new(2, |_| false))))).contains("no answer"));
    assert!(message(new(&[Axis::set(3, 3)], &set(PatternSet::Only(vec![0])))).contains("no answer"));
}

/// With too many attributes to enumerate, pattern probabilities of one, two and three attributes come from three
/// algorithms. Each is compared with sums of misses, counted attribute by attribute.
#[test]
fn laws_of_few_among_many_attributes() {
    for (k, limit) in [(22, 25), (24, 4), (45, 60)] {
        let axes: Vec<Axis> = (0..k).map(|i| Axis::single(2 + i % 3)).collect();
        let weights: Vec<u64> = (0..k as u64).map(|i| i * 7 % 5).collect();
        let sets = [(PatternSet::Threshold { weights: weights.clone(), limit }, 3), (PatternSet::All, 1)];
        let pattern = channel(&axes, sets.to_vec()).unwrap();
        // The probability of this pattern over the shown attributes together with a sum within the limit.
        let together = |shown: &[usize], pattern: usize| -> f64 {
            let mut sums = HashMap::from([(0u64, 1.0)]);
            for (i, axis) in axes.iter().enumerate() {
                let hit = 1.0 / axis.categories as f64;
                let at = shown.iter().position(|&one| one == i);
                let may = |miss: bool| at.is_none_or(|at| (pattern >> at & 1 == 1) == miss);
                let mut next = HashMap::new();
                for (sum, p) in sums {
                    *next.entry(sum).or_insert(0.0) += if may(false) { p * hit } else { 0.0 };
                    *next.entry(sum + weights[i]).or_insert(0.0) += if may(true) { p * (1.0 - hit) } else { 0.0 };
                }
                sums = next;
            }
            sums.iter().filter(|(sum, _)| **sum <= limit).map(|(_, p)| p).sum()
        };
        let inside = together(&[], 0);
        for shown in [&[k - 1][..], &[3, 11], &[11, 3], &[0, k - 1], &[0, 1], &[4, 2, 9], &[]] {
            let found = pattern.marginal(shown);
            for (number, &mass) in found.probabilities().iter().enumerate() {
                let by_chance = |(at, &i): (usize, &usize)| {
                    let hit = 1.0 / axes[i].categories as f64;
                    if number >> at & 1 == 1 { 1.0 - hit } else { hit }
                };
                let all: f64 = shown.iter().enumerate().map(by_chance).product();
                let expected = 0.75 * together(shown, number) / inside + 0.25 * all;
                assert!((mass - expected).abs() < 1e-12, "{k} {limit} {shown:?} {number}: {mass} {expected}");
            }
        }
    }
}
