//! Plans: the public contract between researchers, respondents and analysts.
//!
//! A plan is a schema and a list of blocks over disjoint attributes. It contains everything an analyst needs and no
//! secret. Every [`Plan`] is valid, and its guarantee was computed from its integers, never taken from a file. The
//! computation is [`Guarantee`]; the formulas are those of the [channels](crate::channel).

mod error;
mod fingerprint;
mod tied;
mod guarantee;
mod for_prior;
mod blocks_json;
mod cost;
mod format;
mod with_prior;

pub use cost::MAX_COST;
pub use error::PlanError;
pub use fingerprint::Fingerprint;
pub use for_prior::ForPrior;
use format::{fingerprint, version};
pub use guarantee::{AttributeGuarantee, Guarantee};

use crate::channel::{Channel, Matrix, Pattern, Strip};
use crate::schema::{Attribute, CROSS, Schema};

/// Newest version of the plan format.
///
/// This program reads all versions up to it, and writes each plan in the oldest version that can express it.
pub const FORMAT_VERSION: u64 = 2;

/// Version of plans that use no feature of a newer one.
const VERSION_1: u64 = 1;

/// Separates the categories of a set-valued answer in CSV; labels of such attributes may not contain it.
pub const SET_SEPARATOR: char = ';';

/// Maximum number of channels in a lottery.
pub const MAX_CHANNELS: usize = 65_535;

/// Maximum size of the labels of one strip's cells, in bytes.
pub const MAX_CELL_TEXT: usize = 1 << 26;

/// A public lottery of channels over the same attributes.
///
/// Each respondent draws one channel with probability proportional to its weight, independently of the true record. The
/// response contains the number of that channel, its *tag*. With one channel there is no tag. Lotteries are public,
/// unlike the parts of a channel, which are hidden.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    attributes: Vec<usize>,
    lottery: Vec<(u64, Channel)>,
}

impl Block {
    /// Creates a block of one channel over the attributes at these positions of the schema.
    pub fn new(attributes: Vec<usize>, channel: impl Into<Channel>) -> Block {
        Block { attributes, lottery: vec![(1, channel.into())] }
    }

    /// Creates a block of a lottery, whose channels have integer weights.
    pub fn lottery(attributes: Vec<usize>, lottery: Vec<(u64, Channel)>) -> Block {
        Block { attributes, lottery }
    }

    /// Returns the positions of the attributes in the schema, in the channel's order.
    pub fn attributes(&self) -> &[usize] {
        &self.attributes
    }

    /// Returns the channels with their lottery weights.
    pub fn channels(&self) -> &[(u64, Channel)] {
        &self.lottery
    }

    /// Returns the channels, each with the probability that the lottery draws it.
    pub fn shares(&self) -> impl Iterator<Item = (f64, &Channel)> {
        let total: f64 = self.lottery.iter().map(|&(weight, _)| weight as f64).sum();
        self.lottery.iter().map(move |(weight, channel)| (*weight as f64 / total, channel))
    }

    /// Returns whether responses have a tag.
    pub fn has_tag(&self) -> bool {
        self.lottery.len() > 1
    }

    /// Returns the channels that are strips.
    pub fn strips(&self) -> impl Iterator<Item = &Strip> {
        self.lottery.iter().filter_map(|(_, channel)| match channel {
            Channel::Strip(strip) => Some(strip),
            _ => None,
        })
    }
}

impl From<Pattern> for Channel {
    fn from(pattern: Pattern) -> Channel {
        Channel::Pattern(pattern)
    }
}

impl From<Matrix> for Channel {
    fn from(matrix: Matrix) -> Channel {
        Channel::Matrix(matrix)
    }
}

impl From<Strip> for Channel {
    fn from(strip: Strip) -> Channel {
        Channel::Strip(strip)
    }
}

/// The origin of a plan: informative, and not covered by its fingerprint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// The name of the design method.
    pub method: String,
    /// The requested epsilon of each randomized attribute, if known.
    pub requested: Vec<Option<f64>>,
}

