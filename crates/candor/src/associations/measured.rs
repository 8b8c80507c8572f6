//! Measures associations of attributes: from true records, from responses, or by a protocol between parties.

use candor_analysis::association::{self, attenuated, counted, estimated, pairs};
pub use candor_analysis::association::{Association, Measure, Parties};
use candor_analysis::table_list::TableList;
pub use candor_analysis::tally::RecordCounts;
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Kind, Schema};
use candor_secure_sum::Traffic;

use crate::choice::Choice;
use crate::counts::Counts;
use crate::error::StudyError;
use crate::format::count;

/// Source of the associations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// True records that one party holds.
    Truth,
    /// Responses to a plan.
    Attribute,
    /// Exact two-way tables by secret sharing.
    SecureSum,
    /// Two-way tables of answers, which each party randomizes before secret sharing.
    RandomizedPairs,
}

impl Choice for Protocol {
    const PARAMETER: &'static str = "protocol";
    const ALL: &'static [(&'static str, Protocol, &'static str)] = &[
        ("truth", Protocol::Truth, "True records, held by one party"),
        ("attribute", Protocol::Attribute, "Responses to a plan: pair tables are estimated first"),
        (
            "secure-sum",
            Protocol::SecureSum,
            "Exact pair tables by secret sharing, each record being a party: nobody \
                                             sees a record, everybody sees the tables",
        ),
        ("randomized-pairs", Protocol::RandomizedPairs, "Pairs randomized by each party and summed by secret sharing"),
    ];
}

/// Associations, and the cost of measuring them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeasuredAssociations {
    /// Source of the associations.
    pub protocol: Protocol,
    /// Associations, one for each pair that could be measured.
    pub dependences: Vec<Association>,
    /// Number of records, responses or parties.
    pub records: u64,
    /// Epsilon of the protocol for each participant; `None` if the exact records or tables were disclosed.
    pub epsilon: Option<f64>,
    /// Messages and bytes of secret sharing, if it was used.
    pub traffic: Option<Traffic>,
    /// Whether the randomization was ignored, so that associations are attenuated.
    pub attenuated: bool,
    /// Notes, each of which begins with `note:`.
    pub notes: Vec<String>,
}

/// Maximum number of messages of secret sharing in one process, which holds a digest of 64 bytes for each.
const MAX_MESSAGES: usize = 20_000_000;

/// Returns the tables of true records that [`from_truth`] needs: all pairs.
///
/// # Errors
/// Returns [`StudyError::Tables`] if a table is too large.
pub fn pair_tables(schema: &Schema) -> Result<TableList, StudyError> {
    let lists = pairs(schema).iter().map(|pair| pair.to_vec()).collect();
    TableList::new(lists, schema).map_err(|error| StudyError::Tables { parameter: "tables", error })
}

/// Returns the tables of responses that [`from_responses`] needs: all randomized attributes and all pairs.
///
/// # Errors
/// Returns [`StudyError::Tables`] if a table is too large.
pub fn response_tables(schema: &Schema) -> Result<TableList, StudyError> {
    let lists = schema.randomized().into_iter().map(|a| vec![a]);
    let lists = lists.chain(pairs(schema).iter().map(|pair| pair.to_vec())).collect();
    TableList::new(lists, schema).map_err(|error| StudyError::Tables { parameter: "tables", error })
}

/// Returns the measure for a pair: the requested one, or one that suits its attributes.
fn measure_of(schema: &Schema, measure: Option<Measure>, [a, b]: [usize; 2]) -> Measure {
    measure.unwrap_or_else(|| Measure::suited(&schema.attributes()[a], &schema.attributes()[b]))
}

/// Returns all pairs of randomized attributes with their measures.
pub(crate) fn measured_pairs(schema: &Schema, measure: Option<Measure>) -> Vec<([usize; 2], Measure)> {
    pairs(schema).into_iter().map(|pair| (pair, measure_of(schema, measure, pair))).collect()
}

