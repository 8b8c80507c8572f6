//! How respondents were drawn: counts by the units of the sample, or with replicate weights. Errors of survey designs
//! come from these.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use candor_base::plan::Plan;
use nalgebra::DMatrix;

use super::replicates::Replicates;
use super::runs::{Runs, weight};
use super::sampling_error::SamplingError;
use super::sources::{Places, Sources};
use super::{Codes, CountLayout, Rows, TableCounts};

/// How the respondents behind some counts were drawn, if they are no simple random sample.
#[derive(Clone, Debug, PartialEq)]
pub enum VarianceMethod {
    /// In units: what scatters from unit to unit tells the error (linearisation).
    Linearization(PsuCounts),
    /// With replicate weights: what scatters from replicate to replicate does.
    Replicates(Replicates, Vec<TableCounts>),
}

/// What becomes of strata with one sampling unit, which do not tell how far others would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LonelyPsu {
    /// An error.
    #[default]
    Fail,
    /// They add nothing to the variance, as if drawn for certain.
    Certainty,
    /// Their distance from the mean over all units counts.
    Adjust,
    /// They add as much as the other strata do on average.
    Average,
}

/// The units of a whole sample, whoever of them is counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    strata: Vec<Stratum>,
    stratum_of: Vec<u32>,
    calibration: Option<Calibration>,
    lonely: LonelyPsu,
}

/// A stratum: units were drawn from it by themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Stratum {
    /// What it is called; empty if there is one only.
    pub name: String,
    /// How many units were drawn.
    pub units: u64,
    /// How many it has, if that is known.
    pub population: Option<f64>,
}

impl Stratum {
    /// The share of its units that were drawn; 0 if it is not known how many it has.
    pub(crate) fn drawn(&self) -> f64 {
        self.population.map_or(0.0, |population| (self.units as f64 / population).min(1.0))
    }

    /// Whether all its units were drawn.
    pub(crate) fn is_certain(&self) -> bool {
        self.drawn() >= 1.0
    }

    /// Whether it has one unit that was not drawn for certain.
    pub(crate) fn is_lonely(&self) -> bool {
        self.units == 1 && !self.is_certain()
    }
}

/// What calibrated weights take out of errors: all that the known margins explain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Calibration {
    /// For each combination of the calibrating attributes its columns among the margins.
    pub(crate) columns: Vec<Vec<usize>>,
    /// The inverse of the sum of `d x x'`, with `d` the weights before and `x` the columns of a response.
    pub(crate) inverse: DMatrix<f64>,
    /// For each unit the sum of its calibrated weights, by combination.
    pub(crate) of_units: Vec<Vec<(usize, f64)>>,
}

impl Sample {
    /// A sample of units, each with the number of its stratum; strata with the number of units that they have, if it is
    /// known.
    ///
    /// # Errors
    /// If a stratum has one unit only (and there are others), or more than there are.
    pub fn new(strata: Vec<(String, Option<f64>)>, stratum_of: Vec<u32>) -> Result<Sample, SamplingError> {
        Sample::with_lonely(strata, stratum_of, LonelyPsu::Fail)
    }

    /// The same, where strata with one unit are dealt with.
    ///
    /// # Errors
    /// As [`new`](Sample::new); strata with one unit only if they fail, or there are no others.
    pub fn with_lonely(
        strata: Vec<(String, Option<f64>)>,
        stratum_of: Vec<u32>,
        lonely: LonelyPsu,
    ) -> Result<Sample, SamplingError> {
        let mut units = vec![0u64; strata.len()];
        stratum_of.iter().for_each(|&stratum| units[stratum as usize] += 1);
        let stratum = |((name, population), units)| Stratum { name, units, population };
        let strata: Vec<Stratum> = strata.into_iter().zip(units).map(stratum).collect();
        for Stratum { name, units, population } in &strata {
            match population {
                Some(population) if *population < *units as f64 - 1e-9 => {
                    let (stratum, drawn, population) = (name.clone(), *units, *population);
                    return Err(SamplingError::Population { stratum, drawn, population });
                }
                // Who was drawn for certain adds nothing to the error.
                Some(population) if *units == 1 && *population <= 1.0 => {}
                _ if *units == 1 && lonely == LonelyPsu::Fail => return Err(SamplingError::OneUnit(name.clone())),
                _ => {}
            }
        }
        if lonely != LonelyPsu::Fail && strata.iter().all(|stratum| stratum.units == 1 && !stratum.is_certain()) {
            return Err(SamplingError::AllLonely);
        }
        Ok(Sample { strata, stratum_of, calibration: None, lonely })
    }

