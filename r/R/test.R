#' Test for association, and for differences between groups
#'
#' Runs `candor test`. Of two attributes: a chi-squared test of independence that is corrected for the randomization. With
#' `compare_groups` or `baseline`: whether shares, or means, differ between groups or from earlier responses.
#'
#' @param plan,responses As in [candor_estimate()].
#' @param a,b The names of the two attributes, for a test of independence.
#' @param tables Which tables to compare between groups, as in [candor_estimate()].
#' @param compare_groups The public attribute whose groups are compared.
#' @param baseline Earlier responses, as paths of files, to compare with.
#' @param by Public attributes by which to test separately.
#' @param design How the people were sampled: a design of the survey package (`svydesign` or `svrepdesign`) about the rows of
#'   `responses`, in their order. It stands for `weights`, `strata`, `psu`, `fpc` and replicate weights.
#' @param ... Further options of the command, such as `confidence = 0.9`, `mean = "Age"` or `baseline_plan = "first.json"`.
#' @return A data frame of class `candor_test`. Of a test of independence one row, or one per group: `a`, `b`, `respondents`,
#'   `statistic`, `degrees`, `p_value`, `cramers_v` with its limits, of two by two categories `odds_ratio_estimate` with its limits, and
#'   `naive_statistic` and so on: the same test as if the answers were the truth. Its `summary` puts the two beside each other. Of
#'   a scan (`with = "Income"`, or `crossed = TRUE` for the parts of attributes such as `SNP*Disease`) one row per attribute: `attribute`,
#'   `statistic`, `degrees`, `p_value`, `adjusted_p_value`, `selected_again`, `naive_statistic` and so on. Of differences one row for
#'   each: `of`, a factor for each attribute, `compared`, `first`, `second`, `first_number`, `second_number`,
#'   `difference_estimate` with its limits, `p_value`.
#' @examples
#' people <- as.data.frame(UCBAdmissions)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Admit", "Gender")]
#' plan <- candor_design(candor_schema(people, public = "Gender"), epsilon = 2)
#' responses <- candor_randomize(plan, people)
#' candor_test(plan, responses, "Admit", "Gender")
#' candor_test(plan, responses, tables = "Admit", compare_groups = "Gender")
#' @export
candor_test <- function(plan, responses, a = NULL, b = NULL, tables = NULL, compare_groups = NULL, baseline = NULL, by = NULL,
                        design = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    if (is.null(a) != is.null(b)) {
        failed("a test of independence is about two attributes: give `a` and `b`")
    }
    options <- list(independence = c(a, b), tables = tables, compare_groups = compare_groups, baseline = baseline, by = by, ...)
    sampled <- with_design(responses, design, options)
    files <- response_files(sampled$responses, folder)
    test <- run_json(c("test", plan_file(plan, folder), files, do.call(flags, sampled$options)))
    if (!is.null(a)) {
        return(independence_tests(test, a, b))
    }
    if (is.null(test$tests)) difference_tests(test, plan$schema) else scan_tests(test)
}

independence_tests <- function(test, a, b) {
    frame <- cbind(a = a, b = b, rows(if (is.null(test$groups)) list(test) else test$groups))
    about <- paste0("Are ", a, " and ", b, " independent? A test corrected for the randomization")
    result(frame, "candor_test", about, test)
}

scan_tests <- function(test) {
    about <- if (is.null(test$outcome)) "Crossed attributes whose parts depend on each other" else paste("Attributes that depend on", test$outcome)
    result(rows(test$tests), "candor_test", paste0(about, ", smallest p-value first"), test)
}

difference_tests <- function(test, schema) {
    each <- function(found) {
        labels <- category_columns(found$attributes, list(found)[length(found$categories) > 0], found$group, schema)
        numbers <- rows(list(found[setdiff(names(found), c("attributes", "categories", "group"))]))
        table <- paste(unlist(found$attributes), collapse = ",")
        if (nrow(labels) == 0) cbind(table = table, numbers) else cbind(table = table, labels, numbers)
    }
    groups <- if (is.null(test$groups)) list(test) else test$groups
    about <- "Differences, tested with the randomization taken into account"
    result(bind(lapply(unlist(lapply(groups, `[[`, "differences"), recursive = FALSE), each)), "candor_test", about, test)
}

test_fields <- c("statistic", "degrees", "p_value", "cramers_v")

#' @export
summary.candor_test <- function(object, ...) {
    frame <- as.data.frame(object)
    if (!all(test_fields %in% names(frame))) {
        return(NextMethod())
    }
    corrected <- cbind(test = "corrected", frame[test_fields])
    if (is.null(frame$naive_statistic) || all(is.na(frame$naive_statistic))) {
        return(corrected)
    }
    naive <- stats::setNames(frame[paste0("naive_", test_fields)], test_fields)
    rbind(corrected, cbind(test = "naive", naive))
}
