//! Columns of the design matrix: the intercept, numbers, indicators of categories, and their products.

use super::{Formula, RegressError};

/// Maximum number of coefficients of a model.
pub const MAX_COEFFICIENTS: usize = 500;

/// Name of the intercept.
pub const INTERCEPT: &str = "(constant)";

/// Source of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    /// A randomized predictor, by its index among them.
    Hidden(usize),
    /// A public attribute, by its index.
    Public(usize),
    /// A numeric column, by its index.
    Number(usize),
}

/// A predictor variable.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    pub(super) name: String,
    pub(super) factor: Factor,
    /// Categories; empty for numbers.
    pub(super) categories: Vec<String>,
    pub(super) reference: usize,
    /// Codes without an answer, whose people are not in the model.
    pub(super) left_out: Vec<u16>,
}

impl Predictor {
    /// Returns the categories in the model, with their codes.
    pub(super) fn kept(&self) -> impl Iterator<Item = (usize, &String)> {
        self.categories.iter().enumerate().filter(|(code, _)| !self.left_out.contains(&(*code as u16)))
    }
}

/// A column: the product of numbers and indicators of categories; the intercept has none.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    parts: Vec<(Factor, u16)>,
    /// Index of its term in the formula; `None` for the intercept.
    term: Option<usize>,
}

/// All columns of a model.
#[derive(Clone, Debug)]
pub(super) struct Design {
    columns: Vec<Column>,
    pub(super) predictors: Vec<Predictor>,
    /// Terms of the formula.
    terms: Vec<String>,
    /// A linear combination that replaces one of the coefficients.
    combination: Option<Combination>,
}

/// A linear combination of coefficients, and the coefficient that it replaces.
#[derive(Clone, Debug)]
pub(super) struct Combination {
    pub(super) weights: Vec<f64>,
    pub(super) place: usize,
}

impl Combination {
    /// Creates a combination that replaces the intercept if it is included, or else the coefficient with the
    /// largest weight.
    pub(super) fn new(weights: Vec<f64>, constant: Option<usize>) -> Combination {
        let largest = (0..weights.len()).max_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs()));
        let place = constant.filter(|&at| weights[at] != 0.0).or(largest).unwrap_or(0);
        Combination { weights, place }
    }

    /// Changes a row of the design matrix so that the other coefficients keep their meaning.
    fn change(&self, row: &mut [f64]) {
        let own = row[self.place] / self.weights[self.place];
        row.iter_mut().zip(&self.weights).for_each(|(x, weight)| *x -= weight * own);
        row[self.place] = own;
    }
}

/// Values of the variables.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) hidden: &'a [usize],
    pub(super) public: &'a [u16],
    pub(super) numbers: &'a [f64],
}

impl Design {
    /// Creates the columns of a formula's terms.
    ///
    /// The indicator of the reference category is omitted if the term without this variable is in the model, as in
    /// R. Otherwise it is included. `with_constant` is false if thresholds replace the intercept.
    pub(super) fn new(
        formula: &Formula,
        predictor: impl Fn(&String) -> Predictor,
        with_constant: bool,
    ) -> Result<Design, RegressError> {
        let mut predictors: Vec<Predictor> = Vec::new();
        for name in formula.terms().iter().flatten() {
            if !predictors.iter().any(|known| known.name == *name) {
                predictors.push(predictor(name));
            }
        }
        let has = |term: &[&String]| match term {
            [] => formula.has_constant() || !with_constant,
            _ => {
                formula.terms().iter().any(|own| own.len() == term.len() && term.iter().all(|name| own.contains(name)))
            }
        };
        let mut columns = Vec::new();
        if formula.has_constant() && with_constant {
            columns.push(Column { name: INTERCEPT.to_owned(), parts: Vec::new(), term: None });
        }
        for (number, term) in formula.terms().iter().enumerate() {
            let mut made = vec![Column { name: String::new(), parts: Vec::new(), term: Some(number) }];
            for name in term {
                let without: Vec<&String> = term.iter().filter(|other| *other != name).collect();
                let known = predictors.iter().find(|known| known.name == *name);
                let parts = known.map_or(Vec::new(), |known| parts(known, !has(&without)));
                made = made.iter().flat_map(|column| parts.iter().map(move |part| column.times(part))).collect();
                if columns.len() + made.len() > MAX_COEFFICIENTS {
                    return Err(RegressError::Parameters(columns.len() + made.len(), MAX_COEFFICIENTS));
                }
            }
            columns.extend(made);
        }
        let terms = formula.terms().iter().map(|term| term.join(":")).collect();
        Ok(Design { columns, predictors, terms, combination: None })
    }

    /// Returns the number of columns.
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns the names of the columns.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Returns the index of the intercept.
    pub(super) fn constant(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.parts.is_empty())
    }

    /// Returns whether a column includes a number.
    pub(super) fn is_numeric(&self, column: usize) -> bool {
        self.columns[column].parts.iter().any(|(factor, _)| matches!(factor, Factor::Number(_)))
    }

    /// Returns the randomized predictors in a column, as bits.
    pub(super) fn hidden_of(&self, column: usize) -> usize {
        let bit = |(factor, _): &(Factor, u16)| if let Factor::Hidden(axis) = factor { 1 << axis } else { 0 };
        self.columns[column].parts.iter().map(bit).fold(0, |mask, bit| mask | bit)
    }

    /// Writes the row of the design matrix for these values.
    pub(super) fn fill(&self, values: Values<'_>, row: &mut [f64]) {
        for (entry, column) in row.iter_mut().zip(&self.columns) {
            *entry = column.parts.iter().map(|&(factor, code)| value(factor, code, values)).product();
        }
        if let Some(combination) = &self.combination {
            combination.change(row);
        }
    }

    /// Returns the design in which a linear combination replaces one of the coefficients.
    pub(super) fn combined(&self, combination: Combination) -> Design {
        Design { combination: Some(combination), ..self.clone() }
    }

    /// Returns the terms of the formula, with their columns.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&String, Vec<usize>)> {
        let columns = |number: usize| -> Vec<usize> {
            (0..self.columns.len()).filter(|&at| self.columns[at].term == Some(number)).collect()
        };
        self.terms.iter().enumerate().map(move |(number, name)| (name, columns(number)))
    }
}

fn value(factor: Factor, code: u16, values: Values<'_>) -> f64 {
    let is = |holds: bool| f64::from(u8::from(holds));
    match factor {
        Factor::Hidden(axis) => is(values.hidden[axis] == usize::from(code)),
        Factor::Public(place) => is(values.public[place] == code),
        Factor::Number(place) => values.numbers[place],
    }
}

impl Column {
    fn times(&self, (name, factor, code): &(String, Factor, u16)) -> Column {
        let name = if self.name.is_empty() { name.clone() } else { format!("{}:{name}", self.name) };
        Column { name, parts: [&self.parts[..], &[(*factor, *code)]].concat(), term: self.term }
    }
}

/// Returns what a variable adds to a term: itself if it is a number, and otherwise the indicators of its
/// categories.
fn parts(predictor: &Predictor, with_reference: bool) -> Vec<(String, Factor, u16)> {
    if predictor.categories.is_empty() {
        return vec![(predictor.name.clone(), predictor.factor, 0)];
    }
    let kept = predictor.kept().filter(|(code, _)| with_reference || *code != predictor.reference);
    kept.map(|(code, label)| (format!("{}={label}", predictor.name), predictor.factor, code as u16)).collect()
}
