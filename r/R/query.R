#' Estimate for how many people a condition holds
#'
#' Runs `candor query`.
#'
#' @param plan,responses As in [candor_estimate()].
#' @param where The condition, as the command reads it: `"Income = '>50K' and Sex = Female"`, with `=`, `!=`, `in (..)`,
#'   `not in (..)`, of ordinal attributes `<`, `<=`, `>`, `>=`, joined by `and`, `or`, `not` and parentheses.
#' @param ... Further options of the command: `method = "all"`, `confidence = 0.9`, `target = "table"`.
#' @return A data frame of class `candor_query`, one row per way to estimate: `method`, `estimate`, `standard_error`, `low`, `high`,
#'   and `reason` where there is no estimate.
#' @examples
#' people <- as.data.frame(Titanic)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Class", "Sex", "Survived")]
#' plan <- candor_design(candor_schema(people), "joint", epsilon = 3)
#' candor_query(plan, candor_randomize(plan, people), "Sex = Female and Survived = Yes")
#' @export
candor_query <- function(plan, responses, where, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    files <- response_files(responses, folder)
    query <- run_json(c("query", plan_file(plan, folder), files, flags(where = where, ...)))
    frame <- rows(query$answers, c("method", "estimate", "standard_error", "low", "high", "reason"))
    about <- paste0("Share of people with ", query$where, ", from ", number(query$respondents), " responses")
    result(frame, "candor_query", about, respondents = query$respondents)
}

#' @export
print.candor_query <- function(x, ...) {
    show_result(x, "reason", ...)
    refused <- x[!is.na(x$reason), ]
    cat(sprintf("%s: %s\n", refused$method, refused$reason), sep = "")
    invisible(x)
}
