//! The papers' experiments on true records.

use candor_experiments::adult::Dataset;
use candor_experiments::exhibit::{Outcome, Settings};
use candor_experiments::own::{
    LDiversity, Multidimensional, OptimizedRr, Optrr, l_diversity, multidimensional, optimized_rr, optrr,
};
use candor_tables::true_records::Records;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::json;
use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::Schema;
use crate::source::{inputs, missing};
use crate::work::run;

/// An experiment with its parameters.
enum Asked {
    Multidimensional(Multidimensional),
    OptimizedRr(OptimizedRr),
    Optrr(Optrr),
    LDiversity(LDiversity),
}

/// Runs an experiment; gives the number of records, and tables and plots as JSON.
#[pyfunction]
pub fn run_experiment(
    py: Python<'_>,
    schema: &Schema,
    name: &str,
    given: &Bound<'_, PyList>,
    options: &str,
) -> PyResult<(usize, String)> {
    let mut options = Options::read(options)?;
    let inputs = inputs(given, options.take("delimiter")?)?.with_missing(&missing(&mut options)?);
    let mut settings = Settings::default();
    settings.seed = options.or("seed", settings.seed)?;
    let asked = asked(name, &mut options, &mut settings)?;
    options.finish()?;
    run(py, None, |_| {
        let columns = Records { schema: &schema.0, inputs }.read()?;
        let data = Dataset { schema: (*schema.0).clone(), columns };
        let records = data.records();
        Ok((records, json(&made(data, &asked, &settings)?)))
    })
}

fn asked(name: &str, options: &mut Options, settings: &mut Settings) -> Result<Asked, Failure> {
    let repeats = if name == "optrr" { "generations" } else { "repeats" };
    if name != "l-diversity" {
        settings.repeats = options.take(repeats)?;
    }
    Ok(match name {
        "multidimensional" => {
            let default = Multidimensional::default();
            Asked::Multidimensional(Multidimensional {
                p: options.or("p", default.p)?,
                max_cells: options.or("max_cells", default.max_cells)?,
                min_dependence: options.or("min_dependence", default.min_dependence)?,
                coverage: options.or("coverage", default.coverage)?,
            })
        }
        "optimized-rr" => {
            let default = OptimizedRr::default();
            Asked::OptimizedRr(OptimizedRr {
                epsilon_i: options.or("epsilon_i", default.epsilon_i)?,
                outcome: options.take("with")?,
                snps: options.or("snps", default.snps)?,
            })
        }
        "optrr" => {
            let default = Optrr::default();
            Asked::Optrr(Optrr {
                attributes: options.or("attributes", default.attributes)?,
                delta: options.or("delta", default.delta)?,
            })
        }
        "l-diversity" => {
            let default = LDiversity::default();
            Asked::LDiversity(LDiversity {
                attributes: options.or("attributes", default.attributes)?,
                gamma: options.or("gamma", default.gamma)?,
                l: options.or("l", default.l)?,
            })
        }
        other => {
            let known = "multidimensional, optimized-rr, optrr, l-diversity";
            return Err(parameter(format!("unknown experiment \"{other}\"; expected one of {known}")));
        }
    })
}

fn made(data: Dataset, asked: &Asked, settings: &Settings) -> Result<Outcome, Failure> {
    match asked {
        Asked::Multidimensional(asked) => multidimensional(data, asked, settings),
        Asked::OptimizedRr(asked) => optimized_rr(&data, asked, settings),
        Asked::Optrr(asked) => optrr(&data, asked, settings),
        Asked::LDiversity(asked) => l_diversity(&data, asked),
    }
    .map_err(parameter)
}
