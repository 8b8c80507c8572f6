#' Fit a regression to randomized answers
#'
#' Runs `candor regress`: logistic, multinomial, ordinal, linear or log-linear regression, corrected for the randomization. The outcome, the
#' predictors, or both may be randomized.
#'
#' @param formula The model, as in [stats::lm()]: `income ~ education + age`, with `+`, `:`, `*` and `-1`; `.` is all attributes of
#'   the plan but the outcome. Names are attributes of the plan, randomized or public, or numeric columns that were kept; these may be
#'   transformed, as in `log(age)` or `poly(age, 2)`. Names with other characters than letters stand in backticks.
#' @param plan,responses As in [candor_estimate()].
#' @param family The kind of response: `"binary"`, `"multinomial"`, `"ordinal"`, `"linear"`, `"poisson"` or
#'   `"quasi-poisson"`; by default what the schema says.
#' @param reference Reference categories where it is not the first: `c(Sex = "Female")`.
#' @param weights,strata,psu,fpc Names of kept columns that say how people were sampled: sampling weights, strata, primary sampling units,
#'   and how many units the stratum has (up to 1, which share of them was drawn).
#' @param replicate_weights,replicate_method What columns of replicate weights are called, such as `"rep_*"`, and how they were made, such
#'   as `"jkn"`, `"brr"` or `"bootstrap"`.
#' @param benchmarks Known shares of public attributes that weights are calibrated to: a data frame, or the path of a table, with the
#'   columns `attribute`, `category` and `share`.
#' @param design How the people were sampled: a design of the survey package (`svydesign` or `svrepdesign`) about the rows of
#'   `responses`, in their order. It stands for `weights`, `strata`, `psu`, `fpc` and replicate weights.
#' @param contrast Contrasts of coefficients, such as `"Dept=B - Dept=C"`.
#' @param predict A data frame of profiles to predict for, with a column for each predictor that is given.
#' @param ... Further options of the command: `method = "ml"`, `standardize = TRUE`, `show_uncorrected = TRUE`, `df = "design"`,
#'   `where = "Region = north"` (a subpopulation, by public or randomized attributes), `by = "Region"` (the same model in each group of
#'   public attributes; see `candor_details(x)$groups`).
#' @return A data frame of class `candor_regress`, one row per coefficient: `term`, `category` (of the outcome), `estimate`,
#'   `standard_error` (missing where the answers set no limit on one side), `low`, `high`, `p_value`, `odds_ratio` and its limits.
#'   `candor_details(x)` has the rest, such as average marginal `effects`, `joint_tests` of terms with several coefficients, `contrasts` and
#'   `predictions`. `coef`, `vcov`, `confint`, `predict`, `anova`, `nobs`, `logLik`,
#'   `AIC`, `formula`, `update`, broom's `tidy`, `glance` and `augment`, and emmeans work; where there is no likelihood (`method` is
#'   "corrected") `logLik` and `AIC` are missing.
#' @examples
#' people <- as.data.frame(UCBAdmissions)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Admit", "Gender", "Dept")]
#' plan <- candor_design(candor_schema(people, public = c("Gender", "Dept")), epsilon = 2)
#' candor_regress(Admit ~ Gender + Dept, plan, candor_randomize(plan, people))
#' @export
candor_regress <- function(formula, plan, responses, family = NULL, reference = NULL, weights = NULL, strata = NULL, psu = NULL,
                           fpc = NULL, replicate_weights = NULL, replicate_method = NULL, benchmarks = NULL, design = NULL,
                           contrast = NULL, predict = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    model <- expanded(formula, plan, responses)
    options <- list(model = model$text, family = family, reference = reference, weights = weights, strata = strata, psu = psu, fpc = fpc,
                    replicate_weights = replicate_weights, replicate_method = replicate_method,
                    benchmarks = table_file(benchmarks, folder), contrast = contrast, predict = table_file(predict, folder), ...)
    sampled <- with_design(model$responses, design, options)
    options <- do.call(flags, sampled$options)
    fit <- run_json(c("regress", plan_file(plan, folder), response_files(sampled$responses, folder), options))
    pass_on(unlist(fit$notes))
    about <- paste0("Regression of ", fit$response, " (", fit$family, ", ", fit$method, ") from ", number(fit$respondents), " responses",
                    if (!is.null(fit$design)) paste0(", ", fit$design),
                    if (!fit$converged) "; the search did not converge", if (fit$boundary) "; the estimates are at the boundary")
    formula <- if (inherits(formula, "formula")) formula else stats::as.formula(formula)
    predictors <- predictors_of(formula, plan, fit$response)
    levels <- stats::setNames(plan$schema$categories, plan$schema$name)
    result(rows(fit$coefficients), "candor_regress", about, fit, method = fit$method, converged = fit$converged,
           boundary = fit$boundary, log_likelihood = or_na(fit$log_likelihood), respondents = fit$respondents, formula = formula,
           call = match.call(), levels = levels[names(levels) %in% c(predictors, fit$response)], computed = model$computed,
           columns = c(setdiff(predictors, names(levels)), unlist(lapply(model$computed, `[[`, "columns"))),
           grid = predictor_grid(predictors, levels, responses))
}

# The columns that predict.
predictors_of <- function(formula, plan, outcome) {
    named <- all.vars(formula[[3]])
    unique(c(setdiff(named, "."), if ("." %in% named) setdiff(plan$schema$name, outcome)))
}

# Predictors as emmeans needs them: all combinations of the attributes' categories, numeric columns at their means.
predictor_grid <- function(predictors, levels, responses) {
    values <- function(name) {
        if (name %in% names(levels)) {
            return(factor(levels[[name]], levels[[name]]))
        }
        if (is.data.frame(responses)) mean(responses[[name]], na.rm = TRUE) else NA_real_
    }
    expand.grid(stats::setNames(lapply(predictors, values), predictors), KEEP.OUT.ATTRS = FALSE)
}
