//! The best channels there are, for a prior and a posterior bound, each with a proof.
//!
//! Among all channels with privacy at least `1 - A` and posteriors at most delta, with any number of outputs, the one
//! with the smallest variance solves a convex program over posterior atoms. Huang and Du 2008 search
//! square matrices and say that they cannot claim optimality; here every point comes with a lower bound that holds for
//! every channel whatever.

pub(super) mod atoms;
mod bound;
mod fit;
mod program;
mod sparse;
mod weights;

use std::sync::atomic::{AtomicU64, Ordering};

use candor_analysis::crew;
use candor_analysis::watch::{Step, Watch};

use super::channel::FrontChannel;
use super::measure::{Information, Measures, measure};
use super::{FrontError, Goal, warner};
use atoms::{Atom, Atoms, MAX_ENUMERATED, Prices};
use bound::{Dual, closed_bound};
use program::{Program, Solved};
use weights::assemble;

/// Up to this many categories all atoms take part from the beginning.
const ALL_AT_ONCE: usize = 10;

/// What the duality gap of the program is brought below, relative to the variance.
const TOLERANCE: f64 = 1e-9;

/// Relative gap at which no further atoms are looked for.
const CLOSED: f64 = 3e-8;

/// By how much more private than asked a channel is aimed at, relative to what accuracy is left to give.
const MARGIN: f64 = 1e-8;

/// How often atoms may be added, where they can be looked at one by one.
const MOST_ROUNDS: usize = 40;

/// Up to this many categories the weights of fitted atoms always go through the program; beyond, only if their channel is not good enough.
const BY_PROGRAM: usize = 40;

/// Relative gap that is good enough beyond the categories whose sets can be looked at one by one.
const FINE: f64 = 2e-3;

/// Relative gap with which fitted atoms do not go through the program.
const ENOUGH: f64 = 0.03;

/// How many atoms are fitted for many categories.
const FITTED: usize = 1200;

/// The weight that atoms begin with when they come to others; and that posteriors of Warner's schemes have beside fitted atoms.
const NEWCOMERS: f64 = 0.1;

/// A channel on the front, with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactPoint {
    /// The privacy that was asked for.
    pub asked: f64,
    /// The channel.
    pub channel: FrontChannel,
    /// What it gives.
    pub measures: Measures,
    /// No channel with the privacy asked for and within the bound has a smaller variance.
    pub lower_bound: f64,
}

impl ExactPoint {
    /// How far the channel may be from the best one, relative to its variance.
    pub fn gap(&self) -> f64 {
        (self.measures.variance - self.lower_bound) / self.measures.variance
    }
}

/// The best channel with at least this privacy.
///
/// Less privacy than `1 - delta` is not useful: there the bound alone decides. Time is polynomial up to the pricing of
/// atoms, which looks at all `2^n` sets up to 22 categories and beyond uses a beam search. The lower bound holds in either
/// case; beyond 22 categories it is that of `bound`, and the search ends when it is close enough.
///
/// # Errors
/// If no channel has this privacy, or the program could not be solved.
pub fn exact(goal: &Goal, privacy: f64) -> Result<ExactPoint, FrontError> {
    goal.check_privacy(privacy)?;
    let accuracy = (1.0 - privacy).min(goal.bound());
    // A hair more private than asked, so that what rounding takes is not missed.
    let margin = if accuracy < goal.bound() { MARGIN } else { 0.0 };
    let aim = accuracy - margin * (accuracy - goal.prior().largest());
    let family = Atoms { n: goal.prior().len(), bound: goal.bound() };
    let ask = Ask { goal, privacy, accuracy, aim, family };
    let n = family.n;
    if n <= ALL_AT_ONCE {
        let all = family.all().into_iter().map(|atom| column(&family, atom)).collect();
        // Where the program stalls from nowhere, it is begun with fitted atoms instead.
        if let Ok(point) = ask.rounds(all, None) {
            return Ok(point);
        }
    }
    let fitted = fit::fit(goal, aim, FITTED.min(12 * n).max(3 * n));
    let direct = if n > MAX_ENUMERATED { ask.direct(&fitted) } else { None };
    let enough = if n > BY_PROGRAM { ENOUGH } else { FINE };
    if let Some(point) = direct.as_ref().filter(|point| point.gap() < enough) {
        return Ok(point.clone());
    }
    let (active, start) = first(goal, &family, fitted);
    // Where the fitted atoms lead nowhere, the others still may.
    let programmed = ask.rounds(active, Some(start)).or_else(|_| ask.rounds(first(goal, &family, Vec::new()).0, None));
    match (direct, programmed) {
        (Some(direct), Ok(point)) if direct.measures.variance < point.measures.variance => {
            Ok(ExactPoint { lower_bound: direct.lower_bound.max(point.lower_bound), ..direct })
        }
        (Some(direct), Err(_)) => Ok(direct),
        (_, programmed) => programmed,
    }
}

