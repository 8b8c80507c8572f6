//! Statistical tests of the samplers: a million draws of each, compared with the exact distribution.
//!
//! They cover every family of channels, the bulk sampler and the single-record sampler. Seeds are fixed; each test has
//! a false-alarm rate of 1e-6 or less for a fresh seed.

use std::collections::HashMap;

use candor_base::channel::{Answer, Axis, Bitmap, Channel, Matrix, Part, Pattern, PatternSet, Rational};
use candor_base::plan::{Block, Plan};
use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::{AnswerColumn, Randomizer};
use num_traits::ToPrimitive;
use statrs::distribution::{Beta, ChiSquared, ContinuousCDF, Normal};

#[path = "../../candor-base/tests/definition/mod.rs"]
mod definition;

const DRAWS: usize = 1_000_000;
const ALPHA: f64 = 1e-6;

/// A tag and, for each attribute, the number of categories in the answer and the categories.
///
/// It is one list, because a million of them are counted.
type Response = Vec<u16>;

fn response(tag: usize, answers: &[Vec<usize>]) -> Response {
    let mut response = vec![tag as u16];
    for categories in answers {
        response.push(categories.len() as u16);
        response.extend(categories.iter().map(|&code| code as u16));
    }
    response
}

/// Counts one more response.
fn count(seen: &mut HashMap<Response, usize>, response: &[u16]) {
    match seen.get_mut(response) {
        Some(times) => *times += 1,
        None => drop(seen.insert(response.to_vec(), 1)),
    }
}

fn float(p: &Rational) -> f64 {
    p.numer().to_f64().unwrap() / p.denom().to_f64().unwrap()
}

/// Returns the distribution of the responses of one block to one true record.
fn law(block: &Block, truth: &[u16]) -> HashMap<Response, f64> {
    let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
    let mut law = HashMap::new();
    for (tag, (weight, channel)) in block.channels().iter().enumerate() {
        let drawn = *weight as f64 / total;
        match channel {
            Channel::Pattern(pattern) => {
                let answers = definition::answers(pattern.axes());
                let truth: Vec<usize> = truth.iter().map(|&code| code.into()).collect();
                let probabilities = definition::law(pattern, &answers, &truth);
                law.extend(answers.into_iter().zip(probabilities).map(|(z, p)| (response(tag, &z), drawn * float(&p))));
            }
            Channel::Matrix(matrix) => {
                let input = truth.iter().zip(matrix.sizes()).fold(0, |cell, (&code, &n)| cell * n + code as usize);
                for output in 0..matrix.labels().len() {
                    law.insert(response(tag, &[vec![output]]), drawn * matrix.probability(output, input));
                }
            }
            Channel::Strip(_) => unreachable!("see tests/strips"),
        }
    }
    law
}

fn bulk(plan: &Plan, truth: &[u16], seed: u64) -> HashMap<Response, usize> {
    let columns: Vec<Vec<u16>> = truth.iter().map(|&code| vec![code; DRAWS]).collect();
    let answers = Randomizer::new(plan).batch(&columns, &mut Source::from_seed(seed).stream(0)).unwrap();
    let block = &answers.blocks[0];
    let (mut seen, mut response) = (HashMap::new(), Vec::new());
    for row in 0..DRAWS {
        response.clear();
        response.push(block.tags.get(row).copied().unwrap_or(0));
        for column in &block.columns {
            match column {
                AnswerColumn::One(codes) => response.extend([1, codes[row]]),
                AnswerColumn::Set(sets) => {
                    response.push(sets.get(row).len() as u16);
                    response.extend(sets.get(row));
                }
            }
        }
        count(&mut seen, &response);
    }
    seen
}

fn one_by_one(plan: &Plan, truth: &[u16], seed: u64) -> HashMap<Response, usize> {
    let client = Client::new(plan);
    let mut rng = Source::from_seed(seed).stream(0);
    let (mut seen, mut response) = (HashMap::new(), Vec::new());
    for _ in 0..DRAWS {
        let answer = client.answer(truth, &mut rng).unwrap().remove(0);
        response.clear();
        response.push(answer.tag.unwrap_or(0) as u16);
        for answer in answer.answers {
            match answer {
                Answer::One(code) => response.extend([1, code]),
                Answer::Set(codes) => {
                    response.push(codes.len() as u16);
                    response.extend(codes);
                }
            }
        }
        count(&mut seen, &response);
    }
    seen
}

