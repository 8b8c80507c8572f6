//! What responses tell and what was guaranteed, as one page that can be published.

use std::collections::BTreeSet;

use candor::plan::Plan;
use candor::privacy::{Question, audit};
use candor::schema::{Attribute, Kind};
use candor_analysis::dependence::{Measure, estimated};
use candor_analysis::estimate::{Options, test_independence};
use candor_analysis::regress::{CONSTANT, THRESHOLD};
use candor_analysis::table_list::TableList;
use serde::Serialize;

use crate::asked::Asked;
use crate::comply::UNSEEN;
use crate::counts::{Counts, Provenance};
use crate::cross_table::cross_table;
use crate::error::{StudyError, check_confidence};
use crate::estimate::{Cell, EstimateOptions, Estimates, Table, estimate_asked};
use crate::found::{in_group, named, numbers_found, what_differs};
use crate::guarantee::{
    ATTRIBUTE_HEADER, CertifiedAttribute, WHAT_A_GUESS_IS, WHY_TWO_EPSILONS, attribute_rows, certified,
    prior_sentences, told,
};
use crate::numbers::NumbersAsked;
use crate::page::{EstimateRow, EstimateTable, MatrixTable, Page, Part, isolated, unmarked};
use crate::regress::{Coefficient, Regression};
use crate::shuffled::{ShuffleOptions, shuffled};
use crate::texts::Language;
use crate::words::{capital, count, p_value, plural};

/// With more cells than this, a table is not shown.
const MOST_CELLS: usize = 2_000;

/// With more attributes than this, their dependences are not shown.
const MOST_ATTRIBUTES: usize = 20;

/// With more cells than this, the dependence of a pair takes too long.
const MOST_PAIR_CELLS: usize = 600;

/// With more categories than this, the others of an attribute are only counted.
const MOST_LABELS: usize = 40;

/// Intervals take estimates for normal; below this many responses that is doubtful.
const FEW: u64 = 200;

/// Pairs with a larger p-value may well depend by chance.
const SURPRISING: f64 = 0.05;

/// How a page is made.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportOptions {
    /// With which confidence intervals are, above 0 and below 1.
    pub confidence: f64,
    /// The title of the page.
    pub title: String,
    /// Lines that somebody would type to repeat it, if there are any.
    pub commands: Vec<String>,
    /// Regressions to be shown.
    pub regressions: Vec<Regression>,
    /// How attributes are asked for, and what categories are called.
    pub language: Language,
}

impl Default for ReportOptions {
    fn default() -> ReportOptions {
        ReportOptions {
            confidence: EstimateOptions::default().confidence,
            title: "What randomized responses tell".to_owned(),
            commands: Vec::new(),
            regressions: Vec::new(),
            language: Language::default(),
        }
    }
}

/// What responses tell, and what a reader must know before believing it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The number of responses.
    pub respondents: u64,
    /// The epsilon of the record; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// What is certified of each randomized attribute.
    pub attributes: Vec<CertifiedAttribute>,
    /// What a reader must not overlook, in sentences.
    pub warnings: Vec<String>,
    /// The tables.
    pub estimates: Estimates,
    /// How strongly attributes depend on each other, as far as the responses tell.
    pub dependences: Vec<PairDependence>,
    /// The regressions asked for.
    pub regressions: Vec<Regression>,
    /// The plan's fingerprint.
    pub fingerprint: String,
    /// The page. Not in JSON.
    #[serde(skip)]
    pub page: Page,
}

/// How strongly two attributes depend on each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairDependence {
    /// The first attribute.
    pub a: String,
    /// The second, which stands after it in the schema.
    pub b: String,
    /// Cramer's V of the population.
    pub cramers_v: f64,
    /// Its standard error, if the responses tell it.
    pub standard_error: Option<f64>,
    /// How surprising the responses would be if the two were independent.
    pub p_value: Option<f64>,
}

