#' Write one page with what the responses tell
#'
#' Runs `candor report`: estimates, dependences, plots, and what was guaranteed, on one page (HTML) to publish.
#'
#' @param plan,responses,tables As in [candor_estimate()].
#' @param file Where to write the page.
#' @param title The title of the page.
#' @param design As in [candor_estimate()].
#' @param ... Further options of the command, such as `confidence = 0.9`.
#' @return The estimates on the page, as [candor_estimate()] gives them, invisibly. `attr(x, "dependences")` is a data frame with
#'   Cramér's V of each pair: `a`, `b`, `cramers_v`, `standard_error`, `p_value`.
#' @examples
#' people <- as.data.frame(HairEyeColor)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Hair", "Eye")]
#' plan <- candor_design(candor_schema(people), "workload", epsilon = 4)
#' page <- tempfile(fileext = ".html")
#' responses <- candor_randomize(plan, people)
#' report <- candor_report(plan, responses, page, tables = "pairs", title = "Hair and eyes")
#' attr(report, "dependences")
#' @export
candor_report <- function(plan, responses, file, tables = NULL, title = NULL, design = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    sampled <- with_design(responses, design, list(output = file, tables = tables, title = title, ...))
    files <- response_files(sampled$responses, folder)
    report <- run_json(c("report", plan_file(plan, folder), files, do.call(flags, sampled$options)))
    for (words in report$warnings) warning(words, call. = FALSE)
    dependences <- rows(report$dependences)
    invisible(estimate_frame(report$estimates, plan$schema, report, dependences = dependences, file = file))
}
