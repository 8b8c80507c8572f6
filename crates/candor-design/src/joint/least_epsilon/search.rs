//! Cutting planes with smoothing: the optimum between two bounds.

use std::collections::HashSet;

use candor_runtime::progress::{Deadline, ProgressSink, Stopped};

use super::climb::climb;
use super::cut::{MAX_FINE, PricedSet, Pricer, Threshold, ThresholdSet};
use super::levels::EpsilonTargets;
use super::master::Master;

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchLimits<'a> {
    /// Gap between upper and lower bound at which the search ends.
    pub gap: f64,
    /// Time limit, if any. Usually the search ends earlier by counted steps, which are the same on every machine.
    deadline: Option<Deadline<'a>>,
}

impl<'a> SearchLimits<'a> {
    /// Creates limits that end the search only when the bounds are within this gap.
    pub const fn to(gap: f64) -> SearchLimits<'a> {
        SearchLimits { gap, deadline: None }
    }

    /// Creates the default limits, with a time limit in seconds that starts now.
    ///
    /// The default is [`DEFAULT_TIME_LIMIT_SECS`](candor_runtime::progress::DEFAULT_TIME_LIMIT_SECS). Elapsed seconds
    /// are reported to `progress`. Beyond 20 attributes the gap is larger, because every digit of it is costly.
    pub fn within(attributes: usize, seconds: Option<f64>, progress: ProgressSink<'a>) -> SearchLimits<'a> {
        SearchLimits {
            gap: if attributes <= 20 { 1e-9 } else { 1e-7 },
            deadline: Some(Deadline::start(seconds, progress)),
        }
    }

    /// Returns the reason if the search has to stop: its time limit passed, or it was canceled.
    pub fn stopped(&self) -> Option<Stopped> {
        self.deadline.and_then(|deadline| deadline.check(None))
    }

    /// Returns whether the search has to end at this gap between its bounds.
    pub fn is_over_at(&self, gap: f64) -> bool {
        let gap = gap.is_finite().then_some(("gap", gap));
        self.deadline.is_some_and(|deadline| deadline.check(gap).is_some())
    }
}

/// Sets whose mixture meets or exceeds every level, with bounds.
#[derive(Clone, Debug)]
pub struct Found {
    /// The sets with their `lambda`.
    pub sets: Vec<(f64, ThresholdSet)>,
    /// `ln(1 + sum of lambda)`.
    pub upper: f64,
    /// Lower bound on the record-level epsilon of all channels that meet the levels.
    pub lower: f64,
    /// Approximate number of steps taken: sums and products.
    pub steps: u64,
}

/// The findings of a search over the same attributes at other levels.
///
/// Its sets keep their probabilities for any levels, and the best prices change little.
#[derive(Clone, Debug, Default)]
pub struct WarmStart {
    cuts: Vec<ThresholdSet>,
    prices: Vec<f64>,
    /// Target of the record-level epsilon, if levels are adjusted to one. Far from it, bounds need not be close.
    total: Option<f64>,
    /// Whether weights must be so small that plans can contain even rare sets.
    is_coarse: bool,
    /// Number of steps so far.
    steps: u64,
}

impl WarmStart {
    /// Creates an empty start for a search whose levels are adjusted to this record-level epsilon.
    pub fn towards(total: f64) -> WarmStart {
        WarmStart { total: Some(total), ..WarmStart::default() }
    }

    /// Switches to weights so small that plans can contain even rare sets; returns `false` if that was done before.
    pub fn coarsen(&mut self) -> bool {
        self.cuts.clear();
        !std::mem::replace(&mut self.is_coarse, true)
    }

    /// Returns whether all steps are used up, so that later searches give poor results.
    pub fn is_spent(&self) -> bool {
        self.steps > MAX_STEPS
    }
}

/// Maximum number of steps of all searches for one plan together: a few seconds.
pub const MAX_STEPS: u64 = 1 << 31;

