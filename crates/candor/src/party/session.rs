//! What all parties agree on, as a file that each of them holds.

use candor_analysis::association::{Measure, PairTables, pairs};
use candor_base::randomness::{EntropyError, Source};
use candor_base::schema::Schema;
use candor_secure_sum::Session;
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::error::StudyError;
use crate::hex::hex;
use crate::learn::{Protocol, pair_tables};
use crate::schema::to_toml;

const FORMAT: &str = "candor party session";
const VERSION: u64 = 1;

/// The largest number of records of one party.
pub const MAX_RECORDS: u64 = 1_000_000_000;

/// The largest number of parties.
const MAX_PARTIES: usize = 10_000;

/// The largest number of counts that a message holds.
const MAX_COUNTS: usize = 1_000_000;

/// The longest name of a party.
const MAX_NAME: usize = 40;

/// A round of a protocol between parties who hold files of records: who takes part, what is added up, and how. All
/// parties must hold the same; the messages of a party that holds another belong to another session.
#[derive(Clone, Debug, PartialEq)]
pub struct PartySession {
    text: SessionJson,
    schema: Schema,
    session: Session,
}

/// A session as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionJson {
    format: String,
    version: u64,
    /// Makes the session new, even for the same parties and schema.
    nonce: String,
    protocol: String,
    epsilon: Option<f64>,
    parties: Vec<String>,
    collectors: u32,
    schema: String,
}

impl PartySession {
    /// A new session. The first `collectors` of the parties collect secret shares, all of them unless it is said;
    /// with an epsilon each record randomizes each of its pairs before it is counted.
    ///
    /// # Errors
    /// If there are fewer than two parties or collectors, names that cannot be names of files or come twice, fewer than
    /// two attributes, too many combinations, an epsilon that is none, or no randomness.
    pub fn new(
        schema: &Schema,
        parties: &[String],
        collectors: Option<u32>,
        epsilon: Option<f64>,
    ) -> Result<PartySession, StudyError> {
        let mut nonce = [0; 16];
        let no_randomness = |error: EntropyError| StudyError::Refused(error.to_string());
        Source::from_os().map_err(no_randomness)?.stream(0).fill_bytes(&mut nonce);
        let protocol = if epsilon.is_some() { "randomized-pairs" } else { "secure-sum" };
        let text = SessionJson {
            format: FORMAT.to_owned(),
            version: VERSION,
            nonce: hex(&nonce),
            protocol: protocol.to_owned(),
            epsilon,
            parties: parties.to_vec(),
            collectors: collectors.unwrap_or(parties.len() as u32),
            schema: to_toml(schema),
        };
        PartySession::from_json(&serde_json::to_string(&text).expect("plain data"))
    }

    /// Reads the text of a session file.
    ///
    /// # Errors
    /// If it is none, or describes a session that cannot be.
    pub fn from_json(text: &str) -> Result<PartySession, StudyError> {
        let refused = |why: String| StudyError::Refused(why);
        // The errors of the reader quote what they could not read: perhaps true records, given by mistake.
        let text: SessionJson = serde_json::from_str(text)
            .map_err(|_| refused("this is not a session of parties: missing, unknown or mistyped fields".to_owned()))?;
        if text.format != FORMAT || text.version != VERSION {
            return Err(refused(format!("expected the format \"{FORMAT}\", version {VERSION}")));
        }
        let epsilon_fits = match text.protocol.as_str() {
            "secure-sum" => text.epsilon.is_none(),
            "randomized-pairs" => text.epsilon.is_some(),
            _ => false,
        };
        if !epsilon_fits {
            return Err(refused(
                "expected `protocol` secure-sum without `epsilon`, or randomized-pairs with it".into(),
            ));
        }
        if let Some(value) = text.epsilon.filter(|epsilon| *epsilon <= 0.0) {
            return Err(StudyError::Parameter { name: "epsilon", value, range: "it is a number above 0" });
        }
        check_names(&text.parties)?;
        let schema = Schema::from_toml(&text.schema).map_err(|error| refused(format!("the schema: {error}")))?;
        pair_tables(&schema)?;
        let tables = tables_of(&schema, text.epsilon, Measure::CramersV)?;
        let counts = tables.cells();
        if counts == 0 {
            return Err(refused("there is only one attribute, so there are no pairs".to_owned()));
        }
        if counts > MAX_COUNTS {
            return Err(refused(format!(
                "all pairs have {counts} combinations, more than {MAX_COUNTS}; use fewer attributes or categories"
            )));
        }
        let canonical = serde_json::to_string(&text).expect("plain data");
        let parties = text.parties.len() as u32;
        let session = Session::described(&canonical, parties, text.collectors, counts, MAX_RECORDS)
            .map_err(|fault| refused(fault.to_string()))?;
        Ok(PartySession { text, schema, session })
    }

