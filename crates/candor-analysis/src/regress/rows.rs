//! Responses as a model distinguishes them: distinct rows with their frequencies.

use std::collections::{BTreeMap, BTreeSet};

use candor_base::plan::Plan;

use super::answers::Answers;
use super::calibrated::{Calibration, Margins};
use super::{Model, RegressError};
use crate::adjust::DistinctRecords;
use crate::calibrate::CalibrateError;
use crate::condition::Condition;
use crate::tally::{Codes, ReplicateWeights};

/// Number of codes that represent a number.
const NUMBER: usize = 4;

/// Number of codes that represent the index of a label.
const LABEL: usize = 2;

/// Number of labels that distinguish rows in addition to the model's variables.
///
/// They are the primary sampling unit, the stratum, the combination of categories with benchmarks, and the group.
const LABELS: usize = 4;

/// Columns of the sampling design: labels of primary sampling units and strata, and population sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SamplingColumns<'a> {
    /// Primary sampling unit of each row.
    pub clusters: Option<&'a [String]>,
    /// Stratum of each row.
    pub strata: Option<&'a [String]>,
    /// Number of sampling units in the population of each row's stratum or, if at most 1, the sampled fraction.
    pub fpc: Option<&'a [f64]>,
    /// Replicate weights, with one weight for each row in every column.
    pub replicates: &'a [Vec<f64>],
}

/// A batch of responses.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Columns of the plan.
    pub columns: &'a [Codes<'a>],
    /// The [numeric columns](Model::numbers) of the model, with finite values.
    pub numbers: &'a [Vec<f64>],
    /// Weight of each row, if there are weights.
    pub weights: Option<&'a [f64]>,
    /// Sampling design.
    pub sample: SamplingColumns<'a>,
    /// Number of rows.
    pub rows: usize,
}

/// Distinct rows of responses as a model distinguishes them.
///
/// Rows of parts of the data can be [merged](ModelRows::merge).
#[derive(Clone, Debug)]
pub struct ModelRows {
    layout: Layout,
    records: DistinctRecords,
    weights: Vec<f64>,
    squares: Vec<f64>,
    responses: u64,
    weighted: bool,
    /// Labels of primary sampling units and of strata.
    labels: [Labels; 2],
    /// Value of `fpc` for each stratum; NaN if it is inconsistent.
    fpc: BTreeMap<u32, f64>,
    /// Sum of each distinct row, for each column of replicate weights.
    replicates: Vec<Vec<f64>>,
    /// Summary of these columns.
    replicate_weights: ReplicateWeights,
    /// Factors by which weights were raked to benchmarks.
    calibration: Option<Calibration>,
    /// Group to which the model is restricted, if any.
    group: Option<u32>,
}

/// The columns of responses that a model needs.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(super) answers: Answers,
    public: Vec<usize>,
    numbers: usize,
    margins: Margins,
    /// Subpopulation: a condition on public attributes, and the column of each attribute.
    condition: Option<(Condition, Vec<Option<usize>>)>,
    /// Groups, by the categories of public attributes.
    groups: Margins,
}

#[derive(Clone, Debug, Default)]
struct Labels {
    names: Vec<String>,
    places: std::collections::HashMap<String, u32>,
}

impl Labels {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

impl Layout {
    /// Returns the columns that a model needs of responses to a plan.
    ///
    /// # Errors
    /// Returns [`RegressError`] if the model is not identifiable under the plan.
    pub fn new(plan: &Plan, model: &Model) -> Result<Layout, RegressError> {
        let column = |&attribute: &usize| {
            let own =
                |content: &candor_base::plan::Content| *content == candor_base::plan::Content::Public { attribute };
            plan.columns().iter().position(|column| own(&column.content)).unwrap_or(0)
        };
        let answers = Answers::new(plan, model);
        answers.check(plan, model)?;
        let (public, numbers) = (model.public.iter().map(column).collect(), model.numbers.len());
        let nothing = Margins::new(plan, &[]);
        Ok(Layout { answers, public, numbers, margins: nothing.clone(), condition: None, groups: nothing })
    }

