//! A survey service: each respondent's browser randomizes under a plan; the service stores the responses and estimates
//! from them. It never holds a true answer.
//!
//! [`survey::Survey`] is a folder with a plan and its texts, [`store::Store`] the database, [`writer::Writer`] the only
//! task that writes to it (many requests per commit), and [`http`] the interface for browsers. The binary only connects
//! them.

#![forbid(unsafe_code)]

pub mod random;
pub mod date;
pub mod log;
pub mod words;
pub mod wording;
pub mod survey;
pub mod simulate;
pub mod tokens;
pub mod ids;
pub mod validation;
pub mod tallies;
pub mod batches;
pub mod waiting;
pub mod tables;
pub mod store;
pub mod writer;
pub mod repeated;
pub mod pages;
pub mod http_problem;
pub mod requests;
pub mod results;
pub mod senders;
pub mod head;
pub mod server;
pub mod http;
pub mod collector;
pub mod demo;
