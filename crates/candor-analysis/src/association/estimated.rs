//! Associations estimated from randomized responses (docs/explanation/association-and-clusters.md).
//!
//! The two-way table is estimated without bias. Noise alone makes the measure of that estimate too large, which is
//! corrected. `phi^2` divides by the shares of categories, so a very rare category would drown all others in noise.
//! Categories whose estimated share is below four standard errors are therefore merged. This can only lower the
//! measure: the contribution of rare categories remains unknown.

use candor_base::plan::Plan;
use nalgebra::{DMatrix, DVector};

use super::measure::TwoWay;
use super::{Association, Measure};
use crate::estimate::simplex::project;
use crate::estimate::{Deviations, Estimate, EstimateError, TableEstimator, Target};
use crate::tally::{CountAxis, TableCounts};

/// Number of standard errors above zero that a category needs to remain separate.
const SEEN: f64 = 4.0;

/// Largest noise, relative to the entropy, with which mutual information has a standard error.
const TOLD: f64 = 0.05;

/// Maximum number of categories of an attribute, whose covariance matrix is computed.
const MAX_CATEGORIES: usize = 4096;

/// Estimates the association of two attributes, from the counts of their two-way and one-way tables.
///
/// Let `Q` be the square of the measure (`phi^2`, `r^2`), or the mutual information, of the estimated table. The
/// estimate is `Q - E[Q under independence]`, or 0 if that is negative. The standard error follows from the variance
/// of `Q`, which has a part linear in the deviations (delta method), and one that remains under independence. Near
/// zero, a measure that is a root is not nearly normal. Its standard error is then its increase if `Q` were one
/// standard error larger.
///
/// For attributes of different blocks, the cost is the number of cells plus the squares of the numbers of
/// categories.
/// Otherwise, it is the third power of the number of cells.
///
/// # Errors
/// Returns [`EstimateError`] if
/// - a table cannot be estimated,
/// - an attribute has more than 4,096 categories,
/// - both are in one block, and answers are sets or combinations with other attributes, or there are more than
///   4,096 cells.
///
/// # Panics
/// Panics if the counts are not those of the two attributes and their pair.
pub fn estimated(
    plan: &Plan,
    one_way: [&TableCounts; 2],
    pair: &TableCounts,
    measure: Measure,
) -> Result<Association, EstimateError> {
    let pair = Pair::new(plan, one_way, pair, measure)?;
    let dependence =
        |value, standard_error| Association { attributes: pair.attributes, measure, value, standard_error };
    let [rows, columns] = [pair.margins[0].groups(), pair.margins[1].groups()];
    if rows < 2 || columns < 2 {
        // All but one of the categories are too rare to be distinguished.
        return Ok(dependence(0.0, None));
    }
    let shares = pair.shares();
    let noise = pair.noise(plan)?;
    let mut table = TwoWay::new(rows, columns, &shares);
    [table.row_shares, table.column_shares] = [&pair.margins[0], &pair.margins[1]].map(|margin| margin.shares.clone());
    // The moments of sum d^2/e under independence.
    let (mean, spread) = noise.moments(&table.row_shares, &table.column_shares);
    Ok(match measure {
        Measure::CramersV => {
            // The minimum is over all categories: merging can only lower phi^2, so V is not overstated.
            let least = (pair.estimate.dims[0].min(pair.estimate.dims[1]) - 1) as f64;
            // The noise in the gradient doubles its contribution to the variance; half of it remains under
            // independence.
            let variance = (pair.variance(&table.phi_squared_gradient(), &noise) - spread).max(spread);
            let square = ((table.phi_squared() - mean) / least).clamp(0.0, 1.0);
            let value = square.sqrt();
            dependence(value, Some((square + variance.sqrt() / least).sqrt() - value))
        }
        Measure::MutualInformation => {
            let closest = project(&shares);
            let table = TwoWay::new(rows, columns, &closest);
            // Near independence, the information is phi^2 / 2.
            let variance = (pair.variance(&table.information_gradient(), &noise) - spread / 4.0).max(spread / 4.0);
            let entropy = table.least_entropy();
            if entropy <= 0.0 {
                return Ok(dependence(0.0, None));
            }
            let value = ((table.information() - mean / 2.0) / entropy).clamp(0.0, 1.0);
            // If the noise is not small, or clipping removed much of it, the correction is not accurate, and
            // there is no standard error.
            let negative: f64 = shares.iter().filter(|share| **share < 0.0).map(|share| -share).sum();
            let told = mean / 2.0 < TOLD * entropy && negative < TOLD;
            dependence(value, told.then(|| variance.sqrt() / entropy))
        }
        Measure::Pearson if table.standardized().is_none() => dependence(0.0, None),
        Measure::Pearson => {
            let error = pair.variance(&table.correlation_gradient(), &noise).sqrt();
            let value = (table.correlation().powi(2) - error * error).clamp(0.0, 1.0).sqrt();
            dependence(value, Some(error))
        }
        Measure::Covariance => {
            let error = pair.variance(&table.covariance_gradient(), &noise).sqrt();
            let value = (table.covariance().powi(2) - error * error).max(0.0).sqrt();
            dependence(value, Some(error))
        }
    })
}