    /// Restricts the model to a subpopulation, by a condition on public attributes.
    ///
    /// All others still count among sampling units.
    #[must_use]
    pub fn with_condition(mut self, plan: &Plan, condition: Condition) -> Layout {
        let column = |attribute: usize| {
            let own =
                |content: &candor_base::plan::Content| *content == candor_base::plan::Content::Public { attribute };
            plan.columns().iter().position(|column| own(&column.content))
        };
        let columns = (0..plan.schema().attributes().len()).map(column).collect();
        self.condition = Some((condition, columns));
        self
    }

    /// Distinguishes groups by public attributes, to fit the model in [each group](ModelRows::in_group).
    #[must_use]
    pub fn with_groups(mut self, plan: &Plan, attributes: &[usize]) -> Layout {
        self.groups = Margins::new(plan, attributes);
        self
    }

    /// Returns the number of a row's group, from 1; 0 outside of the subpopulation.
    fn group(&self, columns: &[Codes<'_>], row: usize) -> u32 {
        if self.is_outside(columns, row) { 0 } else { 1 + self.groups.combination(columns, row) }
    }

    /// Returns whether a row is outside of the subpopulation.
    fn is_outside(&self, columns: &[Codes<'_>], row: usize) -> bool {
        let Some((condition, places)) = &self.condition else { return false };
        let code = |attribute: usize| match places[attribute].map(|at| columns[at]) {
            Some(Codes::One(codes)) => codes[row],
            _ => 0,
        };
        !condition.holds(code)
    }

    /// Distinguishes rows by these public attributes, to [rake](ModelRows::calibrate) weights to benchmarks.
    #[must_use]
    pub fn with_margins(mut self, plan: &Plan, attributes: &[usize]) -> Layout {
        self.margins = Margins::new(plan, attributes);
        self
    }

    fn width(&self) -> usize {
        self.answers.width + self.public.len() + NUMBER * self.numbers + LABELS * LABEL
    }
}

/// A distinct row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) answers: &'a [u16],
    /// Public categories and numbers, which are equal for rows with the same predictors.
    pub(super) known: &'a [u16],
    pub(super) weight: f64,
    pub(super) square: f64,
    pub(super) count: u64,
    pub(super) cluster: u32,
    pub(super) stratum: u32,
    pub(super) combination: u32,
    /// Whether it is outside of the subpopulation.
    pub(super) outside: bool,
}

impl ModelRows {
    /// Creates an empty collection.
    pub fn new(layout: Layout) -> ModelRows {
        let records = DistinctRecords::new(layout.width());
        ModelRows {
            layout,
            records,
            weights: Vec::new(),
            squares: Vec::new(),
            responses: 0,
            weighted: false,
            labels: Default::default(),
            fpc: BTreeMap::new(),
            replicates: Vec::new(),
            replicate_weights: ReplicateWeights::default(),
            calibration: None,
            group: None,
        }
    }

    /// Returns the number of responses; for a group, those in it.
    pub fn responses(&self) -> u64 {
        match self.group {
            None => self.responses,
            Some(_) => self.rows().filter(|row| !row.outside).map(|row| row.count).sum(),
        }
    }

    /// Restricts the model to the people with these categories of the grouping [attributes](Layout::with_groups).
    ///
    /// All others still count among sampling units.
    #[must_use]
    pub fn in_group(&self, codes: &[u16]) -> ModelRows {
        let group = 1 + self.layout.groups.number(codes);
        ModelRows { group: Some(group), ..self.clone() }
    }

    /// Returns whether rows have sampling weights.
    pub fn weighted(&self) -> bool {
        self.weighted
    }

    /// Returns the number of distinct rows.
    pub fn distinct(&self) -> usize {
        self.records.len()
    }

    pub(super) fn answers(&self) -> &Answers {
        &self.layout.answers
    }

    /// Returns the numbers of primary sampling units and strata; 0 if there are none.
    pub(super) fn labels(&self) -> [usize; 2] {
        [self.labels[0].names.len(), self.labels[1].names.len()]
    }

    /// Returns the numbers of primary sampling units and strata of the people in the model.
    pub fn units(&self) -> [usize; 2] {
        let inside = || self.rows().filter(|row| !row.outside);
        let clusters: BTreeSet<(u32, u32)> = inside().map(|row| (row.stratum, row.cluster)).collect();
        let strata: BTreeSet<u32> = inside().map(|row| row.stratum).collect();
        [clusters.len(), strata.len()]
    }

