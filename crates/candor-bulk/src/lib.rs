#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bytes;
mod die;
mod column;
mod sets;
mod responses;
mod subsets;
mod draw;
mod lanes;
mod set_answers;
mod walk;
mod patterns;
mod strips;

pub use responses::{AnswerColumn, BlockAnswers, Responses, UNANSWERED};
pub use sets::Sets;

use std::collections::BTreeMap;

use candor_base::channel::{Channel, Sampler};
use candor_base::plan::{Block, Content, Plan};
use candor_base::randomize::RandomizeError;
use candor_base::shape::Shape;
use rand_core::CryptoRng;

use bytes::Bytes;
use column::ColumnKernel;
use die::Die;
use draw::{Draws, RUN};
use patterns::{Drawers, fill_ones};
use set_answers::fill_sets;
use strips::StripDrawer;

/// A plan that is prepared for randomizing many records.
///
/// ```
/// use candor_base::channel::{Axis, Pattern};
/// use candor_base::plan::{Block, Plan};
/// use candor_bulk::{AnswerColumn, Randomizer};
/// use candor_base::randomness::Source;
/// use candor_base::schema::Schema;
///
/// let channel = Pattern::k_ary(vec![Axis::single(3)], 1.0)?;
/// let plan = Plan::new(Schema::with_sizes(&[3])?, vec![Block::new(vec![0], channel)])?;
/// let truths = vec![vec![0, 1, 2, 2]];
/// let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_os()?.stream(0))?;
/// assert!(matches!(&responses.blocks[0].columns[0], AnswerColumn::One(codes) if codes.len() == 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Randomizer<'a> {
    plan: &'a Plan,
    blocks: Vec<BulkBlock<'a>>,
}

struct BulkBlock<'a> {
    block: &'a Block,
    /// `None` if there is only one channel.
    lottery: Option<Die>,
    /// For each answer, whether it is a set.
    sets: Vec<bool>,
    /// The method for channels that are not strips; `None` if all are strips.
    method: Option<Method<'a>>,
    /// By channel; empty if none is a strip.
    strips: Vec<Kind<'a>>,
}

/// The kind of a channel in a lottery with strips.
enum Kind<'a> {
    Strip(StripDrawer<'a>),
    /// Its number among the channels that are not strips.
    Other(usize),
}

