//! Sandwich standard errors, with weights, primary sampling units and strata.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::RegressError;
use super::fit::Fit;
use super::observations::Case;
use super::problem::Problem;
use super::solve::Solver;
use super::sums::Sums;
use crate::tally::{LonelyPsu, SamplingError};

/// Returns the covariance of the total score: `sum w^2 s s'`.
///
/// With primary sampling units, sums of `w s` within units replace single responses. They are centered within
/// strata, and multiplied by `k/(k-1)`. If a fraction `f` of all units was drawn, the result is multiplied by `1 -
/// f`, and `f` times the noise of the randomization is added: `sum w^2 (s s' - m m')`, with `m` the expected score
/// given the true record. `likelihood` are the sums of the likelihood; without them, the scores are corrected ones.
///
/// # Errors
/// Returns [`RegressError`] if a stratum has only one unit, or more than the population.
pub(super) fn score_covariance(
    problem: &Problem<'_>,
    theta: &[f64],
    likelihood: Option<&Sums>,
) -> Result<DMatrix<f64>, RegressError> {
    let (n, corrected) = (problem.parameters, likelihood.is_none());
    let [clusters, strata] = problem.data.labels;
    let simple = clusters == 0 && strata == 0 && problem.data.fpc.is_empty();
    if let Some(sums) = likelihood.filter(|_| simple && problem.data.calibration.is_none()) {
        return Ok(DMatrix::from_column_slice(n, n, &sums.scores));
    }
    let by_margins = by_margins(problem, theta, corrected);
    // What the benchmarks explain is certain.
    let left = |case: &Case, score: &[f64]| {
        let score = DVector::from_column_slice(score);
        by_margins.get(&case.combination).map_or(score.clone(), |explained| score - explained)
    };
    if simple {
        let mut total = DMatrix::zeros(n, n);
        problem.each_score(theta, corrected, |case, score| {
            let score = left(case, score);
            total.ger(case.square, &score, &score, 1.0);
        });
        return Ok(total);
    }
    let mut sums: BTreeMap<u32, Stratum> = BTreeMap::new();
    problem.each_score(theta, corrected, |case, score| {
        let stratum = sums.entry(case.stratum).or_insert_with(|| Stratum::new(n));
        stratum.add(&DVector::from_column_slice(score), &left(case, score), case, clusters > 0);
    });
    for (&(stratum, cluster), count) in &problem.data.outside {
        if let Some(own) = sums.get_mut(&stratum) {
            own.responses += count;
            if clusters > 0 {
                own.clusters.entry(cluster).or_insert_with(|| DVector::zeros(n));
            }
        }
    }
    let (mut total, drawn) = over_strata(problem, sums)?;
    if drawn.values().any(|share| *share > 0.0) {
        let squares = problem.squares_of_truths(theta, corrected, |case| drawn[&case.stratum] * case.square);
        total -= explained(DMatrix::from_vec(n, n, squares), likelihood);
    }
    Ok(total)
}

/// Returns the covariance of all strata together, and the sampled fraction of each.
fn over_strata(
    problem: &Problem<'_>,
    sums: BTreeMap<u32, Stratum>,
) -> Result<(DMatrix<f64>, BTreeMap<u32, f64>), RegressError> {
    let (n, clustered) = (problem.parameters, problem.data.labels[0] > 0);
    let (all, mut lonely) = (sums.len(), 0);
    let units: f64 = sums.values().map(|stratum| stratum.units(clustered)).sum();
    let mean = sums.values().fold(DVector::zeros(n), |sum, stratum| sum + &stratum.sum) / units;
    let (mut total, mut single) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
    let mut drawn = BTreeMap::new();
    for (number, stratum) in sums {
        let share = match problem.data.fpc.get(&number) {
            Some(&fpc) => share_drawn(fpc, stratum.units(clustered))?,
            None => 0.0,
        };
        single += &stratum.single * share;
        lonely += usize::from(stratum.is_lonely(share, clustered));
        total += stratum.covariance(share, problem.data.lonely, &mean)?;
        drawn.insert(number, share);
    }
    if problem.data.lonely == LonelyPsu::Average {
        if lonely == all {
            return Err(RegressError::Clusters(SamplingError::AllLonely.to_string()));
        }
        total *= all as f64 / (all - lonely) as f64;
    }
    Ok((total + single, drawn))
}

