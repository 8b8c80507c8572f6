//! The best channels there are, for a prior and a posterior bound, each with a proof.
//!
//! Among all channels with privacy at least `1 - A` and posteriors at most delta, with any number of outputs, the one
//! with the smallest variance solves a convex program over posterior atoms. Huang and Du 2008 search
//! square matrices and say that they cannot claim optimality; here every point comes with a lower bound that holds for
//! every channel whatever.

pub(super) mod atoms;
mod program;
mod sparse;

use std::sync::atomic::{AtomicU64, Ordering};

use candor_analysis::crew;
use candor_analysis::watch::{Step, Watch};
use nalgebra::{DMatrix, DVector};

use super::channel::FrontChannel;
use super::measure::{Information, Measures, measure};
use super::{FrontError, Goal, warner};
use atoms::{Atom, Atoms, MAX_ENUMERATED, Prices};
use program::{Program, Solved};

/// Up to this many categories all atoms take part from the beginning.
const ALL_AT_ONCE: usize = 10;

/// What the duality gap of the program is brought below, relative to the variance.
const TOLERANCE: f64 = 1e-9;

/// Relative gap at which no further atoms are looked for.
const CLOSED: f64 = 3e-8;

/// By how much more private than asked a channel is aimed at, relative to what accuracy is left to give.
const MARGIN: f64 = 1e-8;

/// How often atoms may be added; less often where every round takes long.
const MOST_ROUNDS: usize = 40;

/// Answers that would come less often are dropped, where answers may tell much; less often where they may tell little.
const RARE: f64 = 1e-8;

/// Weights below this, relative to the heaviest, are left to rounding.
const NEGLIGIBLE: f64 = 1e-10;

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
/// atoms, which looks at all `2^n` sets up to 22 categories and beyond uses a beam search and a relaxation; the lower
/// bound holds in either case, but beyond 22 categories it need not be tight.
///
/// # Errors
/// If no channel has this privacy, or the program could not be solved.
pub fn exact(goal: &Goal, privacy: f64) -> Result<ExactPoint, FrontError> {
    goal.check_privacy(privacy)?;
    let accuracy = (1.0 - privacy).min(goal.bound());
    let n = goal.prior().len();
    let family = Atoms { n, bound: goal.bound() };
    let all = n <= ALL_AT_ONCE;
    let mut active =
        if all { family.all().into_iter().map(|atom| column(&family, atom)).collect() } else { first(goal) };
    // Where the certificate cannot be tight, neither need the program be.
    let (finest, closed_at) = if n <= MAX_ENUMERATED {
        (TOLERANCE, CLOSED)
    } else if n <= 40 {
        (1e-6, 1e-5)
    } else {
        (1e-4, 1e-3)
    };
    let mut best: Option<ExactPoint> = None;
    let rounds = if n <= MAX_ENUMERATED { MOST_ROUNDS } else { (1500 / n).clamp(3, MOST_ROUNDS) };
    for round in 0..rounds {
        let tolerance = if all { finest } else { finest.max(1e-3 * 0.1f64.powi(round as i32)) };
        let posteriors: Vec<(Vec<f64>, f64)> = active.iter().map(|(posterior, _)| posterior.clone()).collect();
        // A hair more private than asked, so that what rounding takes is not missed.
        let margin = if accuracy < goal.bound() { MARGIN } else { 0.0 };
        let aim = accuracy - margin * (accuracy - goal.prior().largest());
        let program = Program::new(goal.prior().shares(), &posteriors, aim);
        let Some(solved) = program.solve(tolerance) else { break };
        let channel = assemble(goal, &posteriors, &solved, aim);
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
        let closed = best.as_ref().is_some_and(|best| best.gap() < closed_at) || promised < closed_at;
        if all || tolerance <= finest && (closed || fresh.is_empty()) {
            break;
        }
        // Atoms that carry nothing make room for those that would.
        let heaviest = solved.weights.iter().copied().fold(0.0, f64::max);
        let mut weights = solved.weights.iter();
        active.retain(|_| weights.next().is_some_and(|&w| w > 1e-7 * heaviest));
        active.extend(fresh.into_iter().map(|atom| column(&family, atom)));
    }
    best.ok_or(FrontError::Unsolved { privacy })
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

/// Posteriors to begin with, when all atoms would be too many: those of Warner's schemes within the bound, and the prior itself. They are mixtures of
/// atoms, so they change nothing, and fade as atoms come.
fn first(goal: &Goal) -> Vec<Column> {
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
            joint.into_iter().map(|x| x / sum).collect::<Vec<f64>>()
        })
    };
    let posteriors = scheme(1.0).chain(scheme(0.5)).chain([shares.to_vec()]);
    posteriors.map(|psi| ((psi.clone(), psi.iter().copied().fold(0.0, f64::max)), None)).collect()
}

