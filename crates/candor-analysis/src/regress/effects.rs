//! Average predictions of a fit, and average marginal effects of the predictors.

use nalgebra::DMatrix;
use serde::Serialize;

use super::cr2::student_of_normal;
use super::design::{Factor, Predictor, Values};
use super::family::Derivatives;
use super::likelihood_profile::design_df;
use super::observations::Group;
use super::options::Family;
use super::problem::Problem;
use super::questions::Setting;

/// Half the step for the slope of a number, in its standard deviations.
const NEAR: f64 = 1e-3;

/// An average over the respondents, with its standard error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Average {
    /// Predictor with its category, such as `age` or `Sex=male`; empty for average shares.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub term: String,
    /// Category of the outcome; `None` for numbers.
    pub category: Option<String>,
    /// Estimated average.
    pub estimate: f64,
    /// Standard error.
    pub standard_error: f64,
    /// Lower confidence limit; for a share on the scale of log odds, so that it is within 0 and 1.
    pub low: f64,
    /// Upper confidence limit.
    pub high: f64,
}

impl Average {
    /// Replaces the standard error; `reach` is the quantile for the limits.
    pub(super) fn with_error(self, error: f64, reach: f64, scale: Scale) -> Average {
        let (low, high) = limits(self.estimate, error, reach, scale);
        Average { standard_error: error, low, high, ..self }
    }
}

/// Scale on which the limits of an estimate are symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// The estimate itself.
    Plain,
    /// Log odds, for shares.
    LogOdds,
    /// Logarithm, for means of counts.
    Log,
}

impl Scale {
    /// Returns the scale for predictions of a family.
    pub(super) fn of(family: Family) -> Scale {
        match family {
            Family::Linear => Scale::Plain,
            Family::Poisson | Family::QuasiPoisson => Scale::Log,
            Family::Binary | Family::Multinomial | Family::Ordinal => Scale::LogOdds,
        }
    }

    /// Converts a value on the scale to an estimate.
    pub(super) fn back(self, value: f64) -> f64 {
        match self {
            Scale::Plain => value,
            Scale::LogOdds => 1.0 / (1.0 + (-value).exp()),
            Scale::Log => value.exp(),
        }
    }
}

/// Returns limits that are symmetric on a scale: within 0 and 1 for shares, and above 0 for means of counts.
pub(super) fn limits(estimate: f64, error: f64, reach: f64, scale: Scale) -> (f64, f64) {
    let (at, by) = match scale {
        Scale::LogOdds if estimate > 0.0 && estimate < 1.0 => {
            ((estimate / (1.0 - estimate)).ln(), reach * error / (estimate * (1.0 - estimate)))
        }
        Scale::Log if estimate > 0.0 => (estimate.ln(), reach * error / estimate),
        _ => return (estimate - reach * error, estimate + reach * error),
    };
    (scale.back(at - by), scale.back(at + by))
}

/// Average predictions of a fit.
pub(super) struct Averages<'a> {
    problem: &'a Problem<'a>,
    theta: &'a [f64],
    /// For each group, the weight of each combination of randomized predictors, and their sum.
    weights: Vec<f64>,
    total: f64,
    covariance: &'a DMatrix<f64>,
    categories: &'a [String],
    /// Half-width of intervals in standard errors.
    reach: f64,
}

/// For each outcome, a mean and its gradient in the parameters of the outcome.
type Means = Vec<(f64, Vec<f64>)>;

