//! Designs written out: the probability of every answer under every truth.

use std::collections::BTreeSet;

use candor_base::channel::{Axis, Channel, Pattern, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::shape::Shape;

use super::{BlackwellError, Design, MAX_ANSWERS};

/// The blocks of a plan as one matrix over the records of these attributes, with a label for each answer.
pub(super) fn written_out(
    plan: &Plan,
    blocks: &[&Block],
    attributes: &[String],
) -> Result<(Design, Vec<String>), BlackwellError> {
    let size = |name: &String| plan.schema().position(name).map_or(1, |a| plan.schema().size(a));
    let shape = Shape::new(attributes.iter().map(size).collect());
    let too_large = |size: usize| BlackwellError::TooLarge { what: attributes.join(", "), size };
    let records = shape.cells();
    if records > MAX_ANSWERS {
        return Err(too_large(records));
    }
    let mut design = vec![vec![1.0]; records];
    let mut labels = vec![String::new()];
    for block in blocks {
        let (columns, answers) = of_block(plan, block).map_err(too_large)?;
        if labels.len().saturating_mul(answers.len()) > MAX_ANSWERS {
            return Err(too_large(labels.len().saturating_mul(answers.len())));
        }
        let place = |&a: &usize| attributes.iter().position(|name| name == plan.schema().name(a)).unwrap_or(0);
        let places: Vec<usize> = block.attributes().iter().map(place).collect();
        for (input, column) in shape.cells_of(&places).zip(&mut design) {
            *column = column.iter().flat_map(|p| columns[input].iter().map(move |q| p * q)).collect();
        }
        let join = |label: &String| {
            answers
                .iter()
                .map(|a| if label.is_empty() { a.clone() } else { format!("{label}, {a}") })
                .collect::<Vec<_>>()
        };
        labels = labels.iter().flat_map(join).collect();
    }
    Ok((design, labels))
}

/// One block as a matrix, tags included; the number of answers if too many.
fn of_block(plan: &Plan, block: &Block) -> Result<(Design, Vec<String>), usize> {
    let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
    let shape = Shape::new(block.attributes().iter().map(|&attribute| plan.schema().size(attribute)).collect());
    let mut design: Design = vec![Vec::new(); shape.cells()];
    let mut labels = Vec::new();
    for (tag, (weight, channel)) in block.channels().iter().enumerate() {
        let weight = *weight as f64 / total;
        let (columns, answers) = of_channel(plan, block, channel, &shape)?;
        let tagged = if block.has_tag() { format!("tag {tag}: ") } else { String::new() };
        labels.extend(answers.iter().map(|answer| format!("{tagged}{answer}")));
        for (whole, column) in design.iter_mut().zip(&columns) {
            whole.extend(column.iter().map(|likelihood| weight * likelihood));
        }
    }
    if labels.len() > MAX_ANSWERS { Err(labels.len()) } else { Ok((design, labels)) }
}

/// One channel of a block as a matrix; the number of answers if too many.
fn of_channel(plan: &Plan, block: &Block, channel: &Channel, shape: &Shape) -> Result<(Design, Vec<String>), usize> {
    let categories = |place: usize| plan.schema().attributes()[block.attributes()[place]].categories();
    Ok(match channel {
        Channel::Matrix(matrix) => {
            let column = |input| (0..matrix.labels().len()).map(|z| matrix.probability(z, input)).collect();
            ((0..shape.cells()).map(column).collect(), matrix.labels().to_vec())
        }
        Channel::Pattern(pattern) => {
            let (answers, likelihoods) = (answers(pattern.axes())?, likelihoods(pattern));
            let label = |answer: &Vec<Vec<usize>>| {
                let one = |(place, set): (usize, &Vec<usize>)| {
                    set.iter().map(|&c| categories(place)[c].as_str()).collect::<Vec<_>>().join(";")
                };
                answer.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
            };
            let column = |input| {
                let truth = shape.codes(input);
                let misses = |answer: &Vec<Vec<usize>>| {
                    (0..truth.len()).filter(|&i| !answer[i].contains(&truth[i])).map(|i| 1usize << i).sum::<usize>()
                };
                answers.iter().map(|answer| likelihoods[misses(answer)]).collect()
            };
            ((0..shape.cells()).map(column).collect(), answers.iter().map(label).collect())
        }
        Channel::Strip(strip) => {
            let sets = relabelled(strip)?;
            let cell = |&cell: &usize| {
                let codes = strip.table().codes(cell).into_iter().zip(strip.places());
                codes.map(|(code, &place)| categories(place)[code].as_str()).collect::<Vec<_>>().join("*")
            };
            let label = |set: &Vec<usize>| set.iter().map(cell).collect::<Vec<_>>().join(";");
            let least = 1.0 / (sets.len() as f64 * (1.0 + strip.excess() * strip.density()));
            let likelihood = |set: &Vec<usize>, truth: usize| {
                least * if set.binary_search(&truth).is_ok() { 1.0 + strip.excess() } else { 1.0 }
            };
            let columns = shape.cells_of(strip.places()).map(|x| sets.iter().map(|set| likelihood(set, x)).collect());
            (columns.collect(), sets.iter().map(label).collect())
        }
    })
}

/// More ways to relabel than this are not gone through.
const MAX_RELABELLINGS: usize = 1 << 14;

/// All sets of cells that a strip answers with, each once and increasing; the number of relabellings, or of sets, if too many.
fn relabelled(strip: &Strip) -> Result<Vec<Vec<usize>>, usize> {
    let table = strip.table();
    let ways = table.sizes().iter().flat_map(|&size| 2..=size).fold(1, usize::saturating_mul);
    if ways > MAX_RELABELLINGS {
        return Err(ways);
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
    match sets.len() > MAX_ANSWERS {
        true => Err(sets.len()),
        false => Ok(sets.iter().map(|set| set.iter().map(|codes| table.cell(codes)).collect()).collect()),
    }
}

/// All orders of the first `n` numbers.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    let insert = |order: Vec<usize>, new: usize| {
        (0..=new).map(move |at| [&order[..at], &[new], &order[at..]].concat()).collect::<Vec<_>>()
    };
    (0..n).fold(vec![vec![]], |orders, new| orders.into_iter().flat_map(|order| insert(order, new)).collect())
}

