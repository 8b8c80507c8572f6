//! Tests of input and output, in one program, because linking takes longer than running.

mod damaged;
mod stochastic_rounding;
mod in_memory;
mod passthrough;
mod missing;
mod leaks;
mod subset_channels;
