//! Requests to a fitted model in addition to its coefficients: contrasts and predictions.

use super::design::{Design, Factor};
use super::{Model, RegressError};

/// Requested contrasts and predictions.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Questions {
    /// Linear combinations of coefficients, such as `Education=bachelor - Education=primary`.
    pub contrasts: Vec<String>,
    /// Profiles for predictions: the category or number of each given predictor.
    ///
    /// Other predictors keep their values among the respondents.
    pub profiles: Vec<Vec<(String, String)>>,
}

impl Questions {
    candor_runtime::options! {
        contrasts: Vec<String>,
        profiles: Vec<Vec<(String, String)>>,
    }
}

/// A contrast in terms of the columns of the design matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contrast {
    pub(super) text: String,
    /// Weight of each column.
    pub(super) weights: Vec<f64>,
}

/// Value of a given predictor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Hidden(usize, usize),
    Public(usize, u16),
    Number(usize, f64),
}

/// A profile for a prediction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) values: Vec<Value>,
    /// Whether all predictors are given.
    pub(super) complete: bool,
}

impl Questions {
    /// Returns the contrasts.
    ///
    /// # Errors
    /// Returns [`RegressError::Question`] if a term is not in the model, or a contrast has no terms.
    pub(super) fn read_contrasts(&self, model: &Model) -> Result<Vec<Contrast>, RegressError> {
        self.contrasts.iter().map(|text| contrast(text, &model.design)).collect()
    }

    /// Returns the profiles. Numbers are in the units of their columns.
    ///
    /// # Errors
    /// Returns [`RegressError::Question`] if a predictor or category is unknown or repeated, or a number is
    /// invalid.
    pub(super) fn settings(&self, model: &Model) -> Result<Vec<Setting>, RegressError> {
        self.profiles.iter().enumerate().map(|(row, profile)| setting(row + 1, profile, &model.design)).collect()
    }
}

/// Returns the terms for contrasts: columns, and reference categories, which have no column.
fn known(design: &Design) -> Vec<(String, Option<usize>)> {
    let constant = design.constant();
    let columns = design.names().enumerate().filter(|(at, _)| Some(*at) != constant);
    let mut all: Vec<(String, Option<usize>)> = columns.map(|(at, name)| (name.to_owned(), Some(at))).collect();
    for predictor in &design.predictors {
        if let Some(label) = predictor.categories.get(predictor.reference) {
            let name = format!("{}={label}", predictor.name);
            if !all.iter().any(|(known, _)| *known == name) {
                all.push((name, None));
            }
        }
    }
    // Longest names first, because a name may be a prefix of another.
    all.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    all
}

fn contrast(text: &str, design: &Design) -> Result<Contrast, RegressError> {
    let known = known(design);
    let refused = |message: String| RegressError::Question(format!("`contrast`: \"{text}\" {message}"));
    let mut weights = vec![0.0; design.len()];
    let mut rest = text.trim();
    let mut first = true;
    while !rest.is_empty() {
        let (sign, after) = match rest.strip_prefix('-') {
            Some(after) => (-1.0, after),
            None => (1.0, rest.strip_prefix('+').unwrap_or(rest)),
        };
        if !first && after.len() == rest.len() {
            return Err(refused(format!("needs + or - before \"{rest}\"")));
        }
        let after = after.trim_start();
        let factor = after.split_once('*').and_then(|(factor, after)| {
            let factor = factor.trim().parse::<f64>().ok().filter(|factor| factor.is_finite())?;
            Some((factor, after.trim_start()))
        });
        let (factor, after) = factor.unwrap_or((1.0, after));
        let ends = |left: &str| left.trim_start().is_empty() || left.trim_start().starts_with(['+', '-']);
        let named = known.iter().find(|(name, _)| after.strip_prefix(name.as_str()).is_some_and(ends));
        let Some((name, column)) = named else {
            let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            return Err(refused(format!("has no known term at \"{after}\"; the model has {}", names.join(", "))));
        };
        if let Some(column) = column {
            weights[*column] += sign * factor;
        }
        rest = after[name.len()..].trim_start();
        first = false;
    }
    match weights.iter().all(|weight| *weight == 0.0) {
        true => Err(refused("is about no coefficient; write it as \"TERM - TERM\"".to_owned())),
        false => Ok(Contrast { text: text.trim().to_owned(), weights }),
    }
}

fn setting(row: usize, profile: &[(String, String)], design: &Design) -> Result<Setting, RegressError> {
    let refused = |message: String| RegressError::Question(format!("`predict`, profile {row}: {message}"));
    let mut values: Vec<Value> = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    for (name, text) in profile {
        let Some(predictor) = design.predictors.iter().find(|one| one.name == *name) else {
            let names: Vec<&str> = design.predictors.iter().map(|one| one.name.as_str()).collect();
            return Err(refused(format!("\"{name}\" is no predictor of the model, which has {}", names.join(", "))));
        };
        if named.contains(&name.as_str()) {
            return Err(refused(format!("\"{name}\" is given twice")));
        }
        named.push(name);
        let code = || {
            predictor.kept().find(|(_, label)| *label == text).map(|(code, _)| code).ok_or_else(|| {
                let labels: Vec<&str> = predictor.kept().map(|(_, label)| label.as_str()).collect();
                refused(format!("\"{text}\" is no category of \"{name}\"; expected one of {}", labels.join(", ")))
            })
        };
        values.push(match predictor.factor {
            Factor::Hidden(axis) => Value::Hidden(axis, code()?),
            Factor::Public(place) => Value::Public(place, code()? as u16),
            Factor::Number(place) => {
                let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
                let message = || refused(format!("\"{text}\" is no number, which \"{name}\" is"));
                Value::Number(place, number.ok_or_else(message)?)
            }
        });
    }
    Ok(Setting { complete: design.predictors.len() == values.len(), values })
}

impl Setting {
    /// Converts numbers to standard deviations from their means.
    pub(super) fn standardized(mut self, by: &[(f64, f64)]) -> Setting {
        for value in &mut self.values {
            if let Value::Number(place, number) = value
                && let Some((mean, deviation)) = by.get(*place)
            {
                *number = (*number - mean) / deviation;
            }
        }
        self
    }

    /// Assigns these values.
    pub(super) fn give(&self, hidden: &mut [usize], public: &mut [u16], numbers: &mut [f64]) {
        for value in &self.values {
            match *value {
                Value::Hidden(axis, code) => hidden[axis] = code,
                Value::Public(place, code) => public[place] = code,
                Value::Number(place, number) => numbers[place] = number,
            }
        }
    }
}
