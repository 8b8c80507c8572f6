//! The report: results and guarantees of a study, on one page for publication.

mod title;
mod warnings;

mod cross_table;

mod headline;

mod results;

pub mod points;

mod associations;

mod guarantee;

mod wave;

use std::collections::BTreeSet;

use candor_analysis::association::{Measure, estimated};
use candor_analysis::estimate::{Options, test_independence};
use candor_analysis::reliability::Standard;
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_runtime::progress::{Cancelled, ProgressSink, Steps};
use candor_tables::estimates::{Layout, estimates_csv};
use serde::Serialize;

pub use self::associations::PairDependence;
use self::associations::{what_depends_on_what, what_predicts};
use self::guarantee::{epsilon, what_is_guaranteed, what_was_asked};
use self::points::main_points;
use self::results::what_was_found;
pub use self::warnings::file_name;
use self::warnings::warnings;
pub use self::wave::WaveEstimates;
use self::wave::{changes, what_changed};
use crate::counts::Counts;
use crate::error::StudyError;
use crate::estimate::{EstimateOptions, Estimates, estimate_query_with_progress};
use crate::group_comparison::GroupComparison;
use crate::guarantee::{CertifiedAttribute, certified};
use crate::html_escape::{isolated, unmarked};
use crate::locale::{FACTS, Language, NOTES};
use crate::moments::MomentQuery;
use crate::page::{Page, Part};
use crate::query_spec::TableQuery;
use crate::regress::Regression;
use crate::rows::rows;
use crate::verdict::{by_luck, most_told, of_hundred, points};

/// Maximum number of attributes whose associations are shown.
const MAX_ATTRIBUTES: usize = 20;

/// Maximum number of cells of a pair whose association is computed; more would take too long.
const MAX_PAIR_CELLS: usize = 600;

/// Options of a report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReportOptions {
    /// Confidence level of the intervals, above 0 and below 1.
    pub confidence: f64,
    /// Standard that decides whether a share may be published.
    pub standard: Standard,
    /// Title of the page; `None` for the default of the language.
    pub title: Option<String>,
    /// Commands that reproduce the report, if any.
    pub commands: Vec<String>,
    /// Regressions to show.
    pub regressions: Vec<Regression>,
    /// Language, with question wording and category labels.
    pub language: Language,
    /// Earlier waves, oldest first.
    pub waves: Vec<WaveEstimates>,
    /// Name of the current wave; `None` for the default of the language.
    pub wave: Option<String>,
}

impl ReportOptions {
    candor_runtime::options! {
        confidence: f64,
        standard: Standard,
        title: impl Into<Option<String>>,
        commands: Vec<String>,
        regressions: Vec<Regression>,
        language: Language,
        waves: Vec<WaveEstimates>,
        wave: impl Into<Option<String>>,
    }
}

impl ReportOptions {
    /// Returns the options for estimating its tables.
    pub fn estimates(&self) -> EstimateOptions {
        EstimateOptions::default().confidence(self.confidence).standard(self.standard)
    }
}

impl Default for ReportOptions {
    fn default() -> ReportOptions {
        ReportOptions {
            confidence: EstimateOptions::default().confidence,
            standard: Standard::default(),
            title: None,
            commands: Vec::new(),
            regressions: Vec::new(),
            language: Language::default(),
            waves: Vec::new(),
            wave: None,
        }
    }
}

/// Results, guarantees and warnings of a study.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Number of responses.
    pub respondents: u64,
    /// Record-level epsilon; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Certified epsilons of each randomized attribute.
    pub attributes: Vec<CertifiedAttribute>,
    /// Warnings that must not be overlooked, in sentences.
    pub warnings: Vec<String>,
    /// Estimated tables.
    pub estimates: Estimates,
    /// Associations of attributes, as far as they can be estimated.
    pub dependences: Vec<PairDependence>,
    /// Requested regressions.
    pub regressions: Vec<Regression>,
    /// Earlier waves, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waves: Vec<WaveEstimates>,
    /// Change of each table since the first wave.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<GroupComparison>,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// The page. Not in JSON.
    #[serde(skip)]
    pub page: Page,
}

