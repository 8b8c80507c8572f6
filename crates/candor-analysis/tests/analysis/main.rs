//! What responses tell, subject by subject. One program, because each takes longer to link than to run.

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
