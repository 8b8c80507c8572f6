//! Plan files: JSON without floats, versioned, fingerprinted (docs/formats.md).
//!
//! Integers above 2^53 are written as strings, because other languages read JSON numbers as
//! floats. Schema, blocks and prior are what the plan *is*; guarantee and fingerprint are checked against
//! them on reading, and a mismatch is an error.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cost::{CHEAP, MAX_COST, cost};
use super::for_prior::Known;
use super::{Block, Fingerprint, ForPrior, Guarantee, Origin, Plan, PlanError, check};
use crate::channel::{Axis, Bitmap, Channel, Epsilon, Matrix, Part, Pattern, PatternSet};
use crate::schema::{Schema, SchemaError, SchemaJson};

/// The newest version of the plan format: this program reads all versions up to it, and writes each plan in the oldest
/// that can say it.
pub const FORMAT_VERSION: u64 = 2;

/// What a plan that was made for no prior is written in.
pub(super) const VERSION_1: u64 = 1;

const FORMAT: &str = "candor plan";

/// How far a stated epsilon may be from the computed one: the rounding of its twelfth decimal.
const STATED_TOLERANCE: f64 = 3e-12;

/// Indented JSON with every list of plain values on one line: a plan for a thousand attributes has lists of a thousand
/// weights. (A line that ends with a bracket begins a list; strings end with a quotation mark.)
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

/// What the fingerprint is of.
#[derive(Serialize)]
struct Contract {
    blocks: Vec<BlockJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_prior: Option<PriorJson>,
    schema: SchemaJson,
    version: u64,
}

/// The fingerprint of schema and blocks in version 1; with a prior, of it too, in version 2.
pub(super) fn fingerprint(schema: &Schema, blocks: &[Block], prior: Option<&Known>) -> Fingerprint {
    let contract = Contract {
        blocks: blocks.iter().map(|block| BlockJson::of(schema, block)).collect(),
        for_prior: prior.map(|known| PriorJson::of(schema, known)),
        schema: schema.to_json(),
        version: if prior.is_some() { FORMAT_VERSION } else { VERSION_1 },
    };
    Fingerprint::of(&serde_json::to_value(contract).expect("plain data"))
}

/// The whole file.
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

/// What is looked at before anything else.
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

/// What is known beforehand; numbers as the shortest decimals that read back the same.
#[derive(Serialize)]
struct PriorJson {
    attribute: String,
    prior: Vec<String>,
}

impl PriorJson {
    fn of(schema: &Schema, known: &Known) -> PriorJson {
        let attribute = schema.attributes()[known.attribute].name().to_owned();
        PriorJson { attribute, prior: known.shares.iter().map(f64::to_string).collect() }
    }
}