/// What is asked for.
struct Ask<'a> {
    goal: &'a Goal,
    privacy: f64,
    accuracy: f64,
    /// The accuracy that is aimed at.
    aim: f64,
    family: Atoms,
}

impl Ask<'_> {
    /// The channel of fitted atoms, if it has the privacy.
    fn direct(&self, fitted: &[(Atom, f64)]) -> Option<ExactPoint> {
        let posteriors: Vec<(Vec<f64>, f64)> =
            fitted.iter().map(|(atom, _)| column(&self.family, atom.clone()).0).collect();
        let weights: Vec<f64> = fitted.iter().map(|(_, weight)| *weight).collect();
        let channel = assemble(self.goal, &posteriors, &weights, self.aim);
        let measures = measure(&channel, self.goal.prior());
        let lower_bound = closed_bound(self.goal, self.accuracy);
        let private = measures.privacy >= self.privacy - 1e-12 && measures.variance.is_finite();
        private.then_some(ExactPoint { asked: self.privacy, channel, measures, lower_bound })
    }

    /// Solves the program over atoms, adds those that would pay, and so on, beginning with `active` and the weights `start`, if they are known.
    fn rounds(&self, mut active: Vec<Column>, mut start: Option<Vec<f64>>) -> Result<ExactPoint, FrontError> {
        let Ask { goal, privacy, accuracy, aim, family } = *self;
        let all = start.is_none() && family.n <= ALL_AT_ONCE;
        let effort = Effort::for_categories(family.n);
        let mut best: Option<ExactPoint> = None;
        for round in 0..effort.rounds {
            let tolerance = if all { effort.finest } else { effort.finest.max(1e-3 * 0.1f64.powi(round as i32)) };
            let posteriors: Vec<(Vec<f64>, f64)> = active.iter().map(|(posterior, _)| posterior.clone()).collect();
            let program = Program::new(goal.prior().shares(), &posteriors, aim);
            let Some(solved) = program.solve(tolerance, start.as_deref()) else { break };
            let channel = assemble(goal, &posteriors, &solved.weights, aim);
            let measures = measure(&channel, goal.prior());
            if !measures.variance.is_finite() {
                break;
            }
            let (lower_bound, cheapest) = certify(goal, accuracy, &channel, &solved, &family);
            let lower_bound = best.as_ref().map_or(lower_bound, |best| best.lower_bound.max(lower_bound));
            let worse = best.as_ref().is_some_and(|best| best.measures.variance < measures.variance);
            match &mut best {
                Some(best) if worse => best.lower_bound = lower_bound,
                _ => best = Some(ExactPoint { asked: privacy, channel, measures, lower_bound }),
            }
            // What the cheapest atom promises is all that can be gained, if it is the cheapest of all.
            let value = best.as_ref().map_or(f64::INFINITY, |best| best.measures.variance);
            let promised = cheapest.first().map_or(0.0, |(price, _)| -price) / value;
            let fresh: Vec<Atom> = cheapest
                .into_iter()
                .map(|(_, atom)| atom)
                .filter(|new| active.iter().all(|(_, old)| old.as_ref() != Some(new)))
                .collect();
            let closed = best.as_ref().is_some_and(|best| best.gap() < effort.closed);
            let idle = promised < effort.closed || fresh.is_empty();
            if all || closed || tolerance <= effort.finest && idle {
                break;
            }
            // Atoms that carry nothing make room for those that would.
            let heaviest = solved.weights.iter().copied().fold(0.0, f64::max);
            let carries = |w: f64| w > 1e-7 * heaviest;
            let mut weights = solved.weights.iter();
            active.retain(|_| weights.next().is_some_and(|&w| carries(w)));
            let old = solved.weights.iter().filter(|w| carries(**w)).map(|w| (1.0 - NEWCOMERS) * w);
            start = Some(old.chain(fresh.iter().map(|_| NEWCOMERS / fresh.len() as f64)).collect());
            active.extend(fresh.into_iter().map(|atom| column(&family, atom)));
        }
        best.ok_or(FrontError::Unsolved { privacy })
    }
}

