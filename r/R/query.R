#' Estimate the share of people with a condition
#'
#' Runs `candor query`.
#'
#' @param plan,responses As in [candor_estimate()].
#' @param where The condition, as the command reads it: `"Income = '>50K' and Sex = Female"`, with `=`, `!=`, `in (..)`,
#'   `not in (..)`, of ordinal attributes `<`, `<=`, `>`, `>=`, joined by `and`, `or`, `not` and parentheses.
#' @param given Among whom: another condition.
#' @param by Public attributes by which to estimate separately.
#' @param mean An attribute that stands for numbers: its mean is estimated instead of a share.
#' @param design How the people were sampled: a design of the survey package (`svydesign` or `svrepdesign`) about the rows of
#'   `responses`, in their order. It stands for `weights`, `strata`, `psu`, `fpc` and replicate weights.
#' @param ... Further options of the command: `compare_groups = "Sex"`, `method = "all"`, `confidence = 0.9`, `target = "records"`.
#' @return A data frame of class `candor_query`, one row per way to estimate, and with `by` per group: `method`, `estimate`,
#'   `standard_error`, `low`, `high`, and `reason` where there is no estimate.
#' @examples
#' people <- as.data.frame(Titanic)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Class", "Sex", "Survived")]
#' plan <- candor_design(candor_schema(people), "joint", epsilon = 3)
#' candor_query(plan, candor_randomize(plan, people), "Sex = Female and Survived = Yes")
#' @export
candor_query <- function(plan, responses, where, given = NULL, by = NULL, mean = NULL, design = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    sampled <- with_design(responses, design, list(where = where, given = given, by = by, mean = mean, ...))
    files <- response_files(sampled$responses, folder)
    query <- run_json(c("query", plan_file(plan, folder), files, do.call(flags, sampled$options)))
    groups <- if (is.null(query$groups)) list(query) else query$groups
    each <- function(group) {
        labels <- category_columns(character(), group$answers, group$group, plan$schema)
        if (length(labels) == 0) rows(group$answers) else cbind(labels, rows(group$answers))
    }
    respondents <- sum(vapply(groups, function(group) as.numeric(or_na(group$respondents)), 0))
    about <- paste0(if (is.null(mean)) "Share" else paste("Mean of", mean), " of people with ", where,
                    if (!is.null(given)) paste(" among those with", given), ", from ", number(respondents), " responses")
    result(bind(lapply(groups, each)), "candor_query", about, query, respondents = respondents)
}

#' @export
print.candor_query <- function(x, ...) {
    show_result(x, "reason", ...)
    missing <- x[!is.na(x$reason), ]
    cat(sprintf("%s: %s\n", missing$method, missing$reason), sep = "")
    invisible(x)
}
