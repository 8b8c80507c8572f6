//! Conditional shares and means, and their differences between groups, from one table of all attributes involved.
//!
//! A share among others is a ratio of two sums of shares of that table, a mean is one with numbers as coefficients;
//! intervals are those of [`among`](crate::conditional_shares): of a public group those of the survey of its members.
//! What two groups share of their errors is known from the same table.

use candor_base::plan::Plan;

use crate::condition::Condition;
use crate::difference::{RatioOfTwo, difference, ratio};
use crate::estimate::{Cell, EstimateError, Options, TableEstimator};
use crate::moments::Values;
use crate::ratio::Ratios;
use crate::table_list::MAX_CELLS;
use crate::tally::TableCounts;

/// A query for a share or a mean.
#[derive(Clone, Copy, Debug)]
pub struct Conditional<'a> {
    /// Condition whose share is estimated, or which restricts a mean; `None` for everybody.
    pub condition: Option<&'a Condition>,
    /// Condition of the group within which the share or mean is estimated; `None` for everybody.
    pub given: Option<&'a Condition>,
    /// Attribute whose mean is estimated, with its scores.
    pub mean: Option<(usize, &'a Values)>,
    /// Attribute, public or not, whose groups are compared.
    pub compare: Option<usize>,
}

/// A share or mean in one group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupNumber {
    /// Category of the compared attribute; `None` for everybody.
    pub code: Option<u16>,
    /// Estimate; `None` if the group is estimated as empty.
    pub number: Option<Cell>,
    /// Difference from the first group.
    pub difference: Option<Cell>,
    /// Ratio to the first group.
    pub ratio: Option<RatioOfTwo>,
}

impl Conditional<'_> {
    /// Returns the attributes of the table for the estimate.
    pub fn attributes(&self) -> Vec<usize> {
        let own = self.condition.into_iter().flat_map(Condition::attributes).copied();
        let given = self.given.into_iter().flat_map(Condition::attributes).copied();
        let others = self.mean.map(|(attribute, _)| attribute).into_iter().chain(self.compare);
        let mut all: Vec<usize> = own.chain(given).chain(others).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns what a cell adds to the numerator and the denominator, for one group.
    fn coefficients(&self, codes: &[u16], group: Option<u16>) -> (f64, f64) {
        let code = |attribute: usize| codes[attribute];
        let inside = self.given.is_none_or(|given| given.holds(code))
            && self.compare.is_none_or(|attribute| Some(code(attribute)) == group);
        let holds = inside && self.condition.is_none_or(|condition| condition.holds(code));
        match self.mean {
            None => (f64::from(holds), f64::from(inside)),
            Some((attribute, values)) => match values.scaled(code(attribute)).filter(|_| holds) {
                Some(value) => (value, 1.0),
                None => (0.0, 0.0),
            },
        }
    }
}

