//! Shares among those who: of each category of some attributes among the people with the same categories of others, or
//! among those who answered at all.
//!
//! Where the others are public, everybody knows who these people are: they are counted by themselves, and the shares
//! are those of a smaller survey. Where they are randomized, or a missing answer is, a share is a ratio `N / D` of two
//! sums of shares of one table. Its standard error is that of the mean of `(g - r h) / D`, what a response adds to it
//! (linearisation). Its interval is Fieller's (1954): all `r` from 0 to 1 for which `N - r D` is not further from 0
//! than chance explains. The variance of `N - r D` is the larger of two: that at the estimate with two people of no
//! particular kind added to each group, and that under `r` itself.

use candor_base::plan::Plan;
use candor_base::shape::Shape;

use crate::estimate::moments::smoothed;
use crate::estimate::{
    Analysis, Cell, EstimateError, EstimateUnavailable, Options, TableEstimator, Target, Uncertainty, analyse,
};
use crate::ratio::Ratios;
use crate::tally::{TableCounts, VarianceMethod};

/// What shares are among.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditioning {
    /// How many of the table's attributes, from the first, say among whom; all others say what.
    pub given: usize,
    /// Whether only those count who answered: whose category of no attribute of the table is the missing one, `""`, or
    /// that of those not asked.
    pub without_missing: bool,
}

impl Conditioning {
    /// Whether these are the shares of a plain table.
    pub fn everybody(&self) -> bool {
        self.given == 0 && !self.without_missing
    }
}

/// A share of one cell among others.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionalShare {
    /// The cell, one category for each attribute of the table.
    pub codes: Vec<u16>,
    /// The share with its uncertainty; where nobody is known to be among them not a number, from 0 to 1.
    pub share: Cell,
    /// The effective sample size: how many independent respondents with equal weights among them would tell as much.
    pub effective: Option<f64>,
    /// The degrees of freedom of the sampling design among them.
    pub degrees: Option<f64>,
    /// Where the share comes from, if it has a standard error: to compare it with others.
    source: Option<Source>,
}

/// The counts that a share is estimated from, and what a response adds to it.
#[derive(Clone, Debug, PartialEq)]
struct Source {
    /// The categories of the public attributes.
    known: Vec<u16>,
    influence: Vec<f64>,
}

/// Shares among those who.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionalShares {
    /// The attributes, those that say among whom first.
    pub attributes: Vec<usize>,
    /// How many say among whom.
    pub given: usize,
    /// The shares, the first attribute slowest, or why there are none. Missing categories are left out, if asked for.
    pub cells: Result<Vec<ConditionalShare>, EstimateUnavailable>,
    slices: Vec<(Vec<u16>, TableCounts)>,
}

/// Estimates the shares of a table among those who; `options.method` is unbiased, the interval any but the bootstrap.
pub fn shares_among(plan: &Plan, tally: &TableCounts, among: Conditioning, options: &Options) -> ConditionalShares {
    let attributes = &tally.layout().attributes;
    let public = |&place: &usize| plan.schema().attributes()[attributes[place]].is_public();
    let known: Vec<usize> = (0..among.given).filter(public).collect();
    let found = in_slices(plan, tally, among, options, &known);
    if tally.drawn().is_none() || known.is_empty() {
        return found;
    }
    // People of one sampling unit may be in several groups, whose shares vary together then: how, is told by one table
    // of all.
    let together = in_slices(plan, tally, among, options, &[]);
    let cells = found.cells.and_then(|cells| {
        let sources = together.cells?;
        let source = |codes: &[u16]| sources.iter().find(|own| own.codes == codes).and_then(|own| own.source.clone());
        let with = |share: ConditionalShare| ConditionalShare { source: source(&share.codes), ..share };
        Ok(cells.into_iter().map(with).collect())
    });
    ConditionalShares { cells, ..together }
}

/// The shares of a table, by slices of those who are known by the attributes at some places.
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

/// The counts of every combination of categories of public attributes, at these places of the table.
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
    /// How two of the shares vary together, from -1 to 1: not at all if they are of people who are known to be others.
    ///
    /// # Errors
    /// If the covariance cannot be worked out.
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

/// The counts of people who are known, with the table that is to be estimated of them.
struct Slice<'a> {
    plan: &'a Plan,
    tally: &'a TableCounts,
    /// How many attributes say among whom, and are randomized.
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
            // Too few of them for what they drew to tell anything, though the plan would.
            Err(error) => {
                estimator.predict(1.0, self.options.target).map_err(|_| error)?;
                return Ok(counting.map(|cell| with(cell, nobody(), None, None)).collect());
            }
        }
        if self.given == 0 && answered.iter().all(|answered| *answered) {
            let unit = |cell: usize| (0..shape.cells()).map(|other| f64::from(other == cell)).collect();
            let Analysis { cells, effective, .. } = analyse(self.plan, self.tally, self.options);
            let found = match cells {
                // A few people tell little, but there is nothing wrong with their table.
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

    /// For each cell the number of the group that it belongs to: its categories of the attributes that say among whom.
    fn groups(&self, shape: &Shape) -> Vec<usize> {
        let places: Vec<usize> = (0..self.given).collect();
        (0..shape.cells()).map(|cell| shape.project_cell(cell, &places)).collect()
    }
}

/// Tells `each` the categories of the first `given` attributes, combination by combination, with the table that its
/// ratios are of and the cells of its members, in the order of the categories of the other attributes; `None` where
/// nobody is known to be among them.
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
