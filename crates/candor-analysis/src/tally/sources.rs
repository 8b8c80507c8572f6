//! Finds the axes and channel IDs of a table among the columns of responses.

use candor_base::channel::Channel;
use candor_base::plan::{Content, Plan};
use candor_base::shape::Shape;

use super::layout::{Frame, StripMargin};
use super::{Codes, CountAxis, CountLayout};

/// Columns from which a table is counted.
pub(super) struct Sources<'a> {
    /// Codes of each axis; `None` if all channels of its block are subset channels.
    ///
    /// For matrices with several channels, it includes the channel ID, and the number of outputs of each.
    pub(super) axes: Vec<Source<'a>>,
    /// Channel IDs of the tagged blocks.
    pub(super) tags: Vec<Codes<'a>>,
    /// Cells reported by subset channels, by block.
    cells: Vec<(usize, Codes<'a>)>,
}

impl<'a> Sources<'a> {
    /// Finds the columns of a table with this layout. `columns` has one element per column of the plan.
    pub(super) fn new(layout: &CountLayout, plan: &Plan, columns: &[Codes<'a>]) -> Sources<'a> {
        let described = plan.columns();
        let column_of = |wanted: &dyn Fn(&Content) -> bool| {
            described.iter().position(|column| wanted(&column.content)).map(|at| columns[at])
        };
        let answer_of = |block: usize, place: usize| {
            column_of(
                &|content| matches!(content, Content::Answer { block: b, place: p, .. } if (*b, *p) == (block, place)),
            )
        };
        let tag_of = |block: usize| column_of(&|content| *content == Content::Tag { block }).expect("a tag");
        let source = |axis: &CountAxis| match *axis {
            CountAxis::Attribute { attribute, .. } => {
                let public = |content: &Content| *content == Content::Public { attribute };
                let found = plan.blocks().iter().enumerate().find_map(|(number, block)| {
                    Some((number, block.attributes().iter().position(|&a| a == attribute)?))
                });
                (found.map_or_else(|| column_of(&public), |(block, place)| answer_of(block, place)), None)
            }
            CountAxis::Outputs { block, outputs } => {
                let channels = plan.blocks()[block].channels().len();
                let tag = (channels > 1).then(|| (tag_of(block), outputs / channels));
                (answer_of(block, 0), tag)
            }
        };
        let cells = described.iter().zip(columns).filter_map(|(column, codes)| match column.content {
            Content::Cells { block } => Some((block, *codes)),
            _ => None,
        });
        Sources {
            axes: layout.axes.iter().map(source).collect(),
            tags: layout.tagged.iter().map(|&block| tag_of(block)).collect(),
            cells: cells.collect(),
        }
    }

    /// Returns the cells reported by subset channels of a block.
    pub(super) fn block_codes(&self, block: usize) -> Codes<'a> {
        self.cells.iter().find(|(known, _)| *known == block).expect("a block with strips has cells").1
    }
}

/// Cells in which the responses of one group count.
pub(super) struct Places<'s, 'a> {
    /// Codes of the axes that other than subset channels ask about, with their strides.
    axes: Vec<(&'s Source<'a>, usize)>,
    /// Answers of each subset channel, with the offset of each cell of its table.
    strips: Vec<(Codes<'a>, Vec<usize>)>,
}

/// Codes of an axis, and the channel ID that selects among the outputs of several matrices.
type Source<'a> = (Option<Codes<'a>>, Option<(Codes<'a>, usize)>);

impl<'s, 'a> Places<'s, 'a> {
    pub(super) fn new(sources: &'s Sources<'a>, frame: &Frame<'_>, plan: &Plan) -> Places<'s, 'a> {
        let shape = Shape::new(frame.dims.clone());
        let by_strip = |axis: usize| frame.strips.iter().any(|margin| margin.axes.iter().any(|(own, _)| *own == axis));
        let axes = sources.axes.iter().enumerate().filter(|(axis, _)| frame.dims[*axis] > 1 && !by_strip(*axis));
        let axes = axes.map(|(axis, source)| (source, shape.stride(axis))).collect();
        let strip = |margin: &&StripMargin| (sources.block_codes(margin.block), steps(margin, &shape, plan));
        Places { axes, strips: frame.strips.iter().map(strip).collect() }
    }

    /// Returns whether only subset channels ask about the table.
    pub(super) fn only_strips(&self) -> bool {
        self.axes.is_empty()
    }

    /// Returns the cells in which the response of a row counts; several if answers are sets.
    #[inline]
    pub(super) fn cells(&self, row: usize, cells: &mut Vec<usize>, scratch: &mut Vec<usize>) {
        cells.clear();
        cells.push(0);
        for ((codes, tag), stride) in &self.axes {
            match codes {
                Some(Codes::One(codes)) => {
                    let offset = tag.as_ref().map_or(0, |(tag, outputs)| usize::from(tag.first(row)) * outputs);
                    cells.iter_mut().for_each(|cell| *cell += stride * (offset + usize::from(codes[row])));
                }
                Some(Codes::Set(sets)) => {
                    cross(cells, scratch, sets.get(row).iter().map(|&code| stride * usize::from(code)));
                }
                None => cells.clear(),
            }
        }
        for (codes, steps) in &self.strips {
            let Codes::Set(sets) = codes else { continue };
            cross(cells, scratch, sets.get(row).iter().map(|&cell| steps[usize::from(cell)]));
        }
    }
}

fn cross(cells: &mut Vec<usize>, scratch: &mut Vec<usize>, steps: impl Iterator<Item = usize> + Clone) {
    scratch.clear();
    scratch.extend(cells.iter().flat_map(|cell| steps.clone().map(move |step| cell + step)));
    std::mem::swap(cells, scratch);
}

/// Returns the offset of each cell of a subset channel's table in the cells of the counts.
pub(super) fn steps(margin: &StripMargin, counts: &Shape, plan: &Plan) -> Vec<usize> {
    let Channel::Strip(strip) = &plan.blocks()[margin.block].channels()[usize::from(margin.channel)].1 else {
        return Vec::new();
    };
    let step = |cell: usize| {
        margin.axes.iter().map(|&(own, theirs)| counts.stride(own) * strip.table().code(cell, theirs)).sum()
    };
    (0..strip.table().cells()).map(step).collect()
}
