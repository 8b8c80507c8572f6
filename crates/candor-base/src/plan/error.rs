//! Errors of plans.

use super::{FORMAT_VERSION, MAX_CHANNELS, SET_SEPARATOR};
use crate::channel::{ChannelError, Epsilon};
use crate::schema::SchemaError;

/// An invalid plan. Blocks are counted from 0, as in the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The text is not JSON, or has missing, unknown or mistyped fields.
    #[error("not a plan: {0}")]
    Json(String),
    /// The JSON is not a candor plan.
    #[error("not a candor plan: the field \"format\" is missing or not \"candor plan\"")]
    Format,
    /// This program does not support the plan's version.
    #[error("unsupported plan version {0}; this program reads versions 1 to {FORMAT_VERSION}")]
    Version(u64),
    /// The version is not the oldest one that can express the plan; the plan would then have two fingerprints.
    #[error(
        "this plan says that it is of version {stated}, but {}: it must be of version {needed}",
        if stated > needed { "nothing in it needs that" } else { "it holds what that version cannot say" }
    )]
    NeedlessVersion {
        /// The stated version.
        stated: u64,
        /// The oldest version that can express the plan.
        needed: u64,
    },
    /// The plan's schema is invalid.
    #[error("the schema of the plan: {0}")]
    Schema(#[from] SchemaError),
    /// A channel of a block is invalid.
    #[error("block {block} is not a channel: {error}")]
    Channel {
        /// The block.
        block: usize,
        /// The error of its channel.
        error: ChannelError,
    },
    /// A block refers to an attribute number that the schema does not have.
    #[error("block {block} is about attribute number {attribute}, which the schema does not have")]
    AttributePosition {
        /// The block.
        block: usize,
        /// The attribute number.
        attribute: usize,
    },
    /// An attribute occurs in more than one place.
    #[error("the attribute \"{0}\" occurs more than once; blocks must have disjoint attributes")]
    AttributeTwice(String),
    /// A randomized attribute is in no block.
    #[error("the attribute \"{0}\" is in no block; make it public, leave it out of the schema, or randomize it")]
    AttributeMissing(String),
    /// A channel has the wrong number of attributes.
    #[error("block {block} has {attributes} attributes, but a channel over {channel}")]
    AttributeCount {
        /// The block.
        block: usize,
        /// Number of attributes of the channel.
        channel: usize,
        /// Number of attributes that the block names.
        attributes: usize,
    },
    /// A channel has the wrong number of categories for an attribute.
    #[error("block {block} randomizes \"{attribute}\" as {channel} categories, but the schema lists {schema}")]
    CategoryMismatch {
        /// The block.
        block: usize,
        /// The attribute.
        attribute: String,
        /// Number of categories in the schema.
        schema: usize,
        /// Number of categories in the channel.
        channel: usize,
    },
    /// A lottery has no channel.
    #[error("the lottery of block {block} is empty")]
    EmptyLottery {
        /// The block.
        block: usize,
    },
    /// Lottery weights are zero or sum to more than 2^64, or a lottery has more than [`MAX_CHANNELS`] channels.
    #[error(
        "the lottery weights of block {block} must be positive and sum to at most 2^64, for at most {MAX_CHANNELS} \
         channels"
    )]
    LotteryWeights {
        /// The block.
        block: usize,
    },
    /// The channels of a lottery have answers that do not fit the same columns.
    #[error(
        "the lottery of block {block} mixes channels whose answers do not share columns: use pattern channels and \
         strips only, or matrices with the same outputs"
    )]
    MixedLottery {
        /// The block.
        block: usize,
    },
    /// Two columns of the responses would have the same name.
    #[error("two columns of the responses would be named \"{0}\"; rename an attribute")]
    ColumnTwice(String),
    /// A label contains the separator of set-valued answers, or is empty.
    #[error(
        "the answers about \"{attribute}\" are sets, written with \"{SET_SEPARATOR}\" between them, so \"{label}\" \
         cannot be a label there; rename the category"
    )]
    SetLabel {
        /// The attribute.
        attribute: String,
        /// The label.
        label: String,
    },
    /// A value of a block is invalid: an unknown or public attribute, an unreadable bitmap, weight or number, or cells
    /// with equal or overly long labels.
    #[error("block {block}: {problem}")]
    InvalidValue {
        /// The block.
        block: usize,
        /// The problem.
        problem: String,
    },
    /// Checking the plan would exceed the cost limit.
    #[error(
        "checking this plan would take up to {cost} steps, more than the {limit} allowed; accept it only if you trust \
         its author"
    )]
    TooCostly {
        /// Largest number of steps it may take, of about a nanosecond each.
        cost: u64,
        /// Number of steps allowed.
        limit: u64,
    },
    /// The plan was changed after it was made.
    #[error(
        "the plan does not match its fingerprint: it was changed after it was made. {}; the file states {stated}. \
         If the change was meant, design a new plan",
        match actual {
            Some(epsilon) => format!("As it stands it guarantees epsilon {epsilon} for the whole record"),
            None => "What it guarantees as it stands was not computed, because that takes long".to_owned(),
        }
    )]
    Fingerprint {
        /// Epsilon of the plan in its current form; `None` if that takes long to compute.
        actual: Option<Epsilon>,
        /// The epsilon that the file states.
        stated: String,
    },
    /// A prior is for an attribute without a matrix of its own, or has the wrong length.
    #[error("a prior requires an attribute with a matrix of its own, and one probability for each of its categories")]
    Prior,
    /// The stated guarantee is that of an older program, which assumed that every combination of categories is
    /// possible.
    #[error(
        "the plan states {what} as {stated}, but it is {actual}: the attribute is tied to others, which the program \
         that wrote the plan did not take into account. Its channels are unharmed, and responses collected under it \
         stay usable"
    )]
    Understated {
        /// The understated quantity.
        what: String,
        /// The stated value.
        stated: String,
        /// The computed value.
        actual: String,
    },
    /// A stated guarantee differs from the computed one.
    #[error("the plan states {what} as {stated}, but it is {actual}: do not trust this file")]
    Guarantee {
        /// The misstated quantity.
        what: String,
        /// The stated value.
        stated: String,
        /// The computed value.
        actual: String,
    },
}
