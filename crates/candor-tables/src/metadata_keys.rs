//! What marks responses, and records that are none: columns and metadata.

/// Key of the plan's fingerprint in the metadata of a Parquet file or an Arrow schema of responses.
pub const FINGERPRINT_KEY: &str = "candor:fingerprint";

/// Key of the seed, if the responses are a simulation.
pub const SIMULATION_KEY: &str = "candor:simulation";

/// The field of the plan's fingerprint in responses as JSON.
pub const FINGERPRINT_FIELD: &str = "candor_fingerprint";

/// The column that says how many responses a weighted record stands for.
pub const COUNT: &str = "candor_count";

/// The column of weights.
pub const WEIGHT: &str = "candor_weight";

/// Key of the plan's fingerprint in the metadata of weighted records in Parquet.
pub const ADJUSTED_KEY: &str = "candor:adjusted";

/// Key of the plan's fingerprint in the metadata of synthetic records in Parquet.
pub const SYNTHETIC_KEY: &str = "candor:synthetic";

/// Key of the attributes of a frame (`DataFrame.attrs`, as a JSON object) in what pandas writes to Parquet.
pub const PANDAS_KEY: &str = "PANDAS_ATTRS";
