//! An estimated table and its cells, with their publication status.

use candor_analysis::conditional_shares::ConditionalShares;
use candor_analysis::estimate::{Analysis, EstimateError, EstimateUnavailable, TableEstimator, Uncertainty};
use candor_analysis::reliability::{Precision, PublishedShare, Reliability, Standard, published};
use candor_analysis::tally::{TableCounts, VarianceMethod};
use candor_base::plan::Plan;
use serde::Serialize;

/// One table of one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Table {
    /// Names of the attributes.
    pub attributes: Vec<String>,
    /// Conditioning attributes, the first of `attributes`; empty for unconditional shares.
    #[serde(flatten, serialize_with = "crate::old_keys::conditioning_attributes")]
    pub conditioning_attributes: Vec<String>,
    /// Group, as names and categories of the `by` attributes; empty for everybody. An object in JSON.
    #[serde(serialize_with = "crate::format::as_object")]
    pub group: Vec<(String, String)>,
    /// Number of responses, or sum of their weights.
    pub respondents: f64,
    /// Number of responses, regardless of weights.
    pub sample_size: u64,
    /// Degrees of freedom of the sampling design; null without one.
    pub degrees_of_freedom: Option<f64>,
    /// Condition number of the matrices, if there are any.
    pub condition: Option<f64>,
    /// Whether the responses are implausible under the plan.
    pub implausible: bool,
    /// Whether the table is identifiable under the plan.
    pub identifiable: bool,
    /// Reason why there are no cells.
    pub reason: Option<String>,
    /// The reason as a value. Not in JSON.
    #[serde(skip)]
    pub why: Option<EstimateUnavailable>,
    /// Cells, with the first attribute varying slowest.
    pub cells: Vec<Cell>,
    /// Covariance matrix of the cells, if requested and available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Vec<Vec<f64>>>,
}

impl Table {
    /// Returns whether every share, or at least its upper limit, is precise enough to publish without a mark.
    pub fn is_precise(&self) -> bool {
        let precise = [Reliability::Shown, Reliability::Under].map(|grade| Some(grade.name()));
        self.reason.is_none() && self.cells.iter().all(|cell| precise.contains(&cell.reliability))
    }
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Cell {
    /// One category for each attribute.
    pub categories: Vec<String>,
    /// Estimated share.
    pub estimate: f64,
    /// Standard error of unbiased and plug-in estimates.
    ///
    /// For constrained estimates it is the root mean square error, which includes bias.
    pub standard_error: Option<f64>,
    /// Lower confidence limit.
    pub low: Option<f64>,
    /// Upper confidence limit.
    pub high: Option<f64>,
    /// Share for publication, within its interval; `None` if at most an upper limit may be published.
    pub shown_estimate: Option<f64>,
    /// Publication status: `shown`, `rough`, `under` or `hidden`; `None` without an interval.
    pub reliability: Option<&'static str>,
    /// Effective sample size: number of independent respondents with equal weights of the same precision.
    pub effective_sample_size: Option<f64>,
    /// Number of directly asked respondents that would give the same precision.
    pub directly_asked: Option<f64>,
    /// Standard error divided by the estimate; null unless the estimate is above 0.
    pub relative_standard_error: Option<f64>,
    /// NCHS standard: whether the share of all other categories is precise, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complement_reliable: Option<bool>,
    /// The share for publication. Not in JSON.
    #[serde(skip)]
    pub published: Option<PublishedShare>,
}

/// Basis on which all shares of a table are graded.
#[derive(Clone, Copy)]
pub(crate) struct Basis {
    degrees: Option<f64>,
    standard: Standard,
}

impl Basis {
    pub(crate) fn new(tally: &TableCounts, standard: Standard) -> Basis {
        Basis { degrees: tally.drawn().map(VarianceMethod::degrees), standard }
    }

