//! The Pareto front of one attribute for a known prior (Huang and Du 2008), with a proof of optimality.
//!
//! *Privacy* is the probability that the best guess from an answer is wrong (eq. 8). The *error* is the average mean
//! squared error of the estimated shares (eq. 10, called utility in the paper). The *posterior bound* is the largest
//! posterior allowed for any category given any answer (eq. 9).
//!
//! - [`exact`] computes optimal channels, with any number of outputs and a proven lower bound.
//! - [`evolve`] is the paper's search over square matrices.
//! - [`polish`] improves any channel to a local optimum.
//! - [`warner`] is the front of the classical methods.
//! - [`refine`] splits the answers of an existing channel into better ones at equal privacy.
//!
//! With a [`loss`], guesses are not right or wrong but more or less accurate (eq. 5).

pub mod hypervolume;
pub mod prior;
pub mod channel;
pub mod measure;
pub mod loss;
pub mod polish;
pub mod warner;
pub mod evolve;
pub mod search;
pub mod exact;
pub mod outputs;
pub mod refine;
pub mod plan;

/// The reason why there is no front, or no channel on it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontError {
    /// The prior is not a distribution.
    #[error("the prior {0}")]
    Prior(String),
    /// The posterior bound is out of range.
    #[error("the posterior bound is {0}; it must be above 0 and at most 1")]
    Bound(f64),
    /// No channel meets the bound: Huang and Du 2008, Theorem 5.
    #[error(
        "the posterior bound {bound} cannot be met: one category has probability {largest:.6}, so a guess of it is \
         right that often under any channel (Huang and Du 2008, Theorem 5). Use a bound of at least {largest:.6}"
    )]
    BoundBelowPrior {
        /// The requested bound.
        bound: f64,
        /// The largest share of the prior.
        largest: f64,
    },
    /// No channel has the requested privacy.
    #[error(
        "privacy {privacy} cannot be reached: one category has probability {largest:.6}, so the best guess is wrong \
         with probability at most {most:.6} under any channel (Huang and Du 2008, Theorem 5). {advice}"
    )]
    TooPrivate {
        /// The requested privacy.
        privacy: f64,
        /// The largest share of the prior.
        largest: f64,
        /// The largest privacy of any channel.
        most: f64,
        /// Advice on the request.
        advice: String,
    },
    /// A parameter is out of range.
    #[error("`{name}` is {value}; {range}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// The work was canceled.
    #[error(transparent)]
    Cancelled(#[from] candor_runtime::progress::Cancelled),
    /// A search would take too long.
    #[error(
        "the evolutionary search would take {steps:.1e} steps ({generations} generations of {children} matrices of \
         {categories} categories); the limit is {most:.1e}. Use fewer `generations`, or `method exact`"
    )]
    TooLong {
        /// Steps of the complete search.
        steps: f64,
        /// Number of generations requested.
        generations: usize,
        /// Number of matrices per generation.
        children: usize,
        /// Number of categories.
        categories: usize,
        /// Maximum number of steps.
        most: f64,
    },
    /// A loss matrix that cannot be used.
    #[error("the loss matrix {0}")]
    Loss(String),
    /// A privacy that no channel has, for a loss.
    #[error(
        "privacy {privacy} cannot be reached: without any answer the best guess loses {most:.6} of the largest loss on \
         average. Ask for less, from {least:.6} on"
    )]
    TooMuchLoss {
        /// What was asked.
        privacy: f64,
        /// The least privacy of any channel.
        least: f64,
        /// The largest privacy of any channel.
        most: f64,
    },
    /// A loss for which the best channels cannot be computed.
    #[error(
        "the loss matrix of {categories} categories has too many extreme posteriors for the exact front; use `method \
         evolve`, or fewer categories"
    )]
    TooManyVertices {
        /// The number of categories that occur.
        categories: usize,
    },
    /// The input is not a channel for the prior.
    #[error("{0}")]
    Channel(String),
    /// The solver did not converge.
    #[error(
        "no channel with privacy {privacy} could be computed: the best ones carry almost no information. Use a \
         slightly lower privacy"
    )]
    Unsolved {
        /// The requested privacy.
        privacy: f64,
    },
}

/// The conditions on every channel of a front: the prior, and the posterior bound.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontProblem {
    prior: prior::Prior,
    bound: f64,
    /// The loss with the labels that it was checked against, and the accuracy of guesses. `None`: a wrong guess is
    /// wrong.
    loss: Option<Guessing>,
}

#[derive(Clone, Debug, PartialEq)]
struct Guessing {
    loss: loss::Loss,
    labels: Option<Vec<String>>,
    accuracy: loss::Accuracy,
}

impl FrontProblem {
    /// Creates a problem.
    ///
    /// # Errors
    /// Returns [`FrontError::Bound`] if the bound is not a probability. Returns [`FrontError::BoundBelowPrior`] if it
    /// is below the largest share of the prior, because then no channel meets it (Huang and Du 2008, Theorem 5).
    pub fn new(prior: prior::Prior, bound: f64) -> Result<FrontProblem, FrontError> {
        if !(bound > 0.0 && bound <= 1.0) {
            return Err(FrontError::Bound(bound));
        }
        let largest = prior.largest();
        if bound < largest {
            return Err(FrontError::BoundBelowPrior { bound, largest });
        }
        Ok(FrontProblem { prior, bound, loss: None })
    }

