#' Import what interviewers wrote down
#'
#' Runs `candor import`: answers that people gave with devices and cards become responses.
#'
#' @param plan The plan whose cards were used.
#' @param answers A data frame with one row per respondent and one column per question, or paths of files.
#' @param cards Names of the columns that say which card was used, where there are several.
#' @param keep Names of further columns to pass on unchanged.
#' @param ... Further options of the command, such as `card_labels` and `answer_columns`: for a list experiment the values of the
#'   control and the treatment group, and the column of counts.
#' @return Responses, as [candor_randomize()] gives them.
#' @examples
#' plan <- attr(candor_device(2, device = "die: 1-4 truth, 5 0, 6 1"), "plan")
#' candor_import(plan, data.frame(a1 = c("0", "1", "0")))
#' @export
candor_import <- function(plan, answers, cards = NULL, keep = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    file <- file.path(folder, "responses.csv")
    options <- flags(output = file, cards = cards, keep = keep, ...)
    done <- run_json(c("import", plan_file(plan, folder), table_file(answers, folder), options))
    responses <- answers_of(read_csv(file), plan$schema)
    if (is.data.frame(answers)) responses[keep] <- lapply(answers[keep], plain)
    marked(responses, done$fingerprint)
}
