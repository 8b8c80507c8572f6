//! What the command does, verb by verb. One program, because each takes longer to link than to run.

#[path = "../sandbox/mod.rs"]
mod sandbox;

mod rake;
mod conditional_shares;
mod skip_logic;
mod escape_formulas;
mod printed_claims;
mod choose;
mod associations;
mod combine;
mod compare;
mod design;
mod device;
mod stochastic_rounding;
mod estimate;
mod evidence;
mod existing_outputs;
#[cfg(unix)]
mod audit_program;
#[cfg(unix)]
mod experiment;
mod interrupted_writes;
mod pareto;
mod functions;
mod json;
mod limits;
mod list_experiment;
mod matrix;
mod first_day;
mod publishable;
mod party;
mod audit;
#[cfg(unix)]
mod other_programs;
mod leaks;
mod randomize;
mod regress;
mod report;
mod report_languages;
mod reproduction;
mod printed_bounds;
mod scan;
mod scores;
mod explain;
mod shell;
mod sign;
mod published_studies;
mod sampling_design;
mod synthesize;
mod duplicate_inputs;
mod unmarked_responses;
mod messages;
