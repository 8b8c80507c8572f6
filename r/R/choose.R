#' Which epsilon
#'
#' Runs `candor choose`: the smallest epsilon that gives the margin of error wanted, within what a guess may gain.
#'
#' @param schema A schema of [candor_schema()], or the path of one (TOML).
#' @param respondents How many people will answer.
#' @param tables The tables to publish; as in [candor_design()].
#' @param margin The largest margin of error, as a share: 0.05 is five percentage points.
#' @param max_guess The largest probability that a guess about one answer is right, after the most revealing reply: 0.75 is 75 of 100.
#' @return A data frame of class `candor_choose`, one row per epsilon: `epsilon`, `margin` (of the widest table), `respondents_needed` (for
#'   the margin wanted), `worst_posterior`, `guess_probability` and `by_luck` (how often a guess is right after the most revealing reply, after
#'   an average one, and without any). `attr(x, "recommended")` is an epsilon, or `NA` if none will do.
#' @examples
#' candor_choose(candor_schema(warpbreaks["tension"]), respondents = 5000)
#' @export
candor_choose <- function(schema, respondents, tables = NULL, margin = NULL, max_guess = NULL) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    options <- flags(respondents = respondents, tables = tables, margin = margin, max_guess = max_guess)
    chosen <- run_json(c("choose", schema_file(schema, folder), options))
    frame <- rows(chosen$epsilons)
    result(frame[setdiff(names(frame), c("widest", "fingerprint"))], "candor_choose", chosen$verdict_text, chosen,
           recommended = or_na(chosen$recommended))
}
