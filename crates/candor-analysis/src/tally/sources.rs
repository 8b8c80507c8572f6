//! Where a table finds its axes and tags among the columns of responses.

use candor::plan::{Content, Plan};

use super::{Codes, CountAxis, CountLayout};

/// The columns that a table is counted from.
pub(super) struct Sources<'a> {
    /// For each axis its codes, and for matrices in a lottery the tag that selects them, with the outputs of each.
    pub(super) axes: Vec<(Codes<'a>, Option<(Codes<'a>, usize)>)>,
    /// The tags of the tagged blocks.
    pub(super) tags: Vec<Codes<'a>>,
    sizes: Vec<usize>,
}

impl<'a> Sources<'a> {
    /// Of a table with this layout, among one column per column of the plan.
    pub(super) fn new(layout: &CountLayout, plan: &Plan, columns: &[Codes<'a>]) -> Sources<'a> {
        let described = plan.columns();
        let column_of = |wanted: &dyn Fn(&Content) -> bool| {
            let at = described.iter().position(|column| wanted(&column.content));
            columns[at.expect("every answer has a column")]
        };
        let answer_of = |block: usize, place: usize| {
            column_of(
                &|content| matches!(content, Content::Answer { block: b, place: p, .. } if (*b, *p) == (block, place)),
            )
        };
        let tag_of = |block: usize| column_of(&|content| *content == Content::Tag { block });
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
        Sources {
            axes: layout.axes.iter().map(source).collect(),
            tags: layout.tagged.iter().map(|&block| tag_of(block)).collect(),
            sizes: layout.dims(),
        }
    }

    /// The cells that the response of a row counts in: several where answers are sets.
    #[inline]
    pub(super) fn cells(&self, row: usize, cells: &mut Vec<usize>, scratch: &mut Vec<usize>) {
        cells.clear();
        cells.push(0);
        for ((codes, tag), &size) in self.axes.iter().zip(&self.sizes) {
            match codes {
                Codes::One(codes) => {
                    let offset = tag.as_ref().map_or(0, |(tag, outputs)| usize::from(tag.first(row)) * outputs);
                    cells.iter_mut().for_each(|cell| *cell = *cell * size + offset + usize::from(codes[row]));
                }
                Codes::Set(sets) => {
                    let set = sets.get(row);
                    scratch.clear();
                    scratch
                        .extend(cells.iter().flat_map(|cell| set.iter().map(move |&c| cell * size + usize::from(c))));
                    std::mem::swap(cells, scratch);
                }
            }
        }
    }
}
