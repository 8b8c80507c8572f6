//! Measures how the time for designing, certifying, randomizing, counting and estimating grows.
//!
//! What grows is the number of attributes, categories, records or tables. Run with `cargo run --release -p candor
//! --example growth -- TABLE.md FOLDER`. It writes the times with their exponents to the table, and a figure for
//! each of the four to the folder. It takes about ten minutes. Times are of one core and, if the system provides
//! them, of the processor, so that other load matters little.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use candor::plot::{Plot, Scale, Series};
use candor_analysis::estimate::{Options, analyse};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{CountLayout, Rows, TableCounts, answer_codes, count_tables};
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::{Randomizer, Responses};
use candor_design::{Request, design};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// Short work is repeated until it has taken this many seconds in total.
const LONG_ENOUGH: f64 = 0.05;

/// Number of records that are randomized and counted at a time.
const BATCH_ROWS: usize = 65_536;

/// The times of some work as one of the four quantities grows.
struct Growth {
    /// The quantity that grows, such as "attributes".
    what: &'static str,
    /// What is constant.
    fixed: &'static str,
    lines: Vec<(&'static str, Vec<(f64, f64)>)>,
}

impl Growth {
    fn new(what: &'static str, fixed: &'static str) -> Growth {
        Growth { what, fixed, lines: Vec::new() }
    }

    fn add(&mut self, line: &'static str, at: usize, seconds: f64) {
        eprintln!("{at} {}, {line}: {seconds:.2e} s", self.what);
        match self.lines.iter_mut().find(|(name, _)| *name == line) {
            Some((_, points)) => points.push((at as f64, seconds)),
            None => self.lines.push((line, vec![(at as f64, seconds)])),
        }
    }

    fn markdown(&self) -> String {
        let mut places: Vec<f64> =
            self.lines.iter().flat_map(|(_, points)| points.iter().map(|point| point.0)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let header: String = places.iter().map(|place| format!(" {place} |")).collect();
        let mut text =
            format!("\n## By {}\n\n{}. Seconds.\n\n| {} |{header} exponent |\n", self.what, self.fixed, self.what);
        let _ = writeln!(text, "|---|{}---|", "---|".repeat(places.len()));
        for (line, points) in &self.lines {
            let seconds = |place: &f64| points.iter().find(|point| point.0 == *place).map(|point| point.1);
            let cell = |place: &f64| seconds(place).map_or(" - |".to_owned(), |seconds| format!(" {seconds:.2e} |"));
            let cells: String = places.iter().map(cell).collect();
            let _ = writeln!(text, "| {line} |{cells} {:.2} |", exponent(points));
        }
        text
    }

    fn plot(&self) -> Plot {
        let series = |(line, points): &(&'static str, Vec<(f64, f64)>)| Series {
            // Without the sign of a negative zero.
            name: format!("{line} ({:.1})", (10.0 * exponent(points)).round() / 10.0 + 0.0),
            joined: true,
            points: points.clone(),
        };
        Plot {
            name: self.what.to_owned(),
            title: format!("Time by number of {} (exponent of the upper half)", self.what),
            x: Scale::logarithmic(self.what),
            y: Scale::logarithmic("seconds of one core"),
            series: self.lines.iter().map(series).collect(),
        }
    }
}

/// Returns the exponent `b` of `seconds = c x^b`, by least squares in logarithms over the upper half of the points.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let upper: Vec<(f64, f64)> = points[points.len() / 2..].iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| upper.iter().map(of).sum::<f64>() / upper.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let over = |of: &dyn Fn(&(f64, f64)) -> f64| upper.iter().map(of).sum::<f64>();
    over(&|point| (point.0 - x) * (point.1 - y)) / over(&|point| (point.0 - x) * (point.0 - x))
}

/// Returns the result of work, and its seconds.
///
/// The system's clock has steps of some milliseconds: it is right on average, and not for a short time.
fn once<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let (start, before) = (Instant::now(), processor_seconds());
    let done = work();
    let spent = processor_seconds().zip(before).map(|(now, before)| now - before);
    (done, spent.unwrap_or_else(|| start.elapsed().as_secs_f64()))
}

/// Returns the result of work that may be short, and its seconds.
fn timed<T>(mut work: impl FnMut() -> T) -> (T, f64) {
    let (mut done, mut spent) = once(&mut work);
    let mut runs = 1.0;
    while spent < LONG_ENOUGH {
        let (again, seconds) = once(&mut work);
        (done, spent, runs) = (again, spent + seconds, runs + 1.0);
    }
    (done, spent / runs)
}