    /// The text of a session file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.text).expect("plain data") + "\n"
    }

    /// What tells this session from every other: each message carries it.
    pub fn id(&self) -> String {
        hex(self.session.tag())
    }

    /// All parties, in order.
    pub fn parties(&self) -> &[String] {
        &self.text.parties
    }

    /// The parties that collect secret shares.
    pub fn collectors(&self) -> &[String] {
        &self.text.parties[..self.text.collectors as usize]
    }

    /// What the columns of everybody's records hold.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What is added up: exact counts of pairs, or of pairs that were randomized.
    pub fn protocol(&self) -> Protocol {
        if self.text.epsilon.is_some() { Protocol::RandomizedPairs } else { Protocol::SecureSum }
    }

    /// The record-level epsilon of all answers together; `None` if the counts are exact.
    ///
    /// # Errors
    /// As [`PartySession::new`].
    pub fn epsilon(&self) -> Result<Option<f64>, StudyError> {
        Ok(self.tables(None)?.epsilon())
    }

    /// The tables that are added up; without a measure, each pair is measured as suits it.
    pub(super) fn tables(&self, measure: Option<Measure>) -> Result<PairTables<'_>, StudyError> {
        match measure {
            Some(measure) => tables_of(&self.schema, self.text.epsilon, measure),
            None => tables_by(&self.schema, self.text.epsilon, |a, b| {
                Measure::suited(&self.schema.attributes()[a], &self.schema.attributes()[b])
            }),
        }
    }

    pub(super) fn rounds(&self) -> &Session {
        &self.session
    }

    /// A party's number.
    pub(super) fn number(&self, name: &str) -> Result<u32, StudyError> {
        self.text.parties.iter().position(|party| party == name).map(|number| number as u32).ok_or_else(|| {
            StudyError::Refused(format!("\"{name}\" does not take part; the parties are {}", self.listed()))
        })
    }

    /// A party's name.
    pub(super) fn name(&self, number: u32) -> &str {
        self.text.parties.get(number as usize).map_or("a stranger", String::as_str)
    }

    fn listed(&self) -> String {
        const SHOWN: usize = 10;
        let more = self.parties().len().saturating_sub(SHOWN);
        let names = self.parties().iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{names} and {more} more") } else { names }
    }
}

fn tables_of(schema: &Schema, epsilon: Option<f64>, measure: Measure) -> Result<PairTables<'_>, StudyError> {
    tables_by(schema, epsilon, |_, _| measure)
}

fn tables_by(
    schema: &Schema,
    epsilon: Option<f64>,
    measure: impl Fn(usize, usize) -> Measure,
) -> Result<PairTables<'_>, StudyError> {
    let measured: Vec<_> = pairs(schema).into_iter().map(|[a, b]| ([a, b], measure(a, b))).collect();
    Ok(match epsilon {
        None => PairTables::exact(schema, &measured),
        Some(epsilon) => PairTables::randomized(schema, &measured, epsilon)?,
    })
}

/// Names become names of files, on any system.
fn check_names(names: &[String]) -> Result<(), StudyError> {
    let refused = |why: String| Err(StudyError::Refused(why));
    if names.len() < 2 || names.len() > MAX_PARTIES {
        return refused(format!("there are {} parties; expected from 2 to {MAX_PARTIES}", names.len()));
    }
    let usable = |name: &String| {
        (1..=MAX_NAME).contains(&name.chars().count())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    if let Some(name) = names.iter().find(|name| !usable(name)) {
        return refused(format!(
            "the name of a party is {name:?}; expected letters from a to z, digits, - and _, {MAX_NAME} at most"
        ));
    }
    let mut sorted: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => refused(format!("two parties have the name \"{}\", upper and lower case being equal", pair[0])),
        None => Ok(()),
    }
}
