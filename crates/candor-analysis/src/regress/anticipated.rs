//! Power analysis of a regression: expected standard errors in a given population.
//!
//! Every possible answer enters with its probability in that population, as if it were data. The covariance of the
//! coefficients in a fit of these, times the number of respondents, is then the expected one.

use nalgebra::DMatrix;

use super::answers::Answers;
use super::design::Values;
use super::family::{Derivatives, Kernel};
use super::foreseen::{Foreseen, Outlook};
use super::observations::Observations;
use super::problem::Problem;
use super::solve::Solver;
use super::sums::Want;
use super::variance::score_covariance;
use super::{INTERCEPT, Layout, Method, Model, ModelRows, RegressError};

/// Maximum number of profiles times answers.
const MAX_ROWS: usize = 1 << 20;

/// Maximum number of distinct answers to all randomized attributes of a model together.
const MAX_ANSWERS: usize = 1 << 16;

/// Maximum number of shares computed for adapting the intercepts, and minimum number of rounds.
const MAX_SHARES: usize = 100_000_000;
const MIN_ROUNDS: usize = 50;

/// Number of quadrature nodes for the residuals of a linear model, of which only the variance matters.
const RESIDUALS: usize = 3;

/// A group of people with the same predictors in the expected population.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// True categories of the model's [randomized predictors](Model::randomized).
    pub randomized: Vec<u16>,
    /// Categories of its [public attributes](Model::public).
    pub public: Vec<u16>,
    /// Values of its numeric predictors.
    pub numbers: Vec<f64>,
    /// Share of the population with this profile; the shares of all profiles sum to 1.
    pub share: f64,
}

/// An expected coefficient.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Term of the model.
    pub term: String,
    /// Category of the outcome; required if there are several.
    pub category: Option<String>,
    /// Value of the coefficient.
    pub value: f64,
}

/// The expected population of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Anticipated {
    /// Profiles of the people.
    pub profiles: Vec<Profile>,
    /// Shares of the outcome's categories, to which the intercepts are adapted unless an effect specifies one.
    ///
    /// The residuals of a linear model have the standard deviation 1.
    pub response: Vec<f64>,
    /// Expected coefficients; all others are zero.
    pub effects: Vec<Effect>,
}

/// Expected precision of a coefficient, and power of its test.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Anticipation {
    /// Expected coefficient.
    pub effect: Effect,
    /// Variance of the estimated coefficient times the number of respondents.
    pub variance: f64,
    /// Power of its test.
    pub test: Foreseen,
}

/// Returns the expected precision and power for each effect except intercepts, and the method.
///
/// As by default in a regression, the method is maximum likelihood if only the outcome is randomized, and otherwise
/// the corrected score.
///
/// # Errors
/// Returns [`RegressError`] if an effect is not in the model, a share is invalid, or there are too many
/// combinations.
pub fn anticipate(
    model: &Model,
    layout: &Layout,
    people: &Anticipated,
) -> Result<(Method, Vec<Anticipation>), RegressError> {
    if !model.left_out().is_empty() {
        let message = "people without an answer are left out of this model; plan it with `missing category`, or \
                       without that category";
        return Err(RegressError::Anticipated(message.to_owned()));
    }
    if model.is_score() || model.family.is_of_counts() {
        let message = "sample sizes are computed for outcomes with categories and for linear models of a kept column; \
                       plan this outcome with one of these";
        return Err(RegressError::Anticipated(message.to_owned()));
    }
    if model.companions > 0 {
        let message = "a matrix answers attributes of this model together with others, such as the control items of a \
                       list experiment, whose law it would take; take `margin` or `detect_difference`";
        return Err(RegressError::Anticipated(message.to_owned()));
    }
    let outcomes = model.categories.len().max(1);
    let truth = Truth::new(model, Kernel::new(model.family, outcomes, model.reference), people)?;
    let rows = truth.rows(layout, people)?;
    let data = Observations::new(model, &rows)?;
    let problem = Problem::new(&data, truth.kernel, false);
    let method = match model.has_hidden_predictors() {
        true => Method::CorrectedScore,
        false => Method::MaximumLikelihood,
    };
    let covariance = covariance(&problem, &truth.theta, method)?;
    let outlook = Outlook::new(&problem, &rows, &truth.theta, method);
    let one = |effect: &Effect| {
        let at = truth.place(effect)?;
        Ok(Anticipation { effect: effect.clone(), variance: covariance[(at, at)], test: outlook.of(at)? })
    };
    let tested = people.effects.iter().filter(|effect| effect.term != INTERCEPT);
    Ok((method, tested.map(one).collect::<Result<_, RegressError>>()?))
}