/// How far the rounds go.
struct Effort {
    /// What the duality gap of the last programs is brought below, relative to the variance.
    finest: f64,
    /// The gap at which no further atoms are looked for.
    closed: f64,
    rounds: usize,
}

impl Effort {
    fn for_categories(n: usize) -> Effort {
        match n {
            0..=MAX_ENUMERATED => Effort { finest: TOLERANCE, closed: CLOSED, rounds: MOST_ROUNDS },
            _ if n <= BY_PROGRAM => Effort { finest: 1e-5, closed: FINE, rounds: 60 },
            _ => Effort { finest: 1e-3, closed: FINE, rounds: 2 },
        }
    }
}

/// The best channels at several privacies, on all cores. Each is [`exact`]; the order is that of `privacies`. `watch` is told how many are begun.
pub fn front(goal: &Goal, privacies: &[f64], watch: Watch<'_>) -> Vec<Result<ExactPoint, FrontError>> {
    let (begun, total) = (AtomicU64::new(0), Some(privacies.len() as u64));
    crew::share(privacies.len(), crew::cores(), |i| {
        watch.tell(Step::of("points", begun.fetch_add(1, Ordering::Relaxed), total))?;
        exact(goal, privacies[i])
    })
}

/// A posterior with its largest entry that takes part in the program, and the atom that it is, if it is one.
type Column = ((Vec<f64>, f64), Option<Atom>);

fn column(family: &Atoms, atom: Atom) -> Column {
    ((atom.posterior(family.bound, family.n), atom.largest(family.bound)), Some(atom))
}

/// Posteriors to begin with, and their weights, when all atoms would be too many: fitted atoms, those of Warner's schemes within the bound, and the prior
/// itself. The latter are mixtures of atoms, so they change nothing, and fade as atoms come; but with them there is always a channel.
fn first(goal: &Goal, family: &Atoms, fitted: Vec<(Atom, f64)>) -> (Vec<Column>, Vec<f64>) {
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

/// A lower bound for every channel with this accuracy and bound, from the channel and the multipliers alone; and the
/// atoms that would lower the value most.
///
/// The variance is convex in `K`: `f(K') >= f(K) - tr(B (K' - K))` with `tr(B K) = f(K)`. For every channel `K' = sum w psi psi'` with
/// weights that sum to one, so with any `nu` and `mu >= 0`:
/// `f(K') >= 2 f(K) - nu . pi - mu A + min over atoms of (-psi' B psi + nu . psi + mu max psi)`.
/// Where atoms are too many for that minimum, another matrix takes the place of `B`: see [`bound`].
fn certify(
    goal: &Goal,
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
        // What rounding in these sums can come to.
        let slack = 1e-12 * (2.0 * value + multiplied.abs());
        let least = cheapest.first().map_or(0.0, |first| first.0);
        2.0 * value - multiplied + least - prior.squares() - slack
    } else {
        Dual::near(goal, &information.slope, &solved.nu, solved.mu).bound(accuracy)
    };
    let useful = cheapest.into_iter().filter(|(price, _)| *price < limit);
    (bound.max(closed_bound(goal, accuracy)), useful.collect())
}