/// A schema and blocks over its attributes: see the [module](self).
///
/// ```
/// use candor_base::channel::{Axis, Pattern};
/// use candor_base::plan::{Block, Plan};
/// use candor_base::schema::Schema;
///
/// let schema = Schema::with_sizes(&[2, 5])?;
/// let blocks = vec![
///     Block::new(vec![0], Pattern::k_ary(vec![Axis::single(2)], 1.0)?),
///     Block::new(vec![1], Pattern::k_ary(vec![Axis::single(5)], 0.5)?),
/// ];
/// let plan = Plan::new(schema, blocks)?;
/// assert!(plan.guarantee().epsilon().finite().unwrap() <= 1.5);
/// assert_eq!(Plan::from_json(&plan.to_json())?, plan);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    schema: Schema,
    blocks: Vec<Block>,
    /// They follow from schema and blocks; cached because each data file needs them.
    columns: Vec<ResponseColumn>,
    origin: Origin,
    guarantee: Guarantee,
    for_prior: Option<ForPrior>,
    version: u64,
    fingerprint: Fingerprint,
    request: Option<String>,
}

impl PartialEq for Plan {
    fn eq(&self, other: &Plan) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Plan {
    /// Creates a plan from its parts and computes its guarantee.
    ///
    /// # Errors
    /// Returns a [`PlanError`] if a randomized attribute is in no block or in two, a public one is in a block, a
    /// channel does not fit its attributes, a lottery is empty, its weights exceed 2^64, or columns or cells of
    /// responses would have the same label.
    pub fn new(schema: Schema, blocks: Vec<Block>) -> Result<Plan, PlanError> {
        check(&schema, &blocks)?;
        let guarantee = Guarantee::new(&schema, &blocks);
        let fingerprint = fingerprint(&schema, &blocks, None);
        let (origin, version) = (Origin::default(), version(&schema, &blocks, None));
        let columns = response_columns(&schema, &blocks);
        Ok(Plan { schema, blocks, columns, origin, guarantee, for_prior: None, version, fingerprint, request: None })
    }

    /// Returns the plan with a note on its origin.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Plan {
        self.origin = origin;
        self
    }

    /// Returns the plan with the request that made it, as a JSON object.
    ///
    /// Files contain it with the origin; the fingerprint does not cover it.
    pub fn with_request(self, request: Option<String>) -> Plan {
        Plan { request, ..self }
    }

    /// Returns the request that made the plan, as a JSON object, if known. It is informative and used by nothing here.
    pub fn request(&self) -> Option<&str> {
        self.request.as_deref()
    }

    /// Returns the attributes and their categories.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the blocks, which have disjoint attributes.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the origin of the plan.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the certified bounds on what a response reveals.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// Returns the SHA-256 of the canonical form of schema, blocks and prior (see [`Plan::fingerprints_prior`]).
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Returns the version of the plan's format.
    ///
    /// It is the oldest version that can express the plan, or the version of the file it was read from.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the columns of a file of responses, in order: attributes in the order of the schema, then tags, then
    /// cells.
    ///
    /// The answer to a cross-classification has the place of its first attribute. Blocks whose channels are all strips
    /// have no answer columns.
    pub fn columns(&self) -> &[ResponseColumn] {
        &self.columns
    }

    /// Returns the labels of the cells of a block's strip, in order.
    ///
    /// A label consists of the labels of the cell's categories, separated by [`CROSS`]. No two are equal.
    pub fn cell_labels(&self, block: usize, strip: &Strip) -> Vec<String> {
        cell_labels(&self.schema, &self.blocks[block], strip)
    }
}

/// One column of a file of responses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseColumn {
    /// The name of the column.
    pub name: String,
    /// The content of the column.
    pub content: Content,
}

/// The content of a column of responses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A public attribute, unchanged.
    Public {
        /// Its position in the schema.
        attribute: usize,
    },
    /// An answer.
    Answer {
        /// The block that gives the answer.
        block: usize,
        /// The place of the answer among the block's answers.
        place: usize,
        /// The labels of the possible answers.
        labels: Vec<String>,
        /// Whether the answer names a set of categories.
        set: bool,
    },
    /// The number of the channel that the respondent's public lottery drew, from 0.
    Tag {
        /// The block of the lottery.
        block: usize,
    },
    /// The set of cells with which a strip of the block's lottery answers; empty if another channel was drawn.
    ///
    /// [`Plan::cell_labels`] has their labels.
    Cells {
        /// The block.
        block: usize,
    },
}