/// The tables that a report needs to be counted: those asked for, then what the dependences need.
///
/// # Errors
/// If they are too large together.
pub fn tables(plan: &Plan, asked: &Asked, wanted: &NumbersAsked) -> Result<TableList, StudyError> {
    let schema = plan.schema();
    let private = schema.private();
    let pairs = pairs(plan);
    let shown: Vec<Vec<usize>> = asked.counted().lists().iter().cloned().chain(wanted.tables()).collect();
    let crossed = shown.iter().filter(|table| table.len() == 2).chain(&pairs).flatten();
    let alone: BTreeSet<usize> = private.into_iter().chain(crossed.copied()).collect();
    let margins = alone.into_iter().map(|attribute| vec![attribute]);
    let lists = shown.iter().cloned().chain(margins).chain(pairs.iter().cloned()).collect();
    TableList::of(lists, schema).map_err(|error| StudyError::Tables { parameter: "tables", error })
}

/// The pairs whose dependence can be shown: of all attributes if they are few, else of the randomized ones, if these are.
fn pairs(plan: &Plan) -> Vec<Vec<usize>> {
    let attributes = depending(plan);
    let size = |attribute: usize| plan.schema().size(attribute);
    let all = attributes.iter().enumerate().flat_map(|(i, &a)| attributes[..i].iter().map(move |&b| vec![b, a]));
    all.filter(|pair| size(pair[0]) * size(pair[1]) <= MOST_PAIR_CELLS).collect()
}

/// The attributes whose dependences are shown.
fn depending(plan: &Plan) -> Vec<usize> {
    let (all, private) = ((0..plan.schema().attributes().len()).collect::<Vec<usize>>(), plan.schema().private());
    let few = |attributes: &Vec<usize>| attributes.len() <= MOST_ATTRIBUTES;
    [all, private].into_iter().find(few).unwrap_or_default()
}

/// Reports on the tables and numbers asked for, in every group, from the counts of their [`tables`]. Dependences are those of everybody.
///
/// # Errors
/// If a table was not counted, or the confidence is none.
pub fn report(
    plan: &Plan,
    asked: &Asked,
    wanted: &NumbersAsked,
    counts: &Counts,
    options: &ReportOptions,
) -> Result<Report, StudyError> {
    check_confidence(options.confidence)?;
    let missing = || StudyError::Counts("the tables of a report must be counted");
    let shown = asked.counted().lists().iter().cloned().chain(wanted.tables()).collect();
    let shown =
        TableList::of(shown, plan.schema()).map_err(|error| StudyError::Tables { parameter: "tables", error })?;
    let estimate_options = EstimateOptions { confidence: options.confidence, ..EstimateOptions::default() };
    let estimates = estimate_asked(plan, &counts.only(&shown)?, asked, wanted, &estimate_options)?;
    let warnings = warnings(plan, counts, &estimates);
    let dependences = dependences(plan, &counts.everybody()).ok_or_else(missing)?;
    let mut parts = vec![Part::Paragraph(opening(plan, counts))];
    if !warnings.is_empty() {
        parts.extend([Part::Heading("Read this first".to_owned()), Part::Warnings(warnings.clone())]);
    }
    parts.extend(what_was_asked(plan, &options.language));
    parts.extend(what_is_guaranteed(plan, counts.responses()));
    parts.extend(what_was_found(plan, counts, &estimates, &options.language));
    parts.extend(what_depends_on_what(plan, &dependences));
    parts.extend(options.regressions.iter().flat_map(what_predicts));
    parts.extend(how_to_repeat(plan, counts, &options.commands));
    Ok(Report {
        respondents: counts.responses(),
        epsilon: plan.guarantee().epsilon().value(),
        attributes: certified(plan),
        warnings: warnings.iter().map(|warning| unmarked(warning)).collect(),
        estimates,
        dependences,
        regressions: options.regressions.clone(),
        fingerprint: plan.fingerprint().as_str().to_owned(),
        page: Page::new(&options.title, parts),
    })
}

