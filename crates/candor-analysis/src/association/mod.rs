//! Which attributes depend on each other, and which belong together (Domingo-Ferrer and Soria-Comas 2020, section 4).
//!
//! A dependence is a number from 0 (independent) to 1 (one decides the other); a covariance can be larger. It is
//! measured on a true two-way table ([`Measure::of_table`]), or estimated from randomized responses without anybody
//! disclosing anything ([`estimated`]): the table is estimated first, without bias, and measured then. Measuring the
//! answers themselves, as section 4.1 of the paper proposes, attenuates dependences unequally and so changes their
//! order, except for covariances ([`attenuated`], for comparison). [`cluster`] puts attributes together that depend on
//! each other.

mod clusters;
mod measure;
mod estimated;
mod pair_tables;
mod protocols;

pub use clusters::{Clustering, Limits, Outcome, Step, cluster};
pub use estimated::{attenuated, estimated, merged};
pub use measure::Measure;
pub(crate) use measure::information;
pub use pair_tables::{Contradiction, PairTables, ProtocolError};
pub use protocols::{Learned, Parties};

use candor_base::schema::Schema;

/// All pairs of attributes that are randomized, by position in the schema.
pub fn pairs(schema: &Schema) -> Vec<[usize; 2]> {
    let private = schema.randomized();
    let with_later = |(i, &a): (usize, &usize)| private[i + 1..].iter().map(|&b| [a, b]).collect::<Vec<_>>();
    private.iter().enumerate().flat_map(with_later).collect()
}

/// The exact dependences of pairs of attributes, from counts of true records (first attribute slowest).
///
/// # Panics
/// If the counts are not those of the pairs.
pub fn counted<'a>(
    schema: &Schema,
    counts: impl IntoIterator<Item = ([usize; 2], &'a [u64])>,
    measure: impl Fn([usize; 2]) -> Measure,
) -> Vec<Dependence> {
    let one = |(attributes, counts): ([usize; 2], &'a [u64])| {
        let [rows, columns] = attributes.map(|attribute| schema.size(attribute));
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let measure = measure(attributes);
        Dependence { attributes, measure, value: measure.of_table(rows, columns, &counts), standard_error: None }
    };
    counts.into_iter().map(one).collect()
}

/// How strongly two attributes depend on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    /// The attributes, by position in the schema.
    pub attributes: [usize; 2],
    /// How it was measured.
    pub measure: Measure,
    /// From 0 to 1; a covariance can be larger.
    pub value: f64,
    /// Its standard error; `None` if it is exact, or if the responses do not tell it.
    pub standard_error: Option<f64>,
}
