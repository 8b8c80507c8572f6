//! Tests of the analysis by subject, in one program, because linking takes longer than running.

mod raking;
mod conditional_shares;
mod compliance;
mod constrained;
mod association;
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
mod sampling_design;
mod subset_channels;
mod structural_zeros;
