//! Variances of linear combinations of shares, if the table were a given one.

use nalgebra::{DMatrix, DVector};

use super::matrix::MatrixAxis;
use super::scatter::Scatter;
use super::{Estimate, EstimateError, GroupLaw, TableEstimator, Target, simplex};
use crate::tally::{ChannelCounts, TableCounts};

/// Number of pseudo-respondents that are added to the responses for computing variances.
///
/// A few responses that agree by chance do not show how much others would vary.
pub(crate) const ADDED: f64 = 2.0;

/// Variances of linear combinations of shares, if the table were a given one.
pub(crate) struct Moments<'e> {
    kind: Kind<'e>,
    /// Under a sampling design: the variances if the same respondents had been drawn independently.
    independent: Option<Box<Moments<'e>>>,
}

enum Kind<'e> {
    /// Answers are categories or outputs: for each group, the contributions of a response and the frequencies of
    /// answers.
    Answers(&'e TableEstimator<'e>, Vec<AnswerGroup>),
    /// Covariance of all cells.
    Dense(DMatrix<f64>),
    /// Covariance under the sampling design, for any table.
    Design(Scatter),
}

struct AnswerGroup {
    law: GroupLaw,
    coefficients: Vec<f64>,
    answers: Vec<f64>,
    per_response: f64,
}

impl<'e> Moments<'e> {
    /// Returns the variances for independently drawn respondents, if these are those of a sampling design.
    pub(crate) fn independent(&self) -> Option<&Moments<'e>> {
        self.independent.as_deref()
    }

    /// Returns whether answers are categories or outputs, and never sets.
    pub(crate) fn by_answers(&self) -> bool {
        matches!(self.kind, Kind::Answers(..))
    }

    /// Returns the variance of `sum_c g_c share_c`, with the coefficients in the order of the table.
    pub(crate) fn variance(&self, coefficients: &[f64]) -> f64 {
        match &self.kind {
            Kind::Dense(covariance) => {
                let coefficients = DVector::from_column_slice(coefficients);
                coefficients.dot(&(covariance * &coefficients)).max(0.0)
            }
            Kind::Design(scatter) => scatter.variance(coefficients),
            Kind::Answers(estimator, groups) => {
                let spread = |group: &AnswerGroup| {
                    let values = estimator.contributions(&group.law, &group.coefficients, coefficients);
                    let mean: f64 = values.iter().zip(&group.answers).map(|(value, p)| value * p).sum();
                    let square: f64 = values.iter().zip(&group.answers).map(|(value, p)| value * value * p).sum();
                    group.per_response * (square - mean * mean).max(0.0)
                };
                groups.iter().map(spread).sum()
            }
        }
    }

    /// Returns the range of a combination over all responses with these channel IDs; `None` if answers are sets.
    pub(crate) fn range(&self, coefficients: &[f64]) -> Option<(f64, f64)> {
        let Kind::Answers(estimator, groups) = &self.kind else { return None };
        let of_group = |group: &AnswerGroup| {
            let values = estimator.contributions(&group.law, &group.coefficients, coefficients);
            let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
            values.into_iter().fold((least, most), |(low, high), x| (low.min(x), high.max(x)))
        };
        Some(groups.iter().map(of_group).fold((0.0, 0.0), |(a, b), (low, high)| (a + low, b + high)))
    }

    /// Returns the variances of two combinations, and their covariance.
    pub(crate) fn of_two(&self, first: &[f64], second: &[f64]) -> [f64; 3] {
        let both: Vec<f64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
        let [a, b] = [first, second].map(|coefficients| self.variance(coefficients));
        [a, b, (self.variance(&both) - a - b) / 2.0]
    }
}

