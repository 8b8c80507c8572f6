//! Plan files: versioned, fingerprinted JSON without floats (docs/reference/formats.md).
//!
//! Integers above 2^53 are written as strings, because other languages parse JSON numbers as floats. Schema, blocks and
//! prior define the plan. Reading recomputes guarantee and fingerprint from them, and a mismatch is an error.

use serde::{Deserialize, Serialize};

use super::blocks_json::BlockJson;
use super::cost::{CHEAP, MAX_COST, cost};
use super::for_prior::Known;
use super::{Block, FORMAT_VERSION, Fingerprint, ForPrior, Guarantee, Origin, Plan, PlanError, VERSION_1, check};
use crate::channel::{Channel, Epsilon};
use crate::schema::{Attribute, Schema, SchemaJson};

const FORMAT: &str = "candor plan";

/// Largest allowed difference of a stated from a computed epsilon, relative to `1 + epsilon`: rounding of decimals.
const STATED_TOLERANCE: f64 = 3e-12;

/// Puts every list of plain values on one line of indented JSON.
///
/// Plans for a thousand attributes have lists of a thousand weights. (A line that ends with a bracket begins a list;
/// strings end with a quotation mark.)
fn compact(pretty: &str) -> String {
    let mut text = String::with_capacity(pretty.len());
    let mut lines = pretty.lines();
    while let Some(line) = lines.next() {
        text += line;
        if line.ends_with('[') {
            let ahead: Vec<&str> = lines.clone().take_while(|line| !line.trim_start().starts_with(']')).collect();
            if !ahead.iter().any(|line| line.ends_with(['[', '{'])) {
                text += &ahead.iter().map(|line| line.trim_start()).collect::<Vec<_>>().join(" ");
                text += lines.nth(ahead.len()).map_or("", str::trim_start);
            }
        }
        text.push('\n');
    }
    text
}

/// The content that the fingerprint covers.
#[derive(Serialize)]
struct Contract {
    blocks: Vec<BlockJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_prior: Option<PriorJson>,
    schema: SchemaJson,
    version: u64,
}

/// Returns the oldest version that can express the schema, the blocks and the prior.
pub(super) fn version(schema: &Schema, blocks: &[Block], prior: Option<&Known>) -> u64 {
    let new = |(_, channel): &(u64, Channel)| match channel {
        Channel::Strip(_) => true,
        Channel::Matrix(matrix) => matrix.bits().is_none(),
        Channel::Pattern(_) => false,
    };
    let asks = |attribute: &Attribute| attribute.grid().len() > 0 || attribute.asked_if().is_some();
    let newer =
        schema.attributes().iter().any(asks) || prior.is_some() || blocks.iter().flat_map(Block::channels).any(new);
    if newer { FORMAT_VERSION } else { VERSION_1 }
}

/// Returns the fingerprint of schema, blocks and prior, in the oldest version that can express them.
pub(super) fn fingerprint(schema: &Schema, blocks: &[Block], prior: Option<&Known>) -> Fingerprint {
    let contract = Contract {
        blocks: blocks.iter().map(|block| BlockJson::new(schema, block)).collect(),
        for_prior: prior.map(|known| PriorJson::new(schema, known)),
        schema: schema.to_json(),
        version: version(schema, blocks, prior),
    };
    Fingerprint::new(&serde_json::to_value(contract).expect("plain data"))
}

/// The content of a plan file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanJson {
    format: String,
    version: u64,
    fingerprint: String,
    guarantee: GuaranteeJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<OriginJson>,
    schema: SchemaJson,
    blocks: Vec<BlockJson>,
}

