//! Weights that agree with known margins of public attributes.

use std::collections::BTreeMap;

use candor_base::plan::{Content, Plan};
use candor_base::shape::Shape;

use crate::calibrate::{CalibrateError, rake};
use crate::tally::Codes;

/// The public attributes with known margins.
#[derive(Clone, Debug)]
pub(super) struct Margins {
    /// Their columns among those of the plan's responses.
    columns: Vec<usize>,
    shape: Shape,
}

impl Margins {
    /// Of attributes that are public.
    pub(super) fn new(plan: &Plan, attributes: &[usize]) -> Margins {
        let column = |&attribute: &usize| {
            let own = |content: &Content| *content == Content::Public { attribute };
            plan.columns().iter().position(|column| own(&column.content)).unwrap_or(0)
        };
        Margins { columns: attributes.iter().map(column).collect(), shape: plan.schema().shape(attributes) }
    }

    /// The number of a row's combination of categories.
    pub(super) fn combination(&self, columns: &[Codes<'_>], row: usize) -> u32 {
        let code = |&column: &usize| match columns[column] {
            Codes::One(codes) => codes[row],
            Codes::Set(_) => 0,
        };
        self.shape.cell(&self.columns.iter().map(code).collect::<Vec<u16>>()) as u32
    }

    /// The number of a combination of categories.
    pub(super) fn number(&self, codes: &[u16]) -> u32 {
        self.shape.cell(codes) as u32
    }

    /// By what weights are multiplied, so that each attribute has its shares.
    ///
    /// # Errors
    /// If no weights do.
    pub(super) fn calibrate(
        &self,
        combinations: &[u32],
        weights: &[f64],
        shares: &[Vec<f64>],
    ) -> Result<Calibration, CalibrateError> {
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        combinations.iter().zip(weights).for_each(|(number, weight)| *sums.entry(*number).or_insert(0.0) += weight);
        let codes = |number: &u32| self.shape.codes(*number as usize).into_iter().map(|code| code as u16).collect();
        let codes: Vec<Vec<u16>> = sums.keys().map(codes).collect();
        let totals: Vec<f64> = sums.values().copied().collect();
        let factors = rake(&codes.iter().collect::<Vec<_>>(), &totals, shares)?;
        let columns = |codes: Vec<u16>| {
            let starts = shares.iter().scan(0, |next, shares| {
                *next += shares.len();
                Some(*next - shares.len())
            });
            starts.zip(codes).map(|(start, code)| start + usize::from(code)).collect()
        };
        let combinations = sums.into_keys().zip(factors.into_iter().zip(codes.into_iter().map(columns))).collect();
        Ok(Calibration { size: shares.iter().map(Vec::len).sum(), combinations })
    }
}

/// Weights that agree with margins.
#[derive(Clone, Debug)]
pub(super) struct Calibration {
    /// How many categories all margins have.
    pub(super) size: usize,
    /// For each combination the factor of its weights, and its columns among the margins' categories.
    pub(super) combinations: BTreeMap<u32, (f64, Vec<usize>)>,
}

impl Calibration {
    /// Multiplies weights by the factors of their combinations, to a power.
    pub(super) fn scale(&self, combinations: &[u32], weights: &mut [f64], power: i32) {
        for (number, weight) in combinations.iter().zip(weights) {
            *weight *= self.combinations[number].0.powi(power);
        }
    }
}
