//! One attribute, every trade-off: the privacy-utility front for a known prior (Huang and Du 2008) and the
//! certificate that the paper could not give.
//!
//! *Privacy* is how often the best guess of a truth from its answer is wrong (eq. 8), *utility* the
//! average mean squared error of the estimated shares (eq. 10, smaller is better), and the *posterior
//! bound* the largest probability that any answer may give any truth (eq. 9). [`exact`] computes the
//! best channels there are, with any number of outputs and a proven lower bound; [`evolve`] is the
//! paper's search over square matrices; [`polish`] improves any channel until a local optimiser
//! cannot; [`warner`] is the front of the classical schemes; [`refine`] splits the answers of an
//! existing channel into better ones for nothing.

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

/// Why there is no front, or no channel on it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontError {
    /// Something that is no distribution.
    #[error("the prior {0}")]
    Prior(String),
    /// A posterior bound that is none.
    #[error("the posterior bound is {0}; it must be above 0 and at most 1")]
    Bound(f64),
    /// No channel meets the bound: Huang and Du 2008, Theorem 5.
    #[error(
        "the posterior bound {bound} cannot be met: one category has probability {largest:.6}, so a guess of it is \
         right that often under any channel (Huang and Du 2008, Theorem 5). Use a bound of at least {largest:.6}"
    )]
    BoundBelowPrior {
        /// What was asked.
        bound: f64,
        /// The largest share of the prior.
        largest: f64,
    },
    /// A privacy that no channel has.
    #[error(
        "privacy {privacy} cannot be reached: one category has probability {largest:.6}, so the best guess is wrong \
         with probability at most {most:.6} under any channel (Huang and Du 2008, Theorem 5). {advice}"
    )]
    TooPrivate {
        /// What was asked.
        privacy: f64,
        /// The largest share of the prior.
        largest: f64,
        /// The largest privacy of any channel.
        most: f64,
        /// What could be asked instead.
        advice: String,
    },
    /// A parameter out of its range.
    #[error("`{name}` is {value}; {range}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// Whoever waited for it ended the work.
    #[error(transparent)]
    Cancelled(#[from] candor_runtime::progress::Cancelled),
    /// A search that would take too long.
    #[error(
        "the evolutionary search would take {steps:.1e} steps ({generations} generations of {children} matrices of \
         {categories} categories); the limit is {most:.1e}. Use fewer `generations`, or `method exact`"
    )]
    TooLong {
        /// Steps of the whole search.
        steps: f64,
        /// Generations asked for.
        generations: usize,
        /// Matrices of each.
        children: usize,
        /// Their size.
        categories: usize,
        /// The most steps.
        most: f64,
    },
    /// Something that is no channel for the prior.
    #[error("{0}")]
    Channel(String),
    /// The solver did not come to an end.
    #[error(
        "no channel with privacy {privacy} could be computed: the best ones carry almost no information. Use a \
         slightly lower privacy"
    )]
    Unsolved {
        /// What was asked.
        privacy: f64,
    },
}

/// What is asked of every channel on a front: the prior it is for and the posterior bound it obeys.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontProblem {
    prior: prior::Prior,
    bound: f64,
}

impl FrontProblem {
    /// A goal.
    ///
    /// # Errors
    /// If the bound is no probability, or below the largest share of the prior: then no channel
    /// meets it (Huang and Du 2008, Theorem 5).
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

    /// What is known beforehand.
    pub fn prior(&self) -> &prior::Prior {
        &self.prior
    }

    /// The posterior bound, delta in Huang and Du 2008.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The privacies between which channels differ: under the bound no best channel has less than the
    /// first, and none at all more than the second.
    pub fn range(&self) -> (f64, f64) {
        (1.0 - self.bound, 1.0 - self.prior.largest())
    }

    /// Checks that a channel with this privacy can exist.
    ///
    /// # Errors
    /// If it exceeds one minus the largest share of the prior, or is no probability.
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

    /// So many privacies, spread evenly over the reachable range; the largest, at which channels may tell
    /// nothing, is left out.
    pub fn spread(&self, points: usize) -> Vec<f64> {
        let (least, most) = self.range();
        (0..points).map(|k| least + (most - least) * k as f64 / points as f64).collect()
    }
}