#[cfg(test)]
mod tests {
    use super::super::prior::Prior;
    use super::*;

    /// The closed form for uniform priors where the posterior bound does not bind: `(n - 1)^2/(n (n A - 1))`, `A = 1 - privacy`.
    fn uniform_variance(n: usize, privacy: f64) -> f64 {
        let (n, accuracy) = (n as f64, 1.0 - privacy);
        (n - 1.0).powi(2) / (n * (n * accuracy - 1.0))
    }

    fn goal(shares: &[f64], bound: f64) -> Goal {
        Goal::new(Prior::new(shares).unwrap(), bound).unwrap()
    }

    fn check(goal: &Goal, privacy: f64, golden: f64) {
        let point = exact(goal, privacy).unwrap();
        assert!(
            (point.measures.variance - golden).abs() < 1e-5 * golden.max(1.0),
            "{} {golden}",
            point.measures.variance
        );
        assert!(point.lower_bound <= point.measures.variance && point.gap() <= 1e-6, "gap {}", point.gap());
        assert!(point.measures.privacy >= privacy - 1e-12, "{} {privacy}", point.measures.privacy);
        assert!(point.measures.worst_posterior <= goal.bound() + 1e-12, "{}", point.measures.worst_posterior);
        let n = goal.prior().len();
        assert!(point.channel.outputs() <= n * (n + 1) / 2 + 1, "{}", point.channel.outputs());
    }

    #[test]
    fn golden_table_for_four_and_five_categories() {
        let skew = [0.4, 0.3, 0.2, 0.1];
        for (bound, privacy, golden) in [
            (0.75, 0.3025, 1.640167),
            (0.75, 0.3900, 1.921569),
            (0.75, 0.4775, 2.421741),
            (0.75, 0.5650, 4.215409),
            (0.9, 0.1750, 1.065217),
            (0.9, 0.3000, 1.361111),
            (0.9, 0.4250, 1.884615),
            (0.9, 0.5500, 3.484509),
            (1.0, 0.0900, 0.803279),
            (1.0, 0.2400, 1.065217),
            (1.0, 0.3900, 1.580645),
            (1.0, 0.5400, 3.062547),
        ] {
            check(&goal(&skew, bound), privacy, golden);
        }
        for (n, bound, privacy, golden) in [
            (4, 0.75, 0.3250, 1.666667),
            (4, 0.75, 0.4500, 2.045455),
            (4, 0.9, 0.1975, 1.143293),
            (4, 0.9, 0.3600, 1.553867),
            (5, 0.75, 0.3325, 1.667752),
            (5, 0.75, 0.4700, 2.031746),
            (5, 0.9, 0.2050, 1.194030),
            (5, 0.9, 0.5550, 2.612245),
        ] {
            check(&goal(&vec![1.0 / f64::from(n); n as usize], bound), privacy, golden);
        }
    }

    #[test]
    fn golden_table_for_ten_categories() {
        let normal = Prior::normal(10).unwrap();
        for (bound, privacy, golden) in [
            (0.6, 0.475, 2.055525),
            (0.6, 0.699, 5.199926),
            (0.75, 0.355, 1.711269),
            (0.75, 0.459, 1.963471),
            (0.75, 0.564, 2.581945),
            (0.75, 0.669, 4.241464),
            (0.9, 0.235, 1.272712),
            (1.0, 0.155, 1.022806),
            (1.0, 0.619, 3.247382),
        ] {
            check(&Goal::new(normal.clone(), bound).unwrap(), privacy, golden);
        }
    }

