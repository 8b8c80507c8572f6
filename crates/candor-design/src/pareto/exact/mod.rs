//! Optimal channels for a prior and a posterior bound, each with a proof.
//!
//! Consider all channels with privacy at least `1 - A` and posteriors at most delta, with any number of outputs. The
//! one with the smallest variance solves a convex program over posterior atoms. Huang and Du 2008 search square
//! matrices and state that they cannot claim optimality. Here every point has a lower bound that holds for all
//! channels.

pub(super) mod atoms;
mod bound;
mod climb;
mod fit;
mod program;
mod sparse;
mod weights;
mod rounds;
mod by_loss;

use std::sync::atomic::{AtomicU64, Ordering};

use candor_runtime::parallel;
use candor_runtime::progress::{Progress, ProgressSink};

use super::channel::FrontChannel;
use super::measure::Measures;
use super::{FrontError, FrontProblem};
use atoms::Atoms;
use rounds::{Ask, column};

/// Largest number of categories for which all atoms take part from the beginning.
const ALL_AT_ONCE: usize = 10;

/// Margin by which the target is more private than requested, relative to the remaining accuracy.
const MARGIN: f64 = 1e-8;

/// A channel on the front, with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactPoint {
    /// The requested privacy.
    pub asked: f64,
    /// The channel.
    pub channel: FrontChannel,
    /// Its privacy and error.
    pub measures: Measures,
    /// Lower bound on the variance of all channels with the requested privacy within the posterior bound.
    pub lower_bound: f64,
}

impl ExactPoint {
    /// Returns an upper bound on the distance of the channel's variance from the optimum, relative to its variance.
    pub fn gap(&self) -> f64 {
        (self.measures.variance - self.lower_bound) / self.measures.variance
    }
}

/// Returns the best channel with at least this privacy.
///
/// A privacy below `1 - delta` has no effect, because the bound alone decides there. Time is polynomial except for the
/// pricing of atoms, which evaluates all `2^n` sets for up to 22 categories and uses a beam search beyond. The lower
/// bound holds in both cases. Beyond 22 categories it comes from the module `bound`, and the search ends when it is
/// close enough.
///
/// # Errors
/// Returns a [`FrontError`] if no channel has this privacy, or if the program could not be solved.
pub fn exact(goal: &FrontProblem, privacy: f64) -> Result<ExactPoint, FrontError> {
    goal.check_privacy(privacy)?;
    let accuracy = (1.0 - privacy).min(goal.most_accurate());
    // Slightly more private than requested, so that rounding does not violate the request.
    let margin = if accuracy < goal.most_accurate() { MARGIN } else { 0.0 };
    let aim = accuracy - margin * (accuracy - goal.least_accurate());
    let family = Atoms { n: goal.prior().len(), bound: goal.bound() };
    let ask = Ask { goal, privacy, accuracy, aim, family };
    if let Some(guesses) = goal.accuracy() {
        return ask.by_loss(guesses);
    }
    if family.n <= ALL_AT_ONCE {
        let all = family.all().into_iter().map(|atom| column(&family, atom)).collect();
        // If the program stalls from this start, fitted atoms are used instead.
        if let Ok(point) = ask.rounds(all, None) {
            return Ok(point);
        }
    }
    ask.many()
}

/// Returns the best channels at several privacies, computed on all cores.
///
/// Each is the result of [`exact`], in the order of `privacies`. `progress` receives the number of points started.
pub fn front(
    goal: &FrontProblem,
    privacies: &[f64],
    progress: ProgressSink<'_>,
) -> Vec<Result<ExactPoint, FrontError>> {
    let (begun, total) = (AtomicU64::new(0), Some(privacies.len() as u64));
    parallel::map(privacies.len(), parallel::threads(), |i| {
        progress.report(Progress::new("points", begun.fetch_add(1, Ordering::Relaxed), total))?;
        exact(goal, privacies[i])
    })
}

/// The variance of the program over these posteriors alone.
#[cfg(test)]
pub(super) fn tests_program(goal: &FrontProblem, posteriors: &[(Vec<f64>, f64)], accuracy: f64) -> f64 {
    let solved =
        program::Program::new(goal.prior().shares(), posteriors, accuracy).solve(1e-9, None).expect("a solution");
    goal.measure(&weights::assemble(goal, posteriors, &solved.weights, accuracy)).variance
}

#[cfg(test)]
mod tests {
    use super::super::measure::measure;
    use super::super::prior::Prior;
    use super::bound::closed_bound;
    use super::program::Program;
    use super::weights::assemble;
    use super::*;

    /// The closed form for uniform priors where the posterior bound does not bind: `(n - 1)^2/(n (n A - 1))`, with
    /// `A = 1 - privacy`.
    fn uniform_variance(n: usize, privacy: f64) -> f64 {
        let (n, accuracy) = (n as f64, 1.0 - privacy);
        (n - 1.0).powi(2) / (n * (n * accuracy - 1.0))
    }

    fn goal(shares: &[f64], bound: f64) -> FrontProblem {
        FrontProblem::new(Prior::new(shares).unwrap(), bound).unwrap()
    }