/// Returns the tables that a report needs: the requested ones, then those for associations.
///
/// # Errors
/// Returns [`StudyError::Tables`] if they are too large together.
pub fn tables(plan: &Plan, asked: &TableQuery, wanted: &MomentQuery) -> Result<TableList, StudyError> {
    let schema = plan.schema();
    let private = schema.randomized();
    let pairs = pairs(plan);
    let shown: Vec<Vec<usize>> = asked.counted().lists().iter().cloned().chain(wanted.tables()).collect();
    let crossed = shown.iter().filter(|table| table.len() == 2).chain(&pairs).flatten();
    let alone: BTreeSet<usize> = private.into_iter().chain(crossed.copied()).collect();
    let margins = alone.into_iter().map(|attribute| vec![attribute]);
    let lists = shown.iter().cloned().chain(margins).chain(pairs.iter().cloned()).collect();
    TableList::new(lists, schema).map_err(|error| StudyError::Tables { parameter: "tables", error })
}

/// Returns the pairs whose association is shown: of all attributes, or of the randomized ones if there are too
/// many.
fn pairs(plan: &Plan) -> Vec<Vec<usize>> {
    let attributes = depending(plan);
    let size = |attribute: usize| plan.schema().size(attribute);
    let all = attributes.iter().enumerate().flat_map(|(i, &a)| attributes[..i].iter().map(move |&b| vec![b, a]));
    all.filter(|pair| size(pair[0]) * size(pair[1]) <= MAX_PAIR_CELLS).collect()
}

/// Returns the attributes whose associations are shown.
fn depending(plan: &Plan) -> Vec<usize> {
    let (all, private) = ((0..plan.schema().attributes().len()).collect::<Vec<usize>>(), plan.schema().randomized());
    let few = |attributes: &Vec<usize>| attributes.len() <= MAX_ATTRIBUTES;
    [all, private].into_iter().find(few).unwrap_or_default()
}

/// Creates a report on the requested tables and numbers in every group, from the counts of its [`tables`].
///
/// Associations are computed over all groups. `progress` receives the steps.
///
/// ```
/// # use candor::prelude::*;
/// # let schema = Schema::with_sizes(&[2, 2])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// # // A third of 900 people have category 1 of both attributes.
/// # let records = vec![(0..900).map(|i| u16::from(i % 3 == 0)).collect::<Vec<u16>>(); 2];
/// # let responses = Randomizer::new(&plan).batch(&records, &mut Source::from_seed(1).stream(0))?;
/// use candor::report::{report, tables};
///
/// let asked = TableQuery::parse("a1;a1 | a2", &schema, false, None)?;
/// let lists = tables(&plan, &asked, &MomentQuery::default())?;
/// let counts = Counts::from_codes(&plan, &answer_codes(&plan, &responses), &lists, &[])?;
/// let options = ReportOptions::default();
/// let found = report(&plan, &counts, &asked, &MomentQuery::default(), &options, ProgressSink::none())?;
/// assert!(found.page.html().contains("<html"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`StudyError`] if a table was not counted, the confidence level is invalid, a wave has other tables, the
/// language has no texts of the report, or `progress` cancels.
pub fn report(
    plan: &Plan,
    counts: &Counts,
    asked: &TableQuery,
    wanted: &MomentQuery,
    options: &ReportOptions,
    progress: ProgressSink<'_>,
) -> Result<Report, StudyError> {
    let language = &options.language;
    language.check_report()?;
    let missing = || StudyError::Counts("the tables of a report must be counted");
    let estimates = estimate_query_with_progress(plan, counts, asked, wanted, &options.estimates(), progress)?;
    let called = options.wave.clone().unwrap_or_else(|| language.report("now", &[]));
    let changes = changes(&estimates, &called, &options.waves)?;
    let mut warnings = warnings(plan, counts, &estimates, language);
    warnings.extend(options.waves.iter().flat_map(|wave| wave.warnings(language)));
    let dependences = dependences(plan, &counts.everybody(), progress)?.ok_or_else(missing)?;
    let mut parts = warned(&warnings, language);
    let found = what_was_found(plan, counts, &estimates, language);
    parts.extend(main_points(&estimates, &found, language)?);
    parts.extend(key_facts(plan, counts, &found, language));
    parts.extend(found);
    parts.extend(download(plan, &estimates, language));
    parts.extend(what_changed(&estimates, &called, &options.waves, &changes, language));
    let names = depending(plan).into_iter().map(|a| plan.schema().name(a).to_owned());
    let names: Vec<String> = names.filter(|name| dependences.iter().any(|pair| pair.is_of(name))).collect();
    parts.extend(what_depends_on_what(&names, &dependences, language));
    parts.extend(options.regressions.iter().flat_map(|found| what_predicts(found, language)));
    parts.extend(notes(language));
    parts.extend(about_the_survey(plan, counts, language));
    parts.extend(what_was_asked(plan, language));
    parts.extend(what_is_guaranteed(plan, counts.responses(), language));
    let title = options.title.clone().unwrap_or_else(|| language.report("title", &[]));
    parts.extend(how_to_repeat(plan, counts, &title, options));
    Ok(Report {
        respondents: counts.responses(),
        epsilon: plan.guarantee().epsilon().finite(),
        attributes: certified(plan),
        warnings: warnings.iter().map(|warning| unmarked(warning)).collect(),
        estimates,
        dependences,
        regressions: options.regressions.clone(),
        waves: options.waves.clone(),
        changes,
        fingerprint: plan.fingerprint().as_str().to_owned(),
        page: Page::new(title, parts, language.clone()),
    })
}

