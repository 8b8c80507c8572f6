//! Conditional shares: shares of categories within groups of other attributes, or among people with an answer.
//!
//! If the other attributes are public, the groups are known and counted separately, so the shares are those of a
//! smaller survey. If they or missing answers are randomized, a share is a ratio `N / D` of two sums of shares of
//! one table. Its standard error is that of the mean of `(g - r h) / D`, the influence of a response
//! (linearization). Its interval is Fieller's (1954): all `r` from 0 to 1 for which `N - r D` is not further from 0
//! than chance explains. The variance of `N - r D` is the larger of two: that at the estimate with two
//! pseudo-respondents added to each group, and that under `r` itself.

use candor_base::plan::Plan;
use candor_base::shape::Shape;

use crate::estimate::moments::smoothed;
use crate::estimate::{
    Analysis, Cell, EstimateError, EstimateUnavailable, Options, TableEstimator, Target, Uncertainty, analyse,
};
use crate::ratio::Ratios;
use crate::tally::{TableCounts, VarianceMethod};

/// Condition of conditional shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditioning {
    /// Number of conditioning attributes, which come first in the table.
    pub given: usize,
    /// Whether shares are based on complete cases: no attribute of the table is missing (`""`) or not asked.
    pub without_missing: bool,
}

impl Conditioning {
    /// Returns whether the shares are unconditional.
    pub fn everybody(&self) -> bool {
        self.given == 0 && !self.without_missing
    }
}

/// A conditional share of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionalShare {
    /// The cell: one category for each attribute of the table.
    pub codes: Vec<u16>,
    /// Share with its uncertainty; NaN with limits 0 and 1 if its group is estimated as empty.
    pub share: Cell,
    /// Effective sample size: number of respondents in the group with equal weights that would give the same
    /// precision.
    pub effective: Option<f64>,
    /// Degrees of freedom of the sampling design within the group.
    pub degrees: Option<f64>,
    /// Source of the share, if it has a standard error, for comparisons with other shares.
    source: Option<Source>,
}

/// The counts behind a share, and the influence of a response on it.
#[derive(Clone, Debug, PartialEq)]
struct Source {
    /// Categories of the public attributes.
    known: Vec<u16>,
    influence: Vec<f64>,
}

/// Conditional shares of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionalShares {
    /// Attributes, with the conditioning attributes first.
    pub attributes: Vec<usize>,
    /// Number of conditioning attributes.
    pub given: usize,
    /// Shares, with the first attribute varying slowest, or the reason why there are none.
    ///
    /// With complete cases, missing categories are omitted.
    pub cells: Result<Vec<ConditionalShare>, EstimateUnavailable>,
    slices: Vec<(Vec<u16>, TableCounts)>,
}

/// Estimates the conditional shares of a table by the unbiased method, with any interval but the bootstrap.
pub fn shares_among(plan: &Plan, tally: &TableCounts, among: Conditioning, options: &Options) -> ConditionalShares {
    let attributes = &tally.layout().attributes;
    let public = |&place: &usize| plan.schema().attributes()[attributes[place]].is_public();
    let known: Vec<usize> = (0..among.given).filter(public).collect();
    let found = in_slices(plan, tally, among, options, &known);
    if tally.drawn().is_none() || known.is_empty() {
        return found;
    }
    // People in a sampling unit may be in several groups, whose shares are then correlated. The correlation comes
    // from the table of all groups.
    let together = in_slices(plan, tally, among, options, &[]);
    let cells = found.cells.and_then(|cells| {
        let sources = together.cells?;
        let source = |codes: &[u16]| sources.iter().find(|own| own.codes == codes).and_then(|own| own.source.clone());
        let with = |share: ConditionalShare| ConditionalShare { source: source(&share.codes), ..share };
        Ok(cells.into_iter().map(with).collect())
    });
    ConditionalShares { cells, ..together }
}

