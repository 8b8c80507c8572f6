//! Differences and ratios between two groups or two waves.

use candor_analysis::conditional_shares::{ConditionalShare, ConditionalShares};
use candor_analysis::difference::{difference, ratio};
use candor_analysis::estimate::{Cell, Uncertainty};
use candor_base::plan::Plan;
use serde::Serialize;

use crate::error::StudyError;

/// Shares of one table in two groups or two waves.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupComparison {
    /// Names of the attributes, conditioning attributes first.
    pub attributes: Vec<String>,
    /// Conditioning attributes, without the one that is compared.
    #[serde(flatten, serialize_with = "crate::old_keys::conditioning_attributes")]
    pub conditioning_attributes: Vec<String>,
    /// Group of the table: names and categories of the grouping attributes.
    #[serde(serialize_with = "crate::format::as_object")]
    pub group: Vec<(String, String)>,
    /// Attribute whose groups are compared; `None` for waves.
    pub compared: Option<String>,
    /// The reference: a category, or `before`.
    pub first: String,
    /// The group or wave compared with it: a category, or `now`.
    pub second: String,
    /// Cells, with the first attribute varying slowest.
    pub cells: Vec<ComparedCell>,
}

/// One cell of the two tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparedCell {
    /// One category for each attribute.
    pub categories: Vec<String>,
    /// Share in the reference.
    pub first: f64,
    /// Share in the other group or wave.
    pub second: f64,
    /// Second minus first; `None` if either is unknown.
    pub difference: Option<Interval>,
    /// Second divided by first; `None` if either is unknown, or the first is not positive.
    pub ratio: Option<Ratio>,
}

/// An estimate with its standard error and confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Lower confidence limit.
    pub low: f64,
    /// Upper confidence limit.
    pub high: f64,
}

impl Interval {
    pub(crate) fn new(estimate: f64, standard_error: f64, low: f64, high: f64) -> Interval {
        Interval { estimate, standard_error, low, high }
    }
}

/// A ratio with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ratio {
    /// The estimate.
    pub estimate: f64,
    /// Lower confidence limit.
    pub low: f64,
    /// Upper confidence limit; infinite (null in JSON) if the denominator may be zero.
    pub high: f64,
}

impl Ratio {
    pub(crate) fn new(estimate: f64, low: f64, high: f64) -> Ratio {
        Ratio { estimate, low, high }
    }
}

impl GroupComparison {
    /// Compares two waves by attributes, conditioning attributes and group.
    pub(crate) fn of_waves(
        (attributes, given, group): (&[String], &[String], &[(String, String)]),
        cells: Vec<ComparedCell>,
    ) -> GroupComparison {
        let (attributes, conditioning_attributes, group) = (attributes.to_vec(), given.to_vec(), group.to_vec());
        GroupComparison {
            attributes,
            conditioning_attributes,
            group,
            compared: None,
            first: "before".to_owned(),
            second: "now".to_owned(),
            cells,
        }
    }
}

/// Compares one cell.
pub(crate) fn compared(categories: Vec<String>, first: &Cell, second: &Cell, correlation: f64) -> ComparedCell {
    let found = difference(first, second, correlation).and_then(|cell| {
        let Uncertainty { standard_error, low, high } = cell.uncertainty?;
        Some(Interval::new(cell.estimate, standard_error, low, high))
    });
    let ratio = ratio(first, second, correlation);
    ComparedCell {
        categories,
        first: first.estimate,
        second: second.estimate,
        difference: found,
        ratio: ratio.map(|ratio| Ratio::new(ratio.estimate, ratio.low, ratio.high)),
    }
}

/// Compares each group of the last conditioning attribute with the first group.
///
/// # Errors
/// Returns [`StudyError::Estimate`] if their covariance cannot be computed.
pub(crate) fn groups(plan: &Plan, shares: &ConditionalShares) -> Result<Vec<GroupComparison>, StudyError> {
    let Ok(cells) = &shares.cells else { return Ok(Vec::new()) };
    let place = shares.given - 1;
    let schema = plan.schema();
    let label = |attribute: usize, code: u16| schema.attributes()[attribute].categories()[usize::from(code)].clone();
    let compared_attribute = shares.attributes[place];
    let codes: std::collections::BTreeSet<u16> = cells.iter().map(|cell| cell.codes[place]).collect();
    let mut codes = codes.into_iter();
    let Some(first) = codes.next() else { return Ok(Vec::new()) };
    let others: Vec<usize> = (0..shares.attributes.len()).filter(|&at| at != place).collect();
    let name = |&at: &usize| schema.name(shares.attributes[at]).to_owned();
    let of = |code: u16| cells.iter().filter(move |cell| cell.codes[place] == code);
    let one = |second: u16| {
        let pair = |(a, b): (&ConditionalShare, &ConditionalShare)| {
            let categories = others.iter().map(|&at| label(shares.attributes[at], a.codes[at])).collect();
            Ok(compared(categories, &a.share, &b.share, shares.correlation(plan, a, b)?))
        };
        Ok(GroupComparison {
            attributes: others.iter().map(name).collect(),
            conditioning_attributes: others.iter().take(place).map(name).collect(),
            group: Vec::new(),
            compared: Some(schema.name(compared_attribute).to_owned()),
            first: label(compared_attribute, first),
            second: label(compared_attribute, second),
            cells: of(first).zip(of(second)).map(pair).collect::<Result<_, StudyError>>()?,
        })
    };
    codes.map(one).collect()
}
