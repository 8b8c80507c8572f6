//! Tests of estimates from subset channels, compared with the explicit law of all answers.

use std::collections::BTreeMap;

use candor_analysis::estimate::{Estimate, EstimateError, TableEstimator, Target, test_independence};
use candor_analysis::tally::{ChannelCounts, Codes, CountLayout, OTHER_CHANNEL, Rows, TableCounts, count_tables};
use candor_base::channel::{Axis, Cells, Channel, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Content, Plan};
use candor_base::schema::{Attribute, Schema};
use candor_bulk::{AnswerColumn, UNANSWERED};

/// An answer of a block: its channel ID, a set of categories for each attribute (unless a subset), and the
/// reported cells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Given {
    tag: u16,
    answers: Vec<Vec<u16>>,
    cells: Vec<u16>,
}

/// Returns all permutations of `0..n`.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    match n {
        0 => vec![vec![]],
        _ => permutations(n - 1)
            .into_iter()
            .flat_map(|shorter| {
                (0..n).map(move |at| {
                    let mut longer = shorter.clone();
                    longer.insert(at, n - 1);
                    longer
                })
            })
            .collect(),
    }
}

/// Returns the sets of cells that a subset channel may report.
fn orbit(strip: &Strip) -> Vec<Vec<u16>> {
    let table = strip.table();
    let mut sets = vec![strip.members().iter().map(|&cell| usize::from(cell)).collect::<Vec<_>>()];
    for (axis, &size) in table.sizes().iter().enumerate() {
        let relabelled = |set: &Vec<usize>, names: &Vec<usize>| -> Vec<usize> {
            let moved = |&cell: &usize| {
                let code = table.code(cell, axis);
                cell - code * table.stride(axis) + names[code] * table.stride(axis)
            };
            let mut moved: Vec<usize> = set.iter().map(moved).collect();
            moved.sort_unstable();
            moved
        };
        sets = permutations(size).iter().flat_map(|names| sets.iter().map(move |set| relabelled(set, names))).collect();
        sets.sort();
        sets.dedup();
    }
    sets.into_iter().map(|set| set.into_iter().map(|cell| cell as u16).collect()).collect()
}

/// Returns the probability of every answer of a channel, given the true categories of the block's attributes.
fn law(channel: &Channel, tag: u16, truth: &[usize]) -> Vec<(Given, f64)> {
    match channel {
        Channel::Strip(strip) => {
            let own: Vec<usize> = strip.places().iter().map(|&place| truth[place]).collect();
            let truth = strip.table().cell(&own) as u16;
            let sets = orbit(strip);
            let whole = sets.len() as f64 * (1.0 + strip.excess_ratio() * strip.subset_fraction());
            let one = |cells: Vec<u16>| {
                let p = if cells.contains(&truth) { 1.0 + strip.excess_ratio() } else { 1.0 } / whole;
                (Given { tag, answers: Vec::new(), cells }, p)
            };
            sets.into_iter().map(one).collect()
        }
        Channel::Pattern(pattern) => {
            let masses = pattern.marginal(&(0..truth.len()).collect::<Vec<_>>());
            let subsets = |axis: &Axis| -> Vec<Vec<u16>> {
                let all = 0u32..1 << axis.categories;
                let sets = all.filter(|set| set.count_ones() as usize == axis.answer);
                sets.map(|set| (0..axis.categories as u16).filter(|i| set >> i & 1 == 1).collect()).collect()
            };
            let answers = pattern.axes().iter().fold(vec![vec![]], |answers: Vec<Vec<Vec<u16>>>, axis| {
                answers
                    .iter()
                    .flat_map(|before| subsets(axis).into_iter().map(move |set| [&before[..], &[set]].concat()))
                    .collect()
            });
            let missing = |answers: &Vec<Vec<u16>>| {
                (0..truth.len())
                    .filter(|&i| !answers[i].contains(&(truth[i] as u16)))
                    .fold(0, |set, i| set | 1usize << i)
            };
            let mut number = vec![0.0; 1 << truth.len()];
            answers.iter().for_each(|answer| number[missing(answer)] += 1.0);
            let p = |answers: &Vec<Vec<u16>>| masses.probabilities()[missing(answers)] / number[missing(answers)];
            answers
                .into_iter()
                .map(|answers| (Given { tag, cells: Vec::new(), answers: answers.clone() }, p(&answers)))
                .collect()
        }
        Channel::Matrix(_) => unreachable!("no matrices here"),
    }
}

