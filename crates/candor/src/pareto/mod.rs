//! Pareto fronts of privacy and error for one attribute and a known prior.

use std::fmt::Write;

use candor_design::DEFAULT_RESPONDENTS;
use candor_design::pareto::exact::{self, ExactPoint};
use candor_design::pareto::hypervolume::hypervolume;
use candor_design::pareto::loss::Loss;
use candor_design::pareto::measure::Measures;
use candor_design::pareto::outputs::with_outputs;
use candor_design::pareto::polish::Polished;
pub use candor_design::pareto::prior::Prior;
pub use candor_design::pareto::search::Search;
use candor_design::pareto::search::{Searched, search};
use candor_design::pareto::warner::{self, STEPS, WarnerPoint};
use candor_design::pareto::{FrontError, FrontProblem};
use candor_runtime::progress::{Cancelled, Deadline, Progress, ProgressSink, Stopped};
use serde::Serialize;

use crate::choice::Choice;
use crate::error::{StudyError, check_respondents};

#[cfg(feature = "plot")]
mod figure;
#[cfg(feature = "plot")]
pub use figure::front_plot;

/// Tolerance within which privacy levels are equal.
const TIE_TOLERANCE: f64 = 1e-12;

/// Maximum number of privacy levels.
const MAX_POINTS: usize = 10_000;

/// Fronts to compute in addition to the classical one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrontMethod {
    /// Exact and evolutionary fronts.
    #[default]
    All,
    /// Best channels with any number of outputs, with a proven lower bound.
    Exact,
    /// Evolutionary search of Huang and Du 2008 over square matrices, with local optimization.
    Evolve,
}

impl Choice for FrontMethod {
    const PARAMETER: &'static str = "method";
    const ALL: &'static [(&'static str, FrontMethod, &'static str)] = &[
        ("all", FrontMethod::All, "Exact and evolve"),
        (
            "exact",
            FrontMethod::Exact,
            "Best channels with any number \
                                                                                        of outputs, each with a proven \
                                                                                        lower bound",
        ),
        (
            "evolve",
            FrontMethod::Evolve,
            "Evolutionary search of the paper over square matrices, with local optimization",
        ),
    ];
}

/// Options of a Pareto front.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontOptions {
    /// Number of respondents.
    pub respondents: f64,
    /// Upper bound on posteriors (delta).
    pub posterior_bound: f64,
    /// Number of privacy levels, spread over the possible range.
    pub points: usize,
    /// Privacy levels to use instead.
    pub privacy: Option<Vec<f64>>,
    /// Fronts to compute.
    pub method: FrontMethod,
    /// Loss of a wrong guess; `None` if every wrong guess costs the same. Privacy is then the expected loss of the best
    /// guess as a share of the largest loss.
    pub loss: Option<Loss>,
    /// Maximum number of outputs of a channel; the result is heuristic, and its lower bound is for any number.
    pub outputs: Option<usize>,
    /// Parameters of the evolutionary search.
    pub search: Search,
    /// Time limit of the search in seconds;
    /// [`DEFAULT_TIME_LIMIT_SECS`](candor_runtime::progress::DEFAULT_TIME_LIMIT_SECS) if `None`.
    pub time_limit: Option<f64>,
}

impl FrontOptions {
    candor_runtime::options! {
        respondents: f64,
        posterior_bound: f64,
        points: usize,
        privacy: impl Into<Option<Vec<f64>>>,
        method: FrontMethod,
        loss: impl Into<Option<Loss>>,
        outputs: impl Into<Option<usize>>,
        search: Search,
        time_limit: impl Into<Option<f64>>,
    }
}

impl Default for FrontOptions {
    fn default() -> FrontOptions {
        FrontOptions {
            respondents: DEFAULT_RESPONDENTS,
            posterior_bound: 1.0,
            points: 50,
            privacy: None,
            method: FrontMethod::All,
            loss: None,
            outputs: None,
            search: Search::default(),
            time_limit: None,
        }
    }
}

/// Fronts of several methods. Smaller mean squared errors are better.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Fronts {
    /// Exact points; those of the evolutionary search if only that was run.
    pub points: Option<Vec<FrontPoint>>,
    /// Classical front.
    pub warner: Vec<ClassicalPoint>,
    /// Complete front of the evolutionary search.
    pub evolved: Option<Vec<FrontPoint>>,
    /// Hypervolume of `points`.
    pub hypervolume: Option<f64>,
    /// Hypervolume of the classical front.
    pub warner_hypervolume: f64,
    /// Hypervolume of the complete front of the search.
    pub evolved_hypervolume: Option<f64>,
    /// Prior probabilities of the categories that occur.
    pub prior: Vec<f64>,
    /// Upper bound on any posterior.
    pub posterior_bound: f64,
    /// Number of respondents for the mean squared errors.
    pub respondents: f64,
    /// Largest loss of a guess, if there is a loss: privacy times this is the expected loss of the best guess.
    pub largest_loss: Option<f64>,
    /// Whether the time limit was reached. All points are valid, but some may be missing or not optimal.
    pub out_of_time: bool,
    /// Whether the search was cancelled.
    pub interrupted: bool,
    /// All methods at each privacy level. Not in JSON.
    #[serde(skip)]
    pub rows: Vec<FrontRow>,
    /// Range of privacy levels on which channels differ. Not in JSON.
    #[serde(skip)]
    pub range: (f64, f64),
    /// Number of matrices that the evolutionary search evaluated. Not in JSON.
    #[serde(skip)]
    pub evaluations: Option<usize>,
}