/// Estimates the association of every identifiable pair; `None` if a table is missing.
fn dependences(
    plan: &Plan,
    counts: &Counts,
    progress: ProgressSink<'_>,
) -> Result<Option<Vec<PairDependence>>, Cancelled> {
    let (mut found, pairs) = (Vec::new(), pairs(plan));
    let steps = Steps::new("pairs", Some(pairs.len() as u64), progress);
    for pair in pairs {
        steps.ask()?;
        // Pairs with a public attribute are included if they were counted.
        let public = pair.iter().any(|&attribute| plan.schema().attributes()[attribute].is_public());
        let counted = || Some((counts.table(&pair)?, [counts.table(&pair[..1])?, counts.table(&pair[1..])?]));
        let Some((both, margins)) = counted() else {
            if public {
                continue;
            }
            return Ok(None);
        };
        let Ok(dependence) = estimated(plan, margins, both, Measure::CramersV) else { continue };
        let test = test_independence(plan, both, Options::default().confidence).ok();
        found.push(PairDependence {
            a: plan.schema().name(pair[0]).to_owned(),
            b: plan.schema().name(pair[1]).to_owned(),
            cramers_v: dependence.value,
            standard_error: dependence.standard_error,
            p_value: test.map(|test| test.corrected.p_value),
        });
    }
    Ok(Some(found))
}

fn warned(warnings: &[String], language: &Language) -> Vec<Part> {
    match warnings.is_empty() {
        true => Vec::new(),
        false => vec![Part::Heading(language.report("read_first", &[])), Part::Warnings(warnings.to_vec())],
    }
}

/// Renders the number of respondents, the protection, and the median margin of error of the results shown.
fn key_facts(plan: &Plan, counts: &Counts, found: &[Part], language: &Language) -> Vec<Part> {
    let say = |name: &str| language.report(name, &[]);
    let responses = language.whole(counts.responses());
    let people = match counts.effective() {
        Some(effective) => {
            let words = [("n", responses.as_str()), ("effective", &language.whole(effective.round() as u64))];
            language.report("effective", &words)
        }
        None => responses,
    };
    let mut facts = vec![(say("respondents"), people)];
    facts.extend(most_told(plan).map(|worst| {
        let [most, mean] = [worst.worst_posterior, worst.guess_probability].map(of_hundred);
        let luck = by_luck(1.0 / worst.categories as f64);
        let words = [("worst", most.as_str()), ("average", &mean), ("luck", &luck), ("name", &isolated(&worst.name))];
        (say("protection"), language.report("protection_text", &words))
    }));
    let mut margins: Vec<f64> = found.iter().flat_map(Part::margins).collect();
    margins.sort_by(f64::total_cmp);
    facts.extend(margins.get(margins.len() / 2).zip(margins.last()).map(|(margin, largest)| {
        let [margin, largest] = [margin, largest].map(|margin| language.decimal(&points(*margin)));
        let text = if margin == largest { "points" } else { "points_to" };
        (say("typical_margin"), language.report(text, &[("margin", &margin), ("largest", &largest)]))
    }));
    facts.extend(language.fact("dates").map(|dates| (say("survey_dates"), dates.to_owned())));
    vec![Part::Heading(say("key_facts")), Part::Facts(facts)]
}

