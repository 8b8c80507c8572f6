#' Estimate tables of the population
#'
#' Runs `candor estimate`: unbiased shares with standard errors and intervals, for any table that the plan can tell about.
#'
#' @param plan A plan of [candor_design()] or [candor_plan()].
#' @param responses Responses of [candor_randomize()], or paths of files of responses. Any other data frame with their columns, and files that do
#'   not tell their plan, are read with `unmarked = TRUE` only: then you vouch that they were made under this plan.
#' @param tables Which tables: `"marginals"` (the default), `"pairs"`, or names: `c("Sex,Income", "Age")`, or
#'   `list(c("Sex", "Income"), "Age")`.
#' @param by Public attributes by which to estimate separately.
#' @param weights The name of a kept column of survey weights.
#' @param ... Further options of the command: `method = "projected"`, `interval = "simultaneous"`, `confidence = 0.9`,
#'   `target = "table"`.
#' @return A data frame of class `candor_estimate`, one row per cell: `table`; a factor for each attribute, with the schema's
#'   categories, missing where the table is not about it; `estimate`, `standard_error`, `low`, `high`. Its `summary` has one row per
#'   table: `respondents`, `identifiable`, and `reason` where there is no estimate.
#' @examples
#' people <- as.data.frame(HairEyeColor)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Hair", "Eye", "Sex")]
#' plan <- candor_design(candor_schema(people), "workload", epsilon = 4, tables = "pairs")
#' estimate <- candor_estimate(plan, candor_randomize(plan, people), tables = c("Hair,Sex", "Eye"))
#' estimate
#' xtabs(estimate ~ Hair + Sex, estimate)
#' @export
candor_estimate <- function(plan, responses, tables = NULL, by = NULL, weights = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    options <- flags(tables = tables, by = by, weights = weights, ...)
    estimates <- run_json(c("estimate", plan_file(plan, folder), response_files(responses, folder), options))
    estimate_frame(estimates, plan$schema)
}

# Estimates of JSON as a data frame of all cells of all tables.
estimate_frame <- function(estimates, schema, ...) {
    tables <- estimates$tables
    sizes <- vapply(tables, function(table) length(table$cells), 0L)
    about <- paste0("Shares estimated from ", number(estimates$respondents), " responses (", estimates$method, "), with ",
                    estimates$interval, " intervals at ", format(100 * estimates$confidence), " %")
    frame <- data.frame(table = rep(vapply(tables, table_name, ""), sizes))
    for (place in seq_len(nrow(schema))) {
        name <- schema$name[place]
        labels <- unlist(lapply(tables, labels_of, name))
        if (!all(is.na(labels))) {
            frame[[name]] <- factor(labels, schema$categories[[place]], ordered = schema$kind[place] == "ordinal")
        }
    }
    cells <- unlist(lapply(tables, function(table) table$cells), recursive = FALSE)
    frame <- cbind(frame, rows(cells, c("estimate", "standard_error", "low", "high")))
    result(frame, "candor_estimate", about, respondents = estimates$respondents, tables = table_summary(tables), ...)
}

table_name <- function(table) {
    paste(unlist(table$attributes), collapse = ",")
}

# For each cell of a table the category of an attribute, or of the group; missing if the table is not about it.
labels_of <- function(table, name) {
    place <- match(name, unlist(table$attributes))
    of_group <- or_na(table$group[[name]])
    vapply(table$cells, function(cell) as.character(if (is.na(place)) of_group else cell$categories[[place]]), "")
}

table_summary <- function(tables) {
    group <- function(table) paste(names(table$group), unlist(table$group), sep = "=", collapse = ",")
    data.frame(table = vapply(tables, table_name, ""), group = vapply(tables, group, ""),
               rows(tables, c("respondents", "identifiable", "implausible", "reason")))
}

#' @export
print.candor_estimate <- function(x, ...) {
    if (nrow(x) > 0) {
        NextMethod()
    }
    refused <- attr(x, "tables")
    refused <- refused[!is.na(refused$reason), ]
    cat(sprintf("%s: %s\n", refused$table, refused$reason), sep = "")
    invisible(x)
}

#' @export
summary.candor_estimate <- function(object, ...) {
    attr(object, "tables")
}