/// A channel on a front.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FrontPoint {
    /// Probability that the best guess of the true value is wrong, or its expected loss as a share of the largest.
    pub privacy: f64,
    /// Mean squared error of the estimated shares, averaged over the categories.
    #[serde(flatten, serialize_with = "crate::old_keys::mse")]
    pub mse: f64,
    /// Lower bound for any channel; `None` for the evolutionary search.
    pub lower_bound: Option<f64>,
    /// Largest posterior of any category given any answer.
    pub worst_posterior: f64,
    /// Number of outputs.
    pub outputs: usize,
    /// Transition matrix as `columns[true value][answer]`. Not in JSON; see [`Fronts::matrices`].
    #[serde(skip)]
    pub columns: Vec<Vec<f64>>,
}

/// A classical scheme of Warner, UP or FRAPP.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassicalPoint {
    /// Probability that the best guess of the true value is wrong, or its expected loss as a share of the largest.
    pub privacy: f64,
    /// Mean squared error of the estimated shares, averaged over the categories.
    #[serde(flatten, serialize_with = "crate::old_keys::mse")]
    pub mse: f64,
}

/// Mean squared errors of all methods at one privacy level.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontRow {
    /// Privacy level.
    pub privacy: f64,
    /// Smallest error of a classical scheme that is at least as private.
    pub warner: Option<f64>,
    /// Smallest error of a matrix of the evolutionary search.
    pub evolved: Option<f64>,
    /// Error of the best channel.
    pub exact: Option<f64>,
    /// Lower bound for any channel.
    pub lower_bound: Option<f64>,
    /// Largest posterior of the exact channel, or of that of the evolutionary search.
    pub worst_posterior: Option<f64>,
    /// Number of outputs of the exact channel, or of that of the evolutionary search.
    pub outputs: Option<usize>,
}

/// Computes the fronts for a prior. `progress` receives finished points and generations.
///
/// If it cancels, the points found so far are returned.
///
/// # Errors
/// Returns [`StudyError`] if a parameter is out of range or a privacy level cannot be reached.
///
/// ```
/// use candor::pareto::FrontMethod;
/// use candor::prelude::*;
///
/// let prior = Prior::new(&[0.7, 0.2, 0.1])?;
/// let options = FrontOptions::default().method(FrontMethod::Exact).points(3);
/// let found = pareto(prior, &options, ProgressSink::none())?;
/// assert_eq!(found.points.unwrap().len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pareto(prior: Prior, options: &FrontOptions, progress: ProgressSink<'_>) -> Result<Fronts, StudyError> {
    check(options)?;
    let goal = FrontProblem::new(prior, options.posterior_bound)?;
    let goal = match &options.loss {
        Some(loss) => goal.with_loss(loss.clone(), None)?,
        None => goal,
    };
    let privacies = options.privacy.clone().unwrap_or_else(|| goal.spread(options.points));
    privacies.iter().try_for_each(|&privacy| goal.check_privacy(privacy))?;
    if options.method != FrontMethod::Exact {
        options.search.parameters.check(&goal)?;
    }
    let deadline = Deadline::start(options.time_limit, progress);
    let exact = match options.method {
        FrontMethod::Evolve => None,
        FrontMethod::All | FrontMethod::Exact => Some(best_channels(&goal, &privacies, options, deadline)?),
    };
    let searched = match options.method {
        FrontMethod::Exact => None,
        FrontMethod::All | FrontMethod::Evolve => {
            Some(search(&goal, &privacies, &options.search, options.respondents, deadline)?)
        }
    };
    let missing = exact.iter().flatten().any(Option::is_none);
    let stopped = searched.as_ref().and_then(|searched| searched.stopped).or(deadline.check(None).filter(|_| missing));
    let found = Found {
        respondents: options.respondents,
        warner: warner::front(&goal, STEPS),
        goal,
        privacies,
        exact,
        searched,
        stopped,
    };
    Ok(found.fronts())
}

