//! phi-average security (Boreale and Paolini 2015; Nayak and Zhai 2019, definition 2.4 and theorem 2.1), with its warning.

use super::{Detail, Finding, Question, ROUNDING, Requirement};
use crate::channel::{Channel, Matrix, Pattern};
use crate::plan::{Block, Plan};

/// More differences of two records than this are not listed; there is a bound instead.
const MAX_LISTED: usize = 1 << 21;

/// The smallest `phi` such that no question about a person is answered right more than `phi` times as often with
/// the response as without it: `1 + l1/2`, where `l1` is the largest `sum |P(z | x) - P(z | y)|` over two records, attained by a reader
/// who hesitates between the two that are farthest apart.
///
/// The criterion is *not* enough: a plan that discloses the truth outright to every tenth respondent passes with
/// `phi = 1.1` (section 3.1). A plan with unbounded parity is therefore flagged.
pub(super) fn average_security(question: &Question<'_>) -> Finding {
    let Distance { half, exact } = of_plan(question.plan);
    let phi = 1.0 + half;
    let sentence = format!(
        "Between two possibilities, somebody who reads the response is right at most {phi:.4} times as often as without \
         it{}.",
        if exact { "" } else { " (an upper bound)" }
    );
    let own = |v: &super::view::Variable| {
        1.0 + v.views.iter().map(|(weight, view)| weight * view.largest_distance() / 2.0).sum::<f64>()
    };
    let mut details = vec![Detail { about: "l1".to_owned(), value: Some(2.0 * half) }];
    details.extend(question.by_variable(own));
    let mut finding = Finding::new("average-security", Some(phi), sentence).with_details(details).judged(
        question,
        |required| matches!(required, Requirement::AverageSecurity(limit) if phi <= limit + ROUNDING),
    );
    if question.plan.guarantee().parity().is_none() {
        finding.warning = Some(
            "Do not rely on average security here: it averages over responses, and some responses of this plan rule out \
             some truths, or tell the truth outright. The parity, which does not average, has no bound."
                .to_owned(),
        );
    }
    finding
}

/// Half the largest `l1`, the total variation distance of the two records farthest apart, or an upper bound on it.
struct Distance {
    half: f64,
    exact: bool,
}

/// What one block makes of two records: for each kind of answer its probability under either.
type Difference = Vec<(f64, f64)>;

/// With several blocks: exactly, if each has one attribute of a pattern channel, because then all pairs of
/// categories are alike and records that differ everywhere are farthest apart. Otherwise `1 - product (1 - half of each)`.
fn of_plan(plan: &Plan) -> Distance {
    let blocks: Option<Vec<Difference>> = plan.blocks().iter().map(of_one_attribute).collect();
    if let Some(differences) = blocks
        && differences.iter().map(Vec::len).try_fold(1usize, |n, m| n.checked_mul(m)).is_some_and(|n| n <= MAX_LISTED)
    {
        let product = differences.iter().fold(vec![(1.0, 1.0)], |product: Difference, block| {
            product.iter().flat_map(|(p, q)| block.iter().map(move |(r, s)| (p * r, q * s))).collect()
        });
        return Distance { half: product.iter().map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0, exact: true };
    }
    let each: Vec<Distance> = plan.blocks().iter().map(of_block).collect();
    let together = 1.0 - each.iter().map(|distance| 1.0 - distance.half).product::<f64>();
    Distance { half: together, exact: each.len() == 1 && each[0].exact }
}

/// A set with one of two categories and not the other, the other way round, or with both or neither.
fn of_one_attribute(block: &Block) -> Option<Difference> {
    let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
    let mut difference = Vec::new();
    for (weight, channel) in block.channels() {
        let Channel::Pattern(pattern) = channel else { return None };
        let [axis] = pattern.axes() else { return None };
        let (a, q, hit, weight) =
            (axis.categories as f64, axis.answer as f64, pattern.keep_probability(0), *weight as f64 / total);
        let (with, without) = (weight * hit * (a - q) / (a - 1.0), weight * (1.0 - hit) * q / (a - 1.0));
        difference.extend([(with, without), (without, with), (weight - with - without, weight - with - without)]);
    }
    Some(difference)
}

