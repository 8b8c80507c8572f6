//! Simulated surveys: answers under a plan, and the errors of count queries on them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use candor::plan::{Block, Plan};
use candor::randomize::Randomizer;
use candor::randomness::Source;
use candor::schema::Schema;
use candor::shape::Shape;
use candor_analysis::adjust::{DistinctRecords, Margin, Options, rake};
use candor_analysis::estimate::simplex::clip;
use candor_analysis::estimate::{TableEstimator, Target};
use candor_analysis::tally::{Codes, CountLayout, Rows, TableTally, answer_codes, count_categories, count_tables};
use rand_core::Rng;

/// How a query is answered from responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// By counting the answers as if they were the truth.
    Answers,
    /// By the estimated tables of the blocks, cut off and rescaled, as if blocks were independent.
    Product,
    /// By the weights of adjusted records.
    Adjusted,
    /// By the unbiased estimate of the table of the attributes asked about.
    Unbiased,
}

/// Two attributes and a set of their combinations.
pub struct Question {
    attributes: [usize; 2],
    holds: Vec<bool>,
}

impl Question {
    /// Two random attributes and a random set with this share of their combinations, at least one.
    fn random(rng: &mut impl Rng, sizes: &[usize], coverage: f64) -> Question {
        let mut below = |n: usize| ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize;
        let first = below(sizes.len());
        let second = (first + 1 + below(sizes.len() - 1)) % sizes.len();
        let attributes = [first.min(second), first.max(second)];
        let cells = sizes[attributes[0]] * sizes[attributes[1]];
        let wanted = ((coverage * cells as f64).round() as usize).max(1);
        let mut order: Vec<usize> = (0..cells).collect();
        for i in 0..wanted {
            order.swap(i, i + below(cells - i));
        }
        let mut holds = vec![false; cells];
        order[..wanted].iter().for_each(|&cell| holds[cell] = true);
        Question { attributes, holds }
    }

    /// The sum of a two-way table over the set.
    fn sum(&self, table: &[f64]) -> f64 {
        table.iter().zip(&self.holds).filter(|(_, holds)| **holds).map(|(share, _)| share).sum()
    }
}

/// Medians over the runs.
#[derive(Clone, Copy, Debug)]
pub struct Errors {
    /// Of the number of records.
    pub absolute: f64,
    /// Of that over the true number.
    pub relative: f64,
}

/// For each way and coverage the median errors over runs, each with new answers and new questions, which all ways share. Questions
/// that hold for nobody are drawn again. Runs are shared out over all cores; the result depends on the seed only.
pub fn medians(
    schema: &Schema,
    columns: &[Vec<u16>],
    ways: &[(&Plan, Way)],
    coverages: &[f64],
    runs: usize,
    seed: u64,
) -> Vec<Vec<Errors>> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let one = || {
        let mut done = Vec::new();
        loop {
            let run = next.fetch_add(1, Ordering::Relaxed);
            if run >= runs {
                return done;
            }
            done.push(run_once(
                schema,
                columns,
                ways,
                coverages,
                seed.wrapping_mul(1_000_003).wrapping_add(run as u64),
            ));
        }
    };
    let all: Vec<Vec<Vec<[f64; 2]>>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(one)).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("a run does not panic")).collect()
    });
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        match values.len() {
            0 => f64::NAN,
            n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
        }
    };
    let errors = |way: usize, coverage: usize| {
        let of = |which: usize| median(all.iter().map(|run| run[way][coverage][which]).collect());
        Errors { absolute: of(0), relative: of(1) }
    };
    (0..ways.len()).map(|way| (0..coverages.len()).map(|coverage| errors(way, coverage)).collect()).collect()
}

/// Absolute and relative error of each way for one question of each coverage.
fn run_once(
    schema: &Schema,
    columns: &[Vec<u16>],
    ways: &[(&Plan, Way)],
    coverages: &[f64],
    seed: u64,
) -> Vec<Vec<[f64; 2]>> {
    let source = Source::from_seed(seed);
    let sizes = schema.sizes();
    let slices: Vec<&[u16]> = columns.iter().map(Vec::as_slice).collect();
    let mut rng = source.stream(0);
    let mut questions = Vec::with_capacity(coverages.len());
    for &coverage in coverages {
        loop {
            let question = Question::random(&mut rng, &sizes, coverage);
            let counts = count_categories(&sizes, &slices, &[question.attributes.to_vec()]);
            let truth = question.sum(&counts[0].iter().map(|&count| count as f64).collect::<Vec<_>>());
            if truth > 0.0 {
                questions.push((question, truth));
                break;
            }
        }
    }
    let people = columns[0].len() as f64;
    let mut found: BTreeMap<usize, Vec<[f64; 2]>> = BTreeMap::new();
    for (plan, same) in by_plan(ways) {
        let answers = Randomizer::new(plan).batch(columns, &mut source.stream(1)).expect("codes in range");
        let codes = answer_codes(plan, &answers, columns);
        for (at, way) in same {
            let shares = estimates(plan, way, &codes, &questions);
            let errors = questions.iter().zip(shares).map(|((_, truth), share)| {
                let absolute = (people * share - truth).abs();
                [absolute, absolute / truth]
            });
            found.insert(at, errors.collect());
        }
    }
    found.into_values().collect()
}

/// The ways that use the same plan, with their positions: they share its answers.
fn by_plan<'a>(ways: &[(&'a Plan, Way)]) -> Vec<(&'a Plan, Vec<(usize, Way)>)> {
    let mut grouped: Vec<(&Plan, Vec<(usize, Way)>)> = Vec::new();
    for (at, &(plan, way)) in ways.iter().enumerate() {
        match grouped.iter_mut().find(|(other, _)| std::ptr::eq(*other, plan)) {
            Some((_, same)) => same.push((at, way)),
            None => grouped.push((plan, vec![(at, way)])),
        }
    }
    grouped
}

