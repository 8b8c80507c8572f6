//! Coefficients of a fit, with standard errors, limits and tests.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::Model;
use super::effects::{Average, Averages};
use super::family::Kernel;
use super::fit::Fit;
use super::problem::Problem;
use super::questions::Setting;
use super::result::{Coefficient, EstimateKind, Method, Prediction, Regression, THRESHOLD, Test};
use super::solve::Solver;
use super::variance::dispersion;
use super::walk::Found;

/// Requests to a regression in addition to its model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) method: Option<Method>,
    /// Critical value of the chi-square statistic.
    pub(super) critical: f64,
    /// Whether limits and p-values are requested.
    pub(super) limits: bool,
    /// Profiles for predictions.
    pub(super) settings: &'a [Setting],
}

/// Results for a tested parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tested {
    pub(super) found: Found,
    pub(super) test: Test,
    pub(super) gap: bool,
}

impl Tested {
    /// Returns whether a limit is missing.
    pub(super) fn is_open(&self) -> bool {
        self.found.low.is_none() || self.found.high.is_none()
    }
}

/// A fit and the settings for presenting it.
pub(super) struct Shown<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) fit: &'a Fit,
    pub(super) covariance: DMatrix<f64>,
    /// Kind of its estimates.
    pub(super) kind: EstimateKind,
    /// Kind of the estimates with two limits, if it differs, and the fit that they belong to, with its problem.
    pub(super) inner: Option<(EstimateKind, Option<(&'a Problem<'a>, &'a Fit)>)>,
    /// Results for each tested parameter.
    pub(super) tested: &'a [Option<Tested>],
    pub(super) critical: f64,
    pub(super) settings: &'a [Setting],
}

/// Returns the p-value of a chi-square statistic.
pub(super) fn p_value(statistic: f64, degrees: usize) -> f64 {
    ChiSquared::new(degrees as f64).map_or(1.0, |law| law.sf(statistic.max(0.0)))
}

/// Returns the tested parameters, which are all but thresholds and spreads, or those of one column.
pub(super) fn tested_parameters(problem: &Problem<'_>, column: Option<usize>) -> Vec<usize> {
    let p = problem.data.design.len();
    let columns = column.map_or(0..p, |at| at..at + 1);
    let indices = problem.starts.iter().enumerate().filter(|(index, _)| problem.kernel.of_predictors(*index));
    indices.flat_map(|(_, &start)| columns.clone().map(move |at| start + at)).collect()
}

impl Shown<'_> {
    /// Returns the result: coefficients, averages and predictions.
    pub(super) fn told(self, model: &Model, tables: &[f64]) -> Regression {
        let coefficients = self.coefficients(model);
        let (theta, covariance) = (&self.fit.theta[..], &self.covariance);
        let averages = Averages::new(self.problem, theta, tables, covariance, &model.categories, self.critical);
        let (shares, effects, tjur) = (averages.shares(), averages.effects(), averages.tjur());
        let predictions = self.settings.iter().enumerate();
        let predictions = predictions.flat_map(|(at, setting)| predicted(at, averages.predicted_for(setting)));
        let predictions = predictions.collect();
        let kept = coefficients.len();
        Regression {
            coefficients,
            covariance: self.covariance.view((0, 0), (kept, kept)).into_owned(),
            method: Method::MaximumLikelihood,
            log_likelihood: Some(self.fit.sums.value),
            null_log_likelihood: None,
            aic: None,
            tjur,
            converged: self.fit.converged,
            boundary: false,
            assumption: None,
            hausman: None,
            ignoring: None,
            residual_deviation: None,
            dispersion: None,
            shares,
            effects,
            joint: Vec::new(),
            contrasts: Vec::new(),
            predictions,
            theta: self.fit.theta[..self.problem.own].to_vec(),
            terms: terms(self.problem),
            naive: None,
            named: false,
            standardized: Vec::new(),
            responses: 0,
            modelled: 0.0,
            distinct: 0,
            rarest: None,
        }
    }

    /// Returns the coefficients, without the spread of a normal model.
    fn coefficients(&self, model: &Model) -> Vec<Coefficient> {
        let problem = self.problem;
        // Each estimate is compared with direct answers about the same truth.
        let near = self.inner.and_then(|(_, near)| near);
        let near = near.and_then(|(problem, near)| directly_asked(problem, near));
        let directly = [directly_asked(problem, self.fit), near];
        let mut coefficients = Vec::new();
        for (index, &start) in problem.starts.iter().enumerate() {
            let category = problem.kernel.category(index).and_then(|code| model.categories.get(code));
            if problem.kernel == Kernel::Normal && index == 1 {
                continue;
            }
            if !problem.kernel.of_predictors(index) {
                let next = model.categories.get(index + 1);
                let between = category.zip(next).map(|(low, high)| format!("{low}|{high}"));
                coefficients.push(self.coefficient(start, THRESHOLD, between, &directly));
                continue;
            }
            for (column, term) in problem.data.design.names().enumerate() {
                coefficients.push(self.coefficient(start + column, term, category.cloned(), &directly));
            }
        }
        coefficients
    }

    fn coefficient(
        &self,
        at: usize,
        term: &str,
        category: Option<String>,
        [directly, inside]: &[Option<Vec<f64>>; 2],
    ) -> Coefficient {
        let (value, variance) = (self.fit.theta[at], self.covariance[(at, at)].max(0.0));
        let tested = self.tested.get(at).copied().flatten();
        let open = tested.is_some_and(|tested| tested.is_open());
        let inner = self.inner.zip(tested).filter(|_| !open);
        let error = inner.map_or(variance.sqrt(), |(_, tested)| tested.found.error);
        let reach = self.critical.sqrt() * error;
        let directly = if inner.is_some() { inside } else { directly };
        let direct = directly.as_ref().map(|direct| direct[at]).filter(|direct| *direct > 0.0);
        let effect = direct.map(|direct| error * error / direct);
        // Randomization takes information away. Without a sampling design, estimated variances make a ratio smaller.
        let least = if self.problem.data.sampled() { 0.0 } else { 1.0 };
        let effect = effect.filter(|ratio| ratio.is_finite() && !open).map(|ratio| ratio.max(least));
        Coefficient {
            term: term.to_owned(),
            category,
            estimate: inner.map_or(value, |(_, tested)| tested.found.best),
            kind: inner.map_or(self.kind, |((kind, _), _)| kind),
            standard_error: Some(error).filter(|error| !open && error.is_finite()),
            low: tested.map_or(Some(value - reach), |tested| tested.found.low),
            high: tested.map_or(Some(value + reach), |tested| tested.found.high),
            statistic: tested.map(|tested| tested.found.statistic.max(0.0)),
            df: tested.and_then(|tested| tested.found.df),
            p_value: tested.map(|tested| p_value(tested.found.statistic, 1)),
            test: tested.map_or(Test::Wald, |tested| tested.test),
            gap: tested.is_some_and(|tested| tested.gap),
            variance_inflation: effect,
        }
    }
}

