//! Channels with shifted labels, which make noncompliance detectable.
//!
//! Channel `s` adds `s` to the number of the true category, modulo the number of categories, before randomization.
//! Noncompliers give the same answers under all channels; compliers do not (docs/mathematics/compliance.md). All
//! channels are equally informative, at the same epsilon.

use candor_base::channel::{Axis, Channel, Matrix, Pattern, PatternSet};
use candor_base::schema::CROSS;
use candor_base::shape::Shape;

use crate::DesignError;

/// Returns k-ary randomized response for one attribute, with as many equally likely channels as categories.
///
/// With two categories, one of the two channels favors the opposite of the true category: the compliance-check device.
///
/// # Errors
/// Returns [`DesignError::Channel`] if epsilon is invalid.
pub fn k_ary(labels: &[String], epsilon: f64) -> Result<Vec<(u64, Channel)>, DesignError> {
    let size = labels.len();
    if size == 2 {
        return both_ways(1, epsilon);
    }
    let plain = Pattern::k_ary(vec![Axis::single(size)], epsilon)?;
    let hit = plain.keep_probability(0);
    let miss = (1.0 - hit) / (size as f64 - 1.0);
    let shifted = |places: usize| {
        let column = |truth: usize| (0..size).map(|z| if z == (truth + places) % size { hit } else { miss }).collect();
        let columns: Vec<Vec<f64>> = (0..size).map(column).collect();
        Ok((1, Channel::Matrix(Matrix::rounded_within(vec![size], labels.to_vec(), &columns, epsilon)?)))
    };
    (0..size).map(shifted).collect()
}

/// Returns two channels for several attributes of two categories together.
///
/// The record is kept or replaced by a random one. Under the second channel, its opposite in every attribute is used
/// instead.
///
/// # Errors
/// Returns [`DesignError::Channel`] if epsilon is invalid.
pub fn both_ways(attributes: usize, epsilon: f64) -> Result<Vec<(u64, Channel)>, DesignError> {
    let axes = || vec![Axis::single(2); attributes];
    let opposite = PatternSet::Only((0..attributes).collect());
    let plain = Pattern::k_ary(axes(), epsilon)?;
    Ok(vec![(1, plain.into()), (1, Pattern::two_level(axes(), opposite, epsilon)?.into())])
}

/// Maximum number of combinations of categories in a matrix.
const MAX_CELLS: usize = 256;

