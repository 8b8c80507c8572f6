//! The genome example of Yamamoto and Shibuya 2024, section V-B and Fig. 5 (Fig. S1 of the supplement): chi-square
//! statistics of many SNPs from records randomized together.
//!
//! Each of `2N` records (alleles) has one attribute of four categories per SNP: allele times disease status.

use candor::plot::{Plot, Scale, Series};
use candor_analysis::tally::{Codes, answer_codes};
use candor_base::plan::{Content, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use candor_design::independent::independent;
use candor_design::joint::single_miss;
use rand_core::Rng;

use super::uniform;
use crate::adult::Dataset;
use crate::exhibit::{Outcome, Settings, Table};

/// Setup in the authors' words, and details found in their notebook only.
pub const SETUP: &str = "\
    Considering each allele information and disease status as an attribute value, a_i = 4; the dataset contains k \
    SNPs, N = 1,000.\n\
    A_i = Binomial(2N, 1/3), B_i = Binomial(2N - A_i, 1/3), C_i = Binomial(2N - A_i - B_i, 2/5), D_i = 2N - A_i - \
    B_i - C_i; the statistic is 2N (A_i D_i - B_i C_i)^2 / ((A_i + B_i)(C_i + D_i)(A_i + C_i)(B_i + D_i)).\n\
    The y-axis represents the average difference between the original and differentially private statistics, over 10 \
    runs; the error bar represents the range of all results.\n\
    The authors' notebook: k = 10, 20, ..., 100; epsilon_i uniform in 3..5; Algorithm 3 gives the achieved epsilon_i \
    and the level of the entire dataset; the Kronecker product gets the same total in the same ratio; the statistic \
    is computed from the randomized counts as they are (naive).\n\
    Its faults: every SNP is randomized from the data of the last one, yet compared with its own statistic; and each \
    SNP is randomized on its own, which gives the same distribution of its counts as the joint matrix.\n\
    Both are kept in the columns \"as in the notebook\" and mended in the others, where every SNP has its own data \
    and whole records are randomized under one plan.";

/// Number of individuals; each has two alleles.
const INDIVIDUALS: usize = 1_000;

/// Values printed by the authors' notebook for k = 10, 20, ..., 100: heuristic and Kronecker.
const PRINTED: [(f64, f64); 10] = [
    (18.74045737, 59.44948526),
    (21.92576267, 63.23553897),
    (23.44523555, 63.32806253),
    (20.52285693, 64.11386596),
    (18.66420153, 63.5331259),
    (20.92043422, 64.4615367),
    (22.11987659, 63.50163575),
    (18.50933255, 62.30945143),
    (21.67815424, 63.42094833),
    (20.09285875, 63.58808526),
];

/// Results of one method at one number of SNPs, run by run.
#[derive(Clone, Default)]
struct Runs(Vec<f64>);

impl Runs {
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// Formats the mean with the range of all runs.
    fn cell(&self) -> String {
        let least = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{:.1} ({least:.1} to {largest:.1})", self.mean())
    }
}

/// Heuristic and Kronecker, each as in the notebook, corrected, and corrected with the counts estimated first.
#[derive(Default)]
struct Methods {
    notebook: [Runs; 2],
    mended: [Runs; 2],
    debiased: [Runs; 2],
    total: Runs,
    /// Original statistic, averaged over the SNPs.
    original: Runs,
}

/// Runs the experiment.
pub(super) fn genome(settings: &Settings) -> Outcome {
    let runs = settings.repeats.unwrap_or(10);
    let all: Vec<(usize, Methods)> = (1..=10).map(|tens| (10 * tens, methods(settings, 10 * tens, runs))).collect();
    let row = |((k, methods), printed): (&(usize, Methods), &(f64, f64))| {
        let mut row = vec![k.to_string()];
        row.extend([&methods.total, &methods.original].map(|runs| format!("{:.1}", runs.mean())));
        row.extend([format!("{:.1}", printed.0), format!("{:.1}", printed.1)]);
        for kind in [&methods.notebook, &methods.mended, &methods.debiased] {
            row.extend(kind.iter().map(Runs::cell));
        }
        row
    };
    let columns = [
        "k",
        "total epsilon",
        "original statistic, mean",
        "heuristic, printed by the notebook",
        "Kronecker, printed",
        "heuristic, as in the notebook",
        "Kronecker, as in the notebook",
        "heuristic, mended",
        "Kronecker, mended",
        "heuristic, mended and debiased",
        "Kronecker, mended and debiased",
    ];
    Outcome {
        tables: vec![Table {
            name: "difference".to_owned(),
            columns: columns.map(String::from).to_vec(),
            rows: all.iter().zip(&PRINTED).map(row).collect(),
        }],
        plots: vec![plot("notebook", &all, |m| &m.notebook), plot("mended", &all, |m| &m.mended)],
        verdict: verdict(&all, runs),
    }
}

fn plot(name: &str, all: &[(usize, Methods)], of: fn(&Methods) -> &[Runs; 2]) -> Plot {
    let series = |which: usize, name: &str, joined: bool, value: &dyn Fn(&Runs) -> f64| Series {
        name: name.to_owned(),
        joined,
        points: all.iter().map(|(k, methods)| (*k as f64, value(&of(methods)[which]))).collect(),
    };
    let least = |runs: &Runs| runs.0.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = |runs: &Runs| runs.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut all = Vec::new();
    for (which, method) in ["heuristic", "Kronecker"].into_iter().enumerate() {
        all.push(series(which, method, true, &Runs::mean));
        all.push(series(which, &format!("{method}, least"), false, &least));
        all.push(series(which, &format!("{method}, largest"), false, &largest));
    }
    Plot {
        name: name.to_owned(),
        title: format!("Average difference of chi-square statistics, {name}"),
        x: Scale::linear("number of SNPs (k)"),
        y: Scale::linear("difference"),
        series: all,
    }
}

fn verdict(all: &[(usize, Methods)], runs: usize) -> String {
    let span = |value: &dyn Fn(&Methods) -> f64| {
        let values = all.iter().map(|(_, methods)| value(methods));
        let (least, largest) =
            values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        format!("{least:.1} to {largest:.1}")
    };
    let share =
        |of: fn(&Methods) -> &[Runs; 2]| all.iter().map(|(_, m)| of(m)[0].mean() / of(m)[1].mean()).fold(0.0, f64::max);
    let off = all.iter().zip(&PRINTED).map(|((_, m), printed)| {
        let [heuristic, kronecker] = [&m.notebook[0], &m.notebook[1]].map(Runs::mean);
        (heuristic - printed.0).abs().max((kronecker - printed.1).abs())
    });
    let (notebook, mended, debiased) = (share(|m| &m.notebook), share(|m| &m.mended), share(|m| &m.debiased));
    let added = |which: usize| {
        all.iter().map(|(_, m)| m.notebook[which].mean() - m.mended[which].mean()).sum::<f64>() / all.len() as f64
    };
    let half = |share: f64| if share < 0.5 { "less than half" } else { "more than half" };
    format!(
        "Means over {runs} runs with the range of all of them.\n\
         As in the notebook, the heuristic's differences are {} and those of the Kronecker product {}; the notebook \
         prints 18.5 to 23.4 and 59.4 to 64.5, and no mean of ours is further from the printed one than {:.1}.\n\
         The paper says \"almost less than half\": at its largest the heuristic's mean is {notebook:.2} of the \
         Kronecker product's ({}).\n\
         With its own data for every SNP the differences are {} and {} (at most {mended:.2}): taking the last SNP's \
         data for all changes the mean difference by {:+.1} for the heuristic and {:+.1} for the Kronecker \
         product.\n\
         The naive statistic takes randomized counts for true ones: the Kronecker product's differences are {:.2} of \
         the original statistic on average.\n\
         Estimating the counts first gives {} and {} (at most {debiased:.2}).",
        span(&|m| m.notebook[0].mean()),
        span(&|m| m.notebook[1].mean()),
        off.fold(0.0, f64::max),
        half(notebook),
        span(&|m| m.mended[0].mean()),
        span(&|m| m.mended[1].mean()),
        added(0),
        added(1),
        all.iter().map(|(_, m)| m.mended[1].mean() / m.original.mean()).sum::<f64>() / all.len() as f64,
        span(&|m| m.debiased[0].mean()),
        span(&|m| m.debiased[1].mean()),
    )
}

/// Returns all runs at one number of SNPs.
fn methods(settings: &Settings, k: usize, runs: usize) -> Methods {
    let mut methods = Methods::default();
    let schema = Schema::with_sizes(&vec![4; k]).expect("four categories each");
    let order: Vec<usize> = (0..k).collect();
    for run in 0..runs {
        let source = Source::from_seed(settings.seed.wrapping_mul(1_000).wrapping_add((k * 100 + run) as u64));
        let mut rng = source.stream(0);
        let asked: Vec<f64> = (0..k).map(|_| uniform(&mut rng, 3.0, 5.0)).collect();
        let made = single_miss::heuristic(&schema, &asked, &order).expect("a plan");
        let mut achieved = asked;
        made.altered.iter().for_each(|&(i, epsilon)| achieved[i] = epsilon);
        let total = made.plan.guarantee().epsilon().as_f64();
        let sum: f64 = achieved.iter().sum();
        let kronecker: Vec<f64> = achieved.iter().map(|epsilon| epsilon * total / sum).collect();
        let plans = [made.plan, independent(&schema, &kronecker).expect("a plan")];
        let columns = alleles(&mut rng, k);
        let exact: Vec<f64> = columns.iter().map(|column| chi_square(&counts(column, 4), TWO_BY_TWO)).collect();
        for (method, epsilons) in [&achieved, &kronecker].into_iter().enumerate() {
            let last = columns.last().expect("several SNPs");
            let notebook = epsilons.iter().map(|&epsilon| alone(last, epsilon, &mut rng));
            methods.notebook[method].0.push(difference(&exact, notebook.map(|counts| chi_square(&counts, TWO_BY_TWO))));
            let answered = together(&plans[method], &columns, &source);
            let naive = answered.iter().map(|counts| chi_square(counts, TWO_BY_TWO));
            methods.mended[method].0.push(difference(&exact, naive));
            let debiased =
                answered.iter().zip(epsilons).map(|(counts, &e)| chi_square(&estimated(counts, e), TWO_BY_TWO));
            methods.debiased[method].0.push(difference(&exact, debiased));
        }
        methods.total.0.push(total);
        methods.original.0.push(exact.iter().sum::<f64>() / k as f64);
    }
    methods
}

fn difference(exact: &[f64], found: impl Iterator<Item = f64>) -> f64 {
    exact.iter().zip(found).map(|(exact, found)| (exact - found).abs()).sum::<f64>() / exact.len() as f64
}

/// Returns the category of every allele for each SNP: counts as in the paper, in random order.
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

fn counts(codes: &[u16], categories: usize) -> Vec<f64> {
    let mut counts = vec![0.0; categories];
    codes.iter().for_each(|&code| counts[usize::from(code)] += 1.0);
    counts
}

/// Returns the probability of an unaltered answer at an attribute epsilon.
fn retention(epsilon: f64, categories: usize) -> f64 {
    1.0 / (1.0 + (categories - 1) as f64 * (-epsilon).exp())
}

/// Returns the counts of one SNP that is randomized on its own.
fn alone(column: &[u16], epsilon: f64, rng: &mut impl Rng) -> Vec<f64> {
    let kept = retention(epsilon, 4);
    let mut counts = vec![0.0; 4];
    for &code in column {
        let at = uniform(rng, 0.0, 1.0);
        // The rest of the unit interval is divided equally among the three other categories.
        let shift = if at < kept { 0 } else { 1 + ((at - kept) / (1.0 - kept) * 3.0).min(2.0) as usize };
        counts[(usize::from(code) + shift) % 4] += 1.0;
    }
    counts
}

/// Returns the counts of every SNP from complete records randomized under a plan.
fn together(plan: &Plan, columns: &[Vec<u16>], source: &Source) -> Vec<Vec<f64>> {
    let answers = Randomizer::new(plan).batch(columns, &mut source.stream(1)).expect("codes in range");
    let codes = answer_codes(plan, &answers);
    let answered = |snp: usize| {
        let name = format!("a{}", snp + 1);
        let column = plan.columns().iter().position(|c| matches!(c.content, Content::Answer { .. }) && c.name == name);
        match column.map(|column| &codes[column]) {
            Some(Codes::One(codes)) => counts(codes, plan.schema().size(snp)),
            _ => unreachable!("every attribute has its own answers"),
        }
    };
    (0..columns.len()).map(answered).collect()
}

/// Returns unbiased counts from the counts of answers at an attribute epsilon.
fn estimated(answered: &[f64], epsilon: f64) -> Vec<f64> {
    let kept = retention(epsilon, answered.len());
    let other = (1.0 - kept) / (answered.len() - 1) as f64;
    let n: f64 = answered.iter().sum();
    answered.iter().map(|count| (count - n * other) / (kept - other)).collect()
}

/// Alleles by disease status.
const TWO_BY_TWO: [usize; 2] = [2, 2];

/// Returns the chi-square statistic of a table, row by row. It is undefined for an empty or negative margin, so
/// estimated counts are raised to a small positive number.
fn chi_square(counts: &[f64], [r, c]: [usize; 2]) -> f64 {
    let n: f64 = counts.iter().sum();
    let counts: Vec<f64> = counts.iter().map(|count| count.max(1e-4 * n)).collect();
    let total: f64 = counts.iter().sum();
    let row = |i: usize| (0..c).map(|j| counts[i * c + j]).sum::<f64>();
    let column = |j: usize| (0..r).map(|i| counts[i * c + j]).sum::<f64>();
    let term = |cell: usize| {
        let expected = row(cell / c) * column(cell % c) / total;
        (counts[cell] - expected).powi(2) / expected
    };
    (0..r * c).map(term).sum::<f64>() * n / total
}

/// The example on one's own data: each of the first `k` attributes crossed with an outcome.
pub(crate) struct Own<'a> {
    pub data: &'a Dataset,
    /// The position of the outcome, such as a disease.
    pub outcome: usize,
    /// Numbers of SNPs.
    pub snps: &'a [usize],
    /// The range of each attribute's level.
    pub epsilon_i: (f64, f64),
}

