//! Simulated surveys: answers under a matrix or a plan, and the errors of count queries on them.

use std::sync::atomic::{AtomicUsize, Ordering};

use candor_analysis::adjust::{DistinctRecords, Margin, Options, rake};
use candor_analysis::estimate::simplex::clip;
use candor_analysis::estimate::{TableEstimator, Target};
use candor_analysis::tally::{CountLayout, Rows, TableCounts, answer_codes, count_categories, count_tables};
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::shape::Shape;
use candor_bulk::Randomizer;
use rand_core::Rng;

use super::matrix::Block;
use crate::adult::Dataset;

/// Randomization of the records, and estimation of a query from them.
#[derive(Clone, Copy)]
pub enum Way<'a> {
    /// Counts answers as if they were true values.
    Answers(&'a [Block]),
    /// Multiplies the estimated tables of the blocks, clipped and rescaled, as if blocks were independent.
    Product(&'a [Block]),
    /// Uses the weights of raked records.
    Adjusted(&'a [Block]),
    /// Uses the unbiased estimate of the table of the queried attributes, under a plan.
    Unbiased(&'a Plan),
}

/// Way of drawing the set of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Two different attributes; a fraction `coverage` of their combinations, rounded, at least one.
    Rounded,
    /// As `Rounded`, but rounded up.
    RoundedUp,
    /// Two different attributes; each combination independently at random.
    EachByChance,
    /// Two different attributes; all combinations of random categories of either, each with the square root of the
    /// coverage.
    Rectangle,
    /// Attributes drawn with replacement: the same one twice counts as one attribute, otherwise as `Rounded`.
    WithReplacement,
}

/// Attributes and a set of their combinations.
pub struct Question {
    attributes: Vec<usize>,
    holds: Vec<bool>,
}

impl Question {
    fn random(rng: &mut impl Rng, sizes: &[usize], coverage: f64, draw: Draw) -> Question {
        let mut below = |n: usize| ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize;
        let first = below(sizes.len());
        let second = match draw {
            Draw::WithReplacement => below(sizes.len()),
            _ => (first + 1 + below(sizes.len() - 1)) % sizes.len(),
        };
        let mut attributes = vec![first.min(second), first.max(second)];
        attributes.dedup();
        let cells = attributes.iter().map(|&attribute| sizes[attribute]).product();
        let mut some = |n: usize, share: f64, up: bool| {
            let exact = share * n as f64;
            let wanted = (if up { (exact - 1e-9).ceil() } else { exact.round() } as usize).clamp(1, n);
            let mut order: Vec<usize> = (0..n).collect();
            (0..wanted).for_each(|i| order.swap(i, i + below(n - i)));
            let mut holds = vec![false; n];
            order[..wanted].iter().for_each(|&cell| holds[cell] = true);
            holds
        };
        let holds = match draw {
            Draw::Rounded | Draw::WithReplacement => some(cells, coverage, false),
            Draw::RoundedUp => some(cells, coverage, true),
            Draw::Rectangle => {
                let of = [0, 1].map(|i| some(sizes[attributes[i]], coverage.sqrt(), false));
                of[0].iter().flat_map(|a| of[1].iter().map(move |b| *a && *b)).collect()
            }
            Draw::EachByChance => {
                (0..cells).map(|_| (below(1 << 30) as f64) < coverage * (1u64 << 30) as f64).collect()
            }
        };
        Question { attributes, holds }
    }

    /// Returns the sum of its table over the set.
    fn sum(&self, table: &[f64]) -> f64 {
        table.iter().zip(&self.holds).filter(|(_, holds)| **holds).map(|(share, _)| share).sum()
    }
}

/// Medians over the runs.
#[derive(Clone, Copy, Debug)]
pub struct Errors {
    /// Absolute error, in records.
    pub absolute: f64,
    /// Relative error: the absolute error over the true number.
    pub relative: f64,
}

/// Settings of the simulated runs.
#[derive(Clone, Copy)]
pub struct Survey<'a> {
    /// The true records.
    pub adult: &'a Dataset,
    pub coverages: &'a [f64],
    pub draw: Draw,
    pub runs: usize,
    pub seed: u64,
}

impl Survey<'_> {
    /// Returns, for each way and coverage, the median errors over runs. Each run has new answers and new queries,
    /// shared by all ways; queries that nobody meets are drawn again. Runs are distributed over all cores; the result
    /// depends on the seed only.
    pub fn medians(&self, ways: &[Way]) -> Vec<Vec<Errors>> {
        let next = AtomicUsize::new(0);
        let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let one = || {
            let mut done = Vec::new();
            loop {
                let run = next.fetch_add(1, Ordering::Relaxed);
                if run >= self.runs {
                    return done;
                }
                done.push(self.run(ways, self.seed.wrapping_mul(1_000_003).wrapping_add(run as u64)));
            }
        };
        let all: Vec<Vec<Vec<[f64; 2]>>> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..workers).map(|_| scope.spawn(one)).collect();
            handles.into_iter().flat_map(|handle| handle.join().expect("a run does not panic")).collect()
        });
        let errors = |way: usize, coverage: usize| {
            let of = |which: usize| median(all.iter().map(|run| run[way][coverage][which]).collect());
            Errors { absolute: of(0), relative: of(1) }
        };
        let coverages = 0..self.coverages.len();
        (0..ways.len()).map(|way| coverages.clone().map(|coverage| errors(way, coverage)).collect()).collect()
    }

    /// Draws one query of each coverage, with its true count.
    fn questions(&self, rng: &mut impl Rng) -> Vec<(Question, f64)> {
        let sizes = self.adult.schema.sizes();
        let slices: Vec<&[u16]> = self.adult.columns.iter().map(Vec::as_slice).collect();
        let mut question = |&coverage: &f64| {
            loop {
                let question = Question::random(rng, &sizes, coverage, self.draw);
                let counts = count_categories(&sizes, &slices, std::slice::from_ref(&question.attributes));
                let truth = question.sum(&counts[0].iter().map(|&count| count as f64).collect::<Vec<_>>());
                if truth > 0.0 {
                    return (question, truth);
                }
            }
        };
        self.coverages.iter().map(&mut question).collect()
    }

    /// Returns the absolute and relative error of each way, for one query of each coverage.
    fn run(&self, ways: &[Way], seed: u64) -> Vec<Vec<[f64; 2]>> {
        let source = Source::from_seed(seed);
        let questions = self.questions(&mut source.stream(0));
        let people = self.adult.columns[0].len() as f64;
        let mut found = Vec::with_capacity(ways.len());
        for way in ways {
            // The same stream for every way: those with the same blocks use the same answers.
            let shares = self.shares(way, &questions, &source);
            let errors = questions.iter().zip(shares).map(|((_, truth), share)| {
                let absolute = (people * share - truth).abs();
                [absolute, absolute / truth]
            });
            found.push(errors.collect());
        }
        found
    }

    /// Returns the estimated share of each query's set.
    fn shares(&self, way: &Way, questions: &[(Question, f64)], source: &Source) -> Vec<f64> {
        match way {
            Way::Answers(blocks) => {
                let answered = self.columns(blocks, &self.answered(blocks, |_| true, source));
                let slices: Vec<&[u16]> = answered.iter().map(Vec::as_slice).collect();
                let asked: Vec<Vec<usize>> =
                    questions.iter().map(|(question, _)| question.attributes.clone()).collect();
                let counted = count_categories(&self.adult.schema.sizes(), &slices, &asked);
                let people = slices[0].len() as f64;
                let share = |((question, _), counts): (&(Question, f64), &Vec<u64>)| {
                    question.sum(&counts.iter().map(|&count| count as f64 / people).collect::<Vec<_>>())
                };
                questions.iter().zip(&counted).map(share).collect()
            }
            Way::Product(blocks) => {
                let asked = |block: &Block| {
                    questions.iter().any(|(q, _)| q.attributes.iter().any(|asked| block.attributes.contains(asked)))
                };
                let answered = self.answered(blocks, asked, source);
                self.by_products(blocks, &tables(blocks, &answered), questions)
            }
            Way::Adjusted(blocks) => {
                let answered = self.answered(blocks, |_| true, source);
                self.by_weights(blocks, &answered, questions)
            }
            Way::Unbiased(plan) => self.under_a_plan(plan, questions, source),
        }
    }

    /// Returns the randomized combination of every record in each wanted block, nothing for the others; each block has
    /// a random stream of its own.
    fn answered(&self, blocks: &[Block], wanted: impl Fn(&Block) -> bool, source: &Source) -> Vec<Vec<u32>> {
        let sizes = self.adult.schema.sizes();
        let randomized = |(number, block): (usize, &Block)| {
            if !wanted(block) {
                return Vec::new();
            }
            let mut rng = source.stream(2 + number as u64);
            let kept = (block.diagonal * 2f64.powi(64)) as u64;
            let others = (block.cells - 1) as u128;
            let columns: Vec<&[u16]> = block.attributes.iter().map(|&a| self.adult.columns[a].as_slice()).collect();
            let sizes: Vec<u32> = block.attributes.iter().map(|&a| sizes[a] as u32).collect();
            let cell = |record: usize| {
                columns.iter().zip(&sizes).fold(0, |cell, (column, size)| cell * size + u32::from(column[record]))
            };
            let answer = |record: usize| {
                let truth = cell(record);
                if rng.next_u64() < kept {
                    return truth;
                }
                let other = ((u128::from(rng.next_u64()) * others) >> 64) as u32;
                other + u32::from(other >= truth)
            };
            (0..columns[0].len()).map(answer).collect()
        };
        blocks.iter().enumerate().map(randomized).collect()
    }

    /// Returns one column of codes per attribute.
    fn columns(&self, blocks: &[Block], answered: &[Vec<u32>]) -> Vec<Vec<u16>> {
        let sizes = self.adult.schema.sizes();
        let mut columns = vec![Vec::new(); sizes.len()];
        for (block, cells) in blocks.iter().zip(answered) {
            let mut stride = 1;
            for &attribute in block.attributes.iter().rev() {
                let size = sizes[attribute] as u32;
                columns[attribute] = cells.iter().map(|&cell| (cell / stride % size) as u16).collect();
                stride *= size;
            }
        }
        columns
    }

    /// Multiplies tables as if attributes of different blocks were independent.
    fn by_products(&self, blocks: &[Block], tables: &[Vec<f64>], questions: &[(Question, f64)]) -> Vec<f64> {
        let sizes = self.adult.schema.sizes();
        let block_of = |a: usize| blocks.iter().position(|b| b.attributes.contains(&a)).expect("in a block");
        let margin = |of: &[usize]| {
            let block = block_of(of[0]);
            summed(&tables[block], &blocks[block].attributes, &sizes, of)
        };
        let share = |(question, _): &(Question, f64)| match question.attributes[..] {
            [a, b] if block_of(a) != block_of(b) => {
                let (first, second) = (margin(&[a]), margin(&[b]));
                let product = first.iter().flat_map(|x| second.iter().map(move |y| x * y));
                question.sum(&product.collect::<Vec<_>>())
            }
            _ => question.sum(&margin(&question.attributes)),
        };
        questions.iter().map(share).collect()
    }

    /// Estimates from answers weighted to agree with the tables of the blocks.
    fn by_weights(&self, blocks: &[Block], answered: &[Vec<u32>], questions: &[(Question, f64)]) -> Vec<f64> {
        let sizes = self.adult.schema.sizes();
        let answers = self.columns(blocks, answered);
        let mut records = DistinctRecords::new(sizes.len());
        records.add_rows(&answers.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let columns = records.columns();
        let margin = |(block, shares): (&Block, Vec<f64>)| {
            let cell = |record: usize| {
                let code = |cell: u32, &a: &usize| cell * sizes[a] as u32 + u32::from(columns[a][record]);
                block.attributes.iter().fold(0, code)
            };
            Margin { cells: (0..records.len()).map(cell).collect(), shares }
        };
        let margins: Vec<Margin> = blocks.iter().zip(tables(blocks, answered)).map(margin).collect();
        let options = Options::default().tolerance(1e-5).max_iterations(200);
        let weights = rake(records.counts(), &margins, &options).expect("margins of these records").weights;
        let share = |(Question { attributes, holds }, _): &(Question, f64)| {
            let inside =
                |record: &[u16]| holds[attributes.iter().fold(0, |cell, &a| cell * sizes[a] + usize::from(record[a]))];
            (0..records.len()).filter(|&i| inside(records.record(i))).map(|i| weights[i]).sum()
        };
        questions.iter().map(share).collect()
    }

    /// Estimates tables of these records from answers under a plan.
    fn under_a_plan(&self, plan: &Plan, questions: &[(Question, f64)], source: &Source) -> Vec<f64> {
        let columns = &self.adult.columns;
        let answers = Randomizer::new(plan).batch(columns, &mut source.stream(1)).expect("codes in range");
        let codes = answer_codes(plan, &answers);
        let layouts: Vec<CountLayout> = questions.iter().map(|(q, _)| CountLayout::new(plan, &q.attributes)).collect();
        let tallies = count_tables(plan, &codes, Rows::Single, &layouts);
        let share = |((question, _), tally): (&(Question, f64), &TableCounts)| {
            let estimator = TableEstimator::new(plan, &question.attributes).expect("identifiable");
            question.sum(&estimator.estimate(tally, Target::Table).expect("responses").shares)
        };
        questions.iter().zip(&tallies).map(share).collect()
    }
}

