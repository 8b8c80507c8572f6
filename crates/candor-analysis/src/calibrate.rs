//! Rakes weights to benchmarks of public attributes.
//!
//! Each weight is multiplied by one factor for the respondent's category of each attribute. The weighted shares of
//! the categories then equal those of the population (Deming and Stephan 1940; with one attribute, this is
//! post-stratification). Respondents with the same categories have the same factors, so counts by these attributes
//! suffice.

use std::collections::BTreeMap;
use std::sync::Arc;

use candor_runtime::progress::ProgressSink;
use nalgebra::DMatrix;

use crate::adjust::{Margin, Options, rake_weights};
use crate::tally::{Calibration, SampledUnits, TableCounts, VarianceMethod};

/// Counts of tables, by categories of public attributes.
pub type Groups = BTreeMap<Vec<u16>, Vec<TableCounts>>;

/// Reason why no weights reproduce the benchmarks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrateError {
    /// A category occurs in the population but not among respondents, or the reverse.
    #[error("category {category} of attribute {attribute}")]
    Nobody {
        /// Number of the attribute, in the order of the benchmarks.
        attribute: usize,
        /// Code of the category.
        category: usize,
        /// Whether the category has responses but no share in the population.
        responses: bool,
    },
    /// No weights reproduce all benchmarks.
    #[error("no weights of these responses reproduce all benchmarks; remove one, or merge categories")]
    NotConverged,
}

/// Maximum number of iterations, and tolerance.
const MAX_ROUNDS: usize = 10_000;
const NEAR: f64 = 1e-12;

/// Rakes the weights of all counts, so that each attribute has the category shares in `margins`.
///
/// `places` are the positions of the attributes in the keys of the groups.
///
/// # Errors
/// Returns [`CalibrateError`] if no weights reproduce the benchmarks.
pub fn calibrate(groups: &mut Groups, places: &[usize], margins: &[Vec<f64>]) -> Result<(), CalibrateError> {
    let combination = |key: &[u16]| -> Vec<u16> { places.iter().map(|&place| key[place]).collect() };
    let mut numbers: BTreeMap<Vec<u16>, usize> = BTreeMap::new();
    numbers.extend(groups.keys().map(|key| (combination(key), 0)));
    numbers.values_mut().enumerate().for_each(|(number, held)| *held = number);
    let number = |key: &[u16]| numbers[&combination(key)];
    let combinations: Vec<&Vec<u16>> = numbers.keys().collect();
    let sums = |of: &dyn Fn(&TableCounts) -> f64| {
        let mut sums = vec![0.0; numbers.len()];
        groups.iter().for_each(|(key, tallies)| sums[number(key)] += tallies.first().map_or(0.0, of));
        sums
    };
    let before = sums(&TableCounts::total);
    let factors = rake(&combinations, &before, margins)?;
    let replicates = match groups.values().flatten().find_map(TableCounts::drawn) {
        Some(VarianceMethod::Replicates(_, tallies)) => tallies.len(),
        _ => 0,
    };
    let of_replicate = |replicate: usize| {
        let total = |tally: &TableCounts| match tally.drawn() {
            Some(VarianceMethod::Replicates(_, tallies)) => tallies[replicate].total(),
            _ => 0.0,
        };
        rake(&combinations, &sums(&total), margins)
    };
    let replicates: Vec<Vec<f64>> = (0..replicates).map(of_replicate).collect::<Result<_, _>>()?;
    let sample = calibrated_sample(groups, &combinations, (&before, &factors), margins, &number);
    for (key, tallies) in groups.iter_mut() {
        let at = number(key);
        for tally in tallies {
            let drawn = match tally.drawn() {
                None => None,
                Some(VarianceMethod::Linearization(units)) => {
                    let sample = sample.clone().unwrap_or_else(|| units.sample().clone());
                    Some(VarianceMethod::Linearization(units.calibrated(sample, at, factors[at])))
                }
                Some(VarianceMethod::Replicates(method, tallies)) => {
                    let scaled = tallies.iter().zip(&replicates).map(|(tally, factors)| tally.scaled(factors[at]));
                    Some(VarianceMethod::Replicates(method.clone(), scaled.collect()))
                }
            };
            let scaled = tally.scaled(factors[at]);
            *tally = match drawn {
                Some(drawn) => scaled.with_drawn(drawn),
                None => scaled,
            };
        }
    }
    Ok(())
}