/// Estimates conditional shares separately for the groups of the public attributes at some places.
fn in_slices(
    plan: &Plan,
    tally: &TableCounts,
    among: Conditioning,
    options: &Options,
    known: &[usize],
) -> ConditionalShares {
    let attributes = tally.layout().attributes.clone();
    let rest: Vec<usize> = (0..attributes.len()).filter(|place| !known.contains(place)).collect();
    let slices = slices(plan, tally, known);
    let mut cells = Ok(Vec::new());
    for (codes, slice) in &slices {
        let slice = Slice { plan, tally: slice, given: among.given - known.len(), among, options };
        let found = slice.shares().map(|shares| {
            let whole = |share: ConditionalShare| {
                let mut all = vec![0; attributes.len()];
                known.iter().zip(codes).chain(rest.iter().zip(&share.codes)).for_each(|(&at, &code)| all[at] = code);
                let source = share.source.map(|source| Source { known: codes.clone(), ..source });
                ConditionalShare { codes: all, source, ..share }
            };
            shares.into_iter().map(whole).collect::<Vec<_>>()
        });
        cells = cells.and_then(|mut cells: Vec<ConditionalShare>| {
            cells.extend(found?);
            Ok(cells)
        });
    }
    if let Ok(cells) = &mut cells {
        cells.sort_by(|a, b| a.codes.cmp(&b.codes));
    }
    ConditionalShares { attributes, given: among.given, cells, slices }
}

/// Returns the counts for every combination of categories of the public attributes at these places.
fn slices(plan: &Plan, tally: &TableCounts, known: &[usize]) -> Vec<(Vec<u16>, TableCounts)> {
    let attributes = &tally.layout().attributes;
    known.iter().fold(vec![(Vec::new(), tally.clone())], |slices, &place| {
        let attribute = attributes[place];
        let split = |(codes, tally): &(Vec<u16>, TableCounts)| {
            let one = |code: u16| ([&codes[..], &[code]].concat(), tally.among(plan, attribute, code));
            (0..plan.schema().size(attribute) as u16).map(one).collect::<Vec<_>>()
        };
        slices.iter().flat_map(split).collect()
    })
}

impl ConditionalShares {
    /// Returns the correlation of two of the shares; zero if they are in different known groups.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if the covariance cannot be computed.
    pub fn correlation(&self, plan: &Plan, a: &ConditionalShare, b: &ConditionalShare) -> Result<f64, EstimateError> {
        let (Some(first), Some(second)) = (&a.source, &b.source) else { return Ok(0.0) };
        let slice = self.slices.iter().find(|(known, _)| *known == first.known);
        let Some((_, tally)) = slice.filter(|_| first.known == second.known) else { return Ok(0.0) };
        let estimator = TableEstimator::new(plan, &tally.layout().attributes)?;
        let estimate = estimator.estimate(tally, Target::Population)?;
        let moments = estimator.moments(tally, &smoothed(&estimate, tally, 1))?;
        let [one, other, both] = moments.of_two(&first.influence, &second.influence);
        Ok(if one > 0.0 && other > 0.0 { (both / (one * other).sqrt()).clamp(-1.0, 1.0) } else { 0.0 })
    }
}

/// Counts of a known group, with the table to estimate in it.
struct Slice<'a> {
    plan: &'a Plan,
    tally: &'a TableCounts,
    /// Number of conditioning attributes that are randomized.
    given: usize,
    among: Conditioning,
    options: &'a Options,
}

