#' Randomized response for tables of many questions
#'
#' [candor_schema()] describes questions, [candor_compare()] and [candor_design()] choose how answers are randomized,
#' [candor_audit()] says what that guarantees, [candor_randomize()] does it, and [candor_estimate()], [candor_test()],
#' [candor_query()] and [candor_report()] say what the responses tell about the population. All of it is done by the
#' command `candor` ([candor_command()]); errors are of class `candor_error` and have its words.
#'
#' @keywords internal
"_PACKAGE"
