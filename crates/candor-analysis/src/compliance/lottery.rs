//! The channels of a table as transition matrices, one for each combination of channel IDs.

use candor_base::channel::{Channel, Matrix};
use candor_base::plan::{Block, Plan};
use candor_base::shape::Shape;
use nalgebra::DMatrix;

use crate::tally::{CountAxis, TableCounts};

/// Maximum number of matrix entries.
const MAX_ENTRIES: usize = 1 << 22;

/// Channel of the responses with the same channel IDs.
#[derive(Clone, Debug, PartialEq)]
pub struct Tag {
    /// Probability of this combination of channels.
    pub share: f64,
    /// `P(answer | true cell)`: rows are answers, and columns are cells of the table.
    pub channel: DMatrix<f64>,
    /// Channel IDs of the blocks with attributes in the table, by block.
    drawn: Vec<(usize, usize)>,
}

/// All channels of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Lottery {
    /// Combinations of channel IDs.
    pub tags: Vec<Tag>,
}

/// Reason why compliance cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inapplicable {
    /// Answers are sets.
    #[error(
        "answers that are sets of categories or cells cannot be tested, because there are too many different sets; \
         test a plan whose answers are single categories, preferably with compliance-check cards"
    )]
    Sets,
    /// An attribute is public.
    #[error("\"{0}\" is public, so it is answered without a device")]
    Public(String),
    /// The table has only some attributes of a joint answer.
    #[error("one answer is about several attributes, but the table contains only some of them")]
    Part,
    /// The matrices are too large.
    #[error("the table has too many combinations of cells and tags")]
    TooLarge,
    /// There are as many distinct answers as cells, so any answers can be explained.
    #[error(
        "with one card and as many answers as categories, any behavior fits some true shares; use compliance-check \
         cards"
    )]
    NothingLeft,
    /// No responses.
    #[error("there are no responses")]
    NoResponses,
    /// Counts of weighted responses.
    #[error("the test requires unweighted responses")]
    Weighted,
}

impl Lottery {
    /// Creates channels with their probabilities; rows are answers, and columns are true cells.
    pub fn new(channels: Vec<(f64, DMatrix<f64>)>) -> Lottery {
        let tag = |(share, channel)| Tag { share, channel, drawn: Vec::new() };
        Lottery { tags: channels.into_iter().map(tag).collect() }
    }

    /// Returns the channels of a table of a plan, given the positions of its attributes.
    ///
    /// # Errors
    /// Returns [`Inapplicable`] with the reason why compliance cannot be tested.
    pub fn for_plan(plan: &Plan, table: &[usize]) -> Result<Lottery, Inapplicable> {
        if let Some(&public) = table.iter().find(|&&a| plan.schema().attributes()[a].is_public()) {
            return Err(Inapplicable::Public(plan.schema().name(public).to_owned()));
        }
        let layout = crate::tally::CountLayout::new(plan, table);
        let mut tags = vec![Tag { share: 1.0, channel: DMatrix::from_element(1, 1, 1.0), drawn: Vec::new() }];
        // Axes of a block are adjacent and form one factor, in the order of the layout.
        let mut done: Vec<usize> = Vec::new();
        for axis in &layout.axes {
            let number = match *axis {
                CountAxis::Outputs { block, .. } => block,
                CountAxis::Attribute { attribute, .. } => plan
                    .blocks()
                    .iter()
                    .position(|block| block.attributes().contains(&attribute))
                    .ok_or(Inapplicable::Part)?,
            };
            if done.contains(&number) {
                continue;
            }
            done.push(number);
            let factors = of_block(&plan.blocks()[number], table)?;
            let entries: usize = tags
                .iter()
                .map(|tag| tag.channel.len())
                .sum::<usize>()
                .saturating_mul(factors.iter().map(|(_, channel)| channel.len()).sum::<usize>());
            if entries > MAX_ENTRIES {
                return Err(Inapplicable::TooLarge);
            }
            let both = |tag: &Tag| -> Vec<Tag> {
                let with = |(at, (share, channel)): (usize, &(f64, DMatrix<f64>))| Tag {
                    share: tag.share * share,
                    channel: tag.channel.kronecker(channel),
                    drawn: [tag.drawn.clone(), vec![(number, at)]].concat(),
                };
                factors.iter().enumerate().map(with).collect()
            };
            tags = tags.iter().flat_map(both).collect();
        }
        Ok(Lottery { tags })
    }

