//! Laws of randomized predictors given the public ones, which maximum likelihood must assume.

use std::collections::HashMap;

use serde::{Serialize, Serializer};

use super::design::Factor;
use super::observations::{Group, Observations};

/// Number of parameters above which a law is additive.
const MAX_SATURATED: usize = 200;

/// A logit model of the combination of randomized predictors, given the public ones.
#[derive(Clone, Debug)]
pub(super) struct HiddenPredictors {
    form: Form,
    combinations: usize,
    /// Number of parameters.
    pub(super) parameters: usize,
}

#[derive(Clone, Debug)]
enum Form {
    /// Every combination of public categories has shares of its own.
    Saturated(HashMap<Vec<u16>, usize>),
    /// A single share, that of noncompliers.
    Ignoring,
    /// For each category of the outcome, log odds of all but the first of `codes` categories of companions.
    ///
    /// They are sums of public columns or, without columns, those of one combination.
    Companions { codes: usize, columns: Vec<(Factor, u16)>, found: HashMap<Vec<u16>, usize> },
    /// An intercept for each combination of true categories, and a coefficient of each public column for each
    /// category.
    Additive { sizes: Vec<usize>, columns: Vec<(Factor, u16)> },
}

/// Assumption of maximum likelihood about randomized predictors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// None: they have separate shares in every group of the public ones.
    Saturated,
    /// The share of noncompliers is the same in all groups.
    Ignoring,
    /// Their log odds are sums of effects of the public ones.
    Additive,
    /// Companions of the outcome have a separate law for each of its categories.
    Companions,
}

impl Serialize for Assumption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

impl Assumption {
    /// Describes the assumption.
    pub fn words(self) -> &'static str {
        match self {
            Assumption::Saturated => {
                "the randomized predictors have shares of their own in every group of the public ones (no \
                 restriction); the response follows the model"
            }
            Assumption::Ignoring => "the share of people who ignore the device is the same in all groups",
            Assumption::Additive => {
                "the log odds of the randomized predictors are sums of effects of the public ones, attribute by \
                 attribute; the response follows the model"
            }
            Assumption::Companions => {
                "what is answered together with the response has shares of its own for each of its categories, in \
                 every group of the public predictors or with log odds that are sums of their effects; the response \
                 follows the model"
            }
        }
    }
}

impl HiddenPredictors {
    /// Chooses a law; `None` if no predictor is randomized.
    pub(super) fn new(data: &Observations) -> Option<HiddenPredictors> {
        let combinations = data.hidden.len();
        if combinations == 1 {
            return None;
        }
        if data.ignoring {
            return Some(HiddenPredictors { form: Form::Ignoring, combinations, parameters: 1 });
        }
        let mut found: HashMap<Vec<u16>, usize> = HashMap::new();
        for group in &data.groups {
            let next = found.len();
            found.entry(group.public.clone()).or_insert(next);
        }
        if let Some(codes) = data.companions {
            return Some(HiddenPredictors::of_companions(data, codes, found));
        }
        let numeric = data.design.predictors.iter().any(|one| matches!(one.factor, Factor::Number(_)));
        let parameters = (combinations - 1).saturating_mul(found.len());
        if !numeric && parameters <= MAX_SATURATED {
            return Some(HiddenPredictors { form: Form::Saturated(found), combinations, parameters });
        }
        let columns = public_columns(data);
        let last = &data.hidden[combinations - 1];
        let sizes: Vec<usize> = last.iter().map(|code| code + 1).collect();
        let slopes: usize = sizes.iter().map(|size| size - 1).sum();
        let parameters = combinations - 1 + slopes * columns.len();
        Some(HiddenPredictors { form: Form::Additive { sizes, columns }, combinations, parameters })
    }

