//! Cutting planes with smoothing: the optimum between two bounds.

use std::time::{Duration, Instant};

use candor_analysis::watch::{Step, Watch};

use super::climb::climb;
use super::cut::{Cut, MAX_FINE, Priced, Pricer};
use super::levels::Levels;
use super::master::Master;

/// How hard to search.
#[derive(Clone, Copy, Debug)]
pub struct Effort<'a> {
    /// Stop when upper and lower bound differ by no more than this.
    pub gap: f64,
    /// When it began, and how long it may take.
    limit: Option<(Instant, Duration)>,
    watch: Watch<'a>,
}

impl<'a> Effort<'a> {
    /// As long as it takes to bring the bounds within this gap.
    pub const fn to(gap: f64) -> Effort<'a> {
        Effort { gap, limit: None, watch: Watch::nobody() }
    }

    /// The usual effort, from now on: beyond 20 attributes every digit of the gap costs. Within so many seconds, or as long as it takes if
    /// `None`; whoever watches is told how many there are left.
    pub fn within(attributes: usize, seconds: Option<f64>, watch: Watch<'a>) -> Effort<'a> {
        let gap = if attributes <= 20 { 1e-9 } else { 1e-7 };
        // A limit beyond the clock's range is none.
        let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Effort { gap, limit: Some((Instant::now(), limit.unwrap_or(Duration::MAX))), watch }
    }

    /// Whether the time is up, or whoever watches has had enough.
    pub fn is_over(&self) -> bool {
        let Some((began, limit)) = self.limit else { return false };
        let total = (limit != Duration::MAX).then_some(limit.as_secs());
        began.elapsed() >= limit || self.watch.tell(Step::of("seconds", began.elapsed().as_secs(), total)).is_err()
    }
}

/// Sets whose mixture meets or exceeds every level, and how good it is.
#[derive(Clone, Debug)]
pub struct Found {
    /// The sets with their `lambda`.
    pub sets: Vec<(f64, Cut)>,
    /// `ln(1 + sum of lambda)`.
    pub upper: f64,
    /// No channel that meets the levels has a smaller record epsilon.
    pub lower: f64,
}

/// What f64 may lose in a lower bound, generously.
const ROUNDING: f64 = 1e-11;

/// In how many units the sum of the prices is divided where weights must be small.
fn resolution(attributes: usize) -> u64 {
    (6_000_000 / attributes as u64).clamp(6_000, 40_000)
}

/// The state of the search.
struct Search<'a> {
    levels: &'a Levels,
    cuts: Vec<Cut>,
    master: Option<Master>,
    /// The best lower bound on `exp(epsilon) - 1`, and the prices that prove it.
    bound: f64,
    best: Vec<f64>,
}

impl Search<'_> {
    /// Takes what was priced into account; the set is kept for the program.
    fn visit(&mut self, priced: Priced) {
        let bound = priced.bound(self.levels);
        if bound > self.bound {
            self.bound = bound;
            self.best = self.normalised(&priced.asked);
        }
        self.keep(priced.cut);
    }

    fn keep(&mut self, cut: Cut) {
        let met = self.levels_met(&cut);
        if let Some(master) = &mut self.master {
            master.push(met);
        }
        self.cuts.push(cut);
    }

    fn levels_met(&self, cut: &Cut) -> Vec<f64> {
        (0..self.levels.len()).map(|i| cut.gain(self.levels, i) / self.levels.need(i)).collect()
    }

    /// Prices scaled so that meeting every level exactly costs one.
    fn normalised(&self, y: &[f64]) -> Vec<f64> {
        let paid: f64 = y.iter().enumerate().map(|(i, y)| y * self.levels.need(i)).sum();
        y.iter().map(|y| y / paid).collect()
    }

    /// What the set is worth at the prices, relative to the best one known to be possible.
    fn worth(&self, cut: &Cut, y: &[f64]) -> f64 {
        (0..self.levels.len()).map(|i| y[i] * cut.gain(self.levels, i)).sum()
    }

    fn lower(&self) -> f64 {
        (self.bound * (1.0 - ROUNDING)).max(0.0).ln_1p()
    }
}

/// The least record epsilon for the levels, between two bounds.
///
/// The program and its duality are in docs/mathematics/optimal.md: minimise the sum of `lambda` over mixtures of
/// sets `D` such that every level is met; prices `y` prove `exp(epsilon) - 1 >= sum of b_i y_i / E[(Y - Z)^+]`.
/// A small linear program over the sets found so far proposes prices; the best set there is a
/// threshold. Pricing between the best prices so far and the proposed ones keeps the search from
/// swinging. Cost: per set `k 2^(k/2)` up to 30 attributes, beyond `k` times a few
/// thousand.
pub fn search(levels: &Levels, effort: Effort) -> Found {
    search_at(levels, resolution(levels.len()), effort)
}