/// The fields that are checked before anything else.
#[derive(Deserialize)]
struct Header {
    format: Option<String>,
    version: Option<u64>,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct GuaranteeJson {
    epsilon: Option<String>,
    attributes: Vec<AttributeGuaranteeJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    for_prior: Option<ForPriorJson>,
}

/// A prior; numbers are the shortest decimals that parse to the same floats.
#[derive(Serialize)]
struct PriorJson {
    attribute: String,
    prior: Vec<String>,
}

impl PriorJson {
    fn new(schema: &Schema, known: &Known) -> PriorJson {
        let attribute = schema.attributes()[known.attribute].name().to_owned();
        PriorJson { attribute, prior: known.shares.iter().map(f64::to_string).collect() }
    }
}

/// A prior and the plan's guarantee for it.
#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ForPriorJson {
    attribute: String,
    prior: Vec<String>,
    map_privacy: String,
    worst_posterior: String,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct AttributeGuaranteeJson {
    name: String,
    marginal_epsilon: Option<String>,
    conditional_epsilon: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OriginJson {
    method: String,
    requested: Vec<Option<String>>,
}

impl GuaranteeJson {
    fn new(schema: &Schema, guarantee: &Guarantee, for_prior: Option<&ForPrior>) -> GuaranteeJson {
        let attribute = |a: &super::AttributeGuarantee| AttributeGuaranteeJson {
            name: schema.name(a.attribute).to_owned(),
            marginal_epsilon: a.marginal.and_then(Epsilon::decimal),
            conditional_epsilon: a.conditional.decimal(),
        };
        GuaranteeJson {
            epsilon: guarantee.epsilon().decimal(),
            attributes: guarantee.attributes().iter().map(attribute).collect(),
            for_prior: for_prior.map(|stated| {
                let known = Known { attribute: stated.attribute, shares: stated.prior.clone() };
                let PriorJson { attribute, prior } = PriorJson::new(schema, &known);
                let (map_privacy, worst_posterior) =
                    (stated.map_privacy.to_string(), stated.worst_posterior.to_string());
                ForPriorJson { attribute, prior, map_privacy, worst_posterior }
            }),
        }
    }

    /// Compares the guarantee stated in a file with the computed one.
    fn check(&self, actual: &GuaranteeJson) -> Result<(), PlanError> {
        let wrong = |what: &str, stated: String, actual: String| {
            Err(PlanError::Guarantee { what: what.to_owned(), stated, actual })
        };
        let pair = |what: &str, stated: &Option<String>, actual: &Option<String>| {
            let number = |text: &Option<String>| text.as_ref().map(|text| text.parse::<f64>().unwrap_or(f64::NAN));
            let agree = match (number(stated), number(actual)) {
                (Some(stated), Some(actual)) => (stated - actual).abs() <= STATED_TOLERANCE * (1.0 + actual),
                (None, None) => true,
                _ => false,
            };
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "unbounded".to_owned());
            if agree { Ok(()) } else { wrong(what, shown(stated), shown(actual)) }
        };
        pair("the epsilon of the record", &self.epsilon, &actual.epsilon)?;
        if self.attributes.len() != actual.attributes.len() {
            let count = |guarantee: &GuaranteeJson| format!("{} attributes", guarantee.attributes.len());
            return wrong("guarantees", count(self), count(actual));
        }
        for (stated, actual) in self.attributes.iter().zip(&actual.attributes) {
            if stated.name != actual.name {
                return wrong("the order of guarantees", stated.name.clone(), actual.name.clone());
            }
            let what = |kind: &str| format!("the {kind} epsilon of \"{}\"", actual.name);
            pair(&what("marginal"), &stated.marginal_epsilon, &actual.marginal_epsilon)?;
            pair(&what("conditional"), &stated.conditional_epsilon, &actual.conditional_epsilon)?;
        }
        if let (Some(stated), Some(actual)) = (&self.for_prior, &actual.for_prior) {
            let pairs = [
                ("the MAP privacy for its prior", &stated.map_privacy, &actual.map_privacy),
                ("the worst posterior for its prior", &stated.worst_posterior, &actual.worst_posterior),
            ];
            if let Some((what, stated, actual)) = pairs.into_iter().find(|(_, stated, actual)| stated != actual) {
                return wrong(what, stated.clone(), actual.clone());
            }
        }
        Ok(())
    }
}

impl ForPriorJson {
    /// Returns the prior that the file states; the guarantee for it is computed anew.
    fn known(&self, schema: &Schema) -> Result<Known, PlanError> {
        let attribute = schema.position(&self.attribute)?;
        let shares = self.prior.iter().map(|share| share.parse().ok()).collect::<Option<Vec<f64>>>();
        Ok(Known { attribute, shares: shares.ok_or(PlanError::Prior)? })
    }
}

impl Plan {
    /// Returns the text of the plan file.
    pub fn to_json(&self) -> String {
        let requested = |epsilon: &Option<f64>| epsilon.map(|epsilon| epsilon.to_string());
        let origin = (!self.origin.method.is_empty()).then(|| OriginJson {
            method: self.origin.method.clone(),
            // The request comes after the epsilons of the attributes, where older programs read it as an unknown
            // epsilon.
            requested: self.origin.requested.iter().map(requested).chain(self.request.clone().map(Some)).collect(),
        });
        let file = PlanJson {
            format: FORMAT.to_owned(),
            version: self.version,
            fingerprint: self.fingerprint.to_string(),
            guarantee: GuaranteeJson::new(&self.schema, &self.guarantee, self.for_prior.as_ref()),
            origin,
            schema: self.schema.to_json(),
            blocks: self.blocks.iter().map(|block| BlockJson::new(&self.schema, block)).collect(),
        };
        compact(&serde_json::to_string_pretty(&file).expect("plain data"))
    }

