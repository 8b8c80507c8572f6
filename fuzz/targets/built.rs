//! Small plans and tallies built from bytes: every kind of channel, lottery and count.

use candor_analysis::estimate::{Interval, Method, Options, Target, analyse, test_independence};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, CountLayout, Rows, TableCounts};
use candor_base::channel::{Axis, Bitmap, Channel, Matrix, Part, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Content, Plan};
use candor_base::schema::Schema;
use candor_bulk::{Sets, UNANSWERED};

/// Bytes as choices; zeros when there are no more.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// Small mostly, now and then anything.
    fn integer(&mut self) -> u64 {
        match self.below(4) {
            0 => u64::from_le_bytes(std::array::from_fn(|_| self.byte())),
            _ => u64::from(self.byte()),
        }
    }

    fn subset(&mut self, n: usize) -> Vec<usize> {
        let bits = self.byte();
        (0..n).filter(|i| bits >> i & 1 == 1).collect()
    }
}

/// A plan of up to three attributes and responses to it, all from bytes: whatever they are, nothing panics, and no
/// estimate is infinite or not a number.
pub fn estimate(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(plan) = plan(&mut bytes) else { return };
    assert_eq!(Plan::from_json(&plan.to_json()), Ok(plan.clone()));
    super::answer(&plan);
    let rows = 1 + bytes.below(8);
    let columns: Vec<Column> = plan.columns().iter().map(|column| Column::of(&plan, &column.content)).collect();
    let responses: Vec<Vec<Vec<u16>>> = (0..rows)
        .map(|_| {
            // Tags come last, but decide how large sets are.
            let tags: Vec<usize> = plan.blocks().iter().map(|block| bytes.below(block.channels().len())).collect();
            columns.iter().map(|column| column.value(&tags, &mut bytes)).collect()
        })
        .collect();
    let numbers: Vec<f64> = match bytes.below(3) {
        0 => vec![1.0; rows],
        1 => (0..rows).map(|_| (bytes.integer() >> 11) as f64).collect(),
        // The weights that responses can have.
        _ => (0..rows).map(|_| 10f64.powi(bytes.below(31) as i32 - 15)).collect(),
    };
    let weighted = bytes.below(2) == 1 || numbers.iter().any(|n| n.fract() != 0.0 || *n > 2f64.powi(53));
    let sets: Vec<Sets> =
        (0..columns.len()).map(|at| responses.iter().map(|response| response[at].clone()).collect()).collect();
    let ones: Vec<Vec<u16>> = (0..columns.len())
        .map(|at| responses.iter().map(|response| response[at].first().copied().unwrap_or(UNANSWERED)).collect())
        .collect();
    let is_set = |column: &Column| matches!(column, Column::Answer { set: true, .. } | Column::Cells { .. });
    let codes: Vec<Codes<'_>> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| if is_set(column) { Codes::Set(&sets[at]) } else { Codes::One(&ones[at]) })
        .collect();
    let rows_are = if weighted { Rows::Weighted(&numbers) } else { Rows::Counted(&numbers) };
    for tables in ["marginals", "pairs", "joint"] {
        let Ok(tables) = TableList::parse(tables, plan.schema()) else { continue };
        for table in tables.lists() {
            let mut tally = TableCounts::new(CountLayout::new(&plan, table)).keeping_sets(&plan);
            tally.add(&plan, &codes, rows_are, |_| true);
            analyse_all(&plan, &tally);
        }
    }
}

/// Estimates a table by every method; no number may be infinite or none.
pub fn analyse_all(plan: &Plan, tally: &TableCounts) {
    use Method::{Clipped, Iterative, PlugIn, Projected, Unbiased};
    let small = tally.layout().dims().iter().product::<usize>() <= 8;
    for method in [Unbiased, PlugIn, Projected, Clipped, Iterative] {
        for target in [Target::Population, Target::Table] {
            for interval in [Interval::Wald, Interval::Simultaneous, Interval::Bootstrap] {
                // Both are slow, and the same for either target.
                let slow = method == Iterative || interval == Interval::Bootstrap;
                let again = method == Iterative && interval != Interval::Wald;
                if slow && (!small || again || target == Target::Table) {
                    continue;
                }
                let analysis = analyse(
                    plan,
                    tally,
                    &Options::default().method(method).target(target).interval(interval).confidence(0.95),
                );
                for cell in analysis.cells.iter().flatten() {
                    let uncertainty = cell.uncertainty.map_or(vec![], |u| vec![u.standard_error, u.low, u.high]);
                    let numbers = uncertainty.into_iter().chain([cell.estimate]);
                    assert!({ numbers }.all(f64::is_finite), "{method:?} {target:?} {interval:?}: {analysis:?}");
                }
            }
        }
    }
    if tally.layout().attributes.len() == 2
        && let Ok(found) = test_independence(plan, tally, 0.95)
    {
        let tests = [Some(found.corrected), found.naive].into_iter().flatten();
        let numbers = tests.flat_map(|test| [test.statistic, test.p_value]);
        assert!({ numbers }.all(f64::is_finite), "{found:?}");
    }
}

/// What can stand in a column of responses.
enum Column {
    Public {
        categories: usize,
    },
    Answer {
        block: usize,
        labels: usize,
        set: bool,
        sizes: Vec<usize>,
    },
    Tag {
        block: usize,
    },
    /// By channel the number of cells of an answer, and of the table.
    Cells {
        block: usize,
        sizes: Vec<(usize, usize)>,
    },
}

