//! Layout of the counts of a table: channel IDs and cells.

use std::sync::Arc;

use candor_base::channel::{Channel, Pattern, PatternSet};
use candor_base::plan::{Content, Plan};
use candor_base::shape::Shape;

use super::ChannelCounts;

/// Stands for every channel of a block with subset channels that asks about no attribute of the table.
///
/// All of them are equally uninformative about it.
pub const OTHER_CHANNEL: u16 = u16::MAX;

/// An axis of the counts of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountAxis {
    /// An attribute: a cell counts the responses whose answer is its category, or contains it.
    Attribute {
        /// Position in the schema.
        attribute: usize,
        /// Number of categories.
        categories: usize,
    },
    /// The outputs of a block of matrices.
    ///
    /// If the block has several channels, output `z` of channel `c` with `m` outputs is at `c m + z`.
    Outputs {
        /// Position of the block.
        block: usize,
        /// Number of outputs.
        outputs: usize,
    },
}

impl CountAxis {
    fn size(&self) -> usize {
        match self {
            CountAxis::Attribute { categories, .. } => *categories,
            CountAxis::Outputs { outputs, .. } => *outputs,
        }
    }
}

/// A subset channel that asks about attributes of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StripMargin {
    /// Position of its block.
    pub block: usize,
    /// Its channel ID.
    pub channel: u16,
    /// For each common attribute, its axis in the counts and its axis in the channel's own table.
    pub axes: Vec<(usize, usize)>,
}

/// Layout of the counts of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountLayout {
    /// Attributes of the table, in its order.
    pub attributes: Vec<usize>,
    /// Axes: first attributes in the order of the table, then blocks of matrices.
    pub axes: Vec<CountAxis>,
    /// Blocks of pattern and subset channels whose channel ID matters.
    pub tagged: Vec<usize>,
    /// Blocks with subset channels that have attributes in the table, with the axes of these attributes.
    striped: Vec<(usize, Vec<usize>)>,
    /// What the channels of these blocks ask about the table.
    asking: Arc<Asking>,
}

/// What the channels of blocks with subset channels ask about a table, by block and channel ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asking {
    /// Subset channels that ask about attributes of the table.
    margins: Vec<StripMargin>,
    /// Pattern channels that ask about none.
    silent: Vec<(usize, u16)>,
}

/// Layout of one group of responses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame<'a> {
    /// Sizes of the axes; 1 for axes that the group's channels do not ask about.
    pub dims: Vec<usize>,
    /// Subset channels of the group that ask about the table.
    pub strips: Vec<&'a StripMargin>,
    /// Whether the group's channels ask about nothing in the table.
    pub elsewhere: bool,
}

impl CountLayout {
    /// Creates the layout of the counts that a table needs.
    pub fn new(plan: &Plan, attributes: &[usize]) -> CountLayout {
        let (mut axes, mut outputs, mut tagged) = (Vec::new(), Vec::new(), Vec::new());
        let mut striped: Vec<(usize, Vec<usize>)> = Vec::new();
        for &attribute in attributes {
            let categories = plan.schema().size(attribute);
            let block = plan.blocks().iter().position(|block| block.attributes().contains(&attribute));
            let Some((number, block)) = block.map(|number| (number, &plan.blocks()[number])) else {
                axes.push(CountAxis::Attribute { attribute, categories });
                continue;
            };
            if let Channel::Matrix(first) = &block.channels()[0].1 {
                let axis = CountAxis::Outputs { block: number, outputs: block.channels().len() * first.labels().len() };
                if !outputs.contains(&axis) {
                    outputs.push(axis);
                }
                continue;
            }
            if block.strips().next().is_some() {
                match striped.iter_mut().find(|(known, _)| *known == number) {
                    Some((_, places)) => places.push(axes.len()),
                    None => striped.push((number, vec![axes.len()])),
                }
            }
            axes.push(CountAxis::Attribute { attribute, categories });
            if block.has_tag() && !tagged.contains(&number) {
                tagged.push(number);
            }
        }
        axes.extend(outputs);
        let asking = Arc::new(Asking::new(plan, &axes, &striped));
        CountLayout { attributes: attributes.to_vec(), axes, tagged, striped, asking }
    }

    /// Returns the sizes of the axes.
    pub fn dims(&self) -> Vec<usize> {
        self.axes.iter().map(CountAxis::size).collect()
    }

    /// Returns whether a subset channel answers about the table.
    pub fn has_strips(&self) -> bool {
        !self.striped.is_empty()
    }

