//! All pairs of records of a plan, grouped by the likelihoods of their answers.
//!
//! For pattern channels, the likelihoods of two records depend only on the attributes in which they differ. Where they
//! agree, a uniformly random answer hits both records or neither; where they differ, it hits both, one or neither.
//! Matrices are evaluated pair by pair, in both orders. Lotteries mix likelihoods, blocks multiply them.
//!
//! Where the answers of a channel are not listed, its three numbers represent it. This is valid because the bound is
//! convex in the answers of one block, for fixed answers of all others.

use candor_base::channel::{Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};

use super::blanket::Blanket;
use super::likelihoods::{Level, Likelihoods};

/// Maximum number of likelihoods that are listed over all pairs.
const MAX_LISTED: usize = 30_000;

/// Maximum number of attributes in a block whose sets are enumerated.
const MAX_TOGETHER: usize = 9;

/// Returns the likelihoods of all pairs of records, or `None` if there are too many or some answer rules records out.
pub fn of_plan(plan: &Plan) -> Option<Vec<Likelihoods>> {
    let mut cases = vec![Likelihoods::new(vec![Level { u: 1.0, v: 1.0, p: 1.0 }])];
    for block in plan.blocks() {
        let own = of_block(block)?;
        listed(total(&cases).checked_mul(total(&own)))?;
        let mut all: Vec<Likelihoods> = Vec::new();
        for product in cases.iter().flat_map(|case| own.iter().map(move |one| case.times(one))) {
            if !all.contains(&product) {
                all.push(product);
            }
        }
        cases = all;
    }
    Some(cases)
}

fn total(cases: &[Likelihoods]) -> usize {
    cases.iter().map(Likelihoods::len).sum()
}

fn listed(count: Option<usize>) -> Option<usize> {
    count.filter(|&count| count <= MAX_LISTED)
}

fn of_block(block: &Block) -> Option<Vec<Likelihoods>> {
    fn matrix((share, channel): (f64, &Channel)) -> Option<(f64, &Matrix)> {
        match channel {
            Channel::Matrix(matrix) => Some((share, matrix)),
            Channel::Pattern(_) | Channel::Strip(_) => None,
        }
    }
    match block.shares().map(matrix).collect::<Option<Vec<(f64, &Matrix)>>>() {
        Some(matrices) => of_matrices(&matrices),
        None => of_sets(block),
    }
}

/// Returns the likelihoods of every pair of records, in both orders.
fn of_matrices(matrices: &[(f64, &Matrix)]) -> Option<Vec<Likelihoods>> {
    let inputs = matrices.first()?.1.columns().len();
    let outputs: usize = matrices.iter().map(|(_, matrix)| matrix.labels().len()).sum();
    listed(inputs.checked_mul(inputs)?.checked_mul(outputs))?;
    let pair = |x: usize, y: usize| {
        let levels = matrices.iter().map(|&(share, matrix)| {
            let columns = matrix.columns();
            let scale = matrix.total() as f64;
            let level = |output: usize| {
                let least = columns.iter().map(|column| column[output]).min().filter(|&least| least > 0)? as f64;
                let [u, v] = [x, y].map(|input| columns[input][output] as f64 / least);
                Some(Level { u, v, p: share * least / scale })
            };
            (0..matrix.labels().len()).map(level).collect::<Option<Vec<Level>>>()
        });
        levels.collect::<Option<Vec<_>>>().map(|levels| Likelihoods::new(levels.concat()))
    };
    (0..inputs).flat_map(|x| (0..inputs).map(move |y| (x, y))).map(|(x, y)| pair(x, y)).collect()
}

/// Returns the likelihoods for every set of attributes in which two records may differ.
fn of_sets(block: &Block) -> Option<Vec<Likelihoods>> {
    let attributes = block.attributes().len();
    if attributes > MAX_TOGETHER {
        return None;
    }
    let mut listed_yet = 0;
    let case = |differ: usize| {
        let mut levels = Vec::new();
        for (share, channel) in block.shares() {
            let own = match channel {
                Channel::Pattern(pattern) => of_pattern(pattern, differ)?,
                Channel::Strip(strip) => of_strip(strip, differ)?,
                Channel::Matrix(_) => return None,
            };
            levels.extend(own.into_iter().map(|level| Level { p: share * level.p, ..level }));
        }
        let case = Likelihoods::new(levels);
        listed_yet += case.len();
        listed(Some(listed_yet)).map(|_| case)
    };
    (0..1 << attributes).map(case).collect()
}

/// Returns the likelihoods of a pattern channel for two records that differ in the attributes of `differ`.
fn of_pattern(pattern: &Pattern, differ: usize) -> Option<Vec<Level>> {
    let relative = pattern.relative_likelihoods()?;
    // Misses under the first and under the second record, with the probability that a uniformly random answer has them.
    let mut kinds = vec![(0usize, 0usize, 1.0)];
    let mut least = f64::INFINITY;
    for (i, axis) in pattern.axes().iter().enumerate() {
        let (a, q, bit) = (axis.categories as f64, axis.answer as f64, 1 << i);
        let of_axis = match differ & bit != 0 && axis.categories > 1 {
            false => vec![(0, 0, q / a), (bit, bit, (a - q) / a)],
            true => {
                let pairs = a * (a - 1.0);
                let one = q * (a - q) / pairs;
                vec![
                    (0, 0, q * (q - 1.0) / pairs),
                    (0, bit, one),
                    (bit, 0, one),
                    (bit, bit, (a - q) * (a - q - 1.0) / pairs),
                ]
            }
        };
        let next = kinds.iter().flat_map(|&(s, t, p)| of_axis.iter().map(move |&(x, y, r)| (s | x, t | y, p * r)));
        kinds = next.filter(|&(_, _, p)| p > 0.0).collect();
        listed(Some(kinds.len()))?;
    }
    let fixed = pattern.axes().iter().enumerate().filter(|(_, axis)| axis.answer == axis.categories);
    let fixed = fixed.fold(0usize, |mask, (i, _)| mask | 1 << i);
    for (_, &value) in relative.iter().enumerate().filter(|(missing, _)| missing & fixed == 0) {
        least = least.min(value);
    }
    let level = |(s, t, p): (usize, usize, f64)| Level { u: relative[s] / least, v: relative[t] / least, p: least * p };
    (least > 0.0).then(|| kinds.into_iter().map(level).collect())
}

/// Returns the likelihoods of a strip for two records, from its three numbers.
fn of_strip(strip: &Strip, differ: usize) -> Option<Vec<Level>> {
    let [with, without] = strip.relative_likelihoods();
    let rho = with / without;
    if rho <= 1.0 || without <= 0.0 {
        return None;
    }
    let differs = strip.places().iter().any(|place| differ & 1 << place != 0);
    let distance = if differs { (rho - 1.0) / (rho + 1.0) } else { 0.0 };
    Some(Blanket::new(rho, without, distance).levels().to_vec())
}
