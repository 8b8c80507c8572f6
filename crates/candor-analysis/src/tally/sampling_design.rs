//! Sampling designs: counts by primary sampling unit (PSU) or with replicate weights, from which standard errors
//! follow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use candor_base::plan::Plan;
use nalgebra::DMatrix;

use super::replicates::Replicates;
use super::runs::{Runs, weight};
use super::sampling_error::SamplingError;
use super::sources::{Places, Sources};
use super::{Codes, CountLayout, Rows, TableCounts};

/// How standard errors are estimated, if respondents are not a simple random sample.
#[derive(Clone, Debug, PartialEq)]
pub enum VarianceMethod {
    /// Taylor linearization: from the variation between sampling units.
    Linearization(PsuCounts),
    /// From the variation between replicates.
    Replicates(Replicates, Vec<TableCounts>),
}

/// Treatment of strata with one sampling unit, which show no variation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LonelyPsu {
    /// Returns an error.
    #[default]
    Fail,
    /// They add nothing to the variance, as if drawn with certainty.
    Certainty,
    /// They add their squared deviation from the mean over all units.
    Adjust,
    /// They add the average variance of the other strata.
    Average,
}

/// Units of the sample, including those whose respondents are not counted.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledUnits {
    strata: Vec<Stratum>,
    stratum_of: Vec<u32>,
    calibration: Option<Calibration>,
    lonely: LonelyPsu,
}

/// A stratum, within which units were drawn independently of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Stratum {
    /// Name; empty if there is only one stratum.
    pub name: String,
    /// Number of units drawn.
    pub units: u64,
    /// Number of units in the population, if known.
    pub population: Option<f64>,
}

impl Stratum {
    /// Returns the sampled fraction of its units; 0 if the number in the population is unknown.
    pub(crate) fn drawn(&self) -> f64 {
        self.population.map_or(0.0, |population| (self.units as f64 / population).min(1.0))
    }

    /// Returns whether all its units were drawn.
    pub(crate) fn is_certain(&self) -> bool {
        self.drawn() >= 1.0
    }

    /// Returns whether it has a single unit, not drawn with certainty.
    pub(crate) fn is_lonely(&self) -> bool {
        self.units == 1 && !self.is_certain()
    }
}

/// The variation that benchmarks explain, which calibrated weights remove from standard errors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Calibration {
    /// For each combination of the calibrating attributes, its columns among the benchmarks.
    pub(crate) columns: Vec<Vec<usize>>,
    /// The inverse of the sum of `d x x'`, with `d` the weights before calibration and `x` the columns of a
    /// response.
    pub(crate) inverse: DMatrix<f64>,
    /// For each unit, the sum of its calibrated weights by combination.
    pub(crate) of_units: Vec<Vec<(usize, f64)>>,
}

impl SampledUnits {
    /// Creates a sample from its strata and the stratum of each unit.
    ///
    /// A stratum is given by its name and, if known, its number of units in the population.
    ///
    /// # Errors
    /// Returns [`SamplingError`] if a stratum of several has one unit, or more units were drawn than there are.
    pub fn new(strata: Vec<(String, Option<f64>)>, stratum_of: Vec<u32>) -> Result<SampledUnits, SamplingError> {
        SampledUnits::with_lonely(strata, stratum_of, LonelyPsu::Fail)
    }

    /// Creates a sample, with a treatment of strata with one unit.
    ///
    /// # Errors
    /// Returns the errors of [`new`](SampledUnits::new). A single unit is an error only for [`LonelyPsu::Fail`], or if
    /// every stratum has one.
    pub fn with_lonely(
        strata: Vec<(String, Option<f64>)>,
        stratum_of: Vec<u32>,
        lonely: LonelyPsu,
    ) -> Result<SampledUnits, SamplingError> {
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
                // A unit drawn with certainty adds nothing to the variance.
                Some(population) if *units == 1 && *population <= 1.0 => {}
                _ if *units == 1 && lonely == LonelyPsu::Fail => return Err(SamplingError::OneUnit(name.clone())),
                _ => {}
            }
        }
        if lonely != LonelyPsu::Fail && strata.iter().all(|stratum| stratum.units == 1 && !stratum.is_certain()) {
            return Err(SamplingError::AllLonely);
        }
        Ok(SampledUnits { strata, stratum_of, calibration: None, lonely })
    }

    /// Returns the treatment of strata with one unit.
    pub fn lonely(&self) -> LonelyPsu {
        self.lonely
    }

    /// Returns the strata, by number.
    pub fn strata(&self) -> &[Stratum] {
        &self.strata
    }

    /// Returns the stratum of each unit, by number.
    pub fn stratum_of(&self) -> &[u32] {
        &self.stratum_of
    }

    pub(crate) fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    pub(crate) fn with_calibration(&self, calibration: Calibration) -> SampledUnits {
        SampledUnits { calibration: Some(calibration), ..self.clone() }
    }

    /// Returns the degrees of freedom of its standard errors: units less strata.
    pub fn degrees(&self) -> f64 {
        (self.stratum_of.len() as f64 - self.strata.len() as f64).max(1.0)
    }
}

