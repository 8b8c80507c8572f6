//! Yamamoto and Shibuya 2024, "Privacy-Optimized Randomized Response for Sharing Multi-Attribute Data", with what it
//! could not compute: the optimum beyond ten attributes.

mod genome;

use std::time::Instant;

use candor::randomness::Source;
use candor_design::joint::optimal::levels::Levels;
use candor_design::joint::optimal::search::{Effort, search};
use candor_design::joint::single_miss::heuristic_outcome;
use candor_study::plot::{Plot, Scale, Series};
use rand_core::Rng;

use crate::exhibit::{Exhibit, Outcome, Paper, Settings, Table};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "optimized-rr",
    title: "Privacy-Optimized Randomized Response for Sharing Multi-Attribute Data (Yamamoto and Shibuya 2024)",
    exhibits: &[
        Exhibit {
            name: "figure-1",
            caption: "record epsilon over the sum of attribute epsilons, a = 5, epsilons in 1..8",
            make: |settings| ratios(settings, Vary::Epsilons, Against::Sum),
        },
        Exhibit {
            name: "figure-2",
            caption: "the heuristic's record epsilon over the optimum, a = 5, epsilons in 1..8",
            make: |settings| ratios(settings, Vary::Epsilons, Against::Optimum),
        },
        Exhibit {
            name: "figure-3",
            caption: "record epsilon over the sum of attribute epsilons, epsilon = 3, a in 2..20",
            make: |settings| ratios(settings, Vary::Sizes, Against::Sum),
        },
        Exhibit {
            name: "figure-4",
            caption: "the heuristic's record epsilon over the optimum, epsilon = 3, a in 2..20",
            make: |settings| ratios(settings, Vary::Sizes, Against::Optimum),
        },
        Exhibit { name: "table-1", caption: "run time of the optimum and of the heuristic", make: run_times },
        Exhibit {
            name: "figure-5",
            caption: "chi-square statistics of SNPs from randomized records at one total epsilon",
            make: genome::genome,
        },
    ],
};

/// What is random about an instance.
#[derive(Clone, Copy, PartialEq)]
enum Vary {
    /// The attribute epsilons; `a = 5`.
    Epsilons,
    /// The numbers of categories; epsilon = 3.
    Sizes,
}

/// What record epsilons are compared with.
#[derive(Clone, Copy, PartialEq)]
enum Against {
    /// The sum of the attribute epsilons, which the Kronecker product spends.
    Sum,
    /// The optimum.
    Optimum,
}

/// The numbers of attributes of the paper, and those beyond, each with its number of instances.
const ATTRIBUTES: [(usize, usize); 7] = [(3, 200), (5, 200), (7, 200), (10, 200), (16, 200), (30, 60), (100, 6)];

/// One random instance and what came out.
struct Result {
    /// Where it is on the horizontal axis: the sum of what varies.
    at: f64,
    sum: f64,
    optimum: f64,
    lower: f64,
    heuristic: f64,
    altered: usize,
    raised: usize,
}

