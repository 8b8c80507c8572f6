# Results: data frames that say what they are.

# What JSON writes as null is missing.
or_na <- function(value) {
    if (is.null(value)) NA else value
}

# A whole number, for people.
number <- function(value) {
    format(value, big.mark = ",", scientific = FALSE)
}

# Objects of JSON as the rows of a data frame, with these of their fields.
rows <- function(objects, fields) {
    column <- function(field) {
        values <- lapply(objects, function(object) or_na(object[[field]]))
        if (length(values) == 0) logical() else unlist(values)
    }
    as.data.frame(stats::setNames(lapply(fields, column), fields))
}

# A data frame with a sentence about it and further facts, which `attr` gives.
result <- function(frame, class, about, ...) {
    structure(frame, class = c(class, "candor_result", "data.frame"), about = about, ...)
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
    empty <- vapply(x, function(column) all(is.na(column)), NA)
    print(as.data.frame(x)[!empty & !names(x) %in% hidden], digits = digits, row.names = FALSE, ...)
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
