//! The genome example of Yamamoto and Shibuya 2024, section V-B: chi-square statistics of many SNPs from records randomized together.
//!
//! Each of `2N` records (alleles) has one attribute of four categories per SNP: allele times disease status. At one total epsilon,
//! plans differ in how well each SNP's table of four comes back. The paper computes the statistic from the randomized counts as if
//! they were true (*naive*), which always shrinks it; an unbiased estimate of the counts first (*debiased*) is what an analyst should
//! do. (The published notebook randomizes only the last SNP; here whole records are randomized under the joint plan.)

use candor::plan::{Content, Plan};
use candor::randomize::Randomizer;
use candor::randomness::Source;
use candor::schema::Schema;
use candor_analysis::estimate::{TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, Rows, TableTally, answer_codes};
use candor_design::joint::optimal::optimal_within;
use candor_design::joint::optimal::search::Effort;
use candor_design::joint::{single_miss, workload};
use candor_design::{budget, independent};
use candor_study::plot::{Plot, Scale, Series};
use rand_core::Rng;

use super::uniform;
use crate::exhibit::{Outcome, Settings, Table};

/// Individuals; each has two alleles.
const INDIVIDUALS: usize = 1_000;

/// The total epsilon of a record.
const TOTAL: f64 = 20.0;

/// The numbers of SNPs tried.
const SNPS: [usize; 5] = [2, 4, 6, 8, 12];

/// The plans compared.
const METHODS: [&str; 4] = ["Kronecker", "heuristic", "optimal", "workload"];

/// Runs the example.
pub(crate) fn genome(settings: &Settings) -> Outcome {
    let runs = settings.repeats.unwrap_or(10);
    let (mut rows, mut points) = (Vec::new(), vec![Vec::new(); METHODS.len()]);
    for k in SNPS {
        let schema = Schema::of_sizes(&vec![4; k]).expect("four categories each");
        let plans = [kronecker(&schema), heuristic(&schema), optimal(&schema), for_marginals(&schema)];
        let mut row = vec![k.to_string()];
        for (method, plan) in plans.iter().enumerate() {
            let (mut naive, mut debiased) = (0.0, 0.0);
            for run in 0..runs {
                let source = Source::from_seed(settings.seed + run as u64);
                let columns = alleles(&mut source.stream(0), k);
                let off = deviations(plan, &columns, &source);
                naive += off.0 / runs as f64;
                debiased += off.1 / runs as f64;
            }
            row.extend([format!("{naive:.3}"), format!("{debiased:.3}")]);
            points[method].push((k as f64, debiased));
        }
        rows.push(row);
    }
    let mut columns = vec!["SNPs".to_owned()];
    for method in METHODS {
        columns.extend([format!("{method}, naive"), format!("{method}, debiased")]);
    }
    let series =
        METHODS.iter().zip(points).map(|(name, points)| Series { name: (*name).to_owned(), joined: true, points });
    Outcome {
        tables: vec![Table { name: "mean-deviation".to_owned(), columns, rows }],
        plots: vec![Plot {
            name: "debiased".to_owned(),
            title: format!("Mean deviation of a SNP's chi-square, debiased, total epsilon {TOTAL}"),
            x: Scale::linear("SNPs"),
            y: Scale::logarithmic("mean absolute deviation"),
            series: series.collect(),
        }],
        verdict: format!(
            "Mean absolute deviation of the chi-square statistic from that of the true counts, over all SNPs and {runs} runs, at a \
             total epsilon of {TOTAL} for the whole record. As in the paper's Fig. 5, joint plans beat the Kronecker product at the same total. The \
             statistic grows with chance, so the deviation is large wherever the counts are noisy; the naive statistic hides \
             that by shrinking towards zero, which is a bias and no accuracy. The three joint plans are nearly the same here, where one \
             total is shared equally by attributes that are alike; differences between them are the luck of the draw."
        ),
    }
}

fn kronecker(schema: &Schema) -> Plan {
    let shares = budget::share(TOTAL, &vec![1.0; schema.private().len()]).expect("a total");
    independent::independent(schema, &shares).expect("a plan")
}

