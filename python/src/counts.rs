//! Counts of responses, which add up.

use std::sync::Arc;

use candor::counts::{self, CountOptions, public_attributes};
use candor_analysis::table_list::TableList;
use candor_runtime::progress::ProgressSink;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::Plan;
use crate::source::inputs;
use crate::work::run;

/// Counts of responses to a plan.
#[pyclass(frozen, module = "candor._candor")]
pub struct Counts(pub Arc<counts::Counts>);

impl Counts {
    fn of(counts: counts::Counts) -> Counts {
        Counts(Arc::new(counts))
    }
}

#[pymethods]
impl Counts {
    /// Reads what `to_json` wrote, of responses to this plan.
    #[staticmethod]
    fn from_json(plan: &Plan, text: &str) -> PyResult<Counts> {
        counts::Counts::from_json(&plan.0, text).map(Counts::of).map_err(|error| Failure::from(error).into())
    }

    fn to_json(&self, plan: &Plan) -> String {
        self.0.to_json(&plan.0)
    }

    /// The counts of both.
    fn merged(&self, other: &Counts) -> PyResult<Counts> {
        let mut sum = self.0.as_ref().clone();
        sum.merge(other.0.as_ref().clone()).map_err(Failure::from)?;
        Ok(Counts::of(sum))
    }

    #[getter]
    fn responses(&self) -> u64 {
        self.0.responses()
    }

    /// What should be known of where the responses come from.
    #[getter]
    fn notes(&self) -> Vec<String> {
        notes(&self.0)
    }

    /// The tables that were counted, by names of attributes.
    fn tables(&self, plan: &Plan) -> Vec<Vec<String>> {
        let name = |&attribute: &usize| plan.0.schema().name(attribute).to_owned();
        let first = self.0.groups().values().next();
        first.into_iter().flatten().map(|tally| tally.layout().attributes.iter().map(name).collect()).collect()
    }
}

/// What should be known of counted responses.
pub fn notes(counts: &counts::Counts) -> Vec<String> {
    counts.provenance().notes(str::to_owned)
}

/// Responses to be counted, or counts.
pub enum Responses {
    Read(candor_tables::input::Inputs),
    /// Counts made elsewhere, to be read once their tables are known.
    Elsewhere(candor_tables::input::Inputs),
    Counted(Arc<counts::Counts>),
}

impl Responses {
    /// A list of tables, or counts.
    pub fn given(given: &Bound<'_, PyAny>, options: &mut Options) -> PyResult<Responses> {
        let counted = options.or("counted", false)?;
        let unmarked = options.or("unmarked", false)?;
        match (Responses::separated(given, options.take("delimiter")?)?.vouched(unmarked), counted) {
            (Responses::Read(inputs), true) => Ok(Responses::Elsewhere(inputs)),
            (responses, _) => Ok(responses),
        }
    }

    /// The same; if `unmarked`, the user vouches that tables without a mark are of the plan.
    pub fn vouched(self, unmarked: bool) -> Responses {
        match self {
            Responses::Read(inputs) => Responses::Read(inputs.unmarked(unmarked)),
            Responses::Elsewhere(inputs) => Responses::Elsewhere(inputs.unmarked(unmarked)),
            counted @ Responses::Counted(_) => counted,
        }
    }

    /// A list of tables, those in CSV with this delimiter; or counts.
    pub fn separated(given: &Bound<'_, PyAny>, delimiter: Option<String>) -> PyResult<Responses> {
        match given.cast::<Counts>() {
            Ok(counts) => Ok(Responses::Counted(counts.get().0.clone())),
            Err(_) => Ok(Responses::Read(inputs(given.cast::<PyList>()?, delimiter)?)),
        }
    }

    /// The counts of these tables.
    pub fn counts(
        self,
        plan: &candor_base::plan::Plan,
        tables: &TableList,
        options: CountOptions<'_>,
        progress: ProgressSink<'_>,
    ) -> Result<counts::Counts, Failure> {
        match self {
            Responses::Read(inputs) => Ok(counts::Counts::read(plan, inputs, tables, options, progress)?),
            Responses::Elsewhere(inputs) => Ok(counts::Counts::from_precomputed(plan, inputs, tables)?),
            Responses::Counted(counts) => match options == CountOptions::default() {
                true => Ok(counts.select(tables)?),
                false => {
                    Err(parameter("`by`, `weights` and sets of answers are for who counts; these are counted already"))
                }
            },
        }
    }

    /// The tables to be read; counts do not hold records.
    pub fn inputs(self) -> Result<candor_tables::input::Inputs, Failure> {
        match self {
            Responses::Read(inputs) => Ok(inputs),
            Responses::Elsewhere(_) | Responses::Counted(_) => {
                Err(parameter("this needs the responses themselves, not their counts"))
            }
        }
    }
}

/// How responses are grouped and weighted.
pub struct Grouping {
    by: Vec<String>,
    weights: Option<String>,
    keep_sets: bool,
}

impl Grouping {
    pub fn take(options: &mut Options, keep_sets: bool) -> Result<Grouping, Failure> {
        Ok(Grouping { by: options.or("by", Vec::new())?, weights: options.take("weights")?, keep_sets })
    }

    /// The counts of these tables.
    pub fn counts(
        &self,
        plan: &candor_base::plan::Plan,
        responses: Responses,
        tables: &TableList,
        progress: ProgressSink<'_>,
    ) -> Result<counts::Counts, Failure> {
        let by = public_attributes(plan.schema(), &self.by)?;
        let options = CountOptions::default().by(&by).weights(self.weights.as_deref()).keep_sets(self.keep_sets);
        responses.counts(plan, tables, options, progress)
    }
}

/// Counts responses.
#[pyfunction]
pub fn tally(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Counts> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let tables = options.tables(plan.0.schema(), "marginals")?;
    let keep_sets = options.or("keep_sets", false)?;
    let grouping = Grouping::take(&mut options, keep_sets)?;
    options.finish()?;
    run(py, progress, |progress| grouping.counts(&plan.0, responses, &tables, progress)).map(Counts::of)
}

/// Reads counts made elsewhere, by the query of `sql` or otherwise.
#[pyfunction]
pub fn counts_made_elsewhere(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyList>,
    options: &str,
) -> PyResult<Counts> {
    let mut options = Options::read(options)?;
    let inputs = inputs(given, options.take("delimiter")?)?.unmarked(options.or("unmarked", false)?);
    let tables = options.tables(plan.0.schema(), "marginals")?;
    options.finish()?;
    run(py, None, |_| Ok(counts::Counts::from_precomputed(&plan.0, inputs, &tables)?)).map(Counts::of)
}
