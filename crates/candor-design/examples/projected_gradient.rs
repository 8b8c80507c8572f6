//! A peer for workload plans: the projected-gradient mechanism of McKenna, Maity, Mazumdar and Miklau (VLDB 2020).
//!
//! It is written from its description and compared with candor's lottery on small domains. The mechanism is a matrix
//! `Q` with four times as many answers as records, `z_o <= Q(o|x) <= e^epsilon z_o`, whose columns sum to 1. It
//! descends on `tr(J^-1 G)`, where `J = N sum over o of q_o q_o' / (1'q_o)` is the information for a uniform population
//! and `G` the Gram matrix of the tables. Steps grow while the error decreases, and shrink otherwise. Of several
//! initial steps and random starts, the best run counts.
//!
//! Run with `cargo run --release -p candor-design --example projected_gradient`; results are in benches/results/.

use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use candor_base::shape::Shape;
use candor_design::bound::{Bound, Costs};
use candor_design::joint::least_epsilon::search::SearchLimits;
use candor_design::joint::least_error::lottery;
use candor_runtime::progress::ProgressSink;
use nalgebra::{DMatrix, DVector};

const STEPS: usize = 1_500;
const STARTS: u64 = 3;
const RATES: [f64; 3] = [0.02, 0.1, 0.5];

fn main() {
    println!("domain     epsilon      bound    candor  projected gradient");
    for (sizes, epsilon) in [([2, 3, 4], 1.0), ([2, 3, 4], 2.0), ([3, 3, 3], 1.0), ([3, 3, 3], 2.0)] {
        let schema = Schema::with_sizes(&sizes).expect("a schema");
        let (tables, weights) = TableList::parse_weighted(&each_component_once(&sizes), &schema).expect("tables");
        let costs = Costs::of_tables(&schema, &tables, &weights).expect("costs");
        let bound = Bound::new(costs, epsilon).at(epsilon);
        let effort = SearchLimits::within(3, None, ProgressSink::none());
        let ours = lottery(&schema, epsilon, &tables, &weights, effort).expect("a plan").error;
        let gram = gram(&sizes, &tables, &weights);
        let runs = RATES.into_iter().flat_map(|rate| (0..STARTS).map(move |start| (rate, start)));
        let theirs = runs.map(|(rate, start)| descend(&gram, epsilon, rate, start)).fold(f64::INFINITY, f64::min);
        println!("{:<10} {epsilon:>7} {bound:>10.3} {ours:>9.3} {theirs:>19.3}", format!("{sizes:?}"));
    }
}

/// Returns all pairs, with single attributes weighted such that each component counts once.
fn each_component_once(sizes: &[usize; 3]) -> String {
    let rest = |i: usize| 1.0 - (0..3).filter(|&j| j != i).map(|j| 1.0 / sizes[j] as f64).sum::<f64>();
    format!("a1,a2;a1,a3;a2,a3;a1:{};a2:{};a3:{}", rest(0), rest(1), rest(2))
}

/// Returns `W' W` of the tables, without the sum over all records, which is known.
fn gram(sizes: &[usize], tables: &TableList, weights: &[f64]) -> DMatrix<f64> {
    let shape = Shape::new(sizes.to_vec());
    let records = shape.cells();
    let mut gram = DMatrix::zeros(records, records);
    for (table, weight) in tables.lists().iter().zip(weights) {
        let cells: Vec<usize> = shape.project_all(table).collect();
        gram += DMatrix::from_fn(records, records, |x, y| if cells[x] == cells[y] { *weight } else { 0.0 });
    }
    let centre = DMatrix::identity(records, records) - DMatrix::from_element(records, records, 1.0 / records as f64);
    &centre * gram * &centre
}