    /// Adds a batch of responses.
    ///
    /// # Panics
    /// Panics if the columns do not match the plan.
    pub fn add(&mut self, batch: &Batch<'_>) {
        let mut record = vec![0; self.layout.width()];
        self.weighted |= batch.weights.is_some();
        for row in 0..batch.rows {
            let (answers, mut rest) = record.split_at_mut(self.layout.answers.width);
            self.layout.answers.encode(batch.columns, row, answers);
            for (code, &column) in rest.iter_mut().zip(&self.layout.public) {
                *code = match batch.columns[column] {
                    Codes::One(codes) => codes[row],
                    Codes::Set(_) => 0,
                };
            }
            rest = &mut rest[self.layout.public.len()..];
            for (own, column) in rest.chunks_exact_mut(NUMBER).zip(batch.numbers) {
                own.copy_from_slice(&codes_of(column[row]));
            }
            rest = &mut rest[NUMBER * self.layout.numbers..];
            let names = [batch.sample.clusters, batch.sample.strata];
            for ((own, names), labels) in rest.chunks_exact_mut(LABEL).zip(names).zip(&mut self.labels) {
                put_label(own, names.map_or(0, |names| labels.place(&names[row])));
            }
            put_label(&mut rest[2 * LABEL..], self.layout.margins.combination(batch.columns, row));
            put_label(&mut rest[3 * LABEL..], self.layout.group(batch.columns, row));
            if let Some(fpc) = batch.sample.fpc {
                let stratum = label(&rest[LABEL..]);
                self.put_fpc(stratum, fpc[row]);
            }
            let weight = batch.weights.map_or(1.0, |weights| weights[row]);
            let replicates = batch.sample.replicates.iter().map(|weights| weights[row]);
            self.put(&record, 1, [weight, weight * weight], replicates);
        }
        if let Some(weights) = batch.weights.filter(|_| !batch.sample.replicates.is_empty()) {
            self.replicate_weights.add(weights, batch.sample.replicates);
        }
        self.responses += batch.rows as u64;
    }

    fn put_fpc(&mut self, stratum: u32, value: f64) {
        let known = self.fpc.entry(stratum).or_insert(value);
        if *known != value {
            *known = f64::NAN;
        }
    }

    /// Returns the rows with a column of replicate weights as their weights.
    pub(super) fn replicate(&self, column: usize) -> ModelRows {
        let weights = self.replicates[column].clone();
        let squares = weights.iter().map(|weight| weight * weight).collect();
        let (labels, fpc, replicates, replicate_weights, calibration) = Default::default();
        let (layout, records, responses) = (self.layout.clone(), self.records.clone(), self.responses);
        ModelRows {
            layout,
            records,
            responses,
            weights,
            squares,
            weighted: true,
            labels,
            fpc,
            replicates,
            replicate_weights,
            calibration,
            group: self.group,
        }
    }

    /// Rakes weights and replicate weights to benchmarks of the [attributes](Layout::with_margins).
    ///
    /// # Errors
    /// Returns [`CalibrateError`] if no weights reproduce the benchmarks.
    pub fn calibrate(&mut self, shares: &[Vec<f64>]) -> Result<(), CalibrateError> {
        let combinations: Vec<u32> = self.rows().map(|row| row.combination).collect();
        let margins = &self.layout.margins;
        for weights in &mut self.replicates {
            margins.calibrate(&combinations, weights, shares)?.scale(&combinations, weights, 1);
        }
        let calibration = margins.calibrate(&combinations, &self.weights, shares)?;
        calibration.scale(&combinations, &mut self.weights, 1);
        calibration.scale(&combinations, &mut self.squares, 2);
        (self.weighted, self.calibration) = (true, Some(calibration));
        Ok(())
    }

    pub(super) fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// Returns the summary of the columns of replicate weights.
    pub(super) fn replicate_weights(&self) -> &ReplicateWeights {
        &self.replicate_weights
    }

    /// Returns the number of columns of replicate weights.
    pub fn replicates(&self) -> usize {
        self.replicates.len()
    }