/// All answers of a pattern channel, or their number if too many.
fn answers(axes: &[Axis]) -> Result<Vec<Vec<Vec<usize>>>, usize> {
    fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
        if size == 0 {
            return vec![vec![]];
        }
        let with_last = |last: usize| subsets(last, size - 1).into_iter().map(move |s| [s, vec![last]].concat());
        (size - 1..n).flat_map(with_last).collect()
    }
    let count = axes.iter().fold(1.0, |n: f64, axis| {
        let (a, q) = (axis.categories as f64, axis.answer.min(axis.categories - axis.answer));
        n * (0..q).fold(1.0, |ways, i| ways * (a - i as f64) / (i + 1) as f64)
    });
    if count > MAX_ANSWERS as f64 || axes.len() > 8 {
        return Err(count.min(1e15) as usize);
    }
    Ok(axes.iter().fold(vec![vec![]], |rows: Vec<Vec<Vec<usize>>>, axis| {
        let sets = subsets(axis.categories, axis.answer);
        rows.iter().flat_map(|row| sets.iter().map(|set| [row.clone(), vec![set.clone()]].concat())).collect()
    }))
}

/// The probability of one particular answer, by its pattern: the pattern's mass over the number of answers that have it.
fn likelihoods(pattern: &Pattern) -> Vec<f64> {
    let all: Vec<usize> = (0..pattern.axes().len()).collect();
    let choose = |n: usize, k: usize| {
        if k > n { 0.0 } else { (0..k.min(n - k)).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64) }
    };
    let ways = |p: usize| -> f64 {
        let of = |(i, axis): (usize, &Axis)| choose(axis.categories - 1, axis.answer - usize::from(p >> i & 1 == 0));
        pattern.axes().iter().enumerate().map(of).product()
    };
    let masses = pattern.marginal(&all);
    masses.probabilities().iter().enumerate().map(|(p, mass)| if *mass > 0.0 { mass / ways(p) } else { 0.0 }).collect()
}

/// Merges answers whose likelihoods are proportional: they tell the same (Chai and Nayak 2018), and leaves out those that
/// cannot occur.
pub fn merged((design, labels): (Design, Vec<String>)) -> (Design, Vec<String>) {
    let row = |z: usize| design.iter().map(|column| column[z]).collect::<Vec<f64>>();
    let mut kept: Vec<(Vec<f64>, String)> = Vec::new();
    for (z, label) in labels.iter().enumerate() {
        let new = row(z);
        let sum: f64 = new.iter().sum();
        if sum <= 0.0 {
            continue;
        }
        let alike = |(held, _): &&mut (Vec<f64>, String)| {
            let of: f64 = held.iter().sum();
            held.iter().zip(&new).all(|(a, b)| (a / of - b / sum).abs() <= 1e-12)
        };
        match kept.iter_mut().find(alike) {
            Some((held, name)) => {
                held.iter_mut().zip(&new).for_each(|(a, b)| *a += b);
                *name += &format!(" or {label}");
            }
            None => kept.push((new, label.clone())),
        }
    }
    let columns = (0..design.len()).map(|x| kept.iter().map(|(row, _)| row[x]).collect()).collect();
    (columns, kept.into_iter().map(|(_, label)| label).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::schema::Schema;

    /// Columns sum to 1, and every likelihood has one of two values with the channel's own ratio.
    #[test]
    fn strips_are_written_out() {
        let strip = Strip::within(vec![0, 2], vec![3, 4], 3, 1.0).unwrap();
        let schema = Schema::of_sizes(&[3, 2, 4]).unwrap();
        let plan = Plan::new(schema, vec![Block::new(vec![0, 1, 2], strip.clone())]).unwrap();
        let (design, labels) = of_block(&plan, &plan.blocks()[0]).unwrap();
        assert_eq!((design.len(), labels.len()), (24, 24), "4 choices of columns, 3! ways to match rows to them");
        for (record, column) in design.iter().enumerate() {
            assert!((column.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(column, &design[record ^ 4], "the second attribute does not matter");
            let (least, most) = column.iter().fold((1.0f64, 0.0f64), |(low, high), &p| (low.min(p), high.max(p)));
            assert!((most / least - 1.0 - strip.excess()).abs() < 1e-9);
            let held: f64 = column.iter().filter(|p| **p > least * 1.5).sum();
            let expected = strip.density() * (1.0 + strip.excess()) / (1.0 + strip.excess() * strip.density());
            assert!((held - expected).abs() < 1e-12, "{held} for {expected}");
        }
        let large = Strip::within(vec![0, 1], vec![8, 9], 3, 1.0).unwrap();
        assert!(relabelled(&large).is_err());
    }
}