/// Checks counts by a chi-square test over all responses (rare ones together) and a Wilson interval for each.
fn fits(seen: &HashMap<Response, usize>, law: &HashMap<Response, f64>, name: &str) {
    let impossible = seen.keys().find(|response| law.get(*response).is_none_or(|&p| p == 0.0));
    assert_eq!(impossible, None, "{name}: an answer that the channel cannot give");
    let n = DRAWS as f64;
    let (mut statistic, mut cells, mut rare) = (0.0, 0, (0.0, 0.0));
    let z = Normal::standard().inverse_cdf(1.0 - ALPHA / 2.0 / law.len() as f64);
    for (response, &p) in law.iter().filter(|(_, p)| **p > 0.0) {
        let count = seen.get(response).copied().unwrap_or(0) as f64;
        let (centre, width) = {
            let share = count / n;
            let scale = 1.0 + z * z / n;
            let spread = z / scale * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
            ((share + z * z / (2.0 * n)) / scale, spread)
        };
        assert!((p - centre).abs() <= width, "{name}: {response:?} seen {count} times, probability {p}");
        if n * p < 20.0 {
            rare = (rare.0 + count, rare.1 + n * p);
        } else {
            statistic += (count - n * p).powi(2) / (n * p);
            cells += 1;
        }
    }
    if rare.1 >= 20.0 {
        statistic += (rare.0 - rare.1).powi(2) / rare.1;
        cells += 1;
    }
    if cells > 1 {
        let p_value = ChiSquared::new(f64::from(cells - 1)).unwrap().sf(statistic);
        assert!(p_value > ALPHA, "{name}: chi-square {statistic} with {} degrees, p = {p_value}", cells - 1);
    }
}

/// Returns a lower bound on epsilon from counts alone, for a response chosen beforehand.
///
/// It is `ln` of a lower bound on P(response | x) over an upper bound on P(response | y) (Clopper-Pearson).
fn epsilon_seen(response: &Response, x: &HashMap<Response, usize>, y: &HashMap<Response, usize>) -> f64 {
    let count = |seen: &HashMap<Response, usize>| seen.get(response).copied().unwrap_or(0) as f64;
    let (a, b, n) = (count(x), count(y), DRAWS as f64);
    let low = if a == 0.0 { 0.0 } else { Beta::new(a, n - a + 1.0).unwrap().inverse_cdf(ALPHA / 2.0) };
    let high = Beta::new(b + 1.0, n - b).unwrap().inverse_cdf(1.0 - ALPHA / 2.0);
    (low / high).ln()
}

fn parts(parts: &[(PatternSet, u64)]) -> Vec<Part> {
    parts.iter().map(|(set, weight)| Part { set: set.clone(), weight: *weight }).collect()
}

fn patterns(axes: &[Axis], listed: &[(PatternSet, u64)]) -> Channel {
    Pattern::new(axes.to_vec(), parts(listed)).unwrap().into()
}

fn matrix(sizes: &[usize], columns: &[Vec<f64>]) -> Channel {
    let labels = (0..columns[0].len()).map(|output| format!("o{output}")).collect();
    Matrix::rounded(sizes.to_vec(), labels, columns).unwrap().into()
}

/// Tests two true records that differ in every attribute.
///
/// The frequencies of the response `telling` under both bound epsilon from below.
fn prove(name: &str, lottery: Vec<(u64, Channel)>, telling: Option<Response>) {
    prove_samplers(&[("bulk", bulk), ("one by one", one_by_one)], name, lottery, telling);
}

type Draw = fn(&Plan, &[u16], u64) -> HashMap<Response, usize>;

