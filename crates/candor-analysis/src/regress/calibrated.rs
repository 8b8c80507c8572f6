//! Rakes weights to benchmarks of public attributes.

use std::collections::BTreeMap;

use candor_base::plan::{Content, Plan};
use candor_base::shape::Shape;

use crate::calibrate::{CalibrateError, rake};
use crate::tally::Codes;

/// Public attributes with benchmarks.
#[derive(Clone, Debug)]
pub(super) struct Margins {
    /// Positions of their columns among those of the plan's responses.
    columns: Vec<usize>,
    shape: Shape,
}

impl Margins {
    /// Creates the benchmarks' attributes, which must be public.
    pub(super) fn new(plan: &Plan, attributes: &[usize]) -> Margins {
        let column = |&attribute: &usize| {
            let own = |content: &Content| *content == Content::Public { attribute };
            plan.columns().iter().position(|column| own(&column.content)).unwrap_or(0)
        };
        Margins { columns: attributes.iter().map(column).collect(), shape: plan.schema().shape(attributes) }
    }

    /// Returns the number of a row's combination of categories.
    pub(super) fn combination(&self, columns: &[Codes<'_>], row: usize) -> u32 {
        let code = |&column: &usize| match columns[column] {
            Codes::One(codes) => codes[row],
            Codes::Set(_) => 0,
        };
        self.shape.cell(&self.columns.iter().map(code).collect::<Vec<u16>>()) as u32
    }

    /// Returns the number of a combination of categories.
    pub(super) fn number(&self, codes: &[u16]) -> u32 {
        self.shape.cell(codes) as u32
    }

    /// Returns the factors of the weights that give each attribute its shares.
    ///
    /// # Errors
    /// Returns [`CalibrateError`] if no weights reproduce the benchmarks.
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

/// Factors that rake weights to benchmarks.
#[derive(Clone, Debug)]
pub(super) struct Calibration {
    /// Total number of categories of all benchmarks.
    pub(super) size: usize,
    /// For each combination, the factor of its weights and its categories' columns among the benchmarks.
    pub(super) combinations: BTreeMap<u32, (f64, Vec<usize>)>,
}

impl Calibration {
    /// Multiplies weights by a power of the factors of their combinations.
    pub(super) fn scale(&self, combinations: &[u32], weights: &mut [f64], power: i32) {
        for (number, weight) in combinations.iter().zip(weights) {
            *weight *= self.combinations[number].0.powi(power);
        }
    }
}
