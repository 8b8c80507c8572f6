//! Channels by rounds: solves the program over some atoms, then adds others that improve it.

use super::super::channel::FrontChannel;
use super::super::measure::{Information, measure};
use super::super::{FrontError, FrontProblem, warner};
use super::atoms::{Atom, Atoms, MAX_ENUMERATED, Prices};
use super::bound::closed_bound;
use super::program::{Program, Solved};
use super::weights::assemble;
use super::{ALL_AT_ONCE, ExactPoint, climb, fit};

/// Largest duality gap of the program, relative to the variance.
pub(super) const TOLERANCE: f64 = 1e-9;

/// Relative gap at which no further atoms are added.
const CLOSED: f64 = 3e-8;

/// Maximum number of rounds if sets can be enumerated.
const MAX_ROUNDS: usize = 40;

/// Largest number of categories for which fitted atoms go through the program if their channel is not good enough.
///
/// Beyond, they do so only if they yield no channel.
const BY_PROGRAM: usize = 40;

/// Sufficient relative gap beyond the categories whose sets can be enumerated.
const FINE: f64 = 2e-3;

/// Sufficient relative gap beyond the categories whose atoms go through the program; then no more atoms are fitted.
const ENOUGH: f64 = 0.03;

/// Number of atoms fitted for many categories at first, and at most.
const FITTED: usize = 1200;
const MAX_FITTED: usize = 4800;

/// Initial weight of atoms that are added to others, and of posteriors of Warner's methods next to fitted atoms.
const NEWCOMERS: f64 = 0.1;

/// The request for a channel.
pub(super) struct Ask<'a> {
    pub goal: &'a FrontProblem,
    pub privacy: f64,
    pub accuracy: f64,
    /// The accuracy to aim at.
    pub aim: f64,
    pub family: Atoms,
}

impl Ask<'_> {
    /// Returns the best channel if not all atoms take part from the beginning.
    pub fn many(&self) -> Result<ExactPoint, FrontError> {
        let (fitted, direct) = self.fitted();
        let enough = Effort::for_categories(self.family.n).closed;
        // Solving the program over so many atoms would take minutes and gain little.
        if let Some(point) = direct.as_ref().filter(|point| self.family.n > BY_PROGRAM || point.gap() < enough) {
            return Ok(point.clone());
        }
        let (active, start) = first(self.goal, &self.family, fitted);
        let others = || self.rounds(first(self.goal, &self.family, Vec::new()).0, None);
        // If the fitted atoms lead nowhere, the others may still succeed.
        let programmed = self.rounds(active, Some(start)).or_else(|_| others());
        match (direct, programmed) {
            (Some(direct), Ok(point)) if direct.measures.variance < point.measures.variance => {
                Ok(ExactPoint { lower_bound: direct.lower_bound.max(point.lower_bound), ..direct })
            }
            (Some(direct), Err(_)) => Ok(direct),
            (_, programmed) => programmed,
        }
    }

    /// Returns initial atoms, and the best channel of fitted atoms alone if their sets cannot be enumerated.
    ///
    /// More atoms are fitted until the channel is good enough.
    fn fitted(&self) -> (Vec<(Atom, f64)>, Option<ExactPoint>) {
        let n = self.family.n;
        let few = FITTED.min(12 * n).max(3 * n);
        let fitted = fit::fit(self.goal, self.aim, few);
        if n <= MAX_ENUMERATED {
            return (fitted, None);
        }
        let enough = Effort::for_categories(n).closed;
        let mut direct = self.direct(&fitted);
        let mut most = few;
        while most < MAX_FITTED && direct.as_ref().is_none_or(|point| point.gap() >= enough) {
            most = (2 * most).min(MAX_FITTED);
            let next = self.direct(&fit::fit(self.goal, self.aim, most));
            let value = |point: &Option<ExactPoint>| point.as_ref().map_or(f64::INFINITY, |p| p.measures.variance);
            if value(&next) < value(&direct) {
                direct = next;
            }
        }
        (fitted, direct)
    }

    /// Returns the channel of fitted atoms, if it has the privacy.
    pub fn direct(&self, fitted: &[(Atom, f64)]) -> Option<ExactPoint> {
        let posteriors: Vec<(Vec<f64>, f64)> =
            fitted.iter().map(|(atom, _)| column(&self.family, atom.clone()).0).collect();
        let weights: Vec<f64> = fitted.iter().map(|(_, weight)| *weight).collect();
        let channel = assemble(self.goal, &posteriors, &weights, self.aim);
        let measures = measure(&channel, self.goal.prior());
        let lower_bound = closed_bound(self.goal, self.accuracy);
        let private = measures.privacy >= self.privacy - 1e-12 && measures.variance.is_finite();
        private.then_some(ExactPoint { asked: self.privacy, channel, measures, lower_bound })
    }

    /// Returns the best channel of the program over atoms, from `active` and their weights `start`, if known.
    pub fn rounds(&self, active: Vec<Column>, start: Option<Vec<f64>>) -> Result<ExactPoint, FrontError> {
        let all = start.is_none() && self.family.n <= ALL_AT_ONCE;
        let effort = Effort::for_categories(self.family.n);
        let mut rounds = Rounds { ask: self, all, effort, active, start, best: None, done: 0 };
        rounds.go(rounds.effort.before);
        if (MAX_ENUMERATED + 1..=BY_PROGRAM).contains(&self.family.n) && !rounds.closed() {
            rounds.climb();
            rounds.go(rounds.effort.rounds);
            // From a better channel the bound may rise further.
            if !rounds.closed() {
                rounds.climb();
            }
        }
        rounds.best.ok_or(FrontError::Unsolved { privacy: self.privacy })
    }
}

