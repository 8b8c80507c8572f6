//! Counts responses for tables, by channel IDs and cells.
//!
//! Counts of parts of the data can be added, so that files, cores and machines count independently.

mod cover;
mod inclusion;
mod layout;
mod sources;
mod runs;
mod sampling_error;
mod replicates;
mod sampling_design;
mod slice;

pub use cover::{RecordCounts, count_categories};
pub use inclusion::count_inclusions;
pub use layout::{CountAxis, CountLayout, OTHER_CHANNEL, StripMargin};
pub use replicates::{About, ReplicateMethod, ReplicateWeights, Replicates, Replication};
pub(crate) use sampling_design::{Calibration, UnitGroup};
pub use sampling_design::{LonelyPsu, PsuCounts, SampledUnits, Stratum, UnitCounts, VarianceMethod, count_units};
pub use sampling_error::SamplingError;

use std::collections::{BTreeMap, HashMap};

use candor_base::plan::{Content, Plan};
use candor_bulk::{AnswerColumn, Responses, Sets};

use candor_base::shape::Shape;
use runs::{Runs, Support, responses, weight};
use sources::{Places, Sources, steps};

/// Counts of the responses with the same channel IDs.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelCounts {
    /// Number of responses, or sum of their weights.
    pub total: f64,
    /// Sum of squared weights; without weights, the number of responses.
    pub squares: f64,
    /// Number of responses, or sum of weights, in each cell.
    ///
    /// For subset channels, only the axes that they ask about are distinguished. The count is then the sum over the
    /// cells of their own table that belong to the cell.
    pub counts: Vec<f64>,
    /// Sum of squared weights in each cell; empty without weights.
    pub square_counts: Vec<f64>,
}

/// Counts of one table, by channel IDs.
#[derive(Clone, Debug, PartialEq)]
pub struct TableCounts {
    layout: CountLayout,
    groups: BTreeMap<Vec<u16>, ChannelCounts>,
    /// Distinct sets by channel IDs, if kept.
    sets: Option<BTreeMap<Vec<u16>, SetCounts>>,
    drawn: Option<Box<VarianceMethod>>,
}

/// Relative tolerance for equal sums of counts, which are rounded beyond 2^53.
const ROUNDING: f64 = 1e-12;

/// Inconsistency between the counts of cells and the number of responses.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum InconsistentCounts {
    /// Every response must count in as many cells as its channels report.
    #[error("the cells sum to {found}, but the counted responses fill {expected}")]
    Sum {
        /// Sum of the counts.
        found: f64,
        /// Expected sum.
        expected: f64,
    },
    /// A response cannot count more often in a cell than its answer contains it.
    #[error("a cell counts {found}, but the counted responses can fill it at most {most} times")]
    Cell {
        /// Count of the cell.
        found: f64,
        /// Largest possible count.
        most: f64,
    },
}

/// Number of responses, or sum of weights, for each reported set of categories.
pub type SetCounts = HashMap<Box<[u16]>, f64>;

