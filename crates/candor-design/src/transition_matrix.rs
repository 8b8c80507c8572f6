//! Plans as matrices: the exact probability of every answer given every true record.

use std::collections::BTreeSet;

use candor_base::channel::{Axis, Channel, Pattern, PatternSet, Rational, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::schema::CROSS;
use candor_base::shape::Shape;
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Maximum number of attributes of a pattern channel whose patterns are enumerated.
const MAX_PATTERNED: usize = 12;

/// Maximum number of relabelings of a strip that are enumerated.
const MAX_RELABELLINGS: usize = 1 << 14;

/// A matrix with a label for each answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactMatrix {
    /// The labels of the answers.
    pub answers: Vec<String>,
    /// `columns[record][answer]`; each column sums to 1.
    pub columns: Vec<Vec<Rational>>,
}

impl ExactMatrix {
    /// Returns the columns as the nearest floats.
    pub fn numbers(&self) -> Vec<Vec<f64>> {
        let number = |p: &Rational| p.to_f64().unwrap_or(0.0);
        self.columns.iter().map(|column| column.iter().map(number).collect()).collect()
    }
}

/// The reason why a plan cannot be represented as a matrix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// There are too many answers, or ways to answer; the field is their approximate number.
    #[error("the matrix would have {0} answers, which are too many")]
    TooLarge(usize),
    /// No answer is about the attribute alone, because all are about tables.
    #[error("every answer is about a table of several attributes, none about this one alone")]
    OnlyTables,
    /// One channel has too many attributes to count exactly.
    #[error("its channel has too many attributes for exact numbers")]
    NotExact,
}

/// Returns blocks of a plan as one matrix over the records of these attributes.
///
/// The attributes must include those of the blocks, and the matrix has at most `entries` entries.
///
/// # Errors
/// Returns [`MatrixError::TooLarge`] if it would have more, and [`MatrixError::NotExact`] if a channel has too many
/// attributes.
pub fn of_blocks(
    plan: &Plan,
    blocks: &[&Block],
    attributes: &[usize],
    entries: usize,
) -> Result<ExactMatrix, MatrixError> {
    let shape = Shape::new(attributes.iter().map(|&attribute| plan.schema().size(attribute)).collect());
    let fits = |answers: usize| match shape.cells().saturating_mul(answers) <= entries {
        true => Ok(()),
        false => Err(MatrixError::TooLarge(answers.max(shape.cells()))),
    };
    fits(1)?;
    let one = Rational::from_integer(BigUint::from(1u32));
    let mut whole = ExactMatrix { answers: vec![String::new()], columns: vec![vec![one]; shape.cells()] };
    for block in blocks {
        let part = of_block(plan, block, entries)?;
        fits(whole.answers.len().saturating_mul(part.answers.len()))?;
        let place = |attribute: &usize| attributes.iter().position(|other| other == attribute).unwrap_or(0);
        let places: Vec<usize> = block.attributes().iter().map(place).collect();
        for (input, column) in shape.project_all(&places).zip(&mut whole.columns) {
            *column = column.iter().flat_map(|p| part.columns[input].iter().map(move |q| p * q)).collect();
        }
        let joined = |label: &String| {
            let join = |answer: &String| match label.is_empty() {
                true => answer.clone(),
                false => format!("{label}{CROSS}{answer}"),
            };
            part.answers.iter().map(join).collect::<Vec<String>>()
        };
        whole.answers = whole.answers.iter().flat_map(joined).collect();
    }
    Ok(whole)
}

/// Returns one block as a matrix over its records, including tags, with at most `entries` entries.
fn of_block(plan: &Plan, block: &Block, entries: usize) -> Result<ExactMatrix, MatrixError> {
    let sizes = block.attributes().iter().map(|&attribute| plan.schema().size(attribute)).collect();
    let shape = Shape::new(sizes);
    let most = entries / shape.cells().max(1);
    let channels = block.channels().iter().map(|(weight, channel)| (*weight, of_channel(plan, block, channel, most)));
    mixed(block, channels)
}

