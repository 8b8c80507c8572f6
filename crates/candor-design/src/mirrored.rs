//! Lotteries that show who does not follow them: each tag tells as much at the same epsilon, but shifts the labels.
//!
//! Tag `s` adds `s` to the number of the true category, modulo their number, before it is randomized. People who ignore the rules give the same
//! answers under all tags, people who follow them do not (docs/mathematics/compliance.md).

use candor::channel::{Axis, Channel, Matrix, Pattern, PatternSet};

use crate::DesignError;

/// k-ary randomized response on one attribute, as many channels as it has categories, equally often. With two categories half of them lean
/// away from the truth: the mirrored device.
///
/// # Errors
/// If epsilon is not a privacy loss.
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
        Ok((1, Channel::Matrix(Matrix::rounded(vec![size], labels.to_vec(), &columns)?)))
    };
    (0..size).map(shifted).collect()
}

/// The same on several attributes of two categories together: the record is kept, or with the other tag its opposite in every
/// attribute, or replaced by a random one.
///
/// # Errors
/// If epsilon is not a privacy loss.
pub fn both_ways(attributes: usize, epsilon: f64) -> Result<Vec<(u64, Channel)>, DesignError> {
    let axes = || vec![Axis::single(2); attributes];
    let opposite = PatternSet::Only((0..attributes).collect());
    let plain = Pattern::k_ary(axes(), epsilon)?;
    Ok(vec![(1, plain.into()), (1, Pattern::two_level(axes(), opposite, epsilon)?.into())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor::plan::{Block, Plan};
    use candor::schema::Schema;
    use candor_analysis::comply::Lottery;
    use candor_analysis::estimate::{TableEstimator, Target};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        /// The same epsilon and the same error as without shifts, and degrees of freedom to see who ignores it.
        #[test]
        fn nothing_is_lost(size in 2usize..7, epsilon in 0.2f64..3.0) {
            let schema = Schema::of_sizes(&[size]).unwrap();
            let labels: Vec<String> = schema.attributes()[0].categories().to_vec();
            let plain = Pattern::k_ary(vec![Axis::single(size)], epsilon).unwrap();
            let plain = Plan::new(schema.clone(), vec![Block::new(vec![0], plain)]).unwrap();
            let shifted = Block::lottery(vec![0], k_ary(&labels, epsilon).unwrap());
            let shifted = Plan::new(schema, vec![shifted]).unwrap();
            prop_assert!(shifted.guarantee().epsilon().get() <= epsilon);
            prop_assert!(shifted.guarantee().epsilon().get() > epsilon - 1e-8);
            let error = |plan: &Plan| {
                TableEstimator::new(plan, &[0]).unwrap().predict(1.0, Target::Population).unwrap().standard_errors[0]
            };
            prop_assert!((error(&plain) / error(&shifted) - 1.0).abs() < 1e-6);
            prop_assert_eq!(Lottery::of(&shifted, &[0]).unwrap().degrees(), (size - 1) * (size - 1));
            prop_assert_eq!(Lottery::of(&plain, &[0]).unwrap().degrees(), 0);
        }
    }
}
