#' Combine plans over different attributes of one schema
#'
#' Runs `candor combine`: one plan whose attributes are randomized by different methods.
#'
#' @param ... Two plans or more, each made by [candor_design()] with `only` for its attributes of the same schema.
#' @param max_epsilon The largest epsilon that the combined plan may have, if it is above the command's limit.
#' @return The combined plan, as [candor_plan()] gives it; its epsilon is certified for all attributes together.
#' @examples
#' schema <- candor_schema(warpbreaks[c("wool", "tension")])
#' wool <- candor_design(schema, "joint", epsilon = 1, only = "wool")
#' tension <- candor_design(schema, "independent", epsilon = 2, only = "tension")
#' candor_combine(wool, tension)$epsilon
#' @export
candor_combine <- function(..., max_epsilon = NULL) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    plans <- list(...)
    file_of <- function(place) {
        check_plan(plans[[place]])
        candor_save(plans[[place]], file.path(folder, paste0("plan-", place, ".json")))
    }
    files <- vapply(seq_along(plans), file_of, "")
    file <- file.path(folder, "combined.json")
    combined <- run_json(c("combine", files, flags(output = file, max_epsilon = max_epsilon)))
    for (note in combined$notes) message(note)
    plan <- candor_plan(file)
    plan$design <- attr(combined, "details")
    plan
}