/// Returns the answers about one attribute as a matrix, including tags.
///
/// It is exact, unless `rounded` allows the nearest float.
///
/// # Errors
/// Returns [`MatrixError::OnlyTables`] if answers are about tables, [`MatrixError::TooLarge`] if there are
/// too many, and [`MatrixError::NotExact`] if too many attributes share the channel for exact numbers.
pub fn of_attribute(plan: &Plan, attribute: usize, entries: usize, rounded: bool) -> Result<ExactMatrix, MatrixError> {
    let of_it = |block: &&Block| block.attributes().contains(&attribute);
    let block = plan.blocks().iter().find(of_it).ok_or(MatrixError::OnlyTables)?;
    let place = block.attributes().iter().position(|&other| other == attribute).unwrap_or(0);
    let labels = plan.schema().attributes()[attribute].categories();
    let most = entries / labels.len();
    let alone = |channel: &Channel| match channel {
        Channel::Pattern(pattern) => {
            let hit = hit(pattern, place).or_else(|| {
                let near = || candor_base::channel::exact(pattern.keep_probability(place));
                rounded.then(near).flatten()
            });
            of_set(pattern.axes()[place], &hit.ok_or(MatrixError::NotExact)?, labels, most)
        }
        _ if block.attributes().len() > 1 => Err(MatrixError::OnlyTables),
        other => of_channel(plan, block, other, most),
    };
    mixed(block, block.channels().iter().map(|(weight, channel)| (*weight, alone(channel))))
}

/// Returns the channels of a lottery as one matrix, whose answers begin with their tag.
fn mixed(
    block: &Block,
    channels: impl Iterator<Item = (u64, Result<ExactMatrix, MatrixError>)>,
) -> Result<ExactMatrix, MatrixError> {
    let total: BigUint = block.channels().iter().map(|&(weight, _)| BigUint::from(weight)).sum();
    let mut whole = ExactMatrix { answers: Vec::new(), columns: Vec::new() };
    for (tag, (weight, channel)) in channels.enumerate() {
        let ExactMatrix { answers, columns } = channel?;
        let share = Rational::new(weight.into(), total.clone());
        whole.columns.resize(columns.len(), Vec::new());
        for (column, added) in whole.columns.iter_mut().zip(columns) {
            column.extend(added.into_iter().map(|p| if block.has_tag() { p * &share } else { p }));
        }
        let tagged = |answer: String| if block.has_tag() { format!("tag {tag}: {answer}") } else { answer };
        whole.answers.extend(answers.into_iter().map(tagged));
    }
    Ok(whole)
}

/// Returns one channel of a block as a matrix over the block's records.
fn of_channel(plan: &Plan, block: &Block, channel: &Channel, most: usize) -> Result<ExactMatrix, MatrixError> {
    let shape = Shape::new(block.attributes().iter().map(|&attribute| plan.schema().size(attribute)).collect());
    let categories = |place: usize| plan.schema().attributes()[block.attributes()[place]].categories();
    match channel {
        Channel::Matrix(matrix) => {
            let total = BigUint::from(matrix.total());
            let column = |column: &Vec<u64>| column.iter().map(|&p| Rational::new(p.into(), total.clone())).collect();
            let columns = matrix.columns().iter().map(column).collect();
            Ok(ExactMatrix { answers: matrix.labels().to_vec(), columns })
        }
        Channel::Pattern(pattern) => {
            let answers = answers(pattern.axes(), most)?;
            let likelihoods = likelihoods(pattern).ok_or(MatrixError::NotExact)?;
            let label = |answer: &Vec<Vec<usize>>| {
                let one =
                    |(place, set): (usize, &Vec<usize>)| listed(set.iter().map(|&c| categories(place)[c].as_str()));
                answer.iter().enumerate().map(one).collect::<Vec<_>>().join(&CROSS.to_string())
            };
            let column = |input| {
                let truth = shape.codes(input);
                let misses = |answer: &Vec<Vec<usize>>| {
                    (0..truth.len()).filter(|&i| !answer[i].contains(&truth[i])).map(|i| 1usize << i).sum::<usize>()
                };
                answers.iter().map(|answer| likelihoods[misses(answer)].clone()).collect()
            };
            let columns = (0..shape.cells()).map(column).collect();
            Ok(ExactMatrix { answers: answers.iter().map(label).collect(), columns })
        }
        Channel::Strip(strip) => {
            let sets = relabelled(strip, most)?;
            let labels = plan.cell_labels(plan.blocks().iter().position(|other| other == block).unwrap_or(0), strip);
            let [least, most] = of_strip(strip, sets.len());
            let likelihood = |set: &Vec<usize>, truth: usize| {
                if set.binary_search(&truth).is_ok() { most.clone() } else { least.clone() }
            };
            let column = |cell| sets.iter().map(|set| likelihood(set, cell)).collect();
            let columns = shape.project_all(strip.places()).map(column).collect();
            let answers = sets.iter().map(|set| listed(set.iter().map(|&cell| labels[cell].as_str()))).collect();
            Ok(ExactMatrix { answers, columns })
        }
    }
}

