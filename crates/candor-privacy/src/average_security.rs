//! phi-average security (Boreale and Paolini 2015; Nayak and Zhai 2019, definition 2.4 and theorem 2.1).
//!
//! The criterion alone is not sufficient, so its result has a warning for plans that are unbounded.

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Detail, Rounding};
use crate::figures::{ROUNDING, at_most};
use candor_base::channel::{Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};

/// Maximum number of differences between two records that are listed; beyond it the distance is bounded instead.
const MAX_LISTED: usize = 1 << 21;

/// The criterion, with its threshold phi.
pub(crate) static AVERAGE_SECURITY: Criterion = Criterion {
    name: "average-security",
    example: "average-security=1.5",
    expected: "phi above 1 and below 2: a guess between two cannot become right more than twice as often",
    accepts: |numbers| matches!(numbers, [phi] if 1.0 < *phi && *phi < 2.0),
    fits: Criterion::any_plan,
    rounding: Rounding::Up,
    find: average_security,
};

/// Computes the smallest phi of a plan, which is `1 + l1/2`.
///
/// With the response, no question about a person is answered correctly more than `phi` times as often as without it.
/// Here `l1` is the largest `sum |P(z | x) - P(z | y)|` over two records. An adversary who considers only the two most
/// distant records attains the bound.
///
/// The criterion is *not* sufficient: a plan that reveals the true value of every tenth respondent passes with
/// `phi = 1.1` (section 3.1). A plan with unbounded parity is therefore flagged.
fn average_security(question: &AuditRequest<'_>) -> CriterionResult {
    let Distance { half, exact } = of_plan(question.plan);
    let phi = 1.0 + half;
    let sentence = format!(
        "Between two possibilities, somebody who reads the response is right at most {} times as often as without \
         it{}.",
        at_most(phi),
        if exact { "" } else { " (an upper bound)" }
    );
    let own = |v: &crate::variables::Variable| {
        1.0 + v.views.iter().map(|(weight, view)| weight * view.largest_distance() / 2.0).sum::<f64>()
    };
    let mut details = vec![Detail { about: "l1".to_owned(), value: Some(2.0 * half) }];
    details.extend(question.by_variable(own));
    let mut finding = CriterionResult::new(&AVERAGE_SECURITY, Some(phi), sentence)
        .with_details(details)
        .judged(question, |required| matches!(*required, [limit] if phi <= limit + ROUNDING));
    if question.plan.guarantee().parity().is_none() {
        finding.warning = Some(
            "Do not rely on average security here: it averages over responses, and some responses of this plan rule \
             out some true values, or reveal the true value. The likelihood ratio, which does not average, is \
             unbounded."
                .to_owned(),
        );
    }
    finding
}

/// Half the largest `l1`, which is the total variation distance of the two most distant records, or an upper bound.
struct Distance {
    half: f64,
    exact: bool,
}

/// The effect of one block on two records: the probabilities of each kind of answer given either record.
type Difference = Vec<(f64, f64)>;

/// Returns the distance of a plan.
///
/// With several blocks it is exact if each block has one attribute and a pattern channel. All pairs of categories are
/// then equivalent, and records that differ everywhere are the most distant. Otherwise it is the bound
/// `1 - product (1 - half of each)`.
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

/// Returns the probabilities of answers that contain one of two categories only, the other only, and both or neither.
fn of_one_attribute(block: &Block) -> Option<Difference> {
    let mut difference = Vec::new();
    for (weight, channel) in block.shares() {
        let Channel::Pattern(pattern) = channel else { return None };
        let [axis] = pattern.axes() else { return None };
        let (a, q, hit) = (axis.categories as f64, axis.answer as f64, pattern.keep_probability(0));
        let (with, without) = (weight * hit * (a - q) / (a - 1.0), weight * (1.0 - hit) * q / (a - 1.0));
        difference.extend([(with, without), (without, with), (weight - with - without, weight - with - without)]);
    }
    Some(difference)
}

