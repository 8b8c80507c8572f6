//! Counts responses of a sampling design, by primary sampling unit or for each column of replicate weights.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_schema::DataType;
use candor_analysis::tally::{
    CountLayout, LonelyPsu, PsuCounts, ReplicateWeights, Replication, Rows, SampledUnits, TableCounts, UnitCounts,
    VarianceMethod, count_units,
};
use candor_base::plan::Plan;
use candor_runtime::progress::ProgressSink;

use super::{Groups, Keep, Keyed, Tallied, TallyJob, check_groups, count, merge};
use crate::TableError;
use crate::input::{Batch, Inputs};
use crate::model::column;
use crate::responses::{
    Columns, ResponseBatch, invalid_value, matches, read_batches_beside, unsupported, weights_of, written,
};
use crate::types::cast;

/// Columns of the sampling design, which the plan must not [protect](candor_base::schema::Schema::protects).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleColumns {
    /// Column with labels of strata.
    pub strata: Option<String>,
    /// Column with labels of primary sampling units within strata; without it, every respondent is a unit.
    pub clusters: Option<String>,
    /// Column with the number of units in the stratum's population or, if at most 1, the sampled fraction.
    pub population: Option<String>,
    /// Name pattern of the columns of replicate weights, in which `*` matches any text, and their description.
    pub replicates: Option<(String, Replication)>,
    /// Treatment of strata with one unit.
    pub lonely: LonelyPsu,
}

impl SampleColumns {
    /// Returns whether there are no columns, as for a simple random sample.
    pub fn is_simple(&self) -> bool {
        [&self.strata, &self.clusters, &self.population].iter().all(|name| name.is_none()) && self.replicates.is_none()
    }

    fn names(&self) -> Vec<String> {
        [&self.strata, &self.clusters, &self.population].into_iter().flatten().cloned().collect()
    }
}

/// Reads responses once and counts them for every table, with what the sampling design needs for standard errors.
///
/// # Errors
/// Returns the errors of [`tally`](super::tally()).
/// Returns another [`TableError`] if a column of the design is missing, protected or invalid, or the design has no
/// standard errors.
pub fn tally_sample(
    job: &TallyJob<'_>,
    columns: &SampleColumns,
    inputs: Inputs,
    progress: ProgressSink<'_>,
) -> Result<Tallied, TableError> {
    check_groups(job)?;
    let named = columns.names();
    for name in &named {
        if let Some(attribute) = job.plan.schema().protects(name) {
            let (column, attribute) = (name.clone(), attribute.name().to_owned());
            return Err(TableError::SampleTruth { column, attribute });
        }
    }
    let layouts: Vec<CountLayout> = job.tables.lists().iter().map(|table| CountLayout::new(job.plan, table)).collect();
    let matching = columns.replicates.as_ref().map(|(pattern, _)| pattern.as_str());
    let mut all = All::default();
    let mut wrong = None;
    let read = read_batches_beside(
        job.plan,
        inputs,
        job.weights,
        Columns { named: &named, matching },
        progress,
        |batch, decoded| counted(job, columns, &layouts, batch, &decoded),
        |counted| {
            if let Err(error) = all.take(counted, columns) {
                wrong.get_or_insert(error);
            }
        },
    )?;
    if let Some(error) = wrong {
        return Err(error);
    }
    let (groups, rows) = all.finish(columns)?;
    Ok(Tallied { groups, responses: read.responses, rows, read })
}

/// Counts of units for each table, by the number of the unit.
type CountsOfUnits = Vec<BTreeMap<u32, UnitCounts>>;

/// Counts of some rows.
struct Counted {
    file: String,
    groups: Groups,
    rows: Vec<(Vec<u16>, u64)>,
    /// Units by their number within these rows.
    units: Vec<Unit>,
    of_units: BTreeMap<Vec<u16>, CountsOfUnits>,
    replicates: Vec<Groups>,
    replicate_weights: ReplicateWeights,
}

/// A sampling unit: a cluster in a stratum, or a person.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Unit {
    stratum: String,
    cluster: Option<String>,
    /// Population size of the stratum, as bits.
    population: Option<u64>,
}

