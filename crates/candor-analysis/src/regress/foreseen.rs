//! Power of the test of a coefficient: the projected score in an expected population.
//!
//! Every answer enters with its probability, as if it were data. The fit with the coefficient at the tested value is
//! close to that of a regression. One respondent's projected score there has the mean `m` and the standard deviation
//! `s1` in the expected population, and the test assumes the standard deviation `s0`. So `n` respondents reject the
//! value with probability `Phi((sqrt(n)|m| - z s0)/s1) + Phi((-sqrt(n)|m| - z s0)/s1)`.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, Normal};

use super::by_likelihood::FARTHEST;
use super::corrected_profile::CorrectedProfile;
use super::expected::{Everything, Possible};
use super::family::Kernel;
use super::fit::Fit;
use super::likelihood_profile::{Drawn, Information, LikelihoodProfile};
use super::penalty::{Penalty, scales};
use super::problem::Problem;
use super::sums::Want;
use super::variance::score_covariance;
use super::walk::{Point, Profile};
use super::{Method, ModelRows, RegressError};

/// Values at which a limit may be, as fractions of the distance to the farthest one.
const WAY: [f64; 6] = [0.04, 0.1, 0.2, 0.4, 0.7, 1.0];

/// Tolerance of the free parameters' scores at a fit, for one respondent.
const FITTED: f64 = 1e-6;

/// One respondent's projected score at a tested value, in the standard deviations that the test assumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    /// Mean; 0 if the tested value is true.
    pub mean: f64,
    /// Standard deviation.
    pub spread: f64,
}

impl Signal {
    /// Returns the power of a two-sided test with this number of respondents.
    pub fn power(self, alpha: f64, respondents: f64) -> f64 {
        let (reach, size) = (reach(alpha), respondents.sqrt() * self.mean.abs());
        let below = |x: f64| Normal::standard().cdf(x / self.spread);
        below(size - reach) + below(-size - reach)
    }

    /// Returns the number of respondents for this power, at least 1.
    pub fn respondents(self, alpha: f64, power: f64) -> f64 {
        let quantile = Normal::standard().inverse_cdf(power);
        let mut high = ((reach(alpha) + quantile.max(0.0) * self.spread) / self.mean).powi(2).max(1.0);
        let mut low = 1.0;
        if self.power(alpha, low) >= power {
            return low;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if self.power(alpha, middle) < power { low = middle } else { high = middle }
        }
        high
    }

    /// Returns the probability of rejection on one side.
    fn one_sided(self, alpha: f64, respondents: f64) -> f64 {
        Normal::standard().cdf((respondents.sqrt() * self.mean.abs() - reach(alpha)) / self.spread)
    }
}

fn reach(alpha: f64) -> f64 {
    Normal::standard().inverse_cdf(1.0 - alpha / 2.0)
}

/// Expected results of the test of a coefficient.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreseen {
    /// At zero, which gives the power to detect the coefficient.
    pub zero: Signal,
    /// At values far below and far above, which give the probability of a limit on that side.
    sides: [Vec<Signal>; 2],
}

impl Foreseen {
    /// Returns the probability that the interval lacks a limit on at least one side.
    pub fn one_sided(&self, alpha: f64, respondents: f64) -> f64 {
        let lacking = |side: &Vec<Signal>| {
            let limited = side.iter().map(|signal| signal.one_sided(alpha, respondents)).fold(0.0, f64::max);
            1.0 - limited
        };
        self.sides.iter().map(lacking).sum::<f64>().min(1.0)
    }
}

/// All possible answers as data, with what the tests need.
pub(super) struct Outlook<'a> {
    problem: &'a Problem<'a>,
    tables: Vec<f64>,
    theta: &'a [f64],
    possible: Option<Possible>,
    everything: Option<Everything>,
    method: Method,
}