/// Returns a note if the measure treats nominal categories as ordered.
fn measure_notes(schema: &Schema, measure: Option<Measure>) -> Vec<String> {
    let nominal = |&attribute: &usize| schema.attributes()[attribute].kind() == Kind::Nominal;
    let ordered = measure.filter(|measure| matches!(measure, Measure::Pearson | Measure::Covariance));
    let first = ordered.and_then(|measure| Some((measure, schema.randomized().into_iter().find(nominal)?)));
    let note = |(measure, attribute): (Measure, usize)| {
        format!(
            "note: \"{}\" is nominal, and {measure} takes its categories in the order of the schema; auto does not",
            schema.name(attribute)
        )
    };
    first.into_iter().map(note).collect()
}

/// Measures associations in true records, counted for their [`pair_tables`].
///
/// Without a measure, each pair gets one that suits its attributes.
///
/// # Errors
/// Returns [`StudyError`] if a table was not counted.
///
/// ```
/// use candor::associations::{RecordCounts, from_truth};
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2, 2])?;
/// let counts = RecordCounts::new([(vec![0, 1], vec![40, 10, 10, 40])], 100);
/// let learned = from_truth(&schema, &counts, None)?;
/// assert!((learned.dependences[0].value - 0.6).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_truth(
    schema: &Schema,
    counts: &RecordCounts,
    measure: Option<Measure>,
) -> Result<MeasuredAssociations, StudyError> {
    let table = |pair: [usize; 2]| {
        let own = counts.table(&pair).filter(|counts| counts.len() == schema.shape(&pair).cells());
        own.map(|counts| (pair, counts))
            .ok_or(StudyError::Counts("there must be one table for each pair of attributes"))
    };
    let tables: Vec<([usize; 2], &[u64])> = pairs(schema).into_iter().map(table).collect::<Result<_, _>>()?;
    let dependences = counted(schema, tables, |pair| measure_of(schema, measure, pair));
    let (protocol, notes) = (Protocol::Truth, measure_notes(schema, measure));
    Ok(MeasuredAssociations {
        protocol,
        dependences,
        records: counts.records(),
        epsilon: None,
        traffic: None,
        attenuated: false,
        notes,
    })
}

/// Estimates associations from responses, counted for their [`response_tables`].
///
/// With `as_answered`, it measures them in the answers themselves, as in the paper. They are then attenuated, and
/// their order may change.
///
/// # Errors
/// Returns [`StudyError`] if the tables were not counted.
///
/// ```
/// # use candor::prelude::*;
/// #
/// # let schema = Schema::with_sizes(&[2, 3])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// # let truths = [(0..6000).map(|i| i % 2).collect(), (0..6000).map(|i| i % 6 / 2).collect()];
/// # let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
/// use candor::associations::Limits;
/// use candor::associations::{from_responses, response_tables};
///
/// let counts = Counts::from_responses(&plan, &responses, &response_tables(plan.schema())?)?;
/// let learned = from_responses(&plan, &counts, None, false)?;
/// let found = associations(plan.schema(), &learned, Limits::default().dependence(0.2))?;
/// assert_eq!(found.clusters, [["a1"], ["a2"]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_responses(
    plan: &Plan,
    counts: &Counts,
    measure: Option<Measure>,
    as_answered: bool,
) -> Result<MeasuredAssociations, StudyError> {
    let schema = plan.schema();
    let (mut dependences, mut notes) = (Vec::new(), Vec::new());
    for pair in pairs(schema) {
        let [a, b] = pair;
        let found = || Some(([counts.table(&[a])?, counts.table(&[b])?], counts.table(&pair)?));
        let (one_way, tally) = found().ok_or(StudyError::Counts("all attributes and all pairs must be counted"))?;
        let measure = measure_of(schema, measure, pair);
        let found = match as_answered {
            true => attenuated(tally, measure).ok_or_else(|| "its answers are not categories".to_owned()),
            false => estimated(plan, one_way, tally, measure).map_err(|error| error.to_string()),
        };
        match found {
            Ok(dependence) => dependences.push(dependence),
            Err(problem) => notes.push(format!(
                "note: \"{}\" and \"{}\" are treated as independent: {problem}",
                schema.name(a),
                schema.name(b)
            )),
        }
    }
    notes.extend(measure_notes(schema, measure));
    Ok(MeasuredAssociations {
        protocol: Protocol::Attribute,
        dependences,
        records: counts.responses(),
        epsilon: plan.guarantee().epsilon().finite(),
        traffic: None,
        attenuated: as_answered,
        notes,
    })
}

