#' The trade-off of privacy and error for one attribute
#'
#' Runs `candor pareto`: the Pareto front of one attribute with a known prior, with a lower bound on the error that proves how good it is.
#'
#' @param prior The share of each category, in order.
#' @param ... Further options of the command: `points = 10`, `posterior_bound = 0.8`, `respondents = 10000`, `time_limit = 10`, `loss = "ordinal"`
#'   or a matrix of losses (rows are guesses, columns are true categories): privacy is then the expected loss of the best guess, as a
#'   share of the largest.
#' @return A data frame of class `candor_pareto`, one row per point: its privacy, its error and the `lower_bound` of the error at this
#'   privacy, `worst_posterior`, `outputs`. `candor_details(x)` has the fronts of Warner's scheme and of the evolutionary search.
#' @examples
#' candor_pareto(c(0.7, 0.2, 0.1), points = 3, method = "exact")
#' @export
candor_pareto <- function(prior = NULL, ...) {
    front <- run_json(c("pareto", flags(prior = prior, ...)))
    about <- paste0("The best error at each level of privacy, for ", number(front$respondents), " respondents")
    result(rows(front$points), "candor_pareto", about, front)
}
