//! What is known of an attribute beforehand, where it is counted in a table of true records and goes into a public
//! plan.

use candor_base::schema::Attribute;
use candor_design::pareto::prior::Prior;
use candor_tables::TableError;
use candor_tables::codes::{UncodableRow, codes};
use candor_tables::infer::{Bins, InferOptions, infer};
use candor_tables::input::Input;
use candor_tables::stochastic_rounding::fixed;

use crate::error::StudyError;

/// The most categories that a column is taken to have.
const MAX_CATEGORIES: usize = 1000;

/// How shares that were counted are stated in a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stated {
    /// Rounded to two digits, each by itself and never to zero.
    #[default]
    Rounded,
    /// As they were counted: whoever knows the number of records can work out the counts.
    Exactly,
}

impl Stated {
    /// The shares as a plan states them.
    pub fn prior(self, counted: &Prior) -> Prior {
        match self {
            Stated::Rounded => counted.rounded(),
            Stated::Exactly => counted.clone(),
        }
    }

    /// What is to be said of a plan that states them. The plan is public.
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

/// The attribute that a column of a table makes: its categories are those that occur, or bins.
///
/// # Errors
/// If there is no such column, or it cannot be described.
pub fn column(input: Input, name: &str, bins: Option<Bins>) -> Result<Attribute, TableError> {
    input.position(name)?;
    let drop = input.header().iter().filter(|column| *column != name).cloned().collect();
    let bins = bins.map(|bins| (name.to_owned(), bins)).into_iter().collect();
    let wishes = InferOptions { bins, drop, max_categories: MAX_CATEGORIES, ..InferOptions::default() };
    Ok(infer(input, &wishes)?.schema.attributes()[0].clone())
}

/// How often each category of an attribute occurs in a table of true records.
///
/// # Errors
/// If there is no such column, or a value that is none of the categories.
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
        Some(value) => Err(TableError::Value(value)),
        None => Ok(counts),
    }
}

/// The shares of categories that occur so often.
///
/// # Errors
/// If there is nothing to count, or a share is too small to compute with.
pub fn shares(counts: &[f64]) -> Result<Prior, StudyError> {
    Ok(Prior::from_counts(counts)?)
}