/// Counts of each unit of a sample, without units of which nobody is counted.
#[derive(Clone, Debug, PartialEq)]
pub struct PsuCounts {
    sample: Arc<SampledUnits>,
    counts: BTreeMap<u32, UnitCounts>,
    /// With calibrated weights, the counts with the original weights, by combination of the calibrating attributes.
    pub(crate) before: Vec<(usize, UnitCounts)>,
}

impl PsuCounts {
    /// Creates counts of units, by their numbers in the sample.
    pub fn new(sample: Arc<SampledUnits>, counts: BTreeMap<u32, UnitCounts>) -> PsuCounts {
        PsuCounts { sample, counts, before: Vec::new() }
    }

    /// Returns the sample with all units, including those without counts.
    pub fn sample(&self) -> &Arc<SampledUnits> {
        &self.sample
    }

    /// Returns the degrees of freedom: units with counts, less their strata.
    fn degrees(&self) -> f64 {
        let strata: BTreeSet<u32> = self.counts.keys().map(|&unit| self.sample.stratum_of[unit as usize]).collect();
        (self.counts.len() as f64 - strata.len() as f64).max(1.0)
    }

    /// Returns the counts by the number of the unit.
    pub fn counts(&self) -> &BTreeMap<u32, UnitCounts> {
        &self.counts
    }

    /// Returns the same units with scaled weights, in a calibrated sample.
    pub(crate) fn calibrated(&self, sample: Arc<SampledUnits>, combination: usize, factor: f64) -> PsuCounts {
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

    /// Applies a function to the counts of each unit, and drops units that become empty.
    pub(super) fn map(&self, part: impl Fn(&UnitCounts) -> UnitCounts) -> PsuCounts {
        let counts = self.counts.iter().map(|(unit, counts)| (*unit, part(counts)));
        PsuCounts {
            sample: self.sample.clone(),
            counts: counts.filter(|(_, counts)| !counts.groups.is_empty()).collect(),
            before: self.before.iter().map(|(combination, counts)| (*combination, part(counts))).collect(),
        }
    }
}

/// Counts of some responses for one table, as a sparse list of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitCounts {
    pub(crate) groups: Vec<UnitGroup>,
    /// Whether every response is a separate group.
    pub(crate) singly: bool,
}

/// Responses with the same channel IDs, or a single response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnitGroup {
    pub(crate) key: Vec<u16>,
    pub(crate) total: f64,
    /// Nonempty cells in order.
    pub(crate) counts: Vec<(u32, f64)>,
}

impl UnitCounts {
    /// Returns the sum of the weights.
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

    /// Adds the counts of other responses; single responses stay separate.
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
    /// Sorts the cells and merges duplicates.
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

/// Counts a batch of responses by sampling unit.
///
/// `unit` returns the unit of a row, or `None` if the row does not count. With `singly`, every response is kept
/// separately, which finite populations require. The columns are those of [`TableCounts::add`].
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
    /// Returns the degrees of freedom of the standard errors, for the units with counts.
    pub fn degrees(&self) -> f64 {
        match self {
            VarianceMethod::Linearization(units) => units.degrees(),
            VarianceMethod::Replicates(replicates, _) => replicates.degrees(),
        }
    }

    /// Adds the counts of other respondents of the same sample.
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
    /// Returns how standard errors are estimated; `None` for a simple random sample.
    pub fn drawn(&self) -> Option<&VarianceMethod> {
        self.drawn.as_deref()
    }

    /// Sets how standard errors are estimated.
    #[must_use]
    pub fn with_drawn(mut self, drawn: VarianceMethod) -> TableCounts {
        self.drawn = Some(Box::new(drawn));
        self
    }

    /// Scales all weights by a factor, and drops the sampling design.
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