/// Returns the categories of an attribute that are merged for Cramér's V because they are too rare; empty if
/// there are none.
///
/// # Errors
/// Returns [`EstimateError`] if the one-way table cannot be estimated or has more than 4,096 categories.
pub fn merged(plan: &Plan, attribute: usize, one_way: &TableCounts) -> Result<Vec<u16>, EstimateError> {
    let Margin { group_of, .. } = Margin::new(plan, attribute, one_way, Measure::CramersV)?;
    let beside = |code: &usize| group_of.iter().filter(|group| **group == group_of[*code]).count() > 1;
    Ok((0..group_of.len()).filter(beside).map(|code| code as u16).collect())
}

/// The estimated two-way table, with its merged categories.
struct Pair<'a> {
    attributes: [usize; 2],
    tally: &'a TableCounts,
    estimator: TableEstimator<'a>,
    estimate: Estimate,
    margins: [Margin; 2],
}

impl<'a> Pair<'a> {
    fn new(
        plan: &'a Plan,
        one_way: [&TableCounts; 2],
        tally: &'a TableCounts,
        measure: Measure,
    ) -> Result<Pair<'a>, EstimateError> {
        let &[a, b] = &tally.layout().attributes[..] else { panic!("a table of two attributes") };
        let margins = [Margin::new(plan, a, one_way[0], measure)?, Margin::new(plan, b, one_way[1], measure)?];
        let estimator = TableEstimator::new(plan, &[a, b])?;
        let estimate = estimator.estimate(tally, Target::Population)?;
        Ok(Pair { attributes: [a, b], tally, estimator, estimate, margins })
    }

    /// Returns the cell of the merged table that contains a cell.
    fn group(&self, cell: usize) -> usize {
        let [rows, columns] = &self.margins;
        let fine_columns = columns.group_of.len();
        rows.group_of[cell / fine_columns] * columns.groups() + columns.group_of[cell % fine_columns]
    }

    /// Returns the estimated shares of the merged table.
    fn shares(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.margins[0].groups() * self.margins[1].groups()];
        self.estimate.shares.iter().enumerate().for_each(|(cell, share)| shares[self.group(cell)] += share);
        shares
    }

    /// The numbers of categories.
    fn dims(&self) -> [usize; 2] {
        [&self.margins[0], &self.margins[1]].map(|margin| margin.group_of.len())
    }

    /// Returns the distribution of the deviations from independence under noise.
    fn noise(&self, plan: &Plan) -> Result<Noise, EstimateError> {
        let [a, b] = self.attributes;
        let block = |attribute| plan.blocks().iter().position(|block| block.attributes().contains(&attribute));
        Ok(match (block(a), block(b)) {
            (first, second) if (first.is_some() && first == second) || self.tally.drawn().is_some() => {
                let covariance = Deviations::new(&self.estimator, self.tally, &self.estimate, self.dims())?.noise();
                let (cells, groups) = (self.estimate.shares.len(), self.margins[0].groups() * self.margins[1].groups());
                let mut law = DMatrix::zeros(groups, groups);
                for (i, j) in (0..cells).flat_map(|i| (0..cells).map(move |j| (i, j))) {
                    law[(self.group(i), self.group(j))] += covariance[(i, j)];
                }
                Noise::Dense(law)
            }
            _ => {
                let squares: f64 = self.tally.groups().values().map(|group| group.squares).sum();
                let [rows, columns] = [&self.margins[0], &self.margins[1]].map(|margin| margin.covariance.clone());
                Noise::Product { rows, columns, respondents: self.tally.total().powi(2) / squares }
            }
        })
    }

    /// Returns the variance of a linear combination of the merged shares.
    fn variance(&self, gradient: &[f64], noise: &Noise) -> f64 {
        let fine: Vec<f64> = (0..self.estimate.shares.len()).map(|cell| gradient[self.group(cell)]).collect();
        match self.estimator.linear_of(self.tally, &self.estimate, &fine, Target::Population).standard_error {
            Some(error) => error * error,
            // For sets, as if the attributes were independent.
            None => noise.variance(gradient, self.margins[1].groups()),
        }
    }
}