/// Returns what benchmarks explain of the score, for each combination of their categories.
///
/// It is a regression with the weights before calibration (Deville and Särndal 1992).
fn by_margins(problem: &Problem<'_>, theta: &[f64], corrected: bool) -> BTreeMap<u32, DVector<f64>> {
    let Some(calibration) = &problem.data.calibration else { return BTreeMap::new() };
    let (size, n) = (calibration.size, problem.parameters);
    let (mut gram, mut products) = (DMatrix::<f64>::zeros(size, size), DMatrix::<f64>::zeros(size, n));
    problem.each_score(theta, corrected, |case, score| {
        let (factor, columns) = &calibration.combinations[&case.combination];
        let before = case.weight / factor;
        for &a in columns {
            columns.iter().for_each(|&b| gram[(a, b)] += before);
            score.iter().enumerate().for_each(|(at, s)| products[(a, at)] += before * s);
        }
    });
    let tolerance = 1e-10 * gram.amax();
    let Ok(inverse) = gram.pseudo_inverse(tolerance) else { return BTreeMap::new() };
    let slopes: DMatrix<f64> = inverse * products;
    let explained = |columns: &Vec<usize>| {
        columns.iter().fold(DVector::zeros(n), |sum, &column| sum + slopes.row(column).transpose())
    };
    calibration.combinations.iter().map(|(number, (_, columns))| (*number, explained(columns))).collect()
}

/// Returns the sum of `f w^2 m m'`, from that of the squared scores of true records.
///
/// For the corrected score, `m` is the score of the true record, and `m m'` is estimated without bias. For the
/// likelihood, a lower bound is used, so that errors are not too small where the model holds. It is the part that is
/// linear in the score of the true record: `J I^-1 s(t)`, with `J` the information of the answers and `I` that of
/// direct ones.
fn explained(squares: DMatrix<f64>, likelihood: Option<&Sums>) -> DMatrix<f64> {
    let Some(sums) = likelihood else { return squares };
    let n = squares.nrows();
    let all: Vec<usize> = (0..n).collect();
    let Some(direct) = Solver::new(&sums.complete, n, &all) else { return DMatrix::zeros(n, n) };
    let kept = DMatrix::from_column_slice(n, n, &sums.observed) * direct.inverse();
    &kept * squares * kept.transpose()
}

/// Sums of one stratum.
struct Stratum {
    /// Sum of `w e`, with `e` the part of the score that benchmarks do not explain.
    sum: DVector<f64>,
    /// The same sum for each primary sampling unit, if there are any.
    clusters: BTreeMap<u32, DVector<f64>>,
    /// Sum of `w^2 e e'`, and the number of responses.
    squares: DMatrix<f64>,
    responses: f64,
    /// Sum of `w^2 s s'`.
    single: DMatrix<f64>,
}

impl Stratum {
    fn new(n: usize) -> Stratum {
        let (sum, squares) = (DVector::zeros(n), DMatrix::zeros(n, n));
        Stratum { sum, clusters: BTreeMap::new(), single: squares.clone(), squares, responses: 0.0 }
    }

    fn add(&mut self, score: &DVector<f64>, left: &DVector<f64>, case: &Case, clustered: bool) {
        self.sum.axpy(case.weight, left, 1.0);
        if clustered {
            let own = self.clusters.entry(case.cluster).or_insert_with(|| DVector::zeros(score.len()));
            own.axpy(case.weight, left, 1.0);
        } else {
            self.squares.ger(case.square, left, left, 1.0);
        }
        self.single.ger(case.square, score, score, 1.0);
        self.responses += case.count;
    }

    /// Returns the number of units drawn: primary sampling units, or single people.
    fn units(&self, clustered: bool) -> f64 {
        if clustered { self.clusters.len() as f64 } else { self.responses }
    }

    /// Returns whether it has a single unit, not drawn with certainty.
    fn is_lonely(&self, drawn: f64, clustered: bool) -> bool {
        drawn < 1.0 && self.units(clustered) < 2.0
    }