    /// Returns the number of cells of the table.
    pub fn cells(&self) -> usize {
        self.tags.first().map_or(0, |tag| tag.channel.ncols())
    }

    /// Returns the counts of each channel, in the order of its answers.
    ///
    /// # Errors
    /// Returns [`Inapplicable`] if there are no responses, or they have weights.
    pub fn counts(&self, plan: &Plan, tally: &TableCounts) -> Result<Vec<Vec<f64>>, Inapplicable> {
        if tally.groups().values().any(|group| !group.square_counts.is_empty()) {
            return Err(Inapplicable::Weighted);
        }
        if tally.total() <= 0.0 {
            return Err(Inapplicable::NoResponses);
        }
        let layout = tally.layout();
        let shape = Shape::new(layout.dims());
        let order = axis_order(plan, &layout.axes);
        let of_tag = |tag: &Tag| -> Vec<f64> {
            let drawn = |block: usize| tag.drawn.iter().find(|(number, _)| *number == block).map_or(0, |&(_, at)| at);
            let key: Vec<u16> = layout.tagged.iter().map(|&block| drawn(block) as u16).collect();
            let Some(group) = tally.groups().get(&key) else { return vec![0.0; tag.channel.nrows()] };
            let mut counts = vec![0.0; tag.channel.nrows()];
            for (cell, &count) in group.counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                let mut place = Some(0);
                for &axis in &order {
                    let code = shape.project_cell(cell, &[axis]);
                    let (code, size) = match layout.axes[axis] {
                        CountAxis::Attribute { categories, .. } => (Some(code), categories),
                        CountAxis::Outputs { block, outputs } => {
                            let own = outputs / plan.blocks()[block].channels().len();
                            let Some((rows, size)) = rows_of(&plan.blocks()[block], &layout.attributes) else {
                                continue;
                            };
                            ((code / own == drawn(block)).then_some(rows[code % own]), size)
                        }
                    };
                    place = place.zip(code).map(|(place, code)| place * size + code);
                }
                if let Some(place) = place {
                    counts[place] += count;
                }
            }
            counts
        };
        Ok(self.tags.iter().map(of_tag).collect())
    }

    /// Returns, for each answer to a one-way table, the row of the channels in which it counts.
    pub(super) fn rows(&self, plan: &Plan, table: &[usize]) -> Option<Vec<usize>> {
        let block = plan.blocks().iter().find(|block| table.iter().all(|a| block.attributes().contains(a)))?;
        match block.channels()[0].1 {
            Channel::Matrix(_) => rows_of(block, table).map(|(rows, _)| rows),
            _ => Some((0..self.tags.first()?.channel.nrows()).collect()),
        }
    }

    /// Returns the degrees of freedom of the test: `sum (m_g - 1) - (rank - 1)`, with `m_g` the possible answers
    /// of channel `g`.
    pub fn degrees(&self) -> usize {
        let possible = |tag: &Tag| tag.channel.row_iter().filter(|row| row.iter().any(|p| *p > 0.0)).count();
        let free: usize = self.tags.iter().map(|tag| possible(tag).saturating_sub(1)).sum();
        let rows: usize = self.tags.iter().map(|tag| tag.channel.nrows()).sum();
        let mut tall = DMatrix::zeros(rows, self.cells());
        let mut at = 0;
        for tag in &self.tags {
            tall.rows_mut(at, tag.channel.nrows()).copy_from(&tag.channel);
            at += tag.channel.nrows();
        }
        free.saturating_sub(tall.rank(1e-9).saturating_sub(1))
    }
}

/// Returns the axes block by block, in the order of the factors.
fn axis_order(plan: &Plan, axes: &[CountAxis]) -> Vec<usize> {
    let block_of = |axis: &CountAxis| match *axis {
        CountAxis::Outputs { block, .. } => Some(block),
        CountAxis::Attribute { attribute, .. } => {
            plan.blocks().iter().position(|block| block.attributes().contains(&attribute))
        }
    };
    let mut order: Vec<usize> = (0..axes.len()).collect();
    let first = |axis: usize| axes.iter().position(|other| block_of(other) == block_of(&axes[axis])).unwrap_or(axis);
    order.sort_by_key(|&axis| (first(axis), axis));
    order
}

