//! Randomizing: from true records and a plan to responses.
//!
//! [`Client`] answers one record at a time, reading random bytes in the documented order
//! (docs/sampling.md); [`Randomizer`] answers batches of records in columns, as fast as it can.
//! Both draw from exactly the distributions that the plan certifies.

mod bytes;
mod die;
mod column;
mod sets;
mod subsets;
mod draw;
mod lanes;
mod set_answers;
mod patterns;

pub use sets::Sets;

use rand_core::{CryptoRng, TryCryptoRng};

use crate::channel::sampling::draw_weighted;
use crate::channel::{Answer, Channel, Sampler};
use crate::plan::{Block, Content, Plan};
use bytes::Bytes;
use column::ColumnKernel;
use die::Die;
use draw::Draw;
use patterns::{PatternDrawer, fill_ones};
use set_answers::{SetDrawer, fill_sets};

/// A category as a small integer: `u8` for up to 255 categories, `u16` for all.
pub trait Code: Copy + Into<usize> + private::Sealed {
    /// The low eight bits.
    fn low_byte(self) -> u8;
    /// The code of that value.
    fn from_byte(byte: u8) -> Self;
}

mod private {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
}

impl Code for u8 {
    #[inline]
    fn low_byte(self) -> u8 {
        self
    }
    #[inline]
    fn from_byte(byte: u8) -> u8 {
        byte
    }
}

impl Code for u16 {
    #[inline]
    fn low_byte(self) -> u8 {
        self as u8
    }
    #[inline]
    fn from_byte(byte: u8) -> u16 {
        byte.into()
    }
}

/// Answers about one attribute (or cross-classification) for many records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerColumn {
    /// One category each.
    One(Vec<u16>),
    /// A set of categories each.
    Set(Sets),
}

impl AnswerColumn {
    fn push(&mut self, answer: Answer) {
        match (self, answer) {
            (AnswerColumn::One(codes), Answer::One(code)) => codes.push(code),
            (AnswerColumn::One(_), Answer::Set(_)) => unreachable!("the plan says which answers are sets"),
            (AnswerColumn::Set(sets), Answer::One(code)) => sets.push(&[code]),
            (AnswerColumn::Set(sets), Answer::Set(codes)) => sets.push(&codes),
        }
    }
}

/// The answers of one block for many records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockAnswers {
    /// The channel each record's lottery drew; empty if the block has one channel only.
    pub tags: Vec<u16>,
    /// One column per answer.
    pub columns: Vec<AnswerColumn>,
}

/// A plan made ready to randomize many records.
///
/// ```
/// use candor::channel::{Axis, Pattern};
/// use candor::plan::{Block, Plan};
/// use candor::randomize::{AnswerColumn, Randomizer};
/// use candor::randomness::Source;
/// use candor::schema::Schema;
///
/// let channel = Pattern::k_ary(vec![Axis::single(3)], 1.0)?;
/// let plan = Plan::new(Schema::of_sizes(&[3])?, vec![Block::new(vec![0], channel)])?;
/// let truths = vec![vec![0, 1, 2, 2]];
/// let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_os()?.stream(0))?;
/// assert!(matches!(&answers[0].columns[0], AnswerColumn::One(codes) if codes.len() == 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Randomizer<'a> {
    plan: &'a Plan,
    blocks: Vec<BulkBlock<'a>>,
}

struct BulkBlock<'a> {
    block: &'a Block,
    /// `None` with one channel only.
    lottery: Option<Die>,
    /// For each answer, whether it is a set.
    sets: Vec<bool>,
    method: Method<'a>,
}

/// How a block is answered: the fastest way that is exact for all its channels.
enum Method<'a> {
    /// One variable, one channel: a kernel over the whole column.
    Column(ColumnKernel),
    /// Patterns first, then columns.
    Patterns(Vec<PatternDrawer>),
    /// Record by record, with big integers.
    Reference(Vec<Sampler<'a>>),
}

