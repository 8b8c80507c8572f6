//! What the Python package calls: each verb of `candor` as a function that takes tables as Arrow streams and parameters
//! as JSON. Nothing is decided here: rules, formulas and defaults are those of the libraries.

#![deny(unsafe_op_in_unsafe_fn)]

mod errors;

mod work;

mod options;

mod arrow;

mod source;

mod plan;

mod signature;

mod counts;

mod survey;

mod verbs;

use pyo3::prelude::*;

#[pymodule]
fn _candor(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("FINGERPRINT_KEY", candor_tables::responses::FINGERPRINT_KEY)?;
    module.add("SIMULATION_KEY", candor_tables::responses::SIMULATION_KEY)?;
    module.add_class::<arrow::Table>()?;
    module.add_class::<arrow::Stream>()?;
    module.add_class::<plan::Schema>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<counts::Counts>()?;
    module.add_class::<signature::PrivateKey>()?;
    module.add_class::<signature::Signature>()?;
    module.add_class::<verbs::party::PartySession>()?;
    module.add_function(wrap_pyfunction!(errors::spoken, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::mark, module)?)?;
    module.add_function(wrap_pyfunction!(counts::tally, module)?)?;
    module.add_function(wrap_pyfunction!(counts::counts_made_elsewhere, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::schema::infer_schema, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::schema::check_schema, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::choose::choose_epsilon, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::compare::compare_methods, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::compare::compare_variance, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::compare::compare_for, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::design::design, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::design::combine_plans, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::design::matrix_cells, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::design::methods, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::design::parameters, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::audit::audit, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::audit::compare_plans, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::audit::explain_plan, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::audit::evidence_of, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::mechanism::audit_program, module)?)?;
    module.add_class::<verbs::mechanism::MechanismDraws>()?;
    module.add_function(wrap_pyfunction!(verbs::randomize::randomize, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::randomize::randomize_to, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::randomize::randomize_stream, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::randomize::randomize_one, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::randomize::caution, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::estimate::estimate, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::analyse::test_independence, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::analyse::scan_attributes, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::differences::test_differences, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::analyse::query_share, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::analyse::cluster_records, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::analyse::cluster_responses, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::analyse::report_page, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::analyse::size_of, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::regress::fit_regression, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::records::adjust_weights, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::records::synthesize_records, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::sql::sql_query, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::matrix::matrix_of, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::experiment::run_experiment, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::front::front_of, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::front::refine_plan, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::field::device_plan, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::field::enter_answers, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::field::comply_with, module)?)?;
    Ok(())
}