/// Returns the association in the answers themselves, as in section 4.1 of Domingo-Ferrer and Soria-Comas 2020.
///
/// It is weaker than that of true records, and the order may differ. `None` if answers are not categories.
///
/// # Panics
/// Panics if the counts are not those of a two-way table.
pub fn attenuated(pair: &TableCounts, measure: Measure) -> Option<Association> {
    let layout = pair.layout();
    let &[a, b] = &layout.attributes[..] else { panic!("a table of two attributes") };
    let sizes: Vec<usize> = layout
        .axes
        .iter()
        .filter_map(|axis| match axis {
            CountAxis::Attribute { categories, .. } => Some(*categories),
            CountAxis::Outputs { .. } => None,
        })
        .collect();
    let &[rows, columns] = &sizes[..] else { return None };
    let mut counts = vec![0.0; rows * columns];
    for group in pair.groups().values() {
        // Sets count in several cells.
        if (group.counts.iter().sum::<f64>() - group.total).abs() > 1e-6 * group.total {
            return None;
        }
        counts.iter_mut().zip(&group.counts).for_each(|(sum, count)| *sum += count);
    }
    let value = measure.of_table(rows, columns, &counts);
    Some(Association { attributes: [a, b], measure, value, standard_error: None })
}

/// The estimated one-way table of an attribute, with rare categories merged.
struct Margin {
    /// For each category, its index in the table.
    group_of: Vec<usize>,
    /// Shares as a distribution.
    shares: Vec<f64>,
    covariance: DMatrix<f64>,
}

impl Margin {
    fn new(plan: &Plan, attribute: usize, tally: &TableCounts, measure: Measure) -> Result<Margin, EstimateError> {
        let estimator = TableEstimator::new(plan, &[attribute])?;
        let estimate = estimator.estimate(tally, Target::Population)?;
        let shares = &estimate.shares;
        if shares.len() > MAX_CATEGORIES {
            return Err(EstimateError::NoLikelihood("an attribute has too many categories; merge some"));
        }
        let covariance = estimator.covariance_one_way(tally, &estimate);
        let group_of = match measure {
            // Correlations do not divide by shares, and merged categories have no common score.
            Measure::Pearson | Measure::Covariance => (0..shares.len()).collect(),
            Measure::CramersV | Measure::MutualInformation => seen_together(shares, &covariance),
        };
        let groups = group_of.iter().max().map_or(0, |last| last + 1);
        let mut sums = vec![0.0; groups];
        let mut summed = DMatrix::zeros(groups, groups);
        for (i, share) in shares.iter().enumerate() {
            sums[group_of[i]] += share;
            (0..shares.len()).for_each(|j| summed[(group_of[i], group_of[j])] += covariance[(i, j)]);
        }
        Ok(Margin { group_of, shares: project(&sums), covariance: summed })
    }

