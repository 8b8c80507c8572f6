#' The transition matrix of a plan
#'
#' Runs `candor matrix`.
#'
#' @param plan As in [candor_estimate()].
#' @param attribute The name of an attribute, for the answers about it alone; by default whole records.
#' @param ... Further options of the command, such as `exact = TRUE`; `candor_details(x)` has what they add.
#' @return A matrix of probabilities: columns are truths and sum to 1, rows are answers. Its attribute `eigenvalues` has the
#'   eigenvalues, complex numbers with the largest absolute value first, if answers are truths.
#' @examples
#' people <- as.data.frame(UCBAdmissions)
#' plan <- candor_design(candor_schema(people[c("Admit", "Gender")]), "independent", epsilon = 2)
#' candor_matrix(plan, "Admit")
#' @export
candor_matrix <- function(plan, attribute = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    found <- run_json(c("matrix", plan_file(plan, folder), flags(attribute = attribute, ...)))
    entries <- matrix(unlist(found$matrix), nrow = length(found$outputs), byrow = TRUE,
                      dimnames = list(unlist(found$outputs), unlist(found$inputs)))
    if (!is.null(found$eigenvalues)) {
        attr(entries, "eigenvalues") <- vapply(found$eigenvalues, function(one) complex(real = one$real, imaginary = one$imaginary), 0i)
    }
    structure(entries, details = attr(found, "details"))
}