/// Returns all tables as a CSV file for download, including unbiased estimates.
fn download(plan: &Plan, estimates: &Estimates, language: &Language) -> Option<Part> {
    let attributes: Vec<String> = plan.schema().attributes().iter().map(|a| a.name().to_owned()).collect();
    let content = estimates_csv(&rows(estimates), Layout::Columns(&attributes), true);
    let label = language.report("download", &[]);
    (content.len() <= MAX_CONTENT).then(|| Part::Download { label, name: "tables.csv".to_owned(), content })
}

/// Maximum number of bytes of tables that are included in a page.
const MAX_CONTENT: usize = 2_000_000;

/// Returns the author's notes, one paragraph per line.
fn notes(language: &Language) -> Vec<Part> {
    let lines = language.fact(NOTES).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    let paragraphs: Vec<Part> = lines.map(|line| Part::Paragraph(line.to_owned())).collect();
    let heading = (!paragraphs.is_empty()).then(|| Part::Heading(language.report("notes", &[])));
    heading.into_iter().chain(paragraphs).collect()
}

/// Renders facts about the survey in the order of a statement of methods.
fn about_the_survey(plan: &Plan, counts: &Counts, language: &Language) -> Vec<Part> {
    let field = |name: &&str| Some((language.report(&format!("survey_{name}"), &[]), language.fact(name)?.to_owned()));
    let mut parts = vec![Part::Heading(language.report("about_survey", &[]))];
    let known: Vec<(String, String)> = FACTS.iter().filter_map(field).collect();
    parts.extend(opening(plan, counts, language));
    parts.extend((!known.is_empty()).then_some(Part::Terms(known)));
    parts
}

fn opening(plan: &Plan, counts: &Counts, language: &Language) -> Vec<Part> {
    let guarantee = plan.guarantee();
    let (responses, n) = (language.whole(counts.responses()), guarantee.attributes().len());
    let text = if n == 1 { "opening_one" } else { "opening" };
    let (n, epsilon) = (n.to_string(), epsilon(guarantee.epsilon(), language));
    let words = [("responses", responses.as_str()), ("n", &n), ("epsilon", &epsilon)];
    // The sampling design, if known, is described above the results.
    let simple = counts.circumstances(language).is_none().then(|| language.report("simple_sample", &[]));
    let assumed = simple.into_iter().chain([language.report("not_counted", &[])]).collect::<Vec<_>>().join(" ");
    vec![Part::Paragraph(language.report(text, &words)), Part::Paragraph(assumed)]
}

fn how_to_repeat(plan: &Plan, counts: &Counts, title: &str, options: &ReportOptions) -> Vec<Part> {
    let language = &options.language;
    let (n, fingerprint) = (language.whole(counts.responses()), plan.fingerprint().as_str().to_owned());
    let title = isolated(title);
    let words = [("n", n.as_str()), ("version", env!("CARGO_PKG_VERSION")), ("fingerprint", &fingerprint)];
    let named =
        [("title", title.as_str()), words[0], words[1], ("fingerprint", &fingerprint[..19.min(fingerprint.len())])];
    let mut parts = vec![
        Part::Heading(language.report("repeat", &[])),
        Part::Paragraph(language.report("citation", &named)),
        Part::Paragraph(language.report("cite", &words)),
    ];
    if !options.commands.is_empty() {
        parts.push(Part::Commands(options.commands.clone()));
    }
    parts
}
