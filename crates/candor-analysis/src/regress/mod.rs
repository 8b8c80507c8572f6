//! Regression on randomized answers: models of an outcome, where the outcome and predictors may be randomized.
//!
//! A response determines the likelihood of every true record ([`Layout`] computes it), and everything else follows.
//! If only the outcome is randomized, the fit is maximum likelihood; if predictors are, it is a corrected score.
//! Standard errors, score tests and average effects complete it (docs/mathematics/regression.md). Equal rows are
//! merged first ([`ModelRows`]).

mod error;
mod formula;
mod design;
mod options;
mod no_answer;
mod score;
mod companions;
mod model;
mod unbiased;
mod relabeled;
mod answers;
mod possible;
mod calibrated;
mod rows;
mod family;
mod observations;
mod recast;
mod hidden_predictors;
mod sums;
mod cr2;
mod local;
mod problem;
mod scores;
mod solve;
mod penalty;
mod fit;
mod projection;
mod expected;
mod jeffreys;
mod variance;
mod walk;
mod chord;
mod likelihood_profile;
mod corrected_profile;
mod fieller;
mod questions;
mod effects;
mod rare;
mod result;
mod coefficients;
mod joint;
mod by_likelihood;
mod by_score;
mod regression;
mod replicated;
mod foreseen;
mod anticipated;
mod brute_force;

pub use anticipated::{Anticipated, Anticipation, DISPERSION, Effect, Profile, anticipate, normal_points};
pub use design::{INTERCEPT, MAX_COEFFICIENTS};
pub use effects::Average;
pub use error::RegressError;
pub use foreseen::{Foreseen, Signal};
pub use formula::Formula;
pub use hidden_predictors::Assumption;
pub use model::{MAX_HIDDEN_CELLS, Model};
pub use options::{Family, IgnoringOptions, Missing, ModelOptions};
pub use questions::Questions;
pub use rare::Rare;
pub use regression::{DegreesOfFreedom, Fitting, regress, regress_with, regress_with_progress};
pub use replicated::{regress_replicated, regress_replicated_with, regress_replicated_with_progress};
pub use result::{
    Coefficient, EstimateKind, Hausman, IgnoringShare, JointTest, Method, Prediction, Regression, Standardized,
    THRESHOLD, Test,
};
pub use rows::{Batch, Layout, ModelRows, SamplingColumns};