/// Meaning of the rows of responses.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// One response.
    Single,
    /// This number of identical responses, counted elsewhere.
    Counted(&'a [f64]),
    /// One response with a sampling weight.
    Weighted(&'a [f64]),
    /// This number of responses with known channel IDs only; their content comes as [`Rows::Inclusions`].
    Tagged(&'a [f64]),
    /// A combination of categories and cells that is contained in this number of answers with these channel IDs.
    ///
    /// At most one element of each set is given. Inclusions do not add to the number of responses, which comes as
    /// [`Rows::Tagged`].
    Inclusions(&'a [f64]),
}

impl Rows<'_> {
    /// Returns the number of rows in these columns, some of which may be empty.
    fn number(&self, columns: &[Codes<'_>]) -> usize {
        match self {
            Rows::Single => columns.iter().map(Codes::len).max().unwrap_or(0),
            Rows::Counted(rows) | Rows::Weighted(rows) | Rows::Tagged(rows) | Rows::Inclusions(rows) => rows.len(),
        }
    }
}

/// A column of responses as codes, borrowed from an [`AnswerColumn`].
#[derive(Clone, Copy, Debug)]
pub enum Codes<'a> {
    /// One category, channel ID or output in each row.
    One(&'a [u16]),
    /// A set of categories in each row.
    Set(&'a Sets),
}

impl<'a> From<&'a AnswerColumn> for Codes<'a> {
    fn from(column: &'a AnswerColumn) -> Codes<'a> {
        match column {
            AnswerColumn::One(codes) => Codes::One(codes),
            AnswerColumn::Set(sets) => Codes::Set(sets),
        }
    }
}

impl Codes<'_> {
    fn len(&self) -> usize {
        match self {
            Codes::One(codes) => codes.len(),
            Codes::Set(sets) => sets.len(),
        }
    }

    /// Returns the code of a row, or the first one of its set.
    #[inline]
    fn first(&self, row: usize) -> u16 {
        match self {
            Codes::One(codes) => codes[row],
            Codes::Set(sets) => sets.get(row)[0],
        }
    }
}

/// Returns the columns of responses, in the order of the plan's columns.
pub fn answer_codes<'a>(plan: &Plan, responses: &'a Responses) -> Vec<Codes<'a>> {
    let one = |content: &Content| match *content {
        Content::Public { attribute } => Codes::One(&responses.public[attribute]),
        Content::Tag { block } => Codes::One(&responses.blocks[block].tags),
        Content::Cells { block } => Codes::Set(responses.blocks[block].cells.as_ref().expect("a block with strips")),
        Content::Answer { block, place, .. } => Codes::from(&responses.blocks[block].columns[place]),
    };
    plan.columns().iter().map(|column| one(&column.content)).collect()
}

impl ChannelCounts {
    /// Adds responses whose channels ask about nothing in the table, given their number and sum of squared weights.
    fn add_elsewhere(&mut self, (total, squares): (f64, f64)) {
        self.total += total;
        self.squares += squares;
        self.counts[0] += total;
        self.square_counts.iter_mut().for_each(|sum| *sum += squares);
    }

    /// Adds the cells reported by a subset channel; `steps` maps cells of its table to counts.
    fn add_support(&mut self, steps: &[usize], support: &Support) {
        for (cell, &step) in steps.iter().enumerate() {
            self.counts[step] += support.counts[cell];
            if let (Some(sum), Some(square)) = (self.square_counts.get_mut(step), support.squares.get(cell)) {
                *sum += square;
            }
        }
    }
}

impl TableCounts {
    /// Creates empty counts.
    pub fn new(layout: CountLayout) -> TableCounts {
        TableCounts { layout, groups: BTreeMap::new(), sets: None, drawn: None }
    }

    /// Creates precomputed counts. Groups whose channels [ask elsewhere](CountLayout::key) may be separate.
    ///
    /// # Panics
    /// Panics if a group has another number of cells or channel IDs than the layout.
    pub fn from_groups(plan: &Plan, layout: CountLayout, groups: BTreeMap<Vec<u16>, ChannelCounts>) -> TableCounts {
        let fits = |(key, group): (&Vec<u16>, &ChannelCounts)| layout.cells(plan, key) == Some(group.counts.len());
        assert!(groups.iter().all(fits), "groups of this layout");
        let mut tally = TableCounts::new(layout);
        for (tags, group) in groups.into_iter().filter(|(_, group)| group.total > 0.0) {
            let key = tally.layout.key(plan, &tags);
            let group = if key == tags { group } else { tally.layout.unasked(plan, &tags, &key, group) };
            let layout = tally.layout.clone();
            tally.merge(TableCounts { groups: BTreeMap::from([(key, group)]), ..TableCounts::new(layout) });
        }
        tally
    }

    /// Keeps the distinct reported sets as well.
    ///
    /// The likelihood requires them, because inclusion counts do not determine it. This applies to tables of one
    /// set-valued attribute; others stay as they are.
    #[must_use]
    pub fn keeping_sets(mut self, plan: &Plan) -> TableCounts {
        let set = |at: &usize| matches!(plan.columns()[*at].content, Content::Answer { set: true, .. });
        if self.layout.axes.len() == 1 && self.layout.columns(plan).iter().any(set) {
            self.sets = Some(BTreeMap::new());
        }
        self
    }

    /// Returns the distinct reported sets by channel IDs, if kept.
    pub fn sets(&self) -> Option<&BTreeMap<Vec<u16>, SetCounts>> {
        self.sets.as_ref()
    }

    /// Returns the layout of the counts.
    pub fn layout(&self) -> &CountLayout {
        &self.layout
    }

    /// Returns the counts, by the channel IDs of the tagged blocks.
    pub fn groups(&self) -> &BTreeMap<Vec<u16>, ChannelCounts> {
        &self.groups
    }

    /// Returns the number of responses, or the sum of their weights.
    pub fn total(&self) -> f64 {
        self.groups.values().map(|group| group.total).sum()
    }

    /// Returns the channel IDs of the first group with inconsistent counts, and the inconsistency.
    ///
    /// Only precomputed counts can be inconsistent.
    pub fn inconsistency(&self, plan: &Plan) -> Option<(&[u16], InconsistentCounts)> {
        let above = |a: f64, b: f64| a - b > ROUNDING * a;
        self.groups.iter().find_map(|(key, group)| {
            let (cells, most) = self.layout.cells_of_one(plan, key);
            let (expected, most) = (group.total * cells, group.total * most);
            let found: f64 = group.counts.iter().sum();
            let largest = group.counts.iter().copied().fold(0.0, f64::max);
            let misfit = match () {
                () if above(found, expected) || above(expected, found) => InconsistentCounts::Sum { found, expected },
                () if above(largest, most) => InconsistentCounts::Cell { found: largest, most },
                () => return None,
            };
            Some((&key[..], misfit))
        })
    }

    /// Counts a batch of responses. Only rows for which `take` returns true count.
    ///
    /// There is one column per column of the plan; columns that the table does not need may be empty.
    ///
    /// # Panics
    /// Panics if the columns do not match the plan.
    pub fn add(&mut self, plan: &Plan, columns: &[Codes<'_>], rows_are: Rows<'_>, take: impl Fn(usize) -> bool) {
        let rows = (0..rows_are.number(columns)).filter(|&row| take(row)).map(|row| row as u32);
        self.add_rows(plan, columns, rows_are, &rows.collect::<Vec<u32>>());
    }

    /// Counts these rows of a batch of responses, in time proportional to their number.
    ///
    /// # Panics
    /// Panics if the columns do not match the plan, or have fewer rows.
    pub fn add_rows(&mut self, plan: &Plan, columns: &[Codes<'_>], rows_are: Rows<'_>, rows: &[u32]) {
        let sources = Sources::new(&self.layout, plan, columns);
        self.add_runs(plan, &sources, &mut Runs::new(&sources.tags, rows.iter().copied(), rows_are), rows_are);
    }

    /// Counts responses that are sorted by channel IDs.
    fn add_runs(&mut self, plan: &Plan, sources: &Sources<'_>, runs: &mut Runs, rows_are: Rows<'_>) {
        let (mut hits, mut next): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut elsewhere = None;
        // Inclusions do not determine which categories were reported together.
        self.sets.take_if(|_| matches!(rows_are, Rows::Tagged(_) | Rows::Inclusions(_)));
        for (run, rows) in runs.iter_mut() {
            let key = self.layout.key(plan, &run.tags);
            // Most channels of a large block ask elsewhere.
            if let Some(group) = self.groups.get_mut(&key).filter(|_| elsewhere.as_ref() == Some(&key)) {
                group.add_elsewhere(responses(rows_are, rows));
                continue;
            }
            let frame = self.layout.frame(plan, &key);
            let cells: usize = frame.dims.iter().product();
            let weighted = if matches!(rows_are, Rows::Weighted(_)) { cells } else { 0 };
            let empty = || ChannelCounts {
                total: 0.0,
                squares: 0.0,
                counts: vec![0.0; cells],
                square_counts: vec![0.0; weighted],
            };
            let group = self.groups.entry(key.clone()).or_insert_with(empty);
            let (total, squares) = responses(rows_are, rows);
            if frame.elsewhere {
                group.add_elsewhere((total, squares));
                elsewhere = Some(key);
                continue;
            }
            group.total += total;
            group.squares += squares;
            let places = Places::new(sources, &frame, plan);
            match (&frame.strips[..], places.only_strips()) {
                _ if matches!(rows_are, Rows::Tagged(_)) => continue,
                ([margin], true) => {
                    let steps = steps(margin, &Shape::new(frame.dims.clone()), plan);
                    let Codes::Set(sets) = sources.block_codes(margin.block) else { continue };
                    let support = run.support(margin.block, steps.len(), rows, sets, rows_are);
                    group.add_support(&steps, support);
                    continue;
                }
                _ => {}
            }
            for row in rows.iter().map(|&row| row as usize) {
                let (weight, square) = weight(rows_are, row);
                if let (Some(kept), [(Some(Codes::Set(sets)), _)], []) =
                    (&mut self.sets, &sources.axes[..], &frame.strips[..])
                {
                    *kept.entry(key.clone()).or_default().entry(sets.get(row).into()).or_insert(0.0) += weight;
                }
                places.cells(row, &mut hits, &mut next);
                for &cell in &hits {
                    group.counts[cell] += weight;
                    if let Some(sum) = group.square_counts.get_mut(cell) {
                        *sum += square;
                    }
                }
            }
        }
    }

    /// Adds the counts of other responses.
    ///
    /// # Panics
    /// Panics if their layout is different.
    pub fn merge(&mut self, other: TableCounts) {
        assert_eq!(self.layout, other.layout, "counts of the same table");
        match (&mut self.drawn, other.drawn) {
            (Some(drawn), Some(more)) => drawn.merge(*more),
            (None, more) if self.groups.is_empty() => self.drawn = more,
            _ => {}
        }
        self.sets.take_if(|_| other.sets.is_none());
        if let (Some(kept), Some(sets)) = (&mut self.sets, other.sets) {
            for (key, counts) in sets {
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

/// Counts a batch of responses for several tables.
///
/// Tables with one category per attribute are counted together ([`count_categories`]), one-way tables of sets by
/// their [inclusions](count_inclusions), and others one at a time.
pub fn count_tables(
    plan: &Plan,
    columns: &[Codes<'_>],
    rows_are: Rows<'_>,
    layouts: &[CountLayout],
) -> Vec<TableCounts> {
    let plain = |layout: &CountLayout| {
        let attribute = |axis: &CountAxis| matches!(axis, CountAxis::Attribute { .. });
        matches!(rows_are, Rows::Single)
            && layout.tagged.is_empty()
            && !layout.has_strips()
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
    let tables: Vec<Vec<usize>> =
        layouts.iter().filter(|layout| simple(layout)).map(|l| l.attributes.clone()).collect();
    let mut counted = categories_together(plan, columns, &tables).into_iter();
    let rows = rows_are.number(columns);
    // By the blocks whose channel IDs matter: sorted once for all tables.
    let mut sorted: HashMap<Vec<usize>, Runs> = HashMap::new();
    let mut count = |layout: &CountLayout| {
        let mut tally = TableCounts::new(layout.clone());
        let mut insert = |counts: Vec<u64>, total: f64| {
            let counts = counts.into_iter().map(|count| count as f64).collect();
            tally.groups.insert(Vec::new(), ChannelCounts { total, squares: total, counts, square_counts: Vec::new() });
        };
        if simple(layout) {
            let counts = counted.next().unwrap_or_default();
            let total: u64 = counts.iter().sum();
            insert(counts, total as f64);
        } else if let Some(sets) = sets(layout) {
            insert(count_inclusions(layout.dims()[0], sets), sets.len() as f64);
        } else {
            let sources = Sources::new(layout, plan, columns);
            let runs = sorted
                .entry(layout.tagged.clone())
                .or_insert_with(|| Runs::new(&sources.tags, 0..rows as u32, rows_are));
            tally.add_runs(plan, &sources, runs, rows_are);
        }
        tally
    };
    layouts.iter().map(&mut count).collect()
}

/// Counts the tables whose attributes all have single categories.
fn categories_together(plan: &Plan, columns: &[Codes<'_>], tables: &[Vec<usize>]) -> Vec<Vec<u64>> {
    // Columns by attribute, for the attributes with a column.
    let attributes = plan.schema().attributes();
    let mut codes: Vec<&[u16]> = vec![&[]; attributes.len()];
    for (column, &code) in plan.columns().iter().zip(columns) {
        if let (Ok(attribute), Codes::One(code)) = (plan.schema().position(&column.name), code) {
            codes[attribute] = code;
        }
    }
    let sizes: Vec<usize> = attributes.iter().map(|attribute| attribute.categories().len()).collect();
    count_categories(&sizes, &codes, tables)
}
