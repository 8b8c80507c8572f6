//! Means, variances and quantiles of an attribute with numeric scores, of everybody or within groups.
//!
//! A mean is a sum of shares weighted by the scores, divided by the share of people with a score. Its interval is
//! that of a ratio ([`conditional_shares`](crate::conditional_shares)), between the lowest and the highest score. A
//! quantile is the category in which the distribution function reaches a probability. Its interval consists of all
//! categories for which the interval of the distribution function allows that (Woodruff 1952).

use candor_base::plan::Plan;
use candor_base::schema::{Attribute, Kind};

use crate::conditional_shares::by_group;
use crate::estimate::{Cell, EstimateUnavailable, Options, Uncertainty};
use crate::ratio::{Ratios, dot};
use crate::tally::TableCounts;

/// The score of each category of an attribute; `None` for categories without one, such as missing values.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(Vec<Option<f64>>);

/// Reason why an attribute has no scores.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValuesError {
    /// Labels are not numbers.
    #[error(
        "the category \"{category}\" of \"{name}\" has no numeric score; specify one for each category, such as \
         `scores` \"{name}:0,1,..\""
    )]
    Words {
        /// Name of the attribute.
        name: String,
        /// The category.
        category: String,
    },
    /// The first and the last bin have no midpoint.
    #[error(
        "the open bins of \"{name}\", below {first} and from {last} on, have no midpoint; specify a score for each of \
         the {bins} bins: `scores` \"{name}:..\""
    )]
    OpenBins {
        /// Name of the attribute.
        name: String,
        /// First edge.
        first: f64,
        /// Last edge.
        last: f64,
        /// Number of bins.
        bins: usize,
    },
    /// The scores are too few, too many or not finite.
    #[error(
        "invalid scores of \"{name}\": found {found}; expected {expected} finite numbers, one for each category that \
         stands for a number"
    )]
    Number {
        /// Name of the attribute.
        name: String,
        /// Expected number of scores.
        expected: usize,
        /// Number of scores found.
        found: usize,
    },
    /// All scores are equal.
    #[error("all categories of \"{0}\" have the same score")]
    Same(String),
}

impl Values {
    /// Returns the scores of an attribute: points of a grid, or labels that are numbers; none for `""`.
    ///
    /// Bins need scores of their own: see [`Values::said`].
    ///
    /// # Errors
    /// Returns [`ValuesError`] if a label is not a number, or there are bins.
    pub fn new(attribute: &Attribute) -> Result<Values, ValuesError> {
        let name = || attribute.name().to_owned();
        if let (Some(first), Some(last)) = (attribute.edges().next(), attribute.edges().last()) {
            return Err(ValuesError::OpenBins { name: name(), first, last, bins: attribute.numeric_len() });
        }
        if attribute.grid().len() > 0 {
            let points = attribute.grid().map(Some).chain(std::iter::repeat(None));
            return Values(points.take(attribute.categories().len()).collect()).checked(attribute);
        }
        let number = |(code, label): (usize, &String)| match label.trim().parse::<f64>() {
            _ if !attribute.is_answer(code) => Ok(None),
            Ok(number) if number.is_finite() => Ok(Some(number)),
            _ => Err(ValuesError::Words { name: name(), category: label.clone() }),
        };
        Values(attribute.categories().iter().enumerate().map(number).collect::<Result<_, _>>()?).checked(attribute)
    }

    /// Assigns these scores, one to each bin, or to each category that is not missing.
    ///
    /// # Errors
    /// Returns [`ValuesError::Number`] if their number is wrong, or they are not finite.
    pub fn said(attribute: &Attribute, numbers: &[f64]) -> Result<Values, ValuesError> {
        let bins = if attribute.numeric_len() > 0 { attribute.numeric_len() } else { usize::MAX };
        let taking: Vec<bool> =
            (0..attribute.categories().len()).map(|at| at < bins && attribute.is_answer(at)).collect();
        let expected = taking.iter().filter(|takes| **takes).count();
        if expected != numbers.len() || !numbers.iter().all(|number| number.is_finite()) {
            return Err(ValuesError::Number { name: attribute.name().to_owned(), expected, found: numbers.len() });
        }
        let mut numbers = numbers.iter().copied();
        Values(taking.into_iter().map(|takes| if takes { numbers.next() } else { None }).collect()).checked(attribute)
    }