    #[test]
    fn the_closed_form_for_uniform_priors() {
        for (n, bound) in [(2, 1.0), (3, 1.0), (4, 1.0), (7, 1.0), (10, 1.0), (12, 1.0), (16, 0.9)] {
            for part in [0.3, 0.6, 0.9] {
                // Privacies at which sets of two are enough, so that the bound does not bind.
                let (least, most) = (0.5f64.min(1.0 - 1.0 / n as f64), 1.0 - 1.0 / n as f64);
                let least = if bound < 1.0 { least } else { 0.0 };
                let privacy = least + part * (most - least);
                check(&goal(&vec![1.0 / n as f64; n], bound), privacy, uniform_variance(n, privacy));
            }
        }
    }

    /// Sixteen categories, from half of all down to one in six hundred (education in the Adult data): atoms on rare categories are far from the prior.
    #[test]
    fn rare_categories() {
        let counts = [
            933.0, 1175.0, 433.0, 168.0, 333.0, 646.0, 514.0, 1067.0, 1382.0, 5355.0, 413.0, 10501.0, 1723.0, 51.0,
            576.0, 7291.0,
        ];
        let goal = Goal::new(Prior::from_counts(&counts).unwrap(), 0.75).unwrap();
        for privacy in [0.3, 0.64] {
            let point = exact(&goal, privacy).unwrap();
            assert!(point.gap() < 1e-6 && point.measures.privacy >= privacy - 1e-12, "{}", point.gap());
        }
    }

    /// More categories than sets can be looked at one by one: near the closed form, and within the bound that is shown.
    #[test]
    fn twenty_five_categories() {
        let point = exact(&goal(&[0.04; 25], 0.75), 0.8).unwrap();
        let best = uniform_variance(25, 0.8);
        assert!(point.measures.variance >= best * (1.0 - 1e-9) && point.measures.variance < best * 1.01);
        assert!(point.lower_bound <= best * (1.0 + 1e-12) && point.lower_bound > 0.999 * best, "{}", point.lower_bound);
    }

    /// Thirty and a hundred categories: too many sets to look at, and yet the best channel is known closely.
    #[test]
    fn many_categories() {
        let zipf: Vec<f64> = (1..=30).map(|i| 1.0 / f64::from(i)).collect();
        for (prior, bound, part, limit) in [
            (Prior::normal(30).unwrap(), 1.0, 0.5, 0.01),
            (Prior::normal(30).unwrap(), 0.75, 0.5, 0.01),
            (Prior::gamma(30, 2.0, 1.0).unwrap(), 1.0, 0.5, 0.01),
            (Prior::from_counts(&zipf).unwrap(), 1.0, 0.5, 0.01),
            (Prior::normal(100).unwrap(), 1.0, 0.5, 0.05),
        ] {
            let goal = Goal::new(prior, bound).unwrap();
            let (least, most) = goal.range();
            let privacy = least + part * (most - least);
            let point = exact(&goal, privacy).unwrap();
            assert!(point.gap() >= 0.0 && point.gap() < limit, "{bound} {part}: {}", point.gap());
            assert!(point.measures.privacy >= privacy - 1e-12, "{} {privacy}", point.measures.privacy);
            assert!(point.measures.worst_posterior <= bound + 1e-12);
        }
    }

    /// Fitted atoms meet prior and accuracy, and are close to the best there is where the closed bound is attained.
    #[test]
    fn fitted_atoms() {
        let goal = Goal::new(Prior::normal(12).unwrap(), 1.0).unwrap();
        let fitted = fit::fit(&goal, 0.5, 144);
        let family = Atoms { n: 12, bound: 1.0 };
        let mut sums = vec![0.0; 12];
        let mut accuracy = 0.0;
        for (atom, weight) in &fitted {
            atom.posterior(1.0, 12).iter().zip(&mut sums).for_each(|(p, sum)| *sum += weight * p);
            accuracy += weight * atom.largest(1.0);
        }
        assert!(sums.iter().zip(goal.prior().shares()).all(|(sum, p)| (sum - p).abs() < 1e-9), "{sums:?}");
        assert!((accuracy - 0.5).abs() < 1e-9, "{accuracy}");
        let point = Ask { goal: &goal, privacy: 0.5, accuracy: 0.5, aim: 0.5, family }.direct(&fitted).unwrap();
        let best = exact(&goal, 0.5).unwrap();
        assert!((closed_bound(&goal, 0.5) / best.measures.variance - 1.0).abs() < 1e-6);
        assert!(point.measures.variance < 1.01 * best.measures.variance, "{}", point.gap());
    }

