//! Designs that randomize all attributes of a record together.

pub mod least_epsilon;
pub mod rr_joint;
pub mod single_miss;
pub mod single_miss_request;
pub mod least_epsilon_request;
pub mod least_error;
