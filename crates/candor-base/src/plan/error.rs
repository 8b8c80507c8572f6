//! Why something is no plan.

use super::{FORMAT_VERSION, MAX_CHANNELS, SET_SEPARATOR};
use crate::channel::{ChannelError, Epsilon};
use crate::schema::SchemaError;

/// What is wrong with a plan. Blocks are counted from 0, as in the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Not JSON, or JSON with missing, unknown or mistyped fields.
    #[error("not a plan: {0}")]
    Json(String),
    /// JSON of another kind.
    #[error("not a candor plan: the field \"format\" is missing or not \"candor plan\"")]
    Format,
    /// A version this program does not know.
    #[error("unsupported plan version {0}; this program reads versions 1 to {FORMAT_VERSION}")]
    Version(u64),
    /// Not the oldest version that can say what is in the plan: it would have two fingerprints.
    #[error(
        "this plan says that it is of version {stated}, but {}: it must be of version {needed}",
        if stated > needed { "nothing in it needs that" } else { "it holds what that version cannot say" }
    )]
    NeedlessVersion {
        /// As stated.
        stated: u64,
        /// The oldest that can say it.
        needed: u64,
    },
    /// The schema inside is not one.
    #[error("the schema of the plan: {0}")]
    Schema(#[from] SchemaError),
    /// A block is not made of channels.
    #[error("block {block} is not a channel: {error}")]
    Channel {
        /// Which block.
        block: usize,
        /// What is wrong with it.
        error: ChannelError,
    },
    /// A block points past the end of the schema.
    #[error("block {block} is about attribute number {attribute}, which the schema does not have")]
    AttributePosition {
        /// Which block.
        block: usize,
        /// The position.
        attribute: usize,
    },
    /// An attribute would be answered twice.
    #[error("the attribute \"{0}\" occurs more than once; blocks must have disjoint attributes")]
    AttributeTwice(String),
    /// An attribute would not be answered.
    #[error("the attribute \"{0}\" is in no block; make it public, leave it out of the schema, or randomize it")]
    AttributeMissing(String),
    /// A channel over another number of attributes.
    #[error("block {block} has {attributes} attributes, but a channel over {channel}")]
    AttributeCount {
        /// Which block.
        block: usize,
        /// How many the channel has.
        channel: usize,
        /// How many the block names.
        attributes: usize,
    },
    /// A channel made for another number of categories.
    #[error("block {block} randomizes \"{attribute}\" as {channel} categories, but the schema lists {schema}")]
    CategoryMismatch {
        /// Which block.
        block: usize,
        /// Which attribute.
        attribute: String,
        /// Categories in the schema.
        schema: usize,
        /// Categories of the channel.
        channel: usize,
    },
    /// No channel to draw.
    #[error("the lottery of block {block} is empty")]
    EmptyLottery {
        /// Which block.
        block: usize,
    },
    /// Lottery weights that cannot be drawn.
    #[error(
        "the lottery weights of block {block} must be positive and sum to at most 2^64, for at most {MAX_CHANNELS} \
         channels"
    )]
    LotteryWeights {
        /// Which block.
        block: usize,
    },
    /// A lottery whose answers would not fit the same columns.
    #[error(
        "the lottery of block {block} mixes channels whose answers do not share columns: use pattern channels and \
         strips only, or matrices with the same outputs"
    )]
    MixedLottery {
        /// Which block.
        block: usize,
    },
    /// Two columns of the responses would have the same name.
    #[error("two columns of the responses would be named \"{0}\"; rename an attribute")]
    ColumnTwice(String),
    /// A label that a set could not be written with.
    #[error(
        "the answers about \"{attribute}\" are sets, written with \"{SET_SEPARATOR}\" between them, so \"{label}\" \
         cannot be a label there; rename the category"
    )]
    SetLabel {
        /// Which attribute.
        attribute: String,
        /// Which label.
        label: String,
    },
    /// An attribute that the schema does not have, or calls public; a bitmap, weight or number that cannot be read;
    /// cells that read alike.
    #[error("block {block}: {problem}")]
    Value {
        /// Which block.
        block: usize,
        /// What is wrong.
        problem: String,
    },
    /// What the plan declares would take too long to check.
    #[error(
        "checking this plan would take up to {cost} steps, more than the {limit} allowed; accept it only if you trust \
         its author"
    )]
    TooCostly {
        /// Steps that it may take, of about a nanosecond.
        cost: u64,
        /// Steps that were allowed.
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
        /// What the plan as it stands guarantees, unless that takes long to compute.
        actual: Option<Epsilon>,
        /// What the file states.
        stated: String,
    },
    /// A prior for an attribute that has no matrix of its own, or of another length.
    #[error("a prior requires an attribute with a matrix of its own, and one probability for each of its categories")]
    Prior,
    /// The stated guarantee is that of an older program, which took every combination of categories to be possible.
    #[error(
        "the plan states {what} as {stated}, but it is {actual}: the attribute is tied to others, which the program \
         that wrote the plan did not take into account. Its channels are unharmed, and responses collected under it \
         stay usable"
    )]
    Understated {
        /// Of what.
        what: String,
        /// As stated.
        stated: String,
        /// As computed.
        actual: String,
    },
    /// The stated guarantee is not the true one.
    #[error("the plan states {what} as {stated}, but as it stands it is {actual}: do not trust this file")]
    Guarantee {
        /// Of what.
        what: String,
        /// As stated.
        stated: String,
        /// As computed.
        actual: String,
    },
}