/// Returns the label of a set.
fn listed<'a>(labels: impl Iterator<Item = &'a str>) -> String {
    labels.collect::<Vec<&str>>().join(";")
}

/// Returns the binomial coefficient `C(n, k)`.
fn choose(n: usize, k: usize) -> BigUint {
    if k > n {
        return BigUint::ZERO;
    }
    (0..k.min(n - k)).fold(BigUint::from(1u32), |ways, i| ways * (n - i) / (i + 1))
}

/// Returns the number of ways to answer an attribute with a hit, and with a miss.
fn ways(axis: &Axis) -> [BigUint; 2] {
    [choose(axis.categories - 1, axis.answer - 1), choose(axis.categories - 1, axis.answer)]
}

/// Returns whether a pattern, given by its number, is in the set.
fn holds(set: &PatternSet, pattern: usize) -> bool {
    let misses = |i: &usize| pattern >> i & 1 == 1;
    match set {
        PatternSet::All => true,
        PatternSet::Only(list) => list.iter().fold(0, |mask, i| mask | 1usize << i) == pattern,
        PatternSet::Hits(list) => !list.iter().any(misses),
        PatternSet::Threshold { weights, limit } => {
            let missed = weights.iter().enumerate().filter(|(i, _)| misses(i));
            missed.map(|(_, &weight)| u128::from(weight)).sum::<u128>() <= u128::from(*limit)
        }
        PatternSet::Bitmap(bitmap) => bitmap.contains(pattern as u32),
    }
}

/// Returns the number of answers with each pattern, by number.
fn answers_by_pattern(axes: &[Axis]) -> Vec<BigUint> {
    axes.iter().fold(vec![BigUint::from(1u32)], |counts, axis| {
        let [hit, miss] = ways(axis);
        let times = |ways: &BigUint| counts.iter().map(|count| count * ways).collect::<Vec<BigUint>>();
        [times(&hit), times(&miss)].concat()
    })
}

/// Returns the probability of one answer of each pattern, by number; `None` with too many attributes.
fn likelihoods(pattern: &Pattern) -> Option<Vec<Rational>> {
    let axes = pattern.axes();
    let counts = (axes.len() <= MAX_PATTERNED).then(|| answers_by_pattern(axes))?;
    let total = BigUint::from(pattern.total_weight());
    let mut values = vec![Rational::from_integer(BigUint::ZERO); counts.len()];
    for part in pattern.parts() {
        let inside: Vec<usize> = (0..counts.len()).filter(|&p| holds(&part.set, p)).collect();
        let size: BigUint = inside.iter().map(|&p| &counts[p]).sum();
        let rate = Rational::new(part.weight.into(), size * &total);
        inside.into_iter().for_each(|p| values[p] += &rate);
    }
    for (i, axis) in axes.iter().enumerate().filter(|&(i, _)| pattern.resampling()[i] > 0) {
        let random = Rational::new(pattern.resampling()[i].into(), BigUint::from(1u128 << 64));
        let kept = Rational::from_integer(BigUint::from(1u32)) - &random;
        let [hit, miss] = ways(axis);
        let each = random / (&hit + &miss);
        for p in (0..values.len()).filter(|p| p >> i & 1 == 0) {
            let both = (&values[p] * &hit + &values[p | 1 << i] * &miss) * &each;
            for q in [p, p | 1 << i] {
                values[q] = &values[q] * &kept + &both;
            }
        }
    }
    Some(values)
}