    /// Returns the value of `fpc` for each stratum.
    pub(super) fn fpc(&self) -> &BTreeMap<u32, f64> {
        &self.fpc
    }

    /// Adds an expected row: the probability that one respondent gives these answers, with these public values.
    pub(super) fn expect(&mut self, answers: &[u16], public: &[u16], numbers: &[f64], share: f64) {
        let numbers = numbers.iter().flat_map(|number| codes_of(*number));
        let mut record: Vec<u16> = answers.iter().chain(public).copied().chain(numbers).collect();
        record.resize(self.layout.width(), 0);
        let last = record.len() - LABEL;
        put_label(&mut record[last..], 1);
        self.put(&record, 1, [share, share], std::iter::empty());
        self.responses = 1;
    }

    /// Adds rows: their number, sums of weights and squared weights, and replicate weights.
    fn put(&mut self, record: &[u16], times: u64, [weight, square]: [f64; 2], replicates: impl Iterator<Item = f64>) {
        let number = self.records.add_numbered(record, times);
        if number == self.weights.len() {
            self.weights.push(0.0);
            self.squares.push(0.0);
        }
        self.weights[number] += weight;
        self.squares[number] += square;
        for (column, weight) in replicates.enumerate() {
            if column == self.replicates.len() {
                self.replicates.push(Vec::new());
            }
            self.replicates[column].resize(self.weights.len(), 0.0);
            self.replicates[column][number] += weight;
        }
    }

    /// Adds the rows of another part of the data.
    pub fn merge(&mut self, other: &ModelRows) {
        let start = self.layout.width() - LABELS * LABEL;
        let mut places = [Vec::new(), Vec::new()];
        for ((places, own), theirs) in places.iter_mut().zip(&mut self.labels).zip(&other.labels) {
            places.extend(theirs.names.iter().map(|name| own.place(name)));
        }
        let mut record = vec![0; self.layout.width()];
        for number in 0..other.records.len() {
            record.copy_from_slice(other.records.record(number));
            for (own, places) in record[start..].chunks_exact_mut(LABEL).zip(&places) {
                if let Some(place) = places.get(label(own) as usize) {
                    put_label(own, *place);
                }
            }
            let sums = [other.weights[number], other.squares[number]];
            let replicates = other.replicates.iter().map(|weights| weights[number]);
            self.put(&record, other.records.counts()[number], sums, replicates);
        }
        for (stratum, &value) in &other.fpc {
            self.put_fpc(places[1].get(*stratum as usize).copied().unwrap_or(0), value);
        }
        self.replicate_weights.merge(&other.replicate_weights);
        self.responses += other.responses;
        self.weighted |= other.weighted;
    }

    /// Returns the distinct rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.records.len()).map(|number| {
            let (answers, rest) = self.records.record(number).split_at(self.layout.answers.width);
            let (known, labels) = rest.split_at(rest.len() - LABELS * LABEL);
            let (weight, square, count) = (self.weights[number], self.squares[number], self.records.counts()[number]);
            let [cluster, stratum, combination, group] = std::array::from_fn(|at| label(&labels[at * LABEL..]));
            let outside = group == 0 || self.group.is_some_and(|own| own != group);
            Row { answers, known, weight, square, count, cluster, stratum, combination, outside }
        })
    }

    /// Returns the public categories and numbers of a row.
    pub(super) fn known(&self, known: &[u16]) -> (Vec<u16>, Vec<f64>) {
        let (public, numbers) = known.split_at(self.layout.public.len());
        let number = |codes: &[u16]| {
            f64::from_bits(codes.iter().enumerate().map(|(i, &code)| u64::from(code) << (16 * i)).sum())
        };
        (public.to_vec(), numbers.chunks_exact(NUMBER).map(number).collect())
    }
}

/// Returns the codes that represent a number; negative zero becomes zero.
fn codes_of(number: f64) -> [u16; NUMBER] {
    let bits = (number + 0.0).to_bits();
    std::array::from_fn(|i| (bits >> (16 * i)) as u16)
}

fn put_label(codes: &mut [u16], place: u32) {
    codes[..LABEL].copy_from_slice(&[place as u16, (place >> 16) as u16]);
}

fn label(codes: &[u16]) -> u32 {
    u32::from(codes[0]) | u32::from(codes[1]) << 16
}
