#' Improve the plan of one attribute
#'
#' Runs `candor refine`: a plan for the same attribute with a smaller error at the same privacy for its prior.
#'
#' @param plan A plan of one attribute.
#' @param ... Further options of the command, such as `prior = c(0.7, 0.2, 0.1)` `respondents = 10000`, or `loss` as in [candor_pareto()].
#' @return The better plan, as [candor_design()] gives it; `candor_details` of it has what was gained.
#' @examples
#' people <- data.frame(smokes = factor(c("no", "yes", "no", "no")))
#' plan <- candor_design(candor_schema(people), epsilon = 1)
#' candor_details(candor_refine(plan, prior = c(0.7, 0.3)))$after
#' @export
candor_refine <- function(plan, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    file <- file.path(folder, "refined.json")
    refined <- run_json(c("refine", plan_file(plan, folder), flags(output = file, ...)))
    better <- candor_plan(file)
    better$design <- attr(refined, "details")
    better
}