    /// Returns ranks of bins or ordinal categories, which suffice for quantiles; `None` without an order.
    pub fn ranks(attribute: &Attribute) -> Option<Values> {
        let ordered = attribute.numeric_len() > 0 || attribute.kind() == Kind::Ordinal;
        let last = if attribute.numeric_len() > 0 { attribute.numeric_len() } else { usize::MAX };
        let rank = |at: usize| (at < last && attribute.is_answer(at)).then_some(at as f64);
        ordered.then(|| Values((0..attribute.categories().len()).map(rank).collect()).checked(attribute).ok()).flatten()
    }

    /// Returns the scores of an item in a sum score.
    ///
    /// Numeric labels stand for themselves. Two categories, and those of an ordinal attribute, have the scores 0,
    /// 1 and so on.
    ///
    /// # Errors
    /// Returns [`ValuesError`] if labels are not numbers and categories have no order.
    pub fn of_item(attribute: &Attribute) -> Result<Values, ValuesError> {
        let answers = (0..attribute.categories().len()).filter(|&code| attribute.is_answer(code)).count();
        Values::new(attribute).or_else(|error| {
            if attribute.kind() != Kind::Ordinal && answers != 2 {
                return Err(error);
            }
            let mut ranks = (0..).map(f64::from);
            let rank = |code: usize| attribute.is_answer(code).then(|| ranks.next()).flatten();
            Values((0..attribute.categories().len()).map(rank).collect()).checked(attribute)
        })
    }

    /// Returns the score of a category.
    pub fn of(&self, code: usize) -> Option<f64> {
        self.0.get(code).copied().flatten()
    }

    /// Returns the score of each category.
    pub(crate) fn all(&self) -> impl Iterator<Item = Option<f64>> {
        self.0.iter().copied()
    }

    fn checked(self, attribute: &Attribute) -> Result<Values, ValuesError> {
        match self.range() {
            (low, high) if low < high => Ok(self),
            _ => Err(ValuesError::Same(attribute.name().to_owned())),
        }
    }

    /// Returns the score of a category, scaled from 0 for the lowest to 1 for the highest.
    pub(crate) fn scaled(&self, code: u16) -> Option<f64> {
        let (low, high) = self.range();
        self.0[usize::from(code)].map(|value| (value - low) / (high - low))
    }

    /// Converts a mean of scaled scores back to scores.
    pub(crate) fn unscaled(&self, cell: Cell) -> Cell {
        let (low, high) = self.range();
        moved(cell, high - low, low)
    }

    fn range(&self) -> (f64, f64) {
        self.0.iter().flatten().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)))
    }
}

/// Mean, variance and quantiles in one group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupMoments {
    /// Categories of the conditioning attributes.
    pub codes: Vec<u16>,
    /// Mean.
    pub mean: Cell,
    /// Variance of the scores in the population (not that of the mean).
    pub variance: Cell,
    /// Requested quantiles.
    pub quantiles: Vec<Quantile>,
}

/// A quantile: the category in which the distribution function reaches a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// Probability.
    pub share: f64,
    /// Code of the category; `None` if the group is estimated as empty.
    pub estimate: Option<u16>,
    /// Lowest category within the confidence interval.
    pub low: u16,
    /// Highest category within the confidence interval.
    pub high: u16,
}

/// Estimates the moments of the last attribute of a table, within groups of all other attributes.
///
/// # Errors
/// Returns [`EstimateUnavailable`] if the table cannot be estimated.
///
/// # Panics
/// Panics if the scores are those of another attribute.
pub fn group_moments(
    plan: &Plan,
    tally: &TableCounts,
    values: &Values,
    shares: &[f64],
    options: &Options,
) -> Result<Vec<GroupMoments>, EstimateUnavailable> {
    let given = tally.layout().attributes.len() - 1;
    by_group(plan, tally, given, options, |codes, group| match group {
        Some((ratios, members)) => of_group(codes, ratios, members, values, shares),
        None => of_nobody(codes, values, shares),
    })
}

