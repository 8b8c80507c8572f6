//! Why there is no regression: each reason its own message.

use candor_runtime::progress::Cancelled;

/// Why a model cannot be fitted. Parameters are named in backticks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegressError {
    /// Whoever waited for it ended the work.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The text is no formula.
    #[error("`model` \"{text}\": {message}; expected a formula such as \"Outcome ~ One + Two + One:Two\"")]
    Formula {
        /// What was given.
        text: String,
        /// What is wrong with it.
        message: String,
    },
    /// The response among the predictors.
    #[error("`model`: \"{0}\" is the outcome and cannot predict itself")]
    OwnPredictor(String),
    /// Nothing in the model is randomized.
    #[error(
        "`model`: none of its variables is randomized, so there is nothing to correct for; fit it in any statistics \
         program"
    )]
    NothingRandomized,
    /// A family that does not go with the response.
    #[error("`family {family}`: {message}")]
    Family {
        /// What was asked for.
        family: &'static str,
        /// What it takes.
        message: String,
    },
    /// A sum that is no response.
    #[error("`model`: {0}")]
    Score(String),
    /// A reference that is none.
    #[error("`reference`: {0}")]
    Reference(String),
    /// People who ignore the device cannot be told apart.
    #[error("`self_protective`: {0}")]
    Ignoring(String),
    /// A subpopulation that a model cannot be about.
    #[error("`where`: {0}")]
    Domain(String),
    /// A method that does not go with the model.
    #[error("`method {method}`: {message}")]
    Method {
        /// What was asked for.
        method: &'static str,
        /// What it takes.
        message: &'static str,
    },
    /// No number of responses would tell.
    #[error(
        "`model`: the plan collects nothing about {} together, so no number of responses suffices; design a plan for \
         this model with `tables \"{tables}\"`",
        quoted(.attributes)
    )]
    NotIdentifiable {
        /// What is not told.
        attributes: Vec<String>,
        /// The table that the plan must tell.
        tables: String,
    },
    /// Too many combinations of hidden categories.
    #[error(
        "`model`: its randomized attributes ({}) have {cells} combinations; the limit is {limit}. Remove some, or \
         design a plan with fewer categories",
        quoted(.attributes)
    )]
    HiddenCells {
        /// The randomized attributes.
        attributes: Vec<String>,
        /// Their combinations.
        cells: usize,
        /// The most there can be.
        limit: usize,
    },
    /// Too many coefficients.
    #[error("`model`: it has {0} parameters; the limit is {1}. Remove some terms")]
    Parameters(usize, usize),
    /// Too much memory.
    #[error(
        "`model`: {rows} distinct rows of answers with {cells} hidden combinations each exceed the limit of {limit} \
         numbers in memory; remove randomized attributes, or round numeric columns"
    )]
    TooLarge {
        /// Different rows.
        rows: usize,
        /// Combinations of hidden categories.
        cells: usize,
        /// The most numbers there can be.
        limit: usize,
    },
    /// A predictor that does not vary.
    #[error("`model`: \"{0}\" is constant, so its coefficient cannot be estimated; remove it")]
    Constant(String),
    /// Predictors that determine one another.
    #[error(
        "`model`: \"{0}\" is collinear with the terms before it, so its coefficient cannot be estimated; remove one of \
         them"
    )]
    Collinear(String),
    /// Estimating equations without a solution.
    #[error(
        "the corrected score has no finite solution for these responses: an estimated share in some group is 0, 1 or \
         out of range; merge categories, remove terms, or use `method ml`"
    )]
    NoSolution,
    /// Estimating equations of a randomized number without a solution.
    #[error(
        "the corrected score has no finite solution with these responses: the mean of \"{0}\" is not estimated above 0 \
         in some group; merge categories, leave terms out, or take `family linear`"
    )]
    NoMean(String),
    /// A number that is no count.
    #[error(
        "\"{column}\" has the value {value}, which is not a count; expected {} from 0 to 1e15{}",
        if *whole { "integers" } else { "numbers" },
        if *whole && *value >= 0.0 { ", or `family quasi-poisson`" } else { "" }
    )]
    Count {
        /// The column.
        column: String,
        /// The value.
        value: f64,
        /// Whether counts must be integers.
        whole: bool,
    },
    /// Counts that are all zero.
    #[error("\"{0}\" is 0 for everybody in the model, so that it has no log mean; take another outcome")]
    NoCounts(String),
    /// The likelihood rises for ever.
    #[error(
        "the likelihood has no finite maximum for these responses: the best fit has a share of 0 or 1 in some group; \
         merge categories, remove terms, or use `method corrected`, or `method jeffreys` if only the outcome is \
         randomized"
    )]
    Boundary,
    /// No responses.
    #[error("no responses have a weight above 0")]
    NoResponses,
    /// An effect that the model does not have.
    #[error("`effect`: {0}")]
    Effect(String),
    /// A contrast or a profile that does not go with the model.
    #[error("{0}")]
    Question(String),
    /// A truth that cannot be planned for.
    #[error("`expected_shares`: {0}")]
    Anticipated(String),
    /// Fewer sampling clusters than errors need.
    #[error("`psu`: {0}")]
    Clusters(String),
    /// A population that cannot be.
    #[error("`fpc`: {0}")]
    Population(String),
    /// Replicate weights that tell no errors.
    #[error("`replicate_weights`: {0}")]
    Replicates(String),
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}
