//! Which attributes depend on each other, and which belong together (paper 004, section 4).
//!
//! A dependence is a number from 0 (independent) to 1 (one decides the other). It is measured on a true two-way table
//! ([`Measure::of_table`]), or estimated from randomized responses without anybody disclosing anything ([`estimated`]):
//! the table is estimated first, without bias, and measured then. Measuring the answers themselves, as section 4.1 of the
//! paper proposes, attenuates dependences unequally and so changes their order, except for covariances
//! ([`attenuated`], for comparison). [`cluster`] puts attributes together that depend on each other.

mod clusters;
mod estimated;
mod measure;
mod protocols;

pub use clusters::{Clustering, Limits, Outcome, Step, cluster};
pub use estimated::{attenuated, estimated};
pub use measure::Measure;
pub use protocols::{Learned, Parties, ProtocolError};

/// How strongly two attributes depend on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    /// The attributes, by position in the schema.
    pub attributes: [usize; 2],
    /// How it was measured.
    pub measure: Measure,
    /// From 0 to 1.
    pub value: f64,
    /// Its standard error; `None` if it is exact, or if the responses do not tell it.
    pub standard_error: Option<f64>,
}