    /// Replaces the degrees of freedom by those of a group.
    pub(crate) fn with_degrees(self, degrees: Option<f64>) -> Basis {
        Basis { degrees, ..self }
    }
}

/// Returns a table of conditional shares.
pub(super) fn table_among(plan: &Plan, analysis: &Analysis, shares: &ConditionalShares, basis: Basis) -> Table {
    let label = |(&attribute, &code): (&usize, &u16)| {
        plan.schema().attributes()[attribute].categories()[usize::from(code)].clone()
    };
    let cells = shares.cells.as_ref().map_or(Vec::new(), |cells| {
        let one = |cell: &candor_analysis::conditional_shares::ConditionalShare| {
            let categories = shares.attributes.iter().zip(&cell.codes).map(label).collect();
            Cell::new(categories, &cell.share, cell.effective, basis.with_degrees(cell.degrees))
        };
        cells.iter().map(one).collect()
    });
    let why = shares.cells.as_ref().err().cloned();
    let whole = table(plan, analysis, basis);
    let conditioning_attributes = whole.attributes[..shares.given].to_vec();
    Table { conditioning_attributes, reason: why.as_ref().map(ToString::to_string), why, cells, ..whole }
}

impl Cell {
    pub(crate) fn new(
        categories: Vec<String>,
        cell: &candor_analysis::estimate::Cell,
        effective: Option<f64>,
        Basis { degrees, standard }: Basis,
    ) -> Cell {
        let estimate = cell.estimate;
        let graded = cell.uncertainty.map(|u| {
            let precision = Precision { estimate, interval: (u.low, u.high), effective, degrees };
            published(&precision, standard)
        });
        let standard_error = cell.uncertainty.map(|u| u.standard_error).filter(|error| !error.is_nan());
        let is_share = estimate > 0.0 && estimate < 1.0;
        let direct = |error: f64| (is_share && error > 0.0).then(|| estimate * (1.0 - estimate) / error.powi(2));
        Cell {
            categories,
            estimate,
            standard_error,
            low: cell.uncertainty.map(|u| u.low),
            high: cell.uncertainty.map(|u| u.high),
            shown_estimate: graded.and_then(|graded| graded.estimate),
            reliability: graded.map(|graded| graded.reliability.name()),
            effective_sample_size: effective,
            directly_asked: standard_error.and_then(direct),
            relative_standard_error: standard_error.filter(|_| estimate > 0.0).map(|error| error / estimate),
            complement_reliable: graded.filter(|_| standard == Standard::Nchs).map(|graded| graded.complement),
            published: graded,
        }
    }

    pub(super) fn measured(&self) -> candor_analysis::estimate::Cell {
        let uncertainty =
            || Some(Uncertainty { standard_error: self.standard_error?, low: self.low?, high: self.high? });
        candor_analysis::estimate::Cell { estimate: self.estimate, uncertainty: uncertainty() }
    }
}

/// Returns a table of unconditional shares.
pub(super) fn table(plan: &Plan, analysis: &Analysis, basis: Basis) -> Table {
    let cell = |((at, categories), cell): ((usize, Vec<String>), &candor_analysis::estimate::Cell)| {
        Cell::new(categories, cell, analysis.effective.get(at).copied(), basis)
    };
    let cells = match &analysis.cells {
        Ok(cells) => categories(plan, &analysis.attributes).into_iter().enumerate().zip(cells).map(cell).collect(),
        Err(_) => Vec::new(),
    };
    Table {
        attributes: analysis.attributes.iter().map(|&a| plan.schema().name(a).to_owned()).collect(),
        conditioning_attributes: Vec::new(),
        group: Vec::new(),
        respondents: analysis.respondents,
        sample_size: 0,
        degrees_of_freedom: basis.degrees,
        condition: analysis.condition,
        implausible: analysis.implausible,
        identifiable: !matches!(analysis.cells, Err(EstimateUnavailable::Estimate(EstimateError::NotIdentifiable(_)))),
        reason: analysis.cells.as_ref().err().map(ToString::to_string),
        why: analysis.cells.as_ref().err().cloned(),
        cells,
        covariance: None,
    }
}

/// Returns the categories of each cell, in order.
fn categories(plan: &Plan, attributes: &[usize]) -> Vec<Vec<String>> {
    attributes.iter().fold(vec![Vec::new()], |rows, &attribute| {
        let labels = plan.schema().attributes()[attribute].categories();
        rows.iter()
            .flat_map(|row| labels.iter().map(move |label| [row.clone(), vec![label.clone()]].concat()))
            .collect()
    })
}

/// Returns the covariance matrix of a one-way table.
pub(super) fn covariance(plan: &Plan, tally: &TableCounts, analysis: &Analysis) -> Option<Vec<Vec<f64>>> {
    let shares: Vec<f64> = analysis.cells.as_ref().ok()?.iter().map(|cell| cell.estimate).collect();
    TableEstimator::new(plan, &analysis.attributes).ok()?.one_way_covariance(tally, &shares)
}