    /// Returns the variation of sums between units, times the fraction that was not drawn.
    ///
    /// `mean` is that of all units, for strata with one unit.
    fn covariance(mut self, drawn: f64, lonely: LonelyPsu, mean: &DVector<f64>) -> Result<DMatrix<f64>, RegressError> {
        let units = self.units(!self.clusters.is_empty());
        let zero = DMatrix::zeros(mean.len(), mean.len());
        if drawn >= 1.0 {
            return Ok(zero);
        }
        if units < 2.0 {
            let off = self.sum - mean;
            let message = "a stratum has only one cluster, so its variance cannot be estimated; join strata, or \
                           specify `lonely_psu`";
            return match lonely {
                LonelyPsu::Fail => Err(RegressError::Clusters(message.to_owned())),
                LonelyPsu::Adjust => Ok(&off * off.transpose() * (1.0 - drawn)),
                LonelyPsu::Certainty | LonelyPsu::Average => Ok(zero),
            };
        }
        self.clusters.values().for_each(|own| self.squares.ger(1.0, own, own, 1.0));
        self.squares.ger(-1.0 / units, &self.sum, &self.sum, 1.0);
        Ok(self.squares * ((1.0 - drawn) * units / (units - 1.0)))
    }
}

/// Returns the sampled fraction of a stratum's units; `fpc` is this fraction if at most 1, or the number in the
/// population.
fn share_drawn(fpc: f64, units: f64) -> Result<f64, RegressError> {
    let refused = |message: String| Err(RegressError::Population(message));
    match fpc {
        fpc if fpc.is_nan() => refused("it differs within a stratum; expected the same for all its people".to_owned()),
        fpc if fpc <= 0.0 => refused(format!("it is {fpc}; a population size must be above 0")),
        fpc if fpc <= 1.0 => Ok(fpc),
        fpc if fpc < units - 1e-9 => {
            refused(format!("a stratum has {units} sampling units, but its population only {fpc}"))
        }
        fpc => Ok((units / fpc).min(1.0)),
    }
}

/// Returns the dispersion of counts: Pearson's statistic with unbiased weights, divided by its degrees of freedom.
pub(super) fn dispersion(problem: &Problem<'_>, theta: &[f64]) -> f64 {
    let (data, tables) = (problem.data, problem.tables());
    let (mut number, mut sum) = (0, 0.0);
    problem.each_law(theta, |group, law| {
        let table = &tables[number * data.cells()..][..data.cells()];
        let truths = table.iter().zip(law.gradient).zip(law.hessian);
        sum += truths.map(|((people, slope), curve)| people * slope * slope / -curve).sum::<f64>();
        // The true values of a score have its value, but not its square.
        let excess = |case: &Case| -> f64 { data.excess(case).iter().zip(law.hessian).map(|(own, m)| own / -m).sum() };
        sum += data.cases[group.cases.clone()].iter().map(|case| case.weight * excess(case)).sum::<f64>();
        number += 1;
    });
    sum / (data.total - problem.own as f64).max(1.0)
}

/// Returns the sandwich covariance of a solution of the corrected score.
///
/// # Errors
/// Returns [`RegressError`] if it is not a solution, or the sampling design does not identify the variance.
pub(super) fn corrected_covariance(problem: &Problem<'_>, fit: &Fit) -> Result<DMatrix<f64>, RegressError> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let bread = Solver::new(&fit.sums.complete, problem.parameters, &free).ok_or(RegressError::NoSolution)?.inverse();
    Ok(&bread * score_covariance(problem, &fit.theta, None)? * &bread)
}

/// Returns the Hausman statistic `d' (V - W)^+ d` and its degrees of freedom (Hausman 1978).
///
/// The degrees of freedom are the number of positive eigenvalues of `V - W`.
pub(super) fn hausman(difference: &[f64], larger: &DMatrix<f64>, smaller: &DMatrix<f64>) -> Option<(f64, usize)> {
    let eigen = (larger - smaller).symmetric_eigen();
    let least = 1e-6 * larger.diagonal().max();
    let d = DVector::from_column_slice(difference);
    let (mut statistic, mut degrees) = (0.0, 0);
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *value > least {
            statistic += vector.dot(&d).powi(2) / value;
            degrees += 1;
        }
    }
    (degrees > 0).then_some((statistic, degrees))
}
