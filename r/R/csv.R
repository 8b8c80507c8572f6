# Data frames as CSV for the command, and back.

# Writes a data frame to a file or an open connection, as UTF-8, some rows at a time. Everything stands in quotes; what is missing is empty.
write_csv <- function(frame, to, rows_at_once = 100000) {
    if (is.character(to)) {
        to <- file(to, "wb")
        on.exit(close(to))
    }
    writeLines(paste(in_quotes(names(frame)), collapse = ","), to, useBytes = TRUE)
    for (start in if (nrow(frame) > 0) seq(1, nrow(frame), by = rows_at_once)) {
        rows <- start:min(nrow(frame), start + rows_at_once - 1)
        columns <- Map(function(column, name) in_quotes(value_text(column[rows], name)), frame, names(frame))
        writeLines(do.call(paste, c(unname(columns), sep = ",")), to, useBytes = TRUE)
    }
}

# All columns as text; what is empty stays empty text, because it may be a label.
read_csv <- function(file) {
    utils::read.csv(file, colClasses = "character", na.strings = character(), check.names = FALSE, encoding = "UTF-8",
                    blank.lines.skip = FALSE, stringsAsFactors = FALSE)
}

in_quotes <- function(text) {
    text[is.na(text)] <- ""
    paste0("\"", gsub("\"", "\"\"", enc2utf8(text), fixed = TRUE), "\"")
}

# The text of values: labels; numbers by their digits (never 1e+05); dates and times by ISO 8601.
value_text <- function(values, name = "values") {
    if (is.factor(values) || is.character(values) || is.logical(values) || inherits(values, "Date")) {
        return(as.character(values))
    }
    if (inherits(values, "POSIXct")) {
        return(format(values, "%Y-%m-%dT%H:%M:%OSZ", tz = "UTC"))
    }
    if (!is.numeric(values) || is.object(values)) {
        failed("column `", name, "` is of class ", class(values)[1], ": make it a factor, text, numbers, TRUE and FALSE, or dates")
    }
    text <- rep(NA_character_, length(values))
    known <- !is.na(values)
    short <- sprintf("%.15g", values[known])
    text[known] <- ifelse(as.numeric(short) == values[known], short, sprintf("%.17g", values[known]))
    text
}

# That all columns have a text, before anything is written.
check_columns <- function(frame) {
    for (name in names(frame)) value_text(frame[[name]][0], name)
}