/// Returns the channels of one block for the attributes of a table, with their probabilities.
fn of_block(block: &Block, table: &[usize]) -> Result<Vec<(f64, DMatrix<f64>)>, Inapplicable> {
    let places: Vec<usize> = table.iter().filter_map(|a| block.attributes().iter().position(|own| own == a)).collect();
    let one = |(share, channel): (f64, &Channel)| match channel {
        Channel::Strip(_) => Err(Inapplicable::Sets),
        Channel::Matrix(matrix) if places.len() == block.attributes().len() => {
            let (rows, columns) = (matrix.labels().len(), matrix.columns().len());
            Ok((share, DMatrix::from_fn(rows, columns, |output, input| matrix.probability(output, input))))
        }
        Channel::Matrix(matrix) => Ok((share, part_of(matrix, block, table, &places).ok_or(Inapplicable::Part)?)),
        Channel::Pattern(pattern) => {
            let masses = pattern.marginal(&places);
            if masses.axes().iter().any(|axis| axis.answer != 1) {
                return Err(Inapplicable::Sets);
            }
            let sizes: Vec<usize> = masses.axes().iter().map(|axis| axis.categories).collect();
            let cells: usize = sizes.iter().product();
            if cells.saturating_mul(cells) > MAX_ENTRIES {
                return Err(Inapplicable::TooLarge);
            }
            let shape = Shape::new(sizes.clone());
            let entry = |answer: usize, truth: usize| {
                let (mut pattern, mut ways) = (0, 1.0);
                for (axis, size) in sizes.iter().enumerate() {
                    if shape.project_cell(answer, &[axis]) != shape.project_cell(truth, &[axis]) {
                        pattern |= 1 << axis;
                        ways *= *size as f64 - 1.0;
                    }
                }
                masses.probabilities()[pattern] / ways
            };
            Ok((share, DMatrix::from_fn(cells, cells, entry)))
        }
    };
    block.shares().map(one).collect()
}

/// Returns the row of a table's channel in which each output of a block's matrix counts, and the number of rows.
///
/// It is the output itself. If the table has only some of the matrix's attributes and outputs are combinations, it
/// is the output's combination of these attributes.
fn rows_of(block: &Block, table: &[usize]) -> Option<(Vec<usize>, usize)> {
    let Channel::Matrix(matrix) = &block.channels()[0].1 else { return None };
    let outputs = matrix.labels().len();
    let places: Vec<usize> =
        (0..block.attributes().len()).filter(|&at| table.contains(&block.attributes()[at])).collect();
    if places.len() == block.attributes().len() {
        return Some(((0..outputs).collect(), outputs));
    }
    let combinations = outputs == matrix.shape().cells();
    let row = |output: usize| matrix.shape().project_cell(output, &places);
    combinations.then(|| ((0..outputs).map(row).collect(), matrix.shape().project(&places).cells()))
}

/// Returns the channel of some attributes of a matrix, if their answers depend on their own true categories only.
fn part_of(matrix: &Matrix, block: &Block, table: &[usize], places: &[usize]) -> Option<DMatrix<f64>> {
    /// Tolerance for equal probabilities, because the integers of a plan are rounded.
    const EQUALITY_TOLERANCE: f64 = 1e-6;
    let (rows, count) = rows_of(block, table)?;
    let truths = matrix.shape().project(places);
    let mut found: Vec<Option<Vec<f64>>> = vec![None; truths.cells()];
    for input in 0..matrix.shape().cells() {
        let mut column = vec![0.0; count];
        rows.iter().enumerate().for_each(|(output, &row)| column[row] += matrix.probability(output, input));
        let known = found[matrix.shape().project_cell(input, places)].get_or_insert_with(|| column.clone());
        if known.iter().zip(&column).any(|(a, b)| (a - b).abs() > EQUALITY_TOLERANCE) {
            return None;
        }
    }
    let columns: Vec<Vec<f64>> = found.into_iter().collect::<Option<_>>()?;
    Some(DMatrix::from_fn(count, columns.len(), |row, truth| columns[truth][row]))
}