fn of_block(block: &Block) -> Distance {
    let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
    match &block.channels()[0].1 {
        Channel::Matrix(first) => {
            let inputs = first.columns().len();
            if inputs.saturating_mul(inputs).saturating_mul(first.labels().len() * block.channels().len()) > 1 << 29 {
                return by_parity(block);
            }
            let matrices: Vec<(f64, &Matrix)> = block
                .channels()
                .iter()
                .filter_map(|(weight, channel)| match channel {
                    Channel::Matrix(matrix) => Some((*weight as f64 / total, matrix)),
                    Channel::Pattern(_) => None,
                })
                .collect();
            let between = |x: usize, y: usize| -> f64 {
                let of = |(weight, matrix): &(f64, &Matrix)| {
                    let scale = weight / 2f64.powi(matrix.bits() as i32);
                    let (x, y) = (&matrix.columns()[x], &matrix.columns()[y]);
                    scale * x.iter().zip(y).map(|(a, b)| a.abs_diff(*b) as f64).sum::<f64>()
                };
                matrices.iter().map(of).sum()
            };
            let pairs = (0..inputs).flat_map(|x| (x + 1..inputs).map(move |y| (x, y)));
            Distance { half: pairs.map(|(x, y)| between(x, y)).fold(0.0, f64::max) / 2.0, exact: true }
        }
        Channel::Pattern(_) => {
            let weighted: Vec<(f64, &Pattern)> = block
                .channels()
                .iter()
                .filter_map(|(weight, channel)| match channel {
                    Channel::Pattern(pattern) => Some((*weight as f64 / total, pattern)),
                    Channel::Matrix(_) => None,
                })
                .collect();
            of_patterns(&weighted).unwrap_or_else(|| by_parity(block))
        }
    }
}

/// `(eta - 1)/(eta + 1)` is the most that any channel of parity `eta` has.
fn by_parity(block: &Block) -> Distance {
    let worst = block.channels().iter().map(|(_, channel)| channel.record_epsilon().get()).fold(0.0, f64::max);
    Distance { half: (worst / 2.0).tanh(), exact: false }
}

/// Records that differ in the attributes `differ`: for each of these the answer holds the one's category, the other's, both or
/// neither, for the others it hits or misses both; the likelihoods depend on nothing else. All sets of attributes in which two records may
/// differ are tried.
fn of_patterns(channels: &[(f64, &Pattern)]) -> Option<Distance> {
    let k = channels[0].1.axes().len();
    let work = 6usize.checked_pow(k as u32)?.checked_mul(channels.len())?;
    if work > MAX_LISTED * 8 {
        return None;
    }
    let mut half = vec![0.0; 1 << k];
    for (weight, pattern) in channels {
        let relative = pattern.relative()?;
        let value = |p: usize| relative[p];
        let same: Vec<[f64; 2]> = pattern.axes().iter().map(|axis| axis.shares()).collect();
        // Of uniformly random answers about an attribute in which they differ: both in the set, one, neither.
        let differing: Vec<[f64; 3]> = pattern
            .axes()
            .iter()
            .map(|axis| {
                let (a, q) = (axis.categories as f64, axis.answer as f64);
                [q * (q - 1.0), q * (a - q), (a - q) * (a - q - 1.0)].map(|pairs| pairs / (a * (a - 1.0)))
            })
            .collect();
        for (differ, half) in half.iter_mut().enumerate() {
            let mut kinds = vec![(0usize, 0usize, *weight)];
            for i in 0..k {
                let bit = 1usize << i;
                let branches: Vec<(usize, usize, f64)> = match differ >> i & 1 {
                    0 => vec![(0, 0, same[i][0]), (bit, bit, same[i][1])],
                    _ => vec![
                        (0, 0, differing[i][0]),
                        (0, bit, differing[i][1]),
                        (bit, 0, differing[i][1]),
                        (bit, bit, differing[i][2]),
                    ],
                };
                kinds = kinds
                    .iter()
                    .flat_map(|(x, y, n)| branches.iter().map(move |(a, b, m)| (x | a, y | b, n * m)))
                    .filter(|(_, _, n)| *n > 0.0)
                    .collect();
            }
            *half += kinds.iter().map(|(x, y, n)| n * (value(*x) - value(*y)).abs()).sum::<f64>() / 2.0;
        }
    }
    Some(Distance { half: half.into_iter().fold(0.0, f64::max), exact: true })
}