fn check(options: &FrontOptions) -> Result<(), StudyError> {
    check_respondents(options.respondents)?;
    if options.outputs.is_some() && options.method == FrontMethod::Evolve {
        return Err(StudyError::InvalidParameter(
            "`outputs` cannot be used with `method evolve`, which searches square matrices",
        ));
    }
    if options.outputs.is_some() && options.loss.is_some() {
        return Err(StudyError::InvalidParameter("`outputs` cannot be used with `loss`; leave one of them out"));
    }
    if !(1..=MAX_POINTS).contains(&options.points) {
        return Err(StudyError::InvalidParameter("`points` must be a number from 1 to 10,000"));
    }
    Ok(())
}

/// Returns the best channels, with any or a limited number of outputs.
///
/// If time runs out, channels are `None` at some privacy levels, and the computed ones are spread over the range.
fn best_channels(
    goal: &FrontProblem,
    privacies: &[f64],
    options: &FrontOptions,
    deadline: Deadline<'_>,
) -> Result<Vec<Option<ExactPoint>>, FrontError> {
    // In bit-reversed order, which keeps halving the range.
    let mut order: Vec<usize> = (0..privacies.len()).collect();
    order.sort_by_key(|&i| (i as u64).reverse_bits());
    let asked: Vec<f64> = order.iter().map(|&i| privacies[i]).collect();
    let goes_on = |step: &Progress| deadline.report(step.clone().as_search()).is_none();
    let progress = ProgressSink::new(&goes_on);
    let found: Vec<Result<ExactPoint, FrontError>> = match options.outputs {
        None => exact::front(goal, &asked, progress),
        Some(outputs) => {
            let point = |(done, &privacy): (u64, &f64)| {
                progress.report(Progress::new("points", done, Some(asked.len() as u64)))?;
                with_outputs(goal, privacy, outputs, options.search.parameters.seed)
            };
            (0..).zip(&asked).map(point).collect()
        }
    };
    let mut points = vec![None; privacies.len()];
    for (place, found) in order.into_iter().zip(found) {
        points[place] = match found {
            Err(FrontError::Cancelled(Cancelled)) => None,
            found => Some(found?),
        };
    }
    Ok(points)
}

/// Computed fronts.
struct Found {
    goal: FrontProblem,
    respondents: f64,
    privacies: Vec<f64>,
    warner: Vec<WarnerPoint>,
    exact: Option<Vec<Option<ExactPoint>>>,
    searched: Option<Searched>,
    stopped: Option<Stopped>,
}

impl Found {
    fn mse(&self, measures: &Measures) -> f64 {
        measures.mse(self.respondents, self.goal.prior().len())
    }

    fn volume(&self, points: impl Iterator<Item = Measures>) -> f64 {
        hypervolume(points.map(|m| (m.privacy, self.mse(&m))))
    }

    /// Converts the variance of one respondent to the mean squared error of all.
    fn scaled(&self, variance: f64) -> f64 {
        variance / (self.respondents * self.goal.prior().len() as f64)
    }

    fn exact_point(&self, point: &ExactPoint) -> FrontPoint {
        FrontPoint {
            privacy: point.measures.privacy,
            mse: self.mse(&point.measures),
            lower_bound: Some(self.scaled(point.lower_bound)),
            worst_posterior: point.measures.worst_posterior,
            outputs: point.channel.outputs(),
            columns: point.channel.columns(self.goal.prior()),
        }
    }

    fn evolved_point(&self, found: &Polished) -> FrontPoint {
        FrontPoint {
            privacy: found.measures.privacy,
            mse: self.mse(&found.measures),
            lower_bound: None,
            worst_posterior: found.measures.worst_posterior,
            outputs: found.channel.outputs(),
            columns: found.channel.columns(self.goal.prior()),
        }
    }

    fn fronts(&self) -> Fronts {
        let evolved =
            |points: &mut dyn Iterator<Item = &Polished>| points.map(|found| self.evolved_point(found)).collect();
        let exact =
            self.exact.as_ref().map(|points| points.iter().flatten().map(|point| self.exact_point(point)).collect());
        let at = self.searched.as_ref().map(|searched| evolved(&mut searched.at.iter().flatten()));
        let exact_volume =
            self.exact.as_ref().map(|exact| self.volume(exact.iter().flatten().map(|point| point.measures)));
        let searched_volume =
            self.searched.as_ref().map(|searched| self.volume(searched.kept.iter().map(|found| found.measures)));
        let classical =
            |point: &WarnerPoint| ClassicalPoint { privacy: point.measures.privacy, mse: self.mse(&point.measures) };
        Fronts {
            points: exact.or(at),
            warner: self.warner.iter().map(classical).collect(),
            evolved: self.searched.as_ref().map(|searched| evolved(&mut searched.kept.iter())),
            hypervolume: exact_volume.or(searched_volume),
            warner_hypervolume: self.volume(self.warner.iter().map(|point| point.measures)),
            evolved_hypervolume: searched_volume,
            prior: self.goal.prior().shares().to_vec(),
            posterior_bound: self.goal.bound(),
            respondents: self.respondents,
            largest_loss: self.goal.largest_loss(),
            out_of_time: self.stopped == Some(Stopped::OutOfTime),
            interrupted: self.stopped == Some(Stopped::Interrupted),
            rows: (0..self.privacies.len()).map(|i| self.row(i)).collect(),
            range: self.goal.range(),
            evaluations: self.searched.as_ref().map(|searched| searched.evaluations),
        }
    }

