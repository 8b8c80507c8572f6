//! Tests of independence of two attributes, corrected for the randomization.
//!
//! Let `p` be the unbiased estimate of the two-way table and `d = p - rows x columns`. The statistic is the
//! quadratic form of `d` with the inverse of its covariance *under independence*; it is chi-square with `(r-1)(c-1)`
//! degrees of freedom. The Wald statistic, with the covariance at the estimate, rejects far too often
//! (docs/explanation/estimation.md).

use candor_base::plan::Plan;
use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use super::inclusion::{self, MAX_DENSE};
use super::moments::smoothed;
use super::simplex::project;
use super::{Estimate, EstimateError, GroupLaw, Interval, TableEstimator, Target};
use crate::tally::{ChannelCounts, TableCounts};

/// A chi-square test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquareTest {
    /// Test statistic.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// Probability of a statistic at least as large under independence.
    pub p_value: f64,
}

/// Results about the independence of two attributes; for the strength, see [`association`](crate::association).
#[derive(Clone, Debug, PartialEq)]
pub struct Independence {
    /// Test corrected for the randomization.
    pub corrected: ChiSquareTest,
    /// Odds ratio of a 2 x 2 table; `None` for other tables, and if an estimated cell is not positive.
    pub odds_ratio: Option<OddsRatio>,
    /// Pearson's test of the reported answers, ignoring the randomization; `None` if answers are not categories.
    pub naive: Option<ChiSquareTest>,
}

/// An odds ratio with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OddsRatio {
    /// Estimated odds ratio.
    pub estimate: f64,
    /// Lower confidence limit.
    pub low: f64,
    /// Upper confidence limit.
    pub high: f64,
}

/// Tests the independence of the two attributes of a two-way table.
///
/// The cost is that of a dense covariance matrix, so it suits tables with up to a few hundred cells.
///
/// # Errors
/// Returns [`EstimateError`] if the table cannot be estimated, or its covariance is too large.
///
/// # Panics
/// Panics if the counts are not those of a two-way table.
pub fn test_independence(plan: &Plan, tally: &TableCounts, confidence: f64) -> Result<Independence, EstimateError> {
    let &[a, b] = &tally.layout().attributes[..] else { panic!("a table of two attributes") };
    test_cells(plan, tally, [plan.schema().size(a), plan.schema().size(b)], confidence)
}

/// Tests the independence of the two parts of one attribute, whose categories are all combinations of `parts[0]` by
/// `parts[1]` categories, the first part slowest: a SNP and a disease as one attribute of four categories (Yamamoto and
/// Shibuya 2024, section V-B).
///
/// # Errors
/// As [`test_independence`].
///
/// # Panics
/// If the tally is not of one attribute with as many categories.
pub fn test_crossed(
    plan: &Plan,
    tally: &TableCounts,
    parts: [usize; 2],
    confidence: f64,
) -> Result<Independence, EstimateError> {
    let &[attribute] = &tally.layout().attributes[..] else { panic!("a table of one attribute") };
    assert_eq!(plan.schema().size(attribute), parts[0] * parts[1], "all combinations");
    test_cells(plan, tally, parts, confidence)
}

fn test_cells(
    plan: &Plan,
    tally: &TableCounts,
    [r, c]: [usize; 2],
    confidence: f64,
) -> Result<Independence, EstimateError> {
    let estimator = TableEstimator::new(plan, &tally.layout().attributes)?;
    let estimate = estimator.estimate(tally, Target::Population)?;
    let groups = estimator.group_laws(tally);
    let found = Deviations::new(&estimator, tally, &estimate, [r, c])?;
    let Deviations { deviations: d, covariance: spread, design } = found;

    // Rows and columns of d sum to zero, so the last of each is redundant.
    let kept: Vec<usize> = (0..r * c).filter(|cell| cell / c < r - 1 && cell % c < c - 1).collect();
    let part_of = |of: &DMatrix<f64>| DMatrix::from_fn(kept.len(), kept.len(), |a, b| of[(kept[a], kept[b])]);
    let part = DVector::from_fn(kept.len(), |a, _| d[kept[a]]);
    let name = |&attribute: &usize| plan.schema().name(attribute).to_owned();
    let erased = || EstimateError::NotIdentifiable(estimate.attributes.iter().map(name).collect());
    let small = part_of(&spread).lu();
    let statistic = part.dot(&small.solve(&part).ok_or_else(erased)?).max(0.0);
    let corrected = match (design, tally.drawn()) {
        (Some((design, simple)), Some(drawn)) => {
            let effects = part_of(&simple).lu().solve(&part_of(&design)).ok_or_else(erased)?;
            rao_scott(statistic, &effects, drawn.degrees())
        }
        _ => chi_square(statistic, kept.len()),
    };

    let odds_ratio = if (r, c) == (2, 2) { estimator.odds_ratio(tally, &estimate.shares, confidence)? } else { None };
    let naive = estimator.naive(&groups, r, c);
    Ok(Independence { corrected, odds_ratio, naive })
}