/// Uniform numbers for instances.
fn uniform(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * ((rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64)
}

fn instance(rng: &mut impl Rng, k: usize, vary: Vary) -> Result {
    let mut sizes = vec![5; k];
    let mut epsilons = vec![3.0; k];
    match vary {
        Vary::Epsilons => epsilons.iter_mut().for_each(|e| *e = uniform(rng, 1.0, 8.0)),
        Vary::Sizes => sizes.iter_mut().for_each(|a| *a = uniform(rng, 2.0, 21.0) as usize),
    }
    let at = match vary {
        Vary::Epsilons => epsilons.iter().sum(),
        Vary::Sizes => sizes.iter().map(|&a| a as f64).sum(),
    };
    let levels = Levels::new(sizes, epsilons.clone()).expect("positive epsilons");
    let found = search(&levels, Effort::to(1e-7));
    let order: Vec<usize> = (0..k).collect();
    let (heuristic, altered) = heuristic_outcome(&levels, &order);
    let raised = altered.iter().filter(|&&(i, achieved)| achieved > epsilons[i]).count();
    let (optimum, lower) = (found.upper, found.lower);
    Result { at, sum: epsilons.iter().sum(), optimum, lower, heuristic, altered: altered.len(), raised }
}

fn ratios(settings: &Settings, vary: Vary, against: Against) -> Outcome {
    let mut outcome = Outcome::default();
    let mut rows = Vec::new();
    for (number, (k, usual)) in ATTRIBUTES.into_iter().enumerate() {
        let mut rng = Source::from_seed(settings.seed).stream(number as u64);
        let mut results: Vec<Result> =
            (0..settings.repeats.unwrap_or(usual)).map(|_| instance(&mut rng, k, vary)).collect();
        results.sort_by(|a, b| a.at.total_cmp(&b.at));
        rows.push(summary(k, &results));
        outcome.plots.push(plot(k, &results, vary, against));
    }
    let columns = [
        "attributes",
        "instances",
        "optimum / sum",
        "heuristic / sum",
        "heuristic / optimum",
        "largest gap",
        "instances with altered epsilons",
        "with raised ones",
    ];
    let columns = columns.map(String::from).to_vec();
    outcome.tables.push(Table { name: "summary".to_owned(), columns, rows });
    outcome.verdict = "The ratios of the paper's figures come out for k = 3, 5, 7 and 10 (the paper prints no numbers to compare cell by \
        cell): the optimum spends well below the sum, the heuristic comes close to it where the epsilons are large or the categories \
        few. What the figures do not show: where the heuristic looks best relative to the optimum, or even better, it has often given \
        some attributes more epsilon than asked for. Beyond k = 10 the optimum is ours; each is proven by a lower bound, with the \
        largest gap in the table."
        .to_owned();
    if vary == Vary::Sizes {
        outcome.verdict +=
            " The paper does not say from which range the numbers of categories are drawn; here 2 to 20.";
    }
    outcome
}

fn summary(k: usize, results: &[Result]) -> Vec<String> {
    let mean = |value: &dyn Fn(&Result) -> f64| results.iter().map(value).sum::<f64>() / results.len() as f64;
    let gap = results.iter().map(|r| r.optimum - r.lower).fold(0.0, f64::max);
    vec![
        k.to_string(),
        results.len().to_string(),
        format!("{:.4}", mean(&|r| r.optimum / r.sum)),
        format!("{:.4}", mean(&|r| r.heuristic / r.sum)),
        format!("{:.4}", mean(&|r| r.heuristic / r.optimum)),
        format!("{gap:.1e}"),
        results.iter().filter(|r| r.altered > 0).count().to_string(),
        results.iter().filter(|r| r.raised > 0).count().to_string(),
    ]
}

fn plot(k: usize, results: &[Result], vary: Vary, against: Against) -> Plot {
    let series = |name: &str, value: &dyn Fn(&Result) -> f64| Series {
        name: name.to_owned(),
        joined: true,
        points: results.iter().map(|r| (r.at, value(r))).collect(),
    };
    let x = match vary {
        Vary::Epsilons => "sum of the attribute epsilons",
        Vary::Sizes => "sum of the numbers of categories",
    };
    let (y, series) = match against {
        Against::Sum => (
            "record epsilon / sum of attribute epsilons",
            vec![
                series("Kronecker product", &|_| 1.0),
                series("heuristic", &|r| r.heuristic / r.sum),
                series("optimum", &|r| r.optimum / r.sum),
            ],
        ),
        Against::Optimum => ("heuristic / optimum", vec![series("heuristic", &|r| r.heuristic / r.optimum)]),
    };
    Plot { name: format!("k{k}"), title: format!("{k} attributes"), x: Scale::linear(x), y: Scale::linear(y), series }
}

fn run_times(settings: &Settings) -> Outcome {
    // The print leaves cells of the optimum empty, and one is lost in the text we have.
    let printed = [
        (3, "0.0060", "0.000092"),
        (5, "-", "0.00017"),
        (10, "54.9", "0.00051"),
        (100, "-", "0.015"),
        (500, "-", "0.27"),
        (1_000, "-", "1.14"),
    ];
    let mut rows = Vec::new();
    for (number, (k, optimum, heuristic)) in printed.into_iter().enumerate() {
        let mut rng = Source::from_seed(settings.seed).stream(number as u64);
        let runs = settings.repeats.unwrap_or(if k <= 10 { 10 } else { 1 });
        let (mut searching, mut inducting, mut gap) = (0.0, 0.0, 0.0f64);
        for _ in 0..runs {
            let sizes = (0..k).map(|_| uniform(&mut rng, 2.0, 6.0) as usize).collect();
            let epsilons = (0..k).map(|_| uniform(&mut rng, 1.0, 10.0)).collect();
            let levels = Levels::new(sizes, epsilons).expect("positive epsilons");
            let started = Instant::now();
            let found = search(&levels, Effort::to(1e-7));
            searching += started.elapsed().as_secs_f64();
            gap = gap.max((found.upper - found.lower) / found.upper);
            let started = Instant::now();
            heuristic_outcome(&levels, &(0..k).collect::<Vec<_>>());
            inducting += started.elapsed().as_secs_f64();
        }
        let seconds = |total: f64| format!("{:.2e}", total / runs as f64);
        rows.push(vec![
            k.to_string(),
            optimum.to_owned(),
            seconds(searching),
            format!("{gap:.1e}"),
            heuristic.to_owned(),
            seconds(inducting),
        ]);
    }
    let columns =
        ["attributes", "optimum, printed", "ours", "relative gap", "heuristic, printed", "ours"].map(String::from);
    Outcome {
        tables: vec![Table { name: "seconds".to_owned(), columns: columns.to_vec(), rows }],
        plots: Vec::new(),
        verdict: "Seconds on this machine beside those printed for another one in 2024, so only the shape compares: the paper's \
            linear program has 2^k unknowns and stops at ten attributes; ours has k prices and goes on. A current solver on the \
            paper's program is the fair comparison: see benches."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Settings = Settings { seed: 1, repeats: Some(4) };

    #[test]
    fn ratios_are_those_of_proven_optima() {
        for vary in [Vary::Epsilons, Vary::Sizes] {
            let mut rng = Source::from_seed(3).stream(0);
            for k in [3, 7, 10] {
                let result = instance(&mut rng, k, vary);
                assert!(result.lower <= result.optimum && result.optimum - result.lower < 1e-6);
                assert!(result.optimum < result.sum);
                assert!(result.altered > 0 || result.heuristic >= result.lower - 1e-6);
            }
        }
    }

    #[test]
    fn every_figure_has_its_panels() {
        let outcome = ratios(&Settings { seed: 1, repeats: Some(1) }, Vary::Epsilons, Against::Sum);
        assert_eq!((outcome.plots.len(), outcome.tables[0].rows.len()), (7, 7));
        assert!(outcome.plots.iter().all(|plot| plot.series.len() == 3 && plot.series[0].points.len() == 1));
    }

    #[test]
    fn the_genome_example_gains_from_joint_plans() {
        let outcome = genome::genome(&QUICK);
        assert_eq!(outcome.plots[0].series.len(), 4);
        let last = outcome.tables[0].rows.last().unwrap();
        let number = |column: usize| last[column].parse::<f64>().unwrap();
        // Debiased: Kronecker, then the workload plan.
        assert!(number(8) < number(2), "{last:?}");
    }
}
