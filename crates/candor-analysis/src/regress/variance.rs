//! Errors: the sandwich, with weights, sampling clusters and strata.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::RegressError;
use super::fit::Fit;
use super::observations::Case;
use super::problem::Problem;
use super::solve::Solver;
use super::sums::Sums;
use crate::tally::{LonelyPsu, SamplingError};

/// The covariance of the total score: `sum w^2 s s'`; with sampling clusters, the sums of `w s` within clusters in
/// place of single responses, centred within strata, times `k/(k-1)`. Where a share `f` of all units was drawn it is
/// taken times `1 - f`, and `f` times the noise of the randomization is added: `sum w^2 (s s' - m m')`, with `m` what
/// the score is expected to be given the truth. `likelihood`: the sums of the likelihood; without them it is about the
/// corrected score.
///
/// # Errors
/// If a stratum has one cluster only, or more than there are.
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
    // What the margins explain is certain.
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

/// The covariance of all strata together, and the share of the units of each that was drawn.
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

/// For each combination of categories with known margins what these explain of the score: by a regression with the
/// weights before (Deville and Särndal 1992).
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

/// The sum of `f w^2 m m'`, from that of the squares of the scores of truths. Of the corrected score `m` is the score
/// of the truth, and `m m'` is estimated without bias. Of the likelihood it is at least (as covariances go) the part
/// that is linear in the score of the truth: `J I^-1 s(t)`, with `J` the information of the answers and `I` that of
/// direct ones; so that errors are not too small where the model holds.
fn explained(squares: DMatrix<f64>, likelihood: Option<&Sums>) -> DMatrix<f64> {
    let Some(sums) = likelihood else { return squares };
    let n = squares.nrows();
    let all: Vec<usize> = (0..n).collect();
    let Some(direct) = Solver::new(&sums.complete, n, &all) else { return DMatrix::zeros(n, n) };
    let kept = DMatrix::from_column_slice(n, n, &sums.observed) * direct.inverse();
    &kept * squares * kept.transpose()
}

/// The sums of one stratum.
struct Stratum {
    /// Of `w e`, with `e` what the margins leave of the score.
    sum: DVector<f64>,
    /// The same of each sampling cluster, if there are any.
    clusters: BTreeMap<u32, DVector<f64>>,
    /// The sum of `w^2 e e'`, and the number of responses.
    squares: DMatrix<f64>,
    responses: f64,
    /// The sum of `w^2 s s'`.
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

    /// How many units were drawn: clusters, or single people.
    fn units(&self, clustered: bool) -> f64 {
        if clustered { self.clusters.len() as f64 } else { self.responses }
    }

    /// Whether it has one unit that was not drawn for certain.
    fn is_lonely(&self, drawn: f64, clustered: bool) -> bool {
        drawn < 1.0 && self.units(clustered) < 2.0
    }

    /// How sums scatter from unit to unit times the share that was not drawn; `mean`: that of all units, for strata
    /// with one.
    fn covariance(mut self, drawn: f64, lonely: LonelyPsu, mean: &DVector<f64>) -> Result<DMatrix<f64>, RegressError> {
        let units = self.units(!self.clusters.is_empty());
        let zero = DMatrix::zeros(mean.len(), mean.len());
        if drawn >= 1.0 {
            return Ok(zero);
        }
        if units < 2.0 {
            let off = self.sum - mean;
            let message = "a stratum has one cluster only, so that it does not tell how clusters differ; join strata, \
                           or say what it adds by `lonely_psu`";
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

/// The share of a stratum's units that were drawn; up to 1, `fpc` says it, else how many there are.
fn share_drawn(fpc: f64, units: f64) -> Result<f64, RegressError> {
    let refused = |message: String| Err(RegressError::Population(message));
    match fpc {
        fpc if fpc.is_nan() => {
            refused("it says different things of one stratum; it is the same for all its people".to_owned())
        }
        fpc if fpc <= 0.0 => refused(format!("it is {fpc}; a population has more than nobody")),
        fpc if fpc <= 1.0 => Ok(fpc),
        fpc if fpc < units - 1e-9 => {
            refused(format!("a stratum has {units} sampling units, but its population only {fpc}"))
        }
        fpc => Ok((units / fpc).min(1.0)),
    }
}

/// By how much the variance of counts exceeds their mean: Pearson's statistic, with unbiased weights of what is hidden,
/// over its degrees of freedom.
pub(super) fn dispersion(problem: &Problem<'_>, theta: &[f64]) -> f64 {
    let (data, tables) = (problem.data, problem.tables());
    let (mut number, mut sum) = (0, 0.0);
    problem.each_law(theta, |group, law| {
        let table = &tables[number * data.cells()..][..data.cells()];
        let truths = table.iter().zip(law.gradient).zip(law.hessian);
        sum += truths.map(|((people, slope), curve)| people * slope * slope / -curve).sum::<f64>();
        // The truths of a score have its values, but not its squares.
        let excess = |case: &Case| -> f64 { data.excess(case).iter().zip(law.hessian).map(|(own, m)| own / -m).sum() };
        sum += data.cases[group.cases.clone()].iter().map(|case| case.weight * excess(case)).sum::<f64>();
        number += 1;
    });
    sum / (data.total - problem.own as f64).max(1.0)
}

/// The sandwich around a solution of the corrected score.
///
/// # Errors
/// If it is no solution, or the sampling design does not identify the variance.
pub(super) fn corrected_covariance(problem: &Problem<'_>, fit: &Fit) -> Result<DMatrix<f64>, RegressError> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let bread = Solver::new(&fit.sums.complete, problem.parameters, &free).ok_or(RegressError::NoSolution)?.inverse();
    Ok(&bread * score_covariance(problem, &fit.theta, None)? * &bread)
}

/// How two estimates differ, in what their errors allow: `d' (V - W)^+ d` with as many degrees of freedom as `V - W`
/// has positive directions (Hausman 1978).
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
