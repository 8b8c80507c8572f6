//! Merges true combinations that a model does not distinguish: items of a score, and companions of its attributes.

use candor_base::shape::Shape;

use super::observations::{MAX_NUMBERS, Observations};
use super::{Model, RegressError};

impl Observations<'_> {
    /// Reduces the data to the combinations that the model distinguishes.
    pub(super) fn recast(&mut self, shape: &Shape, model: &Model) -> Result<(), RegressError> {
        if model.companions > 0 {
            let sizes = shape.sizes();
            self.add_law_of_companions(model, sizes[sizes.len() - model.companions..].iter().product())?;
        }
        if model.is_score() {
            self.add_score(shape, model);
        }
        Ok(())
    }

    /// Replaces the unbiased weights of a score's items by the unbiased score of each answer.
    ///
    /// The new weights are those of the true values 0 and 1. Their sum is the number of people, and their mean is
    /// the score.
    fn add_score(&mut self, shape: &Shape, model: &Model) {
        let items = shape.project(&(0..model.scores.len()).collect::<Vec<usize>>());
        let score = |cell: usize| -> Option<f64> {
            let codes = items.codes(cell);
            let inside = codes.iter().zip(&model.hidden_left_out).all(|(code, out)| !out.contains(&(*code as u16)));
            let values = codes.iter().zip(&model.scores).map(|(&code, values)| values.of(code).unwrap_or(0.0));
            inside.then(|| values.sum())
        };
        let scores: Vec<f64> = (0..items.cells()).filter_map(score).collect();
        let combinations = self.hidden.len();
        let (mut unbiased, mut excess) = (Vec::new(), Vec::new());
        for own in self.unbiased.chunks_exact(scores.len() * combinations) {
            let sum = |hidden: usize, power: i32| -> f64 {
                let weights = own.iter().skip(hidden).step_by(combinations);
                weights.zip(&scores).map(|(u, score)| u * score.powi(power)).sum()
            };
            unbiased.extend((0..combinations).map(|hidden| sum(hidden, 0) - sum(hidden, 1)));
            unbiased.extend((0..combinations).map(|hidden| sum(hidden, 1)));
            excess.extend((0..combinations).map(|hidden| sum(hidden, 2) - sum(hidden, 1)));
        }
        self.score = Some(excess);
        self.likelihoods = vec![1.0; unbiased.len()];
        (self.unbiased, self.outcomes) = (unbiased, 2);
        self.named.fill(None);
    }

    /// Sums over companions in the unbiased weights, and keeps them in the likelihood.
    ///
    /// A law of companions that depends on the outcome is needed if only the outcome is randomized together with
    /// them. The likelihood then has their categories under each category of the outcome.
    fn add_law_of_companions(&mut self, model: &Model, codes: usize) -> Result<(), RegressError> {
        let (outcomes, others) = (self.outcomes, self.hidden.len() / codes);
        let depends = model.answered_together && others == 1;
        let laws = if depends { codes.saturating_pow(outcomes as u32) } else { codes };
        let cells = outcomes.saturating_mul(others).saturating_mul(laws);
        let (rows, limit) = (self.named.len(), MAX_NUMBERS);
        if rows.saturating_mul(cells) > limit {
            return Err(RegressError::TooLarge { rows, cells, limit });
        }
        let code = |law: usize, outcome: usize| if depends { law / codes.pow(outcome as u32) % codes } else { law };
        let before = outcomes * others * codes;
        let (mut likelihoods, mut unbiased) = (Vec::new(), Vec::new());
        for (likelihood, weights) in self.likelihoods.chunks_exact(before).zip(self.unbiased.chunks_exact(before)) {
            for truth in 0..outcomes * others {
                let own = truth * codes..(truth + 1) * codes;
                let people: f64 = weights[own.clone()].iter().sum();
                likelihoods.extend((0..laws).map(|law| likelihood[own.start + code(law, truth / others)]));
                unbiased.extend((0..laws).map(|law| if law == 0 { people } else { 0.0 }));
            }
        }
        let kinds = if depends { outcomes } else { 1 };
        let combination = |at: usize| -> Vec<usize> {
            let (other, law) = (&self.hidden[at / laws * codes], at % laws);
            let named = other[..other.len() - model.companions].iter().copied();
            named.chain((0..kinds).map(|outcome| code(law, outcome))).collect()
        };
        let hidden = (0..others * laws).map(combination).collect();
        (self.likelihoods, self.unbiased, self.hidden) = (likelihoods, unbiased, hidden);
        self.companions = depends.then_some(codes);
        self.named.fill(None);
        Ok(())
    }
}
