//! Tests of the analysis by subject, in one program, because linking takes longer than running.

mod adjust;
mod conditional_shares;
mod comply;
mod constrained;
mod dependence;
mod counts;
mod effects;
mod independence;
mod inference;
mod mechanism;
mod ordinary;
mod power;
mod recipes;
mod regression;
mod regression_coverage;
mod replicates;
mod sampling;
mod strips;
mod structure;
