//! What marks records that are not responses: columns and metadata.

/// The column that says how many responses a weighted record stands for.
pub const COUNT: &str = "candor_count";

/// The column of weights.
pub const WEIGHT: &str = "candor_weight";

/// Key of the plan's fingerprint in the metadata of weighted records in Parquet.
pub const ADJUSTED_KEY: &str = "candor:adjusted";

/// Key of the plan's fingerprint in the metadata of synthetic records in Parquet.
pub const SYNTHETIC_KEY: &str = "candor:synthetic";