/// Returns the error at the end of the descent.
fn descend(gram: &DMatrix<f64>, epsilon: f64, rate: f64, start: u64) -> f64 {
    let (records, e) = (gram.nrows(), epsilon.exp());
    let answers = 4 * records;
    let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(start + 1);
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut least = DVector::from_element(answers, (1.0 + 1.0 / e) / (2.0 * answers as f64));
    let wished = DMatrix::from_fn(answers, records, |_, _| uniform());
    let (mut q, mut held) = project(&wished, &least, e);
    let Some((mut error, mut gradient)) = error_and_gradient(&q, gram) else { return f64::INFINITY };
    // For the entries and for their lower limits, in turn.
    let mut lengths =
        [rate / gradient.amax(), rate / gradient_of_least(&gradient, &held, e).amax()].map(|l| l / answers as f64);
    for step in 0..2 * STEPS {
        let turn = step % 2;
        let (mut wished, mut lower) = (q.clone(), least.clone());
        match turn {
            0 => wished -= lengths[0] * &gradient,
            _ => lower -= lengths[1] * gradient_of_least(&gradient, &held, e),
        }
        lower.iter_mut().for_each(|z| *z = z.clamp(1e-9 / answers as f64, 1.0));
        // Columns must be able to sum to 1.
        let sum = lower.sum();
        lower *= if sum > 1.0 { 1.0 / sum } else { (1.0 / (e * sum)).max(1.0) };
        let (next, next_held) = project(&wished, &lower, e);
        match error_and_gradient(&next, gram).filter(|(next, _)| *next > 0.0 && *next < error) {
            Some(better) => {
                ((error, gradient), q, held, least) = (better, next, next_held, lower);
                lengths[turn] *= 1.3;
            }
            None => lengths[turn] *= 0.5,
        }
    }
    error
}

/// The position of an entry: at its lower limit, between the limits, or at its upper limit.
type Held = DMatrix<i8>;

/// Returns the nearest columns within `z .. e z` that sum to 1.
///
/// The constant added to all entries of a column is found by bisection.
fn project(wished: &DMatrix<f64>, least: &DVector<f64>, e: f64) -> (DMatrix<f64>, Held) {
    let mut q = wished.clone();
    let mut held = Held::zeros(q.nrows(), q.ncols());
    for (x, column) in wished.column_iter().enumerate() {
        let at = |added: f64, o: usize| (column[o] + added).clamp(least[o], e * least[o]);
        let (mut low, mut high) = (-2.0 - column.amax(), 2.0 + column.amax());
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let sum: f64 = (0..column.len()).map(|o| at(middle, o)).sum();
            if sum < 1.0 { low = middle } else { high = middle }
        }
        for o in 0..column.len() {
            q[(o, x)] = at(high, o);
            held[(o, x)] = i8::from(q[(o, x)] >= e * least[o]) - i8::from(q[(o, x)] <= least[o]);
        }
    }
    (q, held)
}

/// Returns `tr(J^-1 G)` and its gradient, by answer and record.
fn error_and_gradient(q: &DMatrix<f64>, gram: &DMatrix<f64>) -> Option<(f64, DMatrix<f64>)> {
    let n = q.ncols() as f64;
    let sums = q.column_sum();
    let scaled = DMatrix::from_fn(q.nrows(), q.ncols(), |o, x| q[(o, x)] / sums[o]);
    let inverse = (n * q.tr_mul(&scaled)).cholesky()?.inverse();
    let sensitive = &inverse * gram * &inverse;
    let error = (&inverse * gram).trace();
    let across = q * &sensitive;
    let curved: Vec<f64> = (0..q.nrows()).map(|o| across.row(o).dot(&q.row(o)) / sums[o]).collect();
    let gradient = DMatrix::from_fn(q.nrows(), q.ncols(), |o, x| -n / sums[o] * (2.0 * across[(o, x)] - curved[o]));
    Some((error, gradient))
}

/// Returns the gradient of the error by the lower limits.
///
/// Entries at a limit move with it, and entries between the limits compensate for them.
fn gradient_of_least(gradient: &DMatrix<f64>, held: &Held, e: f64) -> DVector<f64> {
    let mut slope = DVector::zeros(gradient.nrows());
    for x in 0..gradient.ncols() {
        let between: Vec<usize> = (0..gradient.nrows()).filter(|&o| held[(o, x)] == 0).collect();
        let mean = between.iter().map(|&o| gradient[(o, x)]).sum::<f64>() / between.len().max(1) as f64;
        for o in 0..gradient.nrows() {
            let moves = [1.0, 0.0, e][(held[(o, x)] + 1) as usize];
            slope[o] += moves * (gradient[(o, x)] - mean);
        }
    }
    slope
}