fn prove_samplers(samplers: &[(&str, Draw)], name: &str, lottery: Vec<(u64, Channel)>, telling: Option<Response>) {
    let sizes = lottery[0].1.sizes();
    let block = Block::lottery((0..sizes.len()).collect(), lottery);
    let plan = Plan::new(Schema::with_sizes(&sizes).unwrap(), vec![block]).unwrap();
    let truths: [Vec<u16>; 2] = [vec![0; sizes.len()], sizes.iter().map(|&size| size as u16 - 1).collect()];
    for (sampler, draw) in samplers {
        let seen: Vec<HashMap<Response, usize>> =
            truths.iter().zip(11..).map(|(truth, seed)| draw(&plan, truth, seed)).collect();
        for (truth, seen) in truths.iter().zip(&seen) {
            fits(seen, &law(&plan.blocks()[0], truth), &format!("{name}, {sampler}, truth {truth:?}"));
        }
        if let Some(response) = &telling {
            let certified = plan.guarantee().epsilon().as_f64();
            let black_box = epsilon_seen(response, &seen[0], &seen[1]);
            assert!(
                black_box <= certified,
                "{name}, {sampler}: epsilon is at least {black_box}, certified {certified}"
            );
            // The bound is useless unless it is close.
            assert!(black_box >= 0.8 * certified, "{name}, {sampler}: only {black_box} of {certified} seen");
        }
    }
}

fn alone(channel: Channel) -> Vec<(u64, Channel)> {
    vec![(1, channel)]
}

#[test]
fn k_ary() {
    for (categories, epsilon) in [(2, 1.0), (16, 4.0), (300, 2.0)] {
        let channel = Pattern::k_ary(vec![Axis::single(categories)], epsilon).unwrap();
        let telling = (categories < 100).then(|| response(0, &[vec![0]]));
        prove(&format!("k-ary {categories}"), alone(channel.into()), telling);
    }
}

#[test]
fn lying_more_often_than_not() {
    let channel = patterns(&[Axis::single(5)], &[(PatternSet::Only(vec![0]), 3), (PatternSet::All, 5)]);
    // Under this channel, a true category makes the other one likelier.
    prove("lies", alone(channel), Some(response(0, &[vec![4]])));
}

#[test]
fn matrices() {
    let square = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
    prove("square matrix", alone(matrix(&[3], &square)), Some(response(0, &[vec![0]])));
    let rectangular = [vec![0.5, 0.0, 0.25, 0.25], vec![0.0, 0.5, 0.125, 0.375]];
    prove("rectangular matrix", alone(matrix(&[2], &rectangular)), None);
    let crossed: Vec<Vec<f64>> = (0..6).map(|x| (0..6).map(|z| if x == z { 0.5 } else { 0.1 }).collect()).collect();
    prove("crossed matrix", alone(matrix(&[2, 3], &crossed)), Some(response(0, &[vec![0]])));
    let two = vec![
        (3, matrix(&[3], &square)),
        (1, matrix(&[3], &[vec![0.5, 0.3, 0.2], vec![0.2, 0.5, 0.3], vec![0.3, 0.2, 0.5]])),
    ];
    prove("lottery of matrices", two, Some(response(0, &[vec![0]])));
}

/// Columns that sum to the number of outcomes of a device.
#[test]
fn devices() {
    let device = |total: u128, columns: &[&[u64]]| -> Channel {
        let labels = (0..columns[0].len()).map(|z| z.to_string()).collect();
        let columns: Vec<Vec<u64>> = columns.iter().map(|column| column.to_vec()).collect();
        Matrix::with_total(vec![columns.len()], labels, total, columns).unwrap().into()
    };
    prove("a die", alone(device(6, &[&[4, 1, 1], &[1, 4, 1], &[1, 1, 4]])), None);
    prove("sums of dice", alone(device(36, &[&[30, 6], &[3, 33]])), None);
    let large = (1u64 << 60) + 1;
    prove("many outcomes", alone(device(3 * u128::from(large), &[&[2 * large, large], &[large, 2 * large]])), None);
    let mirrored = vec![(1, device(6, &[&[5, 1], &[1, 5]])), (1, device(6, &[&[1, 5], &[5, 1]]))];
    prove("a lottery of dice", mirrored, None);
}

#[test]
fn joint() {
    let channel = Pattern::k_ary([2, 3, 4].map(Axis::single).to_vec(), 3.0).unwrap();
    prove("joint", alone(channel.into()), Some(response(0, &[vec![0], vec![0], vec![0]])));
}