/// Returns the probability that the answer about an attribute contains the true category.
///
/// Returns `None` if too many patterns would have to be counted.
fn hit(pattern: &Pattern, place: usize) -> Option<Rational> {
    let axes = pattern.axes();
    let certain = |hits: bool| Rational::from_integer(BigUint::from(u32::from(hits)));
    let chance = Rational::new(axes[place].answer.into(), axes[place].categories.into());
    let of_part = |set: &PatternSet| match set {
        PatternSet::All => Some(chance.clone()),
        PatternSet::Only(missed) => Some(certain(!missed.contains(&place))),
        PatternSet::Hits(hits) => Some(if hits.contains(&place) { certain(true) } else { chance.clone() }),
        _ if axes.len() > MAX_PATTERNED => None,
        listed => {
            let counts = answers_by_pattern(axes);
            let inside = || counts.iter().enumerate().filter(|&(p, _)| holds(listed, p));
            let hits: BigUint = inside().filter(|(p, _)| p >> place & 1 == 0).map(|(_, count)| count).sum();
            Some(Rational::new(hits, inside().map(|(_, count)| count).sum()))
        }
    };
    let total = BigUint::from(pattern.total_weight());
    let mut hit = certain(false);
    for part in pattern.parts() {
        hit += of_part(&part.set)? * Rational::new(part.weight.into(), total.clone());
    }
    let random = Rational::new(pattern.resampling()[place].into(), BigUint::from(1u128 << 64));
    Some(hit * (certain(true) - &random) + chance * random)
}

/// Returns the matrix of sets of categories that contain the true one with probability `hit`.
fn of_set(axis: Axis, hit: &Rational, labels: &[String], most: usize) -> Result<ExactMatrix, MatrixError> {
    let answers = answers(&[axis], most)?;
    let [hits, misses] = ways(&axis);
    let inside = hit / hits;
    let outside = match misses == BigUint::ZERO {
        true => Rational::from_integer(BigUint::ZERO),
        false => (Rational::from_integer(BigUint::from(1u32)) - hit) / misses,
    };
    let entry = |set: &Vec<usize>, truth| if set.contains(&truth) { inside.clone() } else { outside.clone() };
    let columns = (0..axis.categories).map(|truth| answers.iter().map(|answer| entry(&answer[0], truth)).collect());
    let label = |answer: &Vec<Vec<usize>>| listed(answer[0].iter().map(|&c| labels[c].as_str()));
    Ok(ExactMatrix { answers: answers.iter().map(label).collect(), columns: columns.collect() })
}

/// Returns the probability of a set without the true cell and of one with it, given the number of sets.
fn of_strip(strip: &Strip, sets: usize) -> [Rational; 2] {
    let [hit, all] = strip.weights().map(BigUint::from);
    let (cells, size) = (strip.table().cells(), strip.members().len());
    let total = &hit + &all;
    // Every cell is in the same fraction of the sets: size / cells.
    let of_any = Rational::new(all, &total * sets);
    let with_truth = Rational::new(hit * cells, total * sets * size);
    [of_any.clone(), of_any + with_truth]
}

