//! Tables as Python gives them: paths, or anything that gives Arrow streams, with what their frames could not carry.

use std::collections::HashMap;

use arrow_array::RecordBatchReader;
use candor::shares::Shares;
use candor_tables::input::{Input, Inputs};
use candor_tables::missing::Missing;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::arrow::{marked, read};
use crate::errors::{Failure, InputError};
use crate::options::Options;

/// What a table without a name is called.
const UNNAMED: &str = "the table";

/// A table that is open: a stream of batches, and marks that its schema lacks.
type Open<'py> = (Bound<'py, PyAny>, HashMap<String, String>);

/// Tables to be read: a list of paths, or of pairs of a table and its marks.
pub fn inputs(given: &Bound<'_, PyList>, delimiter: Option<String>) -> PyResult<Inputs> {
    if given.is_empty() {
        return Err(InputError::new_err("there is no table to read"));
    }
    let is_path = |one: &Bound<'_, PyAny>| one.is_instance_of::<PyString>();
    if given.iter().all(|one| is_path(&one)) {
        let paths: Vec<String> = given.extract()?;
        return Inputs::new(&paths, byte(delimiter)?).map_err(|error| Failure::from(error).into());
    }
    if given.iter().any(|one| is_path(&one)) {
        return Err(InputError::new_err("either paths or tables in memory, not both together"));
    }
    given.iter().map(|one| open(one.extract()?)).collect()
}

/// The words of tables of true records that stand for what is missing.
pub fn missing(options: &mut Options) -> Result<Missing, Failure> {
    Ok(Missing::named(options.take("missing")?))
}

/// What a table says that is anticipated of people.
pub fn anticipated(schema: &candor_base::schema::Schema, table: &Bound<'_, PyList>) -> PyResult<Shares> {
    Shares::read(schema, one_input(table, None)?, &[]).map_err(|error| Failure::from(error).into())
}

/// The one table of a list.
pub fn one_input(given: &Bound<'_, PyList>, delimiter: Option<String>) -> PyResult<Input> {
    let mut tables = inputs(given, delimiter)?.into_iter();
    let (Some(table), None) = (tables.next(), tables.next()) else {
        return Err(InputError::new_err("one table, please"));
    };
    table.open().map_err(|error| Failure::from(error).into())
}

fn open((table, marks): Open<'_>) -> PyResult<Input> {
    let reader = read(&table)?;
    let schema = marked(&reader.schema(), marks);
    Input::from_batches(UNNAMED, schema, reader).map_err(|error| Failure::from(error).into())
}

/// A delimiter: one character, or `tab`.
fn byte(delimiter: Option<String>) -> Result<Option<u8>, Failure> {
    match delimiter.as_deref() {
        None => Ok(None),
        Some("tab" | "\t") => Ok(Some(b'\t')),
        Some(one) if one.len() == 1 && !one.contains(['"', '\n', '\r']) => Ok(Some(one.as_bytes()[0])),
        Some(_) => Err(crate::errors::parameter("`delimiter` is one ASCII character, or tab")),
    }
}