/// Every pair that the responses tell about; `None` if a table is missing.
fn dependences(plan: &Plan, counts: &Counts) -> Option<Vec<PairDependence>> {
    let mut found = Vec::new();
    for pair in pairs(plan) {
        // What is told of a public attribute is told where it was counted.
        let public = pair.iter().any(|&attribute| plan.schema().attributes()[attribute].is_public());
        let counted = || Some((counts.table(&pair)?, [counts.table(&pair[..1])?, counts.table(&pair[1..])?]));
        let Some((both, margins)) = counted() else {
            if public {
                continue;
            }
            return None;
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
    Some(found)
}

fn opening(plan: &Plan, counts: &Counts) -> String {
    let guarantee = plan.guarantee();
    format!(
        "{} responses about {}. Before it was sent, every response was changed by chance, with a record epsilon of {}. What is \
         shown are estimates of the population, with the uncertainty that comes from asking a sample and from the chance.",
        count(counts.responses()),
        plural(guarantee.attributes().len(), "randomized attribute"),
        guarantee.epsilon(),
    )
}

/// A file without its folder: where it was is nobody's business.
pub fn file_name(path: &str) -> String {
    std::path::Path::new(path).file_name().map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// What a reader must know before believing anything.
fn warnings(plan: &Plan, counts: &Counts, estimates: &Estimates) -> Vec<String> {
    let Provenance { simulation, .. } = counts.provenance();
    let known = counts.provenance().notes(|file| isolated(&file_name(file))).into_iter().chain(estimates.cautions());
    let sentence = |note: String| capital(note.trim_start_matches("note: ").trim_start_matches("warning: ")) + ".";
    let mut warnings: Vec<String> = known.map(sentence).collect();
    if simulation.is_some() {
        warnings.push("A simulation protects nobody: whoever knows the seed can undo the randomization.".to_owned());
    }
    if counts.responses() < FEW {
        warnings.push(format!(
            "There are only {} responses; intervals are reliable from some hundreds on.",
            count(counts.responses())
        ));
    }
    if plan.guarantee().epsilon().value().is_none() {
        warnings.push("There is no finite epsilon: some responses rule some answers out.".to_owned());
    }
    for table in &estimates.tables {
        if let Some(reason) = &table.reason {
            warnings.push(format!("{}: {reason}.", title(table)));
        }
    }
    warnings
}

fn what_was_asked(plan: &Plan, language: &Language) -> Vec<Part> {
    let term = |attribute: &Attribute| {
        let labels = attribute.categories();
        let shown = |label: &String| isolated(&language.label(attribute.name(), label));
        let mut list: Vec<String> = labels.iter().take(MOST_LABELS).map(shown).collect();
        if labels.len() > MOST_LABELS {
            list.push(format!("and {} more", count((labels.len() - MOST_LABELS) as u64)));
        }
        let kind = match (attribute.is_public(), attribute.kind()) {
            (true, _) => "public, not changed",
            (false, Kind::Ordinal) => "in this order",
            (false, _) => "",
        };
        let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
        let asked = Some(language.asked(attribute.name())).filter(|&asked| asked != attribute.name());
        let asked = asked.map_or(String::new(), |asked| format!("{} ", isolated(asked)));
        (attribute.name().to_owned(), format!("{asked}{}{kind}", list.join(" · ")))
    };
    vec![Part::Heading("What was asked".to_owned()), Part::Terms(plan.schema().attributes().iter().map(term).collect())]
}

fn what_is_guaranteed(plan: &Plan, respondents: u64) -> Vec<Part> {
    let findings = audit(&Question::new(plan));
    let mut parts = vec![Part::Heading("What is guaranteed to those who answered".to_owned())];
    parts.extend(told(plan, &findings, isolated).into_iter().map(Part::Paragraph));
    let record = findings.iter().filter(|finding| finding.name == "ldp");
    parts.extend(record.map(|finding| Part::Paragraph(finding.sentence.clone())));
    // Both numbers: what the collector can learn, and what a reader of all responses together can.
    let options = ShuffleOptions { respondents, ..ShuffleOptions::default() };
    if let Ok(found) = shuffled(plan, &options) {
        parts.extend([Some(found.sentence), found.warning].into_iter().flatten().map(Part::Paragraph));
    }
    if let Some((heading, sentences)) = prior_sentences(plan, isolated) {
        parts.extend([Part::Paragraph(format!("{heading}:")), Part::List(sentences)]);
    }
    parts.push(Part::Table {
        caption: "What is certified of each attribute".to_owned(),
        header: ATTRIBUTE_HEADER.map(str::to_owned).to_vec(),
        rows: attribute_rows(plan),
    });
    parts.extend([WHAT_A_GUESS_IS, WHY_TWO_EPSILONS].map(|text| Part::Paragraph(text.to_owned())));
    parts
}

fn what_was_found(plan: &Plan, counts: &Counts, estimates: &Estimates, language: &Language) -> Vec<Part> {
    let percent = 100.0 * estimates.confidence;
    let mut parts = vec![
        Part::Heading("What was found".to_owned()),
        Part::Paragraph(format!(
            "Estimated shares of the population, with standard errors and {percent} % intervals. The estimates are unbiased and not cut \
             off: where a share is near zero, its estimate can be below. Of {percent} % intervals about one in {} misses the truth.",
            (1.0 / (1.0 - estimates.confidence)).round()
        )),
    ];
    let design = estimates.design.as_ref().map(|design| Part::Paragraph(format!("{}.", capital(&isolated(design)))));
    parts.extend(design);
    for table in &estimates.tables {
        let title = title(table);
        parts.push(Part::Subheading(title.clone()));
        parts.extend(match &table.reason {
            Some(reason) => vec![Part::Paragraph(format!("{}.", capital(reason)))],
            None if table.cells.len() > MOST_CELLS => vec![Part::Paragraph(format!(
                "This table has {} cells, too many for a page; they can be estimated all the same.",
                count(table.cells.len() as u64)
            ))],
            None => cells(plan, counts, table, estimates.confidence, language),
        });
    }
    parts.extend(estimates.comparisons.iter().flat_map(what_differs));
    parts.extend(numbers_found(&estimates.numbers));
    let followed = estimates.compliance_sentences();
    if !followed.is_empty() {
        parts.push(Part::Subheading("Did everybody follow the instructions?".to_owned()));
        parts.extend(followed.into_iter().map(Part::Paragraph));
        parts.push(Part::Paragraph(UNSEEN.to_owned()));
    }
    parts
}

/// The cells of a table: of one attribute drawn on a scale, of two as rows and columns with the list folded below, of more, of a group or
/// among those who as a list.
fn cells(plan: &Plan, counts: &Counts, table: &Table, confidence: f64, language: &Language) -> Vec<Part> {
    let everybody = table.given.is_empty() && table.group.is_empty();
    let pair = match &table.attributes[..] {
        [a, b] if everybody => plan.schema().position(a).ok().zip(plan.schema().position(b).ok()),
        _ => None,
    };
    let crossed = pair.and_then(|(a, b)| cross_table(plan, counts, [a, b], confidence, language));
    let row = |cell: &Cell| {
        let (standard_error, low, high) = (cell.standard_error?, cell.low?, cell.high?);
        let called = |(name, category): (&String, &String)| language.label(name, category);
        let categories = table.attributes.iter().zip(&cell.categories).map(called).collect();
        Some(EstimateRow { categories, estimate: cell.estimate, standard_error, low, high })
    };
    let list = Part::Estimates(EstimateTable {
        caption: format!("Estimated shares of {}", title(table)),
        names: table.attributes.clone(),
        rows: table.cells.iter().filter_map(row).collect(),
        drawn: crossed.is_none(),
    });
    match crossed {
        Some(crossed) => {
            let summary = "The same as shares of everybody, cell by cell".to_owned();
            vec![Part::Cross(crossed), Part::Folded { summary, parts: vec![list] }]
        }
        None => vec![list],
    }
}

fn what_depends_on_what(plan: &Plan, pairs: &[PairDependence]) -> Vec<Part> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = depending(plan).iter().map(|&a| plan.schema().name(a).to_owned()).collect();
    let find = |a: usize, b: usize| pairs.iter().find(|pair| pair.a == names[b] && pair.b == names[a]);
    let cell = |a: usize, b: usize| match find(a, b) {
        Some(pair) if pair.p_value.is_some_and(|p| p >= SURPRISING) => (format!("({:.2})", pair.cramers_v), 0.0),
        Some(pair) => (format!("{:.2}{}", pair.cramers_v, stars(pair.p_value)), pair.cramers_v),
        None => ("–".to_owned(), 0.0),
    };
    let cells = (0..names.len()).map(|a| (0..a).map(|b| cell(a, b)).collect()).collect();
    let mut sorted: Vec<&PairDependence> = pairs.iter().collect();
    sorted.sort_by(|a, b| b.cramers_v.total_cmp(&a.cramers_v));
    let row = |pair: &&PairDependence| {
        vec![
            format!("{} and {}", isolated(&pair.a), isolated(&pair.b)),
            format!("{:.4}", pair.cramers_v),
            pair.standard_error.map_or("–".to_owned(), |error| format!("{error:.4}")),
            pair.p_value.map_or("–".to_owned(), p_value),
        ]
    };
    vec![
        Part::Heading("What depends on what".to_owned()),
        Part::Paragraph(format!(
            "Cramer's V of the population, from 0 (independent) to 1 (one decides the other), with the randomization taken out; the \
             larger the stronger the shade. Stars say how surprising the responses would be if the two were independent: * p below 0.05, \
             ** below 0.01, *** below 0.001. In parentheses, and not shaded, is what may well be chance; of {} independent \
             pairs, one in twenty would have a star all the same. A dash is where the responses do not tell.",
            pairs.len()
        )),
        Part::Matrix(MatrixTable {
            caption: "Dependence of each attribute on those before it; columns are numbered like the rows".to_owned(),
            names: names.clone(),
            cells,
        }),
        Part::Table {
            caption: "The same, the strongest first".to_owned(),
            header: ["pair", "Cramer's V", "standard error", "p-value"].map(str::to_owned).to_vec(),
            rows: sorted.iter().map(row).collect(),
        },
    ]
}

/// A regression: its coefficients on a scale, and in numbers.
fn what_predicts(found: &Regression) -> Vec<Part> {
    let named = |term: &str, category: &Option<String>| match category {
        Some(category) if found.family == "multinomial" => format!("{}: {}", isolated(category), isolated(term)),
        _ => isolated(term),
    };
    let slopes = found.coefficients.iter().filter(|one| one.term != CONSTANT && one.term != THRESHOLD);
    let drawn = |one: &Coefficient| EstimateRow {
        categories: vec![named(&one.term, &one.category)],
        estimate: one.estimate,
        standard_error: one.standard_error,
        low: one.low,
        high: one.high,
    };
    let dash = |value: Option<f64>, text: fn(f64) -> String| value.map_or("–".to_owned(), text);
    let row = |one: &Coefficient| {
        let ratio = dash(one.odds_ratio, |ratio| format!("{ratio:.3}"));
        let (p, effect) = (dash(one.p_value, p_value), dash(one.design_effect, |effect| format!("{effect:.2}")));
        vec![named(&one.term, &one.category), format!("{:.4}", one.estimate), ratio, p, effect]
    };
    let percent = 100.0 * found.confidence;
    let what = if found.family == "linear" { "Coefficients" } else { "Log odds" };
    let mut parts = vec![
        Part::Heading(format!("What predicts {}", isolated(&found.response))),
        Part::Paragraph(format!(
            "The {} regression {}, with the randomization taken out. {what} with {percent} % intervals; p-values are those of score tests; the design \
             effect is how many times as many people it took as direct questions would have.",
            found.family,
            isolated(&found.model)
        )),
        Part::Estimates(EstimateTable {
            caption: format!("{what}: all else equal, against the reference"),
            names: vec!["term".to_owned()],
            rows: slopes.map(drawn).collect(),
            drawn: true,
        }),
        Part::Table {
            caption: "In numbers".to_owned(),
            header: ["term", "estimate", "odds ratio", "p-value", "design effect"].map(str::to_owned).to_vec(),
            rows: found.coefficients.iter().map(row).collect(),
        },
    ];
    let note = |note: &String| capital(note.trim_start_matches("note: ").trim_start_matches("warning: ")) + ".";
    if !found.notes.is_empty() {
        parts.push(Part::Warnings(found.notes.iter().map(note).collect()));
    }
    parts
}

/// The attributes of a table, as it is called on the page.
fn title(table: &Table) -> String {
    in_group(named(&table.attributes, &table.given), &table.group)
}

fn stars(p_value: Option<f64>) -> &'static str {
    match p_value {
        Some(p) if p < 0.001 => "***",
        Some(p) if p < 0.01 => "**",
        Some(p) if p < SURPRISING => "*",
        _ => "",
    }
}

fn how_to_repeat(plan: &Plan, counts: &Counts, commands: &[String]) -> Vec<Part> {
    let mut parts = vec![
        Part::Heading("How to cite and repeat this".to_owned()),
        Part::Paragraph(format!(
            "Estimated from {} randomized responses with candor {} under the plan {}. The plan is public: with it and the \
             responses anybody can repeat this.",
            count(counts.responses()),
            env!("CARGO_PKG_VERSION"),
            plan.fingerprint()
        )),
    ];
    if !commands.is_empty() {
        parts.push(Part::Commands(commands.to_vec()));
    }
    parts
}