/// Returns the processor time of this thread in seconds, if the system provides it.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, folder] = &arguments[..] else {
        return Err("give the file of the table and the folder of the pictures".into());
    };
    let mut text = "# How time grows\n\nSeconds of one core. The exponent is that of the upper half of the range, by \
                    least squares in logarithms: 1 means that twice as much takes twice as long.\n"
        .to_owned();
    for growth in [by_attributes()?, by_categories()?, by_records()?, by_tables()?] {
        text += &growth.markdown();
        std::fs::write(Path::new(folder).join(format!("growth-{}.svg", growth.what)), growth.plot().svg())?;
    }
    std::fs::write(table, text)?;
    Ok(())
}

/// Returns the plan of a request, and the seconds that its design took.
pub fn planned(sizes: &[usize], request: &Value) -> Result<(Plan, f64), Failure> {
    let (schema, request): (Schema, Request) = (Schema::with_sizes(sizes)?, serde_json::from_value(request.clone())?);
    let (designed, seconds) = timed(|| design(&schema, &request));
    Ok((designed?.plan, seconds))
}

fn certified(plan: &Plan) -> f64 {
    let json = plan.to_json();
    timed(|| Plan::from_json(&json)).1
}

fn truths(sizes: &[usize], records: usize) -> Vec<Vec<u16>> {
    let column = |(place, &size): (usize, &usize)| (0..records).map(|i| ((i / (place + 1)) % size) as u16).collect();
    sizes.iter().enumerate().map(column).collect()
}

fn counted(plan: &Plan, tables: &TableList, answers: &Responses) -> Vec<TableCounts> {
    let layouts: Vec<CountLayout> = tables.lists().iter().map(|table| CountLayout::new(plan, table)).collect();
    count_tables(plan, &answer_codes(plan, answers), Rows::Single, &layouts)
}

fn estimated(plan: &Plan, tallies: &[TableCounts]) -> f64 {
    timed(|| tallies.iter().filter(|tally| analyse(plan, tally, &Options::default()).cells.is_ok()).count()).1
}

/// Randomizes, counts and estimates all one-way tables, and returns the seconds of each.
pub fn used(plan: &Plan, sizes: &[usize], records: usize) -> Result<[f64; 3], Failure> {
    let (truths, randomizer) = (truths(sizes, records), Randomizer::new(plan));
    let (answers, randomize) = timed(|| randomizer.batch(&truths, &mut Source::from_seed(1).stream(0)));
    let (answers, tables) = (answers?, TableList::marginals(plan.schema()));
    let (tallies, count) = timed(|| counted(plan, &tables, &answers));
    Ok([randomize, count, estimated(plan, &tallies)])
}

fn by_attributes() -> Result<Growth, Failure> {
    let fixed = "Attributes of four categories, epsilon 4 in all, 10,000 records, all tables of one attribute; nearly \
                 equal levels for `optimal`, whose plan is the one that is certified, randomized by, counted and \
                 estimated from";
    let mut growth = Growth::new("attributes", fixed);
    for attributes in [8, 16, 32, 64, 128, 256, 512, 1_000] {
        let sizes = vec![4; attributes];
        let ratio: Vec<f64> = (0..attributes).map(|i| 1.0 + 0.01 * (i % 7) as f64).collect();
        let (_, independent) = planned(&sizes, &json!({"method": "independent", "epsilon": 4.0}))?;
        let singles = json!({"method": "workload", "epsilon": 4.0, "tables": "marginals"});
        let (_, workload) = planned(&sizes, &singles)?;
        let (plan, optimal) = planned(&sizes, &json!({"method": "optimal", "epsilon": 4.0, "ratio": ratio}))?;
        growth.add("design independent", attributes, independent);
        growth.add("design workload, singles", attributes, workload);
        if attributes <= 64 {
            let pairs = json!({"method": "workload", "epsilon": 4.0, "tables": "pairs"});
            growth.add("design workload, pairs", attributes, planned(&sizes, &pairs)?.1);
        }
        growth.add("design optimal", attributes, optimal);
        growth.add("certify", attributes, certified(&plan));
        let [randomize, count, estimate] = used(&plan, &sizes, 10_000)?;
        growth.add("randomize", attributes, randomize);
        growth.add("tally", attributes, count);
        growth.add("estimate", attributes, estimate);
    }
    Ok(growth)
}