#[test]
fn general_pattern_sets() {
    let axes = [2, 3, 4].map(Axis::single);
    let threshold = PatternSet::Threshold { weights: vec![3, 1, 2], limit: 3 };
    let bitmap = PatternSet::Bitmap(Bitmap::new(3, |p| p == 0 || p == 3 || p == 6));
    let channel = |set: PatternSet| patterns(&axes, &[(set, 2), (PatternSet::All, 1)]);
    prove("threshold", alone(channel(threshold)), Some(response(0, &[vec![0], vec![0], vec![0]])));
    prove("bitmap", alone(channel(bitmap)), None);
    prove("single pattern", alone(channel(PatternSet::Only(vec![1, 2]))), None);
    // Too many attributes for one die: patterns are drawn attribute by attribute.
    let thirteen = |set: PatternSet| alone(patterns(&[Axis::single(2); 13], &[(set, 3), (PatternSet::All, 1)]));
    for limit in [12, 5] {
        let many = PatternSet::Threshold { weights: (0..13).map(|i| 1 + i % 3).collect(), limit };
        prove(&format!("threshold {limit} of thirteen"), thirteen(many), None);
    }
    let listed = PatternSet::Bitmap(Bitmap::new(13, |p| p % 11 == 3));
    prove("bitmap of thirteen", thirteen(listed), None);
}

#[test]
fn resampling() {
    let axes = [2, 3, 4].map(Axis::single);
    let threshold = PatternSet::Threshold { weights: vec![3, 1, 2], limit: 3 };
    let channel = Pattern::new(axes.to_vec(), parts(&[(threshold, 2), (PatternSet::All, 1)])).unwrap();
    let resampled = channel.resampled(vec![0, 1 << 62, 3 << 61]);
    prove("resampled answers", alone(resampled.into()), Some(response(0, &[vec![0], vec![0], vec![0]])));
    let sets = Pattern::new(vec![Axis::set(5, 2)], parts(&[(PatternSet::no_miss(), 1)])).unwrap();
    prove("resampled sets", alone(sets.resampled(vec![1 << 63]).into()), None);
}

/// Too many attributes to list all answers: tests the distribution of the pattern over four of them.
#[test]
fn thresholds_over_many_attributes() {
    let k = 24;
    let axes: Vec<Axis> = (0..k).map(|i| Axis::single(2 + i % 3)).collect();
    let weights: Vec<u64> = (0..k as u64).map(|i| 1 + i * 7 % 5).collect();
    // The first is drawn by rejection; the second is too rare for that.
    for (limit, likely) in [(30, true), (4, false)] {
        let set = PatternSet::Threshold { weights: weights.clone(), limit };
        let pattern = Pattern::new(axes.clone(), parts(&[(set.clone(), 1)])).unwrap();
        let share = 1.0 / 4096.0;
        let ways: Vec<[f64; 2]> =
            axes.iter().map(|a| [1.0 / a.categories as f64, 1.0 - 1.0 / a.categories as f64]).collect();
        let measured = candor_base::channel::threshold::measure(&weights, limit, &ways).unwrap();
        assert_eq!(measured.inside >= share, likely);
        let shown = [0, 7, 14, 23];
        let expected = pattern.marginal(&shown);
        let channel: Channel = pattern.into();
        let sampler = candor_base::channel::Sampler::new(&channel);
        let mut rng = Source::from_seed(5).stream(0);
        let (truth, mut seen, draws) = (vec![1u16; k], [0.0; 16], 60_000);
        for _ in 0..draws {
            let answers = sampler.draw(&truth, &mut rng).unwrap();
            let misses = |i: usize| usize::from(answers[i] != Answer::One(truth[i]));
            let missing: u64 = (0..k).map(|i| misses(i) as u64 * weights[i]).sum();
            assert!(missing <= limit, "outside the set");
            seen[shown.iter().enumerate().map(|(at, &i)| misses(i) << at).sum::<usize>()] += 1.0;
        }
        follows(&seen, expected.probabilities(), &format!("{k} attributes, {limit}"));
    }
}

/// Compares counts of patterns with their distribution.
fn follows(seen: &[f64], law: &[f64], name: &str) {
    let draws: f64 = seen.iter().sum();
    let cells = seen.iter().zip(law).filter(|(_, p)| **p * draws > 20.0);
    let statistic: f64 = cells.clone().map(|(n, p)| (n - p * draws).powi(2) / (p * draws)).sum();
    let degrees = cells.count() as f64 - 1.0;
    assert!(degrees > 3.0);
    assert!(ChiSquared::new(degrees).unwrap().sf(statistic) > ALPHA, "{name}: {statistic} with {degrees}");
}