/// Scales and shifts a number with its uncertainty.
fn moved(cell: Cell, scale: f64, shift: f64) -> Cell {
    Cell {
        estimate: shift + scale * cell.estimate,
        uncertainty: cell.uncertainty.map(|u| Uncertainty {
            standard_error: scale * u.standard_error,
            low: shift + scale * u.low,
            high: shift + scale * u.high,
        }),
    }
}

fn of_nobody(codes: Vec<u16>, values: &Values, shares: &[f64]) -> GroupMoments {
    let (low, high) = values.range();
    let order = values.order();
    let unknown =
        |low, high| Cell { estimate: f64::NAN, uncertainty: Some(Uncertainty { standard_error: f64::NAN, low, high }) };
    let ends = (order[0], order[order.len() - 1]);
    let quantile = |&share: &f64| Quantile { share, estimate: None, low: ends.0 as u16, high: ends.1 as u16 };
    GroupMoments {
        codes,
        mean: unknown(low, high),
        variance: unknown(0.0, (high - low).powi(2) / 4.0),
        quantiles: shares.iter().map(quantile).collect(),
    }
}

impl Values {
    /// Returns the categories with a score, sorted by score.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.0.len()).filter(|&code| self.0[code].is_some()).collect();
        order.sort_by(|&a, &b| self.0[a].unwrap_or(0.0).total_cmp(&self.0[b].unwrap_or(0.0)));
        order
    }
}

fn of_group(codes: Vec<u16>, ratios: &Ratios<'_>, members: &[usize], values: &Values, shares: &[f64]) -> GroupMoments {
    let (low, high) = values.range();
    let cells = ratios.estimate.shares.len();
    let spread = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
        let mut coefficients = vec![0.0; cells];
        for (&cell, value) in members.iter().zip(&values.0) {
            coefficients[cell] = value.map_or(0.0, |value| of((value - low) / (high - low)));
        }
        coefficients
    };
    let under = spread(&|_| 1.0);
    let Some((mean, _)) = ratios.share(&spread(&|u| u), &under) else { return of_nobody(codes, values, shares) };
    let squares = spread(&|u| (u - mean.estimate) * (u - mean.estimate));
    let at = |k: usize, order: &[usize]| {
        let inside = &order[..=k];
        let mut over = vec![0.0; cells];
        inside.iter().for_each(|&code| over[members[code]] = 1.0);
        ratios.share(&over, &under).map(|(cell, _)| cell)
    };
    let order = values.order();
    let distribution: Vec<Cell> = (0..order.len() - 1).filter_map(|k| at(k, &order)).collect();
    GroupMoments {
        codes,
        variance: moved(variance(ratios, &squares, &under), (high - low).powi(2), 0.0),
        mean: moved(mean, high - low, low),
        quantiles: shares.iter().map(|&share| quantile(share, &distribution, &order)).collect(),
    }
}

/// Returns the variance of scores from 0 to 1, from squared deviations from the mean, by linearization; it is at
/// most 1/4.
fn variance(ratios: &Ratios<'_>, squares: &[f64], under: &[f64]) -> Cell {
    let (n, d) = (dot(squares, &ratios.estimate.shares), dot(under, &ratios.estimate.shares));
    let estimate = n / d;
    let influence: Vec<f64> = squares.iter().zip(under).map(|(square, h)| (square - estimate * h) / d).collect();
    let (error, reach) = ratios.error_and_reach(&influence);
    let low = (estimate - reach * error).clamp(0.0, 0.25);
    let high = (estimate + reach * error).clamp(0.0, 0.25);
    Cell { estimate, uncertainty: Some(Uncertainty { standard_error: error, low, high }) }
}

fn quantile(share: f64, distribution: &[Cell], order: &[usize]) -> Quantile {
    let first = |reaches: &dyn Fn(&Cell) -> bool| {
        order[distribution.iter().position(reaches).unwrap_or(order.len() - 1)] as u16
    };
    let end = |cell: &Cell, of: fn(&Uncertainty) -> f64| cell.uncertainty.as_ref().map_or(f64::NAN, of);
    Quantile {
        share,
        estimate: Some(first(&|cell| cell.estimate >= share)),
        low: first(&|cell| end(cell, |u| u.high) >= share),
        high: first(&|cell| end(cell, |u| u.low) >= share),
    }
}
