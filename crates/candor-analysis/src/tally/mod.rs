//! Counting responses: for each table the counts by tag and cell. Counts of parts of the data add
//! up, so files, cores and machines can count on their own.

mod cover;
mod inclusion;

pub use cover::count_categories;
pub use inclusion::count_inclusions;

use std::collections::{BTreeMap, HashMap};

use candor::channel::Channel;
use candor::plan::{Content, Plan};
use candor::randomize::{AnswerColumn, BlockAnswers, Sets};

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

/// How the responses are counted for one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountLayout {
    /// The attributes of the table, in its order.
    pub attributes: Vec<usize>,
    /// The axes: attributes first, in the table's order, then blocks of matrices.
    pub axes: Vec<CountAxis>,
    /// The blocks of pattern channels whose tag matters.
    pub tagged: Vec<usize>,
}

impl CountLayout {
    /// The layout of the counts that a table needs.
    pub fn new(plan: &Plan, attributes: &[usize]) -> CountLayout {
        let (mut axes, mut outputs, mut tagged) = (Vec::new(), Vec::new(), Vec::new());
        for &attribute in attributes {
            let categories = plan.schema().attributes()[attribute].categories().len();
            let block = plan.blocks().iter().position(|block| block.attributes().contains(&attribute));
            match block.map(|number| (number, &plan.blocks()[number])) {
                Some((number, block)) if matches!(block.channels()[0].1, Channel::Matrix(_)) => {
                    let Channel::Matrix(first) = &block.channels()[0].1 else { continue };
                    let size = block.channels().len() * first.labels().len();
                    let axis = CountAxis::Outputs { block: number, outputs: size };
                    if !outputs.contains(&axis) {
                        outputs.push(axis);
                    }
                }
                found => {
                    axes.push(CountAxis::Attribute { attribute, categories });
                    if let Some((number, _)) =
                        found.filter(|(number, block)| block.has_tag() && !tagged.contains(number))
                    {
                        tagged.push(number);
                    }
                }
            }
        }
        axes.extend(outputs);
        CountLayout { attributes: attributes.to_vec(), axes, tagged }
    }

    /// The sizes of the axes.
    pub fn dims(&self) -> Vec<usize> {
        self.axes.iter().map(CountAxis::size).collect()
    }
}

/// Counts of the responses with the same tags.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The number of responses (or the sum of their weights).
    pub total: f64,
    /// The sum of squared weights; without weights the number of responses.
    pub squares: f64,
    /// The number of responses (or the sum of weights) in each cell.
    pub counts: Vec<f64>,
    /// The sum of squared weights in each cell; empty without weights.
    pub square_counts: Vec<f64>,
}

impl CountLayout {
    /// The columns of responses that the table needs, by position among the plan's columns.
    pub fn columns(&self, plan: &Plan) -> Vec<usize> {
        let needed = |content: &Content| match *content {
            Content::Public { attribute } => self.attributes.contains(&attribute),
            Content::Tag { block } => {
                let outputs = |axis: &CountAxis| matches!(axis, CountAxis::Outputs { block: b, .. } if *b == block);
                self.tagged.contains(&block) || self.axes.iter().any(outputs)
            }
            Content::Answer { block, place, .. } => {
                let content = &plan.blocks()[block];
                match content.channels()[0].1 {
                    Channel::Matrix(_) => content.attributes().iter().any(|a| self.attributes.contains(a)),
                    Channel::Pattern(_) => self.attributes.contains(&content.attributes()[place]),
                }
            }
        };
        plan.columns().iter().enumerate().filter(|(_, column)| needed(&column.content)).map(|(at, _)| at).collect()
    }
}

/// The counts of one table, by tags.
#[derive(Clone, Debug, PartialEq)]
pub struct TableTally {
    layout: CountLayout,
    groups: BTreeMap<Vec<u16>, Group>,
    /// By tags, if kept.
    sets: Option<BTreeMap<Vec<u16>, SetCounts>>,
}

/// How many responses (or which sum of weights) gave each set of categories.
pub type SetCounts = HashMap<Box<[u16]>, f64>;