impl Own<'_> {
    /// The attributes that may be crossed with the outcome.
    pub fn others(&self) -> Vec<usize> {
        self.data.schema.randomized().into_iter().filter(|&place| place != self.outcome).collect()
    }

    /// Differences of statistics of the heuristic and the Kronecker product at the same total.
    pub fn experiment(&self, settings: &Settings) -> Outcome {
        let runs = settings.repeats.unwrap_or(10);
        let all: Vec<(usize, Methods)> = self.snps.iter().map(|&k| (k, self.methods(k, runs, settings.seed))).collect();
        let row = |(k, methods): &(usize, Methods)| {
            let mut row = vec![k.to_string()];
            row.extend([&methods.total, &methods.original].map(|runs| format!("{:.1}", runs.mean())));
            for kind in [&methods.mended, &methods.debiased] {
                row.extend(kind.iter().map(Runs::cell));
            }
            row
        };
        let columns = [
            "k",
            "total epsilon",
            "original statistic, mean",
            "heuristic, naive",
            "Kronecker, naive",
            "heuristic, corrected",
            "Kronecker, corrected",
        ];
        let share = all.iter().map(|(_, m)| m.mended[0].mean() / m.mended[1].mean()).fold(0.0, f64::max);
        Outcome {
            tables: vec![Table {
                name: "difference".to_owned(),
                columns: columns.map(String::from).to_vec(),
                rows: all.iter().map(row).collect(),
            }],
            plots: vec![plot("naive", &all, |m| &m.mended), plot("corrected", &all, |m| &m.debiased)],
            verdict: format!(
                "Means of the absolute differences from the original statistics over {runs} runs, with the range of \
                 all of them; a simulation on true records, which protects nobody.\n\
                 Naive: the counts of the answers; the heuristic's difference is at most {share:.2} of the Kronecker \
                 product's.\n\
                 Corrected: the estimated counts."
            ),
        }
    }

    fn methods(&self, k: usize, runs: usize, seed: u64) -> Methods {
        let mut methods = Methods::default();
        let (schema, outcome) = (&self.data.schema, &self.data.columns[self.outcome]);
        let c = schema.size(self.outcome);
        let snps: Vec<usize> = self.others().into_iter().take(k).collect();
        let dims: Vec<[usize; 2]> = snps.iter().map(|&snp| [schema.size(snp), c]).collect();
        let cross = |&snp: &usize| {
            self.data.columns[snp].iter().zip(outcome).map(|(allele, status)| allele * c as u16 + status).collect()
        };
        let columns: Vec<Vec<u16>> = snps.iter().map(cross).collect();
        let sizes: Vec<usize> = dims.iter().map(|[r, c]| r * c).collect();
        let crossed = Schema::with_sizes(&sizes).expect("at most 65,536 categories");
        let order: Vec<usize> = (0..k).collect();
        let statistics = |counts: &mut dyn Iterator<Item = Vec<f64>>| -> Vec<f64> {
            counts.zip(&dims).map(|(counts, &dims)| chi_square(&counts, dims)).collect()
        };
        let exact = statistics(&mut columns.iter().zip(&sizes).map(|(column, &size)| counts(column, size)));
        for run in 0..runs {
            let source = Source::from_seed(seed.wrapping_mul(1_000).wrapping_add((k * 100 + run) as u64));
            let mut rng = source.stream(0);
            let asked: Vec<f64> = (0..k).map(|_| uniform(&mut rng, self.epsilon_i.0, self.epsilon_i.1)).collect();
            let made = single_miss::heuristic(&crossed, &asked, &order).expect("a plan");
            let mut achieved = asked;
            made.altered.iter().for_each(|&(i, epsilon)| achieved[i] = epsilon);
            let total = made.plan.guarantee().epsilon().as_f64();
            let sum: f64 = achieved.iter().sum();
            let kronecker: Vec<f64> = achieved.iter().map(|epsilon| epsilon * total / sum).collect();
            let plans = [made.plan, independent(&crossed, &kronecker).expect("a plan")];
            for (method, epsilons) in [&achieved, &kronecker].into_iter().enumerate() {
                let answered = together(&plans[method], &columns, &source);
                let naive = statistics(&mut answered.iter().cloned());
                let corrected = statistics(&mut answered.iter().zip(epsilons).map(|(counts, &e)| estimated(counts, e)));
                methods.mended[method].0.push(difference(&exact, naive.into_iter()));
                methods.debiased[method].0.push(difference(&exact, corrected.into_iter()));
            }
            methods.total.0.push(total);
            methods.original.0.push(exact.iter().sum::<f64>() / k as f64);
        }
        methods
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The notebook's means are reproduced; the standard error of a mean of ten runs is about 2 for the heuristic and 1
    /// for the Kronecker product.
    #[test]
    fn means_are_those_of_the_notebook() {
        let settings = Settings { seed: 1, repeats: None };
        let found = [10, 50].map(|k| methods(&settings, k, 10));
        for (methods, printed) in found.iter().zip([PRINTED[0], PRINTED[4]]) {
            let [heuristic, kronecker] = [&methods.notebook[0], &methods.notebook[1]].map(Runs::mean);
            assert!((heuristic - printed.0).abs() < 8.0, "{heuristic} {printed:?}");
            assert!((kronecker - printed.1).abs() < 5.0, "{kronecker} {printed:?}");
            assert!(methods.mended[0].mean() < heuristic, "one SNP's data for all adds to the differences");
            assert!(heuristic < 0.5 * kronecker);
        }
    }

    /// Pearson's statistic of 2 x 2 tables is the paper's formula.
    #[test]
    fn the_statistic_is_that_of_the_paper() {
        for [a, b, c, d] in [[600.0, 500.0, 400.0, 500.0], [10.0, 1.0, 7.0, 30.0], [250.0, 250.0, 250.0, 250.0]] {
            let n: f64 = a + b + c + d;
            let printed = n * (a * d - b * c).powi(2) / ((a + b) * (c + d) * (a + c) * (b + d));
            assert!((chi_square(&[a, b, c, d], TWO_BY_TWO) - printed).abs() < 1e-9 * (1.0 + printed));
        }
    }

    /// On data of the paper's kind, with three alleles for some SNPs, the heuristic is better at the same total.
    #[test]
    fn the_example_on_data_of_ones_own() {
        let mut rng = Source::from_seed(3).stream(0);
        let mut data = Dataset { schema: Schema::with_sizes(&[2, 2, 3, 2, 3]).unwrap(), columns: vec![Vec::new(); 5] };
        for _ in 0..2_000 {
            let disease = (rng.next_u64() % 2) as u16;
            data.columns[0].push(disease);
            for snp in 1..5 {
                let size = [2, 2, 3, 2, 3][snp];
                data.columns[snp].push(if rng.next_u64().is_multiple_of(3) {
                    disease
                } else {
                    (rng.next_u64() % size) as u16
                });
            }
        }
        let own = Own { data: &data, outcome: 0, snps: &[2, 4], epsilon_i: (3.0, 5.0) };
        let made = own.experiment(&Settings { seed: 1, repeats: Some(4) });
        assert_eq!(made.tables[0].rows.len(), 2);
        assert_eq!(made.plots.len(), 2);
        for k in [2, 4] {
            let found = own.methods(k, 20, 1);
            assert!(found.mended[0].mean() < found.mended[1].mean());
            assert!(found.debiased[0].mean() < found.debiased[1].mean());
        }
    }

    /// One SNP on its own, and as part of a record, has the same distribution of counts.
    #[test]
    fn joint_plans_randomize_an_attribute_as_its_level_says() {
        let source = Source::from_seed(5);
        let mut rng = source.stream(0);
        let columns = alleles(&mut rng, 10);
        let schema = Schema::with_sizes(&[4; 10]).unwrap();
        let made = single_miss::heuristic(&schema, &[4.0; 10], &(0..10).collect::<Vec<_>>()).unwrap();
        let achieved = made.altered.iter().find(|(i, _)| *i == 9).map_or(4.0, |&(_, epsilon)| epsilon);
        let answered = together(&made.plan, &columns, &source);
        let found = estimated(&answered[9], achieved);
        for (found, exact) in found.iter().zip(counts(&columns[9], 4)) {
            // Each estimate has a standard deviation below 25.
            assert!((found - exact).abs() < 150.0, "{found} {exact}");
        }
    }
}
