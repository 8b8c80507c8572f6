#' Test for noncompliance with the randomization device
#'
#' Runs `candor compliance`: whether people followed their instruction cards, as far as the answers show it.
#'
#' @param plan,responses As in [candor_estimate()].
#' @param ... Further options of the command, such as `self_protective = "no"` or `noncompliance = 0.2`.
#' @return A data frame of class `candor_compliance`, one row per question: `attribute`, `test_statistic`, `test_p_value`, `test_power`
#'   and so on, and `reason` where there is no test. `candor_details(x)` has the bounds of each share.
#' @examples
#' people <- data.frame(cheated = factor(rep(c("no", "yes"), c(700, 300))))
#' device <- candor_device(candor_schema(people), epsilon = 2, compliance_check = TRUE)
#' plan <- attr(device, "plan")
#' candor_compliance(plan, candor_randomize(plan, people))
#' @export
candor_compliance <- function(plan, responses, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    found <- run_json(c("compliance", plan_file(plan, folder), response_files(responses, folder), flags(...)))
    about <- paste0("Did ", number(found$respondents), " people follow their cards?")
    result(rows(found$questions), "candor_compliance", about, found)
}