/// A prior and what the plan gives for it.
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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockJson {
    attributes: Vec<String>,
    pub(super) lottery: Vec<TicketJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TicketJson {
    weight: Integer,
    pub(super) channel: ChannelJson,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum ChannelJson {
    Pattern {
        categories: Vec<usize>,
        answer_sizes: Vec<usize>,
        parts: Vec<PartJson>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resampling: Option<Vec<Integer>>,
    },
    Matrix {
        categories: Vec<usize>,
        outputs: Vec<String>,
        bits: u32,
        columns: Vec<Vec<Integer>>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartJson {
    pub(super) set: SetJson,
    weight: Integer,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum SetJson {
    All,
    Only(Vec<usize>),
    Hits(Vec<usize>),
    Threshold { weights: Vec<Integer>, limit: Integer },
    Bitmap(String),
}

/// An integer: a JSON number up to 2^53, a string of digits above.
#[derive(Clone, Copy)]
pub(super) struct Integer(pub(super) u64);

impl Serialize for Integer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 <= 1 << 53 { serializer.serialize_u64(self.0) } else { serializer.serialize_str(&self.0.to_string()) }
    }
}

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Integer, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Integer;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 0 to 2^64 - 1, or its digits as a string")
            }
            fn visit_u64<E>(self, n: u64) -> Result<Integer, E> {
                Ok(Integer(n))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Integer, E> {
                let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
                let number = text.parse().ok().filter(|_| digits);
                number.map(Integer).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl BlockJson {
    fn of(schema: &Schema, block: &Block) -> BlockJson {
        let name = |&attribute: &usize| schema.name(attribute).to_owned();
        let ticket = |(weight, channel): &(u64, Channel)| TicketJson {
            weight: Integer(*weight),
            channel: channel_json(channel),
        };
        BlockJson {
            attributes: block.attributes().iter().map(name).collect(),
            lottery: block.channels().iter().map(ticket).collect(),
        }
    }

    fn into_block(self, schema: &Schema, block: usize) -> Result<Block, PlanError> {
        let mut attributes = Vec::with_capacity(self.attributes.len());
        for name in self.attributes {
            attributes.push(schema.position(&name).map_err(|error| match error {
                SchemaError::UnknownAttribute { name, nearest } => PlanError::UnknownAttribute { block, name, nearest },
                other => PlanError::Schema(other),
            })?);
        }
        let ticket = |ticket: TicketJson| Ok((ticket.weight.0, ticket.channel.into_channel(block)?));
        let lottery = self.lottery.into_iter().map(ticket).collect::<Result<_, PlanError>>()?;
        Ok(Block::lottery(attributes, lottery))
    }
}

fn channel_json(channel: &Channel) -> ChannelJson {
    match channel {
        Channel::Pattern(pattern) => ChannelJson::Pattern {
            categories: pattern.axes().iter().map(|axis| axis.categories).collect(),
            answer_sizes: pattern.axes().iter().map(|axis| axis.answer).collect(),
            parts: pattern.parts().iter().map(part_json).collect(),
            resampling: pattern.is_resampled().then(|| pattern.resampling().iter().copied().map(Integer).collect()),
        },
        Channel::Matrix(matrix) => ChannelJson::Matrix {
            categories: matrix.sizes().to_vec(),
            outputs: matrix.labels().to_vec(),
            bits: matrix.bits(),
            columns: matrix.columns().iter().map(|column| column.iter().copied().map(Integer).collect()).collect(),
        },
    }
}

fn part_json(part: &Part) -> PartJson {
    let set = match &part.set {
        PatternSet::All => SetJson::All,
        PatternSet::Only(missing) => SetJson::Only(missing.clone()),
        PatternSet::Hits(hits) => SetJson::Hits(hits.clone()),
        PatternSet::Threshold { weights, limit } => {
            SetJson::Threshold { weights: weights.iter().copied().map(Integer).collect(), limit: Integer(*limit) }
        }
        PatternSet::Bitmap(bitmap) => SetJson::Bitmap(bitmap.to_hex()),
    };
    PartJson { set, weight: Integer(part.weight) }
}

impl ChannelJson {
    fn into_channel(self, block: usize) -> Result<Channel, PlanError> {
        let made = match self {
            ChannelJson::Pattern { categories, answer_sizes, parts, resampling } => {
                if categories.len() != answer_sizes.len() {
                    let problem = format!("{} categories but {} answer_sizes", categories.len(), answer_sizes.len());
                    return Err(PlanError::Value { block, problem });
                }
                let k = categories.len();
                let axes = categories.into_iter().zip(answer_sizes).map(|(a, q)| Axis::set(a, q)).collect();
                let parts = parts.into_iter().map(|part| part.into_part(k, block)).collect::<Result<_, _>>()?;
                let weights: Vec<u64> = resampling.map_or(vec![0; k], |weights| weights.iter().map(|n| n.0).collect());
                if weights.len() != k {
                    let problem = format!("{} weights for resampling {k} attributes", weights.len());
                    return Err(PlanError::Value { block, problem });
                }
                Pattern::new(axes, parts).map(|pattern| Channel::Pattern(pattern.resampled(weights)))
            }
            ChannelJson::Matrix { categories, outputs, bits, columns } => {
                let columns = columns.into_iter().map(|column| column.into_iter().map(|n| n.0).collect()).collect();
                Matrix::new(categories, outputs, bits, columns).map(Channel::Matrix)
            }
        };
        made.map_err(|error| PlanError::Channel { block, error })
    }
}

impl PartJson {
    fn into_part(self, attributes: usize, block: usize) -> Result<Part, PlanError> {
        let set = match self.set {
            SetJson::All => PatternSet::All,
            SetJson::Only(missing) => PatternSet::Only(missing),
            SetJson::Hits(hits) => PatternSet::Hits(hits),
            SetJson::Threshold { weights, limit } => {
                PatternSet::Threshold { weights: weights.into_iter().map(|n| n.0).collect(), limit: limit.0 }
            }
            SetJson::Bitmap(hex) => {
                PatternSet::Bitmap(Bitmap::from_hex(attributes, &hex).ok_or_else(|| PlanError::Value {
                    block,
                    problem: format!(
                        "a bitmap over {attributes} attributes takes 2^{attributes} bits, as hexadecimal digits"
                    ),
                })?)
            }
        };
        Ok(Part { set, weight: self.weight.0 })
    }
}

impl GuaranteeJson {
    fn of(schema: &Schema, guarantee: &Guarantee, for_prior: Option<&ForPrior>) -> GuaranteeJson {
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
                let PriorJson { attribute, prior } = PriorJson::of(schema, &known);
                let (map_privacy, worst_posterior) =
                    (stated.map_privacy.to_string(), stated.worst_posterior.to_string());
                ForPriorJson { attribute, prior, map_privacy, worst_posterior }
            }),
        }
    }

    /// Compares what a file states with what its channels give.
    fn check(&self, actual: &GuaranteeJson) -> Result<(), PlanError> {
        let pair = |what: &str, stated: &Option<String>, actual: &Option<String>| {
            let number = |text: &Option<String>| text.as_ref().map(|text| text.parse::<f64>().unwrap_or(f64::NAN));
            let agree = match (number(stated), number(actual)) {
                (Some(stated), Some(actual)) => (stated - actual).abs() <= STATED_TOLERANCE * (1.0 + actual),
                (None, None) => true,
                _ => false,
            };
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "unbounded".to_owned());
            if agree {
                return Ok(());
            }
            Err(PlanError::Guarantee { what: what.to_owned(), stated: shown(stated), actual: shown(actual) })
        };
        pair("the epsilon of the record", &self.epsilon, &actual.epsilon)?;
        if self.attributes.len() != actual.attributes.len() {
            return Err(PlanError::Guarantee {
                what: "guarantees".to_owned(),
                stated: format!("{} attributes", self.attributes.len()),
                actual: format!("{} attributes", actual.attributes.len()),
            });
        }
        for (stated, actual) in self.attributes.iter().zip(&actual.attributes) {
            if stated.name != actual.name {
                let (stated, actual) = (stated.name.clone(), actual.name.clone());
                return Err(PlanError::Guarantee { what: "the order of guarantees".to_owned(), stated, actual });
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
                let (what, stated, actual) = (what.to_owned(), stated.clone(), actual.clone());
                return Err(PlanError::Guarantee { what, stated, actual });
            }
        }
        Ok(())
    }
}