/// Returns the median; of an even number of values, the mean of the middle two.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
    }
}

/// Returns the tables of the blocks, clipped and rescaled as in section 6.4; empty for blocks without answers.
fn tables(blocks: &[Block], answered: &[Vec<u32>]) -> Vec<Vec<f64>> {
    let table = |(block, answers): (&Block, &Vec<u32>)| {
        if answers.is_empty() {
            return Vec::new();
        }
        let mut shares = vec![0.0; block.cells];
        answers.iter().for_each(|&cell| shares[cell as usize] += 1.0 / answers.len() as f64);
        clip(&block.estimate(&shares))
    };
    blocks.iter().zip(answered).map(table).collect()
}

/// Sums a table of `attributes` to those in `of`.
fn summed(table: &[f64], attributes: &[usize], sizes: &[usize], of: &[usize]) -> Vec<f64> {
    let shape = Shape::new(attributes.iter().map(|&attribute| sizes[attribute]).collect());
    let place = |wanted: &usize| attributes.iter().position(|a| a == wanted).expect("an attribute of the table");
    let places: Vec<usize> = of.iter().map(place).collect();
    let mut sums = vec![0.0; shape.project(&places).cells()];
    shape.project_all(&places).zip(table).for_each(|(cell, share)| sums[cell] += share);
    sums
}

