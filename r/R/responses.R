# Responses: what leaves the respondents, and may be published.

#' Randomize a data frame
#'
#' Runs `candor randomize` with randomness of the operating system. True records go to the command through a pipe and are written
#' to no file.
#'
#' @param plan A plan of [candor_design()] or [candor_plan()].
#' @param data A data frame with the columns that the plan's schema names, one row per person.
#' @param keep Names of further columns to pass on unchanged. All others are dropped, and none that the plan randomizes can be kept.
#' @param seed For simulations only: randomness that can be repeated, and that protects nobody.
#' @param ... Further options of the command.
#' @return A data frame of class `candor_responses`, one row per row of `data`, in its order: factors with the schema's categories (text
#'   where answers are sets of categories), tags of lotteries, kept columns. What a lottery did not ask is `NA`; the attribute `not_asked` of
#'   the column says how often. Its attribute `fingerprint` tells of which plan it is.
#' @examples
#' people <- data.frame(smokes = factor(c("no", "yes", "no", "no")))
#' plan <- candor_design(candor_schema(people), epsilon = 1)
#' candor_randomize(plan, people)
#' @export
candor_randomize <- function(plan, data, keep = NULL, seed = NULL, ...) {
    check_frame(data)
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    file <- file.path(folder, "responses.csv")
    options <- flags(output = file, keep = if (length(keep) > 0) keep, seed = seed, ...)
    # An attribute `a*b` may be made of the columns a and b.
    named <- c(plan$schema$name, unlist(strsplit(plan$schema$name, "*", fixed = TRUE)), keep)
    done <- run_json(c("randomize", plan_file(plan, folder), "-", options), data[names(data) %in% named])
    responses <- answers_of(read_csv(file), plan$schema)
    responses[keep] <- lapply(data[keep], plain)
    responses <- tell_not_asked(responses, plan$schema)
    if (!is.null(done$simulation)) {
        attr(responses, "simulation") <- done$simulation
    }
    marked(responses, done$fingerprint)
}

# Responses with the mark of their plan, which holds for so many rows.
marked <- function(frame, fingerprint) {
    structure(frame, class = c("candor_responses", "data.frame"), fingerprint = fingerprint, marked = nrow(frame))
}

# The fingerprint, if it is about these rows: what was bound to others, past `rbind` below, is unmarked.
mark_of <- function(responses) {
    if (identical(attr(responses, "marked"), nrow(responses))) attr(responses, "fingerprint")
}

# Columns of answers as factors, where each answer is one category; tags as numbers.
answers_of <- function(responses, schema) {
    for (name in names(responses)) {
        place <- match(name, schema$name)
        labels <- if (!is.na(place)) schema$categories[[place]]
        answers <- responses[[name]]
        answers[answers == "" & !"" %in% labels] <- NA
        if (!is.na(place) && all(is.na(answers) | answers %in% labels)) {
            answers <- factor(answers, labels, ordered = schema$kind[place] == "ordinal")
        } else if (grepl("^candor_tag", name)) {
            answers <- as.integer(answers)
        }
        responses[[name]] <- answers
    }
    responses
}

# Answers that a lottery did not ask for are missing; their columns say how many, by the attribute `not_asked`.
tell_not_asked <- function(responses, schema) {
    for (name in intersect(names(responses), schema$name)) {
        missing <- sum(is.na(responses[[name]]))
        if (missing > 0) attr(responses[[name]], "not_asked") <- missing
    }
    responses
}

# A kept column: its values and nothing else, so that no label and no level that stands in no row is passed on.
plain <- function(column) {
    if (is.factor(column)) {
        return(factor(as.character(column), intersect(levels(column), as.character(column)), ordered = is.ordered(column)))
    }
    attributes(column) <- if (inherits(column, c("Date", "POSIXct"))) attributes(column)[intersect(names(attributes(column)), c("class", "tzone"))]
    column
}

# Where the command finds responses: paths that were given, or a file in the folder, beside it the fingerprint of their plan.
response_files <- function(responses, folder) {
    if (is.character(responses)) {
        return(responses)
    }
    check_frame(responses)
    file <- file.path(folder, "responses.csv")
    write_csv(responses, file)
    fingerprint <- mark_of(responses)
    if (!is.null(fingerprint)) {
        seed <- attr(responses, "simulation")
        beside <- list(complete = TRUE, fingerprint = fingerprint, records = nrow(responses), simulation = seed)
        jsonlite::write_json(beside, paste0(file, ".candor.json"), auto_unbox = TRUE, null = "null", digits = NA)
    }
    file
}

#' @export
`[.candor_responses` <- function(x, ...) {
    part <- NextMethod()
    if (is.data.frame(part)) {
        attr(part, "fingerprint") <- mark_of(x)
        attr(part, "marked") <- nrow(part)
        attr(part, "simulation") <- attr(x, "simulation")
    }
    part
}

#' @export
rbind.candor_responses <- function(..., deparse.level = 1) {
    parts <- list(...)
    marks <- unique(lapply(parts, mark_of))
    if (length(marks) > 1) {
        failed("responses of different plans, or unmarked ones, cannot be one table; estimate each under its own plan")
    }
    frames <- lapply(parts, function(part) structure(part, class = "data.frame"))
    bound <- marked(do.call(rbind, frames), marks[[1]])
    seeds <- unlist(lapply(parts, attr, "simulation"))
    attr(bound, "simulation") <- if (length(seeds) > 0) seeds[[1]]
    bound
}

#' @export
print.candor_responses <- function(x, n = 6, ...) {
    cat(number(nrow(x)), " responses", if (!is.null(attr(x, "simulation"))) " of a simulation, which protect nobody", "; ",
        attr(x, "fingerprint"), "\n", sep = "")
    shown <- utils::head(x, n)
    class(shown) <- "data.frame"
    print(shown, row.names = FALSE, ...)
    invisible(x)
}

#' @export
summary.candor_responses <- function(object, ...) {
    class(object) <- "data.frame"
    summary(object, ...)
}