impl ForPriorJson {
    /// The prior that the file states; what that gives is computed anew.
    fn known(&self, schema: &Schema) -> Result<Known, PlanError> {
        let attribute = schema.position(&self.attribute)?;
        let shares = self.prior.iter().map(|share| share.parse().ok()).collect::<Option<Vec<f64>>>();
        Ok(Known { attribute, shares: shares.ok_or(PlanError::Prior)? })
    }
}

impl Plan {
    /// The plan file's text.
    pub fn to_json(&self) -> String {
        let requested = |epsilon: &Option<f64>| epsilon.map(|epsilon| epsilon.to_string());
        let origin = (!self.origin.method.is_empty()).then(|| OriginJson {
            method: self.origin.method.clone(),
            requested: self.origin.requested.iter().map(requested).collect(),
        });
        let file = PlanJson {
            format: FORMAT.to_owned(),
            version: self.version,
            fingerprint: self.fingerprint.to_string(),
            guarantee: GuaranteeJson::of(&self.schema, &self.guarantee, self.for_prior.as_ref()),
            origin,
            schema: self.schema.to_json(),
            blocks: self.blocks.iter().map(|block| BlockJson::of(&self.schema, block)).collect(),
        };
        compact(&serde_json::to_string_pretty(&file).expect("plain data"))
    }

