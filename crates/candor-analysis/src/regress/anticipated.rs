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
use super::{Family, INTERCEPT, Layout, Method, Model, ModelRows, RegressError};
use crate::moments::Values as Numbers;

/// Maximum number of profiles times answers.
const MAX_ROWS: usize = 1 << 20;

/// Maximum number of distinct answers to all randomized attributes of a model together.
const MAX_ANSWERS: usize = 1 << 16;

/// Maximum number of shares computed for adapting the intercepts, and minimum number of rounds.
const MAX_SHARES: usize = 100_000_000;
const MIN_ROUNDS: usize = 50;

/// Number of quadrature nodes for the residuals of a linear model, of which only the variance matters.
const RESIDUALS: usize = 3;

/// Name of the effect that specifies the dispersion of a kept count.
pub const DISPERSION: &str = "(dispersion)";

/// Share of a Poisson distribution that is enumerated.
const ALL_COUNTS: f64 = 1.0 - 1e-12;

/// Largest expected mean of a Poisson count.
const MAX_MEAN: f64 = 700.0;

/// Number of bisection steps for the slope that gives a score its mean.
const HALVINGS: usize = 200;

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

impl Effect {
    /// Returns whether it is a coefficient to detect, neither an intercept nor the dispersion.
    pub fn is_tested(&self) -> bool {
        self.term != INTERCEPT && self.term != DISPERSION
    }
}

/// The expected population of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Anticipated {
    /// Profiles of the people.
    pub profiles: Vec<Profile>,
    /// Shares of the outcome's categories, or of all combinations of a score's [items](Model::items), with the first
    /// varying slowest.
    ///
    /// Intercepts are adapted to them unless an effect specifies one. The residuals of a linear model of a kept column
    /// have the standard deviation 1.
    pub response: Vec<f64>,
    /// Shares of all combinations of the [companions](Model::companions), with the first varying slowest.
    ///
    /// Companions are independent of everything else. If empty, all combinations are equally frequent.
    pub companions: Vec<f64>,
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
    let outcomes = model.categories.len().max(1);
    let truth = Truth::new(model, Kernel::new(model.family, outcomes, model.reference), people)?;
    let rows = truth.rows(layout, people)?;
    let data = Observations::new(model, &rows)?;
    let problem = Problem::new(&data, truth.kernel, false);
    let by_score = model.has_hidden_predictors() || model.is_score();
    let method = if by_score { Method::CorrectedScore } else { Method::MaximumLikelihood };
    let covariance = covariance(&problem, &truth.theta, method)?;
    let outlook = Outlook::new(&problem, &rows, &truth.theta, method, model.companions > 0);
    let one = |effect: &Effect| {
        let at = truth.place(effect)?;
        Ok(Anticipation { effect: effect.clone(), variance: covariance[(at, at)], test: outlook.of(at)? })
    };
    let tested = people.effects.iter().filter(|effect| effect.is_tested());
    Ok((method, tested.map(one).collect::<Result<_, RegressError>>()?))
}

fn covariance(problem: &Problem<'_>, theta: &[f64], method: Method) -> Result<DMatrix<f64>, RegressError> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let inverse = |matrix: &[f64]| {
        let solver = Solver::new(matrix, problem.parameters, &free);
        let message = "with these shares and effects, not all coefficients would be identifiable";
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
    /// Variance of a kept count over its mean.
    dispersion: f64,
}

/// Possible outcomes of a profile: a public number, if any, with the shares of the randomized categories.
type Outcomes = Vec<(Option<f64>, Vec<f64>)>;

