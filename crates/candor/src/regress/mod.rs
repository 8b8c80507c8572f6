//! Fits regression models to randomized answers, with contrasts and predictions.

pub(crate) mod notes;
mod result;

use std::borrow::Cow;

use candor_analysis::condition::Condition;
use candor_analysis::estimate::Interval;
use candor_analysis::regress::{
    self, Fitting, Formula, Layout, Model, ModelOptions, ModelRows, regress_replicated_with_progress,
};
pub use candor_analysis::regress::{
    Assumption, Average, DegreesOfFreedom, EstimateKind, Family, Hausman, INTERCEPT, IgnoringOptions, JointTest,
    Method, Missing, Questions, Standardized, THRESHOLD, Test,
};
use candor_base::channel::Epsilon;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::input::{Input, Inputs};
use candor_tables::model::{model_rows, texts};

use self::notes::notes;
pub use self::result::{Coefficient, GroupRegression, Ignoring, Prediction, Regression};
use self::result::{coefficients, ignoring, modeled, predictions, rows_of, terms};
use crate::choice::Choice;
use crate::counts::{Provenance, public_attributes};
use crate::error::{StudyError, check_confidence};
use crate::sampling::SamplingDesign;

/// Options of a regression.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RegressOptions {
    /// Family of the model; by default that of the outcome in the schema.
    pub family: Option<Family>,
    /// Estimation method.
    ///
    /// By default it is maximum likelihood if only the outcome is randomized, and otherwise the corrected score.
    pub method: Option<Method>,
    /// Reference categories, by attribute; the first category by default.
    pub references: Vec<(String, String)>,
    /// Whether numeric predictors are standardized.
    pub standardize: bool,
    /// Confidence level of the intervals, above 0 and below 1.
    pub confidence: f64,
    /// Whether to include estimates that ignore the randomization.
    pub show_naive: bool,
    /// Model of noncompliance: the self-protective answer, and the true category to which it may be restricted.
    pub ignoring: Option<IgnoringOptions>,
    /// Treatment of people without an answer: left out, or a category of their own.
    pub missing: Missing,
    /// Subpopulation: a condition on public or randomized attributes.
    pub condition: Option<String>,
    /// Public attributes; the model is also fitted in each of their groups.
    pub by: Vec<String>,
    /// Degrees of freedom of tests with primary sampling units: those of each coefficient, or of the design.
    pub df: DegreesOfFreedom,
    /// Requested contrasts and predictions.
    pub questions: Questions,
}

impl RegressOptions {
    candor_runtime::options! {
        family: impl Into<Option<Family>>,
        method: impl Into<Option<Method>>,
        references: Vec<(String, String)>,
        standardize: bool,
        confidence: f64,
        show_naive: bool,
        ignoring: impl Into<Option<IgnoringOptions>>,
        missing: Missing,
        condition: impl Into<Option<String>>,
        by: Vec<String>,
        df: DegreesOfFreedom,
        questions: Questions,
    }
}

impl Default for RegressOptions {
    fn default() -> RegressOptions {
        let (family, method, references, missing) = (None, None, Vec::new(), Missing::LeaveOut);
        let (standardize, confidence, show_naive, ignoring) = (false, 0.95, false, None);
        let (df, questions, condition, by) = Default::default();
        RegressOptions {
            family,
            method,
            references,
            standardize,
            confidence,
            show_naive,
            ignoring,
            missing,
            condition,
            by,
            df,
            questions,
        }
    }
}

impl Choice for Family {
    const PARAMETER: &'static str = "family";
    const ALL: &'static [(&'static str, Family, &'static str)] = &[
        ("binary", Family::Binary, "Two categories: logistic regression"),
        ("multinomial", Family::Multinomial, "Several categories: multinomial logits against the reference"),
        ("ordinal", Family::Ordinal, "Ordered categories: proportional odds"),
        ("linear", Family::Linear, "Numeric kept column, or score of randomized attributes: linear regression"),
        ("poisson", Family::Poisson, "Count in a kept column whose variance is its mean: log-linear regression"),
        (
            "quasi-poisson",
            Family::QuasiPoisson,
            "Count with any variance, in a kept column or a score of randomized attributes: log-linear regression",
        ),
    ];
}

