//! The front of one attribute: speed of evaluation, search, polishing and the exact front, and quality of the search.
//!
//! Run with `cargo bench -p candor-design --bench pareto`; results are in benches/results/. The normal prior is ten
//! equal bins on [-3, 3], the posterior bound is 0.75, and there are 10,000 respondents. Hypervolumes are of privacy in
//! [0, 1] and the decimal logarithm of the error in [-6, 0], from (0, 0).

use std::time::Instant;

use candor_design::pareto::FrontProblem;
use candor_design::pareto::evolve::polishing::{fill_in, polish_front};
use candor_design::pareto::evolve::{Parameters, evolve};
use candor_design::pareto::hypervolume::hypervolume;
use candor_design::pareto::measure::{Measures, measure_square};
use candor_design::pareto::polish::polish;
use candor_design::pareto::prior::Prior;
use candor_design::pareto::{exact, warner};
use candor_runtime::progress::ProgressSink;
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    summary();
    divan::main();
}

fn goal(n: usize) -> FrontProblem {
    FrontProblem::new(Prior::normal(n).unwrap(), 0.75).unwrap()
}

/// Returns the CPU seconds of this process so far, or the clock's if the system does not provide them.
fn cpu_seconds(start: Instant) -> f64 {
    let spent = || {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        Some((fields[11].parse::<f64>().ok()? + fields[12].parse::<f64>().ok()?) / 100.0)
    };
    spent().unwrap_or_else(|| start.elapsed().as_secs_f64())
}

fn volume(points: impl Iterator<Item = Measures>) -> f64 {
    hypervolume(points.map(|m| (m.privacy, m.mse(10_000.0, 10))))
}

/// Prints results other than timings of small functions, one line each.
fn summary() {
    let start = Instant::now();
    let goal = goal(10);
    let classical = warner::front(&goal, 100 * warner::STEPS);
    println!("hypervolume of Warner's scheme: {:.4}", volume(classical.iter().map(|point| point.measures)));

    let before = cpu_seconds(start);
    let parameters = Parameters { generations: 1000, islands: 1, ..Parameters::default() };
    let evolved = evolve(&goal, &parameters, |_, _| Ok(())).unwrap();
    let searched = || evolved.front.iter().map(|candidate| candidate.measures);
    let known = [(0.459, 2.7237), (0.564, 3.3541), (0.669, 4.8846)];
    let mut privacies = goal.spread(50);
    privacies.extend(known.map(|(privacy, _)| privacy));
    privacies.sort_by(f64::total_cmp);
    let best = polish_front(&goal, &evolved, &privacies, 6, 1, &|| true, |_, _| Ok(()));
    let between = fill_in(&goal, &privacies, &best, 3, &|| true);
    let polished = || best.iter().flatten().chain(&between).map(|found| found.measures);
    println!(
        "evolve with polish: hypervolume {:.4} (search alone {:.4}) in {:.1} s of CPU",
        volume(polished().chain(searched())),
        volume(searched()),
        cpu_seconds(start) - before
    );
    for (privacy, value) in known {
        let serving = polished().filter(|m| m.privacy >= privacy - 1e-12).map(|m| m.variance);
        let found = serving.min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
        println!("  utility x N n at privacy {privacy}: {found:.4}, {:.4} of the {value} known before", found / value);
    }

    let before = cpu_seconds(start);
    let parameters = Parameters { generations: 20_000, islands: 1, ..Parameters::default() };
    let run = evolve(&goal, &parameters, |_, _| Ok(())).unwrap();
    println!(
        "the paper's run, 20,000 generations of 100: {:.1} s of CPU, {} matrices, hypervolume {:.4}",
        cpu_seconds(start) - before,
        run.evaluations,
        volume(run.front.iter().map(|candidate| candidate.measures))
    );

    for (n, points) in [(10, 50), (20, 4)] {
        let (before, clock) = (cpu_seconds(start), Instant::now());
        let goal = self::goal(n);
        let front = exact::front(&goal, &goal.spread(points), ProgressSink::default());
        let gap = front.iter().flatten().map(exact::ExactPoint::gap).fold(0.0, f64::max);
        println!(
            "exact front, n = {n}, {points} points: {:.1} s of CPU, {:.1} s on the clock, largest gap {gap:.1e}",
            cpu_seconds(start) - before,
            clock.elapsed().as_secs_f64()
        );
    }
    certificates(start);
}

/// Prints the gaps for many categories as a table: by prior, posterior bound and part of the range of privacies.
fn certificates(start: Instant) {
    println!("| prior | n | delta | part of the range | gap | outputs | CPU seconds |\n|---|---|---|---|---|---|---|");
    for n in [30, 100] {
        let zipf: Vec<f64> = (1..=n).map(|i| 1.0 / i as f64).collect();
        let priors = [
            ("normal", Prior::normal(n)),
            ("gamma", Prior::gamma(n, 2.0, 1.0)),
            ("uniform", Prior::uniform(n)),
            ("Zipf", Prior::from_counts(&zipf)),
        ];
        for (name, prior) in priors {
            for (bound, part) in [0.6, 0.75, 0.9, 1.0].into_iter().flat_map(|b| [0.1, 0.5, 0.9, 0.97].map(|p| (b, p))) {
                let goal = FrontProblem::new(prior.clone().unwrap(), bound).unwrap();
                let (least, most) = goal.range();
                let before = cpu_seconds(start);
                let found = exact::exact(&goal, least + part * (most - least));
                let told = found.map_or("none".to_owned(), |point| {
                    format!("{:.3} % | {}", 100.0 * point.gap(), point.channel.outputs())
                });
                println!("| {name} | {n} | {bound} | {part} | {told} | {:.2} |", cpu_seconds(start) - before);
            }
        }
    }
}

/// Privacy, variance and worst posterior of square matrices.
#[divan::bench(args = [4, 10, 16, 20], sample_size = 1000)]
fn evaluate(bencher: Bencher, n: usize) {
    let prior = Prior::normal(n).unwrap();
    let entry = |i: usize| if i.is_multiple_of(n + 1) { 0.5 } else { 0.5 / (n - 1) as f64 };
    let matrix: Vec<f64> = (0..n * n).map(entry).collect();
    bencher.counter(ItemsCount::new(1usize)).bench(|| measure_square(divan::black_box(&matrix), &prior));
}

/// A hundred generations of a population of a hundred.
#[divan::bench(sample_count = 5)]
fn search(bencher: Bencher) {
    let goal = goal(10);
    let parameters = Parameters { generations: 100, islands: 1, ..Parameters::default() };
    bencher.counter(ItemsCount::new(10_000usize)).bench(|| evolve(&goal, &parameters, |_, _| Ok(())));
}

/// One matrix, from Warner's to a local optimum.
#[divan::bench(sample_count = 10)]
fn polish_one(bencher: Bencher) {
    let goal = goal(10);
    let start = warner::channel(goal.prior(), 0.5);
    bencher.bench(|| polish(&goal, 0.564, &start));
}

/// One point of the exact front.
#[divan::bench(args = [4, 10], sample_count = 5)]
fn exact_point(bencher: Bencher, n: usize) {
    let goal = goal(n);
    let (least, most) = goal.range();
    bencher.bench(|| exact::exact(&goal, 0.5 * (least + most)));
}
