//! Mutual information: the average number of bits that an answer reveals about the true value.

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Detail, Rounding};
use crate::figures::{ROUNDING, at_most};
use crate::view::View;
use candor_base::channel::{Channel, Pattern};
use candor_base::plan::{Block, Plan};

/// Maximum number of sets that are listed for a prior that is not uniform.
const MAX_LISTED: f64 = 200_000.0;

/// The criterion, with its largest allowed number of bits.
pub(crate) static MUTUAL_INFORMATION: Criterion = Criterion {
    name: "mutual-information",
    example: "mutual-information=0.5",
    expected: "a finite number of bits, 0 or more",
    accepts: |numbers| matches!(numbers, [x] if x.is_finite() && *x >= 0.0),
    fits: Criterion::any_plan,
    rounding: Rounding::Up,
    find: mutual_information,
};

/// Computes `I = sum P(x) P(z | x) log2( P(z | x)/P(z) )` for each attribute and its own answer.
///
/// The value is the largest about one attribute. A further detail is the information about the complete record under a
/// uniform prior.
///
/// For sets under a uniform prior, every answer is equally likely, so `I = p log2(p a/q) + (1-p) log2((1-p) a/(a-q))`.
/// That is also the maximum over all priors (by symmetry and concavity). It is reported if there are too many sets to
/// list.
fn mutual_information(question: &AuditRequest<'_>) -> CriterionResult {
    let mut bounded = !question.bounded("at most").is_empty();
    let mut details = Vec::new();
    for variable in &question.variables {
        let mut bits = 0.0;
        for (weight, view) in &variable.views {
            let (information, exact) = of_view(view, &variable.prior);
            bounded |= !exact;
            bits += weight * information;
        }
        details.push(Detail { about: variable.name.clone(), value: Some(bits) });
    }
    let largest = details.iter().filter_map(|detail| detail.value).fold(0.0, f64::max);
    let record = of_record(question.plan).filter(|_| !question.has_ties());
    details
        .extend(record.map(|bits| Detail { about: "the whole record, uniform prior".to_owned(), value: Some(bits) }));
    let sentence = format!(
        "An answer about one attribute reveals {} {}{} bits on average{}; a yes or no question answered truthfully \
         reveals one bit at most.",
        question.prior_in_words(),
        if bounded { "at most " } else { "" },
        at_most(largest),
        record.map_or(String::new(), |bits| format!(
            ", the whole response {} if all records are equally likely",
            at_most(bits)
        ))
    );
    CriterionResult::new(&MUTUAL_INFORMATION, Some(largest), sentence)
        .with_details(details)
        .judged(question, |required| matches!(*required, [most] if largest <= most + ROUNDING))
}

/// Returns `p log2(p/q)`, or 0 for impossible events.
fn term(p: f64, q: f64) -> f64 {
    if p > 0.0 && q > 0.0 { p * (p / q).log2() } else { 0.0 }
}

/// Returns the information, and whether it is exact; otherwise it is an upper bound.
fn of_view(view: &View, prior: &[f64]) -> (f64, bool) {
    match view {
        View::Table(columns) => {
            let outputs = columns.first().map_or(0, Vec::len);
            let of_output = |z: usize| {
                let sum: f64 = columns.iter().zip(prior).map(|(column, p)| p * column[z]).sum();
                columns.iter().zip(prior).map(|(column, p)| p * term(column[z], sum)).sum::<f64>()
            };
            ((0..outputs).map(of_output).sum::<f64>().max(0.0), true)
        }
        View::Bounded { epsilon, .. } => {
            // The divergence between two categories is at most epsilon tanh(epsilon/2), and the information at most the
            // entropy of the prior.
            let entropy: f64 = prior.iter().filter(|p| **p > 0.0).map(|p| -p * p.log2()).sum();
            let most = epsilon * (epsilon / 2.0).tanh() / std::f64::consts::LN_2;
            (most.min(entropy), false)
        }
        View::Set { categories, size, hit } => {
            let (a, q) = (*categories as f64, *size as f64);
            let uniform = term(*hit, q / a) + if size < categories { term(1.0 - hit, 1.0 - q / a) } else { 0.0 };
            let even = prior.iter().all(|p| (p - 1.0 / a).abs() < ROUNDING);
            if even || size == categories {
                return (uniform.max(0.0), true);
            }
            let with = (1..*size).fold(1.0, |ways, i| ways * (a - i as f64) / i as f64);
            let without = with * (a - q) / q;
            if with + without > MAX_LISTED {
                return (uniform, false);
            }
            // H(Z) - H(Z | X); an answer z has probability m + (h - m) prior(z).
            let (h, m) = (hit / with, (1.0 - hit) / without);
            let entropy = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
            let mut seen = 0.0;
            for_each_sum(prior, *size, 0.0, &mut |sum| seen += entropy(m + (h - m) * sum));
            ((seen - with * entropy(h) - without * entropy(m)).max(0.0), true)
        }
    }
}

/// Calls `take` with the probability of every set of `size` categories.
fn for_each_sum(prior: &[f64], size: usize, sum: f64, take: &mut impl FnMut(f64)) {
    match size {
        0 => take(sum),
        _ => {
            for first in 0..=prior.len() - size {
                for_each_sum(&prior[first + 1..], size - 1, sum + prior[first], take);
            }
        }
    }
}

/// Returns the information about the record: the sum over blocks, which are independent.
///
/// Returns `None` with more than 20 attributes in one channel.
fn of_record(plan: &Plan) -> Option<f64> {
    let of_channel = |channel: &Channel| match channel {
        Channel::Pattern(pattern) => of_pattern(pattern),
        Channel::Strip(strip) => {
            let ([with, without], p) = (strip.relative_likelihoods(), strip.subset_fraction());
            Some((p * with * with.log2() + (1.0 - p) * without * without.log2()).max(0.0))
        }
        Channel::Matrix(matrix) => {
            let inputs = matrix.columns().len();
            let column = |input: usize| (0..matrix.labels().len()).map(|z| matrix.probability(z, input)).collect();
            let table = View::Table((0..inputs).map(column).collect());
            Some(of_view(&table, &vec![1.0 / inputs as f64; inputs]).0)
        }
    };
    let of_block =
        |block: &Block| block.shares().map(|(share, channel)| Some(share * of_channel(channel)?)).sum::<Option<f64>>();
    plan.blocks().iter().map(of_block).sum()
}

/// Returns `sum over S of mass(S) log2( X(S) * number of answers )`, because all answers are equally likely.
fn of_pattern(pattern: &Pattern) -> Option<f64> {
    let relative = pattern.relative_likelihoods()?;
    let shares: Vec<[f64; 2]> = pattern.axes().iter().map(|axis| axis.shares()).collect();
    let of_pattern = |(p, &ratio): (usize, &f64)| {
        let share: f64 = shares.iter().enumerate().map(|(i, shares)| shares[p >> i & 1]).product();
        if ratio > 0.0 { share * ratio * ratio.log2() } else { 0.0 }
    };
    Some(relative.iter().enumerate().map(of_pattern).sum::<f64>().max(0.0))
}
