//! Means, variances and quantiles of an attribute whose categories stand for numbers, of everybody or among those who.
//!
//! A mean is a sum of shares with the numbers as coefficients, over the share of those who have one; its interval is
//! that of a ratio ([`among`](crate::conditional_shares)), inside the least and the largest number. A quantile is where
//! the distribution function reaches a share: its interval are all categories for which that is possible by the
//! interval of the distribution function (Woodruff 1952).

use candor_base::plan::Plan;
use candor_base::schema::{Attribute, Kind};

use crate::conditional_shares::by_group;
use crate::estimate::{Cell, EstimateUnavailable, Options, Uncertainty};
use crate::ratio::{Ratios, dot};
use crate::tally::TableCounts;

/// The number that each category of an attribute stands for; `None` for those that stand for none, such as missing
/// values.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(Vec<Option<f64>>);

/// Why categories stand for no numbers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValuesError {
    /// Labels are words.
    #[error(
        "the category \"{category}\" of \"{name}\" has no numeric score; specify one for each category, such as \
         `scores` \"{name}:0,1,..\""
    )]
    Words {
        /// The attribute.
        name: String,
        /// The category.
        category: String,
    },
    /// The first and the last bin have no middle.
    #[error(
        "the open bins of \"{name}\", below {first} and from {last} on, have no midpoint; specify a score for each of \
         the {bins} bins: `scores` \"{name}:..\""
    )]
    OpenBins {
        /// The attribute.
        name: String,
        /// The first edge.
        first: f64,
        /// The last edge.
        last: f64,
        /// How many bins there are.
        bins: usize,
    },
    /// Too few or too many numbers, or none at all.
    #[error(
        "invalid scores of \"{name}\": found {found}; expected {expected} finite numbers, one for each category that \
         stands for a number"
    )]
    Number {
        /// The attribute.
        name: String,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// All the same.
    #[error("all categories of \"{0}\" have the same score")]
    Same(String),
}

impl Values {
    /// What the categories of an attribute stand for: points of a grid for themselves, labels that are numbers
    /// likewise, `""` for none, bins for `said`.
    ///
    /// # Errors
    /// If something else is a label, or bins have no middle.
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

    /// These numbers, one for each bin, or for each category that is not the missing one.
    ///
    /// # Errors
    /// If they are not as many, or not finite.
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

    /// The order of bins, or of ordinal categories, which is all that quantiles need; `None` if the attribute has no
    /// order.
    pub fn ranks(attribute: &Attribute) -> Option<Values> {
        let ordered = attribute.numeric_len() > 0 || attribute.kind() == Kind::Ordinal;
        let last = if attribute.numeric_len() > 0 { attribute.numeric_len() } else { usize::MAX };
        let rank = |at: usize| (at < last && attribute.is_answer(at)).then_some(at as f64);
        ordered.then(|| Values((0..attribute.categories().len()).map(rank).collect()).checked(attribute).ok()).flatten()
    }

    /// What the categories stand for as items of a score: numbers for themselves; two categories, and those of an
    /// ordinal attribute, for 0, 1 and so on.
    ///
    /// # Errors
    /// Returns an error if they stand for no numbers and have no order.
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

    /// What a category stands for.
    pub fn of(&self, code: usize) -> Option<f64> {
        self.0.get(code).copied().flatten()
    }

    fn checked(self, attribute: &Attribute) -> Result<Values, ValuesError> {
        match self.range() {
            (low, high) if low < high => Ok(self),
            _ => Err(ValuesError::Same(attribute.name().to_owned())),
        }
    }

    /// What a category stands for, from 0 for the least number to 1 for the largest.
    pub(crate) fn scaled(&self, code: u16) -> Option<f64> {
        let (low, high) = self.range();
        self.0[usize::from(code)].map(|value| (value - low) / (high - low))
    }

    /// A mean of scaled numbers, in the numbers themselves.
    pub(crate) fn unscaled(&self, cell: Cell) -> Cell {
        let (low, high) = self.range();
        moved(cell, high - low, low)
    }

    fn range(&self) -> (f64, f64) {
        self.0.iter().flatten().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)))
    }
}

/// Mean, variance and quantiles of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupMoments {
    /// The categories of the attributes that say among whom.
    pub codes: Vec<u16>,
    /// The mean.
    pub mean: Cell,
    /// The variance of the population, not of the mean.
    pub variance: Cell,
    /// One for each quantile asked for.
    pub quantiles: Vec<Quantile>,
}

/// Where the distribution function reaches a share, by the category's code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// The share.
    pub share: f64,
    /// The category; `None` where nobody is known to be among them.
    pub estimate: Option<u16>,
    /// The least category that is possible.
    pub low: u16,
    /// The largest.
    pub high: u16,
}

/// The numbers of the last attribute of a table, among those with the same categories of all others.
///
/// # Errors
/// If the table cannot be estimated.
///
/// # Panics
/// If the values are of another attribute.
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

/// A number times a scale, and so much more.
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
    /// The categories with a number, by their numbers.
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

/// The variance of numbers from 0 to 1, from their squared distances from the mean, by linearisation; it is at most
/// 1/4.
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