    /// Returns the blocks with subset channels that have attributes in the table.
    pub fn striped(&self) -> impl Iterator<Item = usize> {
        self.striped.iter().map(|(block, _)| *block)
    }

    /// Returns whether a channel of a block with attributes in the table asks about it.
    ///
    /// All do, except some in blocks with subset channels.
    pub fn asks(&self, plan: &Plan, block: usize, channel: u16) -> bool {
        match plan.blocks()[block].channels()[usize::from(channel)].1 {
            Channel::Strip(_) => self.margin(block, channel).is_some(),
            Channel::Pattern(_) => self.asking.silent.binary_search(&(block, channel)).is_err(),
            Channel::Matrix(_) => true,
        }
    }

    /// Returns the key of the group with these IDs of the [tagged](CountLayout::tagged) blocks.
    ///
    /// It has the same IDs, except for channels that ask elsewhere.
    pub fn key(&self, plan: &Plan, tags: &[u16]) -> Vec<u16> {
        let key = |(&block, &tag): (&usize, &u16)| match plan.blocks()[block].channels().get(usize::from(tag)) {
            Some(_) if !self.asks(plan, block, tag) => OTHER_CHANNEL,
            _ => tag,
        };
        self.tagged.iter().zip(tags).map(key).collect()
    }

    /// Converts the counts of a group from its channel IDs to its key.
    ///
    /// Axes that its channels do not ask about are summed, and counts are rescaled.
    pub(crate) fn unasked(&self, plan: &Plan, tags: &[u16], key: &[u16], group: ChannelCounts) -> ChannelCounts {
        let (before, after) = (Shape::new(self.frame(plan, tags).dims), Shape::new(self.frame(plan, key).dims));
        let share = self.cells_of_one(plan, key).0 / self.cells_of_one(plan, tags).0;
        let kept: Vec<usize> = (0..after.sizes().len()).filter(|&axis| after.sizes()[axis] > 1).collect();
        let summed = |counts: &[f64]| {
            let mut sums = vec![0.0; if counts.is_empty() { 0 } else { after.cells() }];
            let cells = counts.iter().zip(before.project_all(&kept));
            cells.for_each(|(count, cell)| sums[cell] += count * share);
            sums
        };
        ChannelCounts { counts: summed(&group.counts), square_counts: summed(&group.square_counts), ..group }
    }

    fn margin(&self, block: usize, channel: u16) -> Option<&StripMargin> {
        let margins = &self.asking.margins;
        let at = margins.binary_search_by_key(&(block, channel), |margin| (margin.block, margin.channel));
        at.ok().map(|at| &margins[at])
    }

    /// Returns the channel of a block in a group; `None` for [`OTHER_CHANNEL`].
    pub(crate) fn channel_of(&self, block: usize, key: &[u16]) -> Option<usize> {
        let tag = self.tagged.iter().position(|&tagged| tagged == block).map_or(0, |at| key[at]);
        (tag != OTHER_CHANNEL).then_some(tag.into())
    }

    /// Returns the number of cells of a group; `None` if the key does not match the layout.
    pub fn cells(&self, plan: &Plan, key: &[u16]) -> Option<usize> {
        let known = |(&block, &tag): (&usize, &u16)| {
            tag == OTHER_CHANNEL || usize::from(tag) < plan.blocks()[block].channels().len()
        };
        let fits = key.len() == self.tagged.len() && self.tagged.iter().zip(key).all(known);
        fits.then(|| self.frame(plan, key).dims.iter().product())
    }