/// The fastest method that is exact for all channels of a block.
enum Method<'a> {
    /// One variable, one channel: a kernel for the column.
    Column(ColumnKernel),
    /// Patterns first, then columns.
    Patterns(Drawers<'a>),
    /// Record by record, with big integers.
    Reference(Vec<Sampler<'a>>),
}

impl<'a> Method<'a> {
    /// Returns `None` if there is no channel.
    fn new(channels: &[&'a Channel]) -> Option<Method<'a>> {
        if let [channel] = channels
            && let Some(kernel) = ColumnKernel::new(channel)
        {
            return Some(Method::Column(kernel));
        }
        Some(match Drawers::new(channels) {
            Some(drawers) => Method::Patterns(drawers),
            None => Method::Reference(Sampler::of_lottery(channels)),
        })
        .filter(|_| !channels.is_empty())
    }
}

impl<'a> BulkBlock<'a> {
    fn new(block: &'a Block, sets: Vec<bool>) -> BulkBlock<'a> {
        let weights: Vec<u128> = block.channels().iter().map(|&(weight, _)| weight.into()).collect();
        let lottery = || Die::new(&weights, weights.len() > 16).expect("lotteries are bounded by the plan");
        let (mut others, mut strips) = (Vec::new(), Vec::new());
        for (_, channel) in block.channels() {
            strips.push(match channel {
                Channel::Strip(strip) => Kind::Strip(StripDrawer::new(strip)),
                other => {
                    others.push(other);
                    Kind::Other(others.len() - 1)
                }
            });
        }
        let strips = if others.len() < strips.len() { strips } else { Vec::new() };
        BulkBlock { block, lottery: block.has_tag().then(lottery), sets, method: Method::new(&others), strips }
    }
}

impl<'a> Randomizer<'a> {
    /// Prepares a plan for randomizing.
    pub fn new(plan: &'a Plan) -> Randomizer<'a> {
        let mut sets = vec![BTreeMap::new(); plan.blocks().len()];
        for column in plan.columns() {
            if let Content::Answer { block, place, set, .. } = column.content {
                sets[block].insert(place, set);
            }
        }
        let prepare = |(block, sets): (_, BTreeMap<usize, bool>)| BulkBlock::new(block, sets.into_values().collect());
        Randomizer { plan, blocks: plan.blocks().iter().zip(sets).map(prepare).collect() }
    }

    /// Randomizes records, given as one column of codes per attribute of the schema.
    ///
    /// Columns of public attributes are copied without any check.
    ///
    /// # Errors
    /// Returns [`RandomizeError::Columns`] if a column is missing, [`RandomizeError::Length`] if columns differ in
    /// length, and [`RandomizeError::Category`] if a code is not a category.
    pub fn batch<R: CryptoRng + ?Sized>(&self, truths: &[Vec<u16>], rng: &mut R) -> Result<Responses, RandomizeError> {
        let rows = self.check(truths)?;
        let mut bytes = Bytes::new(rng);
        let blocks = self.blocks.iter().map(|block| block.answer(truths, rows, &mut bytes)).collect();
        let public =
            self.plan.schema().attributes().iter().zip(truths).map(|(attribute, codes)| match attribute.is_public() {
                true => codes.clone(),
                false => Vec::new(),
            });
        let public = public.collect();
        Ok(Responses { blocks, public })
    }

    fn check(&self, truths: &[Vec<u16>]) -> Result<usize, RandomizeError> {
        let attributes = self.plan.schema().attributes();
        if truths.len() != attributes.len() {
            return Err(RandomizeError::Columns { found: truths.len(), expected: attributes.len() });
        }
        let private = self.plan.schema().randomized();
        let rows = private.first().map_or(0, |&attribute| truths[attribute].len());
        for attribute in private {
            let categories = attributes[attribute].categories().len();
            if truths[attribute].len() != rows {
                return Err(RandomizeError::Length { attribute, found: truths[attribute].len(), expected: rows });
            }
            // Without an early exit, eight codes are compared at a time.
            if truths[attribute].iter().fold(0, |most, &code| code.max(most)) as usize >= categories {
                return Err(RandomizeError::Category { attribute, categories });
            }
        }
        Ok(rows)
    }
}

impl BulkBlock<'_> {
    fn answer(&self, truths: &[Vec<u16>], rows: usize, bytes: &mut Bytes) -> BlockAnswers {
        let truths: Vec<&[u16]> = self.block.attributes().iter().map(|&attribute| &truths[attribute][..]).collect();
        let tags: Vec<u16> = match &self.lottery {
            Some(die) => (0..rows).map(|_| die.roll(bytes) as u16).collect(),
            None => Vec::new(),
        };
        let channel = |row: usize| tags.get(row).map_or(0, |&tag| usize::from(tag));
        if self.strips.is_empty() {
            let columns = self.answer_others(&truths, rows, channel, bytes);
            return BlockAnswers { tags, columns, cells: None };
        }
        let mut others: Vec<(usize, usize)> = Vec::new();
        // Records with the same strip are answered together.
        let mut alike: Vec<Vec<u32>> = vec![Vec::new(); self.strips.len()];
        let mut size = |row: usize| match &self.strips[channel(row)] {
            Kind::Strip(drawer) => {
                alike[channel(row)].push(row as u32);
                drawer.strip.members().len()
            }
            Kind::Other(number) => {
                others.push((row, *number));
                0
            }
        };
        let (mut sets, mut ends) = (Sets::default(), Vec::with_capacity(rows));
        let room = sets.extend((0..rows).map(&mut size), &mut ends);
        for (kind, records) in self.strips.iter().zip(&alike) {
            if let Kind::Strip(drawer) = kind {
                drawer.fill(records, &truths, &ends, room, bytes);
            }
        }
        let gathered: Vec<Vec<u16>> =
            truths.iter().map(|column| others.iter().map(|&(row, _)| column[row]).collect()).collect();
        let gathered: Vec<&[u16]> = gathered.iter().map(Vec::as_slice).collect();
        let answered = self.answer_others(&gathered, others.len(), |at| others[at].1, bytes);
        let columns = answered.into_iter().map(|column| column.spread(&others, rows)).collect();
        BlockAnswers { tags, columns, cells: Some(sets) }
    }

    /// Answers under the channels that are not strips; `channel` is each record's number among them.
    fn answer_others(
        &self,
        truths: &[&[u16]],
        rows: usize,
        channel: impl Fn(usize) -> usize,
        bytes: &mut Bytes,
    ) -> Vec<AnswerColumn> {
        let empty = |&set: &bool| match set {
            true => AnswerColumn::Set(Sets::default()),
            false => AnswerColumn::One(Vec::with_capacity(rows)),
        };
        let mut columns: Vec<AnswerColumn> = self.sets.iter().map(empty).collect();
        match &self.method {
            None => {}
            Some(Method::Column(kernel)) => {
                let mut codes = vec![0u16; rows];
                match truths {
                    [only] => kernel.column(only, &mut codes, bytes),
                    several => {
                        let shape = Shape::new(self.block.channels()[0].1.sizes());
                        let cells: Vec<u16> = (0..rows).map(|row| shape.cell_at(several, row) as u16).collect();
                        kernel.column(&cells, &mut codes, bytes);
                    }
                }
                columns = vec![AnswerColumn::One(codes)];
            }
            Some(Method::Patterns(drawers)) => {
                self.answer_by_patterns(drawers, channel, truths, &mut columns, rows, bytes);
            }
            Some(Method::Reference(samplers)) => {
                for row in 0..rows {
                    let record: Vec<u16> = truths.iter().map(|column| column[row]).collect();
                    let Ok(answers) = samplers[channel(row)].draw(&record, bytes);
                    columns.iter_mut().zip(answers).for_each(|(column, answer)| column.push(answer));
                }
            }
        }
        columns
    }

    /// Draws the patterns of a run of records, then their answers column by column.
    ///
    /// `channel` returns the channel of each record.
    fn answer_by_patterns(
        &self,
        drawers: &Drawers<'_>,
        channel: impl Fn(usize) -> usize,
        truths: &[&[u16]],
        columns: &mut [AnswerColumn],
        rows: usize,
        bytes: &mut Bytes,
    ) {
        let mut draws: Vec<Draws> = (0..drawers.words()).map(|_| Draws::NONE).collect();
        for start in (0..rows).step_by(RUN) {
            let length = (rows - start).min(RUN);
            for row in 0..length {
                drawers.draw(channel(start + row), &mut draws, row, bytes);
            }
            for (i, column) in columns.iter_mut().enumerate() {
                let truths = &truths[i][start..start + length];
                let (draws, place) = (&draws[i / patterns::WORD], i % patterns::WORD);
                match column {
                    AnswerColumn::One(codes) => {
                        codes.resize(start + length, 0);
                        fill_ones(place, drawers.categories(i), draws, truths, &mut codes[start..], bytes);
                    }
                    AnswerColumn::Set(sets) => {
                        let channel = |row: usize| channel(start + row);
                        fill_sets(place, drawers.sets(i), channel, draws, truths, sets, bytes);
                    }
                }
            }
        }
    }
}