impl Slice<'_> {
    fn shares(&self) -> Result<Vec<ConditionalShare>, EstimateUnavailable> {
        let attributes = &self.tally.layout().attributes;
        let shape = self.plan.schema().shape(attributes);
        let answered: Vec<bool> = (0..shape.cells()).map(|cell| self.is_answered(&shape, cell)).collect();
        let nobody = || Cell {
            estimate: f64::NAN,
            uncertainty: Some(Uncertainty { standard_error: f64::NAN, low: 0.0, high: 1.0 }),
        };
        let with = |cell: usize, share: Cell, effective: Option<f64>, influence: Option<Vec<f64>>| ConditionalShare {
            codes: shape.codes(cell).into_iter().map(|code| code as u16).collect(),
            share,
            effective,
            degrees: self.tally.drawn().map(VarianceMethod::degrees),
            source: influence.map(|influence| Source { known: Vec::new(), influence }),
        };
        let counting = (0..shape.cells()).filter(|&cell| answered[cell]);
        let estimator = TableEstimator::new(self.plan, attributes)?;
        match estimator.estimate(self.tally, self.options.target) {
            Ok(_) => {}
            // With few people in the group, the assigned channels may be uninformative even if the plan is not.
            Err(error) => {
                estimator.predict(1.0, self.options.target).map_err(|_| error)?;
                return Ok(counting.map(|cell| with(cell, nobody(), None, None)).collect());
            }
        }
        if self.given == 0 && answered.iter().all(|answered| *answered) {
            let unit = |cell: usize| (0..shape.cells()).map(|other| f64::from(other == cell)).collect();
            let Analysis { cells, effective, .. } = analyse(self.plan, self.tally, self.options);
            let found = match cells {
                // A small group is imprecise, which is not an error of its table.
                Err(EstimateUnavailable::Uninformative { .. }) => vec![nobody(); shape.cells()],
                found => found?,
            };
            return Ok(found
                .into_iter()
                .enumerate()
                .map(|(cell, share)| with(cell, share, effective.get(cell).copied(), Some(unit(cell))))
                .collect());
        }
        let group_of = self.groups(&shape);
        let ratios = Ratios::new(&estimator, self.tally, shape.cells() / self.cells_of_group(&shape), self.options)?;
        let one = |cell: usize| {
            let member = |other: usize| f64::from(answered[other] && group_of[other] == group_of[cell]);
            let group: Vec<f64> = (0..shape.cells()).map(member).collect();
            let own: Vec<f64> = (0..shape.cells()).map(|other| f64::from(other == cell)).collect();
            match ratios.share_and_worth(&own, &group) {
                Some((share, influence, worth)) => with(cell, share, Some(worth), Some(influence)),
                None => with(cell, nobody(), None, None),
            }
        };
        Ok(counting.map(one).collect())
    }

    fn is_answered(&self, shape: &Shape, cell: usize) -> bool {
        let attributes = self.tally.layout().attributes.iter().zip(shape.codes(cell));
        let answered = |(&a, code): (&usize, usize)| self.plan.schema().attributes()[a].is_answer(code);
        !self.among.without_missing || attributes.into_iter().all(answered)
    }

    fn cells_of_group(&self, shape: &Shape) -> usize {
        shape.sizes()[self.given..].iter().product()
    }

    /// Returns the group of each cell: its categories of the conditioning attributes.
    fn groups(&self, shape: &Shape) -> Vec<usize> {
        let places: Vec<usize> = (0..self.given).collect();
        (0..shape.cells()).map(|cell| shape.project_cell(cell, &places)).collect()
    }
}

/// Calls `each` with every combination of categories of the first `given` attributes.
///
/// It receives the table of the ratios and the cells of the group, in the order of the categories of the other
/// attributes.
/// `None` if the group is estimated as empty.
pub(crate) fn by_group<T>(
    plan: &Plan,
    tally: &TableCounts,
    given: usize,
    options: &Options,
    each: impl Fn(Vec<u16>, Option<(&Ratios<'_>, &[usize])>) -> T,
) -> Result<Vec<T>, EstimateUnavailable> {
    let attributes = &tally.layout().attributes;
    let public = |&place: &usize| plan.schema().attributes()[attributes[place]].is_public();
    let known: Vec<usize> = (0..given).filter(public).collect();
    let unknown: Vec<usize> = (0..given).filter(|place| !known.contains(place)).collect();
    let mut found = Vec::new();
    for (codes, slice) in slices(plan, tally, &known) {
        let own = &slice.layout().attributes;
        let shape = plan.schema().shape(own);
        let size: usize = shape.sizes()[unknown.len()..].iter().product();
        let estimator = TableEstimator::new(plan, own)?;
        let ratios = match Ratios::new(&estimator, &slice, shape.cells() / size, options) {
            Ok(ratios) => Some(ratios),
            Err(error) => {
                let silent = matches!(error, EstimateError::NoResponses | EstimateError::NotIdentifiable(_));
                estimator.predict(1.0, options.target).ok().filter(|_| silent).ok_or(error)?;
                None
            }
        };
        for group in 0..shape.cells() / size {
            let members: Vec<usize> = (group * size..(group + 1) * size).collect();
            let inner = shape.codes(members[0]);
            let mut all = vec![0u16; given];
            known.iter().zip(&codes).for_each(|(&at, &code)| all[at] = code);
            unknown.iter().zip(inner).for_each(|(&at, code)| all[at] = code as u16);
            found.push((all.clone(), each(all, ratios.as_ref().map(|ratios| (ratios, &members[..])))));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found.into_iter().map(|(_, found)| found).collect())
}
