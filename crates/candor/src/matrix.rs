//! Transition matrices: the channels of a plan as probabilities.

use std::fmt::Write;

use candor_base::channel::{Channel, Pattern, PatternSet, Rational};
use candor_base::plan::Plan;
use candor_base::schema::CROSS;
use candor_base::shape::Shape;
use candor_design::eigenvalues::{Eigenvalue, eigenvalues, largest_over_smallest};
use candor_design::transition_matrix::{ExactMatrix, MatrixError, of_attribute, of_blocks};
use serde::Serialize;

use crate::error::StudyError;

/// Maximum number of entries of a matrix.
pub const MAX_ENTRIES: usize = 1 << 18;

/// Largest resampling probability that is neglected.
const MIN_SHOWN_PROBABILITY: f64 = 1e-9;

/// Options of a transition matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatrixOptions {
    /// Attribute whose answers are considered separately; `None` for complete records.
    pub attribute: Option<String>,
    /// Whether to return the entries as exact fractions as well.
    pub exact: bool,
    /// Whether to return only the likelihoods by misses.
    pub misses: bool,
}

impl MatrixOptions {
    candor_runtime::options! {
        attribute: impl Into<Option<String>>,
        exact: bool,
        misses: bool,
    }
}

/// A transition matrix: columns are true values and sum to 1, rows are answers.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TransitionMatrix {
    /// The attributes.
    pub attributes: Vec<String>,
    /// Labels of the true values.
    pub inputs: Vec<String>,
    /// Labels of the answers.
    pub outputs: Vec<String>,
    /// Probability of each answer: `matrix[answer][true value]`.
    pub matrix: Vec<Vec<f64>>,
    /// Entries as exact fractions, if requested.
    pub fractions: Option<Vec<Vec<String>>>,
    /// Eigenvalues by decreasing absolute value; `None` if answers and true values have different labels.
    pub eigenvalues: Option<Vec<Eigenvalue>>,
    /// `P_max / P_min`, the ratio of the largest to the smallest absolute eigenvalue; `None` if it is undefined.
    pub largest_over_smallest: Option<f64>,
    /// Likelihoods by misses, if all answers with two or more misses are equally likely.
    pub misses: Option<Misses>,
    /// Fingerprint of the plan.
    pub fingerprint: String,
}

/// Likelihoods of answers by their misses: `x_k0` to `x_kk` of Algorithm 3 of Yamamoto and Shibuya 2024.
///
/// A miss is an attribute whose answer differs from the true category. Likelihoods are relative to an answer with
/// two or more misses.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Misses {
    /// Attributes, in order.
    pub attributes: Vec<String>,
    /// Natural logarithm of `x_k0`, the answer without a miss.
    pub ln_none: f64,
    /// Natural logarithms of `x_k1` to `x_kk`, the answers in which only that attribute is a miss.
    pub ln_only: Vec<f64>,
}

/// Returns the transition matrix of a plan.
///
/// # Errors
/// Returns [`StudyError`] if the attribute is unknown, public or not answered separately, or the matrix is too
/// large.
///
/// ```
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2])?;
/// let plan = design(&schema, &Warner::new(0.75).into(), &DesignOptions::default())?.plan;
/// let found = matrix(&plan, &MatrixOptions::default())?;
/// assert!((found.matrix[0][0] - 0.75).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn matrix(plan: &Plan, options: &MatrixOptions) -> Result<TransitionMatrix, StudyError> {
    let misses = misses(plan);
    let (places, written) = match &options.attribute {
        _ if options.misses && misses.is_none() => {
            return Err(StudyError::InvalidParameter(
                "`misses` requires a plan of the method heuristic, reduced or two-attribute",
            ));
        }
        _ if options.misses => (Vec::new(), ExactMatrix { answers: Vec::new(), columns: Vec::new() }),
        None => whole(plan)?,
        Some(name) => alone(plan, name, options.exact)?,
    };
    let columns = written.numbers();
    let rows = 0..written.answers.len();
    let inputs = inputs(plan, &places);
    // Eigenvalues need answers with the labels of true values, in the same order.
    let values = eigenvalues(&columns).filter(|_| written.answers == inputs);
    let fraction = |p: &Rational| p.to_string();
    let fractions =
        || rows.clone().map(|z| written.columns.iter().map(|column| fraction(&column[z])).collect()).collect();
    Ok(TransitionMatrix {
        attributes: places.iter().map(|&place| plan.schema().name(place).to_owned()).collect(),
        inputs,
        matrix: rows.clone().map(|z| columns.iter().map(|column| column[z]).collect()).collect(),
        fractions: (options.exact && !options.misses).then(fractions),
        largest_over_smallest: values.as_deref().and_then(largest_over_smallest),
        eigenvalues: values,
        misses: misses.filter(|_| options.attribute.is_none()),
        fingerprint: plan.fingerprint().as_str().to_owned(),
        outputs: written.answers,
    })
}

/// Returns the matrix of complete records.
fn whole(plan: &Plan) -> Result<(Vec<usize>, ExactMatrix), StudyError> {
    let places = plan.schema().randomized();
    let blocks: Vec<_> = plan.blocks().iter().collect();
    let written = of_blocks(plan, &blocks, &places, MAX_ENTRIES).map_err(|error| {
        let records = places.iter().map(|&place| plan.schema().size(place)).fold(1, usize::saturating_mul);
        let why = match error {
            MatrixError::TooLarge(answers) => format!("{records} records and about {answers} answers"),
            _ => format!("{records} records, and one channel about too many attributes"),
        };
        StudyError::Refused(format!(
            "the matrix of whole records is too large: {why} (at most {MAX_ENTRIES} entries). Specify one `attribute`"
        ))
    })?;
    Ok((places, written))
}