/// Columns of responses, one row for each combination of answers of the blocks and public attributes.
struct Written {
    rows: Vec<(Vec<usize>, Vec<Given>)>,
    plan: Plan,
}

impl Written {
    fn columns(&self) -> Vec<AnswerColumn> {
        let set = |content: &Content, (public, given): &(Vec<usize>, Vec<Given>)| -> Vec<u16> {
            match *content {
                Content::Public { attribute } => vec![public[attribute] as u16],
                Content::Tag { block } => vec![given[block].tag],
                Content::Cells { block } => given[block].cells.clone(),
                Content::Answer { block, place, .. } => given[block].answers.get(place).cloned().unwrap_or_default(),
            }
        };
        let column = |content: &Content| {
            let sets = self.rows.iter().map(|row| set(content, row));
            match content {
                Content::Answer { set: true, .. } | Content::Cells { .. } => AnswerColumn::Set(sets.collect()),
                _ => AnswerColumn::One(sets.map(|set| set.first().copied().unwrap_or(UNANSWERED)).collect()),
            }
        };
        self.plan.columns().iter().map(|column_of| column(&column_of.content)).collect()
    }
}

fn codes(columns: &[AnswerColumn]) -> Vec<Codes<'_>> {
    columns.iter().map(Codes::from).collect()
}

/// Returns all possible answers with their probabilities, given the distribution of true records, by channel IDs.
fn written_out(plan: &Plan, truth: &[f64]) -> (Written, Vec<f64>) {
    let everything: Vec<usize> = (0..plan.schema().attributes().len()).collect();
    let shape = plan.schema().shape(&everything);
    let mut found: BTreeMap<(Vec<usize>, Vec<Given>), f64> = BTreeMap::new();
    for (cell, share) in truth.iter().enumerate() {
        let record = shape.codes(cell);
        let public: Vec<usize> =
            (0..record.len()).map(|a| if plan.schema().attributes()[a].is_public() { record[a] } else { 0 }).collect();
        let mut rows: Vec<(Vec<Given>, f64)> = vec![(Vec::new(), *share)];
        for block in plan.blocks() {
            let own: Vec<usize> = block.attributes().iter().map(|&a| record[a]).collect();
            let total: f64 = block.channels().iter().map(|(weight, _)| *weight as f64).sum();
            let answers: Vec<(Given, f64)> = block
                .channels()
                .iter()
                .enumerate()
                .flat_map(|(tag, (weight, channel))| {
                    let share = *weight as f64 / total;
                    law(channel, tag as u16, &own).into_iter().map(move |(given, p)| (given, share * p))
                })
                .collect();
            rows = rows
                .iter()
                .flat_map(|(before, p)| {
                    answers.iter().map(move |(given, q)| ([&before[..], std::slice::from_ref(given)].concat(), p * q))
                })
                .collect();
        }
        for (given, p) in rows {
            *found.entry((public.clone(), given)).or_insert(0.0) += p;
        }
    }
    let (rows, p): (Vec<_>, Vec<f64>) = found.into_iter().unzip();
    (Written { rows, plan: plan.clone() }, p)
}