impl Choice for Method {
    const PARAMETER: &'static str = "method";
    const ALL: &'static [(&'static str, Method, &'static str)] = &[
        (
            "ml",
            Method::MaximumLikelihood,
            "Maximum likelihood; assumes a distribution of randomized predictors, \
                                             which is printed",
        ),
        (
            "jeffreys",
            Method::Jeffreys,
            "Maximum likelihood with the Jeffreys penalty; requires that only the outcome is randomized",
        ),
        ("corrected", Method::CorrectedScore, "Corrected score; assumes nothing about the predictors"),
    ];
}

impl Choice for Missing {
    const PARAMETER: &'static str = "missing";
    const ALL: &'static [(&'static str, Missing, &'static str)] = &[
        ("leave-out", Missing::LeaveOut, "Complete cases: leave out people with a missing value in the model"),
        ("category", Missing::Category, "As a category of its own; not for an ordinal outcome"),
    ];
}

/// Maximum number of predictions for given predictors; each is a fit of its own.
pub const MAX_PROFILES: usize = 1_000;

/// Reads predictors for predictions, with one column per predictor and one row per prediction.
///
/// # Errors
/// Returns [`TableError`] if the table cannot be read or has too many rows.
pub fn profiles(input: Input) -> Result<Vec<Vec<(String, String)>>, TableError> {
    let (file, names) = (input.name().to_owned(), input.header().to_vec());
    let refused = |message: String| Err(TableError::Shares { file: file.clone(), message });
    let mut all: Vec<Vec<(String, String)>> = Vec::new();
    for batch in input.batches(&names)? {
        let batch = batch?;
        let start = all.len();
        all.resize(start + batch.columns.num_rows(), Vec::new());
        if all.len() > MAX_PROFILES {
            return refused(format!("it has more than {MAX_PROFILES} profiles; give those that matter"));
        }
        for name in &names {
            let values = texts(&batch, name)?.into_iter();
            all[start..].iter_mut().zip(values).for_each(|(profile, value)| profile.push((name.clone(), value)));
        }
    }
    if all.is_empty() { refused("it has no profiles".to_owned()) } else { Ok(all) }
}

/// A model of the responses to a plan, for which they can be read.
#[derive(Clone, Debug)]
pub struct ModelQuery {
    text: String,
    model: Model,
    layout: Layout,
    /// Positions of the public grouping attributes.
    by: Vec<usize>,
}

