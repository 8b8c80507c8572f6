//! Existing files that an output would replace although others depend on them.

/// Reason why an existing file is not replaced; all but [`InUse`](Occupied::InUse) can be overridden.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Occupied {
    /// The file contains responses.
    #[error(
        "Already randomized: {}. {file} contains responses made with the plan {fingerprint}; analyze those, or choose \
         another output for other people. `force` replaces them, which is safe only if nobody has seen them",
        second_release(epsilon.as_deref())
    )]
    Released {
        /// Name of the file.
        file: String,
        /// Fingerprint of their plan.
        fingerprint: String,
        /// Epsilon that a second release adds; `None` if unbounded.
        epsilon: Option<String>,
    },
    /// Another file exists.
    #[error("{file} already exists: {what}. Choose another output, or replace the file with `force`")]
    Exists {
        /// Name of the file.
        file: String,
        /// What it is, and what replacing it would mean.
        what: String,
    },
    /// A different plan exists.
    #[error(
        "Different plan exists at {file}; responses made with it need it (its fingerprint is {fingerprint}). \
         Choose another output, or replace the plan with `force` if there are no such responses"
    )]
    PlanInUse {
        /// Name of the file.
        file: String,
        /// Fingerprint of the existing plan.
        fingerprint: String,
    },
    /// Responses or a plan exist where a document is to be written.
    #[error("{file} contains {what}, which cannot be made again. Choose another output, or delete the file first")]
    InUse {
        /// Name of the file.
        file: String,
        /// Responses or a plan, with the fingerprint.
        what: String,
    },
}

/// Describes the effect of a second release for the same people.
fn second_release(epsilon: Option<&str>) -> String {
    match epsilon {
        Some(epsilon) => format!("a second release adds epsilon {epsilon}"),
        None => "a second release reveals more, without a bound".to_owned(),
    }
}