/// What each row of responses stands for.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// One response.
    Single,
    /// So many responses, counted elsewhere.
    Counted(&'a [f64]),
    /// One response with a survey weight.
    Weighted(&'a [f64]),
}

/// A column of responses, as codes.
#[derive(Clone, Copy, Debug)]
pub enum Codes<'a> {
    /// One category (or tag, or output) each.
    One(&'a [u16]),
    /// A set of categories each.
    Set(&'a Sets),
}

/// The columns of a plan's responses, from the answers that [`Randomizer::batch`](candor::randomize::Randomizer::batch) gave for
/// `truths`, of which only the public attributes are looked at.
pub fn answer_codes<'a>(plan: &Plan, answers: &'a [BlockAnswers], truths: &'a [Vec<u16>]) -> Vec<Codes<'a>> {
    let one = |content: &Content| match *content {
        Content::Public { attribute } => Codes::One(&truths[attribute]),
        Content::Tag { block } => Codes::One(&answers[block].tags),
        Content::Answer { block, place, .. } => match &answers[block].columns[place] {
            AnswerColumn::One(codes) => Codes::One(codes),
            AnswerColumn::Set(sets) => Codes::Set(sets),
        },
    };
    plan.columns().iter().map(|column| one(&column.content)).collect()
}

impl TableTally {
    /// No responses yet.
    pub fn new(layout: CountLayout) -> TableTally {
        TableTally { layout, groups: BTreeMap::new(), sets: None }
    }

    /// Counts made elsewhere.
    ///
    /// # Panics
    /// If a group has another number of cells or tags than the layout.
    pub fn from_groups(layout: CountLayout, mut groups: BTreeMap<Vec<u16>, Group>) -> TableTally {
        let cells: usize = layout.dims().iter().product();
        let fits =
            |(tags, group): (&Vec<u16>, &Group)| tags.len() == layout.tagged.len() && group.counts.len() == cells;
        assert!(groups.iter().all(fits), "groups of this layout");
        groups.retain(|_, group| group.total > 0.0);
        TableTally { layout, groups, sets: None }
    }

    /// The same, and the different sets that are answered are kept, too: the likelihood needs them, counts of
    /// inclusions do not hold it. Only for tables of one attribute that is answered with sets; others stay as they are.
    #[must_use]
    pub fn keeping_sets(mut self, plan: &Plan) -> TableTally {
        let set = |at: &usize| matches!(plan.columns()[*at].content, Content::Answer { set: true, .. });
        if self.layout.axes.len() == 1 && self.layout.columns(plan).iter().any(set) {
            self.sets = Some(BTreeMap::new());
        }
        self
    }

    /// The sets that were answered, by tags, if kept.
    pub fn sets(&self) -> Option<&BTreeMap<Vec<u16>, SetCounts>> {
        self.sets.as_ref()
    }

    /// How the counts are laid out.
    pub fn layout(&self) -> &CountLayout {
        &self.layout
    }

    /// The counts by tags of the tagged blocks.
    pub fn groups(&self) -> &BTreeMap<Vec<u16>, Group> {
        &self.groups
    }

    /// The number of responses (or the sum of their weights).
    pub fn total(&self) -> f64 {
        self.groups.values().map(|group| group.total).sum()
    }

    /// Counts a batch of responses: one column per column of the plan (those that the table does not
    /// need may be empty). Only rows for which `take` holds count.
    ///
    /// # Panics
    /// If the columns are not those of the plan.
    pub fn add(&mut self, plan: &Plan, columns: &[Codes<'_>], rows_are: Rows<'_>, take: impl Fn(usize) -> bool) {
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
        // For each axis its codes, and for matrices in a lottery the tag that selects them.
        let sources: Vec<(Codes<'_>, Option<(Codes<'_>, usize)>)> = self
            .layout
            .axes
            .iter()
            .map(|axis| match *axis {
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
            })
            .collect();
        let tags: Vec<Codes<'_>> = self.layout.tagged.iter().map(|&block| tag_of(block)).collect();
        let dims = self.layout.dims();
        let cells: usize = dims.iter().product();
        let length = |column: &Codes<'_>| match column {
            Codes::One(codes) => codes.len(),
            Codes::Set(sets) => sets.len(),
        };
        let rows = columns.iter().map(length).max().unwrap_or(0);
        let one = |codes: &Codes<'_>, row: usize| match codes {
            Codes::One(codes) => codes[row],
            Codes::Set(sets) => sets.get(row)[0],
        };
        let mut key = vec![0u16; tags.len()];
        let mut current: Option<(Vec<u16>, Group)> = None;
        let (mut hits, mut next): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for row in (0..rows).filter(|&row| take(row)) {
            let (weight, square) = match rows_are {
                Rows::Single => (1.0, 1.0),
                Rows::Counted(counts) => (counts[row], counts[row]),
                Rows::Weighted(weights) => (weights[row], weights[row] * weights[row]),
            };
            // What stands for nobody makes no group: there would be no shares in it.
            if weight == 0.0 {
                continue;
            }
            key.iter_mut().zip(&tags).for_each(|(key, tag)| *key = one(tag, row));
            if current.as_ref().is_none_or(|(held, _)| *held != key) {
                if let Some((key, group)) = current.take() {
                    self.groups.insert(key, group);
                }
                let weighted = if matches!(rows_are, Rows::Weighted(_)) { cells } else { 0 };
                let empty =
                    || Group { total: 0.0, squares: 0.0, counts: vec![0.0; cells], square_counts: vec![0.0; weighted] };
                current = Some((key.clone(), self.groups.remove(&key).unwrap_or_else(empty)));
            }
            let Some((_, group)) = &mut current else { continue };
            group.total += weight;
            group.squares += square;
            if let (Some(kept), [(Codes::Set(sets), _)]) = (&mut self.sets, &sources[..]) {
                *kept.entry(key.clone()).or_default().entry(sets.get(row).into()).or_insert(0.0) += weight;
            }
            hits.clear();
            hits.push(0);
            for ((codes, tag), &size) in sources.iter().zip(&dims) {
                match codes {
                    Codes::One(codes) => {
                        let offset = tag.as_ref().map_or(0, |(tag, outputs)| usize::from(one(tag, row)) * outputs);
                        hits.iter_mut().for_each(|cell| *cell = *cell * size + offset + usize::from(codes[row]));
                    }
                    Codes::Set(sets) => {
                        let set = sets.get(row);
                        next.clear();
                        next.extend(
                            hits.iter().flat_map(|cell| set.iter().map(move |&c| cell * size + usize::from(c))),
                        );
                        std::mem::swap(&mut hits, &mut next);
                    }
                }
            }
            for &cell in &hits {
                group.counts[cell] += weight;
                if let Some(sum) = group.square_counts.get_mut(cell) {
                    *sum += square;
                }
            }
        }
        if let Some((key, group)) = current {
            self.groups.insert(key, group);
        }
    }

    /// Adds the counts of other responses.
    ///
    /// # Panics
    /// If they are laid out differently.
    pub fn merge(&mut self, other: TableTally) {
        assert_eq!(self.layout, other.layout, "counts of the same table");
        if let Some(kept) = &mut self.sets {
            for (key, counts) in other.sets.unwrap_or_default() {
                let held = kept.entry(key).or_default();
                counts.into_iter().for_each(|(set, count)| *held.entry(set).or_insert(0.0) += count);
            }
        }
        for (key, group) in other.groups {
            match self.groups.get_mut(&key) {
                None => {
                    self.groups.insert(key, group);
                }
                Some(held) => {
                    held.total += group.total;
                    held.squares += group.squares;
                    held.counts.iter_mut().zip(group.counts).for_each(|(sum, count)| *sum += count);
                    held.square_counts.iter_mut().zip(group.square_counts).for_each(|(sum, count)| *sum += count);
                }
            }
        }
    }
}