    /// Close to the largest privacy the closed bound is not attained; rows for the commonest categories make up for it.
    #[test]
    fn rows_for_the_commonest_categories() {
        let goal = goal(&[0.34, 0.17, 0.12, 0.09, 0.07, 0.06, 0.05, 0.04, 0.03, 0.03], 0.75);
        let accuracy = 0.38;
        let family = Atoms { n: 10, bound: 0.75 };
        let all: Vec<(Vec<f64>, f64)> = family.all().into_iter().map(|atom| column(&family, atom).0).collect();
        let solved = Program::new(goal.prior().shares(), &all, accuracy).solve(1e-9, None).unwrap();
        let channel = assemble(&goal, &all, &solved.weights, accuracy);
        let information = Information::of(channel.rows(), goal.prior()).unwrap();
        let bound = Dual::near(&goal, &information.slope, &solved.nu, solved.mu).bound(accuracy);
        assert!(bound <= information.variance * (1.0 + 1e-9) && bound > 0.995 * information.variance, "{bound}");
        assert!(closed_bound(&goal, accuracy) < 0.99 * information.variance);
    }

    /// More categories than are all taken at once: atoms are added where they pay, and it comes to the same.
    #[test]
    fn adding_atoms_comes_to_the_same() {
        let prior = Prior::normal(12).unwrap();
        let goal = Goal::new(prior, 0.75).unwrap();
        let point = exact(&goal, 0.55).unwrap();
        let family = Atoms { n: 12, bound: 0.75 };
        let all: Vec<(Vec<f64>, f64)> =
            family.all().iter().map(|atom| (atom.posterior(0.75, 12), atom.largest(0.75))).collect();
        let solved = Program::new(goal.prior().shares(), &all, 0.45).solve(1e-9, None).unwrap();
        let whole = measure(&assemble(&goal, &all, &solved.weights, 0.45), goal.prior());
        assert!((point.measures.variance / whole.variance - 1.0).abs() < 1e-6);
        assert!(point.gap() <= 1e-6, "{}", point.gap());
    }

    #[test]
    fn the_ends_of_the_range() {
        // The identity: everything told.
        let open = goal(&[0.5, 0.3, 0.2], 1.0);
        check(&open, 0.0, 1.0 - (0.25 + 0.09 + 0.04));
        let skew = goal(&[0.4, 0.3, 0.2, 0.1], 0.75);
        for above in [0.0, 1e-12, 1e-9, 1e-7, 1e-5] {
            let point = exact(&skew, 0.25 + above).unwrap();
            assert!(point.measures.worst_posterior <= 0.75 + 1e-12 && point.gap() < 1e-6, "{above} {point:?}");
        }
        // Below 1 - delta the bound alone decides.
        let bounded = goal(&[0.5, 0.3, 0.2], 0.8);
        let least = exact(&bounded, 0.2).unwrap().measures.variance;
        assert!((exact(&bounded, 0.0).unwrap().measures.variance - least).abs() < 1e-6);
        // Beyond 1 - max pi there is nothing (Theorem 5), and the error says why.
        let error = exact(&bounded, 0.51).unwrap_err().to_string();
        assert!(error.contains("0.500000") && error.contains("Theorem 5"), "{error}");
        assert!(exact(&bounded, -0.1).is_err() && exact(&bounded, f64::NAN).is_err());
        let error = Goal::new(Prior::new(&[0.99, 0.01]).unwrap(), 0.75).unwrap_err().to_string();
        assert!(error.contains("0.990000") && error.contains("Theorem 5"), "{error}");
        assert!(Goal::new(Prior::uniform(3).unwrap(), 1.5).is_err());
    }
}