    fn row(&self, i: usize) -> FrontRow {
        let privacy = self.privacies[i];
        let evolved = self.searched.as_ref().and_then(|searched| searched.at[i].as_ref()).map(|found| found.measures);
        let exact = self.exact.as_ref().and_then(|exact| exact[i].as_ref());
        let worst = exact.map(|point| point.measures.worst_posterior).or(evolved.map(|m| m.worst_posterior));
        let serving = self.warner.iter().filter(|point| point.measures.privacy >= privacy - TIE_TOLERANCE);
        FrontRow {
            privacy,
            warner: serving.map(|point| self.mse(&point.measures)).min_by(f64::total_cmp),
            evolved: evolved.map(|m| self.mse(&m)),
            exact: exact.map(|point| self.mse(&point.measures)),
            lower_bound: exact.map(|point| self.scaled(point.lower_bound)),
            worst_posterior: worst,
            outputs: exact.map(|point| point.channel.outputs()).or(evolved.map(|_| self.goal.prior().len())),
        }
    }
}

impl FrontPoint {
    /// Formats the transition matrix as CSV without labels: columns are true values, and rows are answers.
    fn csv(&self) -> String {
        let row = |z: usize| self.columns.iter().map(|column| column[z].to_string()).collect::<Vec<String>>().join(",");
        (0..self.outputs).map(|z| row(z) + "\n").collect()
    }
}

impl Fronts {
    /// Returns whether there are exact points.
    pub fn is_exact(&self) -> bool {
        self.rows.iter().any(|row| row.exact.is_some())
    }

    /// Returns the hypervolume of one column of the rows.
    pub fn row_hypervolume(&self, column: fn(&FrontRow) -> Option<f64>) -> f64 {
        hypervolume(self.rows.iter().filter_map(|row| Some((row.privacy, column(row)?))))
    }

    /// Returns the matrices of all points as file names and CSV, which `design --method matrix` reads.
    ///
    /// Exact points are `exact-001.csv` and so on, and those of the evolutionary search are `evolved-001.csv` and so
    /// on, both by increasing privacy. `index.csv` lists the privacy and mean squared error of each.
    pub fn matrices(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut index = "file,privacy,utility,worst_posterior\n".to_owned();
        let exact = self.points.as_ref().filter(|_| self.is_exact());
        for (kind, points) in [("exact", exact), ("evolved", self.evolved.as_ref())] {
            let mut points: Vec<&FrontPoint> = points.into_iter().flatten().collect();
            points.sort_by(|a, b| a.privacy.total_cmp(&b.privacy));
            for (number, point) in (1..).zip(points) {
                let name = format!("{kind}-{number:03}.csv");
                let _ = writeln!(index, "{name},{},{},{}", point.privacy, point.mse, point.worst_posterior);
                files.push((name, point.csv()));
            }
        }
        files.insert(0, ("index.csv".to_owned(), index));
        files
    }

    /// Returns whether a file has a name that [`Fronts::matrices`] gives to a matrix.
    pub fn is_matrix_file(name: &str) -> bool {
        let number = name.strip_prefix("exact-").or(name.strip_prefix("evolved-")).and_then(|n| n.strip_suffix(".csv"));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Returns the decimal logarithm of the number of square matrices whose entries are multiples of `1/steps`.
    ///
    /// A brute-force search tries them all: `binomial(steps + n - 1, steps)^n` for `n` categories (Huang and Du 2008,
    /// Fact 1).
    pub fn brute_force_log10(&self, steps: usize) -> f64 {
        let n = self.prior.len();
        n as f64 * (1..n).map(|i| ((steps + i) as f64 / i as f64).log10()).sum::<f64>()
    }

    /// Formats the rows as CSV.
    pub fn csv(&self) -> String {
        let mut text = "privacy,warner,evolved,exact,lower_bound,worst_posterior,outputs\n".to_owned();
        for row in &self.rows {
            let cells = [row.warner, row.evolved, row.exact, row.lower_bound, row.worst_posterior];
            let cells = cells.map(|x| x.map_or(String::new(), |x| x.to_string()));
            let outputs = row.outputs.map_or(String::new(), |n| n.to_string());
            let _ = writeln!(text, "{},{},{outputs}", row.privacy, cells.join(","));
        }
        text
    }
}