fn response_columns(schema: &Schema, blocks: &[Block]) -> Vec<ResponseColumn> {
    let mut columns = Vec::new();
    for (attribute, described) in schema.attributes().iter().enumerate() {
        if described.is_public() {
            columns.push(ResponseColumn { name: described.name().to_owned(), content: Content::Public { attribute } });
            continue;
        }
        for (block, content) in blocks.iter().enumerate() {
            let place = content.attributes.iter().position(|&a| a == attribute);
            columns.extend(place.and_then(|place| answer_column(schema, content, block, place)));
        }
    }
    let mut number = |what: &str, content: fn(usize) -> Content, has: fn(&Block) -> bool| {
        let name = |number: usize| match number {
            0 => format!("candor_{what}"),
            _ => format!("candor_{what}_{}", number + 1),
        };
        let having = (0..blocks.len()).filter(|&block| has(&blocks[block])).enumerate();
        columns.extend(having.map(|(at, block)| ResponseColumn { name: name(at), content: content(block) }));
    };
    number("tag", |block| Content::Tag { block }, Block::has_tag);
    number("cells", |block| Content::Cells { block }, |block| block.strips().next().is_some());
    columns
}

fn answer_column(schema: &Schema, content: &Block, block: usize, place: usize) -> Option<ResponseColumn> {
    let attribute = &schema.attributes()[content.attributes[place]];
    let mut set = None;
    for (_, channel) in &content.lottery {
        match channel {
            // A lottery of matrices shares its outputs (checked), so the first matrix stands for all.
            Channel::Matrix(matrix) => {
                let names = content.attributes.iter().map(|&a| schema.name(a));
                let name = names.collect::<Vec<&str>>().join(&CROSS.to_string());
                let answer = Content::Answer { block, place: 0, labels: matrix.labels().to_vec(), set: false };
                return (place == 0).then_some(ResponseColumn { name, content: answer });
            }
            Channel::Pattern(pattern) => set = Some(set == Some(true) || pattern.axes()[place].answer > 1),
            Channel::Strip(_) => {}
        }
    }
    let answer = Content::Answer { block, place, labels: attribute.categories().to_vec(), set: set? };
    Some(ResponseColumn { name: attribute.name().to_owned(), content: answer })
}

/// Checks everything except the guarantee of the blocks.
fn check(schema: &Schema, blocks: &[Block]) -> Result<(), PlanError> {
    check_attributes(schema, blocks)?;
    for (number, block) in blocks.iter().enumerate() {
        check_block(schema, number, block)?;
    }
    check_columns(schema, blocks)
}

fn check_attributes(schema: &Schema, blocks: &[Block]) -> Result<(), PlanError> {
    let name = |attribute: usize| schema.name(attribute).to_owned();
    let mut seen = vec![false; schema.attributes().len()];
    for (block, content) in blocks.iter().enumerate() {
        for &attribute in &content.attributes {
            match schema.attributes().get(attribute).map(Attribute::is_public) {
                None => return Err(PlanError::AttributePosition { block, attribute }),
                Some(true) => {
                    let problem = format!("it randomizes \"{}\", which the schema calls public", name(attribute));
                    return Err(PlanError::InvalidValue { block, problem });
                }
                Some(false) if seen[attribute] => return Err(PlanError::AttributeTwice(name(attribute))),
                Some(false) => seen[attribute] = true,
            }
        }
    }
    match schema.randomized().into_iter().find(|&attribute| !seen[attribute]) {
        Some(attribute) => Err(PlanError::AttributeMissing(name(attribute))),
        None => Ok(()),
    }
}

