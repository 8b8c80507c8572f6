//! Errors of sampling designs.

/// Reason why a sampling design has no standard errors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// A stratum with one unit, which shows no variation.
    #[error(
        "{} only one sampling unit, so its variance cannot be estimated; merge it with another stratum, or specify \
         `lonely_psu`: certainty, adjust or average", has(.0)
    )]
    OneUnit(String),
    /// More units were drawn than there are in the population.
    #[error("{} {drawn} sampling units, but its population only {population}", has(.stratum))]
    Population {
        /// Name of the stratum.
        stratum: String,
        /// Number of units drawn.
        drawn: u64,
        /// Number of units in the population.
        population: f64,
    },
    /// Replicate weights that do not match their description.
    #[error("replicate weights: {0}")]
    Replication(String),
    /// Every stratum has only one unit.
    #[error("every stratum has only one sampling unit, so no variance can be estimated; merge strata")]
    AllLonely,
}

fn has(stratum: &str) -> String {
    if stratum.is_empty() { "the sample has".to_owned() } else { format!("the stratum \"{stratum}\" has") }
}
