//! What is at the place of an output, and others depend on.

/// Why an output is not written to its place; all but [`InUse`](Occupied::InUse) can be forced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Occupied {
    /// Responses are at the place of an output.
    #[error(
        "Already randomized: {}. {file} contains responses made with the plan {fingerprint}; analyze those, or choose \
         another output for other people. `force` replaces them, which is safe only if nobody has seen them",
        second_release(epsilon.as_deref())
    )]
    Released {
        /// The file's name.
        file: String,
        /// The plan they were made under.
        fingerprint: String,
        /// What a second release adds; `None` if that is unbounded.
        epsilon: Option<String>,
    },
    /// A file is at the place of an output.
    #[error("{file} already exists: {what}. Choose another output, or replace the file with `force`")]
    Exists {
        /// The file's name.
        file: String,
        /// What it is, and what replacing it would mean.
        what: String,
    },
    /// Another plan is at the place of a plan.
    #[error(
        "Different plan exists at {file}; responses made with it need it (its fingerprint is {fingerprint}). \
         Choose another output, or replace the plan with `force` if there are no such responses"
    )]
    PlanInUse {
        /// The file's name.
        file: String,
        /// The fingerprint of the plan that is there.
        fingerprint: String,
    },
    /// Responses or a plan are at the place of a document.
    #[error("{file} contains {what}, which cannot be made again. Choose another output, or delete the file first")]
    InUse {
        /// The file's name.
        file: String,
        /// Responses or a plan, with the fingerprint.
        what: String,
    },
}

/// What a second release of the same people's answers means.
fn second_release(epsilon: Option<&str>) -> String {
    match epsilon {
        Some(epsilon) => format!("a second release adds epsilon {epsilon}"),
        None => "a second release reveals more, without a bound".to_owned(),
    }
}