fn check_block(schema: &Schema, number: usize, block: &Block) -> Result<(), PlanError> {
    if block.lottery.is_empty() {
        return Err(PlanError::EmptyLottery { block: number });
    }
    let total: u128 = block.lottery.iter().map(|&(weight, _)| u128::from(weight)).sum();
    let drawable = block.lottery.iter().all(|&(weight, _)| weight > 0) && total <= 1 << 64;
    if !drawable || block.lottery.len() > MAX_CHANNELS {
        return Err(PlanError::LotteryWeights { block: number });
    }
    for (_, channel) in &block.lottery {
        let (places, attributes) = (channel.places(), block.attributes.len());
        let fits = match channel {
            Channel::Strip(_) => places.iter().all(|&place| place < attributes),
            _ => places.len() == attributes,
        };
        if !fits {
            let channel = places.last().map_or(0, |last| last + 1);
            return Err(PlanError::AttributeCount { block: number, channel, attributes });
        }
        for (attribute, channel) in places.iter().map(|&place| block.attributes[place]).zip(channel.sizes()) {
            let described = &schema.attributes()[attribute];
            if described.categories().len() != channel {
                let (name, schema) = (described.name().to_owned(), described.categories().len());
                return Err(PlanError::CategoryMismatch { block: number, attribute: name, schema, channel });
            }
        }
        let alike = match (&block.lottery[0].1, channel) {
            (Channel::Matrix(first), Channel::Matrix(other)) => first.labels() == other.labels(),
            (Channel::Matrix(_), _) | (_, Channel::Matrix(_)) => false,
            _ => true,
        };
        if !alike {
            return Err(PlanError::MixedLottery { block: number });
        }
    }
    Ok(())
}

fn check_columns(schema: &Schema, blocks: &[Block]) -> Result<(), PlanError> {
    let columns = response_columns(schema, blocks);
    let mut names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(PlanError::ColumnTwice(pair[0].to_owned()));
    }
    for column in &columns {
        if let Content::Answer { labels, set: true, .. } = &column.content
            && let Some(label) = labels.iter().find(|label| label.contains(SET_SEPARATOR))
        {
            return Err(PlanError::SetLabel { attribute: column.name.clone(), label: label.clone() });
        }
    }
    blocks.iter().enumerate().try_for_each(|(number, block)| check_cells(schema, number, block))
}

/// Checks that the cells of every strip's table have short, distinct labels that can be written.
fn check_cells(schema: &Schema, number: usize, block: &Block) -> Result<(), PlanError> {
    for strip in block.strips() {
        let names: Vec<&str> = strip.places().iter().map(|&place| schema.name(block.attributes[place])).collect();
        let length = text_of_cells(schema, block, strip);
        if length > MAX_CELL_TEXT {
            let problem = format!(
                "the cells of the table of {} take {length} bytes to write, more than {MAX_CELL_TEXT}; use shorter \
                 categories",
                names.join(" and ")
            );
            return Err(PlanError::InvalidValue { block: number, problem });
        }
        let mut labels = cell_labels(schema, block, strip);
        if let Some(label) = labels.iter().find(|label| label.contains(SET_SEPARATOR) || label.is_empty()) {
            return Err(PlanError::SetLabel { attribute: names.join(&CROSS.to_string()), label: label.clone() });
        }
        labels.sort_unstable();
        if let Some(twice) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            let problem =
                format!("two cells of the table of {} read \"{}\"; rename a category", names.join(" and "), twice[0]);
            return Err(PlanError::InvalidValue { block: number, problem });
        }
    }
    Ok(())
}

/// Returns the total length of the labels of all cells; each category of an attribute occurs in equally many cells.
fn text_of_cells(schema: &Schema, block: &Block, strip: &Strip) -> usize {
    let cells = strip.table().cells();
    let text = |&place: &usize| {
        let labels = schema.attributes()[block.attributes[place]].categories();
        let length = labels.iter().map(|label| label.len() + CROSS.len_utf8()).fold(0, usize::saturating_add);
        length.saturating_mul(cells / labels.len())
    };
    strip.places().iter().map(text).fold(0, usize::saturating_add)
}

fn cell_labels(schema: &Schema, block: &Block, strip: &Strip) -> Vec<String> {
    let labels = |&place: &usize| schema.attributes()[block.attributes[place]].categories();
    let longer = |cells: Vec<String>, labels: &[String]| {
        cells.iter().flat_map(|cell| labels.iter().map(move |label| format!("{cell}{CROSS}{label}"))).collect()
    };
    let (first, others) = strip.places().split_first().expect("a strip has attributes");
    others.iter().map(labels).fold(labels(first).to_vec(), longer)
}
