//! What is refused, as exceptions. Messages are those of the libraries, which name parameters as they are called here.

use candor::verdict::{Code, Verdict};
use candor::{StudyError, rejection};
use candor_analysis::regress::RegressError;
use candor_base::plan::PlanError as BadPlan;
use candor_base::schema::SchemaError as BadSchema;
use candor_design::request::RequestError;
use candor_tables::TableError;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::{PyErr, create_exception};

create_exception!(candor, Error, PyException, "Whatever candor refuses, and why.");
create_exception!(
    candor,
    ParameterError,
    Error,
    "A parameter that is missing, out of its range, or does not go with the others."
);
create_exception!(candor, SchemaError, Error, "What is no schema.");
create_exception!(candor, PlanError, Error, "What is no plan.");
create_exception!(candor, InputError, Error, "A table that cannot be read, or does not fit.");
create_exception!(candor, CategoryError, InputError, "A value that is none of its attribute's categories.");
create_exception!(candor, OtherPlanError, InputError, "Responses, or counts, that were made under another plan.");
create_exception!(candor, DesignError, Error, "There is no such plan, or it would protect nobody.");
create_exception!(candor, EstimateError, Error, "What the responses cannot tell.");
create_exception!(
    candor,
    SignatureError,
    Error,
    "A key or a signature that is none, or a plan that is not signed with the key."
);
create_exception!(candor, RequirementError, Error, "A plan that does not meet what was required of it.");

/// All of them, by the names they have in Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    py.get_type::<Error>().setattr("verdict", py.None())?;
    py.get_type::<OtherPlanError>().setattr("verdict", Code::WrongPlan.name())?;
    module.add("Error", py.get_type::<Error>())?;
    module.add("ParameterError", py.get_type::<ParameterError>())?;
    module.add("SchemaError", py.get_type::<SchemaError>())?;
    module.add("PlanError", py.get_type::<PlanError>())?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("CategoryError", py.get_type::<CategoryError>())?;
    module.add("OtherPlanError", py.get_type::<OtherPlanError>())?;
    module.add("DesignError", py.get_type::<DesignError>())?;
    module.add("EstimateError", py.get_type::<EstimateError>())?;
    module.add("SignatureError", py.get_type::<SignatureError>())?;
    module.add("RequirementError", py.get_type::<RequirementError>())
}

/// Why there is no result.
pub enum Failure {
    Study(StudyError),
    Table(TableError),
    Request(RequestError),
    Python(PyErr),
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Study(error) => judged(of_study(&error), rejection::of_study(&error)),
            Failure::Table(error) => judged(of_table(&error), rejection::of_table(&error)),
            Failure::Request(error) => ParameterError::new_err(spoken(&error.to_string())),
            Failure::Python(error) => error,
        }
    }
}

/// An exception with the code of its verdict, if it has one.
fn judged(exception: PyErr, verdict: Option<Verdict>) -> PyErr {
    if let Some(verdict) = verdict {
        let set = Python::attach(|py| exception.value(py).setattr("verdict", verdict.code.name()));
        debug_assert!(set.is_ok(), "exceptions have a place for attributes");
    }
    exception
}

fn of_study(error: &StudyError) -> PyErr {
    let message = spoken(&error.to_string());
    match error {
        StudyError::Cancelled(_) => PyKeyboardInterrupt::new_err(message),
        StudyError::OtherPlan { .. } => OtherPlanError::new_err(message),
        StudyError::Estimate(_) | StudyError::Adjust(_) | StudyError::Protocol(_) => EstimateError::new_err(message),
        StudyError::Regress(
            RegressError::NotIdentifiable { .. }
            | RegressError::Constant(_)
            | RegressError::Collinear(_)
            | RegressError::NoSolution
            | RegressError::Boundary
            | RegressError::NoResponses,
        ) => EstimateError::new_err(message),
        StudyError::Design(_)
        | StudyError::Blackwell(_)
        | StudyError::OutOfReach { .. }
        | StudyError::Unbounded
        | StudyError::ProtectsNobody { .. }
        | StudyError::LosesEpsilon { .. } => match message.contains("stopped before it was done") {
            true => PyKeyboardInterrupt::new_err(message),
            false => DesignError::new_err(message),
        },
        StudyError::Counts(_) => InputError::new_err(message),
        _ => ParameterError::new_err(message),
    }
}

fn of_table(error: &TableError) -> PyErr {
    let message = spoken(&error.to_string());
    match error {
        TableError::Cancelled(_) => PyKeyboardInterrupt::new_err(message),
        TableError::Fingerprint { .. } => OtherPlanError::new_err(message),
        TableError::InvalidValue(_) => CategoryError::new_err(message),
        TableError::NoCounts { .. } => {
            InputError::new_err(format!("{message}; `Plan.sql` gives the query that makes them"))
        }
        TableError::NoGroups(_) => ParameterError::new_err(message),
        _ => InputError::new_err(message),
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Failure {
        Failure::Study(error)
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Failure {
        Failure::Table(error)
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Failure {
        Failure::Request(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure::Python(error)
    }
}

/// A parameter that is wrong.
pub fn parameter(message: impl std::fmt::Display) -> Failure {
    Failure::Python(ParameterError::new_err(spoken(&message.to_string())))
}

/// A plan that is none.
pub fn of_plan(error: &BadPlan) -> PyErr {
    PlanError::new_err(spoken(&error.to_string()))
}

/// A schema that is none.
pub fn of_schema(error: &BadSchema) -> PyErr {
    SchemaError::new_err(spoken(&error.to_string()))
}

/// Names of parameters that Python has for itself.
const RESERVED: [&str; 4] = ["for", "from", "lambda", "with"];

/// A library's message with its parameters as they are given in Python: `` `method joint` `` becomes ``
/// `method="joint"` ``.
#[pyfunction]
pub fn spoken(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('`') {
        text += before;
        text.push('`');
        rest = match after.split_once('`').filter(|(quoted, _)| is_parameter(quoted)) {
            Some((quoted, behind)) => {
                text += &argument(quoted);
                text.push('`');
                behind
            }
            None => after,
        };
    }
    (text + rest).replace("the query of candor sql", "the query of `Plan.sql`")
}

/// Whether this begins like a parameter's name.
fn is_parameter(quoted: &str) -> bool {
    let name = quoted.split(' ').next().unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// A parameter, perhaps with a value.
fn argument(quoted: &str) -> String {
    let (name, value) = quoted.split_once(' ').unwrap_or((quoted, ""));
    let suffix = if RESERVED.contains(&name) { "_" } else { "" };
    let column = value.rsplit_once('=').filter(|_| name == "bins");
    match (column, value) {
        (_, "") => format!("{name}{suffix}"),
        (Some((column, how)), _) => format!("{name}={{{}: {}}}", text(column), text(how)),
        (None, value) => {
            let values: Vec<String> = value.split(" or ").map(text).collect();
            format!("{name}{suffix}={}", values.join(" or "))
        }
    }
}

/// A value as it is written in Python.
fn text(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(_) => value.to_owned(),
        Err(_) => format!("\"{}\"", value.trim_matches(['"', '\''])),
    }
}
