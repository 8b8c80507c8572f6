//! Tables in and out by the Arrow PyCapsule interface: no column is copied on the way.

use std::ffi::CStr;
use std::sync::{Arc, Mutex};

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::errors::InputError;

/// What a capsule with a stream is called.
const STREAM: &CStr = c"arrow_array_stream";

/// The batches of anything that has `__arrow_c_stream__`.
pub fn read(table: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let exported = table.call_method0("__arrow_c_stream__")?;
    let capsule = exported.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by the interface, a capsule of this name holds a valid stream, which is moved out of it and marked as
    // released.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|error| InputError::new_err(format!("the table cannot be read as Arrow: {error}")))
}

/// A capsule with a stream.
fn capsule<'py>(py: Python<'py>, reader: Box<dyn RecordBatchReader + Send>) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Record batches that can be read any number of times, by whoever takes Arrow streams.
#[pyclass(frozen, module = "candor._candor")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Table {
        Table { schema, batches }
    }
}

#[pymethods]
impl Table {
    /// The table as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // By the interface, who cannot cast gives the table as it is.
        drop(requested_schema);
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        capsule(py, Box::new(RecordBatchIterator::new(batches, self.schema.clone())))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }
}

/// Record batches that are made as they are read: once.
#[pyclass(frozen, module = "candor._candor")]
pub struct Stream(Mutex<Option<Box<dyn RecordBatchReader + Send>>>);

impl Stream {
    pub fn new(
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    ) -> Stream {
        Stream(Mutex::new(Some(Box::new(RecordBatchIterator::new(Detached(batches), schema)))))
    }
}

#[pymethods]
impl Stream {
    /// The batches as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let reader = self.0.lock().ok().and_then(|mut reader| reader.take());
        capsule(
            py,
            reader.ok_or_else(|| InputError::new_err("this stream was read already; it can be read only once"))?,
        )
    }
}

/// An iterator that waits without holding the interpreter: what it waits for may need it.
struct Detached<I>(I);

impl<I: Iterator<Item: Send> + Send> Iterator for Detached<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        Python::attach(|py| py.detach(|| self.0.next()))
    }
}

/// A schema with further metadata.
pub fn marked(schema: &SchemaRef, marks: impl IntoIterator<Item = (String, String)>) -> SchemaRef {
    let mut metadata = schema.metadata().clone();
    metadata.extend(marks);
    Arc::new(schema.as_ref().clone().with_metadata(metadata))
}

/// A table with further metadata in its schema.
#[pyfunction]
pub fn mark(table: &Bound<'_, PyAny>, marks: std::collections::HashMap<String, String>) -> PyResult<Stream> {
    let reader = read(table)?;
    let schema = marked(&reader.schema(), marks);
    let same = schema.clone();
    let batch = move |batch: Result<RecordBatch, ArrowError>| batch?.with_schema(same.clone());
    Ok(Stream::new(schema, reader.map(batch)))
}