    /// What becomes of strata with one unit.
    pub fn lonely(&self) -> LonelyPsu {
        self.lonely
    }

    /// The strata, by number.
    pub fn strata(&self) -> &[Stratum] {
        &self.strata
    }

    /// The number of the stratum of each unit.
    pub fn stratum_of(&self) -> &[u32] {
        &self.stratum_of
    }

    pub(crate) fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    pub(crate) fn with_calibration(&self, calibration: Calibration) -> Sample {
        Sample { calibration: Some(calibration), ..self.clone() }
    }

    /// The degrees of freedom of its errors: units less strata.
    pub fn degrees(&self) -> f64 {
        (self.stratum_of.len() as f64 - self.strata.len() as f64).max(1.0)
    }
}

/// The counts of each unit of a sample; those of whom nobody is counted are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct PsuCounts {
    sample: Arc<Sample>,
    counts: BTreeMap<u32, UnitCounts>,
    /// Where weights are calibrated: the counts with the weights before, by combination of the calibrating attributes.
    pub(crate) before: Vec<(usize, UnitCounts)>,
}

impl PsuCounts {
    /// The counts of units, by their numbers in the sample.
    pub fn new(sample: Arc<Sample>, counts: BTreeMap<u32, UnitCounts>) -> PsuCounts {
        PsuCounts { sample, counts, before: Vec::new() }
    }

    /// All units, counted or not.
    pub fn sample(&self) -> &Arc<Sample> {
        &self.sample
    }

    /// The units with somebody who is counted, less their strata.
    fn degrees(&self) -> f64 {
        let strata: BTreeSet<u32> = self.counts.keys().map(|&unit| self.sample.stratum_of[unit as usize]).collect();
        (self.counts.len() as f64 - strata.len() as f64).max(1.0)
    }

    /// The counts by number of the unit.
    pub fn counts(&self) -> &BTreeMap<u32, UnitCounts> {
        &self.counts
    }

    /// The same units with other weights, in a sample that is calibrated.
    pub(crate) fn calibrated(&self, sample: Arc<Sample>, combination: usize, factor: f64) -> PsuCounts {
        let mut before = UnitCounts::default();
        self.counts.values().for_each(|unit| before.merge(UnitCounts { singly: false, ..unit.clone() }));
        let counts = self.counts.iter().map(|(unit, counts)| (*unit, counts.scaled(factor))).collect();
        PsuCounts { sample, counts, before: vec![(combination, before)] }
    }

    fn merge(&mut self, other: PsuCounts) {
        for (unit, counts) in other.counts {
            self.counts.entry(unit).or_default().merge(counts);
        }
        self.before.extend(other.before);
    }

    /// The same of some of the responses.
    pub(super) fn map(&self, part: impl Fn(&UnitCounts) -> UnitCounts) -> PsuCounts {
        let counts = self.counts.iter().map(|(unit, counts)| (*unit, part(counts)));
        PsuCounts {
            sample: self.sample.clone(),
            counts: counts.filter(|(_, counts)| !counts.groups.is_empty()).collect(),
            before: self.before.iter().map(|(combination, counts)| (*combination, part(counts))).collect(),
        }
    }
}

/// The counts of some responses of one table, where few cells are filled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitCounts {
    pub(crate) groups: Vec<UnitGroup>,
    /// Whether every response is a group of its own.
    pub(crate) singly: bool,
}

/// Those with the same tags, or one response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnitGroup {
    pub(crate) key: Vec<u16>,
    pub(crate) total: f64,
    /// Cells that are filled, in order.
    pub(crate) counts: Vec<(u32, f64)>,
}

impl UnitCounts {
    /// The sum of the weights.
    pub fn total(&self) -> f64 {
        self.groups.iter().map(|group| group.total).sum()
    }

    fn scaled(&self, factor: f64) -> UnitCounts {
        let group = |group: &UnitGroup| UnitGroup {
            key: group.key.clone(),
            total: factor * group.total,
            counts: group.counts.iter().map(|(cell, count)| (*cell, factor * count)).collect(),
        };
        UnitCounts { groups: self.groups.iter().map(group).collect(), singly: self.singly }
    }

    /// Adds the counts of other responses; those that are held singly stay so.
    pub fn merge(&mut self, other: UnitCounts) {
        self.singly |= other.singly;
        if self.singly {
            return self.groups.extend(other.groups);
        }
        for group in other.groups {
            match self.groups.iter_mut().find(|own| own.key == group.key) {
                Some(own) => {
                    own.total += group.total;
                    own.counts.extend(group.counts);
                    own.tidy();
                }
                None => self.groups.push(group),
            }
        }
    }
}