    /// Returns the law of companions: separate for each group of public categories, or additive.
    fn of_companions(data: &Observations, codes: usize, found: HashMap<Vec<u16>, usize>) -> HiddenPredictors {
        let (combinations, own) = (data.hidden.len(), data.outcomes * (codes - 1));
        let numeric = data.design.predictors.iter().any(|one| matches!(one.factor, Factor::Number(_)));
        let saturated = !numeric && own.saturating_mul(found.len()) <= MAX_SATURATED;
        let columns = if saturated { Vec::new() } else { public_columns(data) };
        let width = if saturated { found.len() } else { 1 + columns.len() };
        let found = if saturated { found } else { HashMap::new() };
        HiddenPredictors { form: Form::Companions { codes, columns, found }, combinations, parameters: own * width }
    }

    /// Returns the assumption of the law.
    pub(super) fn assumption(&self) -> Assumption {
        match self.form {
            Form::Saturated(_) => Assumption::Saturated,
            Form::Ignoring => Assumption::Ignoring,
            Form::Additive { .. } => Assumption::Additive,
            Form::Companions { .. } => Assumption::Companions,
        }
    }

    /// Writes the columns of each combination in a group, whose sum weighted by the parameters is the log odds.
    pub(super) fn fill(&self, data: &Observations, group: &Group, rows: &mut SparseRows) {
        rows.clear();
        for (combination, codes) in data.hidden.iter().enumerate() {
            match &self.form {
                Form::Saturated(found) if combination > 0 => {
                    rows.push((combination - 1) * found.len() + found[&group.public], 1.0);
                }
                Form::Ignoring if combination > 0 => rows.push(0, combination as f64),
                Form::Saturated(_) | Form::Ignoring => {}
                Form::Companions { codes: all, columns, found } => {
                    let width = if found.is_empty() { 1 + columns.len() } else { found.len() };
                    for (outcome, code) in codes[codes.len() - data.outcomes..].iter().enumerate() {
                        let Some(own) = code.checked_sub(1) else { continue };
                        let start = (outcome * (all - 1) + own) * width;
                        match found.get(&group.public) {
                            Some(&cell) => rows.push(start + cell, 1.0),
                            None => {
                                rows.push(start, 1.0);
                                columns.iter().zip(start + 1..).for_each(|(one, at)| rows.push(at, value(group, *one)));
                            }
                        }
                    }
                }
                Form::Additive { sizes, columns } => {
                    if combination > 0 {
                        rows.push(combination - 1, 1.0);
                    }
                    let mut start = self.combinations - 1;
                    for (&code, size) in codes.iter().zip(sizes) {
                        if code > 0 {
                            let first = start + (code - 1) * columns.len();
                            columns.iter().zip(first..).for_each(|(column, at)| rows.push(at, value(group, *column)));
                        }
                        start += (size - 1) * columns.len();
                    }
                }
            }
            rows.end();
        }
    }
}

/// Returns numeric columns, and indicators of public categories except the references.
fn public_columns(data: &Observations) -> Vec<(Factor, u16)> {
    let mut columns = Vec::new();
    for one in data.design.predictors.iter().filter(|one| !matches!(one.factor, Factor::Hidden(_))) {
        match one.categories.is_empty() {
            true => columns.push((one.factor, 0)),
            false => {
                let codes = one.kept().map(|(code, _)| code).filter(|&code| code != one.reference);
                columns.extend(codes.map(|code| (one.factor, code as u16)));
            }
        }
    }
    columns
}

/// Sparse rows: nonzero entries with their positions in increasing order.
#[derive(Default)]
pub(super) struct SparseRows {
    entries: Vec<(usize, f64)>,
    ends: Vec<usize>,
}

impl SparseRows {
    fn clear(&mut self) {
        self.entries.clear();
        self.ends.clear();
    }

    fn push(&mut self, place: usize, value: f64) {
        if value != 0.0 {
            self.entries.push((place, value));
        }
    }

    fn end(&mut self) {
        self.ends.push(self.entries.len());
    }

    /// Returns the entries of a row.
    pub(super) fn row(&self, number: usize) -> &[(usize, f64)] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.entries[start..self.ends[number]]
    }
}

fn value(group: &Group, (factor, code): (Factor, u16)) -> f64 {
    match factor {
        Factor::Public(place) => f64::from(u8::from(group.public[place] == code)),
        Factor::Number(place) => group.numbers[place],
        Factor::Hidden(_) => 0.0,
    }
}
