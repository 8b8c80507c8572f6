//! What the command does, verb by verb. One program, because each takes longer to link than to run.

#[path = "../sandbox/mod.rs"]
mod sandbox;

mod adjust;
mod among;
mod asked;
mod cells;
mod claims;
mod choose;
mod cluster;
mod combine;
mod compare;
mod design;
mod device;
mod dither;
mod estimate;
mod evidence;
mod existing;
#[cfg(unix)]
mod audit_program;
#[cfg(unix)]
mod experiment;
mod faults;
mod front;
mod functions;
mod json;
mod limits;
mod list_experiment;
mod matrix;
mod newcomer;
mod precise;
mod party;
mod privacy;
#[cfg(unix)]
mod programs;
mod published;
mod randomize;
mod regress;
mod report;
mod report_languages;
mod reproduction;
mod rounding;
mod scan;
mod scores;
mod sheet;
mod shell;
mod sign;
mod studies;
mod survey;
mod synthesize;
mod twice;
mod unmarked;
mod words;
