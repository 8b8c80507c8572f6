#' The page for respondents
#'
#' Runs `candor explain`: one page, without jargon, that says what a plan does with people's answers.
#'
#' @param plan A plan of [candor_design()] or [candor_plan()].
#' @param file Where to write the page (HTML, or text by its ending `.txt`).
#' @param language The language of the page: `"en"`, `"de"`, `"es"`, `"fr"`.
#' @param ... Further options of the command, such as `texts = "texts.toml"`.
#' @return A data frame of class `candor_explain`, one row per attribute: `name`, `marginal_epsilon`, `conditional_epsilon`,
#'   `keep_probability`, `guess_probability`, `worst_posterior`. Invisible if a page was written.
#' @examples
#' plan <- candor_design(candor_schema(warpbreaks[c("wool", "tension")]), epsilon = 2)
#' candor_explain(plan, tempfile(fileext = ".html"), language = "de")
#' @export
candor_explain <- function(plan, file = NULL, language = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    options <- flags(language = language, ...)
    if (!is.null(file)) run(c("explain", plan_file(plan, folder), options, flags(output = file)))
    explained <- run_json(c("explain", plan_file(plan, folder), options))
    shown <- result(rows(explained$attributes), "candor_explain", "What the plan means for each answer", explained)
    if (is.null(file)) shown else invisible(shown)
}
