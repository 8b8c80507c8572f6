//! Blocks as plan files contain them: integers that every JSON parser can represent, and no floats.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Block, PlanError};
use crate::channel::{Axis, Bitmap, Cells, Channel, Matrix, Part, Pattern, PatternSet, Strip};
use crate::schema::Schema;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockJson {
    pub(super) attributes: Vec<String>,
    pub(super) lottery: Vec<WeightedChannelJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WeightedChannelJson {
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bits: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<Integer>,
        columns: Vec<Vec<Integer>>,
    },
    Strip {
        attributes: Vec<usize>,
        categories: Vec<usize>,
        cells: Cells,
        hit: Integer,
        all: Integer,
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
    pub(super) fn new(schema: &Schema, block: &Block) -> BlockJson {
        let name = |&attribute: &usize| schema.name(attribute).to_owned();
        let weighted = |(weight, channel): &(u64, Channel)| WeightedChannelJson {
            weight: Integer(*weight),
            channel: channel_json(channel),
        };
        BlockJson {
            attributes: block.attributes().iter().map(name).collect(),
            lottery: block.channels().iter().map(weighted).collect(),
        }
    }

    pub(super) fn into_block(self, schema: &Schema, block: usize) -> Result<Block, PlanError> {
        let mut attributes = Vec::with_capacity(self.attributes.len());
        for name in self.attributes {
            attributes.push(
                schema
                    .position(&name)
                    .map_err(|error| PlanError::InvalidValue { block, problem: error.to_string() })?,
            );
        }
        let weighted = |weighted: WeightedChannelJson| Ok((weighted.weight.0, weighted.channel.into_channel(block)?));
        let lottery = self.lottery.into_iter().map(weighted).collect::<Result<_, PlanError>>()?;
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
            total: matrix.bits().is_none().then(|| Integer(matrix.total() as u64)),
            columns: matrix.columns().iter().map(|column| column.iter().copied().map(Integer).collect()).collect(),
        },
        Channel::Strip(strip) => {
            let [hit, all] = strip.weights().map(Integer);
            let (attributes, categories) = (strip.places().to_vec(), strip.table().sizes().to_vec());
            ChannelJson::Strip { attributes, categories, cells: strip.cells().clone(), hit, all }
        }
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
                    return Err(PlanError::InvalidValue { block, problem });
                }
                let k = categories.len();
                let axes = categories.into_iter().zip(answer_sizes).map(|(a, q)| Axis::set(a, q)).collect();
                let parts = parts.into_iter().map(|part| part.into_part(k, block)).collect::<Result<_, _>>()?;
                let weights: Vec<u64> = resampling.map_or(vec![0; k], |weights| weights.iter().map(|n| n.0).collect());
                if weights.len() != k {
                    let problem = format!("{} weights for resampling {k} attributes", weights.len());
                    return Err(PlanError::InvalidValue { block, problem });
                }
                Pattern::new(axes, parts).map(|pattern| Channel::Pattern(pattern.resampled(weights)))
            }
            ChannelJson::Matrix { categories, outputs, bits, total, columns } => {
                let columns = columns.into_iter().map(|column| column.into_iter().map(|n| n.0).collect()).collect();
                let made = match (bits, total) {
                    (Some(bits), None) => Matrix::new(categories, outputs, bits, columns),
                    (None, Some(Integer(total))) if !total.is_power_of_two() => {
                        Matrix::with_total(categories, outputs, total.into(), columns)
                    }
                    _ => {
                        let problem = "a matrix states the `bits` of what its columns sum to, or their `total` if that \
                                       is no power of two";
                        return Err(PlanError::InvalidValue { block, problem: problem.to_owned() });
                    }
                };
                made.map(Channel::Matrix)
            }
            ChannelJson::Strip { attributes, categories, cells, hit, all } => {
                Strip::new(attributes, categories, cells, [hit.0, all.0]).map(Channel::Strip)
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
                PatternSet::Bitmap(Bitmap::from_hex(attributes, &hex).ok_or_else(|| PlanError::InvalidValue {
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