/// The same in bulk, with masks of one word and of three, next to a part of one pattern and one of all, with
/// resampling.
///
/// Each has a common and a rare set, with small weights and with large ones, which are rounded while a pattern is
/// drawn.
#[test]
fn thresholds_over_many_attributes_in_bulk() {
    let small = [(16, 20), (16, 12), (24, 32), (24, 22), (130, 220), (130, 190)].map(|(k, limit)| (k, limit, 1));
    let large = [(16, 21), (16, 14), (24, 34), (24, 24), (130, 231), (130, 205)].map(|(k, limit)| (k, limit, 89));
    for (k, limit, scale) in [small, large].concat() {
        let sizes: Vec<usize> = (0..k).map(|i| 2 + i % 3).collect();
        let axes: Vec<Axis> = sizes.iter().map(|&size| Axis::single(size)).collect();
        let weights: Vec<u64> = (0..k as u64).map(|i| scale * (1 + i * 7 % 5) + i * 11 % scale / 4).collect();
        let limit = scale * limit;
        let set = PatternSet::Threshold { weights: weights.clone(), limit };
        let only = PatternSet::Only(vec![2, k - 1]);
        let of = |listed: &[(PatternSet, u64)]| Pattern::new(axes.clone(), parts(listed)).unwrap();
        let mut resampling = vec![0; k];
        resampling[k - 1] = 1 << 62;
        let mixed = of(&[(set.clone(), 6), (only, 1), (PatternSet::All, 1)]).resampled(resampling);
        for (pattern, inside) in [(of(&[(set, 1)]), true), (mixed, false)] {
            let shown = [0, 7, k / 2, k - 1];
            let expected = pattern.marginal(&shown);
            let blocks = vec![Block::new((0..k).collect(), pattern)];
            let plan = Plan::new(Schema::with_sizes(&sizes).unwrap(), blocks).unwrap();
            let truths = vec![vec![1u16; 50_000]; k];
            let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(6).stream(0)).unwrap();
            let misses = |i: usize, row: usize| match &answers.blocks[0].columns[i] {
                AnswerColumn::One(codes) => usize::from(codes[row] != 1),
                AnswerColumn::Set(_) => unreachable!("answers are categories"),
            };
            let mut seen = [0.0; 16];
            for row in 0..truths[0].len() {
                let missing: u64 = (0..k).map(|i| misses(i, row) as u64 * weights[i]).sum();
                assert!(!inside || missing <= limit, "outside the set");
                seen[shown.iter().enumerate().map(|(at, &i)| misses(i, row) << at).sum::<usize>()] += 1.0;
            }
            follows(&seen, expected.probabilities(), &format!("{k} attributes in bulk, {limit}"));
        }
    }
}

#[test]
fn lotteries() {
    let axes = [2, 3, 4].map(Axis::single);
    let hits = |hits: Vec<usize>| patterns(&axes, &[(PatternSet::Hits(hits), 1), (PatternSet::All, 1)]);
    prove("lottery", vec![(5, hits(vec![0])), (2, hits(vec![1, 2])), (1, hits(vec![0, 2]))], None);
}

#[test]
fn sets() {
    let axis = Axis::set(6, 2);
    let subsets = Pattern::k_ary(vec![axis], 2.0).unwrap();
    prove("subset selection", alone(subsets.into()), Some(response(0, &[vec![0, 1]])));
    let diverse = patterns(&[Axis::set(7, 3)], &[(PatternSet::no_miss(), 1)]);
    prove("l-diversity", alone(diverse), None);
    let mixed = [Axis::set(4, 2), Axis::single(3), Axis::set(3, 3)];
    let channel =
        patterns(&mixed, &[(PatternSet::Hits(vec![0]), 1), (PatternSet::Only(vec![1]), 1), (PatternSet::All, 2)]);
    prove("sets and ordinary answers", alone(channel), None);
    let sizes = vec![
        (1, patterns(&[Axis::set(5, 2)], &[(PatternSet::no_miss(), 1), (PatternSet::All, 1)])),
        (2, patterns(&[Axis::single(5)], &[(PatternSet::no_miss(), 1), (PatternSet::All, 2)])),
    ];
    prove("lottery of answer sizes", sizes, None);
}