/// Measures associations by secret sharing among parties, all simulated in this process.
///
/// The two-way tables are exact or, with an epsilon, of answers that each party randomizes with this total epsilon.
/// The transcript is checked.
///
/// # Errors
/// Returns [`StudyError`] if there are no pairs or too many messages, the protocol fails, or a party cheated.
pub fn from_parties(
    parties: &Parties<'_>,
    epsilon: Option<f64>,
    measure: Option<Measure>,
    source: &Source,
) -> Result<MeasuredAssociations, StudyError> {
    let schema = parties.schema;
    check_columns(parties)?;
    let measured = measured_pairs(schema, measure);
    if measured.is_empty() {
        return Err(StudyError::Refused("there is only one attribute, so there are no pairs".to_owned()));
    }
    let number = parties.columns.first().map_or(0, Vec::len);
    if number.saturating_mul(parties.collectors as usize) > MAX_MESSAGES {
        return Err(StudyError::Refused(format!(
            "{} parties with {} collectors would send more messages than fit into memory; use fewer `collectors`",
            count(number as u64),
            count(parties.collectors.into())
        )));
    }
    let learned: association::ProtocolResult = match epsilon {
        None => parties.secure_sum(&measured, source)?,
        Some(epsilon) => parties.randomized_pairs(&measured, epsilon, source)?,
    };
    learned.transcript.check().map_err(|fault| StudyError::Refused(fault.to_string()))?;
    Ok(MeasuredAssociations {
        protocol: if epsilon.is_some() { Protocol::RandomizedPairs } else { Protocol::SecureSum },
        dependences: learned.dependences,
        records: number as u64,
        epsilon: learned.epsilon,
        traffic: Some(Traffic::new(learned.transcript.session())),
        attenuated: false,
        notes: measure_notes(schema, measure),
    })
}

/// Checks that the columns of the parties are records of the schema.
fn check_columns(parties: &Parties<'_>) -> Result<(), StudyError> {
    let attributes = parties.schema.attributes();
    let length = parties.columns.first().map_or(0, Vec::len);
    let fits = |(column, attribute): (&Vec<u16>, &Attribute)| {
        column.len() == length && column.iter().all(|&code| usize::from(code) < attribute.categories().len())
    };
    match parties.columns.len() == attributes.len() && parties.columns.iter().zip(attributes).all(fits) {
        true => Ok(()),
        false => Err(StudyError::Counts("the parties' columns are not records of the schema")),
    }
}

impl MeasuredAssociations {
    /// Describes the associations and their source.
    pub fn summary(&self) -> String {
        let records = count(self.records);
        match self.protocol {
            Protocol::Truth => format!("Associations of {records} true records"),
            Protocol::Attribute if self.attenuated => {
                format!("Associations of {records} responses taken as true values: too weak, and in another order")
            }
            Protocol::Attribute => format!("Associations in the population, estimated from {records} responses"),
            Protocol::SecureSum => format!("Associations of {records} parties, from exact totals by secret sharing"),
            Protocol::RandomizedPairs => format!(
                "Associations in the population, estimated from totals of the randomized pairs of {records} parties"
            ),
        }
    }

    /// Describes what a protocol without epsilon reveals in addition to the associations; `None` for other
    /// protocols.
    pub fn disclosure(&self) -> Option<&'static str> {
        (self.protocol == Protocol::SecureSum).then_some(
            "This is phase 1, without an epsilon: nobody saw a record, but the exact pair tables are public. They \
             reveal people with rare values; `protocol randomized-pairs` does not.",
        )
    }

    /// Describes the privacy cost, if the protocol has an epsilon.
    pub fn cost(&self) -> Option<String> {
        self.epsilon.map(|epsilon| {
            format!(
                "This is phase 1: learning the associations cost respondents epsilon {:.4}. If the same people answer \
                 again under a plan for these clusters, its epsilon comes on top.",
                // Rounded up, as all epsilons are.
                (epsilon * 1e4).ceil() / 1e4
            )
        })
    }
}
