//! Designs as matrices: the probability of every answer given every true value.

use candor_base::plan::{Block, Plan};

use super::{BlackwellError, Design, MAX_ANSWERS};
use crate::transition_matrix::{MatrixError, of_blocks};

/// Returns the blocks of a plan as one matrix over these attributes, with a label for each answer.
pub(super) fn written_out(
    plan: &Plan,
    blocks: &[&Block],
    attributes: &[String],
) -> Result<(Design, Vec<String>), BlackwellError> {
    let too_large = |size: usize| BlackwellError::TooLarge { what: attributes.join(", "), size };
    let places: Vec<usize> = attributes.iter().filter_map(|name| plan.schema().position(name).ok()).collect();
    let records = places.iter().map(|&place| plan.schema().size(place)).fold(1, usize::saturating_mul);
    if records > MAX_ANSWERS {
        return Err(too_large(records));
    }
    match of_blocks(plan, blocks, &places, records * MAX_ANSWERS) {
        Ok(written) => Ok((written.numbers(), written.answers)),
        Err(MatrixError::TooLarge(size)) => Err(too_large(size)),
        Err(_) => Err(too_large(usize::MAX)),
    }
}

/// Merges answers with proportional likelihoods, and removes impossible answers.
///
/// Such answers are equally informative (Chai and Nayak 2018).
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