/// Returns k-ary randomized response for several attributes together, with shifted channels.
///
/// There are as many equally likely channels as the largest attribute has categories. The record is shifted in every
/// attribute, and kept or replaced by a random one. For attributes of two categories this is [`both_ways`]. Otherwise
/// the channels are matrices, whose outputs are the combinations `x*y`.
///
/// # Errors
/// Returns [`DesignError::Channel`] if epsilon is invalid, and [`DesignError::MissingParameter`] for more than 256
/// combinations.
pub fn joint(attributes: &[&[String]], epsilon: f64) -> Result<Vec<(u64, Channel)>, DesignError> {
    let sizes: Vec<usize> = attributes.iter().map(|labels| labels.len()).collect();
    if sizes.iter().all(|&size| size == 2) {
        return both_ways(sizes.len(), epsilon);
    }
    if let [labels] = attributes {
        return k_ary(labels, epsilon);
    }
    if sizes.iter().fold(1usize, |cells, &size| cells.saturating_mul(size)) > MAX_CELLS {
        return Err(DesignError::MissingParameter(
            "`compliance_check` with `method joint` writes out all combinations of categories, of which there may be \
             256; use fewer attributes, or `method independent`, which takes any",
        ));
    }
    let plain = Pattern::k_ary(sizes.iter().map(|&size| Axis::single(size)).collect(), epsilon)?;
    let all: Vec<usize> = (0..sizes.len()).collect();
    let hit = plain.marginal(&all).probabilities()[0];
    let shape = Shape::new(sizes.clone());
    let miss = (1.0 - hit) / (shape.cells() as f64 - 1.0);
    let label = |cell: usize| -> String {
        let codes = shape.codes(cell);
        let parts: Vec<&str> = attributes.iter().zip(codes).map(|(labels, code)| labels[code].as_str()).collect();
        parts.join(&CROSS.to_string())
    };
    let labels: Vec<String> = (0..shape.cells()).map(label).collect();
    let shifted = |places: usize| {
        let column = |truth: usize| {
            let moved: Vec<usize> =
                shape.codes(truth).iter().zip(&sizes).map(|(code, size)| (code + places) % size).collect();
            let kept = shape.cell(&moved);
            (0..shape.cells()).map(|answer| if answer == kept { hit } else { miss }).collect()
        };
        let columns: Vec<Vec<f64>> = (0..shape.cells()).map(column).collect();
        Ok((1, Channel::Matrix(Matrix::rounded_within(sizes.clone(), labels.clone(), &columns, epsilon)?)))
    };
    (0..sizes.iter().copied().max().unwrap_or(0)).map(shifted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_analysis::compliance::Lottery;
    use candor_analysis::estimate::{TableEstimator, Target};
    use candor_base::plan::{Block, Plan};
    use candor_base::schema::Schema;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        /// The epsilon and error are the same as without shifts, and there are degrees of freedom for detecting
        /// noncompliance.
        #[test]
        fn nothing_is_lost(size in 2usize..7, epsilon in 0.2f64..3.0) {
            let schema = Schema::with_sizes(&[size]).unwrap();
            let labels: Vec<String> = schema.attributes()[0].categories().to_vec();
            let plain = Pattern::k_ary(vec![Axis::single(size)], epsilon).unwrap();
            let plain = Plan::new(schema.clone(), vec![Block::new(vec![0], plain)]).unwrap();
            let shifted = Block::lottery(vec![0], k_ary(&labels, epsilon).unwrap());
            let shifted = Plan::new(schema, vec![shifted]).unwrap();
            prop_assert!(shifted.guarantee().epsilon().as_f64() <= epsilon);
            prop_assert!(shifted.guarantee().epsilon().as_f64() > epsilon - 1e-8);
            let error = |plan: &Plan| {
                TableEstimator::new(plan, &[0]).unwrap().predict(1.0, Target::Population).unwrap().standard_errors[0]
            };
            prop_assert!((error(&plain) / error(&shifted) - 1.0).abs() < 1e-6);
            prop_assert_eq!(Lottery::for_plan(&shifted, &[0]).unwrap().degrees(), (size - 1) * (size - 1));
            prop_assert_eq!(Lottery::for_plan(&plain, &[0]).unwrap().degrees(), 0);
        }

        /// The same for several attributes together, each of which allows detecting noncompliance separately.
        #[test]
        fn nothing_is_lost_together(sizes in prop::collection::vec(2usize..5, 2..4), epsilon in 1.0f64..5.0) {
            let schema = Schema::with_sizes(&sizes).unwrap();
            let all: Vec<usize> = (0..sizes.len()).collect();
            let axes = sizes.iter().map(|&size| Axis::single(size)).collect();
            let plain = Plan::new(schema.clone(), vec![Block::new(all.clone(), Pattern::k_ary(axes, epsilon)
                .unwrap())]).unwrap();
            let labels: Vec<&[String]> = schema.attributes().iter().map(|attribute| attribute.categories()).collect();
            let shifted = Block::lottery(all.clone(), joint(&labels, epsilon).unwrap());
            let shifted = Plan::new(schema.clone(), vec![shifted]).unwrap();
            prop_assert!(shifted.guarantee().epsilon().as_f64() <= epsilon);
            prop_assert!(shifted.guarantee().epsilon().as_f64() > epsilon - 1e-6);
            let tables = all.iter().map(|&at| vec![at]).chain([all.clone()]);
            for table in tables {
                let error = |plan: &Plan| {
                    TableEstimator::new(plan, &table).unwrap().predict(1.0, Target::Population)
                        .unwrap().standard_errors[0]
                };
                prop_assert!((error(&plain) / error(&shifted) - 1.0).abs() < 1e-5, "{:?}", table);
            }
            for &at in &all {
                prop_assert!(Lottery::for_plan(&shifted, &[at]).unwrap().degrees() > 0);
            }
        }
    }
}
