#' The methods side by side at equal privacy
#'
#' Runs `candor compare`: every method at the same certified epsilon, by the error that it is predicted to have.
#'
#' @param schema A schema of [candor_schema()], or the path of one (TOML).
#' @param epsilon The record-level epsilon at which methods are compared.
#' @param tables For which tables the best is sought; as in [candor_design()].
#' @param respondents How many people will answer.
#' @param ... Further options of the command.
#' @return A data frame of class `candor_compare`, one row per method, the least error first: `method`, `epsilon`, `error` (root mean
#'   square standard error of `tables`), `one_way`, `two_way`, `times_the_bound` (squared error over the lower bound for
#'   unbiased estimates at this epsilon), `conditional_epsilon` (of the attribute that is protected least), `bits` (of a response), `told`
#'   (what respondents are told), `reason` (why a method was left out). `attr(x, "recommended")` names a method.
#' @examples
#' candor_compare(candor_schema(warpbreaks[c("wool", "tension")]), epsilon = 2, respondents = 5000)
#' @export
candor_compare <- function(schema, epsilon = NULL, tables = NULL, respondents = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    options <- flags(epsilon = epsilon, tables = tables, respondents = respondents, ...)
    compared <- run_json(c("compare", schema_file(schema, folder), options))
    frame <- rows(compared$methods)
    if ("error" %in% names(frame)) {
        frame <- frame[order(signif(frame$error, 6)), ]
    }
    about <- paste0("Methods compared for ", number(compared$respondents), " respondents; recommended: ", or_na(compared$recommended))
    result(frame, "candor_compare", about, compared, recommended = or_na(compared$recommended))
}

#' @export
print.candor_compare <- function(x, ...) {
    show_result(x, c(grep("^request_", names(x), value = TRUE), "told", "reason", "command", "fingerprint", "identifiable", "interrupted", "out_of_time", "categories", "columns"), ...)
    left_out <- x[!is.na(x$reason), ]
    cat(sprintf("%s was left out: %s\n", left_out$method, left_out$reason), sep = "")
    invisible(x)
}