impl<'a> Truth<'a> {
    fn new(model: &'a Model, kernel: Kernel, people: &Anticipated) -> Result<Truth<'a>, RegressError> {
        let p = model.design.len();
        let own = |index: usize| if kernel.of_predictors(index) { p } else { 1 };
        let theta = vec![0.0; (0..kernel.indices()).map(own).sum()];
        let mut truth = Truth { model, kernel, theta, dispersion: dispersion(model, people)? };
        for effect in people.effects.iter().filter(|effect| effect.term != DISPERSION) {
            let at = truth.place(effect)?;
            truth.theta[at] = effect.value;
        }
        let named = people.effects.iter().any(|effect| effect.term == INTERCEPT);
        let adapted = model.design.constant().filter(|_| !named);
        match kernel {
            Kernel::Logit { .. } => {
                if let Some(constant) = adapted {
                    check_response(model, people)?;
                    truth.adapt_constants(constant, people)?;
                }
            }
            Kernel::Ordinal { .. } => {
                check_response(model, people)?;
                truth.adapt_thresholds(people);
            }
            Kernel::LeastSquares | Kernel::LogLinear { .. } if model.is_score() => {
                if let Some(constant) = adapted {
                    truth.adapt_mean(constant, people)?;
                }
            }
            Kernel::LogLinear { .. } if adapted.is_some() => {
                let message = format!(
                    "nothing is known of the mean of \"{}\"; specify the logarithm of its mean in the reference group, \
                     such as \"{INTERCEPT}=0.7\"",
                    model.response
                );
                return Err(RegressError::Effect(message));
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

    /// Adapts the intercept to the mean score.
    fn adapt_mean(&mut self, constant: usize, people: &Anticipated) -> Result<(), RegressError> {
        let mean: f64 = self.scores().iter().zip(&people.response).map(|(score, share)| score * share).sum();
        let indices = people.profiles.iter().map(|profile| (profile.share, self.indices(profile)[0]));
        self.theta[constant] = match self.kernel {
            Kernel::LogLinear { .. } if mean <= 0.0 => return Err(self.outside(mean)),
            Kernel::LogLinear { .. } => (mean / indices.map(|(share, eta)| share * eta.exp()).sum::<f64>()).ln(),
            _ => mean - indices.map(|(share, eta)| share * eta).sum::<f64>(),
        };
        Ok(())
    }

    /// Returns the score of each combination of items, with the first varying slowest.
    fn scores(&self) -> Vec<f64> {
        let with_item = |sums: Vec<f64>, values: &Numbers| -> Vec<f64> {
            let of = |sum: &f64| values.all().map(|value| sum + value.unwrap_or(0.0)).collect::<Vec<f64>>();
            sums.iter().flat_map(of).collect()
        };
        self.model.scores.iter().fold(vec![0.0], with_item)
    }

    fn outside(&self, mean: f64) -> RegressError {
        let name = &self.model.response;
        let message = format!("these shares and effects lead to a mean of {mean:.4} of \"{name}\" in some group");
        RegressError::Anticipated(message + ", which it cannot have; take smaller effects")
    }

    /// Returns the shares of the combinations of items in a group with this mean score, by exponential tilting of the
    /// shares in the population.
    fn tilted(&self, mean: f64, people: &Anticipated) -> Result<Vec<f64>, RegressError> {
        let scores = self.scores();
        let possible =
            || scores.iter().zip(&people.response).filter(|(_, share)| **share > 0.0).map(|(score, _)| *score);
        let (least, most) = (possible().fold(f64::MAX, f64::min), possible().fold(f64::MIN, f64::max));
        if !(least < mean && mean < most) {
            return Err(self.outside(mean));
        }
        let with = |slope: f64| -> Vec<f64> {
            // Relative to the end that it moves to.
            let end = if slope > 0.0 { most } else { least };
            let weight = |(score, share): (&f64, &f64)| match *share > 0.0 {
                true => share * (slope * (score - end)).exp(),
                false => 0.0,
            };
            let weights: Vec<f64> = scores.iter().zip(&people.response).map(weight).collect();
            let total: f64 = weights.iter().sum();
            weights.into_iter().map(|weight| weight / total).collect()
        };
        let reach = 700.0 / (most - least);
        let (mut low, mut high) = (-reach, reach);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let found: f64 = with(middle).iter().zip(&scores).map(|(share, score)| share * score).sum();
            if found < mean { low = middle } else { high = middle }
        }
        Ok(with(0.5 * (low + high)))
    }

    /// Returns the possible outcomes of a profile.
    fn outcomes(&self, profile: &Profile, people: &Anticipated) -> Result<Outcomes, RegressError> {
        let number = |(y, share): (f64, f64)| (Some(y), vec![share]);
        let index = self.indices(profile)[0];
        Ok(match self.kernel {
            Kernel::LeastSquares if self.model.is_score() => vec![(None, self.tilted(index, people)?)],
            Kernel::LogLinear { .. } if self.model.is_score() => vec![(None, self.tilted(index.exp(), people)?)],
            Kernel::LeastSquares => normal_points(RESIDUALS).into_iter().map(|(e, p)| number((index + e, p))).collect(),
            Kernel::LogLinear { scatter: false } => poisson(index.exp())?.into_iter().map(number).collect(),
            // Two counts with this mean and variance, which are all that matters.
            Kernel::LogLinear { scatter: true } => {
                let (mean, most) = (index.exp(), index.exp() + self.dispersion);
                [(0.0, self.dispersion / most), (most, mean / most)].map(number).to_vec()
            }
            Kernel::Logit { .. } | Kernel::Ordinal { .. } | Kernel::Normal => vec![(None, self.shares(profile))],
        })
    }

    /// Returns all possible answers of all profiles, with their shares.
    fn rows(&self, layout: &Layout, people: &Anticipated) -> Result<ModelRows, RegressError> {
        let outcomes = people.profiles.iter().map(|profile| self.outcomes(profile, people));
        let outcomes: Vec<Outcomes> = outcomes.collect::<Result<_, _>>()?;
        let answers = possible(&layout.answers, outcomes.iter().map(Vec::len).sum())?;
        let mut rows = ModelRows::new(layout.clone());
        let (sizes, first) = (layout.answers.shape.sizes(), self.model.hidden_responses());
        let (predictors, companions) = sizes[first..].split_at(sizes.len() - first - self.model.companions);
        let laws: usize = companions.iter().product();
        let companions = match people.companions.len() == laws {
            true => people.companions.clone(),
            false => vec![1.0 / laws as f64; laws],
        };
        let combinations: usize = predictors.iter().product();
        for (profile, outcomes) in people.profiles.iter().zip(outcomes) {
            let of_sizes = profile.randomized.iter().zip(predictors);
            let hidden = of_sizes.fold(0, |cell, (&code, size)| cell * size + usize::from(code));
            for (y, law) in outcomes {
                let numbers = [&profile.numbers[..], y.as_slice()].concat();
                for (record, factor, likelihood) in &answers {
                    let of_companions = |outcome: usize| -> f64 {
                        let own = &likelihood[(outcome * combinations + hidden) * laws..][..laws];
                        own.iter().zip(&companions).map(|(likelihood, share)| likelihood * share).sum()
                    };
                    let all: f64 = law.iter().enumerate().map(|(outcome, share)| share * of_companions(outcome)).sum();
                    if all > 0.0 {
                        rows.expect(record, &profile.public, &numbers, profile.share * factor * all);
                    }
                }
            }
        }
        Ok(rows)
    }
}

/// Returns the specified dispersion of a kept count, or 1.
fn dispersion(model: &Model, people: &Anticipated) -> Result<f64, RegressError> {
    let Some(effect) = people.effects.iter().find(|effect| effect.term == DISPERSION) else { return Ok(1.0) };
    match model.family == Family::QuasiPoisson && !model.is_score() {
        false => Err(RegressError::Effect(format!("{DISPERSION} is that of a kept count, by `family quasi-poisson`"))),
        true if effect.value > 0.0 => Ok(effect.value),
        true => Err(RegressError::Effect(format!("{DISPERSION} must be above 0, not {}", effect.value))),
    }
}

/// Returns the counts of a Poisson distribution with their shares.
fn poisson(mean: f64) -> Result<Vec<(f64, f64)>, RegressError> {
    if mean > MAX_MEAN {
        let message = format!("these effects lead to a mean count of {mean:.0}; the limit is {MAX_MEAN}");
        return Err(RegressError::Anticipated(message + ", take `family linear` or smaller effects"));
    }
    let (mut count, mut share, mut sum, mut all) = (0.0, (-mean).exp(), 0.0, Vec::new());
    while sum < ALL_COUNTS && (share > 0.0 || count < mean) {
        all.push((count, share));
        sum += share;
        count += 1.0;
        share *= mean / count;
    }
    Ok(all)
}

/// An answer, the factor from its likelihood to its probability, and its likelihood under every true combination.
type Told = (Vec<u16>, f64, Vec<f64>);

fn possible(answers: &Answers, kinds: usize) -> Result<Vec<Told>, RegressError> {
    let too_many = || {
        let message = "there are too many different answers and kinds of people to go through them all; leave \
                       randomized attributes out, or round numeric columns";
        RegressError::Anticipated(message.to_owned())
    };
    let all = answers.possible(MAX_ANSWERS.min(MAX_ROWS / kinds.max(1))).ok_or_else(too_many)?;
    let told = |(record, factor): (Vec<u16>, f64)| {
        let (likelihood, _) = answers.likelihood(&record);
        (record, factor, likelihood)
    };
    Ok(all.into_iter().map(told).collect())
}

fn check_response(model: &Model, people: &Anticipated) -> Result<(), RegressError> {
    match people.response.iter().position(|share| *share <= 0.0) {
        Some(code) => Err(RegressError::Anticipated(format!(
            "the expected share of the category \"{}\" of the outcome \"{}\" is 0",
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
