//! Tables of the population, with intervals, and what to know before believing them.

use std::collections::BTreeMap;

use candor::plan::Plan;
use candor_analysis::estimate::{
    Analysis, EstimateError, Interval, Method, NoAnswer, Options, TableEstimator, Target, analyse,
};
use candor_analysis::tally::TableTally;
use serde::{Serialize, Serializer};

use crate::choice::Choice;
use crate::comply::{ComplyOptions, Followed, followed};
use crate::counts::Counts;
use crate::error::{StudyError, check_confidence};

/// How tables are to be estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimateOptions {
    /// Which estimate.
    pub method: Method,
    /// Whose table.
    pub target: Target,
    /// Which intervals.
    pub interval: Interval,
    /// With which confidence, above 0 and below 1.
    pub confidence: f64,
    /// Whether to say how the estimates of each one-way table vary together.
    pub covariance: bool,
}

impl Default for EstimateOptions {
    fn default() -> EstimateOptions {
        let Options { method, target, interval, confidence } = Options::default();
        EstimateOptions { method, target, interval, confidence, covariance: false }
    }
}

impl EstimateOptions {
    /// Whether these go together; [`estimate`] asks, too.
    ///
    /// # Errors
    /// If the confidence is none, or the covariance is not to be had.
    pub fn check(&self) -> Result<(), StudyError> {
        check_confidence(self.confidence)?;
        match self.covariance && self.method != Method::Unbiased {
            true => Err(StudyError::Needs("`covariance` goes with the unbiased method")),
            false => Ok(()),
        }
    }

    /// Whether counts must tell which sets were answered: the likelihood needs them.
    pub fn needs_sets(&self) -> bool {
        self.method == Method::Iterative
    }
}

/// Estimated tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimates {
    /// The number of responses.
    pub respondents: u64,
    /// Which estimate: `unbiased`, `plug-in`, `iterative`, `projected` or `clipped`.
    pub method: &'static str,
    /// Whose table: `population` or `table`.
    pub target: &'static str,
    /// Which intervals: `wald`, `simultaneous` or `bootstrap`.
    pub interval: &'static str,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// The tables, group by group.
    pub tables: Vec<Table>,
    /// Whether people followed their cards: for each question that was asked for by itself and has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compliance: Vec<QuestionTest>,
}

/// The test that everybody followed the cards of a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuestionTest {
    /// The question.
    pub attribute: String,
    /// The test.
    #[serde(flatten)]
    pub test: Followed,
}

/// One table, of one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Table {
    /// The attributes' names.
    pub attributes: Vec<String>,
    /// Whose table: names and categories of the attributes of `by`, in their order; empty for everybody. In JSON an object.
    #[serde(serialize_with = "as_object")]
    pub group: Vec<(String, String)>,
    /// The number of responses, or the sum of their weights.
    pub respondents: f64,
    /// The condition number of the matrices involved, if there are any.
    pub condition: Option<f64>,
    /// Whether the responses can hardly have come from the plan.
    pub implausible: bool,
    /// Whether any number of responses could tell the table.
    pub identifiable: bool,
    /// Why there are no cells, if there are none.
    pub reason: Option<String>,
    /// The cells, first attribute slowest.
    pub cells: Vec<Cell>,
    /// The covariance of the cells, if asked for and to be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Vec<Vec<f64>>>,
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Cell {
    /// One category for each attribute.
    pub categories: Vec<String>,
    /// The estimated share.
    pub estimate: f64,
    /// Its standard error; the unbiased and the plug-in estimate have one.
    pub standard_error: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
}

fn as_object<S: Serializer>(group: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    group.iter().cloned().collect::<BTreeMap<String, String>>().serialize(serializer)
}