/// Number of its last sets that a search passes on to the next.
const HANDED_ON: usize = 200;

/// Generous margin for the rounding error of a lower bound in f64.
const ROUNDING: f64 = 1e-11;

/// Returns the number of units of the sum of the prices if weights must be small.
fn resolution(attributes: usize) -> u64 {
    (6_000_000 / attributes as u64).clamp(6_000, 40_000)
}

/// Maximum number of sums of a threshold, over all attributes, if it is too rare to be drawn by rejection.
const MAX_SUMS: u64 = 1 << 18;

/// Returns the number of units of the sum of the prices if plans must contain even rare sets.
fn coarse_resolution(attributes: usize) -> u64 {
    (MAX_SUMS / (attributes as u64 + 1)).saturating_sub(2).max(16)
}

/// The state of the search.
struct Search<'a> {
    levels: &'a EpsilonTargets,
    pricer: Pricer<'a>,
    cuts: Vec<ThresholdSet>,
    master: Option<Master>,
    /// The best lower bound on `exp(epsilon) - 1`, and the prices that prove it.
    bound: f64,
    best: Vec<f64>,
    /// Steps of pricing and of earlier searches.
    steps: u64,
    total: Option<f64>,
    effort: SearchLimits<'a>,
}

impl<'a> Search<'a> {
    fn new(levels: &'a EpsilonTargets, pricer: Pricer<'a>, known: &WarmStart, effort: SearchLimits<'a>) -> Search<'a> {
        let (cuts, best) = (known.cuts.clone(), known.prices.clone());
        Search { levels, pricer, cuts, master: None, bound: 0.0, best, steps: known.steps, total: known.total, effort }
    }

    /// Uses a priced set for the lower bound, and adds it to the program.
    fn visit(&mut self, priced: PricedSet) {
        self.steps += self.pricer.steps();
        let bound = priced.bound(self.levels);
        if bound > self.bound {
            self.bound = bound;
            self.best = self.normalised(&priced.asked);
        }
        self.keep(priced.cut);
    }

    fn keep(&mut self, cut: ThresholdSet) {
        let met = self.levels_met(&cut);
        if let Some(master) = &mut self.master {
            master.push(met);
        }
        self.cuts.push(cut);
    }

    fn levels_met(&self, cut: &ThresholdSet) -> Vec<f64> {
        (0..self.levels.len()).map(|i| cut.gain(self.levels, i) / self.levels.need(i)).collect()
    }

    fn steps(&self) -> u64 {
        self.steps + self.master.as_ref().map_or(0, Master::steps)
    }

    /// Returns whether the search has to end, given the best record-level epsilon so far.
    fn is_over_at(&self, upper: f64) -> bool {
        self.steps() > MAX_STEPS || self.effort.is_over_at(upper - self.lower())
    }

    /// Returns whether the bounds are close enough.
    fn is_settled(&self, upper: f64) -> bool {
        let lower = self.lower();
        let away = self.total.map_or(0.0, |total| (lower - total).max(total - upper));
        upper - lower <= self.effort.gap.max(0.1 * away)
    }

    /// Returns the sets in use with their `lambda`.
    fn in_use(&mut self) -> Vec<(f64, ThresholdSet)> {
        let weights = self.master.as_mut().map(Master::weights).unwrap_or_default();
        weights.into_iter().map(|(column, lambda)| (lambda, self.cuts[column].clone())).collect()
    }

    /// Scales prices so that meeting every level exactly costs one.
    fn normalised(&self, y: &[f64]) -> Vec<f64> {
        let paid = self.levels.paid(y);
        y.iter().map(|y| y / paid).collect()
    }

    /// Returns the value of the set at these prices.
    fn worth(&self, cut: &ThresholdSet, y: &[f64]) -> f64 {
        (0..self.levels.len()).map(|i| self.levels.count(i) * y[i] * cut.gain(self.levels, i)).sum()
    }

    fn lower(&self) -> f64 {
        (self.bound * (1.0 - ROUNDING)).max(0.0).ln_1p()
    }
}

/// Finds the least record-level epsilon for the levels, between two bounds.
///
/// The program and its duality are in docs/mathematics/optimal.md. It minimizes the sum of `lambda` over mixtures of
/// sets `D` such that every level is met. Prices `y` prove `exp(epsilon) - 1 >= sum of b_i y_i / E[(Y - Z)^+]`. Equal
/// attributes have equal prices, so there is one row for each class.
///
/// A small linear program over the sets found so far proposes prices; the best set at these prices is a threshold.
/// Pricing between the best prices so far and the proposed ones prevents oscillation.
///
/// Cost per set: proportional to the orbits of half the classes (`orbits`) if these are few enough, at most `2^(k/2)`
/// for up to 30 attributes; otherwise `k` times a few thousand.
pub fn search(levels: &EpsilonTargets, effort: SearchLimits) -> Found {
    search_from(levels, &mut WarmStart::default(), effort)
}

/// Runs [`search`] from a warm start, and adds its findings to it.
pub fn search_from(levels: &EpsilonTargets, known: &mut WarmStart, effort: SearchLimits) -> Found {
    let units = if known.is_coarse { coarse_resolution(levels.len()) } else { resolution(levels.len()) };
    search_at(levels, units, known, effort)
}

fn search_at(all: &EpsilonTargets, resolution: u64, known: &mut WarmStart, effort: SearchLimits) -> Found {
    let (levels, class_of) = all.in_classes();
    let fine = Pricer::fine(&levels);
    let (is_fine, pricer) = match fine {
        Some(fine) => (true, fine),
        None => (false, Pricer::coarse(&levels, resolution)),
    };
    let mut search = Search::new(&levels, pricer, known, effort);
    explore(&mut search, if is_fine { 40 } else { 80 });
    start(&mut search);
    if is_fine {
        improve(&mut search)
    } else {
        improve_coarsely(&mut search)
    }
    let (mut sets, bound) = (search.in_use(), search.bound);
    known.steps = search.steps();
    known.prices = search.best;
    let recent = search.cuts.into_iter().rev().take(HANDED_ON);
    let mut seen = HashSet::new();
    known.cuts = sets.iter().map(|(_, cut)| cut.clone()).chain(recent).collect();
    known.cuts.retain(|cut| seen.insert((cut.weights.clone(), cut.limit)));
    if is_fine && all.len() > MAX_FINE {
        let nothing = WarmStart { cuts: Vec::new(), ..known.clone() };
        let mut rounded = Search::new(&levels, Pricer::coarse(&levels, resolution), &nothing, effort);
        rounded.bound = bound;
        round(&mut rounded, sets.iter().map(|(_, cut)| cut), resolution);
        start(&mut rounded);
        improve_coarsely(&mut rounded);
        sets = rounded.in_use();
        known.steps = rounded.steps();
    }
    let upper = sets.iter().map(|(lambda, _)| lambda).sum::<f64>().ln_1p();
    let sets = sets.into_iter().map(|(lambda, cut)| (lambda, cut.by_attribute(&class_of))).collect();
    let lower = (bound * (1.0 - ROUNDING)).max(0.0).ln_1p();
    Found { sets, upper, lower: lower.min(upper), steps: known.steps }
}

/// Climbs the dual from known prices.
fn explore(search: &mut Search, evaluations: usize) {
    let (levels, pricer, known) = (search.levels, search.pricer.clone(), search.best.clone());
    climb(levels, &pricer, &known, evaluations, |priced| {
        search.visit(priced);
        !search.is_over_at(f64::INFINITY)
    });
}

/// Starts the linear program with a set that gains for every attribute.
///
/// For this, the limit of the best set is lowered until it does.
fn start(search: &mut Search) {
    let priced = search.pricer.price(&search.best, |_| 0.5);
    // An attribute with weight zero could miss in every set.
    let mut threshold: Threshold = (priced.cut.weights.iter().map(|&w| w.max(1)).collect(), priced.cut.limit);
    let first = loop {
        let cut = search.pricer.measure(threshold.clone());
        search.steps += search.pricer.steps();
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

/// Number of sets at the best prices that differ in the rounding of their weights.
const DITHERS: usize = 12;

/// The golden ratio conjugate, whose multiples are spread evenly over the unit interval.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Returns the fraction of a unit from which to round up, in one of [`DITHERS`] ways.
fn nudge(dither: usize) -> impl Fn(usize) -> f64 {
    let place = (dither as f64 + 0.5) / DITHERS as f64;
    move |i: usize| (place + i as f64 * GOLDEN).fract()
}

/// Adds the sets with coarse weights, each rounded in several ways.
fn round<'c>(search: &mut Search, cuts: impl Iterator<Item = &'c ThresholdSet>, resolution: u64) {
    for cut in cuts {
        let scale = (resolution as f64 / cut.limit.max(1) as f64).min(1.0);
        for dither in 0..DITHERS {
            let nudge = nudge(dither);
            let weight = |(i, &weight): (usize, &u64)| (weight as f64 * scale + nudge(i)).floor() as u64;
            let limit = (cut.limit as f64 * scale).floor() as u64;
            let weights = cut.weights.iter().enumerate().map(weight).map(|weight| weight.min(limit + 1)).collect();
            let rounded = search.pricer.measure((weights, limit));
            search.steps += search.pricer.steps();
            search.keep(rounded);
        }
    }
}

/// Improves the mixture with coarse weights, for which rounding matters.
///
/// Sets whose rounding errors cancel out represent finer weights together. Every set costs more and gains less than
/// with fine weights, so there are few rounds.
fn improve_coarsely(search: &mut Search) {
    let best = search.best.clone();
    for dither in 0..DITHERS {
        search.visit(search.pricer.price(&best, nudge(dither)));
    }
    for round in 1..(2_500 / search.levels.attributes()).max(10) {
        let Some((upper, proposed)) = propose(search) else { return };
        let nudge = |i: usize| ((i * 7 + round * 13) as f64 * GOLDEN).fract();
        find_useful(search, upper, &proposed, nudge);
    }
}

fn improve(search: &mut Search) {
    while let Some((upper, proposed)) = propose(search) {
        if !find_useful(search, upper, &proposed, |_| 0.5) {
            // No set has a larger value at the proposed prices, so these are optimal.
            return;
        }
    }
}

/// Returns the value of the linear program and the prices it proposes, or `None` if the search is over.
fn propose(search: &mut Search) -> Option<(f64, Vec<f64>)> {
    let prices = search.master.as_mut()?.solve();
    let upper: f64 = prices.iter().sum();
    if search.is_settled(upper.ln_1p()) || search.is_over_at(upper.ln_1p()) {
        return None;
    }
    let levels = search.levels;
    let price = |(i, p): (usize, &f64)| p.max(0.0) / (levels.count(i) * levels.need(i));
    let proposed: Vec<f64> = prices.iter().enumerate().map(price).collect();
    Some((upper, search.normalised(&proposed)))
}

/// Prices between the best and the proposed prices until a set is useful for the linear program; returns whether one
/// is.
fn find_useful(search: &mut Search, upper: f64, proposed: &[f64], nudge: impl Fn(usize) -> f64) -> bool {
    // At the proposed prices every set of the program has at most this value.
    let limit = 1.0 / upper;
    let mut weight = 0.8;
    loop {
        let y: Vec<f64> = search.best.iter().zip(proposed).map(|(b, p)| weight * b + (1.0 - weight) * p).collect();
        let priced = search.pricer.price(&y, &nudge);
        let useful = search.worth(&priced.cut, proposed) > limit * (1.0 + 1e-12);
        search.visit(priced);
        if useful || weight == 0.0 {
            return useful;
        }
        weight = if weight < 0.05 { 0.0 } else { weight * 0.5 };
    }
}
