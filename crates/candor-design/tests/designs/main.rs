//! Designs, method by method. One program, because linking each test takes longer than running it.

#[path = "../informations/mod.rs"]
mod informations;

mod bound;
mod compare;
mod devices;
mod list_experiment;
mod lottery;
mod lottery_error;
mod optimal;
mod guarantee;
mod request;
mod skip_logic;
mod three_records;
mod workload;
