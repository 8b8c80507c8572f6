//! Columns and metadata keys that identify responses and other output of candor.

/// Key of the plan's fingerprint in the metadata of a Parquet file or an Arrow schema of responses.
pub const FINGERPRINT_KEY: &str = "candor:fingerprint";

/// Key of the seed, if the responses are a simulation.
pub const SIMULATION_KEY: &str = "candor:simulation";

/// Field with the plan's fingerprint in responses as JSON.
pub const FINGERPRINT_FIELD: &str = "candor_fingerprint";

/// Column with the number of responses that a weighted record represents.
pub const COUNT: &str = "candor_count";

/// Column with weights.
pub const WEIGHT: &str = "candor_weight";

/// Key of the plan's fingerprint in the metadata of weighted records in Parquet.
pub const ADJUSTED_KEY: &str = "candor:adjusted";

/// Key of the plan's fingerprint in the metadata of synthetic records in Parquet.
pub const SYNTHETIC_KEY: &str = "candor:synthetic";

/// Metadata key under which pandas stores `DataFrame.attrs` (a JSON object) in Parquet.
pub const PANDAS_KEY: &str = "PANDAS_ATTRS";
