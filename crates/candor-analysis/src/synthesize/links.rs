//! Associated pairs of attributes (links), with their two-way tables as distributions that agree with each other.

use std::collections::BTreeMap;

use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use rand_core::Rng;

use super::tables::Part;
use crate::association::information;
use crate::estimate::{Estimate, EstimateError, TableEstimator, Target};
use crate::tally::TableCounts;

/// Number of noise tables that an association must exceed, for a false positive rate of one in twenty.
const NOISE_TABLES: u64 = 19;

/// Maximum number of cells of a two-way table for a link.
const MAX_PAIR_CELLS: usize = 1 << 20;

/// Two associated attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Their positions in the schema; a public attribute comes first.
    pub attributes: [usize; 2],
    /// Mutual information in nats, less its average under noise.
    pub information: f64,
    /// Their table as a distribution, with the first attribute varying slowest. It agrees with all one-way shares.
    pub shares: Vec<f64>,
}

/// Estimated two-way tables without negative cells, which agree in their one-way shares.
#[derive(Clone, Debug, PartialEq)]
pub struct PairTables {
    /// Joint table of the public attributes, as in the responses; `None` if there are none.
    pub public: Option<Part>,
    /// One-way shares of the randomized attributes.
    pub one_way: BTreeMap<usize, Vec<f64>>,
    /// Significant associations, strongest first.
    pub links: Vec<Link>,
    /// Pairs that are not identifiable.
    pub untold: Vec<[usize; 2]>,
}

/// Returns the tables that [`PairTables`] are estimated from.
///
/// They are the one-way tables of randomized attributes, all pairs with at least one (public attributes first), and
/// the joint table of the public attributes.
pub fn pair_tables(schema: &Schema) -> Vec<Vec<usize>> {
    let (private, public) = (schema.randomized(), public(schema));
    let one_way = private.iter().map(|&a| vec![a]);
    let with_public = public.iter().flat_map(|&z| private.iter().map(move |&a| vec![z, a]));
    let pairs = crate::association::pairs(schema).into_iter().map(|pair| pair.to_vec());
    let small = pairs.chain(with_public).filter(|pair| schema.shape(pair).cells() <= MAX_PAIR_CELLS);
    let together = (!public.is_empty()).then(|| public.clone());
    one_way.chain(small).chain(together).collect()
}

/// Returns the positions of the public attributes.
fn public(schema: &Schema) -> Vec<usize> {
    (0..schema.attributes().len()).filter(|&a| schema.attributes()[a].is_public()).collect()
}

impl PairTables {
    /// Estimates two-way tables from counts of the [tables](pair_tables), which `tally` returns by their
    /// attributes.
    ///
    /// Pairs without counts are not identifiable. A pair is linked if the mutual information of its table exceeds
    /// that of nineteen noise tables. These have the same one-way shares and independent cells, with errors as large
    /// as the estimate's. So at most one in twenty independent pairs is linked. The result is deterministic, at the
    /// cost of twenty fits of each two-way table.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if a one-way table or that of the public attributes was not counted or cannot be
    /// estimated.
    pub fn estimate<'t>(
        plan: &Plan,
        tally: impl Fn(&[usize]) -> Option<&'t TableCounts>,
    ) -> Result<PairTables, EstimateError> {
        let schema = plan.schema();
        let estimate = |table: &[usize]| {
            let tally = tally(table).ok_or(EstimateError::NoResponses)?;
            TableEstimator::new(plan, table)?.estimate(tally, Target::Population)
        };
        let one_way = schema.randomized().into_iter().map(|a| Ok((a, estimate(&[a])?.distribution())));
        let one_way = one_way.collect::<Result<BTreeMap<_, _>, EstimateError>>()?;
        let (mut links, mut untold) = (Vec::new(), Vec::new());
        let public = public(schema);
        let with_public = public.iter().flat_map(|&z| schema.randomized().into_iter().map(move |a| [z, a]));
        for (number, pair) in crate::association::pairs(schema).into_iter().chain(with_public).enumerate() {
            match estimate(&pair) {
                Ok(estimate) => links.extend(link(pair, &estimate, &Source::from_seed(number as u64))),
                Err(_) => untold.push(pair),
            }
        }
        links.sort_by(|one, other| other.information.total_cmp(&one.information));
        let part = |attributes: Vec<usize>| Ok(Part { shares: estimate(&attributes)?.distribution(), attributes });
        let public = (!public.is_empty()).then(|| part(public)).transpose()?;
        Ok(PairTables { public, one_way, links, untold })
    }

    /// Returns whether an attribute is public.
    pub(super) fn is_public(&self, attribute: usize) -> bool {
        !self.one_way.contains_key(&attribute)
    }
}

/// Returns the link of a pair, if its association is significant.
fn link(attributes: [usize; 2], estimate: &Estimate, noise: &Source) -> Option<Link> {
    let shares = estimate.distribution();
    let &[rows, columns] = &estimate.dims[..] else { return None };
    let found = information(rows, columns, &shares);
    let (mut sum, mut largest) = (0.0, 0.0f64);
    for number in 0..NOISE_TABLES {
        let alone = information(rows, columns, &noise_alone(estimate, &shares, &mut noise.stream(number)));
        sum += alone;
        largest = largest.max(alone);
    }
    (found > largest).then(|| Link { attributes, information: found - sum / NOISE_TABLES as f64, shares })
}

/// Returns a table of independent attributes with these one-way shares, estimated with errors as large as the
/// estimate's.
///
/// The errors only affect the association.
fn noise_alone(estimate: &Estimate, shares: &[f64], rng: &mut impl Rng) -> Vec<f64> {
    let (rows, columns) = (estimate.dims[0], estimate.dims[1]);
    let shape = candor_base::shape::Shape::new(estimate.dims.clone());
    let margins = [shape.margin(shares, 0), shape.margin(shares, 1)];
    let sign = |error: &f64| if rng.next_u32() & 1 == 0 { *error } else { -error };
    let noise: Vec<f64> = estimate.standard_errors.iter().map(sign).collect();
    let means = [(0, columns), (1, rows)].map(|(axis, others)| {
        shape.margin(&noise, axis).into_iter().map(|sum| sum / others as f64).collect::<Vec<f64>>()
    });
    let mean = means[0].iter().sum::<f64>() / rows as f64;
    // Centered, to keep one-way shares, and scaled up by what centering removes.
    let scale = ((rows * columns) as f64 / ((rows - 1) * (columns - 1)) as f64).sqrt();
    let cell = |(at, noise): (usize, &f64)| {
        let (i, j) = (at / columns, at % columns);
        margins[0][i] * margins[1][j] + scale * (noise - means[0][i] - means[1][j] + mean)
    };
    let shares = noise.iter().enumerate().map(cell).collect();
    Estimate { shares, ..estimate.clone() }.distribution()
}