impl<'a> Method<'a> {
    fn new(block: &'a Block) -> Method<'a> {
        if let [(_, channel)] = block.channels()
            && let Some(kernel) = ColumnKernel::new(channel)
        {
            return Method::Column(kernel);
        }
        let drawer = |(_, channel): &(u64, Channel)| match channel {
            Channel::Pattern(pattern) => PatternDrawer::new(pattern),
            Channel::Matrix(_) => None,
        };
        match block.channels().iter().map(drawer).collect() {
            Some(drawers) => Method::Patterns(drawers),
            None => Method::Reference(block.channels().iter().map(|(_, channel)| Sampler::new(channel)).collect()),
        }
    }
}

impl<'a> Randomizer<'a> {
    /// Prepares a plan.
    pub fn new(plan: &'a Plan) -> Randomizer<'a> {
        let columns = plan.columns();
        let prepare = |(number, block): (usize, &'a Block)| {
            let weights: Vec<u128> = block.channels().iter().map(|&(weight, _)| weight.into()).collect();
            let lottery = || Die::new(&weights, weights.len() > 16).expect("lotteries are bounded by the plan");
            let mut sets: Vec<(usize, bool)> = columns
                .iter()
                .filter_map(|column| match column.content {
                    Content::Answer { block, place, set, .. } if block == number => Some((place, set)),
                    _ => None,
                })
                .collect();
            sets.sort_unstable();
            BulkBlock {
                block,
                lottery: block.has_tag().then(lottery),
                sets: sets.into_iter().map(|(_, set)| set).collect(),
                method: Method::new(block),
            }
        };
        Randomizer { plan, blocks: plan.blocks().iter().enumerate().map(prepare).collect() }
    }

    /// Randomizes records given as one column of codes per attribute of the schema (what stands
    /// in the columns of public attributes does not matter); gives the answers of each block.
    ///
    /// # Errors
    /// If a column is missing or shorter than another, or a code is not a category.
    pub fn batch<R: CryptoRng + ?Sized>(
        &self,
        truths: &[Vec<u16>],
        rng: &mut R,
    ) -> Result<Vec<BlockAnswers>, RandomizeError> {
        let rows = self.check(truths)?;
        let mut bytes = Bytes::new(rng);
        Ok(self.blocks.iter().map(|block| block.answer(truths, rows, &mut bytes)).collect())
    }

    fn check(&self, truths: &[Vec<u16>]) -> Result<usize, RandomizeError> {
        let attributes = self.plan.schema().attributes();
        if truths.len() != attributes.len() {
            return Err(RandomizeError::Columns { found: truths.len(), expected: attributes.len() });
        }
        let private = self.plan.schema().private();
        let rows = private.first().map_or(0, |&attribute| truths[attribute].len());
        for attribute in private {
            let categories = attributes[attribute].categories().len();
            if truths[attribute].len() != rows {
                return Err(RandomizeError::Length { attribute, found: truths[attribute].len(), expected: rows });
            }
            if truths[attribute].iter().any(|&code| usize::from(code) >= categories) {
                return Err(RandomizeError::Category { attribute, categories });
            }
        }
        Ok(rows)
    }
}

impl BulkBlock<'_> {
    fn answer<R: CryptoRng + ?Sized>(
        &self,
        truths: &[Vec<u16>],
        rows: usize,
        bytes: &mut Bytes<'_, R>,
    ) -> BlockAnswers {
        let truths: Vec<&[u16]> = self.block.attributes().iter().map(|&attribute| &truths[attribute][..]).collect();
        let tags: Vec<u16> = match &self.lottery {
            Some(die) => (0..rows).map(|_| die.roll(bytes) as u16).collect(),
            None => Vec::new(),
        };
        let channel = |row: usize| tags.get(row).map_or(0, |&tag| usize::from(tag));
        let empty = |&set: &bool| match set {
            true => AnswerColumn::Set(Sets::default()),
            false => AnswerColumn::One(Vec::with_capacity(rows)),
        };
        let mut columns: Vec<AnswerColumn> = self.sets.iter().map(empty).collect();
        match &self.method {
            Method::Column(kernel) => {
                let mut codes = vec![0u16; rows];
                match &truths[..] {
                    [only] => kernel.column(only, &mut codes, bytes),
                    several => {
                        let sizes = self.block.channels()[0].1.sizes();
                        let cells: Vec<u16> = (0..rows).map(|row| cell_of(&sizes, several, row)).collect();
                        kernel.column(&cells, &mut codes, bytes);
                    }
                }
                columns = vec![AnswerColumn::One(codes)];
            }
            Method::Patterns(drawers) => {
                let sizes = self.block.channels()[0].1.sizes();
                for (i, column) in columns.iter_mut().enumerate() {
                    if let AnswerColumn::Set(sets) = column {
                        let largest = drawers.iter().map(|drawer| drawer.sets[i].size()).max().unwrap_or(0);
                        *sets = Sets::with_capacity(rows, rows * largest);
                    }
                }
                let mut draws = [Draw::default(); patterns::RUN];
                for start in (0..rows).step_by(draws.len()) {
                    let draws = &mut draws[..(rows - start).min(patterns::RUN)];
                    for (row, draw) in (start..).zip(draws.iter_mut()) {
                        *draw = drawers[channel(row)].draw(bytes);
                    }
                    for (i, column) in columns.iter_mut().enumerate() {
                        let truths = &truths[i][start..start + draws.len()];
                        match column {
                            AnswerColumn::One(codes) => {
                                codes.resize(start + draws.len(), 0);
                                fill_ones(i, sizes[i], draws, truths, &mut codes[start..], bytes);
                            }
                            AnswerColumn::Set(sets) => {
                                let by_channel: Vec<&SetDrawer> =
                                    drawers.iter().map(|drawer| &drawer.sets[i]).collect();
                                let channel = |row: usize| channel(start + row);
                                fill_sets(i, &by_channel, channel, draws, truths, sets, bytes);
                            }
                        }
                    }
                }
            }
            Method::Reference(samplers) => {
                for row in 0..rows {
                    let record: Vec<u16> = truths.iter().map(|column| column[row]).collect();
                    let Ok(answers) = samplers[channel(row)].draw(&record, bytes);
                    columns.iter_mut().zip(answers).for_each(|(column, answer)| column.push(answer));
                }
            }
        }
        BlockAnswers { tags, columns }
    }
}

/// The input of a matrix over a cross-classification.
fn cell_of(sizes: &[usize], truths: &[&[u16]], row: usize) -> u16 {
    sizes.iter().zip(truths).fold(0, |cell, (&size, column)| cell * size + usize::from(column[row])) as u16
}

/// A channel over one variable of at most 255 categories, ready for columns of codes in memory.
///
/// This is the fastest way to randomize: one or two random bytes per value.
pub struct ColumnRandomizer {
    kernel: ColumnKernel,
    inputs: usize,
}

impl ColumnRandomizer {
    /// Prepares a channel; `None` if it is not over one variable answered with one category, or
    /// has more than 255 inputs or outputs.
    pub fn new(channel: &Channel) -> Option<ColumnRandomizer> {
        Some(ColumnRandomizer { kernel: ColumnKernel::new(channel)?, inputs: channel.sizes().iter().product() })
    }

