//! Schemas and plans.

use std::sync::Arc;

use candor::guarantee::{certified, for_prior};
use candor::schema::{DescribedAttribute, described};
use candor_base::plan::{Content, MAX_COST, PlanError as BadPlan, ResponseColumn};
use candor_base::schema::Schema as Attributes;
use candor_tables::existing::write_plan;
use candor_tables::output::{Existing, Target};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::{Failure, PlanError, of_plan, of_schema};
use crate::verbs::json;

/// An attribute as Python has it: with its labels as categories.
#[derive(Serialize)]
struct Labelled {
    name: String,
    categories: Vec<String>,
    kind: &'static str,
    public: bool,
    edges: Vec<f64>,
    grid: Vec<f64>,
    asked_if: Option<String>,
}

impl From<DescribedAttribute> for Labelled {
    fn from(one: DescribedAttribute) -> Labelled {
        let DescribedAttribute { name, kind, public, labels, edges, grid, asked_if, .. } = one;
        Labelled { name, categories: labels, kind, public, edges, grid, asked_if }
    }
}

/// What a plan guarantees.
#[derive(Serialize)]
struct Guaranteed<A, P> {
    epsilon: Option<f64>,
    attributes: A,
    for_prior: P,
    method: String,
}

/// A column of responses.
#[derive(Serialize)]
struct DescribedColumn<'a> {
    name: &'a str,
    content: &'static str,
    set: bool,
    labels: Option<&'a [String]>,
}

/// A schema.
#[pyclass(frozen, module = "candor._candor")]
pub struct Schema(pub Arc<Attributes>);

#[pymethods]
impl Schema {
    /// Reads TOML.
    #[staticmethod]
    fn from_toml(text: &str) -> PyResult<Schema> {
        let schema = Attributes::from_toml(text).map_err(|error| of_schema(&error))?;
        Ok(Schema(Arc::new(schema)))
    }

    /// Attributes `a1`, `a2`, .. with so many categories each.
    #[staticmethod]
    fn of_sizes(sizes: Vec<usize>) -> PyResult<Schema> {
        let schema = Attributes::with_sizes(&sizes).map_err(|error| of_schema(&error))?;
        Ok(Schema(Arc::new(schema)))
    }

    fn to_toml(&self) -> String {
        candor::schema::to_toml(&self.0)
    }

    /// The attributes, as JSON.
    fn describe(&self) -> String {
        json(&described(&self.0).into_iter().map(Labelled::from).collect::<Vec<_>>())
    }
}

/// A plan.
#[pyclass(frozen, module = "candor._candor")]
pub struct Plan(pub Arc<candor_base::plan::Plan>);

impl Plan {
    pub fn of(plan: candor_base::plan::Plan) -> Plan {
        Plan(Arc::new(plan))
    }
}

#[pymethods]
impl Plan {
    /// Reads JSON; a plan that would take long to read only if that is allowed.
    #[staticmethod]
    fn loads(text: &str, allow_costly: bool, restate: bool) -> PyResult<Plan> {
        let steps = if allow_costly { u64::MAX } else { MAX_COST };
        let read = if restate { candor_base::plan::Plan::restated } else { candor_base::plan::Plan::from_json_within };
        read(text, steps).map(Plan::of).map_err(|error| match error {
            BadPlan::Understated { .. } => PlanError::new_err(format!("{error}. Read it with `restate`")),
            BadPlan::Version(_) => {
                PlanError::new_err(format!("{error}; update it: pip install --upgrade candor-privacy"))
            }
            BadPlan::TooCostly { .. } => PlanError::new_err(format!("{error}: then say `allow_costly_plan`")),
            _ if Attributes::from_toml(text).is_ok() => {
                PlanError::new_err("this is a schema, not a plan; `candor.design` makes a plan of it")
            }
            error => of_plan(&error),
        })
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// Writes a file; another plan that is there is replaced only by `force`.
    fn save(&self, path: &str, force: bool) -> PyResult<()> {
        let written = write_plan(&Target::File(path.into()), &self.0, Existing::forced(force));
        Ok(written.map_err(Failure::Table)?)
    }

    #[getter]
    fn fingerprint(&self) -> &str {
        self.0.fingerprint().as_str()
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema(Arc::new(self.0.schema().clone()))
    }

    /// What is guaranteed, as JSON.
    fn guarantee(&self) -> String {
        let plan = &self.0;
        json(&Guaranteed {
            epsilon: plan.guarantee().epsilon().finite(),
            attributes: certified(plan),
            for_prior: for_prior(plan),
            method: plan.origin().method.clone(),
        })
    }

    /// The columns of responses, as JSON.
    fn columns(&self) -> String {
        let schema = self.0.schema();
        json(&self.0.columns().iter().map(|column| described_column(schema, column)).collect::<Vec<_>>())
    }
}

fn described_column<'a>(schema: &'a Attributes, column: &'a ResponseColumn) -> DescribedColumn<'a> {
    let (content, set, labels) = match &column.content {
        Content::Public { attribute } => ("public", false, Some(schema.attributes()[*attribute].categories())),
        Content::Answer { labels, set, .. } => ("answer", *set, Some(&labels[..])),
        Content::Tag { .. } => ("tag", false, None),
        Content::Cells { .. } => ("cells", true, None),
    };
    DescribedColumn { name: &column.name, content, set, labels }
}
