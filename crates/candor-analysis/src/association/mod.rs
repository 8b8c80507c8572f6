//! Associations of attributes, and clusters of associated ones (Domingo-Ferrer and Soria-Comas 2020, section 4).
//!
//! An association (`Association`) is a number from 0 (independent) to 1 (one attribute determines the other); a
//! covariance can be larger. It is measured in a table of true records ([`Measure::of_table`]), or estimated from
//! randomized responses, so that nobody discloses anything ([`estimated`]). The table is then estimated without bias
//! before it is measured. Section 4.1 of the paper measures the answers themselves. That attenuates associations
//! unequally and changes their order, except for covariances ([`attenuated`], for comparison). [`cluster`] groups
//! associated attributes.

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
pub use protocols::{Parties, ProtocolResult};

use candor_base::schema::Schema;

/// Returns all pairs of randomized attributes, by position in the schema.
pub fn pairs(schema: &Schema) -> Vec<[usize; 2]> {
    let private = schema.randomized();
    let with_later = |(i, &a): (usize, &usize)| private[i + 1..].iter().map(|&b| [a, b]).collect::<Vec<_>>();
    private.iter().enumerate().flat_map(with_later).collect()
}

/// Returns the exact associations of pairs, from counts of true records with the first attribute varying slowest.
///
/// # Panics
/// Panics if the counts are not those of the pairs.
pub fn counted<'a>(
    schema: &Schema,
    counts: impl IntoIterator<Item = ([usize; 2], &'a [u64])>,
    measure: impl Fn([usize; 2]) -> Measure,
) -> Vec<Association> {
    let one = |(attributes, counts): ([usize; 2], &'a [u64])| {
        let [rows, columns] = attributes.map(|attribute| schema.size(attribute));
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let measure = measure(attributes);
        Association { attributes, measure, value: measure.of_table(rows, columns, &counts), standard_error: None }
    };
    counts.into_iter().map(one).collect()
}

/// Association of two attributes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Association {
    /// Positions of the attributes in the schema.
    pub attributes: [usize; 2],
    /// Measure of association.
    pub measure: Measure,
    /// Value from 0 to 1; a covariance can be larger.
    pub value: f64,
    /// Standard error; `None` if the value is exact, or the error cannot be estimated.
    pub standard_error: Option<f64>,
}