impl TableEstimator<'_> {
    /// Returns the variances if the table were `shares`, a distribution in the order of the table.
    ///
    /// The number of responses and their weights stay the same. If the counts have a sampling design, the variances
    /// are those under it.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if answers are sets and the table is too large for its covariance.
    pub(crate) fn moments(&self, tally: &TableCounts, shares: &[f64]) -> Result<Moments<'_>, EstimateError> {
        let independent = self.independent_moments(tally, shares);
        match self.scatter(tally)? {
            Some(scatter) => Ok(Moments { kind: Kind::Design(scatter), independent: independent.ok().map(Box::new) }),
            None => independent,
        }
    }

    /// Returns the variances for independently drawn respondents, with their weights.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if answers are sets and the table is too large for its covariance.
    pub(crate) fn independent_moments(
        &self,
        tally: &TableCounts,
        shares: &[f64],
    ) -> Result<Moments<'_>, EstimateError> {
        let independent = None;
        let groups = self.group_laws(tally);
        if !groups.iter().all(|(law, _)| self.answers_are_categories(law)) {
            return Ok(Moments { kind: Kind::Dense(self.covariance(&groups, shares)?), independent });
        }
        let weights = self.component_weights(groups.iter().map(|(law, group)| (law, group.total)))?;
        let held = self.held_order(shares);
        let whole = self.matrices.iter().all(MatrixAxis::is_whole);
        let one = |((law, group), weights): ((GroupLaw, &ChannelCounts), &Vec<f64>)| AnswerGroup {
            answers: match whole {
                true => self.expected(&self.forward(&held), &law),
                false => self.frequencies(&law, &group.counts, group.total),
            },
            coefficients: self.estimate_coefficients(weights),
            per_response: group.squares / (group.total * group.total),
            law,
        };
        Ok(Moments { kind: Kind::Answers(self, groups.into_iter().zip(&weights).map(one).collect()), independent })
    }

    /// Returns what each answer of a group contributes to a linear combination, by the coefficients of components.
    ///
    /// Except for the matrices, contributions are symmetric in cell and answer.
    pub(super) fn contributions(&self, law: &GroupLaw, components: &[f64], coefficients: &[f64]) -> Vec<f64> {
        let mut values = self.held_order(coefficients);
        self.apply(&mut values, law, components);
        self.invert_transposed(&values)
    }
}

/// Returns the distribution closest to the estimate, with pseudo-respondents [added](ADDED).
///
/// They are added evenly to each of `parts` equal parts of the cells.
pub(crate) fn smoothed(estimate: &Estimate, tally: &TableCounts, parts: usize) -> Vec<f64> {
    let people = effective_people(tally);
    let added = ADDED * parts as f64;
    let each = added / estimate.shares.len() as f64;
    simplex::project(&estimate.shares).into_iter().map(|share| (people * share + each) / (people + added)).collect()
}

/// Returns the number of responses or, with weights, Kish's effective sample size.
pub(crate) fn effective_people(tally: &TableCounts) -> f64 {
    let squares: f64 = tally.groups().values().map(|group| group.squares).sum();
    let total = tally.total();
    if squares > 0.0 { total * total / squares } else { 0.0 }
}

impl TableEstimator<'_> {
    /// Returns the variance of every cell if the table were `shares`, in the order of the table.
    ///
    /// `None` if a matrix includes attributes outside of the table.
    pub(super) fn cell_variances(&self, tally: &TableCounts, shares: &[f64], target: Target) -> Option<Vec<f64>> {
        if !self.matrices.iter().all(MatrixAxis::is_whole) {
            return None;
        }
        let groups = self.group_laws(tally);
        let weights = self.component_weights(groups.iter().map(|(law, group)| (law, group.total))).ok()?;
        let held = self.held_order(shares);
        let mut variances = vec![0.0; self.cells()];
        for ((law, group), weights) in groups.iter().zip(&weights) {
            let spread = match law.has_strips() {
                true => self.spread_of_strips(&held, law, weights),
                false => {
                    let answers = self.expected(&self.forward(&held), law);
                    self.spread(&answers, None, law, weights)
                }
            };
            let per_response = group.squares / (group.total * group.total);
            variances.iter_mut().zip(spread).for_each(|(sum, spread)| *sum += per_response * spread);
        }
        let mut variances = self.to_order(variances);
        if target == Target::Table {
            let per_response = 1.0 / effective_people(tally);
            variances.iter_mut().zip(shares).for_each(|(sum, share)| *sum -= per_response * share * (1.0 - share));
        }
        Some(variances)
    }
}
