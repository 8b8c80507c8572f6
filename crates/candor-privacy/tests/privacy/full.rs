//! The full matrix of a small plan, and the criteria by their definitions.

use candor_base::channel::{Channel, Rational};
use candor_base::plan::Plan;
use candor_privacy::CriterionResult;
use num_traits::ToPrimitive;

use super::{definition, strip_definition};

fn float(p: &Rational) -> f64 {
    p.numer().to_f64().unwrap() / p.denom().to_f64().unwrap()
}

/// Returns `columns[record][response]` of a plan, including tags, which the library never builds.
pub fn full(plan: &Plan) -> Vec<Vec<f64>> {
    let mut columns = vec![vec![1.0]];
    for block in plan.blocks() {
        let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
        let sizes: Vec<usize> = block.attributes().iter().map(|&attribute| plan.schema().size(attribute)).collect();
        let truths = definition::product(&sizes.iter().map(|&n| (0..n).collect()).collect::<Vec<Vec<usize>>>());
        let column = |(input, truth): (usize, &Vec<usize>)| -> Vec<f64> {
            let of = |(weight, channel): &(u64, Channel)| -> Vec<f64> {
                let drawn = *weight as f64 / total;
                match channel {
                    Channel::Matrix(matrix) => {
                        (0..matrix.labels().len()).map(|z| drawn * matrix.probability(z, input)).collect()
                    }
                    Channel::Pattern(pattern) => {
                        let answers = definition::answers(pattern.axes());
                        definition::law(pattern, &answers, truth).iter().map(|p| drawn * float(p)).collect()
                    }
                    Channel::Strip(strip) => {
                        let answers = strip_definition::answers(strip);
                        strip_definition::law(strip, &answers, truth).iter().map(|p| drawn * float(p)).collect()
                    }
                }
            };
            block.channels().iter().flat_map(of).collect()
        };
        let block: Vec<Vec<f64>> = truths.iter().enumerate().map(column).collect();
        columns = columns
            .iter()
            .flat_map(|x| block.iter().map(move |y| x.iter().flat_map(|p| y.iter().map(move |q| p * q)).collect()))
            .collect();
    }
    columns
}

pub fn find<'a>(findings: &'a [CriterionResult], name: &str) -> &'a CriterionResult {
    findings.iter().find(|finding| finding.name() == name).unwrap()
}

pub fn value(findings: &[CriterionResult], name: &str) -> f64 {
    find(findings, name).value.unwrap_or(f64::INFINITY)
}

pub fn detail(findings: &[CriterionResult], name: &str, about: &str) -> Option<f64> {
    find(findings, name).details.iter().find(|detail| detail.about == about).and_then(|detail| detail.value)
}

/// Returns the columns of one attribute if the others are uniform.
pub fn marginal(plan: &Plan, columns: &[Vec<f64>], attribute: usize) -> Vec<Vec<f64>> {
    let sizes = plan.schema().sizes();
    let stride: usize = sizes[attribute + 1..].iter().product();
    let mut sums = vec![vec![0.0; columns[0].len()]; sizes[attribute]];
    for (record, column) in columns.iter().enumerate() {
        let category = record / stride % sizes[attribute];
        sums[category]
            .iter_mut()
            .zip(column)
            .for_each(|(sum, p)| *sum += p * sizes[attribute] as f64 / columns.len() as f64);
    }
    sums
}

pub fn guess(columns: &[Vec<f64>], prior: &[f64]) -> f64 {
    let best = |z: usize| columns.iter().zip(prior).map(|(c, p)| c[z] * p).fold(0.0, f64::max);
    (0..columns[0].len()).map(best).sum()
}

pub fn worst(columns: &[Vec<f64>], prior: &[f64]) -> f64 {
    let worst = |z: usize| {
        let joint: Vec<f64> = columns.iter().zip(prior).map(|(c, p)| c[z] * p).collect();
        let sum: f64 = joint.iter().sum();
        if sum > 0.0 { joint.iter().fold(0.0f64, |m, &p| m.max(p)) / sum } else { 0.0 }
    };
    (0..columns[0].len()).map(worst).fold(0.0, f64::max)
}

pub fn information(columns: &[Vec<f64>], prior: &[f64]) -> f64 {
    let mut bits = 0.0;
    for z in 0..columns[0].len() {
        let sum: f64 = columns.iter().zip(prior).map(|(c, p)| c[z] * p).sum();
        for (c, p) in columns.iter().zip(prior).filter(|(c, _)| c[z] > 0.0) {
            bits += p * c[z] * (c[z] / sum).log2();
        }
    }
    bits
}

pub fn uniform(n: usize) -> Vec<f64> {
    vec![1.0 / n as f64; n]
}