impl UnitGroup {
    /// Each cell once, in order.
    fn tidy(&mut self) {
        self.counts.sort_by_key(|(cell, _)| *cell);
        self.counts.dedup_by(|next, held| {
            let same = next.0 == held.0;
            if same {
                held.1 += next.1;
            }
            same
        });
    }
}

/// Counts a batch of responses by units: `unit` is that of each row, `None` for one that is not counted. With `singly`
/// every response is held by itself, as strata of finite populations need it. The columns are as [`TableCounts::add`]
/// takes them.
pub fn count_units(
    plan: &Plan,
    layout: &CountLayout,
    columns: &[Codes<'_>],
    rows_are: Rows<'_>,
    singly: bool,
    unit: impl Fn(usize) -> Option<u32>,
) -> BTreeMap<u32, UnitCounts> {
    let sources = Sources::new(layout, plan, columns);
    let rows = (0..rows_are.number(columns)).filter(|&row| unit(row).is_some()).map(|row| row as u32);
    let mut runs = Runs::new(&sources.tags, rows, rows_are);
    let mut units: BTreeMap<u32, UnitCounts> = BTreeMap::new();
    let (mut hits, mut next): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (run, rows) in runs.iter_mut() {
        let key = layout.key(plan, &run.tags);
        let frame = layout.frame(plan, &key);
        let places = Places::new(&sources, &frame, plan);
        for row in rows.iter().map(|&row| row as usize) {
            let Some(unit) = unit(row) else { continue };
            let (weight, _) = weight(rows_are, row);
            match frame.elsewhere {
                true => hits.splice(.., [0]).for_each(drop),
                false => places.cells(row, &mut hits, &mut next),
            }
            let counts = units.entry(unit).or_default();
            counts.singly = singly;
            let groups = &mut counts.groups;
            if singly || groups.last().is_none_or(|group| group.key != key) {
                groups.push(UnitGroup { key: key.clone(), total: 0.0, counts: Vec::new() });
            }
            if let Some(group) = groups.last_mut() {
                group.total += weight;
                group.counts.extend(hits.iter().map(|&cell| (cell as u32, weight)));
            }
        }
    }
    units.values_mut().flat_map(|unit| &mut unit.groups).for_each(UnitGroup::tidy);
    units
}

impl VarianceMethod {
    /// The degrees of freedom of its errors: of those who are counted, units less strata.
    pub fn degrees(&self) -> f64 {
        match self {
            VarianceMethod::Linearization(units) => units.degrees(),
            VarianceMethod::Replicates(replicates, _) => replicates.degrees(),
        }
    }

    /// Adds what others of the same sample are counted.
    pub(super) fn merge(&mut self, other: VarianceMethod) {
        match (self, other) {
            (VarianceMethod::Linearization(own), VarianceMethod::Linearization(more)) => own.merge(more),
            (VarianceMethod::Replicates(_, own), VarianceMethod::Replicates(_, more)) => {
                own.iter_mut().zip(more).for_each(|(own, more)| own.merge(more));
            }
            _ => unreachable!("counts of one sample"),
        }
    }
}

impl TableCounts {
    /// How the respondents were drawn, if they are no simple random sample.
    pub fn drawn(&self) -> Option<&VarianceMethod> {
        self.drawn.as_deref()
    }

    /// The same counts of respondents who were drawn so.
    #[must_use]
    pub fn with_drawn(mut self, drawn: VarianceMethod) -> TableCounts {
        self.drawn = Some(Box::new(drawn));
        self
    }

    /// The same responses with all weights times a factor; how they were drawn is not told any more.
    #[must_use]
    pub(crate) fn scaled(&self, factor: f64) -> TableCounts {
        let mut scaled = TableCounts { drawn: None, ..self.clone() };
        let sets = scaled.sets.iter_mut().flat_map(BTreeMap::values_mut).flat_map(|sets| sets.values_mut());
        sets.for_each(|count| *count *= factor);
        for group in scaled.groups.values_mut() {
            if group.square_counts.is_empty() {
                group.square_counts = group.counts.clone();
            }
            group.total *= factor;
            group.squares *= factor * factor;
            group.counts.iter_mut().for_each(|count| *count *= factor);
            group.square_counts.iter_mut().for_each(|count| *count *= factor * factor);
        }
        scaled
    }
}