    /// Measures guesses by a loss instead of right and wrong; `labels` are the categories, if the matrix has labels to
    /// be checked.
    ///
    /// # Errors
    /// Returns [`FrontError::Loss`] if the loss does not fit the prior, or is the same whatever an answer tells.
    pub fn with_loss(self, loss: loss::Loss, labels: Option<&[String]>) -> Result<FrontProblem, FrontError> {
        let accuracy = loss::Accuracy::new(&loss, labels, &self.prior, self.bound)?;
        let loss = Some(Guessing { loss, labels: labels.map(<[String]>::to_vec), accuracy });
        Ok(FrontProblem { loss, ..self })
    }

    /// The same with another bound.
    ///
    /// # Errors
    /// As [`FrontProblem::new`].
    pub(crate) fn with_bound(&self, bound: f64) -> Result<FrontProblem, FrontError> {
        let goal = FrontProblem::new(self.prior.clone(), bound)?;
        match &self.loss {
            Some(Guessing { loss, labels, .. }) => goal.with_loss(loss.clone(), labels.as_deref()),
            None => Ok(goal),
        }
    }

    /// The largest loss: privacy times this is the expected loss of the best guess. `None` without a loss.
    pub fn largest_loss(&self) -> Option<f64> {
        self.accuracy().map(loss::Accuracy::largest)
    }

    /// The accuracy of guesses, if there is a loss.
    pub(crate) fn accuracy(&self) -> Option<&loss::Accuracy> {
        self.loss.as_ref().map(|guessing| &guessing.accuracy)
    }

    /// The largest accuracy that any channel within the bound can have.
    pub(crate) fn most_accurate(&self) -> f64 {
        self.accuracy().map_or(self.bound, |accuracy| 1.0 - accuracy.range().0)
    }

    /// The accuracy of the best guess without any answer.
    pub(crate) fn least_accurate(&self) -> f64 {
        self.accuracy().map_or_else(|| self.prior.largest(), |accuracy| 1.0 - accuracy.range().1)
    }

    /// The accuracy of the best guesses for rows of joint probabilities.
    pub(crate) fn accuracy_of<'a>(&self, rows: impl Iterator<Item = &'a [f64]>) -> f64 {
        match self.accuracy() {
            Some(accuracy) => accuracy.of_rows(rows),
            None => rows.map(|row| row.iter().copied().fold(0.0, f64::max)).sum(),
        }
    }

    /// The measures of any channel, as [`measure::measure`], with the privacy of the loss.
    pub fn measure(&self, channel: &channel::FrontChannel) -> measure::Measures {
        let found = measure::measure(channel, &self.prior);
        match self.accuracy() {
            Some(accuracy) => measure::Measures { privacy: loss::privacy_of(accuracy, channel), ..found },
            None => found,
        }
    }

    /// The measures of a square matrix, as [`measure::measure_square`], with the privacy of the loss.
    pub fn measure_square(&self, columns: &[f64]) -> measure::Measures {
        let found = measure::measure_square(columns, &self.prior);
        match self.accuracy() {
            Some(accuracy) => {
                measure::Measures { privacy: 1.0 - accuracy.of_columns(columns, self.prior.shares()), ..found }
            }
            None => found,
        }
    }

    /// Returns the prior.
    pub fn prior(&self) -> &prior::Prior {
        &self.prior
    }

    /// Returns the posterior bound, delta in Huang and Du 2008.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Returns the range of useful privacies.
    ///
    /// Under the bound no optimal channel has less than the first, and no channel at all has more than the second.
    pub fn range(&self) -> (f64, f64) {
        match self.accuracy() {
            Some(accuracy) => accuracy.range(),
            None => (1.0 - self.bound, 1.0 - self.prior.largest()),
        }
    }

    /// Checks that a channel with this privacy can exist.
    ///
    /// # Errors
    /// Returns [`FrontError::TooPrivate`] if it exceeds one minus the largest share of the prior, and
    /// [`FrontError::Parameter`] if it is negative or not a number.
    pub fn check_privacy(&self, privacy: f64) -> Result<(), FrontError> {
        let (least, most) = self.range();
        if privacy > most && self.loss.is_some() {
            return Err(FrontError::TooMuchLoss { privacy, least, most });
        }
        if privacy > most {
            let advice = match most > least {
                true => format!("Ask for less, from {least:.6} on"),
                false => "Nothing can be hidden better than it already is".to_owned(),
            };
            return Err(FrontError::TooPrivate { privacy, largest: self.prior.largest(), most, advice });
        }
        if privacy.is_nan() || privacy < 0.0 {
            return Err(FrontError::Parameter {
                name: "map_privacy",
                value: privacy,
                range: "it must be from 0 to below 1",
            });
        }
        Ok(())
    }

    /// Returns this number of privacies, spread evenly over the range.
    ///
    /// The largest is left out, because channels there may be uninformative.
    pub fn spread(&self, points: usize) -> Vec<f64> {
        let (least, most) = self.range();
        (0..points).map(|k| least + (most - least) * k as f64 / points as f64).collect()
    }
}
