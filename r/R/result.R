# Results: data frames that say what they are.

# What JSON writes as null is missing.
or_na <- function(value) {
    if (is.null(value)) NA else value
}

percent <- function(share) {
    paste0(format(100 * share), "%")
}

# A whole number, for people.
number <- function(value) {
    format(value, big.mark = ",", scientific = FALSE)
}

# Objects of JSON as the rows of a data frame: one column per field, in the order in which fields appear. Objects within an object become
# columns of their own (`odds_ratio_low`), lists of values become list columns. Lists of objects are left to candor_details().
rows <- function(objects) {
    flat <- lapply(objects, flat_fields)
    fields <- unique(unlist(lapply(flat, names)))
    column <- function(field) {
        values <- lapply(flat, function(object) or_na(object[[field]]))
        if (any(vapply(values, is.list, NA))) I(lapply(values, unlist)) else unlist(values)
    }
    frame <- stats::setNames(lapply(fields, column), fields)
    structure(frame, class = "data.frame", row.names = seq_along(objects))
}

# Fields with a new name, which the command writes under the old one, too, until the next release.
old_names <- c(conditioning_attributes = "given", lower_scenario = "if_none", lower_scenario_standard_error = "if_none_standard_error",
               mse = "utility", quantity = "of", sampling_note = "design", self_protective_answer = "says",
               upper_scenario = "if_all", upper_scenario_standard_error = "if_all_standard_error", variance_inflation = "design_effect")

flat_fields <- function(object, prefix = "") {
    fields <- list()
    object <- object[setdiff(names(object), old_names[intersect(names(old_names), names(object))])]
    for (name in names(object)) {
        value <- object[[name]]
        if (is.list(value) && !is.null(names(value))) {
            fields <- c(fields, flat_fields(value, paste0(prefix, name, "_")))
        } else if (!of_objects(value)) {
            fields[paste0(prefix, name)] <- list(value)
        }
    }
    fields
}

# A list with objects in it, at any depth.
of_objects <- function(value) {
    is.list(value) && any(vapply(value, function(item) !is.null(names(item)) || of_objects(item), NA))
}

# Without the columns in which all is missing.
known_columns <- function(frame) {
    frame[!vapply(frame, function(column) all(is.na(column)) && !is.list(column), NA)]
}

# A data frame with a sentence about it, all that the command printed, and further facts, which `attr` gives.
result <- function(frame, class, about, printed, ...) {
    structure(frame, class = c(class, "candor_result", "data.frame"), about = about, details = attr(printed, "details"), ...)
}

#' All numbers of a result
#'
#' A result is a data frame of its main numbers. The command computes more: what it prints as JSON is kept with the result, whole.
#'
#' @param x A result, or a plan of [candor_design()].
#' @return A list with the fields of the command's JSON, under their names; lists of objects are data frames. docs/reference/json.md describes
#'   them.
#' @examples
#' audit <- candor_audit(candor_design(candor_schema(warpbreaks[c("wool", "tension")]), epsilon = 2))
#' names(candor_details(audit))
#' candor_details(audit)$attributes
#' @export
candor_details <- function(x) {
    details <- if (inherits(x, "candor_plan")) x$design else attr(x, "details")
    if (is.null(details)) {
        failed("`x` is of class ", class(x)[1], ": candor_details() is for results of this package, and for plans of candor_design()")
    }
    details
}

#' Print and summarise results
#'
#' Results are data frames, and can be used as such. Printed, they begin with a sentence that says what they are. The `summary` is a
#' smaller data frame: of estimates one row per table, of a test the corrected one beside the naive one, and of all others the numbers
#' without the sentences.
#'
#' @param x,object A result.
#' @param digits How many significant digits are shown.
#' @param ... Further arguments of `print.data.frame`.
#' @return `print` gives the result, invisibly; `summary` a data frame.
#' @examples
#' audit <- candor_audit(candor_design(candor_schema(warpbreaks[c("wool", "tension")]), epsilon = 2))
#' summary(audit)
#' @export
print.candor_result <- function(x, digits = 4, ...) {
    show_result(x, character(), digits, ...)
}

# Without these columns, and without those in which all is missing.
show_result <- function(x, hidden, digits = 4, ...) {
    if (!is.null(attr(x, "about"))) {
        cat(attr(x, "about"), sep = "\n")
    }
    shown <- known_columns(as.data.frame(x))
    print(shown[!names(shown) %in% hidden], digits = digits, row.names = FALSE, ...)
    invisible(x)
}

#' @export
as.data.frame.candor_result <- function(x, ...) {
    attributes(x) <- c(attributes(x)[c("names", "row.names")], class = "data.frame")
    x
}

#' @rdname print.candor_result
#' @export
summary.candor_result <- function(object, ...) {
    object <- as.data.frame(object)
    object[!names(object) %in% c("sentence", "warning", "reason", "told", "command")]
}
