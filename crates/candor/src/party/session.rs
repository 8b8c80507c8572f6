//! The session file, which all parties share.

use candor_analysis::association::{Measure, PairTables};
use candor_base::randomness::{EntropyError, Source};
use candor_base::schema::Schema;
use candor_secure_sum::Session;
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::associations::{Protocol, measured_pairs, pair_tables};
use crate::error::StudyError;
use crate::hex::hex;
use crate::schema::to_toml;

const FORMAT: &str = "candor party session";
const VERSION: u64 = 1;

/// Maximum number of records of one party.
pub const MAX_RECORDS: u64 = 1_000_000_000;

/// Maximum number of parties.
const MAX_PARTIES: usize = 10_000;

/// Maximum number of counts in a message.
const MAX_COUNTS: usize = 1_000_000;

/// Maximum length of a party's name.
const MAX_NAME: usize = 40;

/// A session of a protocol between parties: who takes part, what is added up, and how.
///
/// All parties must hold the same session file. Messages made with another file belong to another session.
#[derive(Clone, Debug, PartialEq)]
pub struct PartySession {
    text: SessionJson,
    schema: Schema,
    session: Session,
}

/// Serialized form of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionJson {
    format: String,
    version: u64,
    /// Random value that makes the session unique, even for the same parties and schema.
    nonce: String,
    protocol: String,
    epsilon: Option<f64>,
    parties: Vec<String>,
    collectors: u32,
    schema: String,
}

impl PartySession {
    /// Creates a session.
    ///
    /// The first `collectors` parties collect secret shares; by default all do. With an epsilon, each pair of each
    /// record is randomized before it is counted.
    ///
    /// # Errors
    /// Returns [`StudyError`] if
    /// - there are fewer than two parties, collectors or attributes,
    /// - a party's name is repeated or not usable as a file name,
    /// - there are too many combinations of categories,
    /// - epsilon is invalid,
    /// - the operating system provides no randomness.
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

    /// Parses a session file.
    ///
    /// # Errors
    /// Returns [`StudyError`] if the text is not a session file, or describes an invalid session.
    pub fn from_json(text: &str) -> Result<PartySession, StudyError> {
        let refused = |why: String| StudyError::Refused(why);
        // Errors of the JSON parser quote the input, which may be true records passed by mistake.
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
        let tables = tables_of(&schema, text.epsilon, None)?;
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

    /// Serializes the session.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.text).expect("plain data") + "\n"
    }

    /// Returns the unique ID of the session, which every message contains.
    pub fn id(&self) -> String {
        hex(self.session.tag())
    }

    /// Returns the names of all parties, in order.
    pub fn parties(&self) -> &[String] {
        &self.text.parties
    }

    /// Returns the names of the parties that collect secret shares.
    pub fn collectors(&self) -> &[String] {
        &self.text.parties[..self.text.collectors as usize]
    }

    /// Returns the schema of everybody's records.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the protocol: exact counts of pairs, or counts of randomized pairs.
    pub fn protocol(&self) -> Protocol {
        if self.text.epsilon.is_some() { Protocol::RandomizedPairs } else { Protocol::SecureSum }
    }

    /// Returns the record-level epsilon of all answers together; `None` if the counts are exact.
    ///
    /// # Errors
    /// Returns the errors of [`PartySession::new`].
    pub fn epsilon(&self) -> Result<Option<f64>, StudyError> {
        Ok(self.tables(None)?.epsilon())
    }

    /// Returns the two-way tables; without a measure, each pair gets one that suits its attributes.
    pub(super) fn tables(&self, measure: Option<Measure>) -> Result<PairTables<'_>, StudyError> {
        tables_of(&self.schema, self.text.epsilon, measure)
    }

    pub(super) fn rounds(&self) -> &Session {
        &self.session
    }

    /// Returns the number of a party.
    pub(super) fn number(&self, name: &str) -> Result<u32, StudyError> {
        self.text.parties.iter().position(|party| party == name).map(|number| number as u32).ok_or_else(|| {
            StudyError::Refused(format!("\"{name}\" does not take part; the parties are {}", self.listed()))
        })
    }

    /// Returns the name of a party.
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

fn tables_of(schema: &Schema, epsilon: Option<f64>, measure: Option<Measure>) -> Result<PairTables<'_>, StudyError> {
    let measured = measured_pairs(schema, measure);
    Ok(match epsilon {
        None => PairTables::exact(schema, &measured),
        Some(epsilon) => PairTables::randomized(schema, &measured, epsilon)?,
    })
}

/// Checks that names are usable as file names on any system.
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