/// Returns the cost of assuming independence, without noise: for random queries, their attributes and the relative
/// error of the product of the true one-way shares.
pub fn without_noise(adult: &Dataset, draw: Draw, questions: usize, seed: u64) -> Vec<(Vec<usize>, f64)> {
    let survey = Survey { adult, coverages: &[0.1], draw, runs: questions, seed };
    let sizes = adult.schema.sizes();
    let people = adult.columns[0].len() as f64;
    let shares = |of: &[usize]| -> Vec<f64> {
        let slices: Vec<&[u16]> = adult.columns.iter().map(Vec::as_slice).collect();
        count_categories(&sizes, &slices, &[of.to_vec()])[0].iter().map(|&count| count as f64 / people).collect()
    };
    let one: Vec<Vec<f64>> = (0..sizes.len()).map(|a| shares(&[a])).collect();
    let mut rng = Source::from_seed(seed).stream(0);
    let error = |_| {
        let (question, truth) = survey.questions(&mut rng).remove(0);
        let product = match question.attributes[..] {
            [a, b] => question.sum(&one[a].iter().flat_map(|x| one[b].iter().map(move |y| x * y)).collect::<Vec<_>>()),
            _ => truth / people,
        };
        (question.attributes, (product * people / truth - 1.0).abs())
    };
    (0..questions).map(error).collect()
}
