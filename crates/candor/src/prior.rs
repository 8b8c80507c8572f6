//! Priors of an attribute, counted from true records and stated in a public plan.

use candor_base::schema::Attribute;
use candor_design::pareto::prior::Prior;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::codes::{UncodableRow, codes};
use candor_tables::infer::{Bins, InferOptions, infer};
use candor_tables::input::Input;
use candor_tables::stochastic_rounding::fixed;

use crate::error::StudyError;

/// Maximum number of categories found in a column.
const MAX_CATEGORIES: usize = 1000;

/// Precision with which counted shares are stated in a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stated {
    /// Rounded to two digits, and never to zero.
    #[default]
    Rounded,
    /// Exact; anyone who knows the number of records can compute the counts.
    Exactly,
}

impl Stated {
    /// Returns the shares as stated in a plan.
    pub fn prior(self, counted: &Prior) -> Prior {
        match self {
            Stated::Rounded => counted.rounded(),
            Stated::Exactly => counted.clone(),
        }
    }

    /// Returns a warning about what the stated shares reveal.
    pub fn caution(self) -> &'static str {
        match self {
            Stated::Rounded => {
                "The plan states the shares of the table as its prior, rounded to two digits, and is public. What is \
                 certified holds for the rounded shares. (`exact_prior` would state them exactly.)"
            }
            Stated::Exactly => {
                "WARNING: the plan states the exact shares of the table as its prior, and is public: whoever knows the \
                 number of records can work out how many there are of each category."
            }
        }
    }
}

/// Infers an attribute from a column: its categories are the values that occur, or bins.
///
/// # Errors
/// Returns [`TableError`] if the column does not exist or cannot be used.
pub fn column(input: Input, name: &str, bins: Option<Bins>) -> Result<Attribute, TableError> {
    input.position(name)?;
    let drop = input.header().iter().filter(|column| *column != name).cloned().collect();
    let bins = bins.map(|bins| (name.to_owned(), bins)).into_iter().collect();
    let wishes = InferOptions::default().bins(bins).drop(drop).max_categories(MAX_CATEGORIES);
    Ok(infer(input, &wishes, ProgressSink::none())?.schema.attributes()[0].clone())
}

/// Counts the categories of an attribute in true records.
///
/// # Errors
/// Returns [`TableError`] if the column does not exist or has a value outside of the categories.
pub fn counted(input: Input, attribute: &Attribute) -> Result<Vec<f64>, TableError> {
    let mut counts = vec![0.0; attribute.categories().len()];
    let mut bad = None;
    for (batch, number) in input.batches_with_crosses(&[attribute.name().to_owned()], &[])?.zip(0..) {
        let report = |unfit: UncodableRow<'_>| bad = bad.take().or_else(|| Some(unfit.told()));
        for code in codes(&batch?, 0, attribute, &mut fixed(number), report)? {
            counts[usize::from(code)] += 1.0;
        }
    }
    match bad {
        Some(value) => Err(TableError::InvalidValue(value)),
        None => Ok(counts),
    }
}

/// Converts counts of categories to shares.
///
/// # Errors
/// Returns [`StudyError::Design`] if all counts are zero or a share is too small to compute with.
pub fn shares(counts: &[f64]) -> Result<Prior, StudyError> {
    Ok(Prior::from_counts(counts)?)
}