/// Converts averages to predictions for a profile.
fn predicted(profile: usize, averages: Vec<Average>) -> impl Iterator<Item = Prediction> {
    averages.into_iter().map(move |one| Prediction {
        profile,
        category: one.category,
        estimate: one.estimate,
        standard_error: Some(one.standard_error),
        low: Some(one.low),
        high: Some(one.high),
    })
}

/// Returns the terms with several coefficients, and their parameters.
pub(super) fn terms(problem: &Problem<'_>) -> Vec<(String, Vec<usize>)> {
    let starts: Vec<usize> =
        (0..problem.starts.len()).filter(|&i| problem.kernel.of_predictors(i)).map(|i| problem.starts[i]).collect();
    let of = |columns: Vec<usize>| starts.iter().flat_map(|start| columns.iter().map(move |at| start + at)).collect();
    let all = problem.data.design.terms().map(|(name, columns)| (name.clone(), of(columns)));
    all.filter(|(_, parameters): &(String, Vec<usize>)| parameters.len() > 1).collect()
}

/// Returns the variances of the coefficients if the same people had been asked directly; not above 0 where the answers
/// do not tell.
fn directly_asked(problem: &Problem<'_>, fit: &Fit) -> Option<Vec<f64>> {
    let free: Vec<usize> = (0..problem.own).collect();
    let inverse = Solver::new(&fit.sums.complete, problem.parameters, &free)?.inverse();
    if problem.kernel == Kernel::LeastSquares && problem.data.score.is_none() && !problem.data.sampled() {
        // Without a common variance, as in the fit itself.
        let direct = &inverse * direct_scatter(problem, &fit.theta) * &inverse;
        return Some(direct.diagonal().iter().copied().collect());
    }
    let scale = match problem.kernel {
        Kernel::LeastSquares => -2.0 * fit.sums.value / problem.data.total,
        Kernel::LogLinear { scatter: true } => dispersion(problem, &fit.theta),
        _ => 1.0,
    };
    Some(inverse.diagonal().iter().map(|variance| scale * variance).collect())
}

/// Returns the scatter of the scores of directly asked people, from the unbiased weights of their categories.
fn direct_scatter(problem: &Problem<'_>, theta: &[f64]) -> DMatrix<f64> {
    let (p, cells, tables) = (problem.own, problem.data.cells(), problem.tables());
    let (mut scatter, mut tables) = (DMatrix::zeros(p, p), tables.chunks_exact(cells));
    problem.each_law(theta, |_, law| {
        let weights = tables.next().unwrap_or_default();
        for ((weight, slope), x) in weights.iter().zip(law.gradient).zip(law.x.chunks_exact(p)) {
            let x = DVector::from_column_slice(x);
            scatter.ger(weight * slope * slope, &x, &x, 1.0);
        }
    });
    scatter
}