fn tally(plan: &Plan, table: &[usize], codes: &[Codes<'_>], counts: &[f64]) -> TableCounts {
    let mut tally = TableCounts::new(CountLayout::new(plan, table));
    tally.add(plan, codes, Rows::Counted(counts), |_| true);
    tally
}

const RESPONDENTS: f64 = 1000.0;

/// Returns the variance of a function of the estimate, from the contributions of single responses.
///
/// The estimate is linear in the counts of a group, so contributions follow from counts in which the entire group
/// gave the same answer.
fn variance(written: &Written, p: &[f64], table: &[usize], of: &dyn Fn(&Estimate) -> Vec<f64>) -> Vec<f64> {
    let (plan, columns) = (&written.plan, written.columns());
    let codes = codes(&columns);
    let expected: Vec<f64> = p.iter().map(|p| RESPONDENTS * p).collect();
    let estimator = TableEstimator::new(plan, table).unwrap();
    let estimate =
        |counts: &[f64]| of(&estimator.estimate(&tally(plan, table, &codes, counts), Target::Population).unwrap());
    let whole = estimate(&expected);
    let mut groups: BTreeMap<Vec<u16>, Vec<usize>> = BTreeMap::new();
    for (row, (_, given)) in written.rows.iter().enumerate() {
        groups.entry(given.iter().map(|given| given.tag).collect()).or_default().push(row);
    }
    let mut variance = vec![0.0; whole.len()];
    for rows in groups.values() {
        let n: f64 = rows.iter().map(|&row| expected[row]).sum();
        let (mut mean, mut square) = (vec![0.0; whole.len()], vec![0.0; whole.len()]);
        for &row in rows {
            let mut counts = expected.clone();
            rows.iter().for_each(|&other| counts[other] = 0.0);
            counts[row] = n;
            for (at, (value, base)) in estimate(&counts).into_iter().zip(&whole).enumerate() {
                mean[at] += expected[row] / n * (value - base);
                square[at] += expected[row] / n * (value - base).powi(2);
            }
        }
        variance.iter_mut().enumerate().for_each(|(at, sum)| *sum += (square[at] - mean[at] * mean[at]) / n);
    }
    variance
}

fn skewed(cells: usize) -> Vec<f64> {
    let weights: Vec<f64> =
        (0..cells).map(|cell| 1.0 + (cell * 7 % 5) as f64 + if cell == 1 { 6.0 } else { 0.0 }).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn strip(places: &[usize], sizes: &[usize], cells: impl Into<Cells>, epsilon: f64) -> Channel {
    let own = places.iter().map(|&place| sizes[place]).collect();
    Strip::within(places.to_vec(), own, cells, epsilon).unwrap().into()
}

/// Returns plans with subset channels over one, two and three attributes, with and without patterns.
///
/// They include a block with subset channels only, a second block with a single one, and a public attribute.
fn plans() -> Vec<Plan> {
    let sizes = [2, 3, 3];
    let axes = || sizes.map(Axis::single).to_vec();
    let hits = |hits: Vec<usize>| Channel::from(Pattern::two_level(axes(), PatternSet::Hits(hits), 1.5).unwrap());
    let sets = Pattern::k_ary(vec![Axis::single(2), Axis::set(3, 2), Axis::single(3)], 1.5).unwrap();
    let first = PatternSet::Hits(vec![0]);
    let mixed = vec![
        (3, strip(&[0, 1], &sizes, 2, 1.0)),
        (1, hits(vec![0, 2])),
        (2, strip(&[1, 2], &sizes, 3, 1.5)),
        (2, strip(&[0, 1, 2], &sizes, 5, 1.5)),
        (1, strip(&[2], &sizes, 1, 1.0)),
        (2, strip(&[0, 1, 2], &sizes, Cells::Box(vec![1, 2, 1]), 1.5)),
        (1, hits(vec![0, 1, 2])),
        (1, sets.into()),
        (1, Pattern::two_level(vec![Axis::single(2), Axis::set(3, 2), Axis::single(3)], first, 1.5).unwrap().into()),
    ];
    let schema = Schema::with_sizes(&sizes).unwrap();
    let mixed = Plan::new(schema.clone(), vec![Block::lottery(vec![0, 1, 2], mixed)]).unwrap();
    let only = vec![
        (3, strip(&[0, 1], &sizes, 3, 1.0)),
        (2, strip(&[0, 2], &sizes, 2, 2.0)),
        (2, strip(&[1, 2], &sizes, 2, 1.0)),
        (3, strip(&[1, 2], &sizes, Cells::Box(vec![2, 1]), 1.0)),
    ];
    let only = Plan::new(schema, vec![Block::lottery(vec![0, 1, 2], only)]).unwrap();
    let labels = |n: usize| (0..n).map(|label| label.to_string()).collect::<Vec<_>>();
    let attribute = |name: &str, n: usize| Attribute::new(name, labels(n)).unwrap();
    let schema =
        Schema::new(vec![attribute("a", 3), attribute("b", 2), attribute("c", 2).public(), attribute("d", 3)]).unwrap();
    let first =
        Block::lottery(vec![1, 0], vec![(1, strip(&[0, 1], &[2, 3], 3, 1.0)), (1, strip(&[1], &[2, 3], 1, 2.0))]);
    let second = Block::new(vec![3], strip(&[0], &[3], 1, 1.0));
    let several = Plan::new(schema, vec![first, second]).unwrap();
    vec![mixed, only, several]
}

fn tables(plan: &Plan) -> Vec<Vec<usize>> {
    let n = plan.schema().attributes().len();
    let mut tables: Vec<Vec<usize>> =
        (1usize..1 << n).map(|set| (0..n).filter(|i| set >> i & 1 == 1).collect()).collect();
    tables.push(vec![2, 0]);
    tables.push(vec![1, 0]);
    tables
}

#[test]
fn estimates_are_unbiased_and_their_standard_errors_exact() {
    for (number, plan) in plans().iter().enumerate() {
        let all: Vec<usize> = (0..plan.schema().attributes().len()).collect();
        let shape = plan.schema().shape(&all);
        let truth = skewed(shape.cells());
        let (written, p) = written_out(plan, &truth);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let columns = written.columns();
        let codes = codes(&columns);
        let counts: Vec<f64> = p.iter().map(|p| RESPONDENTS * p).collect();
        for table in tables(plan) {
            let estimator = TableEstimator::new(plan, &table).unwrap();
            let found = estimator.estimate(&tally(plan, &table, &codes, &counts), Target::Population);
            let found = match found {
                Err(EstimateError::NotIdentifiable(names)) => {
                    assert!((number, names.len()) == (1, 3), "{table:?}: {names:?}");
                    continue;
                }
                found => found.unwrap(),
            };
            let mut expected = vec![0.0; found.shares.len()];
            truth.iter().enumerate().for_each(|(cell, share)| expected[shape.project_cell(cell, &table)] += share);
            for (cell, (share, expected)) in found.shares.iter().zip(&expected).enumerate() {
                assert!((share - expected).abs() < 1e-9, "{number} {table:?} cell {cell}: {share} for {expected}");
            }
            if written.rows.len() > 3_000 && table.len() > 2 {
                continue;
            }
            let variances = variance(&written, &p, &table, &|estimate| estimate.shares.clone());
            for (cell, (error, variance)) in found.standard_errors.iter().zip(&variances).enumerate() {
                let expected = variance.sqrt();
                assert!((error - expected).abs() < 1e-9, "{number} {table:?} cell {cell}: {error} for {expected}");
            }
        }
    }
}

#[test]
fn sums_of_shares_have_the_right_standard_error() {
    for plan in &plans()[..2] {
        let shape = plan.schema().shape(&[0, 1, 2]);
        let (written, p) = written_out(plan, &skewed(shape.cells()));
        let columns = written.columns();
        let codes = codes(&columns);
        let counts: Vec<f64> = p.iter().map(|p| RESPONDENTS * p).collect();
        for table in [vec![0, 1], vec![2, 1], vec![0], vec![1]] {
            let cells = plan.schema().shape(&table).cells();
            let coefficients: Vec<f64> = (0..cells).map(|cell| ((cell * cell + 1) % 4) as f64).collect();
            let sum =
                |estimate: &Estimate| vec![estimate.shares.iter().zip(&coefficients).map(|(s, c)| s * c).sum::<f64>()];
            let expected = variance(&written, &p, &table, &sum)[0].sqrt();
            let tally = tally(plan, &table, &codes, &counts);
            let found =
                TableEstimator::new(plan, &table).unwrap().linear(&tally, &coefficients, Target::Population).unwrap();
            let error = found.standard_error.unwrap();
            assert!((error - expected).abs() < 1e-9, "{table:?}: {error} for {expected}");
            if table.len() == 2 {
                let test = test_independence(plan, &tally, 0.95).unwrap();
                assert!(test.corrected.statistic.is_finite() && test.naive.is_none());
            }
        }
    }
}

#[test]
fn counting_many_tables_at_once_is_counting_each() {
    for plan in &plans() {
        let all: Vec<usize> = (0..plan.schema().attributes().len()).collect();
        let (written, _) = written_out(plan, &skewed(plan.schema().shape(&all).cells()));
        let columns = written.columns();
        let codes = codes(&columns);
        let weights: Vec<f64> = (0..written.rows.len()).map(|row| (row % 7) as f64 * 0.5).collect();
        let layouts: Vec<CountLayout> = tables(plan).iter().map(|table| CountLayout::new(plan, table)).collect();
        for rows in [Rows::Single, Rows::Weighted(&weights)] {
            for (layout, counted) in layouts.iter().zip(count_tables(plan, &codes, rows, &layouts)) {
                let mut alone = TableCounts::new(layout.clone());
                (0..written.rows.len()).for_each(|row| alone.add(plan, &codes, rows, |at| at == row));
                assert_eq!(counted.groups().len(), alone.groups().len());
                for (key, group) in counted.groups() {
                    let other = &alone.groups()[key];
                    assert!((group.total - other.total).abs() < 1e-9 && (group.squares - other.squares).abs() < 1e-9);
                    let close =
                        |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
                    assert!(close(&group.counts, &other.counts), "{key:?}");
                    assert!(close(&group.square_counts, &other.square_counts), "{key:?}");
                }
            }
        }
    }
}

/// Channels that ask elsewhere form one group. Counts that list them separately, as an earlier version wrote them,
/// are equivalent.
#[test]
fn channels_that_ask_elsewhere_are_one_group() {
    let plan = &plans()[0];
    let (written, p) = written_out(plan, &skewed(18));
    let columns = written.columns();
    let table = tally(plan, &[1], &codes(&columns), &p);
    let mut groups = table.groups().clone();
    assert!(!groups.contains_key(&vec![1]) && !groups.contains_key(&vec![8]), "these ask about the others");
    for tag in [1u16, 8] {
        let mut counts = vec![0.0; 3];
        let mut total = 0.0;
        for ((_, given), p) in written.rows.iter().zip(&p).filter(|((_, given), _)| given[0].tag == tag) {
            total += p;
            given[0].answers[1].iter().for_each(|&code| counts[usize::from(code)] += p);
        }
        let together = groups.get_mut(&vec![OTHER_CHANNEL]).unwrap();
        together.total -= total;
        together.squares -= total;
        together.counts[0] -= total;
        let before = ChannelCounts { total, squares: total, counts, square_counts: Vec::new() };
        groups.insert(vec![tag], before);
    }
    let again = TableCounts::from_groups(plan, table.layout().clone(), groups);
    assert_eq!(again.groups().len(), table.groups().len());
    for (key, group) in table.groups() {
        let other = &again.groups()[key];
        assert!((group.total - other.total).abs() < 1e-9, "{key:?}");
        assert!(group.counts.iter().zip(&other.counts).all(|(a, b)| (a - b).abs() < 1e-9), "{key:?}");
    }
}

/// Result of a database query for a table, as counts of rows.
///
/// They are the numbers of responses by channel IDs, and of answers that contain each combination of categories
/// or cells.
type Rowwise = BTreeMap<Vec<Option<u16>>, f64>;

fn counted_elsewhere(
    plan: &Plan,
    layout: &CountLayout,
    columns: &[AnswerColumn],
    counts: &[f64],
) -> (Rowwise, Rowwise) {
    let needed = layout.columns(plan);
    let (mut tagged, mut held) = (Rowwise::new(), Rowwise::new());
    for (row, &count) in counts.iter().enumerate() {
        let one = |at: usize| match &columns[at] {
            AnswerColumn::One(codes) => codes[row],
            AnswerColumn::Set(_) => unreachable!("a set"),
        };
        let drawn = |block: usize| {
            let tag = plan.columns().iter().position(|column| column.content == Content::Tag { block });
            tag.map_or(0, one)
        };
        let mut rows: Vec<Vec<Option<u16>>> = vec![vec![]];
        for (at, column) in plan.columns().iter().enumerate() {
            let told: Vec<Option<u16>> = match (&column.content, &columns[at]) {
                _ if !needed.contains(&at) => vec![None],
                (Content::Cells { block }, _) if !layout.asks(plan, *block, drawn(*block)) => vec![None],
                (_, AnswerColumn::Set(sets)) if sets.get(row).is_empty() => vec![None],
                (_, AnswerColumn::Set(sets)) => sets.get(row).iter().map(|&code| Some(code)).collect(),
                (_, AnswerColumn::One(codes)) => vec![Some(codes[row])],
            };
            rows = rows.iter().flat_map(|row| told.iter().map(move |&told| [&row[..], &[told]].concat())).collect();
        }
        rows.into_iter().for_each(|row| *held.entry(row).or_insert(0.0) += count);
        let tag = |(at, column): (usize, &candor_base::plan::ResponseColumn)| match column.content {
            Content::Tag { block } if layout.tagged.contains(&block) => Some(one(at)),
            _ => None,
        };
        *tagged.entry(plan.columns().iter().enumerate().map(tag).collect()).or_insert(0.0) += count;
    }
    (tagged, held)
}

/// Returns the columns of such rows.
fn columns_of(plan: &Plan, rows: &Rowwise) -> Vec<AnswerColumn> {
    let column = |at: usize, content: &Content| {
        let told = rows.keys().map(|row| row[at]);
        match content {
            Content::Answer { set: true, .. } | Content::Cells { .. } => {
                AnswerColumn::Set(told.map(|told| told.into_iter().collect::<Vec<u16>>()).collect())
            }
            _ => AnswerColumn::One(told.map(|told| told.unwrap_or(UNANSWERED)).collect()),
        }
    };
    plan.columns().iter().enumerate().map(|(at, described)| column(at, &described.content)).collect()
}

#[test]
fn counts_of_inclusions_are_counts_of_responses() {
    for plan in &plans() {
        let all: Vec<usize> = (0..plan.schema().attributes().len()).collect();
        let (written, _) = written_out(plan, &skewed(plan.schema().shape(&all).cells()));
        let columns = written.columns();
        // Some answers do not occur.
        let counts: Vec<f64> = (0..written.rows.len()).map(|row| (row * 7 % 5) as f64).collect();
        for table in tables(plan) {
            let layout = CountLayout::new(plan, &table);
            let expected = tally(plan, &table, &codes(&columns), &counts);
            assert_eq!(expected.inconsistency(plan), None);
            let (tagged, held) = counted_elsewhere(plan, &layout, &columns, &counts);
            let mut found = TableCounts::new(layout);
            let [responses, inclusions] = [&tagged, &held].map(|rows| rows.values().copied().collect::<Vec<f64>>());
            let [tagged, held] = [&tagged, &held].map(|rows| columns_of(plan, rows));
            found.add(plan, &codes(&tagged), Rows::Tagged(&responses), |_| true);
            found.add(plan, &codes(&held), Rows::Inclusions(&inclusions), |_| true);
            assert_eq!(found, expected, "{table:?}");
            // If one kind of rows is counted twice, they are inconsistent.
            found.add(plan, &codes(&tagged), Rows::Tagged(&responses), |_| true);
            assert!(found.inconsistency(plan).is_some(), "{table:?}");
        }
    }
}