/// The limits of the rounds.
struct Effort {
    /// Duality gap of the last programs, relative to the variance.
    finest: f64,
    /// Gap at which no further atoms are added.
    closed: f64,
    /// Number of rounds before the best bound is computed, and in total.
    before: usize,
    rounds: usize,
}

impl Effort {
    fn for_categories(n: usize) -> Effort {
        match n {
            0..=MAX_ENUMERATED => Effort { finest: TOLERANCE, closed: CLOSED, before: MAX_ROUNDS, rounds: MAX_ROUNDS },
            _ if n <= BY_PROGRAM => Effort { finest: 1e-5, closed: FINE, before: 7, rounds: 60 },
            _ => Effort { finest: 1e-3, closed: ENOUGH, before: 2, rounds: 2 },
        }
    }
}

/// The program over atoms, to which improving ones are added.
struct Rounds<'a> {
    ask: &'a Ask<'a>,
    /// Whether all atoms take part from the beginning.
    all: bool,
    effort: Effort,
    active: Vec<Column>,
    start: Option<Vec<f64>>,
    best: Option<ExactPoint>,
    done: usize,
}

impl Rounds<'_> {
    fn closed(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.gap() < self.effort.closed)
    }

    /// Runs rounds until `until` are done, the gap is closed, or no atom is left to add.
    fn go(&mut self, until: usize) {
        while self.done < until && !self.closed() && self.next().is_some() {
            self.done += 1;
        }
    }

    /// Raises the lower bound as far as the class of matrices allows.
    fn climb(&mut self) {
        let Some(best) = &mut self.best else { return };
        let weights = self.start.iter().flatten();
        let atoms = self.active.iter().zip(weights).filter_map(|((_, atom), &weight)| Some((atom.clone()?, weight)));
        let bound = climb::climb(self.ask.goal, self.ask.accuracy, &atoms.collect::<Vec<_>>());
        best.lower_bound = best.lower_bound.max(bound);
    }

    /// Solves the program and adds atoms; `None` if it cannot be solved or no atom would improve it.
    fn next(&mut self) -> Option<()> {
        let Ask { goal, privacy, accuracy, aim, family } = *self.ask;
        let finest = self.effort.finest;
        let tolerance = if self.all { finest } else { finest.max(1e-3 * 0.1f64.powi(self.done as i32)) };
        let posteriors: Vec<(Vec<f64>, f64)> = self.active.iter().map(|(posterior, _)| posterior.clone()).collect();
        let solved = Program::new(goal.prior().shares(), &posteriors, aim).solve(tolerance, self.start.as_deref())?;
        let channel = assemble(goal, &posteriors, &solved.weights, aim);
        let measures = measure(&channel, goal.prior());
        if !measures.variance.is_finite() {
            return None;
        }
        let (lower_bound, cheapest) = certify(goal, accuracy, &channel, &solved, &family);
        let lower_bound = self.best.as_ref().map_or(lower_bound, |best| best.lower_bound.max(lower_bound));
        match &mut self.best {
            Some(best) if best.measures.variance < measures.variance => best.lower_bound = lower_bound,
            best => *best = Some(ExactPoint { asked: privacy, channel, measures, lower_bound }),
        }
        // The possible gain is the price of the cheapest atom, if it is the cheapest of all.
        let value = self.best.as_ref().map_or(f64::INFINITY, |best| best.measures.variance);
        let promised = cheapest.first().map_or(0.0, |(price, _)| -price) / value;
        let known = |new: &Atom| self.active.iter().any(|(_, old)| old.as_ref() == Some(new));
        let fresh: Vec<Atom> = cheapest.into_iter().map(|(_, atom)| atom).filter(|new| !known(new)).collect();
        let idle = promised < self.effort.closed || fresh.is_empty();
        if self.all || tolerance <= finest && idle {
            return None;
        }
        self.exchange(&solved.weights, fresh);
        Some(())
    }

    /// Replaces atoms of negligible weight by fresh ones.
    fn exchange(&mut self, weights: &[f64], fresh: Vec<Atom>) {
        let heaviest = weights.iter().copied().fold(0.0, f64::max);
        let carries = |w: f64| w > 1e-7 * heaviest;
        let mut each = weights.iter();
        self.active.retain(|_| each.next().is_some_and(|&w| carries(w)));
        let old = weights.iter().filter(|w| carries(**w)).map(|w| (1.0 - NEWCOMERS) * w);
        self.start = Some(old.chain(fresh.iter().map(|_| NEWCOMERS / fresh.len() as f64)).collect());
        let family = self.ask.family;
        self.active.extend(fresh.into_iter().map(|atom| column(&family, atom)));
    }
}