    /// Randomizes `truths` into `answers`.
    ///
    /// # Errors
    /// If the columns differ in length or a code is out of range.
    pub fn column<C: Code, R: CryptoRng + ?Sized>(
        &self,
        truths: &[C],
        answers: &mut [C],
        rng: &mut R,
    ) -> Result<(), RandomizeError> {
        if truths.len() != answers.len() {
            let (found, expected) = (answers.len(), truths.len());
            return Err(RandomizeError::Length { attribute: 0, found, expected });
        }
        let largest = truths.iter().fold(0usize, |largest, &code| largest.max(code.into()));
        if largest >= self.inputs {
            return Err(RandomizeError::Category { attribute: 0, categories: self.inputs });
        }
        self.kernel.column(truths, answers, &mut Bytes::new(rng));
        Ok(())
    }
}

/// Answers one record at a time, in the order of bytes that docs/sampling.md specifies.
pub struct Client<'a> {
    plan: &'a Plan,
    blocks: Vec<(&'a Block, Vec<Sampler<'a>>)>,
}

/// One respondent's answers to one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockAnswer {
    /// The channel that the public lottery drew; `None` if there is one channel only.
    pub tag: Option<usize>,
    /// The answers.
    pub answers: Vec<Answer>,
}

impl<'a> Client<'a> {
    /// Prepares a plan.
    pub fn new(plan: &'a Plan) -> Client<'a> {
        let samplers = |block: &'a Block| block.channels().iter().map(|(_, channel)| Sampler::new(channel)).collect();
        Client { plan, blocks: plan.blocks().iter().map(|block| (block, samplers(block))).collect() }
    }

    /// Answers for one record: one code per attribute of the schema (what stands for public
    /// attributes does not matter).
    ///
    /// # Errors
    /// If the record does not fit the schema, or the source of randomness fails.
    pub fn answer<R: TryCryptoRng + ?Sized>(
        &self,
        record: &[u16],
        rng: &mut R,
    ) -> Result<Vec<BlockAnswer>, RandomizeError> {
        let attributes = self.plan.schema().attributes();
        if record.len() != attributes.len() {
            return Err(RandomizeError::Columns { found: record.len(), expected: attributes.len() });
        }
        for attribute in self.plan.schema().private() {
            let categories = attributes[attribute].categories().len();
            if usize::from(record[attribute]) >= categories {
                return Err(RandomizeError::Category { attribute, categories });
            }
        }
        let failed = |error: R::Error| RandomizeError::Randomness(error.to_string());
        let mut answers = Vec::with_capacity(self.blocks.len());
        for (block, samplers) in &self.blocks {
            let drawn = draw_weighted(block.channels().iter().map(|&(weight, _)| weight), rng).map_err(failed)?;
            let truth: Vec<u16> = block.attributes().iter().map(|&attribute| record[attribute]).collect();
            let answer = samplers[drawn].draw(&truth, rng).map_err(failed)?;
            answers.push(BlockAnswer { tag: block.has_tag().then_some(drawn), answers: answer });
        }
        Ok(answers)
    }
}

/// Why records could not be randomized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RandomizeError {
    /// Another number of columns than attributes.
    #[error("{found} columns for {expected} attributes")]
    Columns {
        /// Columns given.
        found: usize,
        /// Attributes of the schema.
        expected: usize,
    },
    /// Columns of different lengths.
    #[error("the column of attribute {attribute} has {found} values, not {expected}")]
    Length {
        /// Which attribute.
        attribute: usize,
        /// Values given.
        found: usize,
        /// Values needed.
        expected: usize,
    },
    /// A code beyond the categories. The value itself is not repeated here.
    #[error("a code of attribute {attribute} is not below its {categories} categories")]
    Category {
        /// Which attribute.
        attribute: usize,
        /// How many categories it has.
        categories: usize,
    },
    /// The source of randomness failed.
    #[error("the source of randomness failed ({0}); nothing was answered")]
    Randomness(String),
}