/// The channel of the weights, with as few outputs as its information needs.
fn assemble(goal: &Goal, posteriors: &[(Vec<f64>, f64)], solved: &Solved, aim: f64) -> FrontChannel {
    let heaviest = solved.weights.iter().copied().fold(0.0, f64::max);
    let kept: Vec<usize> =
        (0..posteriors.len()).filter(|&a| solved.weights[a] > NEGLIGIBLE * heaviest.max(1e-3)).collect();
    let roots: Vec<f64> = goal.prior().shares().iter().map(|p| p.sqrt()).collect();
    let scaled: Vec<(Vec<f64>, f64)> = kept
        .iter()
        .map(|&a| (posteriors[a].0.iter().zip(&roots).map(|(p, root)| p / root).collect(), posteriors[a].1))
        .collect();
    let weights: Vec<f64> = kept.iter().map(|&a| solved.weights[a]).collect();
    let few = sparse::sparse(&scaled, &weights);
    // Close to the largest privacy all that tells anything is rare.
    let largest = goal.prior().largest();
    let rare = RARE * ((aim - largest) / (goal.bound() - largest).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let pruned: Vec<f64> = few.iter().map(|&w| if w > rare { w } else { 0.0 }).collect();
    let fewer = settled(&scaled, &pruned, &roots, aim).or_else(|| settled(&scaled, &few, &roots, aim)).unwrap_or(few);
    let rows = kept.iter().zip(fewer).filter(|(_, w)| *w > 0.0);
    let cells = rows.flat_map(|(&a, w)| posteriors[a].0.iter().map(move |p| w * p)).collect();
    FrontChannel::new(goal.prior(), cells).within(goal)
}

/// Weights that make up for what the iteration left of `sum w phi = sqrt(pi)` and `sum w max <= A`, the heavy ones moved most; `None` if these atoms
/// cannot.
fn settled(scaled: &[(Vec<f64>, f64)], weights: &[f64], roots: &[f64], accuracy: f64) -> Option<Vec<f64>> {
    let (n, m) = (roots.len(), weights.len());
    let constraints = DMatrix::from_fn(n + 1, m, |i, a| if i < n { scaled[a].0[i] } else { scaled[a].1 });
    let right = DVector::from_fn(n + 1, |i, _| if i < n { roots[i] } else { accuracy });
    let mut w = DVector::from_column_slice(weights);
    for _ in 0..4 {
        let mut missing = &right - &constraints * &w;
        // More privacy than aimed at is no harm.
        missing[n] = missing[n].min(0.0);
        if missing.amax() < 1e-14 {
            break;
        }
        let weighted = DMatrix::from_fn(n + 1, m, |i, a| constraints[(i, a)] * w[a] * w[a]);
        let gram = &weighted * constraints.transpose();
        let size = gram.amax();
        let multipliers = gram.svd(true, true).solve(&missing, 1e-14 * size).ok()?;
        w += weighted.tr_mul(&multipliers);
    }
    let mut missing = &right - &constraints * &w;
    missing[n] = missing[n].min(0.0);
    (missing.amax() < 1e-12 && w.min() >= 0.0).then(|| w.iter().copied().collect())
}

/// A lower bound in closed form, for every channel with accuracy `A`: `(tr G^(1/2))^2 / (A - sum pi^2)` with `G = (I - pi 1') diag(pi^2) (I - 1 pi')`.
///
/// As `K 1 = pi`, the variance is `tr(G L^+)` for `L = K - pi pi'`, and by Cauchy and Schwarz `tr(G L^+) tr L >= (tr G^(1/2))^2`; and
/// `tr K = sum w |psi|^2 <= sum w max psi <= A`. Attained for uniform priors where the posterior bound does not bind; a few percent off for others with many categories.
fn closed_bound(goal: &Goal, accuracy: f64) -> f64 {
    let shares = goal.prior().shares();
    let squares = goal.prior().squares();
    let n = shares.len();
    // (I - pi 1') C (I - 1 pi') = C - pi c' - c pi' + (1' c) pi pi' with c = pi^2.
    let g = DMatrix::from_fn(n, n, |i, j| {
        let (a, b) = (shares[i], shares[j]);
        let diagonal = if i == j { a * a } else { 0.0 };
        diagonal - a * b * b - a * a * b + squares * a * b
    });
    // Rounding must not lift the bound: each eigenvalue is taken at what it is at least.
    let values = g.symmetric_eigenvalues();
    let rounding = 4e-16 * n as f64 * values.amax();
    let roots: f64 = values.iter().map(|value| (value - rounding).max(0.0).sqrt()).sum();
    let left = accuracy - squares;
    if left > 0.0 { roots * roots / left * (1.0 - 1e-12) } else { 0.0 }
}

/// A lower bound for every channel with this accuracy and bound, from the channel and the multipliers alone; and the
/// atoms that would lower the value most.
///
/// The variance is convex in `K`: `f(K') >= f(K) - tr(B (K' - K))` with `tr(B K) = f(K)`. For every channel `K' = sum w psi psi'` with
/// weights that sum to one, so with any `nu` and `mu >= 0`:
/// `f(K') >= 2 f(K) - nu . pi - mu A + min over atoms of (-psi' B psi + nu . psi + mu max psi)`.
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
    let priced = family.price(&prices, if family.n <= MAX_ENUMERATED { 8 * family.n } else { family.n });
    let value = information.variance + prior.squares();
    let multiplied = solved.nu.iter().zip(prior.shares()).map(|(nu, p)| nu * p).sum::<f64>() + solved.mu * accuracy;
    // What rounding in these sums can come to.
    let slack = 1e-12 * (2.0 * value + multiplied.abs());
    let bound = 2.0 * value - multiplied + priced.least - prior.squares() - slack;
    let limit = priced.cheapest.first().map_or(0.0, |first| 0.01 * first.0).min(0.0);
    let useful = priced.cheapest.into_iter().filter(|(price, _)| *price < limit);
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

    /// More categories than are all taken at once: atoms are added where they pay, and it comes to the same.
    #[test]
    fn adding_atoms_comes_to_the_same() {
        let prior = Prior::normal(12).unwrap();
        let goal = Goal::new(prior, 0.75).unwrap();
        let point = exact(&goal, 0.55).unwrap();
        let family = Atoms { n: 12, bound: 0.75 };
        let all: Vec<(Vec<f64>, f64)> =
            family.all().iter().map(|atom| (atom.posterior(0.75, 12), atom.largest(0.75))).collect();
        let solved = Program::new(goal.prior().shares(), &all, 0.45).solve(1e-9).unwrap();
        let whole = measure(&assemble(&goal, &all, &solved, 0.45), goal.prior());
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