    fn check(goal: &FrontProblem, privacy: f64, golden: f64) {
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
            check(&FrontProblem::new(normal.clone(), bound).unwrap(), privacy, golden);
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

    /// Sixteen categories, from half of all down to one in six hundred (education in the Adult data). Atoms on rare
    /// categories are far from the prior.
    #[test]
    fn rare_categories() {
        let counts = [
            933.0, 1175.0, 433.0, 168.0, 333.0, 646.0, 514.0, 1067.0, 1382.0, 5355.0, 413.0, 10501.0, 1723.0, 51.0,
            576.0, 7291.0,
        ];
        let goal = FrontProblem::new(Prior::from_counts(&counts).unwrap(), 0.75).unwrap();
        for privacy in [0.3, 0.64] {
            let point = exact(&goal, privacy).unwrap();
            assert!(point.gap() < 1e-6 && point.measures.privacy >= privacy - 1e-12, "{}", point.gap());
        }
    }

    /// Too many categories to enumerate sets: near the closed form, and within the stated bound.
    #[test]
    fn twenty_five_categories() {
        let point = exact(&goal(&[0.04; 25], 0.75), 0.8).unwrap();
        let best = uniform_variance(25, 0.8);
        assert!(point.measures.variance >= best * (1.0 - 1e-9) && point.measures.variance < best * 1.01);
        assert!(point.lower_bound <= best * (1.0 + 1e-12) && point.lower_bound > 0.999 * best, "{}", point.lower_bound);
    }

    /// Thirty and a hundred categories: too many sets to enumerate, but the optimum is closely bounded.
    #[test]
    fn many_categories() {
        let zipf: Vec<f64> = (1..=30).map(|i| 1.0 / f64::from(i)).collect();
        for (prior, bound, part, limit) in [
            (Prior::normal(30).unwrap(), 1.0, 0.5, 0.01),
            (Prior::normal(30).unwrap(), 0.75, 0.5, 0.01),
            (Prior::gamma(30, 2.0, 1.0).unwrap(), 1.0, 0.5, 0.01),
            (Prior::from_counts(&zipf).unwrap(), 1.0, 0.5, 0.01),
            (Prior::normal(100).unwrap(), 1.0, 0.5, 0.05),
            // Twelve atoms for each category leave a gap of a fifth here; twice as many do not.
            (Prior::uniform(100).unwrap(), 0.6, 0.1, 0.05),
            // The closed bound is 5% too low here.
            (Prior::normal(24).unwrap(), 0.6, 0.97, 0.01),
        ] {
            let goal = FrontProblem::new(prior, bound).unwrap();
            let (least, most) = goal.range();
            let privacy = least + part * (most - least);
            let point = exact(&goal, privacy).unwrap();
            assert!(point.gap() >= 0.0 && point.gap() < limit, "{bound} {part}: {}", point.gap());
            assert!(point.measures.privacy >= privacy - 1e-12, "{} {privacy}", point.measures.privacy);
            assert!(point.measures.worst_posterior <= bound + 1e-12);
        }
    }

    /// Fitted atoms meet prior and accuracy, and are nearly optimal where the closed bound is attained.
    #[test]
    fn fitted_atoms() {
        let goal = FrontProblem::new(Prior::normal(12).unwrap(), 1.0).unwrap();
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

    /// Near the largest privacy the closed bound is not attained; rows for the most common categories correct this.
    #[test]
    fn rows_for_the_commonest_categories() {
        let skew = goal(&[0.34, 0.17, 0.12, 0.09, 0.07, 0.06, 0.05, 0.04, 0.03, 0.03], 0.75);
        let normal = FrontProblem::new(Prior::normal(12).unwrap(), 0.6).unwrap();
        let (least, most) = normal.range();
        for (goal, privacy, reached, closed) in
            [(skew, 0.62, 0.995, 0.99), (normal, least + 0.97 * (most - least), 0.998, 0.81)]
        {
            let (accuracy, best) = (1.0 - privacy, exact(&goal, privacy).unwrap().measures.variance);
            let bound = climb::climb(&goal, accuracy, &fit::fit(&goal, accuracy, 144));
            assert!(bound <= best * (1.0 + 1e-9) && bound > reached * best, "{bound} {best}");
            assert!(closed_bound(&goal, accuracy) < closed * best);
        }
    }

    /// Too many categories to use all atoms at once: adding atoms gives the same result.
    #[test]
    fn adding_atoms_comes_to_the_same() {
        let prior = Prior::normal(12).unwrap();
        let goal = FrontProblem::new(prior, 0.75).unwrap();
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
        // The identity: fully informative.
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
        // Beyond 1 - max pi there is no channel (Theorem 5), and the error gives the reason.
        let error = exact(&bounded, 0.51).unwrap_err().to_string();
        assert!(error.contains("0.500000") && error.contains("Theorem 5"), "{error}");
        assert!(exact(&bounded, -0.1).is_err() && exact(&bounded, f64::NAN).is_err());
        let error = FrontProblem::new(Prior::new(&[0.99, 0.01]).unwrap(), 0.75).unwrap_err().to_string();
        assert!(error.contains("0.990000") && error.contains("Theorem 5"), "{error}");
        assert!(FrontProblem::new(Prior::uniform(3).unwrap(), 1.5).is_err());
    }
}
