//! Regression on randomized answers: how a response depends on predictors, where any of them may be hidden behind a
//! plan's channels.
//!
//! A response tells the likelihood of every truth ([`Layout`] finds out how), and everything follows from that: maximum
//! likelihood where the response alone is hidden, a corrected score where predictors are, errors, score tests and
//! average effects (docs/mathematics/regression.md). Equal rows are taken together first ([`ModelRows`]).

mod error;
mod formula;
mod design;
mod options;
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

pub use anticipated::{Anticipated, Anticipation, Effect, Profile, anticipate, normal_points};
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
    Coefficient, EstimateKind, IgnoringShare, JointTest, Method, Prediction, Regression, THRESHOLD, Test,
};
pub use rows::{Batch, Layout, ModelRows, Sample};