/// Estimates a share or mean of everybody, or of each group of the compared attribute.
///
/// Every later group is compared with the first one that is not empty.
///
/// # Errors
/// Returns [`EstimateError`] if the table cannot be estimated, or its covariance is needed and it has more than
/// 4,096 cells.
///
/// # Panics
/// Panics if the counts are not those of the [attributes](Conditional::attributes), or these have more than
/// [`MAX_CELLS`] combinations.
pub fn conditional(
    plan: &Plan,
    tally: &TableCounts,
    asked: &Conditional<'_>,
    options: &Options,
) -> Result<Vec<GroupNumber>, EstimateError> {
    let attributes = asked.attributes();
    assert_eq!(tally.layout().attributes, attributes, "the table of the attributes");
    let shape = plan.schema().shape(&attributes);
    assert!(shape.cells() <= MAX_CELLS, "at most {MAX_CELLS} combinations");
    let estimator = TableEstimator::new(plan, &attributes)?;
    let mut codes = vec![0u16; plan.schema().attributes().len()];
    let mut coefficients = |group: Option<u16>| -> (Vec<f64>, Vec<f64>) {
        let one = |cell: usize| {
            attributes.iter().zip(shape.codes(cell)).for_each(|(&attribute, code)| codes[attribute] = code as u16);
            asked.coefficients(&codes, group)
        };
        (0..shape.cells()).map(one).unzip()
    };
    let alone = |code, number| GroupNumber { code, number, difference: None, ratio: None };
    // The number of groups in the corresponding table of `estimate`.
    let members = asked.condition.filter(|_| asked.mean.is_some());
    let mut given: Vec<usize> =
        asked.given.into_iter().chain(members).flat_map(Condition::attributes).copied().collect();
    given.sort_unstable();
    given.dedup();
    let among: usize = given.iter().map(|&attribute| plan.schema().size(attribute)).product();
    let Some(compare) = asked.compare else {
        let (over, under) = coefficients(None);
        if asked.given.is_none() && asked.mean.is_none() {
            return Ok(vec![alone(None, Some(estimator.sum(tally, &over, options)?))]);
        }
        let ratios = Ratios::new(&estimator, tally, among, options)?;
        let found = ratios.share(&over, &under).map(|(cell, _)| asked.unscaled(cell));
        return Ok(vec![alone(None, found)]);
    };
    let groups = plan.schema().size(compare);
    let ratios = Ratios::new(&estimator, tally, among * groups, options)?;
    let (mut found, mut first): (Vec<GroupNumber>, Option<(Cell, Vec<f64>)>) = (Vec::new(), None);
    for code in 0..groups as u16 {
        let (over, under) = coefficients(Some(code));
        let Some((cell, influence)) = ratios.share(&over, &under) else {
            found.push(alone(Some(code), None));
            continue;
        };
        let known = asked.among_known(plan, tally, code, (options, among));
        let number = known.unwrap_or_else(|| asked.unscaled(cell));
        let compared = first.as_ref().map(|(before, other)| {
            let correlation = ratios.correlation(other, &influence);
            (difference(before, &number, correlation), ratio(before, &number, correlation))
        });
        let (difference, ratio) = compared.unwrap_or_default();
        found.push(GroupNumber { code: Some(code), number: Some(number), difference, ratio });
        first.get_or_insert((number, influence));
    }
    Ok(found)
}

impl Conditional<'_> {
    /// Returns the estimate of a public group with the interval of the survey of its members, as a table by these
    /// groups has it; `None` for randomized groups and for too few members.
    ///
    /// `among` is the number of groups that the conditions form.
    fn among_known(
        &self,
        plan: &Plan,
        tally: &TableCounts,
        code: u16,
        (options, among): (&Options, usize),
    ) -> Option<Cell> {
        let compare = self.compare.filter(|&attribute| plan.schema().attributes()[attribute].is_public())?;
        let members = tally.among(plan, compare, code);
        let attributes = &members.layout().attributes;
        let shape = plan.schema().shape(attributes);
        let mut codes = vec![0u16; plan.schema().attributes().len()];
        codes[compare] = code;
        let one = |cell: usize| {
            attributes.iter().zip(shape.codes(cell)).for_each(|(&attribute, code)| codes[attribute] = code as u16);
            self.coefficients(&codes, Some(code))
        };
        let (over, under): (Vec<f64>, Vec<f64>) = (0..shape.cells()).map(one).unzip();
        let estimator = TableEstimator::new(plan, attributes).ok()?;
        if self.given.is_none() && self.mean.is_none() {
            return estimator.sum(&members, &over, options).ok();
        }
        let ratios = Ratios::new(&estimator, &members, among, options).ok()?;
        ratios.share(&over, &under).map(|(cell, _)| self.unscaled(cell))
    }

    /// Converts a mean of scaled scores back to scores; shares stay as they are.
    fn unscaled(&self, cell: Cell) -> Cell {
        self.mean.map_or(cell, |(_, values)| values.unscaled(cell))
    }
}