fn by_categories() -> Result<Growth, Failure> {
    let fixed = "One attribute, epsilon 2, 10,000 records. Answers are one category (`independent`) or sets of \
                 categories (`minimax`)";
    let mut growth = Growth::new("categories", fixed);
    for categories in [2, 5, 10, 30, 100, 300, 1_000, 3_000, 10_000] {
        let sizes = [categories];
        let (plan, one) = planned(&sizes, &json!({"method": "independent", "epsilon": 2.0}))?;
        growth.add("design independent", categories, one);
        growth.add("certify", categories, certified(&plan));
        let [randomize, count, estimate] = used(&plan, &sizes, 10_000)?;
        growth.add("randomize", categories, randomize);
        growth.add("tally", categories, count);
        growth.add("estimate", categories, estimate);
        let (plan, sets) = planned(&sizes, &json!({"method": "minimax", "attribute_epsilon": [2.0]}))?;
        growth.add("design minimax", categories, sets);
        growth.add("certify sets", categories, certified(&plan));
        let [randomize, count, estimate] = used(&plan, &sizes, 10_000)?;
        growth.add("randomize sets", categories, randomize);
        growth.add("tally sets", categories, count);
        growth.add("estimate sets", categories, estimate);
    }
    Ok(growth)
}

fn by_records() -> Result<Growth, Failure> {
    let fixed = "Eight attributes of four categories, epsilon 4 in all by `optimal`, all tables of one attribute. \
                 Records are made, randomized and counted 65,536 at a time; making them is not counted";
    let mut growth = Growth::new("records", fixed);
    let sizes = [4; 8];
    let ratio: Vec<f64> = (0..8).map(|i| 1.0 + 0.1 * f64::from(i)).collect();
    let (plan, _) = planned(&sizes, &json!({"method": "optimal", "epsilon": 4.0, "ratio": ratio}))?;
    for power in 3..=8 {
        let records = 10usize.pow(power);
        let (tallies, [randomize, count]) = streamed(&plan, &sizes, records)?;
        growth.add("randomize", records, randomize);
        growth.add("tally", records, count);
        growth.add("estimate", records, estimated(&plan, &tallies));
    }
    Ok(growth)
}

/// Randomizes and counts records in batches, and returns the counts and the seconds of both.
fn streamed(plan: &Plan, sizes: &[usize], records: usize) -> Result<(Vec<TableCounts>, [f64; 2]), Failure> {
    let (randomizer, tables, source) =
        (Randomizer::new(plan), TableList::marginals(plan.schema()), Source::from_seed(1));
    let batches: Vec<usize> = (0..records).step_by(BATCH_ROWS).map(|start| BATCH_ROWS.min(records - start)).collect();
    let of_length: BTreeMap<usize, Vec<Vec<u16>>> = batches.iter().map(|&rows| (rows, truths(sizes, rows))).collect();
    let (mut spent, mut runs) = ([0.0; 2], 0.0);
    loop {
        let mut all: Vec<TableCounts> = Vec::new();
        for (number, rows) in (0..).zip(&batches) {
            let truths = &of_length[rows];
            let (answers, seconds) = once(|| randomizer.batch(truths, &mut source.stream(number)));
            spent[0] += seconds;
            let answers = answers?;
            let (tallies, seconds) = once(|| counted(plan, &tables, &answers));
            spent[1] += seconds;
            match all.is_empty() {
                true => all = tallies,
                false => all.iter_mut().zip(tallies).for_each(|(sum, tally)| sum.merge(tally)),
            }
        }
        runs += 1.0;
        if spent.iter().all(|&spent| spent >= LONG_ENOUGH) {
            return Ok((all, spent.map(|spent| spent / runs)));
        }
    }
}

fn by_tables() -> Result<Growth, Failure> {
    let fixed = "The first of the 4,950 tables of two of 100 attributes of four categories, epsilon 4 in all by \
                 `optimal`, 20,000 records";
    let mut growth = Growth::new("tables", fixed);
    let sizes = [4; 100];
    let (plan, _) = planned(&sizes, &json!({"method": "optimal", "epsilon": 4.0}))?;
    let truths = truths(&sizes, 20_000);
    let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
    let pairs = TableList::parse("pairs", plan.schema())?;
    for tables in [10, 30, 100, 300, 1_000, 4_950] {
        let first = TableList::new(pairs.lists()[..tables].to_vec(), plan.schema())?;
        let (tallies, count) = timed(|| counted(&plan, &first, &answers));
        growth.add("tally", tables, count);
        growth.add("estimate", tables, estimated(&plan, &tallies));
    }
    Ok(growth)
}
