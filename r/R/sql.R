#' The query that counts responses in your own database
#'
#' Runs `candor sql`. The counts that the query gives are what [candor_estimate()] takes as `counts`.
#'
#' @param plan A plan of [candor_design()] or [candor_plan()].
#' @param from The name of the database's table of responses; `"responses"` by default.
#' @param dialect Such as `"duckdb"`, `"postgres"`, `"spark"`, `"bigquery"`.
#' @param tables Which tables will be estimated, as in [candor_estimate()].
#' @param ... Further options of the command.
#' @return The query, as text.
#' @examples
#' plan <- candor_design(candor_schema(warpbreaks[c("wool", "tension")]), "joint", epsilon = 2)
#' cat(candor_sql(plan, "responses", "duckdb", tables = "pairs"))
#' @export
candor_sql <- function(plan, from = NULL, dialect = NULL, tables = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    options <- flags(from = from, dialect = dialect, tables = tables, ...)
    paste(run(c("sql", plan_file(plan, folder), options)), collapse = "\n")
}