/// Deviations of an estimated two-way table from independence, and their covariance under noise.
pub(crate) struct Deviations {
    /// Each cell's estimate, less the product of its estimated margins.
    deviations: DVector<f64>,
    /// Covariance under independence in a simple random sample, with the margins as distributions.
    covariance: DMatrix<f64>,
    /// Covariance under the sampling design, if there is one, and that of a simple random sample of the same table.
    ///
    /// Both are at the estimate, so that their ratio is the effect of the design.
    design: Option<(DMatrix<f64>, DMatrix<f64>)>,
}

impl Deviations {
    pub(crate) fn new(
        estimator: &TableEstimator<'_>,
        tally: &TableCounts,
        estimate: &Estimate,
        [r, c]: [usize; 2],
    ) -> Result<Deviations, EstimateError> {
        let groups = estimator.group_laws(tally);
        estimator.check_matrices()?;
        if r * c > MAX_DENSE {
            return Err(EstimateError::NoLikelihood("it has too many cells; merge categories"));
        }
        let share = |i: usize, j: usize| estimate.shares[i * c + j];
        let rows: Vec<f64> = (0..r).map(|i| (0..c).map(|j| share(i, j)).sum()).collect();
        let columns: Vec<f64> = (0..c).map(|j| (0..r).map(|i| share(i, j)).sum()).collect();
        let deviations = DVector::from_fn(r * c, |cell, _| estimate.shares[cell] - rows[cell / c] * columns[cell % c]);
        let (p, q) = (project(&rows), project(&columns));
        let product: Vec<f64> = (0..r * c).map(|cell| p[cell / c] * q[cell % c]).collect();
        let covariance = estimator.covariance(&groups, &product)?;
        let jacobian = DMatrix::from_fn(r * c, r * c, |to, from| {
            let (same_row, same_column) = (to / c == from / c, to % c == from % c);
            f64::from(u8::from(to == from))
                - if same_row { q[to % c] } else { 0.0 }
                - if same_column { p[to / c] } else { 0.0 }
        });
        let of_deviations = |covariance: DMatrix<f64>| &jacobian * covariance * jacobian.transpose();
        let design = match estimator.design_covariance(tally)? {
            Some(design) => {
                let simple = estimator.covariance(&groups, &smoothed(estimate, tally, 1))?;
                Some((of_deviations(design), of_deviations(simple)))
            }
            None => None,
        };
        Ok(Deviations { deviations, covariance: of_deviations(covariance), design })
    }

    /// Returns the covariance of the deviations.
    pub(crate) fn noise(self) -> DMatrix<f64> {
        self.design.map_or(self.covariance, |(design, _)| design)
    }
}

/// Returns the test under a sampling design, with the second-order correction of Rao and Scott (1984).
///
/// `statistic` is chi-square for simple random samples. With `delta` the effects of the design, the statistic times
/// `df / tr delta` is approximately `df` times an F variable. It has `nu = tr(delta)^2 / tr(delta^2)` numerator
/// degrees of freedom, and `nu` times those of the design in the denominator.
fn rao_scott(statistic: f64, delta: &DMatrix<f64>, degrees: f64) -> ChiSquareTest {
    let (trace, square) = (delta.trace(), (delta * delta).trace());
    if !(trace > 0.0 && square > 0.0) {
        return ChiSquareTest { statistic: 0.0, degrees: delta.nrows(), p_value: 1.0 };
    }
    let (ratio, above) = (statistic / trace, trace * trace / square);
    let p_value = FisherSnedecor::new(above, above * degrees).map_or(1.0, |law| law.sf(ratio));
    ChiSquareTest { statistic: ratio * delta.nrows() as f64, degrees: delta.nrows(), p_value }
}

pub(super) fn chi_square(statistic: f64, degrees: usize) -> ChiSquareTest {
    let p_value = ChiSquared::new(degrees as f64).map_or(1.0, |law| law.sf(statistic));
    ChiSquareTest { statistic, degrees, p_value }
}