/// Returns the matrix of the answers about one attribute.
fn alone(plan: &Plan, name: &str, exact: bool) -> Result<(Vec<usize>, ExactMatrix), StudyError> {
    let place = plan.schema().position(name).map_err(|error| StudyError::Refused(format!("`attribute`: {error}")))?;
    if plan.schema().attributes()[place].is_public() {
        return Err(StudyError::Refused(format!("`attribute`: \"{name}\" is public, so it is not randomized")));
    }
    let written = of_attribute(plan, place, MAX_ENTRIES, !exact);
    let written =
        written.map_err(|error| StudyError::Refused(format!("\"{name}\" has no matrix of its own: {error}")))?;
    Ok((vec![place], written))
}

/// Returns the labels of the true values: categories, or combinations of them.
fn inputs(plan: &Plan, places: &[usize]) -> Vec<String> {
    if places.is_empty() {
        return Vec::new();
    }
    let shape = Shape::new(places.iter().map(|&place| plan.schema().size(place)).collect());
    let label = |(&place, code): (&usize, usize)| plan.schema().attributes()[place].categories()[code].as_str();
    let labels = |cell| places.iter().zip(shape.codes(cell)).map(label).collect::<Vec<&str>>().join(&CROSS.to_string());
    (0..shape.cells()).map(labels).collect()
}

/// Returns the likelihoods by misses, if the plan is a single channel that distinguishes only single misses.
fn misses(plan: &Plan) -> Option<Misses> {
    let [block] = plan.blocks() else { return None };
    let [(_, Channel::Pattern(pattern))] = block.channels() else { return None };
    let seen = pattern.resampling().iter().any(|&weight| weight as f64 > MIN_SHOWN_PROBABILITY * 2f64.powi(64));
    let single = pattern.axes().iter().all(|axis| axis.answer == 1);
    if seen || !single || pattern.axes().len() < 2 {
        return None;
    }
    let (ln_none, ln_only) = logarithms(pattern)?;
    let name = |&attribute: &usize| plan.schema().name(attribute).to_owned();
    Some(Misses { attributes: block.attributes().iter().map(name).collect(), ln_none, ln_only })
}

/// Returns the logarithms for no miss (`N = 1`) and for each single miss (`N = a_j - 1`).
///
/// The formula is `ln(1 + W a_1 .. a_k / (W_all N))`.
fn logarithms(pattern: &Pattern) -> Option<(f64, Vec<f64>)> {
    let cells: f64 = pattern.axes().iter().map(|axis| (axis.categories as f64).ln()).sum();
    let weight = |wanted: &PatternSet| {
        let parts = pattern.parts().iter().filter(|part| part.set == *wanted);
        parts.map(|part| part.weight as f64).sum::<f64>()
    };
    let known =
        |set: &PatternSet| matches!(set, PatternSet::All) || matches!(set, PatternSet::Only(only) if only.len() < 2);
    let all = weight(&PatternSet::All);
    if all == 0.0 || !pattern.parts().iter().all(|part| known(&part.set)) {
        return None;
    }
    let ln = |set: PatternSet, answers: f64| match weight(&set) {
        0.0 => 0.0,
        weight => {
            let x = (weight / all).ln() + cells - answers.ln();
            if x > 30.0 { x } else { x.exp().ln_1p() }
        }
    };
    let only = pattern.axes().iter().enumerate();
    let only = only.map(|(j, axis)| ln(PatternSet::Only(vec![j]), (axis.categories - 1) as f64)).collect();
    Some((ln(PatternSet::no_miss(), 1.0), only))
}

impl TransitionMatrix {
    /// Formats the entries, as fractions if available and otherwise with all digits.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let number = |row: &Vec<f64>| row.iter().map(f64::to_string).collect();
        self.fractions.clone().unwrap_or_else(|| self.matrix.iter().map(number).collect())
    }

    /// Formats the matrix as CSV with labels, which `design --method matrix` reads.
    pub fn csv(&self) -> String {
        let quoted = |text: &String| match text.contains(['"', ',', '\n', '\r']) || text.trim() != text {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.clone(),
        };
        let mut text = format!(",{}\n", self.inputs.iter().map(quoted).collect::<Vec<_>>().join(","));
        for (label, row) in self.outputs.iter().zip(self.cells()) {
            let _ = writeln!(text, "{},{}", quoted(label), row.join(","));
        }
        text
    }

    /// Formats the matrix as a Markdown table.
    pub fn markdown(&self) -> String {
        let safe = |text: &String| text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ");
        let line = |first: String, others: Vec<String>| format!("| {first} | {} |\n", others.join(" | "));
        let mut text = line(String::new(), self.inputs.iter().map(safe).collect());
        text += &format!("|---|{}\n", "---:|".repeat(self.inputs.len()));
        let rows = self.outputs.iter().zip(self.cells());
        text + &rows.map(|(label, row)| line(safe(label), row)).collect::<String>()
    }

    /// Formats the matrix in LaTeX, without labels, as a `bmatrix`.
    pub fn latex(&self) -> String {
        let fraction = |cell: &String| match cell.split_once('/') {
            Some((n, d)) => format!("\\frac{{{n}}}{{{d}}}"),
            None => cell.clone(),
        };
        let row = |row: &Vec<String>| row.iter().map(fraction).collect::<Vec<_>>().join(" & ");
        let rows: Vec<String> = self.cells().iter().map(row).collect();
        let wide = match self.inputs.len() > 10 {
            true => format!("\\setcounter{{MaxMatrixCols}}{{{}}}\n", self.inputs.len()),
            false => String::new(),
        };
        format!("{wide}\\begin{{bmatrix}}\n{}\n\\end{{bmatrix}}\n", rows.join(" \\\\\n"))
    }
}