/// Counts a batch of responses for several tables: those that need nothing but one category per
/// attribute together ([`count_categories`]), those of one attribute answered with sets by their
/// [inclusions](count_inclusions), the others one by one.
pub fn count_tables(
    plan: &Plan,
    layouts: &[CountLayout],
    columns: &[Codes<'_>],
    rows_are: Rows<'_>,
) -> Vec<TableTally> {
    let plain = |layout: &CountLayout| {
        let attribute = |axis: &CountAxis| matches!(axis, CountAxis::Attribute { .. });
        matches!(rows_are, Rows::Single)
            && layout.tagged.is_empty()
            && !layout.axes.is_empty()
            && layout.axes.iter().all(attribute)
    };
    let simple = |layout: &CountLayout| {
        plain(layout) && layout.columns(plan).into_iter().all(|at| matches!(columns[at], Codes::One(_)))
    };
    let sets = |layout: &CountLayout| match layout.columns(plan)[..] {
        [at] if plain(layout) => match columns[at] {
            Codes::Set(sets) => Some(sets),
            Codes::One(_) => None,
        },
        _ => None,
    };
    // Columns by attribute, for those that have one.
    let described = plan.columns();
    let attributes = plan.schema().attributes();
    let mut codes: Vec<&[u16]> = vec![&[]; attributes.len()];
    for (column, &code) in described.iter().zip(columns) {
        if let (Ok(attribute), Codes::One(code)) = (plan.schema().position(&column.name), code) {
            codes[attribute] = code;
        }
    }
    let sizes: Vec<usize> = attributes.iter().map(|attribute| attribute.categories().len()).collect();
    let tables: Vec<Vec<usize>> =
        layouts.iter().filter(|layout| simple(layout)).map(|l| l.attributes.clone()).collect();
    let mut counted = count_categories(&sizes, &codes, &tables).into_iter();
    let count = |layout: &CountLayout| {
        let mut tally = TableTally::new(layout.clone());
        let mut insert = |counts: Vec<u64>, total: f64| {
            let counts = counts.into_iter().map(|count| count as f64).collect();
            tally.groups.insert(Vec::new(), Group { total, squares: total, counts, square_counts: Vec::new() });
        };
        if simple(layout) {
            let counts = counted.next().unwrap_or_default();
            let total: u64 = counts.iter().sum();
            insert(counts, total as f64);
        } else if let Some(sets) = sets(layout) {
            insert(count_inclusions(layout.dims()[0], sets), sets.len() as f64);
        } else {
            tally.add(plan, columns, rows_are, |_| true);
        }
        tally
    };
    layouts.iter().map(count).collect()
}