/// The heuristic at the largest equal attribute epsilons within the total.
fn heuristic(schema: &Schema) -> Plan {
    let k = schema.private().len();
    let order: Vec<usize> = (0..k).collect();
    let make = |epsilon: f64| single_miss::heuristic(schema, &vec![epsilon; k], &order).expect("a plan").plan;
    let (mut low, mut high) = (TOTAL / k as f64 / 4.0, TOTAL);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        *(if make(middle).guarantee().epsilon().get() <= TOTAL { &mut low } else { &mut high }) = middle;
    }
    make(low)
}

fn optimal(schema: &Schema) -> Plan {
    let ratio = vec![1.0; schema.private().len()];
    optimal_within(schema, TOTAL, &ratio, Effort::to(1e-8)).expect("a plan").plan
}

fn for_marginals(schema: &Schema) -> Plan {
    let tables = TableList::marginals(schema);
    let weights = vec![1.0; tables.lists().len()];
    workload::lottery(schema, TOTAL, &tables, &weights, Effort::to(1e-8)).expect("a plan").plan
}

/// The category of every allele for each SNP: counts as in the paper, dealt out at random.
fn alleles(rng: &mut impl Rng, k: usize) -> Vec<Vec<u16>> {
    let n = 2 * INDIVIDUALS;
    let snp = |rng: &mut dyn FnMut() -> f64| {
        let mut binomial = |n: usize, p: f64| (0..n).filter(|_| rng() < p).count();
        let a = binomial(n, 1.0 / 3.0);
        let b = binomial(n - a, 1.0 / 3.0);
        let c = binomial(n - a - b, 2.0 / 5.0);
        let mut codes: Vec<u16> = [(0, a), (1, b), (2, c), (3, n - a - b - c)]
            .into_iter()
            .flat_map(|(code, count)| std::iter::repeat_n(code, count))
            .collect();
        for i in (1..n).rev() {
            codes.swap(i, (rng() * (i + 1) as f64) as usize);
        }
        codes
    };
    (0..k).map(|_| snp(&mut || uniform(rng, 0.0, 1.0))).collect()
}

/// Mean absolute deviations of the naive and of the debiased statistic.
fn deviations(plan: &Plan, columns: &[Vec<u16>], source: &Source) -> (f64, f64) {
    let answers = Randomizer::new(plan).batch(columns, &mut source.stream(1)).expect("codes in range");
    let codes = answer_codes(plan, &answers, columns);
    let n = 2.0 * INDIVIDUALS as f64;
    let (mut naive, mut debiased) = (0.0, 0.0);
    for (snp, truth) in columns.iter().enumerate() {
        let exact = chi_square(shares(truth), n);
        let column = plan
            .columns()
            .iter()
            .position(|c| matches!(c.content, Content::Answer { .. }) && c.name == format!("a{}", snp + 1));
        let answered = match column.map(|column| &codes[column]) {
            Some(Codes::One(codes)) => shares(codes),
            _ => unreachable!("every attribute has its own answers"),
        };
        naive += (chi_square(answered, n) - exact).abs();
        let estimator = TableEstimator::new(plan, &[snp]).expect("one-way tables are identifiable");
        let mut tally = TableTally::new(estimator.layout().clone());
        tally.add(plan, &codes, Rows::Single, |_| true);
        let estimate = estimator.estimate(&tally, Target::Table).expect("responses");
        let estimated = [0, 1, 2, 3].map(|cell| estimate.shares[cell]);
        debiased += (chi_square(estimated, n) - exact).abs();
    }
    (naive / columns.len() as f64, debiased / columns.len() as f64)
}

fn shares(codes: &[u16]) -> [f64; 4] {
    let mut shares = [0.0; 4];
    codes.iter().for_each(|&code| shares[usize::from(code)] += 1.0 / codes.len() as f64);
    shares
}

/// The statistic of a 2 x 2 table; estimated shares below a small positive number count as that, for a table with an
/// empty or negative margin has none.
fn chi_square(shares: [f64; 4], n: f64) -> f64 {
    let [a, b, c, d] = shares.map(|share| share.max(1e-4));
    let margins = (a + b) * (c + d) * (a + c) * (b + d);
    n * (a * d - b * c).powi(2) / margins
}