impl<'a> Outlook<'a> {
    /// Creates the outlook at the expected coefficients `theta`; `companions` says whether the model has any, about
    /// whose distribution a fit assumes nothing.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        rows: &ModelRows,
        theta: &'a [f64],
        method: Method,
        companions: bool,
    ) -> Outlook<'a> {
        let likelihood = method == Method::MaximumLikelihood;
        Outlook {
            problem,
            tables: problem.tables(),
            theta,
            possible: Possible::new(rows.answers(), problem.data.groups.len()).filter(|_| likelihood),
            everything: if likelihood || companions { None } else { Everything::new(rows.answers(), problem.data) },
            method,
        }
    }

    /// Returns the expected results of the test of a parameter.
    ///
    /// # Errors
    /// Returns [`RegressError`] if the other parameters cannot be fitted without it.
    pub(super) fn of(&self, tested: usize) -> Result<Foreseen, RegressError> {
        let free = (0..self.problem.parameters).filter(|&at| at != tested).collect::<Vec<usize>>();
        if self.problem.kernel == Kernel::LeastSquares {
            return self.linear(tested, &free);
        }
        let (problem, drawn, ridge) = (self.problem, Drawn::Simple, Penalty::None);
        match self.method {
            Method::CorrectedScore => {
                let (tables, everything) = (&self.tables[..], self.everything.as_ref());
                let profile = CorrectedProfile { problem, tables, everything, drawn, stand_in: None, tested, free };
                self.along(&profile, profile.point(self.theta.to_vec())?, tested)
            }
            _ => {
                let information = self.possible.as_ref().map_or(Information::Observed, Information::Response);
                let ridge = &ridge;
                let (much, chord) = (true, None);
                let profile = LikelihoodProfile { problem, information, drawn, ridge, tested, free, much, chord };
                let sums = problem.likelihood(self.theta, Want::Information);
                let top = Fit { theta: self.theta.to_vec(), sums, converged: true, boundary: false };
                self.along(&profile, profile.start(&top)?, tested)
            }
        }
    }

    fn along(&self, profile: &dyn Profile, start: Point, tested: usize) -> Result<Foreseen, RegressError> {
        let zero = profile.at(0.0, &start)?;
        let zero = self.signal(&zero, tested)?.ok_or_else(|| {
            let message = "without an effect the model cannot be fitted to what these shares and effects lead to";
            RegressError::Anticipated(message.to_owned())
        })?;
        let farthest = FARTHEST / scales(self.problem)[tested].1;
        let side = |end: f64| -> Result<Vec<Signal>, RegressError> {
            let (mut last, mut all) = (start.clone(), Vec::new());
            for share in WAY {
                last = profile.at(start.at + share * (end - start.at), &last)?;
                let Some(signal) = self.signal(&last, tested)? else { break };
                all.push(signal);
            }
            Ok(all)
        };
        Ok(Foreseen { zero, sides: [side(-farthest)?, side(farthest)?] })
    }

    /// Returns one respondent's projected score at a point; `None` if the other parameters are not fitted there.
    fn signal(&self, point: &Point, tested: usize) -> Result<Option<Signal>, RegressError> {
        let (problem, n) = (self.problem, self.problem.parameters);
        let (gradient, squares) = match self.method {
            Method::CorrectedScore => {
                let gradient = problem.corrected(&point.theta, &self.tables).gradient;
                (gradient, score_covariance(problem, &point.theta, None)?)
            }
            _ => {
                let sums = problem.likelihood(&point.theta, Want::Information);
                (sums.gradient, DMatrix::from_column_slice(n, n, &sums.scores))
            }
        };
        let off = gradient.iter().enumerate().filter(|(at, _)| *at != tested);
        if off.fold(0.0f64, |most, (_, u)| most.max(u.abs())) > FITTED || point.variance <= 0.0 {
            return Ok(None);
        }
        let direction = DVector::from_column_slice(&point.follows);
        let mean = direction.dot(&DVector::from_vec(gradient));
        let variance = direction.dot(&(squares * &direction)) - mean * mean;
        // The test of a count takes the scatter that it finds.
        let scatters = problem.kernel == (Kernel::LogLinear { scatter: true });
        let scale = if scatters { variance.max(0.0).sqrt() } else { point.variance.sqrt() };
        Ok(Some(Signal { mean: mean / scale, spread: variance.max(0.0).sqrt() / scale }))
    }

    /// Returns the expected results for a linear model, whose test is Fieller's, with the variance of the score
    /// about its mean.
    ///
    /// Far away, the score consists of the coefficient's own noise, which is the same on both sides.
    fn linear(&self, tested: usize, free: &[usize]) -> Result<Foreseen, RegressError> {
        let n = self.problem.parameters;
        let refused = || {
            let message = "with these shares and effects, not all coefficients would be identifiable";
            RegressError::Anticipated(message.to_owned())
        };
        let sums = self.problem.corrected(&vec![0.0; n], &self.tables);
        let matrix = DMatrix::from_column_slice(n, n, &sums.complete);
        let part = |i: usize, j: usize| matrix[(free[i], free[j])];
        let inside = DMatrix::from_fn(free.len(), free.len(), part).lu();
        let column = DVector::from_iterator(free.len(), free.iter().map(|&i| matrix[(i, tested)]));
        let right = DVector::from_iterator(free.len(), free.iter().map(|&i| sums.gradient[i]));
        let (slope, constant) = inside.solve(&column).zip(inside.solve(&right)).ok_or_else(refused)?;
        let mut weights = DVector::zeros(n);
        weights[tested] = 1.0;
        free.iter().enumerate().for_each(|(i, &at)| weights[at] = -slope[i]);
        let at = |value: f64| -> Result<(f64, f64), RegressError> {
            let mut theta = vec![0.0; n];
            theta[tested] = value;
            free.iter().enumerate().for_each(|(i, &at)| theta[at] = constant[i] - value * slope[i]);
            let gradient = DVector::from_vec(self.problem.corrected(&theta, &self.tables).gradient);
            let mean = weights.dot(&gradient);
            let squares = score_covariance(self.problem, &theta, None)?;
            Ok((mean, weights.dot(&(squares * &weights)) - mean * mean))
        };
        let (zero, up, down) = (at(0.0)?, at(1.0)?, at(-1.0)?);
        let (slope, noise) = (0.5 * (down.0 - up.0), 0.5 * (up.1 + down.1) - zero.1);
        if zero.1 <= 0.0 {
            return Err(refused());
        }
        let signal =
            |mean: f64, variance: f64| Signal { mean: mean / variance.max(f64::MIN_POSITIVE).sqrt(), spread: 1.0 };
        let far = signal(slope, noise);
        // Both limits are missing together.
        Ok(Foreseen { zero: signal(zero.0, zero.1), sides: [vec![far], vec![Signal { mean: f64::MAX, spread: 1.0 }]] })
    }
}