    /// Reads a plan file, and refuses one that was edited: its fingerprint and every stated
    /// guarantee must be those of its schema and blocks. Refuses a plan that would take long, too: see [`Plan::from_json_within`].
    ///
    /// # Errors
    /// Each way of being wrong has its own [`PlanError`].
    pub fn from_json(text: &str) -> Result<Plan, PlanError> {
        Plan::from_json_within(text, MAX_COST)
    }

    /// Reads a plan file whose cost, by the numbers that it declares, is at most so many steps of about a nanosecond. That, and its
    /// fingerprint, are looked at before its guarantee is computed.
    ///
    /// # Errors
    /// [`PlanError::TooCostly`] with its cost, or as [`Plan::from_json`].
    pub fn from_json_within(text: &str, steps: u64) -> Result<Plan, PlanError> {
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
        let cost = cost(&file.blocks, schema.attributes().len());
        if cost > steps {
            return Err(PlanError::TooCostly { cost, limit: steps });
        }
        let block = |(number, block): (usize, BlockJson)| block.into_block(&schema, number);
        let blocks: Vec<Block> = file.blocks.into_iter().enumerate().map(block).collect::<Result<_, _>>()?;
        check(&schema, &blocks)?;
        let known = file.guarantee.for_prior.as_ref().map(|stated| stated.known(&schema)).transpose()?;
        let covered = known.as_ref().filter(|_| file.version > VERSION_1);
        let needed = if covered.is_some() { FORMAT_VERSION } else { VERSION_1 };
        if file.version != needed {
            return Err(PlanError::NeedlessVersion { stated: file.version, needed });
        }
        if file.fingerprint != fingerprint(&schema, &blocks, covered).as_str() {
            let stated = file.guarantee.epsilon.unwrap_or_else(|| "unbounded".to_owned());
            let actual = (cost <= CHEAP).then(|| Guarantee::of(&blocks).epsilon());
            return Err(PlanError::Fingerprint { actual, stated });
        }
        let plan = Plan::new(schema, blocks)?;
        let plan = match known {
            Some(known) if file.version == VERSION_1 => plan.with_prior(known.attribute, known.shares)?.in_version_1(),
            Some(known) => plan.with_prior(known.attribute, known.shares)?,
            None => plan,
        };
        file.guarantee.check(&GuaranteeJson::of(&plan.schema, &plan.guarantee, plan.for_prior.as_ref()))?;
        let origin = file.origin.map(|origin| Origin {
            method: origin.method,
            requested: origin.requested.into_iter().map(|text| text?.parse().ok()).collect(),
        });
        Ok(plan.with_origin(origin.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_beyond_what_floats_hold_are_strings() {
        let text = |n: u64| serde_json::to_string(&Integer(n)).unwrap();
        assert_eq!(text(1 << 53), "9007199254740992");
        assert_eq!(text((1 << 53) + 1), "\"9007199254740993\"");
        let read = |text: &str| serde_json::from_str::<Integer>(text).map(|n| n.0);
        assert_eq!(read("\"18446744073709551615\"").unwrap(), u64::MAX);
        assert_eq!(read("17").unwrap(), 17);
        for bad in ["-1", "1.5", "\"18446744073709551616\"", "\"+1\"", "\"\"", "null"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