/// Sets too large for the bulk sampler's kernel for small ones: many categories, and more than half of them. The
/// single-record sampler draws all sizes alike, and large sets slowly.
#[test]
fn large_sets() {
    let prove = |name: &str, channel: Channel| prove_samplers(&[("bulk", bulk)], name, alone(channel), None);
    prove("two of three hundred", patterns(&[Axis::set(300, 2)], &[(PatternSet::no_miss(), 1)]));
    let most = patterns(&[Axis::set(44, 42)], &[(PatternSet::no_miss(), 3), (PatternSet::All, 1)]);
    prove("all but two", most);
    let missing = patterns(&[Axis::set(44, 42)], &[(PatternSet::Only(vec![0]), 1), (PatternSet::All, 1)]);
    prove("all but two, the truth left out", missing);
}

/// Half of ten thousand categories, where answers cannot be listed. Every set contains the true category. Every other
/// category has the right frequency, alone and together with its neighbor.
#[test]
fn half_of_ten_thousand() {
    const CATEGORIES: usize = 10_000;
    const SETS: usize = 2_000;
    let channel = patterns(&[Axis::set(CATEGORIES, CATEGORIES / 2)], &[(PatternSet::no_miss(), 1)]);
    let plan = Plan::new(Schema::with_sizes(&[CATEGORIES]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
    let truths = vec![(0..SETS).map(|i| (i * 7 % CATEGORIES) as u16).collect::<Vec<u16>>()];
    let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(3).stream(0)).unwrap();
    let AnswerColumn::Set(sets) = &answers.blocks[0].columns[0] else { unreachable!("answers are sets") };
    let (mut alone, mut together, mut others) = (vec![0.0; CATEGORIES], vec![0.0; CATEGORIES], vec![0.0; CATEGORIES]);
    for (set, &truth) in sets.iter().zip(&truths[0]) {
        assert_eq!(set.len(), CATEGORIES / 2);
        assert!(set.is_sorted_by(|a, b| a < b) && set.binary_search(&truth).is_ok());
        for pair in set.windows(2).filter(|pair| !pair.contains(&truth)) {
            together[usize::from(pair[0])] += f64::from(u8::from(pair[0] + 1 == pair[1]));
        }
        set.iter().filter(|&&code| code != truth).for_each(|&code| alone[usize::from(code)] += 1.0);
        (0..CATEGORIES).filter(|&code| code != usize::from(truth)).for_each(|code| others[code] += 1.0);
    }
    let p = (CATEGORIES as f64 / 2.0 - 1.0) / (CATEGORIES as f64 - 1.0);
    let q = p * (CATEGORIES as f64 / 2.0 - 2.0) / (CATEGORIES as f64 - 2.0);
    let z = Normal::standard().inverse_cdf(1.0 - ALPHA / 8.0 / CATEGORIES as f64);
    for code in 0..CATEGORIES - 1 {
        let n = others[code];
        // A continuity correction of half a step, since counts are integers.
        assert!((alone[code] - n * p).abs() <= z * (n * p * (1.0 - p)).sqrt() + 0.5, "{code}: {}", alone[code]);
        // Sets in which the neighbor is the true category are left out above, at most one here.
        assert!((together[code] - n * q).abs() <= z * (n * q * (1.0 - q)).sqrt() + 1.5, "{code}: {}", together[code]);
    }
}

/// The checks above can fail: a sampler that is off by half a percent does not pass them.
#[test]
fn a_wrong_sampler_is_found_out() {
    let claimed = patterns(&[Axis::single(4)], &[(PatternSet::no_miss(), 1_000), (PatternSet::All, 1_000)]);
    let actual = patterns(&[Axis::single(4)], &[(PatternSet::no_miss(), 1_010), (PatternSet::All, 990)]);
    let plan = |channel| Plan::new(Schema::with_sizes(&[4]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
    let (claimed, actual) = (plan(claimed), plan(actual));
    let [x, y] = [0, 3].map(|truth| bulk(&actual, &[truth], 5));
    let caught = std::panic::catch_unwind(|| fits(&x, &law(&claimed.blocks()[0], &[0]), "wrong"));
    assert!(caught.is_err(), "half a percent went unnoticed");
    let weaker = patterns(&[Axis::single(4)], &[(PatternSet::no_miss(), 900), (PatternSet::All, 1_000)]);
    assert!(epsilon_seen(&response(0, &[vec![0]]), &x, &y) > plan(weaker).guarantee().epsilon().as_f64());
}
