#' Which attributes are associated
#'
#' Runs `candor associations`: the association of each pair of attributes, and clusters of attributes that belong together, from
#' responses, or from true records that somebody holds.
#'
#' @param x A plan, if `data` are responses to it; a schema, if they are true records.
#' @param data Responses as in [candor_estimate()], or a data frame of true records.
#' @param ... Further options of the command, such as `measure = "mutual-information"` or `max_cells = 100`.
#' @return A data frame of class `candor_associations`, one row per pair: `a`, `b`, `measure`, `value`, `standard_error`.
#'   `candor_details(x)$clusters` lists the clusters, which [candor_design()] takes as `clusters`.
#' @examples
#' people <- as.data.frame(Titanic)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Class", "Sex", "Survived")]
#' plan <- candor_design(candor_schema(people), "joint", epsilon = 4)
#' candor_associations(plan, candor_randomize(plan, people))
#' @export
candor_associations <- function(x, data, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    found <- if (inherits(x, "candor_plan")) {
        protocol <- if (is.null(list(...)$protocol)) flags(protocol = "attribute")
        run_json(c("associations", plan_file(x, folder), response_files(data, folder), protocol, flags(...)))
    } else {
        check_frame(data)
        run_json(c("associations", schema_file(x, folder), "-", flags(...)), data)
    }
    pairs <- if (is.null(found$dependences)) found$associations else found$dependences
    result(rows(pairs), "candor_associations", paste0("Association of each pair, from ", number(found$records), " records"), found)
}