fn covariance(problem: &Problem<'_>, theta: &[f64], method: Method) -> Result<DMatrix<f64>, RegressError> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let inverse = |matrix: &[f64]| {
        let solver = Solver::new(matrix, problem.parameters, &free);
        let message = "with these shares and effects the answers would not tell all coefficients";
        solver.map(|solver| solver.inverse()).ok_or_else(|| RegressError::Anticipated(message.to_owned()))
    };
    if method == Method::MaximumLikelihood {
        return inverse(&problem.likelihood(theta, Want::Information).observed);
    }
    let bread = inverse(&problem.corrected(theta, &problem.tables()).complete)?;
    Ok(&bread * score_covariance(problem, theta, None)? * &bread)
}

/// A model with known coefficients.
struct Truth<'a> {
    model: &'a Model,
    kernel: Kernel,
    theta: Vec<f64>,
}

impl<'a> Truth<'a> {
    fn new(model: &'a Model, kernel: Kernel, people: &Anticipated) -> Result<Truth<'a>, RegressError> {
        let p = model.design.len();
        let own = |index: usize| if kernel.of_predictors(index) { p } else { 1 };
        let theta = vec![0.0; (0..kernel.indices()).map(own).sum()];
        let mut truth = Truth { model, kernel, theta };
        for effect in &people.effects {
            let at = truth.place(effect)?;
            truth.theta[at] = effect.value;
        }
        let named = people.effects.iter().any(|effect| effect.term == INTERCEPT);
        match kernel {
            Kernel::Logit { .. } => {
                if let Some(constant) = model.design.constant().filter(|_| !named) {
                    check_response(model, people)?;
                    truth.adapt_constants(constant, people)?;
                }
            }
            Kernel::Ordinal { .. } => {
                check_response(model, people)?;
                truth.adapt_thresholds(people);
            }
            Kernel::LeastSquares | Kernel::Normal | Kernel::LogLinear { .. } => {}
        }
        Ok(truth)
    }

    /// Returns the position of the first parameter of an index.
    fn start(&self, index: usize) -> usize {
        let own = |index: usize| if self.kernel.of_predictors(index) { self.model.design.len() } else { 1 };
        (0..index).map(own).sum()
    }

    /// Returns the position of an effect among the parameters.
    fn place(&self, effect: &Effect) -> Result<usize, RegressError> {
        let refused = |message: String| Err(RegressError::Effect(message));
        let Some(column) = self.model.design.names().position(|name| name == effect.term) else {
            let names: Vec<&str> = self.model.design.names().collect();
            return refused(format!("\"{}\" is no term of the model; it has {}", effect.term, names.join(", ")));
        };
        let indices: Vec<usize> =
            (0..self.kernel.indices()).filter(|&index| self.kernel.of_predictors(index)).collect();
        let label = |index: usize| self.kernel.category(index).and_then(|code| self.model.categories.get(code));
        let about = match (&effect.category, &indices[..]) {
            (None, [only]) => Some(*only),
            (None, _) => None,
            (Some(category), all) => all.iter().copied().find(|&index| label(index) == Some(category)),
        };
        match about {
            Some(index) => Ok(self.start(index) + column),
            None => {
                let labels: Vec<&str> = indices.iter().filter_map(|&index| label(index)).map(String::as_str).collect();
                refused(format!(
                    "\"{}\" has a coefficient for each of the categories {}; say \"{}={} for {}\"",
                    effect.term,
                    labels.join(", "),
                    effect.term,
                    effect.value,
                    labels.first().unwrap_or(&"..")
                ))
            }
        }
    }

    /// Returns the linear predictors (indices) of people with a profile.
    fn indices(&self, profile: &Profile) -> Vec<f64> {
        let hidden: Vec<usize> = profile.randomized.iter().map(|&code| usize::from(code)).collect();
        let mut row = vec![0.0; self.model.design.len()];
        self.model
            .design
            .fill(Values { hidden: &hidden, public: &profile.public, numbers: &profile.numbers }, &mut row);
        let index = |index: usize| match self.kernel.of_predictors(index) {
            true => row.iter().zip(&self.theta[self.start(index)..]).map(|(x, t)| x * t).sum(),
            false => self.theta[self.start(index)],
        };
        (0..self.kernel.indices()).map(index).collect()
    }

    /// Returns the shares of the outcome's categories among people with a profile.
    fn shares(&self, profile: &Profile) -> Vec<f64> {
        let (indices, mut derivatives) = (self.indices(profile), Derivatives::default());
        let share = |outcome: usize| {
            self.kernel.derivatives(&indices, outcome, 0.0, &mut derivatives);
            derivatives.share
        };
        (0..self.model.categories.len()).map(share).collect()
    }

    /// Adapts the intercepts to the shares of the outcome; each round is one of iterative proportional fitting.
    fn adapt_constants(&mut self, constant: usize, people: &Anticipated) -> Result<(), RegressError> {
        let each = people.profiles.len() * people.response.len();
        for _ in 0..(MAX_SHARES / each.max(1)).max(MIN_ROUNDS) {
            let mut predicted = vec![0.0; people.response.len()];
            for profile in &people.profiles {
                let shares = self.shares(profile);
                predicted.iter_mut().zip(shares).for_each(|(sum, share)| *sum += profile.share * share);
            }
            let off = |code: usize| (people.response[code] / predicted[code]).ln();
            let reference = off(self.model.reference);
            let mut most = 0.0f64;
            for index in 0..self.kernel.indices() {
                let step = self.kernel.category(index).map_or(0.0, off) - reference;
                let at = self.start(index) + constant;
                self.theta[at] += step;
                most = most.max(step.abs());
            }
            if most < 1e-12 {
                return Ok(());
            }
        }
        let message = "the effects are too large for the response to have these shares; name the constant as an effect \
                       of its own";
        Err(RegressError::Anticipated(message.to_owned()))
    }

    /// Sets the thresholds so that the cumulative categories have their shares.
    fn adapt_thresholds(&mut self, people: &Anticipated) {
        let last = self.kernel.indices() - 1;
        let etas: Vec<(f64, f64)> =
            people.profiles.iter().map(|profile| (profile.share, self.indices(profile)[last])).collect();
        let up_to =
            |threshold: f64| -> f64 { etas.iter().map(|(share, eta)| share / (1.0 + (eta - threshold).exp())).sum() };
        let reach = etas.iter().fold(0.0f64, |most, (_, eta)| most.max(eta.abs())) + 50.0;
        let mut wanted = 0.0;
        for index in 0..last {
            wanted += people.response[index];
            let (mut low, mut high) = (-reach, reach);
            for _ in 0..100 {
                let middle = (low + high) / 2.0;
                if up_to(middle) < wanted { low = middle } else { high = middle }
            }
            self.theta[index] = (low + high) / 2.0;
        }
    }

    /// Returns all possible answers of all profiles, with their shares.
    fn rows(&self, layout: &Layout, people: &Anticipated) -> Result<ModelRows, RegressError> {
        let answers = possible(&layout.answers, people.profiles.len())?;
        let mut rows = ModelRows::new(layout.clone());
        let predictors: usize = layout.answers.shape.cells() / self.model.categories.len().max(1);
        let sizes = &layout.answers.shape.sizes()[self.model.hidden_responses()..];
        let noise = normal_points(RESIDUALS);
        for profile in &people.profiles {
            let hidden =
                profile.randomized.iter().zip(sizes).fold(0, |cell, (&code, size)| cell * size + usize::from(code));
            if self.kernel == Kernel::LeastSquares {
                let mean = self.indices(profile)[0];
                for (y, share) in noise.iter().map(|(e, weight)| (mean + e, profile.share * weight)) {
                    let numbers = [&profile.numbers[..], &[y]].concat();
                    for (record, factor, likelihood) in &answers {
                        rows.expect(record, &profile.public, &numbers, share * factor * likelihood[hidden]);
                    }
                }
                continue;
            }
            let shares = self.shares(profile);
            for (record, factor, likelihood) in &answers {
                let of_outcome = |(outcome, share): (usize, &f64)| share * likelihood[outcome * predictors + hidden];
                let all: f64 = shares.iter().enumerate().map(of_outcome).sum();
                rows.expect(record, &profile.public, &profile.numbers, profile.share * factor * all);
            }
        }
        Ok(rows)
    }
}

/// An answer, the factor from its likelihood to its probability, and its likelihood under every true combination.
type Told = (Vec<u16>, f64, Vec<f64>);

fn possible(answers: &Answers, profiles: usize) -> Result<Vec<Told>, RegressError> {
    let too_many = || {
        let message = "there are too many different answers and kinds of people to go through them all; leave \
                       randomized attributes out, or round numeric columns";
        RegressError::Anticipated(message.to_owned())
    };
    let all = answers.possible(MAX_ANSWERS.min(MAX_ROWS / profiles.max(1))).ok_or_else(too_many)?;
    let told = |(record, factor): (Vec<u16>, f64)| {
        let (likelihood, _) = answers.likelihood(&record);
        (record, factor, likelihood)
    };
    Ok(all.into_iter().map(told).collect())
}

fn check_response(model: &Model, people: &Anticipated) -> Result<(), RegressError> {
    match people.response.iter().position(|share| *share <= 0.0) {
        Some(code) => Err(RegressError::Anticipated(format!(
            "nobody is anticipated to have the category \"{}\" of the response \"{}\"",
            model.categories[code], model.response
        ))),
        None => Ok(()),
    }
}

/// Returns the nodes and weights of the `count`-point Gauss-Hermite rule for the standard normal distribution.
///
/// Means of polynomials of a degree below twice the number of nodes are exact (Golub and Welsch 1969).
pub fn normal_points(count: usize) -> Vec<(f64, f64)> {
    let entry = |i: usize, j: usize| if i.abs_diff(j) == 1 { (i.max(j) as f64).sqrt() } else { 0.0 };
    let eigen = DMatrix::from_fn(count, count, entry).symmetric_eigen();
    let mut points: Vec<(f64, f64)> =
        eigen.eigenvalues.iter().zip(eigen.eigenvectors.row(0).iter()).map(|(x, v)| (*x, v * v)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}
