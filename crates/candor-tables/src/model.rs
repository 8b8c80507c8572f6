//! Reads responses and numeric columns for a regression, merging equal rows, in one pass on all cores.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use candor_analysis::regress::{self, Layout, Model, ModelRows, SamplingColumns};
use candor_analysis::tally::Codes;
use candor_base::plan::Plan;
use candor_runtime::progress::ProgressSink;

use crate::TableError;
use crate::input::{Batch, Inputs};
use crate::responses::{
    Columns, ReadSummary, ResponseBatch, invalid_value, matches, read_batches_beside, unsupported, weights_of, written,
};
use crate::types::cast;

/// Largest absolute value of a number, so that its square is finite.
const LARGEST: f64 = 1e100;

/// Explanation of numeric columns in errors.
const NUMBERS: &str = "a column that is not an attribute of the plan enters a model as a number; leave out rows \
                       without one, or make it a public attribute";

/// Explanation of the column of population sizes in errors.
const POPULATIONS: &str =
    "it says how many sampling units the population of the stratum has or, up to 1, which share of them was drawn";

/// Columns of the sampling design, which are read in addition to the answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DesignColumns<'a> {
    /// Column of sampling weights.
    pub weights: Option<&'a str>,
    /// Column of primary sampling units.
    pub clusters: Option<&'a str>,
    /// Column of strata.
    pub strata: Option<&'a str>,
    /// Column with the number of sampling units in the stratum's population or, if at most 1, the sampled fraction.
    pub fpc: Option<&'a str>,
    /// Name pattern of the columns of replicate weights; `*` matches any text.
    pub replicates: Option<&'a str>,
}

/// Reads responses and columns of a model once, merging equal rows.
///
/// # Errors
/// Returns [`TableError`] if
/// - a file was made with another plan or cannot be read,
/// - a column is missing, or would reveal a randomized attribute,
/// - a value is neither a valid response nor a number,
/// - `progress` cancels.
pub fn model_rows(
    plan: &Plan,
    inputs: Inputs,
    model: &Model,
    layout: &Layout,
    beside: DesignColumns<'_>,
    progress: ProgressSink<'_>,
) -> Result<(ModelRows, ReadSummary), TableError> {
    let labels = [beside.clusters, beside.strata];
    let named: Vec<String> = model
        .numbers()
        .iter()
        .cloned()
        .chain(labels.into_iter().chain([beside.fpc]).flatten().map(str::to_owned))
        .collect();
    for name in &named {
        if let Some(attribute) = plan.schema().protects(name) {
            let (column, attribute) = (name.clone(), attribute.name().to_owned());
            return Err(TableError::ModelTruth { column, attribute });
        }
    }
    let map = |batch: &Batch, decoded: ResponseBatch| {
        let ResponseBatch { columns, weights, rows } = decoded;
        let values = model.numbers().iter().map(|name| numbers(batch, name, NUMBERS)).collect::<Result<Vec<_>, _>>()?;
        let texts = labels.map(|name| name.map(|name| texts(batch, name)).transpose());
        let [clusters, strata] = texts;
        let (clusters, strata) = (clusters?, strata?);
        let fpc = beside.fpc.map(|name| numbers(batch, name, POPULATIONS)).transpose()?;
        let codes: Vec<Codes<'_>> = columns.iter().map(Codes::from).collect();
        let mut found = ModelRows::new(layout.clone());
        let replicates = beside.replicates.map_or(Ok(Vec::new()), |pattern| replicates(batch, pattern))?;
        let sample = SamplingColumns {
            clusters: clusters.as_deref(),
            strata: strata.as_deref(),
            fpc: fpc.as_deref(),
            replicates: &replicates,
        };
        let numbers = &values;
        found.add(&regress::Batch { columns: &codes, numbers, weights: weights.as_deref(), sample, rows });
        Ok((batch.file.clone(), found))
    };
    let mut all = ModelRows::new(layout.clone());
    let columns = Columns { named: &named, matching: beside.replicates };
    let mut wrong = None;
    let read = read_batches_beside(plan, inputs, beside.weights, columns, progress, map, |(file, rows)| {
        let (known, found) = (all.replicates(), rows.replicates());
        match beside.replicates {
            Some(pattern) if found < 2 || (known > 0 && known != found) => {
                wrong.get_or_insert(TableError::Replicates { file, pattern: pattern.to_owned(), found });
            }
            _ => all.merge(&rows),
        }
    })?;
    wrong.map_or(Ok((all, read)), Err)
}

/// Returns the columns of replicate weights.
fn replicates(batch: &Batch, pattern: &str) -> Result<Vec<Vec<f64>>, TableError> {
    let fields = batch.columns.schema();
    let matching = fields.fields().iter().enumerate().filter(|(_, field)| matches(pattern, field.name()));
    matching.map(|(at, field)| weights_of(batch, at, field.name())).collect()
}

pub(crate) fn column<'a>(batch: &'a Batch, name: &str) -> &'a ArrayRef {
    batch.columns.column_by_name(name).expect("a column that was asked for")
}

/// Returns a requested column of numbers; `rule` describes valid values for errors.
///
/// # Errors
/// Returns [`TableError`] if a value is not a number.
pub fn numbers(batch: &Batch, name: &str, rule: &str) -> Result<Vec<f64>, TableError> {
    let array = column(batch, name);
    let numbers = match array.data_type().is_numeric() {
        true => cast(array, &DataType::Float64),
        false => cast(array, &DataType::Utf8).and_then(|text| cast(&text, &DataType::Float64)),
    };
    let numbers = numbers.ok_or_else(|| unsupported(batch, name, array))?;
    let one = |(row, number): (usize, Option<f64>)| {
        number.filter(|number| number.abs() <= LARGEST).ok_or_else(|| {
            let bad = invalid_value(batch, row, name, &written(array, row));
            TableError::InvalidValue(bad.not("a number", rule))
        })
    };
    numbers.as_primitive::<Float64Type>().iter().enumerate().map(one).collect()
}

/// Returns a requested column of text, empty where values are missing.
///
/// # Errors
/// Returns [`TableError::Type`] if its type has no text form.
pub fn texts(batch: &Batch, name: &str) -> Result<Vec<String>, TableError> {
    let array = column(batch, name);
    let text = cast(array, &DataType::Utf8).ok_or_else(|| unsupported(batch, name, array))?;
    Ok(text.as_string::<i32>().iter().map(|text| text.unwrap_or_default().to_owned()).collect())
}