/// A posterior of the program with its largest entry, and the corresponding atom, if it is one.
pub(super) type Column = ((Vec<f64>, f64), Option<Atom>);

pub(super) fn column(family: &Atoms, atom: Atom) -> Column {
    ((atom.posterior(family.bound, family.n), atom.largest(family.bound)), Some(atom))
}

/// Returns initial posteriors with weights if all atoms would be too many.
///
/// They are fitted atoms, the posteriors of Warner's methods within the bound, and the prior itself. The latter two are
/// mixtures of atoms, so they do not change the optimum, and lose their weight as atoms are added. But they guarantee
/// that there is a channel.
pub(super) fn first(goal: &FrontProblem, family: &Atoms, fitted: Vec<(Atom, f64)>) -> (Vec<Column>, Vec<f64>) {
    let shares = goal.prior().shares();
    let n = shares.len();
    let sharpest = warner::largest_p(goal).min(1.0 - 1e-6);
    let even = 1.0 / n as f64;
    let scheme = |part: f64| {
        let p = even + part * (sharpest - even);
        let q = (1.0 - p) / (n - 1) as f64;
        (0..n).map(move |z| {
            let joint: Vec<f64> = (0..n).map(|j| shares[j] * if j == z { p } else { q }).collect();
            let sum: f64 = joint.iter().sum();
            (sum / 3.0, joint.into_iter().map(|x| x / sum).collect::<Vec<f64>>())
        })
    };
    let posteriors = scheme(1.0).chain(scheme(0.5)).chain([(1.0 / 3.0, shares.to_vec())]);
    let (mut columns, mut weights) = (Vec::new(), Vec::new());
    for (weight, psi) in posteriors {
        let largest = psi.iter().copied().fold(0.0, f64::max);
        columns.push(((psi, largest), None));
        weights.push(NEWCOMERS * weight);
    }
    for (atom, weight) in fitted {
        columns.push(column(family, atom));
        weights.push((1.0 - NEWCOMERS) * weight);
    }
    (columns, weights)
}

/// Returns a lower bound for every channel with this accuracy and bound, and the most promising atoms.
///
/// It is computed from the channel and the multipliers alone. The variance is convex in `K`:
/// `f(K') >= f(K) - tr(B (K' - K))` with `tr(B K) = f(K)`. This holds for every channel `K' = sum w psi psi'` with
/// weights that sum to one. So for any `nu` and `mu >= 0`:
/// `f(K') >= 2 f(K) - nu . pi - mu A + min over atoms of (-psi' B psi + nu . psi + mu max psi)`. If there are too many
/// atoms for that minimum, a different bound is used: see [`bound`].
fn certify(
    goal: &FrontProblem,
    accuracy: f64,
    channel: &FrontChannel,
    solved: &Solved,
    family: &Atoms,
) -> (f64, Vec<(f64, Atom)>) {
    let prior = goal.prior();
    let Some(information) = Information::of(channel.rows(), prior) else { return (0.0, Vec::new()) };
    let prices = Prices { slope: &information.slope, nu: &solved.nu, mu: solved.mu };
    let cheapest = family.price(&prices, if family.n <= MAX_ENUMERATED { 8 * family.n } else { 2 * family.n });
    let limit = cheapest.first().map_or(0.0, |first| 0.01 * first.0).min(0.0);
    let bound = if family.n <= MAX_ENUMERATED {
        let value = information.variance + prior.squares();
        let multiplied = solved.nu.iter().zip(prior.shares()).map(|(nu, p)| nu * p).sum::<f64>() + solved.mu * accuracy;
        // Upper bound on the rounding error of these sums.
        let slack = 1e-12 * (2.0 * value + multiplied.abs());
        let least = cheapest.first().map_or(0.0, |first| first.0);
        2.0 * value - multiplied + least - prior.squares() - slack
    } else {
        0.0
    };
    let useful = cheapest.into_iter().filter(|(price, _)| *price < limit);
    (bound.max(closed_bound(goal, accuracy)), useful.collect())
}