/// The estimated share of each question's set.
fn estimates(plan: &Plan, way: Way, codes: &[Codes<'_>], questions: &[(Question, f64)]) -> Vec<f64> {
    let asked: Vec<Vec<usize>> = questions.iter().map(|(question, _)| question.attributes.to_vec()).collect();
    match way {
        Way::Answers => {
            let answered = answered(codes);
            let counted = count_categories(&plan.schema().sizes(), &answered, &asked);
            let people = answered[0].len() as f64;
            let share = |((question, _), counts): (&(Question, f64), &Vec<u64>)| {
                question.sum(&counts.iter().map(|&count| count as f64 / people).collect::<Vec<_>>())
            };
            questions.iter().zip(&counted).map(share).collect()
        }
        Way::Unbiased => {
            let estimated = estimated(plan, codes, &asked);
            questions.iter().zip(&estimated).map(|((question, _), table)| question.sum(table)).collect()
        }
        Way::Product => by_products(plan, &block_tables(plan, codes), questions),
        Way::Adjusted => by_weights(plan, codes, questions),
    }
}

/// Tables estimated for the very records.
fn estimated(plan: &Plan, codes: &[Codes<'_>], tables: &[Vec<usize>]) -> Vec<Vec<f64>> {
    let layouts: Vec<CountLayout> = tables.iter().map(|table| CountLayout::new(plan, table)).collect();
    let tallies = count_tables(plan, &layouts, codes, Rows::Single);
    let estimate = |(table, tally): (&Vec<usize>, &TableTally)| {
        let estimator = TableEstimator::new(plan, table).expect("identifiable");
        estimator.estimate(tally, Target::Table).expect("responses").shares
    };
    tables.iter().zip(&tallies).map(estimate).collect()
}

/// The tables of the blocks, cut off and rescaled as in the paper.
fn block_tables(plan: &Plan, codes: &[Codes<'_>]) -> Vec<Vec<f64>> {
    let tables: Vec<Vec<usize>> = plan.blocks().iter().map(|block| block.attributes().to_vec()).collect();
    estimated(plan, codes, &tables).iter().map(|shares| clip(shares)).collect()
}

/// The answers, which are categories.
fn answered<'a>(codes: &[Codes<'a>]) -> Vec<&'a [u16]> {
    let one = |column: &Codes<'a>| match column {
        Codes::One(codes) => *codes,
        Codes::Set(_) => unreachable!("single answers"),
    };
    codes.iter().map(one).collect()
}

/// As if attributes of different blocks were independent.
fn by_products(plan: &Plan, tables: &[Vec<f64>], questions: &[(Question, f64)]) -> Vec<f64> {
    let sizes = plan.schema().sizes();
    let block_of = |a: usize| plan.blocks().iter().position(|b| b.attributes().contains(&a)).expect("randomized");
    let margin = |of: &[usize]| {
        let block = block_of(of[0]);
        summed(&tables[block], plan.blocks()[block].attributes(), &sizes, of)
    };
    let share = |(question, _): &(Question, f64)| {
        let [a, b] = question.attributes;
        if block_of(a) == block_of(b) {
            return question.sum(&margin(&[a, b]));
        }
        let (first, second) = (margin(&[a]), margin(&[b]));
        let product = first.iter().flat_map(|x| second.iter().map(move |y| x * y));
        question.sum(&product.collect::<Vec<_>>())
    };
    questions.iter().map(share).collect()
}

/// From answers weighted to agree with the tables of the blocks.
fn by_weights(plan: &Plan, codes: &[Codes<'_>], questions: &[(Question, f64)]) -> Vec<f64> {
    let sizes = plan.schema().sizes();
    let mut records = DistinctRecords::new(sizes.len());
    records.add_rows(&answered(codes));
    let columns = records.columns();
    let margin = |(block, shares): (&Block, Vec<f64>)| {
        let cell = |record: usize| {
            let code = |cell: u32, &a: &usize| cell * sizes[a] as u32 + u32::from(columns[a][record]);
            block.attributes().iter().fold(0, code)
        };
        Margin { cells: (0..records.len()).map(cell).collect(), shares }
    };
    let margins: Vec<Margin> = plan.blocks().iter().zip(block_tables(plan, codes)).map(margin).collect();
    let options = Options { tolerance: 1e-5, max_iterations: 200 };
    let weights = rake(records.counts(), &margins, &options).expect("margins of these records").weights;
    let share = |(Question { attributes: [a, b], holds }, _): &(Question, f64)| {
        let inside = |record: &[u16]| holds[usize::from(record[*a]) * sizes[*b] + usize::from(record[*b])];
        (0..records.len()).filter(|&i| inside(records.record(i))).map(|i| weights[i]).sum()
    };
    questions.iter().map(share).collect()
}

/// A table of `attributes` summed to those in `of`.
fn summed(table: &[f64], attributes: &[usize], sizes: &[usize], of: &[usize]) -> Vec<f64> {
    let shape = Shape::new(attributes.iter().map(|&attribute| sizes[attribute]).collect());
    let place = |wanted: &usize| attributes.iter().position(|a| a == wanted).expect("an attribute of the table");
    let places: Vec<usize> = of.iter().map(place).collect();
    let mut sums = vec![0.0; shape.of(&places).cells()];
    shape.cells_of(&places).zip(table).for_each(|(cell, share)| sums[cell] += share);
    sums
}
