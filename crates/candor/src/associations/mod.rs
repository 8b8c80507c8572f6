//! Groups associated attributes into clusters.

mod measured;

pub use candor_analysis::association::Limits;
use candor_analysis::association::{self, Outcome};
use candor_base::schema::Schema;
use serde::Serialize;

use crate::choice::Choice;
use crate::error::StudyError;
use crate::format::count;
#[cfg(feature = "tables")]
pub(crate) use measured::measured_pairs;
pub use measured::{
    Association, Measure, MeasuredAssociations, Parties, Protocol, RecordCounts, from_parties, from_responses,
    from_truth, pair_tables, response_tables,
};

/// Attribute clusters, with the associations they are based on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Associations {
    /// Source of the associations.
    pub protocol: &'static str,
    /// Number of records, responses or parties.
    pub records: u64,
    /// Epsilon of the protocol for each participant; `None` if the exact records or tables were disclosed.
    pub epsilon: Option<f64>,
    /// Seed of a simulation. The caller sets it.
    pub simulation: Option<u64>,
    /// Bytes of secret sharing, if it was used.
    pub bytes: Option<Bytes>,
    /// Associations of attributes.
    pub dependences: Vec<PairAssociation>,
    /// Clusters, as names of attributes.
    pub clusters: Vec<Vec<String>>,
    /// Steps of the clustering, in order.
    pub steps: Vec<Step>,
    /// Number of combinations of categories of each cluster. Not in JSON.
    #[serde(skip)]
    pub combinations: Vec<u64>,
}

/// Traffic of secret sharing in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Bytes {
    /// Bytes of the shares that were sent.
    pub shares: u64,
    /// Bytes of the published messages.
    pub published: u64,
}

/// Association of two attributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairAssociation {
    /// First attribute.
    pub a: String,
    /// Second attribute.
    pub b: String,
    /// Name of the measure.
    pub measure: String,
    /// Value, from 0 to 1; a covariance can be larger.
    pub value: f64,
    /// Standard error; `None` if the value is exact, or the error is unknown.
    pub standard_error: Option<f64>,
}

/// A step of the clustering, which considers two clusters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The two clusters.
    pub clusters: Vec<Vec<String>>,
    /// The most strongly associated pair of attributes, one of each cluster.
    pub pair: Vec<String>,
    /// Association of the pair.
    pub dependence: f64,
    /// Number of combinations of categories of both clusters together.
    pub cells: u64,
    /// Outcome: `merged`, `too-many-cells` or `too-little-dependence`.
    pub outcome: &'static str,
    /// The outcome as a sentence. Not in JSON.
    #[serde(skip)]
    pub reason: String,
}

/// Groups associated attributes into clusters, within limits on size and association.
///
/// ```
/// # use candor::prelude::*;
/// # let schema = Schema::with_sizes(&[2, 2])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// # // A third of 900 people have category 1 of both attributes.
/// # let records = vec![(0..900).map(|i| u16::from(i % 3 == 0)).collect::<Vec<u16>>(); 2];
/// # let responses = Randomizer::new(&plan).batch(&records, &mut Source::from_seed(1).stream(0))?;
/// use candor::associations::{from_responses, response_tables};
///
/// let counts = Counts::from_codes(&plan, &answer_codes(&plan, &responses), &response_tables(&schema)?, &[])?;
/// let learned = from_responses(&plan, &counts, None, false)?;
/// let found = associations(&schema, &learned, Default::default())?;
/// assert_eq!(found.clusters, [["a1", "a2"]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`StudyError`] if the smallest association is not a number from 0 to 1 (for covariances, at least 0), or
/// an association has unknown attributes.
pub fn associations(
    schema: &Schema,
    learned: &MeasuredAssociations,
    limits: Limits,
) -> Result<Associations, StudyError> {
    let unbounded = learned.dependences.iter().all(|d| d.measure == Measure::Covariance);
    let largest = if unbounded { f64::MAX } else { 1.0 };
    if !(0.0..=largest).contains(&limits.dependence) {
        return Err(StudyError::InvalidParameter(
            "`min_dependence` must be a number from 0 to 1; with `measure covariance`, 0 or more",
        ));
    }
    let private = schema.randomized();
    if !learned.dependences.iter().flat_map(|d| d.attributes).all(|a| private.contains(&a)) {
        return Err(StudyError::Counts("the associations are about other attributes"));
    }
    let attributes: Vec<(usize, usize)> =
        private.iter().map(|&attribute| (attribute, schema.size(attribute))).collect();
    let found = association::cluster(&attributes, &learned.dependences, limits);
    let dependence = |d: &association::Association| PairAssociation {
        a: schema.name(d.attributes[0]).to_owned(),
        b: schema.name(d.attributes[1]).to_owned(),
        measure: d.measure.to_string(),
        value: d.value,
        standard_error: d.standard_error,
    };
    Ok(Associations {
        protocol: learned.protocol.name(),
        records: learned.records,
        epsilon: learned.epsilon,
        simulation: None,
        bytes: learned.traffic.map(|traffic| Bytes { shares: traffic.shares, published: traffic.published }),
        dependences: learned.dependences.iter().map(dependence).collect(),
        clusters: found.clusters.iter().map(|cluster| names(schema, cluster)).collect(),
        steps: found.steps.iter().map(|one| step(schema, one, limits)).collect(),
        combinations: found.clusters.iter().map(|cluster| combinations(schema, cluster)).collect(),
    })
}

fn names(schema: &Schema, cluster: &[usize]) -> Vec<String> {
    cluster.iter().map(|&attribute| schema.name(attribute).to_owned()).collect()
}

fn combinations(schema: &Schema, cluster: &[usize]) -> u64 {
    cluster.iter().map(|&attribute| schema.size(attribute) as u64).fold(1, u64::saturating_mul)
}

fn step(schema: &Schema, step: &association::Step, limits: Limits) -> Step {
    Step {
        clusters: step.clusters.iter().map(|cluster| names(schema, cluster)).collect(),
        pair: names(schema, &step.pair),
        dependence: step.dependence,
        cells: step.cells,
        outcome: match step.outcome {
            Outcome::Merged => "merged",
            Outcome::TooManyCells => "too-many-cells",
            Outcome::TooLittleDependence => "too-little-dependence",
        },
        reason: reason(schema, step, limits),
    }
}

fn reason(schema: &Schema, step: &association::Step, limits: Limits) -> String {
    let [first, second] = [0, 1].map(|i| format!("{{{}}}", names(schema, &step.clusters[i]).join(", ")));
    let pair = names(schema, &step.pair).join(" and ");
    let value = format!("{:.4}", step.dependence);
    match step.outcome {
        Outcome::Merged => {
            format!("{first} and {second} together: {pair} depend {value}; {} combinations.", count(step.cells))
        }
        Outcome::TooManyCells => format!(
            "{first} and {second} not together, though {pair} depend {value}: {} combinations are more than {}.",
            count(step.cells),
            count(limits.cells)
        ),
        Outcome::TooLittleDependence => format!(
            "{first} and {second} not together, nor any others: {pair} depend {value}, less than {}, and what is left \
             no more.",
            limits.dependence
        ),
    }
}

impl Associations {
    /// Returns the associations, strongest first.
    pub fn strongest(&self) -> Vec<&PairAssociation> {
        let mut sorted: Vec<&PairAssociation> = self.dependences.iter().collect();
        sorted.sort_by(|x, y| y.value.total_cmp(&x.value));
        sorted
    }
}
