//! The columns that a model's terms stand for: constants, numbers, indicators of categories, and their products.

use super::{Formula, RegressError};

/// At most so many coefficients are fitted together.
pub const MAX_COEFFICIENTS: usize = 500;

/// What the constant is called.
pub const INTERCEPT: &str = "(constant)";

/// Where a variable's value is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    /// The truth of a hidden predictor, by its place among them.
    Hidden(usize),
    /// A public attribute, by its place.
    Public(usize),
    /// A number, by its place.
    Number(usize),
}

/// A variable among the predictors.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    pub(super) name: String,
    pub(super) factor: Factor,
    /// None of a number.
    pub(super) categories: Vec<String>,
    pub(super) reference: usize,
    /// Codes of people without an answer, who are not in the model.
    pub(super) left_out: Vec<u16>,
}

impl Predictor {
    /// The categories that are in the model, with their codes.
    pub(super) fn kept(&self) -> impl Iterator<Item = (usize, &String)> {
        self.categories.iter().enumerate().filter(|(code, _)| !self.left_out.contains(&(*code as u16)))
    }
}

/// One column: the product of its parts, a number or the indicator of a category each; the constant has none.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    parts: Vec<(Factor, u16)>,
    /// The formula's term that it is part of; none of the constant.
    term: Option<usize>,
}

/// All columns of a model.
#[derive(Clone, Debug)]
pub(super) struct Design {
    columns: Vec<Column>,
    pub(super) predictors: Vec<Predictor>,
    /// The formula's terms.
    terms: Vec<String>,
    /// A sum of coefficients that stands in the place of one of them.
    combination: Option<Combination>,
}

/// A weighted sum of coefficients, and the one in whose place it stands.
#[derive(Clone, Debug)]
pub(super) struct Combination {
    pub(super) weights: Vec<f64>,
    pub(super) place: usize,
}

impl Combination {
    /// In the place of the constant, if it is part of the sum, or else of the coefficient with the largest weight.
    pub(super) fn new(weights: Vec<f64>, constant: Option<usize>) -> Combination {
        let largest = (0..weights.len()).max_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs()));
        let place = constant.filter(|&at| weights[at] != 0.0).or(largest).unwrap_or(0);
        Combination { weights, place }
    }

    /// The row of the design with which the other coefficients stay what they are.
    fn change(&self, row: &mut [f64]) {
        let own = row[self.place] / self.weights[self.place];
        row.iter_mut().zip(&self.weights).for_each(|(x, weight)| *x -= weight * own);
        row[self.place] = own;
    }
}

/// The values of the variables.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) hidden: &'a [usize],
    pub(super) public: &'a [u16],
    pub(super) numbers: &'a [f64],
}

impl Design {
    /// The columns of a formula's terms. A category's indicator is left out for the reference, unless nothing else in
    /// the model stands for it: that is so where the term without this variable is not in the model (as in R).
    /// `with_constant` is false where thresholds take the constant's place.
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

    /// How many columns.
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// What they are called.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Which column is the constant.
    pub(super) fn constant(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.parts.is_empty())
    }

    /// Whether a number is part of a column.
    pub(super) fn is_numeric(&self, column: usize) -> bool {
        self.columns[column].parts.iter().any(|(factor, _)| matches!(factor, Factor::Number(_)))
    }

    /// The hidden predictors that a column is made of, as bits.
    pub(super) fn hidden_of(&self, column: usize) -> usize {
        let bit = |(factor, _): &(Factor, u16)| if let Factor::Hidden(axis) = factor { 1 << axis } else { 0 };
        self.columns[column].parts.iter().map(bit).fold(0, |mask, bit| mask | bit)
    }

    /// The row of the design at these values.
    pub(super) fn fill(&self, values: Values<'_>, row: &mut [f64]) {
        for (entry, column) in row.iter_mut().zip(&self.columns) {
            *entry = column.parts.iter().map(|&(factor, code)| value(factor, code, values)).product();
        }
        if let Some(combination) = &self.combination {
            combination.change(row);
        }
    }

    /// The same model with a sum of coefficients in the place of one of them.
    pub(super) fn combined(&self, combination: Combination) -> Design {
        Design { combination: Some(combination), ..self.clone() }
    }

    /// The formula's terms with their columns.
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

/// What a variable adds to a term: itself if it is a number, else the indicators of its categories.
fn parts(predictor: &Predictor, with_reference: bool) -> Vec<(String, Factor, u16)> {
    if predictor.categories.is_empty() {
        return vec![(predictor.name.clone(), predictor.factor, 0)];
    }
    let kept = predictor.kept().filter(|(code, _)| with_reference || *code != predictor.reference);
    kept.map(|(code, label)| (format!("{}={label}", predictor.name), predictor.factor, code as u16)).collect()
}
