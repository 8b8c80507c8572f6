//! Plan and responses -> tests, shares, clusters, pages.

use std::collections::HashMap;

use candor::associations::{self, MeasuredAssociations, Protocol, associations};
use candor::counts::{CountOptions, Counts, Provenance};
use candor::effects::{self, EffectOptions, parse_effect};
use candor::estimate::EstimateOptions;
use candor::locale::{Language, OwnTexts};
use candor::power::{Alternative, PowerOptions, powers};
use candor::query::{QueryOptions, ShareQuery, query_groups_with_progress, query_with_progress};
use candor::regress::{self, RegressOptions, Rows};
use candor::report::{self, ReportOptions};
use candor::sample_size::{SampleSizeOptions, sample_size};
use candor::scan::{self, Adjust, ScanTarget};
use candor::shares::Shares;
use candor::test;
use candor_analysis::association::{Limits, Measure, Parties};
use candor_analysis::estimate::Interval;
use candor_base::randomness::Source;
use candor_tables::distinct::distinct_responses;
use candor_tables::true_records::Records;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::Serialize;

use super::json;
use super::randomize::randomness;
use crate::counts::{Responses, notes};
use crate::errors::{Failure, parameter};
use crate::options::{Options, list};
use crate::plan::{Plan, Schema};
use crate::source::{inputs, missing, one_input};
use crate::survey::{AskedWords, SurveyWords};
use crate::work::run;

/// A result, and what should be known of the responses it is from.
type Told = (String, Vec<String>);

/// Whether two attributes are independent.
#[pyfunction]
pub fn test_independence(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Told> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let asked: String = options.or("independence", String::new())?;
    let pair = test::one_pair(&list(&asked, plan.0.schema(), "independence")?).map_err(Failure::from)?;
    let confidence = options.or("confidence", EstimateOptions::default().confidence)?;
    let survey = SurveyWords::take(&mut options, Some("where"))?;
    options.finish()?;
    run(py, progress, |progress| {
        let tables = test::tables(plan.0.schema(), pair)?;
        let counts = survey.counts(&plan.0, responses, &tables, false, progress)?;
        let found = match counts.by().is_empty() {
            true => json(&test::test_with_progress(&plan.0, &counts, pair, confidence, progress)?),
            false => json(&groups(&test::test_groups_with_progress(&plan.0, &counts, pair, confidence, progress)?)),
        };
        Ok((found, notes(&counts)))
    })
}

/// One outcome against every other attribute.
#[pyfunction]
pub fn scan_attributes(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Told> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let (outcome, crossed): (Option<String>, bool) = (options.take("with")?, options.or("crossed", false)?);
    let target = match (&outcome, crossed) {
        (Some(outcome), false) => ScanTarget::With(outcome),
        (None, true) => ScanTarget::Crossed,
        _ => return Err(parameter("a scan needs either `with_`, the outcome, or `crossed`").into()),
    };
    let adjust = options.choice(Adjust::default())?;
    let top = options.or("top", 10)?;
    let survey = SurveyWords::take(&mut options, Some("where"))?;
    options.finish()?;
    run(py, progress, |progress| {
        let tables = scan::tables(plan.0.schema(), target)?;
        let counts = survey.counts(&plan.0, responses, &tables, false, progress)?;
        Ok((json(&scan::scan_with_progress(&plan.0, &counts, target, adjust, top, progress)?), notes(&counts)))
    })
}

/// Results of several groups, as the command writes them.
fn groups<T: Serialize>(groups: &[T]) -> HashMap<&'static str, &[T]> {
    HashMap::from([("groups", groups)])
}

