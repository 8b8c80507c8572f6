#' Fit a regression to randomized answers
#'
#' Runs `candor regress`: logistic, multinomial, ordinal or linear regression, corrected for the randomization. The response, the
#' predictors, or both may be randomized.
#'
#' @param formula The model, as in [stats::lm()]: `income ~ education + age`, with `+`, `:`, `*` and `-1`. Names are attributes of the
#'   plan, randomized or public, or numeric columns that were kept; those with other signs than letters stand in backticks.
#' @param plan,responses As in [candor_estimate()].
#' @param family The kind of response: `"binary"`, `"multinomial"`, `"ordinal"` or `"linear"`; by default what the schema says.
#' @param reference Reference categories where it is not the first: `c(Sex = "Female")`.
#' @param weights,strata,sampling_clusters,fpc Names of kept columns that say how people were drawn: survey weights, strata, sampling
#'   clusters, and how many sampling units the stratum has (up to 1, which share of them was drawn).
#' @param replicates,replicate_method What columns of replicate weights are called, such as `"rep_*"`, and how they were made:
#'   `"jackknife"`, `"brr"` or `"bootstrap"`.
#' @param calibrate Known margins of public attributes that weights shall agree with: the path of a table with columns `attribute`,
#'   `category` and `share`.
#' @param ... Further options of the command: `method = "ml"`, `standardize = TRUE`, `show_naive = TRUE`.
#' @return A data frame of class `candor_regress`, one row per coefficient: `term`, `category` (of the response), `estimate`,
#'   `standard_error`, `low`, `high`, `p_value`, `odds_ratio`. The attributes `method`, `converged`, `boundary`, `log_likelihood` and
#'   `respondents` say how it was fitted; `coef` and `logLik` work.
#' @examples
#' people <- as.data.frame(UCBAdmissions)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Admit", "Gender", "Dept")]
#' plan <- candor_design(candor_schema(people, public = c("Gender", "Dept")), epsilon = 2)
#' candor_regress(Admit ~ Gender + Dept, plan, candor_randomize(plan, people))
#' @export
candor_regress <- function(formula, plan, responses, family = NULL, reference = NULL, weights = NULL, strata = NULL,
                           sampling_clusters = NULL, fpc = NULL, replicates = NULL, replicate_method = NULL, calibrate = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    options <- flags(model = formula_text(formula), family = family, reference = reference, weights = weights, strata = strata,
                     sampling_clusters = sampling_clusters, fpc = fpc, replicates = replicates, replicate_method = replicate_method,
                     calibrate = calibrate, ...)
    fit <- run_json(c("regress", plan_file(plan, folder), response_files(responses, folder), options))
    pass_on(unlist(fit$notes))
    fields <- c("term", "category", "estimate", "standard_error", "low", "high", "p_value", "odds_ratio", "naive")
    about <- paste0("Regression of ", fit$response, " (", fit$family, ", ", fit$method, ") from ", number(fit$respondents), " responses",
                    if (!is.null(fit$design)) paste0(", ", fit$design),
                    if (!fit$converged) "; the search did not come to its end", if (fit$boundary) "; the estimates are at the boundary")
    result(rows(fit$coefficients, fields), "candor_regress", about, method = fit$method, converged = fit$converged,
           boundary = fit$boundary, log_likelihood = or_na(fit$log_likelihood), respondents = fit$respondents)
}

formula_text <- function(formula) {
    if (is.character(formula)) formula else paste(deparse(formula, width.cutoff = 500), collapse = " ")
}

#' @export
coef.candor_regress <- function(object, ...) {
    stats::setNames(object$estimate, ifelse(is.na(object$category), object$term, paste0(object$category, ": ", object$term)))
}

#' @export
logLik.candor_regress <- function(object, ...) {
    structure(attr(object, "log_likelihood"), df = nrow(object), nobs = attr(object, "respondents"), class = "logLik")
}