/// [`search`] with weights so coarse that plans can hold the sets however rare they are.
pub fn search_coarse(levels: &Levels, effort: Effort) -> Found {
    search_at(levels, (MAX_SUMS / (levels.len() as u64 + 1)).saturating_sub(2).max(16), effort)
}

/// How many sums a threshold may have over all attributes, if it is too rare to be drawn by rejection.
const MAX_SUMS: u64 = 1 << 18;

fn search_at(levels: &Levels, resolution: u64, effort: Effort) -> Found {
    let pricer = Pricer::new(levels, resolution);
    let mut search = Search { levels, cuts: Vec::new(), master: None, bound: 0.0, best: Vec::new() };
    let evaluations = if levels.len() <= MAX_FINE { 40 } else { 80 };
    climb(levels, &pricer, evaluations, |priced| {
        search.visit(priced);
        !effort.is_over()
    });
    start(&mut search, &pricer);
    improve(&mut search, &pricer, effort);
    let lower = search.lower();
    let weights = search.master.as_mut().map(Master::weights).unwrap_or_default();
    let upper = weights.iter().map(|(_, lambda)| lambda).sum::<f64>().ln_1p();
    let sets = weights.into_iter().map(|(column, lambda)| (lambda, search.cuts[column].clone())).collect();
    Found { sets, upper, lower: lower.min(upper) }
}

/// Starts the linear program: its first set must gain for every attribute, so the limit of the best one
/// is lowered until it does.
fn start(search: &mut Search, pricer: &Pricer) {
    let priced = pricer.price(&search.best, |_| 0.5);
    let mut threshold = (priced.cut.weights.clone(), priced.cut.limit);
    let first = loop {
        let cut = pricer.measure(threshold.clone());
        let met = search.levels_met(&cut);
        if threshold.1 == 0 || met.iter().all(|&met| met > 0.0) {
            break cut;
        }
        threshold.1 = threshold.1 * 15 / 16;
    };
    let mut master = Master::new(search.levels_met(&first));
    search.cuts.insert(0, first);
    for cut in &search.cuts[1..] {
        master.push(search.levels_met(cut));
    }
    search.master = Some(master);
}

/// How many sets at the best prices differ by where their weights were rounded.
const DITHERS: usize = 12;

/// With weights of few units, rounding matters: sets whose roundings cancel out stand for finer
/// weights together.
fn dither(search: &mut Search, pricer: &Pricer) {
    let best = search.best.clone();
    for dither in 0..DITHERS {
        let place = (dither as f64 + 0.5) / DITHERS as f64;
        let nudge = |i: usize| (place + i as f64 * GOLDEN).fract();
        search.visit(pricer.price(&best, nudge));
    }
}

/// Multiples of this are spread evenly over the unit interval.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

fn improve(search: &mut Search, pricer: &Pricer, effort: Effort) {
    let fine = search.levels.len() <= MAX_FINE;
    // Beyond, every set costs more and gains less.
    let rounds = if fine { 5_000 } else { (2_500 / search.levels.len()).max(10) };
    for round in 0..rounds {
        let Some(master) = &mut search.master else { return };
        let prices = master.solve();
        let upper: f64 = prices.iter().sum();
        if upper.ln_1p() - search.lower() <= effort.gap || effort.is_over() {
            return;
        }
        if !fine && round == 0 {
            dither(search, pricer);
            continue;
        }
        let proposed: Vec<f64> = prices.iter().enumerate().map(|(i, p)| p.max(0.0) / search.levels.need(i)).collect();
        let proposed = search.normalised(&proposed);
        // At the proposed prices every set of the program is worth at most this.
        let limit = 1.0 / upper;
        let mut weight = 0.8;
        loop {
            let y: Vec<f64> = search.best.iter().zip(&proposed).map(|(b, p)| weight * b + (1.0 - weight) * p).collect();
            let nudge = |i: usize| if fine { 0.5 } else { ((i * 7 + round * 13) as f64 * GOLDEN).fract() };
            let priced = pricer.price(&y, nudge);
            let useful = search.worth(&priced.cut, &proposed) > limit * (1.0 + 1e-12);
            search.visit(priced);
            if useful {
                break;
            }
            if weight == 0.0 {
                // No set is worth more at the proposed prices: they are the best.
                if fine {
                    return;
                }
                break;
            }
            weight = if weight < 0.05 { 0.0 } else { weight * 0.5 };
        }
    }
}