    fn groups(&self) -> usize {
        self.shares.len()
    }
}

/// Returns the group of each category: frequent ones are separate, and rare ones are merged.
///
/// If the rare ones are still too rare together, they are merged with a frequent one.
fn seen_together(shares: &[f64], covariance: &DMatrix<f64>) -> Vec<usize> {
    let seen = |members: &[usize]| {
        let share: f64 = members.iter().map(|&i| shares[i]).sum();
        let variance: f64 = members.iter().flat_map(|&i| members.iter().map(move |&j| covariance[(i, j)])).sum();
        share >= SEEN * variance.max(0.0).sqrt() && share > 0.0
    };
    let (mut alone, mut rest): (Vec<usize>, Vec<usize>) = (0..shares.len()).partition(|&i| seen(&[i]));
    alone.sort_by(|&i, &j| shares[j].total_cmp(&shares[i]).then(i.cmp(&j)));
    while !rest.is_empty() && !seen(&rest) {
        match alone.pop() {
            Some(smallest) => rest.push(smallest),
            None => break,
        }
    }
    let mut group_of = vec![0; shares.len()];
    alone.sort_unstable();
    alone.iter().enumerate().for_each(|(group, &category)| group_of[category] = group);
    rest.iter().for_each(|&category| group_of[category] = alone.len());
    group_of
}

/// Distribution of the estimated deviations from independence, if the attributes are independent.
enum Noise {
    /// Randomized independently: the covariance is `n` times the product of those of the margins.
    Product { rows: DMatrix<f64>, columns: DMatrix<f64>, respondents: f64 },
    /// Covariance of all cells.
    Dense(DMatrix<f64>),
}

impl Noise {
    /// Returns mean and variance of `sum d^2 / (p q)` for normal `d`: `tr(W C)` and `2 tr(W C W C)`.
    ///
    /// `W` is diagonal with the inverse shares.
    fn moments(&self, row_shares: &[f64], column_shares: &[f64]) -> (f64, f64) {
        let over = |share: f64| if share > 0.0 { 1.0 / share } else { 0.0 };
        let traces = |covariance: &DMatrix<f64>, weight: &dyn Fn(usize) -> f64| {
            let size = covariance.nrows();
            let once: f64 = (0..size).map(|i| weight(i) * covariance[(i, i)]).sum();
            let squares = |i: usize| {
                (0..size).map(move |j| (i, j)).map(|(i, j)| weight(i) * weight(j) * covariance[(i, j)].powi(2))
            };
            (once, (0..size).flat_map(squares).sum::<f64>())
        };
        match self {
            Noise::Product { rows, columns, respondents } => {
                let (row, rows) = traces(rows, &|i| over(row_shares[i]));
                let (column, columns) = traces(columns, &|j| over(column_shares[j]));
                (respondents * row * column, 2.0 * respondents.powi(2) * rows * columns)
            }
            Noise::Dense(covariance) => {
                let width = column_shares.len();
                let (once, twice) =
                    traces(covariance, &|cell| over(row_shares[cell / width] * column_shares[cell % width]));
                (once, 2.0 * twice)
            }
        }
    }

    /// Returns the variance of `sum g d`.
    fn variance(&self, gradient: &[f64], width: usize) -> f64 {
        let variance = match self {
            Noise::Product { rows, columns, respondents } => {
                let gradient = DMatrix::from_row_slice(gradient.len() / width, width, gradient);
                respondents * (rows * &gradient * columns).dot(&gradient)
            }
            Noise::Dense(covariance) => {
                let gradient = DVector::from_column_slice(gradient);
                gradient.dot(&(covariance * &gradient))
            }
        };
        variance.max(0.0)
    }
}
