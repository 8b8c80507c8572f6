//! The transition matrix of a plan, as probabilities.

use std::fmt::Write;

use candor_base::channel::{Channel, Pattern, PatternSet, Rational};
use candor_base::plan::Plan;
use candor_base::schema::CROSS;
use candor_base::shape::Shape;
use candor_design::eigenvalues::{Eigenvalue, eigenvalues, largest_over_smallest};
use candor_design::written::{Written, WrittenError, of_attribute, of_blocks};
use serde::Serialize;

use crate::error::StudyError;

/// Larger matrices are not written out.
pub const MAX_ENTRIES: usize = 1 << 18;

/// Resampling so rare does not show in a probability.
const UNSEEN: f64 = 1e-9;

/// Which matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatrixOptions {
    /// Of the answers about this attribute alone; of whole records if `None`.
    pub attribute: Option<String>,
    /// With every entry as a fraction.
    pub exact: bool,
    /// Without the matrix: only how likely answers are by their misses.
    pub misses: bool,
}

impl MatrixOptions {
    options! {
        attribute: impl Into<Option<String>>,
        exact: bool,
        misses: bool,
    }
}

/// A transition matrix: columns are truths and sum to 1, rows are answers.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TransitionMatrix {
    /// The attributes that it is about.
    pub attributes: Vec<String>,
    /// The labels of the truths.
    pub inputs: Vec<String>,
    /// The labels of the answers.
    pub outputs: Vec<String>,
    /// `matrix[answer][truth]`: the probability of the answer.
    pub matrix: Vec<Vec<f64>>,
    /// The same as fractions, with `exact`.
    pub fractions: Option<Vec<Vec<String>>>,
    /// The eigenvalues, the largest absolute value first; `None` unless answers are truths.
    pub eigenvalues: Option<Vec<Eigenvalue>>,
    /// `P_max / P_min`: the largest absolute eigenvalue over the smallest. `None` if that is 0, or there are none.
    pub largest_over_smallest: Option<f64>,
    /// How likely answers are by their misses, if all with two misses or more are alike.
    pub misses: Option<Misses>,
    /// The plan's fingerprint.
    pub fingerprint: String,
}

/// How likely an answer is by what it misses, relative to one with two misses or more: `x_k0` to `x_kk` of Algorithm 3
/// of Yamamoto and Shibuya 2024.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Misses {
    /// The attributes, in order.
    pub attributes: Vec<String>,
    /// The natural logarithm of `x_k0`: of the answer without a miss.
    pub ln_none: f64,
    /// The natural logarithms of `x_k1` to `x_kk`: of an answer in which only this attribute misses.
    pub ln_only: Vec<f64>,
}

/// The transition matrix of a plan.
///
/// # Errors
/// If there is no such attribute, it is public, it has no answer of its own, or the matrix is too large.
pub fn matrix(plan: &Plan, options: &MatrixOptions) -> Result<TransitionMatrix, StudyError> {
    let misses = misses(plan);
    let (places, written) = match &options.attribute {
        _ if options.misses && misses.is_none() => {
            return Err(StudyError::Needs(
                "this plan is not of the kind that `misses` is about: one of the heuristic, or of reduced or \
                 two-attribute",
            ));
        }
        _ if options.misses => (Vec::new(), Written { answers: Vec::new(), columns: Vec::new() }),
        None => whole(plan)?,
        Some(name) => alone(plan, name, options.exact)?,
    };
    let columns = written.numbers();
    let rows = 0..written.answers.len();
    let inputs = inputs(plan, &places);
    // Answers that are no truths have no order beside them.
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

/// The matrix of whole records.
fn whole(plan: &Plan) -> Result<(Vec<usize>, Written), StudyError> {
    let places = plan.schema().randomized();
    let blocks: Vec<_> = plan.blocks().iter().collect();
    let written = of_blocks(plan, &blocks, &places, MAX_ENTRIES).map_err(|error| {
        let records = places.iter().map(|&place| plan.schema().size(place)).fold(1, usize::saturating_mul);
        let why = match error {
            WrittenError::TooLarge(answers) => format!("{records} records and about {answers} answers"),
            _ => format!("{records} records, and one channel about too many attributes"),
        };
        StudyError::Refused(format!(
            "the matrix of whole records is too large to write out: {why} (at most {MAX_ENTRIES} entries). Name one \
             `attribute`"
        ))
    })?;
    Ok((places, written))
}

/// The matrix of the answers about one attribute.
fn alone(plan: &Plan, name: &str, exact: bool) -> Result<(Vec<usize>, Written), StudyError> {
    let place = plan.schema().position(name).map_err(|error| StudyError::Refused(format!("`attribute`: {error}")))?;
    if plan.schema().attributes()[place].is_public() {
        return Err(StudyError::Refused(format!("`attribute`: \"{name}\" is public, so it is not randomized")));
    }
    let written = of_attribute(plan, place, MAX_ENTRIES, !exact);
    let written =
        written.map_err(|error| StudyError::Refused(format!("\"{name}\" has no matrix of its own: {error}")))?;
    Ok((vec![place], written))
}

/// The labels of the truths: categories, or combinations of them.
fn inputs(plan: &Plan, places: &[usize]) -> Vec<String> {
    if places.is_empty() {
        return Vec::new();
    }
    let shape = Shape::new(places.iter().map(|&place| plan.schema().size(place)).collect());
    let label = |(&place, code): (&usize, usize)| plan.schema().attributes()[place].categories()[code].as_str();
    let labels = |cell| places.iter().zip(shape.codes(cell)).map(label).collect::<Vec<&str>>().join(&CROSS.to_string());
    (0..shape.cells()).map(labels).collect()
}

/// What an answer's misses do to its likelihood, if the plan is one channel that tells single misses apart only.
fn misses(plan: &Plan) -> Option<Misses> {
    let [block] = plan.blocks() else { return None };
    let [(_, Channel::Pattern(pattern))] = block.channels() else { return None };
    let seen = pattern.resampling().iter().any(|&weight| weight as f64 > UNSEEN * 2f64.powi(64));
    let single = pattern.axes().iter().all(|axis| axis.answer == 1);
    if seen || !single || pattern.axes().len() < 2 {
        return None;
    }
    let (ln_none, ln_only) = logarithms(pattern)?;
    let name = |&attribute: &usize| plan.schema().name(attribute).to_owned();
    Some(Misses { attributes: block.attributes().iter().map(name).collect(), ln_none, ln_only })
}

/// `ln(1 + W a_1 .. a_k / (W_all N))` for the part of no miss (`N = 1`) and of each single one (`N = a_j - 1`).
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
    /// The entries as they are shown: fractions if there are, else numbers with all their digits.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let number = |row: &Vec<f64>| row.iter().map(f64::to_string).collect();
        self.fractions.clone().unwrap_or_else(|| self.matrix.iter().map(number).collect())
    }

    /// As CSV with labels, the way `design --method matrix` reads it.
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

    /// As a table in Markdown.
    pub fn markdown(&self) -> String {
        let safe = |text: &String| text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ");
        let line = |first: String, others: Vec<String>| format!("| {first} | {} |\n", others.join(" | "));
        let mut text = line(String::new(), self.inputs.iter().map(safe).collect());
        text += &format!("|---|{}\n", "---:|".repeat(self.inputs.len()));
        let rows = self.outputs.iter().zip(self.cells());
        text + &rows.map(|(label, row)| line(safe(label), row)).collect::<String>()
    }

    /// As a matrix in LaTeX, without labels; of `bmatrix`, with as many columns as it takes.
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