fn counted(
    job: &TallyJob<'_>,
    columns: &SampleColumns,
    layouts: &[CountLayout],
    batch: &Batch,
    decoded: &ResponseBatch,
) -> Result<Counted, TableError> {
    let keyed = Keyed::new(job, decoded);
    let weights = decoded.weights.as_deref();
    let (groups, rows) = count(job, Keep::Counts, layouts, &keyed, weights);
    let file = batch.file.clone();
    if let Some((pattern, _)) = &columns.replicates {
        let fields = batch.columns.schema();
        let matching = fields.fields().iter().enumerate().filter(|(_, field)| matches(pattern, field.name()));
        let one = |(at, field): (usize, &Arc<arrow_schema::Field>)| weights_of(batch, at, field.name());
        let columns = matching.map(one).collect::<Result<Vec<Vec<f64>>, TableError>>()?;
        let replicates =
            columns.iter().map(|weights| count(job, Keep::Counts, layouts, &keyed, Some(weights)).0).collect();
        let mut replicate_weights = ReplicateWeights::default();
        replicate_weights.add(weights.unwrap_or(&vec![1.0; keyed.rows]), &columns);
        let (units, of_units) = Default::default();
        return Ok(Counted { file, groups, rows, units, of_units, replicates, replicate_weights });
    }
    let (units, unit_of) = units(columns, batch, keyed.rows)?;
    let rows_are = weights.map_or(Rows::Single, Rows::Weighted);
    let singly = columns.population.is_some();
    let of_units = count_grouped_units(job.plan, layouts, &keyed, rows_are, singly, &unit_of);
    let (replicates, replicate_weights) = Default::default();
    Ok(Counted { file, groups, rows, units, of_units, replicates, replicate_weights })
}

/// Counts every group by units, in one pass. A unit with rows in several groups is one unit in each of them.
fn count_grouped_units(
    plan: &Plan,
    layouts: &[CountLayout],
    keyed: &Keyed<'_>,
    rows_are: Rows<'_>,
    singly: bool,
    unit_of: &[u32],
) -> BTreeMap<Vec<u16>, CountsOfUnits> {
    let (mut pairs, mut numbers, mut pair_of) = (Vec::new(), HashMap::new(), vec![0; keyed.rows]);
    for (group, rows) in keyed.rows_of.iter().enumerate() {
        for row in rows.iter().map(|&row| row as usize) {
            let pair = (group, unit_of[row]);
            pair_of[row] = *numbers.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() as u32 - 1
            });
        }
    }
    let mut groups: Vec<CountsOfUnits> = keyed.groups.iter().map(|_| vec![BTreeMap::new(); layouts.len()]).collect();
    for (at, layout) in layouts.iter().enumerate() {
        let counted = count_units(plan, layout, &keyed.codes, rows_are, singly, |row| Some(pair_of[row]));
        for (pair, counts) in counted {
            let (group, unit) = pairs[pair as usize];
            groups[group][at].insert(unit, counts);
        }
    }
    keyed.groups.iter().cloned().zip(groups).collect()
}

/// Returns the distinct units of a batch, and the unit of each row.
fn units(columns: &SampleColumns, batch: &Batch, rows: usize) -> Result<(Vec<Unit>, Vec<u32>), TableError> {
    let labels = |name: &Option<String>| name.as_ref().map(|name| labels(batch, name)).transpose();
    let (strata, clusters) = (labels(&columns.strata)?, labels(&columns.clusters)?);
    let populations = columns.population.as_ref().map(|name| populations(batch, name)).transpose()?;
    let (mut units, mut numbers, mut unit_of) = (Vec::new(), HashMap::new(), Vec::with_capacity(rows));
    for row in 0..rows {
        let unit = Unit {
            stratum: strata.as_ref().map_or(String::new(), |strata| strata[row].clone()),
            cluster: clusters.as_ref().map(|clusters| clusters[row].clone()),
            population: populations.as_ref().map(|populations| populations[row].to_bits()),
        };
        let next = units.len() as u32;
        let number = if unit.cluster.is_some() { *numbers.entry(unit.clone()).or_insert(next) } else { next };
        if number == next {
            units.push(unit);
        }
        unit_of.push(number);
    }
    Ok((units, unit_of))
}

fn labels(batch: &Batch, name: &str) -> Result<Vec<String>, TableError> {
    let array = column(batch, name);
    let text = cast(array, &DataType::Utf8).ok_or_else(|| unsupported(batch, name, array))?;
    let one = |(row, label): (usize, Option<&str>)| match label {
        Some(label) if !label.is_empty() => Ok(label.to_owned()),
        _ => {
            let bad = invalid_value(batch, row, name, "");
            Err(TableError::InvalidValue(
                bad.not("a label of a sampling unit", "every row has one, or the column is not used"),
            ))
        }
    };
    text.as_string::<i32>().iter().enumerate().map(one).collect()
}

fn populations(batch: &Batch, name: &str) -> Result<Vec<f64>, TableError> {
    let array = column(batch, name);
    let numbers = cast(array, &DataType::Utf8).and_then(|text| cast(&text, &DataType::Float64));
    let numbers = numbers.ok_or_else(|| unsupported(batch, name, array))?;
    let one = |(row, number): (usize, Option<f64>)| {
        number.filter(|number| *number > 0.0 && *number <= 1e15).ok_or_else(|| {
            let bad = invalid_value(batch, row, name, &written(array, row));
            let rule =
                "it is how many sampling units the stratum's population has; up to 1, which share of them was drawn";
            TableError::InvalidValue(bad.not("a size of a population", rule))
        })
    };
    numbers.as_primitive::<Float64Type>().iter().enumerate().map(one).collect()
}

