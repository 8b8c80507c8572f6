//! How responses are counted for one table: by tags and cells.

use std::sync::Arc;

use candor_base::channel::{Channel, Pattern, PatternSet};
use candor_base::plan::{Content, Plan};
use candor_base::shape::Shape;

use super::Group;

/// Stands for every channel of a lottery with strips that asks about no attribute of the table: they all tell it the
/// same, nothing.
pub const OTHER_CHANNEL: u16 = u16::MAX;

/// One axis of the counts of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountAxis {
    /// An attribute: a cell counts the responses whose answer is, or contains, its category.
    Attribute {
        /// Its position in the schema.
        attribute: usize,
        /// The number of its categories.
        categories: usize,
    },
    /// The outputs of a block of matrices; with a lottery, output `z` of channel `c` of `m` outputs
    /// is at `c m + z`.
    Outputs {
        /// Which block.
        block: usize,
        /// How many there are.
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

/// A strip that asks about attributes of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StripMargin {
    /// Its block.
    pub block: usize,
    /// Its number in the block's lottery.
    pub channel: u16,
    /// For each attribute that both have: the axis of the counts, and that of the strip's own table.
    pub axes: Vec<(usize, usize)>,
}

/// How the responses are counted for one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountLayout {
    /// The attributes of the table, in its order.
    pub attributes: Vec<usize>,
    /// The axes: attributes first, in the table's order, then blocks of matrices.
    pub axes: Vec<CountAxis>,
    /// The blocks of pattern channels and strips whose tag matters.
    pub tagged: Vec<usize>,
    /// The blocks with strips that the table touches, each with the axes of its attributes.
    striped: Vec<(usize, Vec<usize>)>,
    /// What the channels of these blocks ask about the table.
    asking: Arc<Asking>,
}

/// What the channels of blocks with strips ask about a table; both by block and channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asking {
    /// The strips that ask about attributes of the table.
    margins: Vec<StripMargin>,
    /// The pattern channels that ask about none.
    silent: Vec<(usize, u16)>,
}

/// How one group of responses is counted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame<'a> {
    /// The sizes of the axes; 1 where the channels drawn do not ask.
    pub dims: Vec<usize>,
    /// The strips drawn, as far as they ask about the table.
    pub strips: Vec<&'a StripMargin>,
    /// Whether the channels drawn ask about nothing in the table.
    pub elsewhere: bool,
}

impl CountLayout {
    /// The layout of the counts that a table needs.
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

    /// The sizes of the axes.
    pub fn dims(&self) -> Vec<usize> {
        self.axes.iter().map(CountAxis::size).collect()
    }

    /// Whether some channel that the table is answered by is a strip.
    pub fn has_strips(&self) -> bool {
        !self.striped.is_empty()
    }

    /// The blocks with strips that the table touches.
    pub fn striped(&self) -> impl Iterator<Item = usize> {
        self.striped.iter().map(|(block, _)| *block)
    }

    /// Whether a channel of a block that the table touches asks about it: all do but some in blocks with strips.
    pub fn asks(&self, plan: &Plan, block: usize, channel: u16) -> bool {
        match plan.blocks()[block].channels()[usize::from(channel)].1 {
            Channel::Strip(_) => self.margin(block, channel).is_some(),
            Channel::Pattern(_) => self.asking.silent.binary_search(&(block, channel)).is_err(),
            Channel::Matrix(_) => true,
        }
    }

    /// The group of the responses with these tags of the [tagged](CountLayout::tagged) blocks: the same tags, but for
    /// channels that ask elsewhere.
    pub fn key(&self, plan: &Plan, tags: &[u16]) -> Vec<u16> {
        let key = |(&block, &tag): (&usize, &u16)| match plan.blocks()[block].channels().get(usize::from(tag)) {
            Some(_) if !self.asks(plan, block, tag) => OTHER_CHANNEL,
            _ => tag,
        };
        self.tagged.iter().zip(tags).map(key).collect()
    }

    /// The counts of a group by its tags as those of its key: along axes that are not asked about, what a response
    /// shows there.
    pub(crate) fn unasked(&self, plan: &Plan, tags: &[u16], key: &[u16], group: Group) -> Group {
        let (before, after) = (Shape::new(self.frame(plan, tags).dims), Shape::new(self.frame(plan, key).dims));
        let share = self.cells_of_one(plan, key).0 / self.cells_of_one(plan, tags).0;
        let kept: Vec<usize> = (0..after.sizes().len()).filter(|&axis| after.sizes()[axis] > 1).collect();
        let summed = |counts: &[f64]| {
            let mut sums = vec![0.0; if counts.is_empty() { 0 } else { after.cells() }];
            let cells = counts.iter().zip(before.project_all(&kept));
            cells.for_each(|(count, cell)| sums[cell] += count * share);
            sums
        };
        Group { counts: summed(&group.counts), square_counts: summed(&group.square_counts), ..group }
    }

    fn margin(&self, block: usize, channel: u16) -> Option<&StripMargin> {
        let margins = &self.asking.margins;
        let at = margins.binary_search_by_key(&(block, channel), |margin| (margin.block, margin.channel));
        at.ok().map(|at| &margins[at])
    }

    /// The channel of a block that a group drew: none that asks about the table if it is [`OTHER_CHANNEL`].
    pub(crate) fn channel_of(&self, block: usize, key: &[u16]) -> Option<usize> {
        let tag = self.tagged.iter().position(|&tagged| tagged == block).map_or(0, |at| key[at]);
        (tag != OTHER_CHANNEL).then_some(tag.into())
    }

    /// How many cells the responses of a group are counted in; `None` if the key is none of this layout.
    pub fn cells(&self, plan: &Plan, key: &[u16]) -> Option<usize> {
        let known = |(&block, &tag): (&usize, &u16)| {
            tag == OTHER_CHANNEL || usize::from(tag) < plan.blocks()[block].channels().len()
        };
        let fits = key.len() == self.tagged.len() && self.tagged.iter().zip(key).all(known);
        fits.then(|| self.frame(plan, key).dims.iter().product())
    }

    /// How the responses of a group are counted.
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

    /// In how many cells of the counts one response of a group counts, and how often at most in the same one.
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

    /// The columns of responses that the table needs, by position among the plan's columns.
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

/// Whether a pattern channel answers uniformly about attributes at these places of its block, whatever their truth, and
/// what else it answers tells nothing of them: each of its parts admits every pattern, or asks only that others hit.
fn is_silent(pattern: &Pattern, places: &[(usize, usize)]) -> bool {
    pattern.parts().iter().all(|part| match &part.set {
        PatternSet::All => true,
        PatternSet::Hits(hit) => !places.iter().any(|(_, place)| hit.contains(place)),
        PatternSet::Only(_) | PatternSet::Threshold { .. } | PatternSet::Bitmap(_) => false,
    })
}