impl<'a> Averages<'a> {
    /// Prepares averages. `tables` are the groups' estimated tables, if no law of the randomized predictors was
    /// fitted.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        theta: &'a [f64],
        tables: &[f64],
        covariance: &'a DMatrix<f64>,
        categories: &'a [String],
        critical: f64,
    ) -> Averages<'a> {
        let combinations = problem.data.hidden.len();
        let mut weights = Vec::with_capacity(problem.data.groups.len() * combinations);
        if problem.predictors.is_some() {
            problem.each_law(theta, |group, law| weights.extend(law.shares.iter().map(|share| group.weight * share)));
        } else {
            for table in tables.chunks_exact(problem.data.cells()) {
                let sum = |hidden: usize| table.iter().skip(hidden).step_by(combinations).sum::<f64>();
                weights.extend((0..combinations).map(sum));
            }
        }
        let total = weights.iter().sum();
        let reach = design_df(problem).map_or(critical.sqrt(), |df| student_of_normal(critical.sqrt(), df));
        Averages { problem, theta, weights, total, covariance, categories, reach }
    }

    /// Returns the average predicted share of each category, or the average predicted number.
    pub(super) fn shares(&self) -> Vec<Average> {
        self.told("", self.means(|_, _, _| {}), 1.0, true)
    }

    /// Returns the average predictions if everybody had the given predictors.
    pub(super) fn predicted_for(&self, setting: &Setting) -> Vec<Average> {
        self.told("", self.means(|hidden, public, numbers| setting.give(hidden, public, numbers)), 1.0, true)
    }

    /// Returns Tjur's R2 for the true outcome: the variance of the predicted shares divided by that of the binary
    /// outcome.
    ///
    /// It is computed from predictions only, so that the noise of the answers does not affect it.
    pub(super) fn tjur(&self) -> Option<f64> {
        let (problem, data) = (self.problem, self.problem.data);
        let (p, combinations) = (data.design.len(), data.hidden.len());
        if self.categories.len() != 2 {
            return None;
        }
        let (mut x, mut indices) = (vec![0.0; p], vec![0.0; problem.kernel.indices()]);
        let (mut derivatives, mut mean, mut square) = (Derivatives::default(), 0.0, 0.0);
        for (number, group) in data.groups.iter().enumerate() {
            for hidden in 0..combinations {
                data.fill(group, hidden, &mut x);
                problem.indices(&x, self.theta, &mut indices);
                problem.kernel.prepare(&indices, &mut derivatives);
                let share = self.predicted(&indices, 0, &mut derivatives);
                let weight = self.weights[number * combinations + hidden] / self.total;
                mean += weight * share;
                square += weight * share * share;
            }
        }
        let explained = (square - mean * mean) / (mean * (1.0 - mean));
        (0.0..=1.0).contains(&explained).then_some(explained)
    }

    /// Returns the average marginal effect of every predictor on each share.
    ///
    /// It is per unit of a number, and from the reference to each other category.
    pub(super) fn effects(&self) -> Vec<Average> {
        let mut all = Vec::new();
        for predictor in &self.problem.data.design.predictors {
            match predictor.factor {
                Factor::Number(place) => {
                    let step = NEAR * self.deviation(place);
                    let at = |by: f64| self.means(move |_, _, numbers| numbers[place] += by);
                    all.extend(self.told(&predictor.name, difference(at(step), at(-step)), 2.0 * step, false));
                }
                _ => {
                    let at = |code: usize| {
                        self.means(move |hidden, public, _| match predictor.factor {
                            Factor::Hidden(axis) => hidden[axis] = code,
                            Factor::Public(place) => public[place] = code as u16,
                            Factor::Number(_) => {}
                        })
                    };
                    let reference = at(predictor.reference);
                    for (code, label) in others(predictor) {
                        let term = format!("{}={label}", predictor.name);
                        all.extend(self.told(&term, difference(at(code), reference.clone()), 1.0, false));
                    }
                }
            }
        }
        all
    }

    /// Returns the standard deviation of a numeric predictor.
    fn deviation(&self, place: usize) -> f64 {
        let groups = &self.problem.data.groups;
        let total: f64 = groups.iter().map(|group| group.weight).sum();
        let mean = groups.iter().map(|group| group.weight * group.numbers[place]).sum::<f64>() / total;
        let square = |group: &Group| group.weight * (group.numbers[place] - mean).powi(2);
        (groups.iter().map(square).sum::<f64>() / total).sqrt()
    }

    /// Returns the mean prediction after a change of everybody's values.
    fn means(&self, change: impl Fn(&mut [usize], &mut [u16], &mut [f64]) + Sync) -> Means {
        let problem = self.problem;
        let nothing = || -> Means { vec![(0.0, vec![0.0; problem.own]); self.categories.len().max(1)] };
        let part = |groups: &mut dyn Iterator<Item = (usize, &Group)>| {
            let mut means = nothing();
            groups.for_each(|(number, group)| self.add_group(number, group, &change, &mut means));
            means
        };
        let mut total = nothing();
        problem.over_groups(self.weights.len() * problem.own, part, |means| {
            for ((sum, slopes), (mean, own)) in total.iter_mut().zip(means) {
                *sum += mean;
                slopes.iter_mut().zip(own).for_each(|(sum, slope)| *sum += slope);
            }
        });
        total
    }

    fn add_group(
        &self,
        number: usize,
        group: &Group,
        change: impl Fn(&mut [usize], &mut [u16], &mut [f64]),
        means: &mut Means,
    ) {
        let (problem, data) = (self.problem, self.problem.data);
        let (m, p, combinations) = (problem.kernel.indices(), data.design.len(), data.hidden.len());
        let (mut x, mut indices, mut derivatives) = (vec![0.0; p], vec![0.0; m], Derivatives::default());
        let (mut hidden, mut public, mut numbers) = (Vec::new(), group.public.clone(), group.numbers.clone());
        for (codes, weight) in data.hidden.iter().zip(&self.weights[number * combinations..]) {
            hidden.clone_from(codes);
            public.clone_from(&group.public);
            numbers.clone_from(&group.numbers);
            change(&mut hidden, &mut public, &mut numbers);
            data.design.fill(Values { hidden: &hidden, public: &public, numbers: &numbers }, &mut x);
            problem.indices(&x, self.theta, &mut indices);
            problem.kernel.prepare(&indices, &mut derivatives);
            for (outcome, (mean, gradient)) in means.iter_mut().enumerate() {
                *mean += weight / self.total * self.predicted(&indices, outcome, &mut derivatives);
                for (index, &start) in problem.starts.iter().enumerate() {
                    let slope = weight / self.total * derivatives.gradient[index];
                    match problem.kernel.of_predictors(index) {
                        true => gradient[start..].iter_mut().zip(&x).for_each(|(sum, x)| *sum += slope * x),
                        false => gradient[start] += slope,
                    }
                }
            }
        }
    }

    /// Returns the predicted share or number at prepared indices, and leaves its slopes in `derivatives`.
    fn predicted(&self, indices: &[f64], outcome: usize, derivatives: &mut Derivatives) -> f64 {
        self.problem.kernel.derivatives_of(indices, outcome, 0.0, derivatives);
        if self.categories.is_empty() {
            let scale = if self.problem.kernel.is_of_counts() { Scale::Log } else { Scale::Plain };
            let mean = scale.back(indices[0]);
            derivatives.gradient.fill(0.0);
            derivatives.gradient[0] = if scale == Scale::Log { mean } else { 1.0 };
            return mean;
        }
        let share = derivatives.share;
        derivatives.gradient.iter_mut().for_each(|slope| *slope *= share);
        share
    }

    fn told(&self, term: &str, means: Means, span: f64, are_shares: bool) -> Vec<Average> {
        let one = |(outcome, (mean, gradient)): (usize, (f64, Vec<f64>))| {
            let own = self.covariance.view((0, 0), (gradient.len(), gradient.len()));
            let gradient = nalgebra::DVector::from_vec(gradient);
            let variance = (gradient.transpose() * own * &gradient)[(0, 0)];
            let (estimate, category) = (mean / span, self.categories.get(outcome).cloned());
            let average =
                Average { term: term.to_owned(), category, estimate, standard_error: 0.0, low: 0.0, high: 0.0 };
            let scale = match (are_shares, self.problem.kernel.is_of_numbers()) {
                (false, _) => Scale::Plain,
                (true, false) => Scale::LogOdds,
                (true, true) if self.problem.kernel.is_of_counts() => Scale::Log,
                (true, true) => Scale::Plain,
            };
            average.with_error(variance.max(0.0).sqrt() / span, self.reach, scale)
        };
        means.into_iter().enumerate().map(one).collect()
    }
}

fn others(predictor: &Predictor) -> impl Iterator<Item = (usize, &String)> {
    predictor.kept().filter(|(code, _)| *code != predictor.reference)
}

fn difference(high: Means, low: Means) -> Means {
    let minus = |(high, up): (f64, Vec<f64>), (low, down): (f64, Vec<f64>)| {
        (high - low, up.iter().zip(&down).map(|(up, down)| up - down).collect())
    };
    high.into_iter().zip(low).map(|(high, low)| minus(high, low)).collect()
}