/// The counts of all batches.
#[derive(Default)]
struct All {
    groups: Groups,
    rows: BTreeMap<Vec<u16>, u64>,
    strata: Vec<(String, Option<f64>)>,
    strata_by_name: HashMap<String, u32>,
    units_by_name: HashMap<(u32, String), u32>,
    stratum_of: Vec<u32>,
    of_units: BTreeMap<Vec<u16>, CountsOfUnits>,
    replicates: Vec<Groups>,
    replicate_weights: ReplicateWeights,
}

impl All {
    fn take(&mut self, counted: Counted, columns: &SampleColumns) -> Result<(), TableError> {
        merge(&mut self.groups, counted.groups);
        counted.rows.into_iter().for_each(|(key, number)| *self.rows.entry(key).or_insert(0) += number);
        if let Some((pattern, _)) = &columns.replicates {
            let found = counted.replicates.len();
            if self.replicates.is_empty() {
                self.replicates = vec![Groups::new(); found];
            }
            if found < 2 || found != self.replicates.len() {
                return Err(TableError::Replicates { file: counted.file, pattern: pattern.clone(), found });
            }
            self.replicates.iter_mut().zip(counted.replicates).for_each(|(held, more)| merge(held, more));
            self.replicate_weights.merge(&counted.replicate_weights);
            return Ok(());
        }
        let numbers =
            counted.units.into_iter().map(|unit| self.number(unit, columns)).collect::<Result<Vec<_>, _>>()?;
        for (key, tables) in counted.of_units {
            let held = self.of_units.entry(key).or_insert_with(|| vec![BTreeMap::new(); tables.len()]);
            for (held, units) in held.iter_mut().zip(tables) {
                for (unit, counts) in units {
                    held.entry(numbers[unit as usize]).or_default().merge(counts);
                }
            }
        }
        Ok(())
    }

    /// Returns the number of a unit in the entire sample.
    fn number(&mut self, unit: Unit, columns: &SampleColumns) -> Result<u32, TableError> {
        let Unit { stratum, cluster, population } = unit;
        let population = population.map(f64::from_bits);
        let next = self.strata.len() as u32;
        let number = *self.strata_by_name.entry(stratum.clone()).or_insert(next);
        if number == next {
            self.strata.push((stratum.clone(), population));
        }
        if let (Some(first), Some(second)) = (self.strata[number as usize].1, population)
            && first != second
        {
            let column = columns.population.clone().unwrap_or_default();
            return Err(TableError::PopulationDiffers { column, stratum, first, second });
        }
        let next = self.stratum_of.len() as u32;
        let unit = match cluster {
            Some(cluster) => *self.units_by_name.entry((number, cluster)).or_insert(next),
            None => next,
        };
        if unit == next {
            self.stratum_of.push(number);
        }
        Ok(unit)
    }

    fn finish(mut self, columns: &SampleColumns) -> Result<(Groups, BTreeMap<Vec<u16>, u64>), TableError> {
        if let Some((_, how)) = &columns.replicates {
            let how = how.replicates(&self.replicate_weights)?;
            for (key, tallies) in &mut self.groups {
                for (at, tally) in tallies.iter_mut().enumerate() {
                    let nobody = || TableCounts::new(tally.layout().clone());
                    let of = |groups: &Groups| groups.get(key).map_or_else(nobody, |tallies| tallies[at].clone());
                    let replicates = self.replicates.iter().map(of).collect();
                    *tally = tally.clone().with_drawn(VarianceMethod::Replicates(how.clone(), replicates));
                }
            }
            return Ok((self.groups, self.rows));
        }
        let mut drawn = vec![0.0; self.strata.len()];
        self.stratum_of.iter().for_each(|&stratum| drawn[stratum as usize] += 1.0);
        for ((_, population), drawn) in self.strata.iter_mut().zip(drawn) {
            // A value of at most 1 is a sampled fraction.
            *population = population.map(|population| if population <= 1.0 { drawn / population } else { population });
        }
        let sample = Arc::new(SampledUnits::with_lonely(self.strata, self.stratum_of, columns.lonely)?);
        for (key, tallies) in &mut self.groups {
            let units = self.of_units.remove(key).unwrap_or_default();
            for (tally, counts) in tallies.iter_mut().zip(units) {
                *tally =
                    tally.clone().with_drawn(VarianceMethod::Linearization(PsuCounts::new(sample.clone(), counts)));
            }
        }
        Ok((self.groups, self.rows))
    }
}