/// Returns the sample, with the variance that the benchmarks explain removed; `None` without sampling units.
fn calibrated_sample(
    groups: &Groups,
    combinations: &[&Vec<u16>],
    (before, factors): (&[f64], &[f64]),
    margins: &[Vec<f64>],
    number: &dyn Fn(&[u16]) -> usize,
) -> Option<Arc<SampledUnits>> {
    let units = |tally: &TableCounts| match tally.drawn() {
        Some(VarianceMethod::Linearization(units)) => Some(units.clone()),
        _ => None,
    };
    let sample = groups.values().flatten().find_map(units)?.sample().clone();
    let starts: Vec<usize> = margins
        .iter()
        .scan(0, |sum, margin| {
            *sum += margin.len();
            Some(*sum - margin.len())
        })
        .collect();
    let columns: Vec<Vec<usize>> = combinations
        .iter()
        .map(|codes| codes.iter().zip(&starts).map(|(&code, start)| start + usize::from(code)).collect())
        .collect();
    let size = margins.iter().map(Vec::len).sum();
    let mut gram = DMatrix::zeros(size, size);
    for (columns, before) in columns.iter().zip(before) {
        columns.iter().for_each(|&a| columns.iter().for_each(|&b| gram[(a, b)] += before));
    }
    let tolerance = 1e-10 * gram.amax();
    let inverse = gram.pseudo_inverse(tolerance).ok()?;
    let mut of_units = vec![Vec::new(); sample.stratum_of().len()];
    for (key, tallies) in groups {
        let (at, units) = (number(key), tallies.first().and_then(units)?);
        for (unit, counts) in units.counts() {
            of_units[*unit as usize].push((at, factors[at] * counts.total()));
        }
    }
    Some(Arc::new(sample.with_calibration(Calibration { columns, inverse, of_units })))
}

/// Returns the factor of each combination of categories, from the sums of weights.
pub(crate) fn rake(combinations: &[&Vec<u16>], sums: &[f64], margins: &[Vec<f64>]) -> Result<Vec<f64>, CalibrateError> {
    for (attribute, margin) in margins.iter().enumerate() {
        let mut found = vec![0.0; margin.len()];
        combinations.iter().zip(sums).for_each(|(codes, sum)| found[usize::from(codes[attribute])] += sum);
        let differs = |category: &usize| (found[*category] > 0.0) != (margin[*category] > 0.0);
        if let Some(category) = (0..margin.len()).find(differs) {
            return Err(CalibrateError::Nobody { attribute, category, responses: found[category] > 0.0 });
        }
    }
    let margin = |(attribute, shares): (usize, &Vec<f64>)| Margin {
        cells: combinations.iter().map(|codes| u32::from(codes[attribute])).collect(),
        shares: shares.clone(),
    };
    let margins: Vec<Margin> = margins.iter().enumerate().map(margin).collect();
    let options = Options::default().tolerance(NEAR).max_iterations(MAX_ROUNDS);
    let raked = rake_weights(sums.to_vec(), &margins, &options, ProgressSink::none());
    let raked = raked.ok().filter(|raked| raked.converged);
    let raked = raked.ok_or(CalibrateError::NotConverged)?;
    let total: f64 = sums.iter().sum();
    let factor = |(weight, sum): (f64, &f64)| if *sum > 0.0 { weight * total / sum } else { 1.0 };
    Ok(raked.weights.into_iter().zip(sums).map(factor).collect())
}