/// For which share a condition holds: the answers, what should be known of them, and what the methods assume.
#[pyfunction]
pub fn query_share(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    condition: &str,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>, Option<String>)> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let default = QueryOptions::default();
    let asked = QueryOptions::default()
        .methods(options.choice(default.methods)?)
        .confidence(options.or("confidence", default.confidence)?)
        .target(options.choice(default.target)?)
        .given(options.take("given")?)
        .mean(options.take("mean")?)
        .values(options.take("scores")?)
        .compare(options.take("compare_groups")?);
    let survey = SurveyWords::take(&mut options, None)?;
    options.finish()?;
    if survey.survey(plan.0.schema())?.has_design() {
        let how = EstimateOptions::default().target(asked.target);
        how.check_design().map_err(Failure::from)?;
    }
    let mut question = ShareQuery::new(&plan.0, condition, asked).map_err(Failure::from)?;
    if !survey.is_plain() || !matches!(responses, Responses::Read(_)) {
        question = question.of_survey().map_err(Failure::from)?;
    }
    let (answers, told) = run(py, progress, |progress| {
        let tables = question.tables()?;
        if question.needs_records() {
            let (records, read) = distinct_responses(&plan.0, responses.inputs()?, progress)?;
            let groups = [(Vec::new(), records.tallies(&plan.0, &tables))].into();
            let counts = Counts::new(&plan.0, &[], groups, read.responses)?;
            let told = Provenance::new(&read).notes(str::to_owned);
            return Ok((json(&query_with_progress(&counts, Some(&records), &question, progress)?), told));
        }
        let counts = survey.counts(&plan.0, responses, &tables, false, progress)?;
        let found = match counts.by().is_empty() {
            true => json(&query_with_progress(&counts, None, &question, progress)?),
            false => json(&groups(&query_groups_with_progress(&counts, &question, progress)?)),
        };
        Ok((found, notes(&counts)))
    })?;
    Ok((answers, told, question.note()))
}

/// Which attributes of true records belong together: the clusters, how dependences were learned, and what should be
/// known.
#[pyfunction]
pub fn cluster_records(
    py: Python<'_>,
    schema: &Schema,
    given: &Bound<'_, PyList>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let inputs = inputs(given, options.take("delimiter")?)?.with_missing(&missing(&mut options)?);
    let protocol = options.choice(Protocol::Truth)?;
    let (measure, limits) = (measure(&mut options)?, limits(&mut options)?);
    let collectors: Option<u32> = options.take("collectors")?;
    let epsilon: Option<f64> = options.take("epsilon")?;
    let drawn = !matches!(protocol, Protocol::Truth | Protocol::Attribute);
    let source = if drawn { Some(randomness(&mut options)?) } else { None };
    options.finish()?;
    check(protocol, epsilon)?;
    let schema = &schema.0;
    let learned = run(py, progress, |progress| {
        let records = Records { schema, inputs };
        let Some(source) = &source else {
            let counted = records.count(&associations::pair_tables(schema)?, progress)?;
            return Ok(associations::from_truth(schema, &counted, measure)?);
        };
        let columns = records.read()?;
        let parties = Parties { schema, columns: &columns, collectors: collectors.unwrap_or(COLLECTORS) };
        Ok(associations::from_parties(&parties, epsilon, measure, source)?)
    })?;
    clustered(schema, &learned, limits, source.as_ref().and_then(Source::seed))
}

/// How many parties collect shares, unless it is said: as the command has it.
const COLLECTORS: u32 = 3;

fn check(protocol: Protocol, epsilon: Option<f64>) -> Result<(), Failure> {
    match (protocol, epsilon) {
        (Protocol::Attribute, _) => Err(parameter("`protocol attribute` learns from responses: `Plan.cluster`")),
        (Protocol::RandomizedPairs, None) => Err(parameter(
            "`protocol randomized-pairs` needs `epsilon`: what all answers of a record may spend together",
        )),
        (Protocol::Truth | Protocol::SecureSum, Some(_)) => Err(parameter(
            "`epsilon` goes with `protocol randomized-pairs`: what all answers of a record may spend together",
        )),
        _ => Ok(()),
    }
}

/// Which attributes belong together, from responses.
#[pyfunction]
pub fn cluster_responses(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let (measure, limits) = (measure(&mut options)?, limits(&mut options)?);
    let attenuated = options.or("uncorrected", false)?;
    options.finish()?;
    let (learned, mut told) = run(py, progress, |progress| {
        let tables = associations::response_tables(plan.0.schema())?;
        let counts = responses.counts(&plan.0, &tables, CountOptions::default(), progress)?;
        Ok((associations::from_responses(&plan.0, &counts, measure, attenuated)?, notes(&counts)))
    })?;
    let (clusters, summary, more) = clustered(plan.0.schema(), &learned, limits, None)?;
    told.extend(more);
    Ok((clusters, summary, told))
}