/// Returns all sets of cells that a strip answers with, each once and increasing.
fn relabelled(strip: &Strip, most: usize) -> Result<Vec<Vec<usize>>, MatrixError> {
    let table = strip.table();
    let ways = table.sizes().iter().flat_map(|&size| 2..=size).fold(1, usize::saturating_mul);
    if ways > MAX_RELABELLINGS {
        return Err(MatrixError::TooLarge(ways));
    }
    let members: Vec<Vec<usize>> = strip.members().iter().map(|&cell| table.codes(cell.into())).collect();
    let mut sets = vec![members];
    for (axis, &size) in table.sizes().iter().enumerate() {
        let orders = permutations(size);
        let renamed = |set: &Vec<Vec<usize>>, order: &Vec<usize>| {
            let mut set = set.clone();
            set.iter_mut().for_each(|codes| codes[axis] = order[codes[axis]]);
            set.sort_unstable();
            set
        };
        let distinct: BTreeSet<Vec<Vec<usize>>> =
            sets.iter().flat_map(|set| orders.iter().map(move |order| renamed(set, order))).collect();
        sets = distinct.into_iter().collect();
    }
    match sets.len() > most {
        true => Err(MatrixError::TooLarge(sets.len())),
        false => Ok(sets.iter().map(|set| set.iter().map(|codes| table.cell(codes)).collect()).collect()),
    }
}

/// Returns all orders of the first `n` numbers.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    let insert = |order: Vec<usize>, new: usize| {
        (0..=new).map(move |at| [&order[..at], &[new], &order[at..]].concat()).collect::<Vec<_>>()
    };
    (0..n).fold(vec![vec![]], |orders, new| orders.into_iter().flat_map(|order| insert(order, new)).collect())
}

