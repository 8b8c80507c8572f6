#' Test whether two attributes are independent
#'
#' Runs `candor test`, a chi-squared test that is corrected for the randomization.
#'
#' @param plan,responses As in [candor_estimate()].
#' @param a,b The names of the two attributes.
#' @param ... Further options of the command, such as `confidence = 0.9`.
#' @return A data frame of class `candor_test` with one row: `a`, `b`, `respondents`, `statistic`, `degrees`, `p_value`, `cramers_v`,
#'   `cramers_v_standard_error`, and of two by two categories `odds_ratio`, `odds_ratio_low`, `odds_ratio_high`. Its `summary` puts
#'   beside it the naive test, as if answers were the truth, where there is one.
#' @examples
#' people <- as.data.frame(UCBAdmissions)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Admit", "Gender")]
#' plan <- candor_design(candor_schema(people), epsilon = 2)
#' candor_test(plan, candor_randomize(plan, people), "Admit", "Gender")
#' @export
candor_test <- function(plan, responses, a, b, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    files <- response_files(responses, folder)
    test <- run_json(c("test", plan_file(plan, folder), files, flags(independence = c(a, b), ...)))
    odds <- test$odds_ratio
    frame <- data.frame(a = a, b = b, rows(list(test), c("respondents", test_fields, "cramers_v_standard_error")),
                        odds_ratio = or_na(odds$estimate), odds_ratio_low = or_na(odds$low), odds_ratio_high = or_na(odds$high))
    about <- paste0("Are ", a, " and ", b, " independent? A test corrected for the randomization")
    naive <- if (!is.null(test$naive)) rows(list(test$naive), test_fields)
    result(frame, "candor_test", about, naive = naive)
}

test_fields <- c("statistic", "degrees", "p_value", "cramers_v")

#' @export
summary.candor_test <- function(object, ...) {
    naive <- attr(object, "naive")
    corrected <- cbind(test = "corrected", as.data.frame(object)[test_fields])
    if (is.null(naive)) corrected else rbind(corrected, cbind(test = "naive", naive))
}