/// How pairs are measured; `None` as suits each.
pub(super) fn measure(options: &mut Options) -> Result<Option<Measure>, Failure> {
    options.choice(None)
}

pub(super) fn limits(options: &mut Options) -> Result<Limits, Failure> {
    let default = Limits::default();
    Ok(Limits::default()
        .cells(options.or("max_cells", default.cells)?)
        .dependence(options.or("min_dependence", default.dependence)?))
}

fn clustered(
    schema: &candor_base::schema::Schema,
    learned: &MeasuredAssociations,
    limits: Limits,
    seed: Option<u64>,
) -> PyResult<(String, String, Vec<String>)> {
    let mut clusters = associations(schema, learned, limits).map_err(Failure::from)?;
    clusters.simulation = seed;
    let sentences = [learned.disclosure().map(str::to_owned), learned.cost()].into_iter().flatten();
    let summary = [learned.summary()].into_iter().chain(sentences).collect::<Vec<_>>().join("\n");
    Ok((json(&clusters), summary, learned.notes.clone()))
}

/// One page that can be published: what is on it, the page, and what should be known of the responses. Waves are
/// earlier responses with a name, each to a plan of its own, if one is given.
#[pyfunction]
pub fn report_page(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    waves: Vec<(String, Bound<'_, PyAny>, Option<Py<Plan>>)>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let delimiter: Option<String> = options.take("delimiter")?;
    let (counted, unmarked) = (options.or("counted", false)?, options.or("unmarked", false)?);
    let models: Vec<String> = options.or("model", Vec::new())?;
    if counted && !models.is_empty() {
        return Err(parameter("`model` takes the responses themselves, not their counts").into());
    }
    // Each model reads them again.
    let read = |_: &String| Ok(Responses::separated(given, delimiter.clone())?.vouched(unmarked).inputs()?);
    let again = models.iter().map(read).collect::<PyResult<Vec<_>>>()?;
    let earlier = |(name, given, other): (String, Bound<'_, PyAny>, Option<Py<Plan>>)| {
        let other = other.map_or(plan.0.clone(), |other| other.get().0.clone());
        Ok((name, Responses::separated(&given, delimiter.clone())?.vouched(unmarked), other))
    };
    let waves = waves.into_iter().map(earlier).collect::<PyResult<Vec<_>>>()?;
    let responses = match Responses::separated(given, delimiter)?.vouched(unmarked) {
        Responses::Read(inputs) if counted => Responses::Elsewhere(inputs),
        responses => responses,
    };
    let words = AskedWords::take(&mut options)?;
    let (asked, wanted) = words.read(plan.0.schema())?;
    let survey = SurveyWords::take(&mut options, Some("where"))?;
    let mut about = ReportOptions::default();
    about.confidence = options.or("confidence", about.confidence)?;
    about.standard = options.choice(about.standard)?;
    about.estimates().check().map_err(Failure::from)?;
    about.title = options.take("title")?;
    about.wave = options.take("wave")?;
    let (language, texts): (Option<String>, Option<String>) = (options.take("language")?, options.take("texts")?);
    options.finish()?;
    run(py, progress, |progress| {
        let own = texts.as_deref().map(OwnTexts::parse).transpose()?;
        about.language = Language::new(language.as_deref(), own.as_ref(), plan.0.schema())?;
        let tables = report::tables(&plan.0, &asked, &wanted)?;
        let counts = survey.counts(&plan.0, responses, &tables, false, progress)?;
        let (confidence, condition) = (about.confidence, survey.condition());
        let fitting = RegressOptions::default().confidence(confidence).condition(condition);
        let drawn = survey.survey(plan.0.schema())?;
        for (model, inputs) in models.iter().zip(again) {
            let asked = regress::model(&plan.0, model, &fitting)?;
            let rows = Rows::read(&plan.0, inputs, &asked, &drawn, progress)?;
            about.regressions.push(regress::regress_with_progress(&rows, &asked, &fitting, progress)?);
        }
        let mut told = notes(&counts);
        for (name, responses, other) in waves {
            let (asked, _) = words.read(other.schema())?;
            let counts = survey.counts(&other, responses, asked.counted(), false, progress)?;
            told.extend(notes(&counts));
            about.waves.push(report::WaveEstimates::new(&name, &other, &counts, &asked, &about.estimates())?);
        }
        let report = report::report(&plan.0, &counts, &asked, &wanted, &about, progress)?;
        Ok((json(&report), report.page.html(), told))
    })
}

/// How many respondents a margin of error takes; or, without a margin, a coefficient of a model, a difference or people
/// who ignore their device.
#[pyfunction]
pub fn size_of(plan: &Plan, shares: Option<&Bound<'_, PyList>>, options: &str) -> PyResult<String> {
    let mut options = Options::read(options)?;
    if let Some(model) = options.take::<String>("model")? {
        return effects_of(plan, &model, shares, options);
    }
    let Some(margin) = options.take("margin")? else {
        if shares.is_some() {
            return Err(parameter("`expected_shares` goes with `margin` or `model`").into());
        }
        return power_of(plan, options);
    };
    let tables = options.tables(plan.0.schema(), "marginals")?;
    let confidence = options.or("confidence", EstimateOptions::default().confidence)?;
    let simultaneous = options.or("simultaneous", false)?;
    options.finish()?;
    let interval = if simultaneous { Interval::Simultaneous } else { Interval::Wald };
    let read = |table| Shares::read(plan.0.schema(), one_input(table, None)?, &[]).map_err(Failure::from);
    let expected = shares.map(read).transpose()?;
    let asked = SampleSizeOptions::new(margin).confidence(confidence).interval(interval).expected(expected);
    Ok(json(&sample_size(&plan.0, &tables, &asked).map_err(Failure::from)?))
}

fn effects_of(plan: &Plan, model: &str, shares: Option<&Bound<'_, PyList>>, mut options: Options) -> PyResult<String> {
    let fitting = RegressOptions::default().family(options.chosen()?).references(options.or("reference", Vec::new())?);
    let texts: Vec<String> = options.or("effect", Vec::new())?;
    let default = EffectOptions::default();
    let (alpha, power) = (options.or("alpha", default.alpha)?, options.or("power", default.power)?);
    let (respondents, numbers) = (options.take("respondents")?, options.or("numeric_columns", Vec::new())?);
    options.finish()?;
    let effects = texts.iter().map(|text| parse_effect(text)).collect::<Result<_, _>>().map_err(Failure::from)?;
    let asked = effects::model(&plan.0, model, fitting).map_err(Failure::from)?;
    let shares = match shares {
        Some(table) => {
            Shares::read(plan.0.schema(), one_input(table, None)?, asked.numbers()).map_err(Failure::from)?
        }
        None => Shares::uniform(),
    };
    let options = default.effects(effects).numbers(numbers).alpha(alpha).power(power).respondents(respondents);
    Ok(json(&effects::effects(&plan.0, &asked, &shares, &options).map_err(Failure::from)?))
}

fn power_of(plan: &Plan, mut options: Options) -> PyResult<String> {
    let (detect, null): (Vec<f64>, Option<f64>) =
        (options.or("detect_difference", Vec::new())?, options.take("null_share")?);
    let noncompliance = options.take("noncompliance")?;
    if detect.is_empty() && null.is_none() && noncompliance.is_none() {
        return Err(parameter("this needs `margin`, `detect_difference`, `noncompliance` or `model`").into());
    }
    let finding = Alternative::new(&detect, null, noncompliance).map_err(Failure::from)?;
    let default = PowerOptions::new(finding);
    let (alpha, power) = (options.or("alpha", default.alpha)?, options.or("power", default.power)?);
    let respondents = options.take("respondents")?;
    options.finish()?;
    let options = default.alpha(alpha).power(power).respondents(respondents);
    Ok(json(&powers(&plan.0, &options).map_err(Failure::from)?))
}
