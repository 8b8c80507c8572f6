//! Which attributes belong together, and why.

pub use candor_analysis::association::Limits;
use candor_analysis::association::{self, Measure, Outcome};
use candor_base::schema::Schema;
use serde::Serialize;

use crate::choice::Choice;
use crate::error::StudyError;
use crate::format::count;
use crate::learn::Learned;

/// Associations of attributes, from the dependences that were learned.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Associations {
    /// How dependences were learned.
    pub protocol: &'static str,
    /// How many records, responses or parties they were learned from.
    pub records: u64,
    /// What learning cost those who took part; `None` if they disclosed themselves.
    pub epsilon: Option<f64>,
    /// The seed, if parties drew from one: for who chose it to say.
    pub simulation: Option<u64>,
    /// What secret sharing took, if it was used.
    pub bytes: Option<Bytes>,
    /// How strongly attributes depend on each other.
    pub dependences: Vec<Dependence>,
    /// The clusters, as names of attributes.
    pub clusters: Vec<Vec<String>>,
    /// How they came about, in order.
    pub steps: Vec<Step>,
    /// How many combinations of categories each cluster has. Not in JSON.
    #[serde(skip)]
    pub combinations: Vec<u64>,
}

/// The bytes of secret sharing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Bytes {
    /// Of shares that were sent.
    pub shares: u64,
    /// Of what was published.
    pub published: u64,
}

/// The dependence of two attributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Dependence {
    /// One attribute.
    pub a: String,
    /// The other.
    pub b: String,
    /// How it was measured.
    pub measure: String,
    /// From 0 to 1; a covariance can be larger.
    pub value: f64,
    /// Its standard error; `None` if it is exact, or if the responses do not tell it.
    pub standard_error: Option<f64>,
}

/// Two clusters that were looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The two.
    pub clusters: Vec<Vec<String>>,
    /// The pair of attributes that depend most, one of each.
    pub pair: Vec<String>,
    /// By how much.
    pub dependence: f64,
    /// How many combinations of categories they would have together.
    pub cells: u64,
    /// What came of it: `merged`, `too-many-cells` or `too-little-dependence`.
    pub outcome: &'static str,
    /// The same as a sentence. Not in JSON.
    #[serde(skip)]
    pub reason: String,
}

/// Puts attributes together that depend on each other.
///
/// # Errors
/// If the least dependence is not a number from 0 to 1 (for covariances, from 0), or a dependence is of attributes that
/// there are not.
pub fn associations(schema: &Schema, learned: &Learned, limits: Limits) -> Result<Associations, StudyError> {
    let unbounded = learned.dependences.iter().all(|d| d.measure == Measure::Covariance);
    let largest = if unbounded { f64::MAX } else { 1.0 };
    if !(0.0..=largest).contains(&limits.dependence) {
        return Err(StudyError::Needs(
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
    let dependence = |d: &association::Dependence| Dependence {
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
    /// The dependences, the strongest first.
    pub fn strongest(&self) -> Vec<&Dependence> {
        let mut sorted: Vec<&Dependence> = self.dependences.iter().collect();
        sorted.sort_by(|x, y| y.value.total_cmp(&x.value));
        sorted
    }
}
