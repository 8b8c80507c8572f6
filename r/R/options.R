# Arguments of functions as options of the command: `max_epsilon = 8` is `--max-epsilon=8`.

# Lists of lists of names: c("a,b", "c") and list(c("a", "b"), "c") are both `a,b;c`.
lists_of_names <- c("tables", "clusters")

# Options that are said once for each value.
repeated <- "contrast"

# Options, in the command's words. NULL and FALSE say nothing; TRUE gives the option alone; a vector is joined by commas; one with
# names, such as c(ldp = 4), is said once for each.
flags <- function(...) {
    options <- list(...)
    if (length(options) > 0 && (is.null(names(options)) || any(names(options) == ""))) {
        failed("further arguments are options of the command and need names, such as confidence = 0.9")
    }
    unlist(Map(flag, gsub("_", "-", names(options)), options), use.names = FALSE)
}

flag <- function(name, value) {
    if (length(value) == 0 || identical(value, FALSE)) {
        return(NULL)
    }
    if (is.matrix(value)) {
        value <- matrix_file(value)
    }
    if (identical(value, TRUE)) {
        return(paste0("--", name))
    }
    if (name %in% lists_of_names) {
        return(paste0("--", name, "=", paste(vapply(as.list(value), listed, ""), collapse = ";")))
    }
    if (name %in% repeated) {
        return(paste0("--", name, "=", value))
    }
    if (!is.null(names(value))) {
        value <- paste0(names(value), "=", vapply(value, listed, ""))
        return(paste0("--", name, "=", value))
    }
    paste0("--", name, "=", listed(value))
}

# A matrix as a file of this session, without labels.
matrix_file <- function(entries) {
    file <- tempfile("candor-matrix-", fileext = ".csv")
    writeLines(apply(entries, 1, function(row) paste(value_text(row), collapse = ",")), file)
    file
}

listed <- function(values) {
    paste(value_text(values), collapse = ",")
}
