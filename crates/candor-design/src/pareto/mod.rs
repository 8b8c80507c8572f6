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

pub mod hypervolume;
pub mod prior;
pub mod channel;
pub mod measure;
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
        Ok(FrontProblem { prior, bound })
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
        (1.0 - self.bound, 1.0 - self.prior.largest())
    }

    /// Checks that a channel with this privacy can exist.
    ///
    /// # Errors
    /// Returns [`FrontError::TooPrivate`] if it exceeds one minus the largest share of the prior, and
    /// [`FrontError::Parameter`] if it is negative or not a number.
    pub fn check_privacy(&self, privacy: f64) -> Result<(), FrontError> {
        let (least, most) = self.range();
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
