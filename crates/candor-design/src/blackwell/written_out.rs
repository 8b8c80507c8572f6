//! Designs written out: the probability of every answer under every truth.

use candor::channel::{Axis, Channel, Pattern};
use candor::plan::{Block, Plan};
use candor::shape::Shape;

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
    let shape = Shape::new(block.channels()[0].1.sizes());
    let mut design: Design = vec![Vec::new(); shape.cells()];
    let mut labels = Vec::new();
    for (tag, (weight, channel)) in block.channels().iter().enumerate() {
        let weight = *weight as f64 / total;
        let tagged = if block.has_tag() { format!("tag {tag}: ") } else { String::new() };
        match channel {
            Channel::Matrix(matrix) => {
                labels.extend(matrix.labels().iter().map(|label| format!("{tagged}{label}")));
                for (input, column) in design.iter_mut().enumerate() {
                    column.extend((0..matrix.labels().len()).map(|z| weight * matrix.probability(z, input)));
                }
            }
            Channel::Pattern(pattern) => {
                let answers = answers(pattern.axes())?;
                let likelihoods = likelihoods(pattern);
                let label = |answer: &Vec<Vec<usize>>| {
                    let one = |(place, set): (usize, &Vec<usize>)| {
                        let categories = plan.schema().attributes()[block.attributes()[place]].categories();
                        set.iter().map(|&c| categories[c].as_str()).collect::<Vec<_>>().join(";")
                    };
                    tagged.clone() + &answer.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
                };
                labels.extend(answers.iter().map(label));
                for (input, column) in design.iter_mut().enumerate() {
                    let truth = shape.codes(input);
                    let misses = |answer: &Vec<Vec<usize>>| {
                        (0..truth.len()).filter(|&i| !answer[i].contains(&truth[i])).map(|i| 1usize << i).sum::<usize>()
                    };
                    column.extend(answers.iter().map(|answer| weight * likelihoods[misses(answer)]));
                }
            }
        }
    }
    if labels.len() > MAX_ANSWERS { Err(labels.len()) } else { Ok((design, labels)) }
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