impl TableEstimator<'_> {
    /// Returns the covariance of the estimate if the table were `shares`, given the channel IDs. The shares are in
    /// the order of the table.
    pub(super) fn covariance(
        &self,
        groups: &[(GroupLaw, &ChannelCounts)],
        shares: &[f64],
    ) -> Result<DMatrix<f64>, EstimateError> {
        let weights = self.component_weights(groups.iter().map(|(law, group)| (law, group.total)))?;
        let cells = self.cells();
        let mut covariance = DMatrix::zeros(cells, cells);
        for ((law, group), weights) in groups.iter().zip(&weights) {
            let per_response = group.squares / (group.total * group.total);
            if !self.answers_are_categories(law) {
                covariance += self.covariance_of_inclusions(law, weights, shares)? * per_response;
                continue;
            }
            let answers = self.expected(&self.forward(&self.held_order(shares)), law);
            let coefficients = self.estimate_coefficients(weights);
            let mut contributions = DMatrix::zeros(cells, answers.len());
            for answer in 0..answers.len() {
                let mut alone = vec![0.0; answers.len()];
                alone[answer] = 1.0;
                let mut contribution = self.invert(&alone, false);
                self.apply(&mut contribution, law, &coefficients);
                contributions.set_column(answer, &DVector::from_vec(self.to_order(contribution)));
            }
            let law = DVector::from_vec(answers);
            let mean = &contributions * &law;
            let weighted =
                DMatrix::from_fn(cells, law.len(), |cell, answer| contributions[(cell, answer)] * law[answer].max(0.0));
            covariance += (weighted * contributions.transpose() - &mean * mean.transpose()) * per_response;
        }
        Ok(covariance)
    }

    /// Returns the covariance of one response's contributions, if answers are sets of categories or cells.
    pub(super) fn covariance_of_inclusions(
        &self,
        law: &GroupLaw,
        weights: &[f64],
        shares: &[f64],
    ) -> Result<DMatrix<f64>, EstimateError> {
        let sizes = &self.dims[..self.attributes.len()];
        if !self.matrices.is_empty() || !inclusion::is_small(sizes) {
            return Err(EstimateError::NoLikelihood(
                "answers are sets, and there are too many cells or a matrix besides; merge categories, or leave \
                 attributes out",
            ));
        }
        let mut covariance = inclusion::covariance(law, sizes, &self.held_order(shares));
        let contribution = self.estimate_coefficients(weights);
        // Contributions are symmetric in cell and answer: first the columns, then the rows.
        for _ in 0..2 {
            for mut column in covariance.column_iter_mut() {
                let mut cells: Vec<f64> = column.iter().copied().collect();
                self.apply(&mut cells, law, &contribution);
                column.copy_from_slice(&cells);
            }
            covariance.transpose_mut();
        }
        let cells = covariance.nrows();
        let order = self.to_order((0..cells).map(|cell| cell as f64).collect());
        Ok(DMatrix::from_fn(cells, cells, |i, j| covariance[(order[i] as usize, order[j] as usize)]))
    }

    /// Returns the odds ratio, whose logarithm is nearly normal; its variance is by the delta method.
    fn odds_ratio(
        &self,
        tally: &TableCounts,
        shares: &[f64],
        confidence: f64,
    ) -> Result<Option<OddsRatio>, EstimateError> {
        if shares.iter().any(|share| *share <= 0.0) {
            return Ok(None);
        }
        let covariance = match self.design_covariance(tally)? {
            Some(covariance) => covariance,
            None => self.covariance(&self.group_laws(tally), shares)?,
        };
        let gradient = DVector::from_fn(4, |cell, _| if cell == 0 || cell == 3 { 1.0 } else { -1.0 } / shares[cell]);
        let error = (gradient.transpose() * covariance * &gradient)[(0, 0)].max(0.0).sqrt();
        let log = (shares[0] * shares[3] / (shares[1] * shares[2])).ln();
        let reach = Interval::Wald.reach_of(tally, confidence, 1) * error;
        Ok(Some(OddsRatio { estimate: log.exp(), low: (log - reach).exp(), high: (log + reach).exp() }))
    }

    /// Returns Pearson's test of the reported answers.
    fn naive(&self, groups: &[(GroupLaw, &ChannelCounts)], r: usize, c: usize) -> Option<ChiSquareTest> {
        if !self.matrices.is_empty() || !groups.iter().all(|(law, _)| self.answers_are_categories(law)) {
            return None;
        }
        // Weights are scaled to Kish's effective sample size.
        let sum = |of: fn(&ChannelCounts) -> f64| groups.iter().map(|(_, group)| of(group)).sum::<f64>();
        let scale = sum(|group| group.total) / sum(|group| group.squares);
        let mut counts = vec![0.0; r * c];
        for (_, group) in groups {
            counts.iter_mut().zip(&group.counts).for_each(|(sum, count)| *sum += scale * count);
        }
        let counts = self.to_order(counts);
        let total: f64 = counts.iter().sum();
        let rows: Vec<f64> = (0..r).map(|i| counts[i * c..(i + 1) * c].iter().sum()).collect();
        let columns: Vec<f64> = (0..c).map(|j| (0..r).map(|i| counts[i * c + j]).sum()).collect();
        let expected = |cell: usize| rows[cell / c] * columns[cell % c] / total;
        let term = |cell: usize| (counts[cell] - expected(cell)).powi(2) / expected(cell);
        let statistic = (0..r * c).filter(|&cell| expected(cell) > 0.0).map(term).sum();
        let seen = |margin: &[f64]| margin.iter().filter(|count| **count > 0.0).count();
        let degrees = seen(&rows).saturating_sub(1) * seen(&columns).saturating_sub(1);
        (degrees > 0).then(|| chi_square(statistic, degrees))
    }
}