    /// Returns the layout of one group of responses.
    pub(crate) fn frame(&self, plan: &Plan, key: &[u16]) -> Frame<'_> {
        let (mut dims, mut strips, mut unasked) = (self.dims(), Vec::new(), 0);
        for (block, axes) in &self.striped {
            let channel = self.channel_of(*block, key);
            if let Some(channel) = channel
                && !matches!(plan.blocks()[*block].channels()[channel].1, Channel::Strip(_))
            {
                continue;
            }
            let margin = channel.and_then(|channel| self.margin(*block, channel as u16));
            let asked = |axis: &usize| margin.is_some_and(|margin| margin.axes.iter().any(|(own, _)| own == axis));
            for &axis in axes.iter().filter(|axis| !asked(axis)) {
                dims[axis] = 1;
                unasked += 1;
            }
            strips.extend(margin);
        }
        let elsewhere = unasked > 0 && unasked == dims.len();
        Frame { dims, strips, elsewhere }
    }

    /// Returns the number of cells in which one response of a group counts, and the most often it counts in the
    /// same one.
    pub(crate) fn cells_of_one(&self, plan: &Plan, key: &[u16]) -> (f64, f64) {
        let answers = self.axes.iter().map(|axis| {
            let CountAxis::Attribute { attribute, .. } = *axis else { return (1, 1) };
            let found = plan.blocks().iter().enumerate().find_map(|(number, block)| {
                Some((number, block, block.attributes().iter().position(|&a| a == attribute)?))
            });
            let Some((number, block, place)) = found else { return (1, 1) };
            match self.channel_of(number, key).map(|channel| &block.channels()[channel].1) {
                Some(Channel::Pattern(pattern)) => (pattern.axes()[place].answer, 1),
                _ => (1, 1),
            }
        });
        let frame = self.frame(plan, key);
        let strips = frame.strips.iter().map(|margin| {
            match &plan.blocks()[margin.block].channels()[usize::from(margin.channel)].1 {
                Channel::Strip(strip) => {
                    let sizes = strip.table().sizes();
                    let cells: usize = margin.axes.iter().map(|&(_, theirs)| sizes[theirs]).product();
                    let answered = strip.members().len();
                    (answered, answered.min(strip.table().cells() / cells))
                }
                _ => (1, 1),
            }
        });
        let both = |(all, most): (f64, f64), (n, same): (usize, usize)| (all * n as f64, most * same as f64);
        answers.chain(strips).fold((1.0, 1.0), both)
    }

    /// Returns the positions of the plan's columns that the table needs.
    pub fn columns(&self, plan: &Plan) -> Vec<usize> {
        let needed = |content: &Content| match *content {
            Content::Public { attribute } => self.attributes.contains(&attribute),
            Content::Tag { block } => {
                let outputs = |axis: &CountAxis| matches!(axis, CountAxis::Outputs { block: b, .. } if *b == block);
                self.tagged.contains(&block) || self.axes.iter().any(outputs)
            }
            Content::Cells { block } => self.striped.iter().any(|(striped, _)| *striped == block),
            Content::Answer { block, place, .. } => {
                let content = &plan.blocks()[block];
                match content.channels()[0].1 {
                    Channel::Matrix(_) => content.attributes().iter().any(|a| self.attributes.contains(a)),
                    Channel::Pattern(_) | Channel::Strip(_) => self.attributes.contains(&content.attributes()[place]),
                }
            }
        };
        plan.columns().iter().enumerate().filter(|(_, column)| needed(&column.content)).map(|(at, _)| at).collect()
    }
}

impl Asking {
    fn new(plan: &Plan, axes: &[CountAxis], striped: &[(usize, Vec<usize>)]) -> Asking {
        let mut asking = Asking::default();
        for (block, own) in striped {
            let content = &plan.blocks()[*block];
            let place = |axis: &usize| match axes[*axis] {
                CountAxis::Attribute { attribute, .. } => content.attributes().iter().position(|&a| a == attribute),
                CountAxis::Outputs { .. } => None,
            };
            let places: Vec<(usize, usize)> = own.iter().filter_map(|axis| Some((*axis, place(axis)?))).collect();
            for (channel, (_, drawn)) in (0..).zip(content.channels()) {
                match drawn {
                    Channel::Strip(strip) => {
                        let both = |&(axis, place): &(usize, usize)| Some((axis, strip.axis_of(place)?));
                        let axes: Vec<(usize, usize)> = places.iter().filter_map(both).collect();
                        if !axes.is_empty() {
                            asking.margins.push(StripMargin { block: *block, channel, axes });
                        }
                    }
                    Channel::Pattern(pattern) if is_silent(pattern, &places) => asking.silent.push((*block, channel)),
                    Channel::Pattern(_) | Channel::Matrix(_) => {}
                }
            }
        }
        asking.margins.sort_unstable_by_key(|margin| (margin.block, margin.channel));
        asking.silent.sort_unstable();
        asking
    }
}

/// Returns whether a pattern channel reports uniformly about the attributes at these places, independently of the
/// rest.
///
/// This holds if each of its parts either admits every pattern or only requires hits of other attributes.
fn is_silent(pattern: &Pattern, places: &[(usize, usize)]) -> bool {
    pattern.parts().iter().all(|part| match &part.set {
        PatternSet::All => true,
        PatternSet::Hits(hit) => !places.iter().any(|(_, place)| hit.contains(place)),
        PatternSet::Only(_) | PatternSet::Threshold { .. } | PatternSet::Bitmap(_) => false,
    })
}
