#' What a plan guarantees
#'
#' Runs `candor audit`: every privacy criterion, computed from the integers of the plan.
#'
#' @param plan A plan of [candor_design()] or [candor_plan()].
#' @param require Thresholds that must hold, such as `c(ldp = 4, rho = "0.1:0.9")`. If one does not, that is an error.
#' @param prior What a reader believes beforehand: `list(Sex = c(0.7, 0.3))`.
#' @param ... Further options of the command, such as `respondents = 10000`, with which the responses are shuffled.
#' @return A data frame of class `candor_audit`, one row per criterion: `name`, `value`, `required`, `holds`, `sentence`, `warning`;
#'   `candor_details(x)$attributes` has the epsilons of each attribute.
#' @examples
#' plan <- candor_design(candor_schema(warpbreaks[c("wool", "tension")]), epsilon = 2)
#' candor_audit(plan, require = c(ldp = 2))
#' @export
candor_audit <- function(plan, require = NULL, prior = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    audit <- run_json(c("audit", plan_file(plan, folder), flags(require = require, prior = prior, ...)))
    criteria <- c(audit$criteria, if (!is.null(audit$shuffled)) list(audit$shuffled))
    frame <- rows(criteria)
    about <- paste("What the plan guarantees, with", if (is.null(audit$epsilon)) "no finite epsilon" else epsilon_words(audit$epsilon))
    result(frame, "candor_audit", about, audit, fingerprint = audit$fingerprint, epsilon = or_na(audit$epsilon))
}

epsilon_words <- function(epsilon) {
    paste("epsilon", format(epsilon, digits = 4))
}

#' @export
print.candor_audit <- function(x, ...) {
    cat(attr(x, "about"), sep = "\n")
    verdict <- ifelse(is.na(x$holds), "", ifelse(x$holds, " [holds]", " [DOES NOT HOLD]"))
    cat(strwrap(paste0(x$name, verdict, ": ", x$sentence), exdent = 4, prefix = "  "), sep = "\n")
    warned <- x$warning[!is.na(x$warning)]
    if (length(warned) > 0) {
        cat(strwrap(paste("Warning:", warned), exdent = 4), sep = "\n")
    }
    invisible(x)
}
