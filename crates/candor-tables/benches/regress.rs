//! Measures regressions on responses.
//!
//! `cargo bench -p candor-tables --bench regress` makes ten million responses as Parquet, or as many as
//! `CANDOR_BENCH_ROWS` specifies, about a sensitive question with four public categorical predictors. It prints the
//! time for reading and fitting. It then fits 20,000 distinct responses with two numeric columns and 24 combinations
//! of randomized predictors. benches/peers/regress.py fits as many people who were asked directly.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::types::UInt16Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt16Array};
use candor_analysis::regress::{Batch, Layout, Method, Model, ModelOptions, ModelRows, SamplingColumns, regress};
use candor_analysis::tally::answer_codes;
use candor_base::channel::{Axis, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_bulk::Randomizer;
use candor_runtime::progress::ProgressSink;
use candor_tables::BATCH_ROWS;
use candor_tables::input::Inputs;
use candor_tables::model::{DesignColumns, model_rows};
use parquet::arrow::ArrowWriter;

/// A fast generator of numbers from 0 to 1.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, size: usize) -> u16 {
        (self.next() * size as f64) as u16
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn labels(size: usize) -> Vec<String> {
    (0..size).map(|code| code.to_string()).collect()
}

/// Returns a channel that reports the true category four times out of six, and otherwise a random one.
fn die(sizes: &[usize]) -> Pattern {
    let axes = sizes.iter().map(|&size| Axis::single(size)).collect();
    let parts = vec![Part { set: PatternSet::no_miss(), weight: 4 }, Part { set: PatternSet::All, weight: 2 }];
    Pattern::new(axes, parts).unwrap()
}

const PREDICTORS: [usize; 4] = [2, 3, 4, 5];

fn categorical() -> Plan {
    let public = |(i, &size): (usize, &usize)| Attribute::new_public(format!("x{i}"), labels(size)).unwrap();
    let mut attributes = vec![Attribute::new("y", labels(2)).unwrap()];
    attributes.extend(PREDICTORS.iter().enumerate().map(public));
    Plan::new(Schema::new(attributes).unwrap(), vec![Block::new(vec![0], die(&[2]))]).unwrap()
}

fn batch(draws: &mut Draws) -> RecordBatch {
    let mut columns = vec![Vec::new(); 5];
    for _ in 0..BATCH_ROWS {
        let x = PREDICTORS.map(|size| draws.below(size));
        let odds = -0.8 + x.iter().zip([0.5, -0.2, 0.3, 0.1]).map(|(&x, b)| f64::from(x) * b).sum::<f64>();
        let yes = 1.0 / 6.0 + 2.0 / 3.0 * logistic(odds);
        columns[0].push(u16::from(draws.next() < yes));
        x.iter().zip(&mut columns[1..]).for_each(|(&x, column)| column.push(x));
    }
    let names = ["y", "x0", "x1", "x2", "x3"];
    let column = |(codes, size): (Vec<u16>, usize)| -> ArrayRef {
        let labels = Arc::new(StringArray::from(labels(size)));
        Arc::new(DictionaryArray::<UInt16Type>::try_new(UInt16Array::from(codes), labels).unwrap())
    };
    let sizes = [2].into_iter().chain(PREDICTORS);
    RecordBatch::try_from_iter(names.into_iter().zip(columns.into_iter().zip(sizes).map(column))).unwrap()
}

fn write(path: &Path, batches: usize) {
    let mut draws = Draws(1);
    let first = batch(&mut draws);
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), first.schema(), None).unwrap();
    writer.write(&first).unwrap();
    (1..batches).for_each(|_| writer.write(&batch(&mut draws)).unwrap());
    writer.close().unwrap();
}

fn many(rows: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("responses.parquet");
    let batches = rows.div_ceil(BATCH_ROWS);
    write(&path, batches);
    let plan = categorical();
    let started = Instant::now();
    let model = Model::new(&plan, &"y ~ x0 + x1 + x2 + x3".parse().unwrap(), &ModelOptions::default()).unwrap();
    let layout = Layout::new(&plan, &model).unwrap();
    let inputs = Inputs::new([path], None).unwrap();
    let (rows, read) =
        model_rows(&plan, inputs, &model, &layout, DesignColumns::default(), ProgressSink::none()).unwrap();
    let reading = started.elapsed().as_secs_f64();
    let fit = regress(&rows, &model, None, false).unwrap();
    let all = started.elapsed().as_secs_f64();
    println!(
        "{} responses, four categorical predictors, from Parquet: {all:.2} s, of which reading {reading:.2} s ({} \
         different rows, {} coefficients)",
        read.responses,
        rows.distinct(),
        fit.coefficients.len()
    );
}

fn few() {
    let attribute = |(name, size): (&str, usize)| Attribute::new(name, labels(size)).unwrap();
    let schema = Schema::new([("y", 2), ("a", 3), ("b", 4)].map(attribute).to_vec()).unwrap();
    let plan = Plan::new(schema, vec![Block::new(vec![0, 1, 2], die(&[2, 3, 4]))]).unwrap();
    let mut draws = Draws(2);
    let (mut truths, mut numbers) = (vec![Vec::new(); 3], vec![Vec::new(); 2]);
    for _ in 0..20_000 {
        let (u, v) = (4.0 * draws.next() - 2.0, 4.0 * draws.next() - 2.0);
        let a = u16::from(draws.next() < 0.5) + u16::from(draws.next() < logistic(u));
        let b = draws.below(4);
        let odds = -0.5 + 0.4 * f64::from(a) + 0.2 * f64::from(b) + 0.6 * u - 0.4 * v;
        truths[0].push(u16::from(draws.next() < logistic(odds)));
        truths[1].push(a);
        truths[2].push(b);
        numbers[0].push(u);
        numbers[1].push(v);
    }
    let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(3).stream(0)).unwrap();
    let columns = answer_codes(&plan, &answers);
    let model = Model::new(&plan, &"y ~ a + b + u + v".parse().unwrap(), &ModelOptions::default()).unwrap();
    for method in [Method::CorrectedScore, Method::MaximumLikelihood] {
        let started = Instant::now();
        let mut rows = ModelRows::new(Layout::new(&plan, &model).unwrap());
        rows.add(&Batch {
            columns: &columns,
            numbers: &numbers,
            weights: None,
            sample: SamplingColumns::default(),
            rows: 20_000,
        });
        let fit = regress(&rows, &model, Some(method), false).unwrap();
        println!(
            "{} different rows, 24 hidden combinations, {}, with tests and effects: {:.2} s ({} coefficients)",
            rows.distinct(),
            method.name(),
            started.elapsed().as_secs_f64(),
            fit.coefficients.len()
        );
    }
}

fn main() {
    many(std::env::var("CANDOR_BENCH_ROWS").map_or(10_000_000, |rows| rows.parse().unwrap()));
    few();
}
