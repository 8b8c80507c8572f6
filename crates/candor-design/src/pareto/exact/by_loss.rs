//! The best channel where guesses are measured by a loss: the same program over other atoms.
//!
//! The atoms are the vertices of the regions in which one guess is best ([`Accuracy::vertices`]); with the accuracy of
//! the best guess in place of the largest entry, program and certificate are those of right and wrong guesses.

use super::super::FrontError;
use super::super::loss::Accuracy;
use super::super::measure::Information;
use super::program::{Program, Solved};
use super::rounds::{Ask, TOLERANCE, first};
use super::weights::assemble;
use super::{ExactPoint, FrontChannel};

/// A gap that is small enough.
const CLOSED: f64 = 1e-6;

/// The weight of all atoms where the program begins with posteriors of Warner's schemes.
const ATOMS: f64 = 0.5;

impl Ask<'_> {
    /// The best channel, with the bound that holds for every channel.
    pub fn by_loss(&self, guesses: &Accuracy) -> Result<ExactPoint, FrontError> {
        let atoms = guesses.vertices()?;
        let start = || {
            let (columns, weights) = first(self.goal, &self.family, Vec::new());
            let others = columns.into_iter().map(|((psi, _), _)| {
                let score = guesses.of_rows([&psi[..]].into_iter());
                (psi, score)
            });
            let each = ATOMS / atoms.len() as f64;
            let weights = atoms.iter().map(|_| each).chain(weights.iter().map(|w| w * 10.0 * (1.0 - ATOMS)));
            (atoms.iter().cloned().chain(others).collect::<Vec<_>>(), weights.collect::<Vec<f64>>())
        };
        let found = self.solved(guesses, atoms, None);
        if let Some(point) = found.as_ref().filter(|point| point.gap() < CLOSED) {
            return Ok(point.clone());
        }
        // Where the program stalls from nowhere, it begins with a channel that is within the bound.
        let (columns, weights) = start();
        let again = self.solved(guesses, &columns, Some(&weights));
        let bound = found.iter().chain(&again).map(|point| point.lower_bound).fold(0.0, f64::max);
        let better = found.into_iter().chain(again).min_by(|a, b| a.measures.variance.total_cmp(&b.measures.variance));
        let better = better.ok_or(FrontError::Unsolved { privacy: self.privacy })?;
        Ok(ExactPoint { lower_bound: bound, ..better })
    }

    fn solved(&self, guesses: &Accuracy, posteriors: &[(Vec<f64>, f64)], start: Option<&[f64]>) -> Option<ExactPoint> {
        let prior = self.goal.prior();
        let solved = Program::new(prior.shares(), posteriors, self.aim).solve(TOLERANCE, start)?;
        let channel = assemble(self.goal, posteriors, &solved.weights, self.aim);
        let measures = self.goal.measure(&channel);
        let lower_bound = self.bound_by_loss(guesses, &channel, &solved)?;
        let private = measures.privacy >= self.privacy - 1e-12 && measures.variance.is_finite();
        private.then_some(ExactPoint { asked: self.privacy, channel, measures, lower_bound })
    }

    /// A lower bound for every channel with this accuracy and bound, from the channel and the multipliers alone.
    fn bound_by_loss(&self, guesses: &Accuracy, channel: &FrontChannel, solved: &Solved) -> Option<f64> {
        let prior = self.goal.prior();
        let information = Information::of(channel.rows(), prior)?;
        let price = |(psi, score): &(Vec<f64>, f64)| {
            let bent = information.slope.column_iter().zip(psi).filter(|(_, p)| **p != 0.0);
            let quadratic: f64 = bent.map(|(b, p)| p * b.iter().zip(psi).map(|(b, q)| b * q).sum::<f64>()).sum();
            let linear: f64 = solved.nu.iter().zip(psi).map(|(nu, p)| nu * p).sum();
            -quadratic + linear + solved.mu * score
        };
        let least = guesses.vertices().ok()?.iter().map(price).fold(f64::INFINITY, f64::min);
        let value = information.variance + prior.squares();
        let multiplied =
            solved.nu.iter().zip(prior.shares()).map(|(nu, p)| nu * p).sum::<f64>() + solved.mu * self.accuracy;
        let slack = 1e-12 * (2.0 * value + multiplied.abs());
        Some((2.0 * value - multiplied + least - prior.squares() - slack).max(0.0))
    }
}
