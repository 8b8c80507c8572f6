#' Randomized response for tables of many questions
#'
#' [candor_schema()] describes questions, [candor_compare()] and [candor_design()] choose how answers are randomized,
#' [candor_audit()] says what that guarantees, [candor_randomize()] does it, and [candor_estimate()], [candor_test()],
#' [candor_query()], [candor_regress()] and [candor_report()] say what the responses tell about the population. All of it is done by the
#' command `candor` ([candor_command()]); errors are of class `candor_error`, have its words, and in `verdict` the code of a rejection, if it has one:
#' `"wrong-plan"`, `"plan-in-use"` or `"already-released"`.
#'
#' @keywords internal
"_PACKAGE"