impl Column {
    fn of(plan: &Plan, content: &Content) -> Column {
        match content {
            Content::Public { attribute } => Column::Public { categories: plan.schema().size(*attribute) },
            Content::Tag { block } => Column::Tag { block: *block },
            Content::Answer { block, place, labels, set } => {
                let size = |channel: &Channel| match channel {
                    Channel::Pattern(pattern) => pattern.axes()[*place].answer,
                    Channel::Matrix(_) => 1,
                    Channel::Strip(_) => 0,
                };
                let sizes = plan.blocks()[*block].channels().iter().map(|(_, channel)| size(channel)).collect();
                Column::Answer { block: *block, labels: labels.len(), set: *set, sizes }
            }
            Content::Cells { block } => {
                let size = |(_, channel): &(u64, Channel)| match channel {
                    Channel::Strip(strip) => (strip.members().len(), strip.table().cells()),
                    _ => (0, 1),
                };
                Column::Cells { block: *block, sizes: plan.blocks()[*block].channels().iter().map(size).collect() }
            }
        }
    }

    fn value(&self, tags: &[usize], bytes: &mut Bytes<'_>) -> Vec<u16> {
        match self {
            Column::Public { categories } => vec![bytes.below(*categories) as u16],
            Column::Tag { block } => vec![tags[*block] as u16],
            Column::Answer { block, labels, sizes, .. } => some(sizes[tags[*block]], *labels, bytes),
            Column::Cells { block, sizes } => some(sizes[tags[*block]].0, sizes[tags[*block]].1, bytes),
        }
    }
}

/// So many of all, in increasing order.
fn some(size: usize, all: usize, bytes: &mut Bytes<'_>) -> Vec<u16> {
    let first = bytes.below(all);
    let mut set: Vec<u16> = (0..size).map(|i| ((first + i) % all) as u16).collect();
    set.sort_unstable();
    set
}

fn strip(sizes: &[usize], bytes: &mut Bytes<'_>) -> Option<Strip> {
    let places = bytes.subset(sizes.len());
    let own: Vec<usize> = places.iter().map(|&place| sizes[place]).collect();
    let cells = 1 + bytes.below(own.iter().product::<usize>().max(2) - 1);
    Strip::new(places, own, cells, [1 + (bytes.integer() >> 8), 1 + (bytes.integer() >> 8)]).ok()
}

fn plan(bytes: &mut Bytes<'_>) -> Option<Plan> {
    let sizes: Vec<usize> = (0..1 + bytes.below(3)).map(|_| 2 + bytes.below(4)).collect();
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < sizes.len() {
        let end = start + 1 + bytes.below(sizes.len() - start);
        let (inside, kind) = (&sizes[start..end], bytes.below(3));
        let outputs = 2 + bytes.below(5);
        let channels = (0..1 + bytes.below(3)).map(|_| {
            let channel = match kind {
                0 => matrix(inside, outputs, bytes)?.into(),
                2 if bytes.below(2) == 1 => strip(inside, bytes)?.into(),
                _ => pattern(inside, bytes)?.into(),
            };
            Some((1 + (bytes.integer() >> 8), channel))
        });
        blocks.push(Block::lottery((start..end).collect(), channels.collect::<Option<Vec<(u64, Channel)>>>()?));
        start = end;
    }
    Plan::new(Schema::with_sizes(&sizes).ok()?, blocks).ok()
}

fn pattern(sizes: &[usize], bytes: &mut Bytes<'_>) -> Option<Pattern> {
    let sets = bytes.below(2) == 1;
    let axes = sizes.iter().map(|&a| Axis::set(a, if sets { 1 + bytes.below(a) } else { 1 })).collect();
    let n = sizes.len();
    let part = |bytes: &mut Bytes<'_>| {
        let set = match bytes.below(5) {
            0 => PatternSet::All,
            1 => PatternSet::Only(bytes.subset(n)),
            2 => PatternSet::Hits(bytes.subset(n)),
            3 => PatternSet::Threshold { weights: (0..n).map(|_| bytes.integer()).collect(), limit: bytes.integer() },
            _ => {
                let listed = bytes.byte();
                PatternSet::Bitmap(Bitmap::new(n, |pattern| listed >> pattern & 1 == 1))
            }
        };
        Part { set, weight: bytes.integer() }
    };
    let parts = (0..1 + bytes.below(3)).map(|_| part(bytes)).collect();
    let pattern = Pattern::new(axes, parts).ok()?;
    Some(match bytes.below(4) {
        0 => pattern.resampled((0..n).map(|_| bytes.integer()).collect()),
        _ => pattern,
    })
}

fn matrix(sizes: &[usize], outputs: usize, bytes: &mut Bytes<'_>) -> Option<Matrix> {
    const BITS: u32 = 8;
    let column = |bytes: &mut Bytes<'_>| {
        let mut left = 1u64 << BITS;
        let mut column: Vec<u64> = (1..outputs)
            .map(|_| {
                let entry = u64::from(bytes.byte()).min(left);
                left -= entry;
                entry
            })
            .collect();
        column.push(left);
        column
    };
    let columns = (0..sizes.iter().product()).map(|_| column(bytes)).collect();
    let labels = (0..outputs).map(|z| format!("o{z}")).collect();
    Matrix::new(sizes.to_vec(), labels, BITS, columns).ok()
}
