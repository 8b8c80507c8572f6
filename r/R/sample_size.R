#' How many respondents a study needs
#'
#' Runs `candor sample-size`: respondents for a margin of error, for finding a difference, or for a coefficient of a regression.
#'
#' @param plan A plan of [candor_design()] or [candor_plan()].
#' @param margin The margin of error to reach, as a share: 0.02 is two percentage points.
#' @param detect_difference Two shares that are to be told apart, such as `c(0.1, 0.15)`.
#' @param model,effect A formula, and the coefficients that are to be found: `c("Sex=Male" = 0.7)`.
#' @param expected_shares A data frame with the columns `attribute`, `category` and `share`, or pilot records: shares to expect.
#' @param ... Further options of the command, such as `power = 0.9` or `confidence = 0.9`.
#' @return A data frame of class `candor_sample_size`, one row per table (`table`, `respondents`, `worst_case`, and
#'   `constrained`: with constrained estimates), per question
#'   (`attribute`, `category`, `respondents`, `power`), or per coefficient (`term`, `effect`, `respondents`, `power`). `reason` says why a
#'   number is missing.
#' @examples
#' plan <- candor_design(candor_schema(warpbreaks[c("wool", "tension")]), epsilon = 2)
#' candor_sample_size(plan, margin = 0.03)
#' @export
candor_sample_size <- function(plan, margin = NULL, detect_difference = NULL, model = NULL, effect = NULL, expected_shares = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    model <- if (!is.null(model)) formula_text(model)
    options <- flags(margin = margin, detect_difference = detect_difference, model = model, effect = effect,
                     expected_shares = table_file(expected_shares, folder), ...)
    size <- run_json(c("sample-size", plan_file(plan, folder), options))
    pass_on(unlist(size$notes))
    frame <- if (!is.null(size$tables)) {
        label <- vapply(size$tables, table_name, "")
        cbind(table = label, rows(lapply(size$tables, function(table) table[setdiff(names(table), "attributes")])))
    } else {
        rows(if (is.null(size$effects)) size$questions else size$effects)
    }
    about <- if (is.null(size$margin)) {
        paste("Respondents needed, at significance level", format(size$alpha))
    } else {
        paste0("Respondents for a margin of error of ", percent(size$margin), " at ", percent(size$confidence), " confidence")
    }
    result(frame, "candor_sample_size", about, size)
}

# A data frame as a file for the command; paths are left as they are.
table_file <- function(table, folder) {
    if (!is.data.frame(table)) {
        return(table)
    }
    file <- tempfile("table-", folder, ".csv")
    write_csv(table, file)
    file
}