/// Estimates every table of every group.
///
/// # Errors
/// If the options do not go together. A table that cannot be estimated is no error: it says why.
pub fn estimate(plan: &Plan, counts: &Counts, options: &EstimateOptions) -> Result<Estimates, StudyError> {
    options.check()?;
    let EstimateOptions { method, target, interval, confidence, .. } = *options;
    let asked = Options { method, target, interval, confidence };
    let mut tables = Vec::new();
    for (key, tallies) in counts.groups() {
        let category = |(&attribute, &code): (&usize, &u16)| {
            let attribute = &plan.schema().attributes()[attribute];
            (attribute.name().to_owned(), attribute.categories()[usize::from(code)].clone())
        };
        let group: Vec<(String, String)> = counts.by().iter().zip(key).map(category).collect();
        for tally in tallies {
            let analysis = analyse(plan, tally, &asked);
            let covariance = if options.covariance { covariance(plan, tally, &analysis) } else { None };
            tables.push(Table { group: group.clone(), covariance, ..table(plan, &analysis) });
        }
    }
    let compliance = counts.groups().get(&Vec::new()).into_iter().flatten().filter_map(|tally| {
        let attribute = plan.schema().name(*tally.layout().attributes.first()?).to_owned();
        Some(QuestionTest { attribute, test: followed(plan, tally)? })
    });
    let (method, target, interval) = (method.called(), target.called(), interval.called());
    let (respondents, compliance) = (counts.responses(), compliance.collect());
    Ok(Estimates { respondents, method, target, interval, confidence, tables, compliance })
}

/// A table of everybody.
fn table(plan: &Plan, analysis: &Analysis) -> Table {
    let cell = |(categories, cell): (Vec<String>, &candor_analysis::estimate::Cell)| Cell {
        categories,
        estimate: cell.estimate,
        standard_error: cell.uncertainty.map(|u| u.standard_error),
        low: cell.uncertainty.map(|u| u.low),
        high: cell.uncertainty.map(|u| u.high),
    };
    let cells = match &analysis.cells {
        Ok(cells) => categories(plan, &analysis.attributes).into_iter().zip(cells).map(cell).collect(),
        Err(_) => Vec::new(),
    };
    Table {
        attributes: analysis.attributes.iter().map(|&a| plan.schema().name(a).to_owned()).collect(),
        group: Vec::new(),
        respondents: analysis.respondents,
        condition: analysis.condition,
        implausible: analysis.implausible,
        identifiable: !matches!(analysis.cells, Err(NoAnswer::Estimate(EstimateError::NotIdentifiable(_)))),
        reason: analysis.cells.as_ref().err().map(ToString::to_string),
        cells,
        covariance: None,
    }
}

/// The categories of each cell, in order.
fn categories(plan: &Plan, attributes: &[usize]) -> Vec<Vec<String>> {
    attributes.iter().fold(vec![Vec::new()], |rows, &attribute| {
        let labels = plan.schema().attributes()[attribute].categories();
        rows.iter()
            .flat_map(|row| labels.iter().map(move |label| [row.clone(), vec![label.clone()]].concat()))
            .collect()
    })
}

/// The covariance of a one-way table.
fn covariance(plan: &Plan, tally: &TableTally, analysis: &Analysis) -> Option<Vec<Vec<f64>>> {
    let shares: Vec<f64> = analysis.cells.as_ref().ok()?.iter().map(|cell| cell.estimate).collect();
    TableEstimator::new(plan, &analysis.attributes).ok()?.one_way_covariance(tally, &shares)
}

/// A condition number worth mentioning.
const ILL_CONDITIONED: f64 = 1e3;

impl Estimates {
    /// What the numbers are: estimate, intervals and target, in a line.
    pub fn summary(&self) -> String {
        match self.method {
            "unbiased" | "plug-in" => {
                let percent = 100.0 * self.confidence;
                format!("{} estimate, {percent} % {} intervals for the {}", self.method, self.interval, self.target)
            }
            biased => format!("{biased} estimate (not unbiased; without standard errors)"),
        }
    }

    /// Whether people followed their cards, in sentences.
    pub fn compliance_sentences(&self) -> Vec<String> {
        let alpha = ComplyOptions::default().alpha;
        self.compliance.iter().map(|one| one.test.sentence(&one.attribute, alpha)).collect()
    }

    /// What should be known before believing these tables; each begins with `warning:` or `note:`.
    pub fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        if self.tables.iter().any(|table| table.implausible) {
            cautions.push(
                "warning: these responses can hardly have come from this plan (chance below one in a million): wrong plan, \
                 wrong file, or answers edited"
                    .to_owned(),
            );
        }
        let condition = self.tables.iter().filter_map(|table| table.condition).fold(0.0, f64::max);
        if condition > ILL_CONDITIONED {
            cautions.push(format!(
                "note: a matrix of the plan has condition number {condition:.1e}: errors of the answers' shares may grow by as \
                 much, and standard errors will be large"
            ));
        }
        cautions
    }
}