impl ModelQuery {
    /// Returns the numeric columns that the model needs.
    pub fn numbers(&self) -> &[String] {
        self.model.numbers()
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// Parses a model, such as `Income ~ Education + age`, for responses to a plan.
///
/// # Errors
/// Returns [`StudyError`] if the formula is invalid, the options do not match it, or the model is not identifiable.
pub fn model(plan: &Plan, text: &str, options: &RegressOptions) -> Result<ModelQuery, StudyError> {
    check_confidence(options.confidence)?;
    let formula: Formula = text.parse()?;
    let RegressOptions { family, standardize, missing, .. } = *options;
    let (references, ignoring) = (options.references.clone(), options.ignoring.clone());
    let [known, domain] = subpopulation(plan.schema(), options.condition.as_deref())?;
    let asked = ModelOptions::default()
        .family(family)
        .references(references)
        .standardize(standardize)
        .ignoring(ignoring)
        .missing(missing)
        .domain(domain);
    let model = Model::new(plan, &formula, &asked)?;
    let by = groups(plan.schema(), &model, &options.by)?;
    let layout = Layout::new(plan, &model)?.with_groups(plan, &by);
    let layout = match known {
        Some(known) => layout.with_condition(plan, known),
        None => layout,
    };
    Ok(ModelQuery { text: text.to_owned(), model, layout, by })
}

/// Maximum number of groups in which a model is fitted.
const MAX_GROUPS: usize = 1_000;

/// Returns the grouping attributes.
///
/// They must be public and not in the model, because everybody in a group has the same category.
fn groups(schema: &Schema, model: &Model, names: &[String]) -> Result<Vec<usize>, StudyError> {
    let by = public_attributes(schema, names)?;
    let refused = |message: String| Err(StudyError::Refused(format!("`by`: {message}")));
    if let Some(&both) = by.iter().find(|at| model.public().contains(at) || model.response() == schema.name(**at)) {
        return refused(format!("\"{}\" is in the model, too; leave it out of one of them", schema.name(both)));
    }
    let count = by.iter().fold(1usize, |count, &at| count.saturating_mul(schema.size(at)));
    match count > MAX_GROUPS {
        true => refused(format!("they have {count} groups, more than the {MAX_GROUPS} that a model is fitted in")),
        false => Ok(by),
    }
}

/// Splits a condition into those on public and on randomized attributes.
fn subpopulation(schema: &Schema, text: Option<&str>) -> Result<[Option<Condition>; 2], StudyError> {
    let Some(text) = text else { return Ok([None, None]) };
    let condition = Condition::parse(text, schema).map_err(StudyError::Condition)?;
    condition.split(|at| schema.attributes()[at].is_public()).ok_or_else(|| {
        let message = "join conditions on public and on randomized attributes by \"and\"; otherwise it is unknown \
                       which answers count";
        StudyError::Refused(format!("`where`: {message}"))
    })
}

/// Responses as the model distinguishes them, with their sampling design.
#[derive(Clone, Debug)]
pub struct Rows {
    rows: ModelRows,
    provenance: Provenance,
    schema: Schema,
    survey: SamplingDesign,
    epsilon: Epsilon,
}

impl Rows {
    /// Reads responses from record batches or files.
    ///
    /// `progress` receives the number of records. Groups of the sampling design are ignored.
    ///
    /// # Errors
    /// Returns [`TableError`] if
    /// - a file was made with another plan or cannot be read,
    /// - a column is missing,
    /// - a value is neither a valid response nor a number,
    /// - `progress` cancels.
    pub fn read(
        plan: &Plan,
        inputs: Inputs,
        asked: &ModelQuery,
        survey: &SamplingDesign,
        progress: ProgressSink<'_>,
    ) -> Result<Rows, TableError> {
        let attributes: Vec<usize> = survey.margins().iter().map(|own| own.attribute).collect();
        let layout = asked.layout.clone().with_margins(plan, &attributes);
        let (rows, read) = model_rows(plan, inputs, &asked.model, &layout, survey.beside(), progress)?;
        let provenance = Provenance::new(&read);
        let epsilon = plan.guarantee().epsilon();
        Ok(Rows { rows, provenance, schema: plan.schema().clone(), survey: survey.clone(), epsilon })
    }

    /// Returns the responses, with weights raked to the benchmarks.
    fn weighed(&self) -> Result<Cow<'_, ModelRows>, StudyError> {
        if self.survey.margins().is_empty() {
            return Ok(Cow::Borrowed(&self.rows));
        }
        let mut rows = self.rows.clone();
        let shares: Vec<Vec<f64>> = self.survey.margins().iter().map(|own| own.shares.clone()).collect();
        rows.calibrate(&shares).map_err(|error| self.survey.not_calibrated(&self.schema, &error))?;
        Ok(Cow::Owned(rows))
    }

    /// Returns the origin of the responses.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}

/// Fits a model to the responses, and with `by` also in each group.
///
/// # Errors
/// Returns [`StudyError`] if the method does not apply to the model, predictors are collinear, there is no solution,
/// or no weights reproduce the benchmarks. A group without a fit is not an error; it contains the reason.
pub fn regress(rows: &Rows, asked: &ModelQuery, options: &RegressOptions) -> Result<Regression, StudyError> {
    regress_with_progress(rows, asked, options, ProgressSink::none())
}

/// Fits a model to the responses. `progress` receives the steps of the fit.
///
/// # Errors
/// Returns the errors of [`regress()`], or [`StudyError::Cancelled`] if `progress` cancels.
///
/// ```
/// use std::sync::Arc;
/// use std::time::{Duration, Instant};
///
/// use candor::arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, StringArray};
/// use candor::prelude::*;
/// use candor::regress::{Rows, model, regress_with_progress};
///
/// # let yes = |share: usize| (0..2000).map(move |i| if i % share == 0 { "yes" } else { "no" });
/// # let column = |values: Vec<&'static str>| Arc::new(StringArray::from(values)) as ArrayRef;
/// # let columns = [("smokes", column(yes(3).collect())), ("drinks", column(yes(2).collect()))];
/// # let people = RecordBatch::try_from_iter(columns)?;
/// # let people = RecordBatchIterator::new([Ok(people.clone())], people.schema());
/// # let schema = "[[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"yes\"]\n
/// #     [[attribute]]\nname = \"drinks\"\ncategories = [\"no\", \"yes\"]";
/// # let schema = Schema::from_toml(schema)?;
/// # let plan = design(&schema, &Independent::new(4.0).into(), &DesignOptions::default())?.plan;
/// # let people = Input::from_record_batches("people", people)?.into();
/// let responses = randomize_reader(&plan, people, &[], Source::from_os()?)?;
///
/// let options = RegressOptions::default();
/// let asked = model(&plan, "smokes ~ drinks", &options)?;
/// let inputs = Input::from_record_batches("responses", responses)?.into();
/// let everybody = SamplingDesign::new(plan.schema(), &SamplingOptions::default())?;
/// let rows = Rows::read(&plan, inputs, &asked, &everybody, ProgressSink::none())?;
///
/// let start = Instant::now();
/// let in_time = |_: &Progress| start.elapsed() < Duration::from_secs(60);
/// match regress_with_progress(&rows, &asked, &options, ProgressSink::new(&in_time)) {
///     Ok(found) => println!("{}: {:.2}", found.coefficients[1].term, found.coefficients[1].estimate),
///     Err(StudyError::Cancelled(_)) => println!("not within a minute"),
///     Err(error) => return Err(error.into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn regress_with_progress(
    rows: &Rows,
    asked: &ModelQuery,
    options: &RegressOptions,
    progress: ProgressSink<'_>,
) -> Result<Regression, StudyError> {
    check_confidence(options.confidence)?;
    check_df(options.df, &rows.survey)?;
    let weighed = rows.weighed()?;
    let found = one(rows, &weighed, asked, options, progress)?;
    if asked.by.is_empty() {
        return Ok(found);
    }
    let shape = rows.schema.shape(&asked.by);
    let group = |cell: usize| {
        let codes: Vec<u16> = shape.codes(cell).into_iter().map(|code| code as u16).collect();
        let name = |(&at, &code): (&usize, &u16)| {
            let attribute = &rows.schema.attributes()[at];
            (attribute.name().to_owned(), attribute.categories()[usize::from(code)].clone())
        };
        let (regression, reason) = match one(rows, &weighed.in_group(&codes), asked, options, progress) {
            Ok(found) => (Some(found), None),
            Err(StudyError::Cancelled(cancelled)) => return Err(StudyError::Cancelled(cancelled)),
            Err(error) => (None, Some(error.to_string())),
        };
        Ok(GroupRegression { group: asked.by.iter().zip(&codes).map(name).collect(), reason, regression })
    };
    Ok(Regression { groups: (0..shape.cells()).map(group).collect::<Result<_, StudyError>>()?, ..found })
}

/// Checks that the degrees of freedom of the design are requested for one with primary sampling units.
fn check_df(df: DegreesOfFreedom, survey: &SamplingDesign) -> Result<(), StudyError> {
    let without = survey.beside().clusters.is_none() && survey.replicates().is_none();
    match df == DegreesOfFreedom::Design && without {
        true => Err(StudyError::InvalidParameter("`df design` requires `psu`")),
        false => Ok(()),
    }
}

/// Fits the model in one group or for everybody.
fn one(
    rows: &Rows,
    own: &ModelRows,
    asked: &ModelQuery,
    options: &RegressOptions,
    progress: ProgressSink<'_>,
) -> Result<Regression, StudyError> {
    let found = fitted(rows, own, asked, options, progress)?;
    Ok(described(rows, own, asked, options, found))
}

/// Returns the test that p-values and limits come from.
fn test_of(all: &[regress::Coefficient]) -> regress::Test {
    all.iter().find(|one| one.p_value.is_some()).map_or(regress::Test::Score, |one| one.test)
}

/// Converts a fit to its serialized form.
fn described(
    rows: &Rows,
    own: &ModelRows,
    asked: &ModelQuery,
    options: &RegressOptions,
    found: regress::Regression,
) -> Regression {
    let (model, family) = (&asked.model, asked.model.family());
    let reach = Interval::Wald.reach(options.confidence, 1);
    let notes = notes(model, &found, options.confidence, options.show_naive);
    let both = [&found.coefficients, &found.contrasts];
    let [coefficients, contrasts] = both.map(|some| coefficients(&found, some, family));
    let (modeled, reference) = modeled(model);
    let predictions = predictions(&found, &options.questions, &modeled, family);
    let randomized: Vec<String> = model.hidden().iter().map(|&at| rows.schema.name(at).to_owned()).collect();
    let log_likelihood_of = if found.log_likelihood.is_some() { randomized.clone() } else { Vec::new() };
    let named = |(name, category): (&str, &str)| (name.to_owned(), category.to_owned());
    Regression {
        model: asked.text.clone(),
        response: asked.model.response().to_owned(),
        modeled,
        reference,
        randomized,
        epsilon: rows.epsilon.finite(),
        references: model.predictor_references().map(named).collect(),
        family,
        method: found.method,
        respondents: found.responses,
        people_modeled: found.modelled,
        left_out: asked.model.left_out().iter().map(|&at| rows.schema.name(at).to_owned()).collect(),
        subpopulation: options.condition.as_ref().map(|text| text.trim().to_owned()),
        rows: found.distinct,
        sampling_note: rows.survey.words_of_model(&rows.schema, own.replicates(), own.units()),
        test: test_of(&found.coefficients),
        confidence: options.confidence,
        converged: found.converged,
        boundary: found.boundary,
        log_likelihood: found.log_likelihood,
        log_likelihood_of,
        null_log_likelihood: found.null_log_likelihood,
        aic: found.aic,
        tjur_r2: found.tjur,
        residual_deviation: found.residual_deviation,
        dispersion: found.dispersion,
        assumption: found.assumption,
        hausman: found.hausman,
        ignoring: options.ignoring.as_ref().zip(found.ignoring).map(|(asked, share)| ignoring(asked, share, reach)),
        coefficients,
        terms: terms(&found),
        covariance: rows_of(&found),
        shares: found.shares,
        effects: found.effects,
        joint_tests: found.joint,
        contrasts,
        predictions,
        standardized: found.standardized,
        groups: Vec::new(),
        notes,
    }
}

fn fitted(
    rows: &Rows,
    own: &ModelRows,
    asked: &ModelQuery,
    options: &RegressOptions,
    progress: ProgressSink<'_>,
) -> Result<regress::Regression, StudyError> {
    let model = &asked.model;
    let RegressOptions { method, show_naive: naive, confidence, .. } = *options;
    let fitting = Fitting { method, naive, confidence, limits: true, lonely: rows.survey.lonely(), df: options.df };
    Ok(match rows.survey.replicates() {
        Some(how) => regress_replicated_with_progress(own, model, &options.questions, &fitting, how, progress)?,
        None => regress::regress_with_progress(own, model, &options.questions, &fitting, progress)?,
    })
}
