//! Which attributes depend on each other, as estimated pair tables tell it, and the tables themselves as proper
//! distributions.

use std::collections::BTreeMap;

use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use rand_core::Rng;

use super::tables::Part;
use crate::association::information;
use crate::estimate::{Estimate, EstimateError, TableEstimator, Target};
use crate::tally::TableCounts;

/// How many tables of noise alone a dependence must exceed: by chance one in twenty does.
const NOISE_TABLES: u64 = 19;

/// The most cells of a pair table that tells a dependence.
const MAX_PAIR_CELLS: usize = 1 << 20;

/// Two attributes that depend on each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Their positions in the schema; if one of them is public, it is the first.
    pub attributes: [usize; 2],
    /// Their mutual information in nats, less what noise alone gives on average.
    pub information: f64,
    /// Their table, first attribute slowest: a distribution with the one-way shares of all other tables.
    pub shares: Vec<f64>,
}

/// What estimated pair tables tell: tables without negative cells that agree in their one-way shares.
#[derive(Clone, Debug, PartialEq)]
pub struct PairTables {
    /// The public attributes together, as they are in the responses; `None` if there are none.
    pub public: Option<Part>,
    /// The one-way shares of the attributes that are randomized.
    pub one_way: BTreeMap<usize, Vec<f64>>,
    /// The dependences that stand out from noise, strongest first.
    pub links: Vec<Link>,
    /// Pairs about which the responses tell nothing.
    pub untold: Vec<[usize; 2]>,
}

/// The tables that [`PairTables`] are estimated from: each attribute that is randomized, each pair with one (public
/// attributes first), and the public attributes together.
pub fn pair_tables(schema: &Schema) -> Vec<Vec<usize>> {
    let (private, public) = (schema.randomized(), public(schema));
    let one_way = private.iter().map(|&a| vec![a]);
    let with_public = public.iter().flat_map(|&z| private.iter().map(move |&a| vec![z, a]));
    let pairs = crate::association::pairs(schema).into_iter().map(|pair| pair.to_vec());
    let small = pairs.chain(with_public).filter(|pair| schema.shape(pair).cells() <= MAX_PAIR_CELLS);
    let together = (!public.is_empty()).then(|| public.clone());
    one_way.chain(small).chain(together).collect()
}

/// The positions of the public attributes.
fn public(schema: &Schema) -> Vec<usize> {
    (0..schema.attributes().len()).filter(|&a| schema.attributes()[a].is_public()).collect()
}

impl PairTables {
    /// Estimates from counts of the [tables](pair_tables), found by their attributes; pairs that are not counted are
    /// untold.
    ///
    /// A pair is linked if the mutual information of its table exceeds that of nineteen tables of the same one-way
    /// shares whose cells are independent but for errors of the size of the estimate's: at most one in twenty pairs
    /// that do not depend on each other is linked. Deterministic. Cost: twenty fits of each pair table.
    ///
    /// # Errors
    /// If the attributes by themselves, or the public ones together, were not counted or cannot be estimated.
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

    /// Whether an attribute is public.
    pub(super) fn is_public(&self, attribute: usize) -> bool {
        !self.one_way.contains_key(&attribute)
    }
}

/// The link of a pair, if its table tells one.
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

/// A proper table of independent attributes with the one-way shares of `shares`, estimated with errors of the size of
/// the estimate's, all of them in how the attributes depend on each other.
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
    // Centred, so that one-way shares stay; enlarged by what centring takes away.
    let scale = ((rows * columns) as f64 / ((rows - 1) * (columns - 1)) as f64).sqrt();
    let cell = |(at, noise): (usize, &f64)| {
        let (i, j) = (at / columns, at % columns);
        margins[0][i] * margins[1][j] + scale * (noise - means[0][i] - means[1][j] + mean)
    };
    let shares = noise.iter().enumerate().map(cell).collect();
    Estimate { shares, ..estimate.clone() }.distribution()
}
