//! Errors of regressions, with one message for each reason.

use candor_runtime::progress::Cancelled;

/// Reason why a model cannot be fitted. Messages name parameters in backticks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegressError {
    /// The fit was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Invalid formula.
    #[error("`model` \"{text}\": {message}; expected a formula such as \"Outcome ~ One + Two + One:Two\"")]
    Formula {
        /// The given text.
        text: String,
        /// What is wrong with it.
        message: String,
    },
    /// The outcome is among the predictors.
    #[error("`model`: \"{0}\" is the outcome and cannot predict itself")]
    OwnPredictor(String),
    /// No variable of the model is randomized.
    #[error(
        "`model`: none of its variables is randomized, so there is nothing to correct for; fit it in any statistics \
         program"
    )]
    NothingRandomized,
    /// A family that does not match the outcome.
    #[error("`family {family}`: {message}")]
    Family {
        /// Requested family.
        family: &'static str,
        /// What it requires.
        message: String,
    },
    /// Invalid sum score as outcome.
    #[error("`model`: {0}")]
    Score(String),
    /// Invalid reference category.
    #[error("`reference`: {0}")]
    Reference(String),
    /// Noncompliance is not identifiable.
    #[error("`self_protective`: {0}")]
    Ignoring(String),
    /// Invalid subpopulation.
    #[error("`where`: {0}")]
    Domain(String),
    /// A method that does not apply to the model.
    #[error("`method {method}`: {message}")]
    WrongMethod {
        /// Requested method.
        method: &'static str,
        /// What it requires.
        message: &'static str,
    },
    /// The model is not identifiable under the plan.
    #[error(
        "`model`: the plan collects nothing about {} together, so no number of responses suffices; design a plan for \
         this model with `tables \"{tables}\"`",
        quoted(.attributes)
    )]
    NotIdentifiable {
        /// Attributes whose table is not identifiable.
        attributes: Vec<String>,
        /// Table that the plan must identify.
        tables: String,
    },
    /// Too many combinations of randomized attributes.
    #[error(
        "`model`: its randomized attributes ({}) have {cells} combinations; the limit is {limit}. Remove some, or \
         design a plan with fewer categories",
        quoted(.attributes)
    )]
    HiddenCells {
        /// The randomized attributes.
        attributes: Vec<String>,
        /// Number of combinations.
        cells: usize,
        /// Maximum number of combinations.
        limit: usize,
    },
    /// Too many coefficients: number and maximum.
    #[error("`model`: it has {0} parameters; the limit is {1}. Remove some terms")]
    Parameters(usize, usize),
    /// Too much memory is required.
    #[error(
        "`model`: {rows} distinct rows of answers with {cells} hidden combinations each exceed the limit of {limit} \
         numbers in memory; remove randomized attributes, or round numeric columns"
    )]
    TooLarge {
        /// Number of distinct rows.
        rows: usize,
        /// Number of combinations of randomized attributes.
        cells: usize,
        /// Maximum number of values.
        limit: usize,
    },
    /// A predictor without variation.
    #[error("`model`: \"{0}\" is constant, so its coefficient cannot be estimated; remove it")]
    Constant(String),
    /// Collinear predictors.
    #[error(
        "`model`: \"{0}\" is collinear with the terms before it, so its coefficient cannot be estimated; remove one of \
         them"
    )]
    Collinear(String),
    /// The corrected score has no finite solution.
    #[error(
        "the corrected score has no finite solution for these responses: an estimated share in some group is 0, 1 or \
         out of range; merge categories, remove terms, or use `method ml`"
    )]
    NoSolution,
    /// The corrected score has no finite solution for counts of a randomized number.
    #[error(
        "the corrected score has no finite solution with these responses: the mean of \"{0}\" is not estimated above 0 \
         in some group; merge categories, leave terms out, or take `family linear`"
    )]
    NoMean(String),
    /// A value that is not a count.
    #[error(
        "\"{column}\" has the value {value}, which is not a count; expected {} from 0 to 1e15{}",
        if *whole { "integers" } else { "numbers" },
        if *whole && *value >= 0.0 { ", or `family quasi-poisson`" } else { "" }
    )]
    NotACount {
        /// Name of the column.
        column: String,
        /// The value.
        value: f64,
        /// Whether counts must be integers.
        whole: bool,
    },
    /// All counts are zero.
    #[error("\"{0}\" is 0 for everybody in the model, so that it has no log mean; take another outcome")]
    NoCounts(String),
    /// The likelihood has no finite maximum.
    #[error(
        "the likelihood has no finite maximum for these responses: the best fit has a share of 0 or 1 in some group; \
         merge categories, remove terms, or use `method corrected`, or `method jeffreys` if only the outcome is \
         randomized"
    )]
    Boundary,
    /// No responses.
    #[error("no responses have a weight above 0")]
    NoResponses,
    /// An effect that is not in the model.
    #[error("`effect`: {0}")]
    Effect(String),
    /// A contrast or profile that does not match the model.
    #[error("{0}")]
    Question(String),
    /// Invalid expected population.
    #[error("`expected_shares`: {0}")]
    Anticipated(String),
    /// Too few primary sampling units for standard errors.
    #[error("`psu`: {0}")]
    Clusters(String),
    /// Invalid finite population.
    #[error("`fpc`: {0}")]
    Population(String),
    /// Replicate weights without valid standard errors.
    #[error("`replicate_weights`: {0}")]
    Replicates(String),
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}
