//! Why a sampling design tells no errors.

/// Why a sample tells no errors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// One unit does not tell how far others are apart.
    #[error(
        "{} only one sampling unit, so its variance cannot be estimated; merge it with another stratum, or specify \
         `lonely_psu`: certainty, adjust or average", has(.0)
    )]
    OneUnit(String),
    /// More units were drawn than there are.
    #[error("{} {drawn} sampling units, but its population only {population}", has(.stratum))]
    Population {
        /// The stratum.
        stratum: String,
        /// How many were drawn.
        drawn: u64,
        /// How many there are.
        population: f64,
    },
    /// Replicate weights that do not go with how they are said to be made.
    #[error("replicate weights: {0}")]
    Replication(String),
    /// Every stratum has one unit.
    #[error("every stratum has only one sampling unit, so no variance can be estimated; merge strata")]
    AllLonely,
}

fn has(stratum: &str) -> String {
    if stratum.is_empty() { "the sample has".to_owned() } else { format!("the stratum \"{stratum}\" has") }
}