    /// Reads a plan file and checks that it was not edited.
    ///
    /// Its fingerprint and every stated guarantee must equal those computed from its schema and blocks. Plans above the
    /// default cost limit are rejected: see [`Plan::from_json_within`].
    ///
    /// # Errors
    /// Returns the [`PlanError`] that names the problem.
    pub fn from_json(text: &str) -> Result<Plan, PlanError> {
        Plan::from_json_within(text, MAX_COST)
    }

    /// Reads a plan file whose declared cost is at most `steps`, of about a nanosecond each.
    ///
    /// Cost and fingerprint are checked before the guarantee is computed.
    ///
    /// # Errors
    /// Returns [`PlanError::TooCostly`] if the cost exceeds `steps`, and the errors of [`Plan::from_json`].
    pub fn from_json_within(text: &str, steps: u64) -> Result<Plan, PlanError> {
        let (plan, understated) = read(text, steps)?;
        understated.map_or(Ok(plan), Err)
    }

    /// Reads a plan file as [`Plan::from_json_within`] does, and restates an outdated guarantee.
    ///
    /// Older programs understated the epsilons of tied attributes. The returned plan has the correct guarantee and the
    /// same fingerprint.
    ///
    /// # Errors
    /// Returns the errors of [`Plan::from_json_within`] except [`PlanError::Understated`].
    pub fn restated(text: &str, steps: u64) -> Result<Plan, PlanError> {
        read(text, steps).map(|(plan, _)| plan)
    }
}

/// Returns the plan of a file, and the error if it understates a guarantee for the known reason.
fn read(text: &str, steps: u64) -> Result<(Plan, Option<PlanError>), PlanError> {
    let json = |error: serde_json::Error| PlanError::Json(error.to_string());
    let header: Header = serde_json::from_str(text).map_err(json)?;
    if header.format.as_deref() != Some(FORMAT) {
        return Err(PlanError::Format);
    }
    match header.version {
        Some(VERSION_1..=FORMAT_VERSION) => {}
        Some(version) => return Err(PlanError::Version(version)),
        None => return Err(PlanError::Json("the field \"version\" is missing".to_owned())),
    }
    let file: PlanJson = serde_json::from_str(text).map_err(json)?;
    let schema = Schema::from_json(file.schema)?;
    let cost = cost(&file.blocks, &schema, steps);
    if cost > steps {
        return Err(PlanError::TooCostly { cost, limit: steps });
    }
    let block = |(number, block): (usize, BlockJson)| block.into_block(&schema, number);
    let blocks: Vec<Block> = file.blocks.into_iter().enumerate().map(block).collect::<Result<_, _>>()?;
    check(&schema, &blocks)?;
    let known = file.guarantee.for_prior.as_ref().map(|stated| stated.known(&schema)).transpose()?;
    let covered = known.as_ref().filter(|_| file.version > VERSION_1);
    let needed = version(&schema, &blocks, covered);
    if file.version != needed {
        return Err(PlanError::NeedlessVersion { stated: file.version, needed });
    }
    if file.fingerprint != fingerprint(&schema, &blocks, covered).as_str() {
        let stated = file.guarantee.epsilon.unwrap_or_else(|| "unbounded".to_owned());
        let actual = (cost <= CHEAP).then(|| Guarantee::new(&schema, &blocks).epsilon());
        return Err(PlanError::Fingerprint { actual, stated });
    }
    let plan = Plan::new(schema, blocks)?;
    let plan = match known {
        Some(known) if file.version == VERSION_1 => plan.with_prior(known.attribute, known.shares)?.in_version_1(),
        Some(known) => plan.with_prior(known.attribute, known.shares)?,
        None => plan,
    };
    let states = |guarantee: &Guarantee| {
        file.guarantee.check(&GuaranteeJson::new(&plan.schema, guarantee, plan.for_prior.as_ref()))
    };
    let understated = match states(&plan.guarantee) {
        Err(PlanError::Guarantee { what, stated, actual }) if states(&Guarantee::of_untied(&plan.blocks)).is_ok() => {
            Some(PlanError::Understated { what, stated, actual })
        }
        other => other.map(|()| None)?,
    };
    let mut requested = file.origin.as_ref().map_or(Vec::new(), |origin| origin.requested.clone());
    let request = requested.pop_if(|last| last.as_ref().is_some_and(|text| text.starts_with('{'))).flatten();
    let origin = file.origin.map(|origin| Origin {
        method: origin.method,
        requested: requested.into_iter().map(|text| text?.parse().ok()).collect(),
    });
    Ok((plan.with_origin(origin.unwrap_or_default()).with_request(request), understated))
}