/// Returns all answers of a pattern channel, if there are not too many.
fn answers(axes: &[Axis], most: usize) -> Result<Vec<Vec<Vec<usize>>>, MatrixError> {
    fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
        if size == 0 {
            return vec![vec![]];
        }
        let with_last = |last: usize| subsets(last, size - 1).into_iter().map(move |s| [s, vec![last]].concat());
        (size - 1..n).flat_map(with_last).collect()
    }
    let count: BigUint = axes.iter().map(|axis| choose(axis.categories, axis.answer)).product();
    if count > BigUint::from(most) {
        return Err(MatrixError::TooLarge(usize::try_from(count).unwrap_or(usize::MAX)));
    }
    Ok(axes.iter().fold(vec![vec![]], |rows: Vec<Vec<Vec<usize>>>, axis| {
        let sets = subsets(axis.categories, axis.answer);
        rows.iter().flat_map(|row| sets.iter().map(|set| [row.clone(), vec![set.clone()]].concat())).collect()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Request, design};
    use candor_base::schema::Schema;

    const ENTRIES: usize = 1 << 16;

    fn all(plan: &Plan) -> Result<ExactMatrix, MatrixError> {
        of_blocks(plan, &plan.blocks().iter().collect::<Vec<_>>(), &plan.schema().randomized(), ENTRIES)
    }

    fn plan(sizes: &[usize], request: &str) -> Plan {
        let request: Request = request.parse().unwrap();
        design(&Schema::with_sizes(sizes).unwrap(), &request).unwrap().plan
    }

    /// The largest ratio within a row of the matrix is the certified exact parity, and every column sums to 1 exactly.
    /// The plans cover every family, with sets, lotteries and resampled answers.
    #[test]
    fn matrices_are_exact() {
        let one = Rational::from_integer(BigUint::from(1u32));
        let mut resampled = 0;
        for (sizes, request) in [
            (vec![2, 3], r#"{"method": "independent", "epsilon": 2}"#),
            (vec![2, 3, 2], r#"{"method": "joint", "epsilon": 3}"#),
            (vec![2, 3, 4], r#"{"method": "optimal", "attribute_epsilon": [2, 1, 0.5]}"#),
            (vec![3, 3, 2], r#"{"method": "heuristic", "attribute_epsilon": [2, 1.5, 1]}"#),
            (vec![6], r#"{"method": "minimax", "parity": [2]}"#),
            (vec![3, 2], r#"{"method": "sampling", "epsilon": 1, "tables": "marginals"}"#),
            (vec![4], r#"{"method": "independent", "epsilon": 1, "mirrored": true}"#),
            (vec![2, 2], r#"{"method": "workload", "epsilon": 2, "tables": "pairs"}"#),
        ] {
            let plan = plan(&sizes, request);
            let patterns = plan.blocks().iter().flat_map(|block| block.channels()).map(|(_, channel)| channel);
            resampled += patterns
                .filter(|channel| matches!(channel, Channel::Pattern(p) if p.resampling().iter().any(|&r| r > 0)))
                .count();
            let ExactMatrix { answers, columns } = all(&plan).unwrap();
            assert!(columns.iter().all(|column| column.iter().sum::<Rational>() == one), "{request}");
            let row = |z: usize| columns.iter().map(move |column| &column[z]);
            let ratio = |z: usize| row(z).max().unwrap() / row(z).min().unwrap();
            let parity = (0..answers.len()).map(ratio).max().unwrap();
            let epsilon = candor_base::channel::Epsilon::of_parity(Some(&parity)).as_f64();
            let certified = plan.guarantee().epsilon().as_f64();
            assert!(
                certified >= epsilon && certified - epsilon < 1e-11 * (1.0 + epsilon),
                "{request}: {certified} {epsilon}"
            );
            let distinct: BTreeSet<&String> = answers.iter().collect();
            assert_eq!(distinct.len(), answers.len(), "{request}");
        }
        assert!(resampled > 0, "some plan resamples");
    }

    /// The matrix of one attribute is the sum of the complete matrix over all others.
    #[test]
    fn attributes_are_margins_of_the_whole() {
        let plan = plan(&[2, 3, 4], r#"{"method": "optimal", "attribute_epsilon": [2, 1, 0.5]}"#);
        let whole = all(&plan).unwrap();
        let shape = Shape::new(vec![2, 3, 4]);
        for attribute in 0..3 {
            let alone = of_attribute(&plan, attribute, ENTRIES, false).unwrap();
            for (record, column) in whole.columns.iter().enumerate() {
                let mut summed = vec![Rational::from_integer(BigUint::ZERO); alone.answers.len()];
                column.iter().enumerate().for_each(|(answer, p)| summed[shape.code(answer, attribute)] += p);
                assert_eq!(summed, alone.columns[shape.code(record, attribute)]);
            }
        }
    }

    /// Columns sum to 1, and every likelihood has one of two values, with the channel's own ratio.
    #[test]
    fn strips_are_written_out() {
        let strip = Strip::within(vec![0, 2], vec![3, 4], 3, 1.0).unwrap();
        let schema = Schema::with_sizes(&[3, 2, 4]).unwrap();
        let plan = Plan::new(schema, vec![Block::new(vec![0, 1, 2], strip.clone())]).unwrap();
        let ExactMatrix { answers, columns } = all(&plan).unwrap();
        assert_eq!((columns.len(), answers.len()), (24, 24), "4 choices of columns, 3! ways to match rows to them");
        for (record, column) in columns.iter().enumerate() {
            assert_eq!(column.iter().sum::<Rational>(), Rational::from_integer(BigUint::from(1u32)));
            assert_eq!(column, &columns[record ^ 4], "the second attribute does not matter");
            assert_eq!(column.iter().max().unwrap() / column.iter().min().unwrap(), strip.parity());
        }
        assert_eq!(of_attribute(&plan, 0, ENTRIES, true), Err(MatrixError::OnlyTables));
        let large = Strip::within(vec![0, 1], vec![8, 9], 3, 1.0).unwrap();
        assert!(relabelled(&large, ENTRIES).is_err());
    }

    #[test]
    fn what_is_too_large_is_said() {
        let many = plan(&[9, 9, 9, 9], r#"{"method": "joint", "epsilon": 3}"#);
        assert!(matches!(all(&many), Err(MatrixError::TooLarge(_))));
        assert_eq!(of_attribute(&many, 2, ENTRIES, false).unwrap().answers.len(), 9);
        let sets = plan(&[40], r#"{"method": "minimax", "parity": [2]}"#);
        assert!(matches!(all(&sets), Err(MatrixError::TooLarge(_))));
    }
}