fn of_block<'a>(block: &'a Block) -> Distance {
    match &block.channels()[0].1 {
        Channel::Matrix(first) => {
            let inputs = first.columns().len();
            if inputs.saturating_mul(inputs).saturating_mul(first.labels().len() * block.channels().len()) > 1 << 29 {
                return by_parity(block);
            }
            let matrix = |(weight, channel): (f64, &'a Channel)| match channel {
                Channel::Matrix(matrix) => Some((weight, matrix)),
                Channel::Pattern(_) | Channel::Strip(_) => None,
            };
            let matrices: Vec<(f64, &Matrix)> = block.shares().filter_map(matrix).collect();
            let between = |x: usize, y: usize| -> f64 {
                let of = |(weight, matrix): &(f64, &Matrix)| {
                    let scale = weight / matrix.total() as f64;
                    let (x, y) = (&matrix.columns()[x], &matrix.columns()[y]);
                    scale * x.iter().zip(y).map(|(a, b)| a.abs_diff(*b) as f64).sum::<f64>()
                };
                matrices.iter().map(of).sum()
            };
            let pairs = (0..inputs).flat_map(|x| (x + 1..inputs).map(move |y| (x, y)));
            Distance { half: pairs.map(|(x, y)| between(x, y)).fold(0.0, f64::max) / 2.0, exact: true }
        }
        Channel::Pattern(_) | Channel::Strip(_) => by_differences(block).unwrap_or_else(|| by_parity(block)),
    }
}

/// Returns `(eta - 1)/(eta + 1)`, the maximum over all channels of parity `eta`.
fn by_parity(block: &Block) -> Distance {
    let worst = block.channels().iter().map(|(_, channel)| channel.record_epsilon().as_f64()).fold(0.0, f64::max);
    Distance { half: (worst / 2.0).tanh(), exact: false }
}

/// Returns half the distance, maximized over the sets of attributes in which two records differ.
///
/// Returns `None` if there are too many sets.
fn by_differences(block: &Block) -> Option<Distance> {
    let k = block.attributes().len();
    let work = 6usize.checked_pow(k as u32)?.checked_mul((block.channels().len() - block.strips().count()).max(1))?;
    if work > MAX_LISTED * 8 {
        return None;
    }
    let mut half = vec![0.0; 1 << k];
    for (share, channel) in block.shares() {
        match channel {
            Channel::Pattern(pattern) => add_pattern(pattern, share, &mut half)?,
            Channel::Strip(strip) => add_strip(strip, share, &mut half),
            Channel::Matrix(_) => return None,
        }
    }
    Some(Distance { half: half.into_iter().fold(0.0, f64::max), exact: true })
}

/// Adds the distances under a strip, by set of attributes in which two records differ.
///
/// An answer distinguishes two records if it contains exactly one of them. It contains both with probability
/// `sum of q_V chi_V`, where `chi_V` is the product of `-1/(a_i - 1)` over the attributes of `V` in which they differ.
fn add_strip(strip: &Strip, weight: f64, half: &mut [f64]) {
    let mut both = strip.mean_squares();
    for (axis, &size) in strip.table().sizes().iter().enumerate() {
        for without in (0..both.len()).filter(|set| set >> axis & 1 == 0) {
            let (constant, deviation) = (both[without], both[without | 1 << axis]);
            both[without] = constant + deviation;
            both[without | 1 << axis] = constant - deviation / (size as f64 - 1.0);
        }
    }
    let [with, without] = strip.relative_likelihoods();
    let scale = weight * (with - without);
    for (differ, half) in half.iter_mut().enumerate() {
        let bit = |(axis, &place): (usize, &usize)| (differ >> place & 1) << axis;
        *half += scale * (both[0] - both[strip.places().iter().enumerate().map(bit).sum::<usize>()]);
    }
}

/// Adds the distances under a pattern channel, by set `differ` of attributes in which two records differ.
///
/// For each attribute in `differ`, the answer contains the category of one record, of the other, of both or of neither.
/// For the others it hits or misses both. The likelihoods depend on nothing else.
fn add_pattern(pattern: &Pattern, weight: f64, half: &mut [f64]) -> Option<()> {
    let k = pattern.axes().len();
    let relative = pattern.relative_likelihoods()?;
    let value = |p: usize| relative[p];
    let same: Vec<[f64; 2]> = pattern.axes().iter().map(|axis| axis.shares()).collect();
    // For a uniformly random answer about an attribute in which they differ: both categories in the set, one, neither.
    let differing: Vec<[f64; 3]> = pattern
        .axes()
        .iter()
        .map(|axis| {
            let (a, q) = (axis.categories as f64, axis.answer as f64);
            [q * (q - 1.0), q * (a - q), (a - q) * (a - q - 1.0)].map(|pairs| pairs / (a * (a - 1.0)))
        })
        .collect();
    for (differ, half) in half.iter_mut().enumerate() {
        let mut kinds = vec![(0usize, 0usize, weight)];
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
    Some(())
}
