# Schemas: the questions and their possible answers.

#' Describe the columns of a data frame as a schema
#'
#' A factor becomes an attribute with all its levels, in their order, whether or not they occur; an ordered factor an ordinal one.
#' Of all other columns the command `candor schema infer` finds out the categories that occur. A published schema tells that
#' somebody gave each of those, so give factors with the levels that could be answered.
#'
#' @param data A data frame, one row per person.
#' @param bins How columns of many different numbers are put into bins: `c(age = "edges:18,65")`, `"quantile:5"` or `"width:10"`.
#' @param public Names of columns that are published as they are.
#' @param drop Names of columns to leave out.
#' @param ... Further options of the command, such as `max_categories = 200`.
#' @return A data frame of class `candor_schema`, one row per attribute, with the columns `name`, `kind` (`"nominal"` or
#'   `"ordinal"`), `public`, `categories` (a list of labels), `edges` and `grid` (lists of numbers) and `asked_if` (of whom the question is
#'   asked, such as `"Smokes = yes"`; missing if of everybody). Change it as any data frame; a column that a schema does not have is an
#'   error.
#' @examples
#' candor_schema(warpbreaks, bins = c(breaks = "edges:20,30"))
#' @export
candor_schema <- function(data, bins = NULL, public = NULL, drop = NULL, ...) {
    check_frame(data)
    unknown <- setdiff(c(public, drop), names(data))
    if (length(unknown) > 0) {
        failed("there is no column `", unknown[1], "`; the columns are: ", paste(names(data), collapse = ", "))
    }
    data <- data[setdiff(names(data), drop)]
    with_levels <- vapply(data, is.factor, NA)
    attributes <- lapply(names(data)[with_levels], function(name) of_factor(name, data[[name]]))
    if (!all(with_levels)) {
        attributes <- c(attributes, inferred(data[!with_levels], bins, ...))
    } else if (!is.null(bins)) {
        failed("bins are for columns of numbers; all columns are factors")
    }
    schema <- schema_frame(attributes)
    schema <- schema[match(names(data), schema$name), ]
    schema$public <- schema$name %in% public
    row.names(schema) <- NULL
    schema
}

of_factor <- function(name, column) {
    labels <- c(levels(column), if (anyNA(column) && !"" %in% levels(column)) "")
    list(name = name, kind = if (is.ordered(column)) "ordinal" else "nominal", public = FALSE, labels = labels)
}

# What the command makes of columns without levels.
inferred <- function(data, bins, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    file <- file.path(folder, "schema.toml")
    run_json(c("schema", "infer", "-", flags(output = file, bins = bins, ...)), data)$attributes
}

schema_frame <- function(attributes) {
    column <- function(field, type) vapply(attributes, function(attribute) attribute[[field]], type)
    frame <- data.frame(name = column("name", ""), kind = column("kind", ""), public = column("public", NA))
    frame$categories <- lapply(attributes, function(attribute) as.character(unlist(attribute$labels)))
    frame$edges <- lapply(attributes, function(attribute) as.numeric(unlist(attribute$edges)))
    frame$grid <- lapply(attributes, function(attribute) as.numeric(unlist(attribute$grid)))
    frame$asked_if <- vapply(attributes, function(attribute) as.character(or_na(attribute$asked_if)), "")
    structure(frame, class = c("candor_schema", "data.frame"))
}

# The schema of a plan, as the plan's JSON has it.
plan_schema <- function(plan) {
    attributes <- lapply(plan$schema$attributes, function(attribute) {
        list(name = attribute$name, kind = attribute$kind, public = isTRUE(attribute$public), labels = attribute$categories,
             edges = attribute$edges, grid = attribute$grid, asked_if = condition_text(attribute$asked_if))
    })
    schema_frame(attributes)
}

# A condition of a plan as the command reads it in a schema.
condition_text <- function(condition) {
    if (is.null(condition)) {
        return(NULL)
    }
    quoted <- function(names) paste0("'", gsub("'", "''", unlist(names), fixed = TRUE), "'")
    paste0(quoted(condition$attribute), " in (", paste(quoted(condition$categories), collapse = ", "), ")")
}

schema_columns <- c("name", "kind", "public", "categories", "edges", "grid", "asked_if")

check_schema <- function(schema) {
    unknown <- setdiff(names(schema), schema_columns)
    missing <- setdiff(c("name", "categories"), names(schema))
    if (length(unknown) > 0) {
        failed("a schema has no column `", unknown[1], "`; expected ", paste(schema_columns, collapse = ", "))
    }
    if (length(missing) > 0) {
        failed("the schema has no column `", missing[1], "`")
    }
}

# Where the command finds a schema: the path that was given, or a file in the folder. Texts of JSON are texts of TOML.
schema_file <- function(schema, folder) {
    if (is.character(schema)) {
        return(schema)
    }
    if (!inherits(schema, "candor_schema")) {
        failed("`schema` is of class ", class(schema)[1], ": make it by candor_schema(), or give the path of a file")
    }
    check_schema(schema)
    text <- function(values) vapply(enc2utf8(values), jsonlite::toJSON, "", auto_unbox = TRUE)
    attribute <- function(place) {
        of <- function(column) schema[[column]][[place]]
        labels <- setdiff(as.character(of("categories")), if (!is.na(or_na(of("asked_if")))) "(not asked)")
        c("[[attribute]]",
          paste("name =", text(as.character(of("name")))),
          if (length(of("kind")) > 0) paste("kind =", text(of("kind"))),
          if (isTRUE(of("public"))) "public = true",
          if (length(of("edges")) > 0) paste0("edges = [", listed(of("edges")), "]"),
          if (length(of("grid")) > 0) paste0("grid = [", listed(of("grid")), "]"),
          if (!is.na(or_na(of("asked_if")))) paste("asked_if =", text(of("asked_if"))),
          paste0("categories = [", paste(text(labels), collapse = ", "), "]"))
    }
    lines <- unlist(lapply(seq_len(nrow(schema)), attribute))
    file <- file.path(folder, "schema.toml")
    writeLines(lines, file, useBytes = TRUE)
    file
}

check_frame <- function(data) {
    if (!is.data.frame(data)) {
        failed("`data` is of class ", class(data)[1], ", not a data frame with one row per person")
    }
    if (ncol(data) == 0 || anyDuplicated(names(data)) > 0) {
        failed("`data` must have columns, and no two of the same name")
    }
}

#' @export
print.candor_schema <- function(x, ...) {
    cat("A schema of ", nrow(x), " attributes\n", sep = "")
    print(summary(x), row.names = FALSE, right = FALSE)
    invisible(x)
}

#' @export
summary.candor_schema <- function(object, ...) {
    labels <- vapply(object$categories, paste, "", collapse = " | ")
    data.frame(name = object$name, kind = object$kind, public = object$public, categories = lengths(object$categories),
               labels = ifelse(nchar(labels) > 60, paste0(substr(labels, 1, 57), "..."), labels))
}
