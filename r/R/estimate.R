#' Estimate tables of the population
#'
#' Runs `candor estimate`: unbiased shares with standard errors and intervals, for any table that the plan can tell about.
#'
#' @param plan A plan of [candor_design()] or [candor_plan()].
#' @param responses Responses of [candor_randomize()], or paths of files of responses. Any other data frame with their columns, and files that do
#'   not tell their plan, are read with `unmarked = TRUE` only: then you vouch that they were made under this plan.
#' @param tables Which tables: `"marginals"` (the default), `"pairs"`, or names: `c("Sex,Income", "Age")`, or
#'   `list(c("Sex", "Income"), "Age")`.
#' @param by Public attributes by which to estimate separately.
#' @param weights The name of a kept column of survey weights.
#' @param design How the people were sampled: a design of the survey package (`svydesign` or `svrepdesign`) about the rows of
#'   `responses`, in their order. It stands for `weights`, `strata`, `psu`, `fpc` and replicate weights.
#' @param counts Instead of responses, the counts that the query of [candor_sql()] gives: a data frame, or paths of files.
#' @param ... Further options of the command: `mean = "Age"`, `quantile = "Age:0.5"`, `compare_groups = "Sex"`, `method = "constrained"`,
#'   `interval = "simultaneous"`, `confidence = 0.9`, `target = "records"`, `standards = "nchs"` (the rule by which shares may be published).
#' @return A data frame of class `candor_estimate`, one row per number:
#'   * `table`: the table as it is asked for, such as `"Sex,Income"`, or `"Income | Sex"` for shares among the people of each `Sex`.
#'     Of means, variances and quantiles it is the attribute. The shares of one table add up, those of several do not: choose one.
#'   * `quantity`: `"share"`, `"conditional share"`, `"mean"`, `"variance"`, `"quantile"`, and with `compare_groups` or `baseline`
#'     `"difference"` and `"ratio"`.
#'   * A factor for each attribute, with the schema's categories, missing where the number is not about it.
#'   * `estimate`, `standard_error` (with `method = "constrained"` the root mean square error), `low`, `high`; of shares also `shown_estimate` and `reliability` (`"shown"`, `"rough"`, `"under"`,
#'     `"hidden"`: how precise the share is, and what of it may be published), and what that rests on: `effective_sample_size` (how many
#'     independent respondents with equal weights would tell as much), `directly_asked` (with how many direct answers the standard error would
#'     be the same) and `relative_standard_error`.
#'   * Of differences and ratios `compared` (the attribute), `first` and `second` (its groups, or `"before"` and `"now"`). Of quantiles
#'     `share`, and `category`, `low_category` and `high_category`, the categories that they fall into; their `estimate` is missing.
#'
#'   Its `summary` has one row per table: `respondents`, `identifiable`, and `reason` where there is no estimate.
#' @examples
#' people <- as.data.frame(HairEyeColor)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Hair", "Eye", "Sex")]
#' plan <- candor_design(candor_schema(people), "workload", epsilon = 4, tables = "pairs")
#' estimate <- candor_estimate(plan, candor_randomize(plan, people), tables = c("Hair,Sex", "Eye"))
#' estimate
#' xtabs(estimate ~ Hair + Sex, estimate, subset = table == "Hair,Sex")
#' @export
candor_estimate <- function(plan, responses = NULL, tables = NULL, by = NULL, weights = NULL, design = NULL, counts = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    if (is.null(responses) == is.null(counts)) {
        failed("estimates are made of `responses` or of `counts`: give one of them")
    }
    sampled <- with_design(responses, design, list(tables = tables, by = by, weights = weights, counts = table_file(counts, folder), ...))
    files <- if (!is.null(responses)) response_files(sampled$responses, folder)
    estimates <- run_json(c("estimate", plan_file(plan, folder), files, do.call(flags, sampled$options)))
    estimate_frame(estimates, plan$schema)
}

# Estimates of JSON as a data frame of all that was estimated.
estimate_frame <- function(estimates, schema, printed = estimates, ...) {
    about <- paste0("Estimated from ", number(estimates$respondents), " responses (", estimates$method, "), with ",
                    estimates$interval, " intervals at ", percent(estimates$confidence))
    parts <- c(lapply(estimates$tables, share_rows, schema), lapply(estimates$numbers, number_rows, schema),
               lapply(estimates$comparisons, difference_rows, schema))
    frame <- bind(parts)
    first <- c("table", "quantity", intersect(schema$name, names(frame)), "estimate", "standard_error", "low", "high")
    for (name in setdiff(first, names(frame))) frame[[name]] <- rep(if (name %in% c("table", "quantity")) "" else NA_real_, nrow(frame))
    frame <- frame[c(first, setdiff(names(frame), first))]
    result(frame, "candor_estimate", about, printed, respondents = estimates$respondents, tables = table_summary(estimates), ...)
}

# A table as it is asked for: the attributes whose groups it is about stand behind the bar.
table_name <- function(table) {
    given <- unlist(table$given)
    counted <- setdiff(unlist(table$attributes), given)
    paste(c(paste(counted, collapse = ","), if (length(given) > 0) paste(given, collapse = ",")), collapse = " | ")
}

# Columns for the categories of cells, and of the group that they are of, as factors of the schema.
category_columns <- function(attributes, cells, group, schema) {
    columns <- list()
    for (name in names(group)) columns[[name]] <- rep(group[[name]], length(cells))
    for (place in seq_along(attributes)) {
        columns[[attributes[[place]]]] <- vapply(cells, function(cell) as.character(cell$categories[[place]]), "")
    }
    for (name in intersect(names(columns), schema$name)) {
        place <- match(name, schema$name)
        columns[[name]] <- factor(columns[[name]], schema$categories[[place]], ordered = schema$kind[place] == "ordinal")
    }
    as_columns(columns, length(cells))
}

as_columns <- function(columns, rows) {
    structure(columns, names = as.character(names(columns)), class = "data.frame", row.names = seq_len(rows))
}

share_rows <- function(table, schema) {
    cells <- table$cells
    numbers <- rows(lapply(cells, function(cell) cell[setdiff(names(cell), "categories")]))
    quantity <- if (length(table$given) > 0) "conditional share" else "share"
    cbind(as_columns(list(table = rep(table_name(table), length(cells)), quantity = rep(quantity, length(cells))), length(cells)),
          category_columns(table$attributes, cells, table$group, schema), numbers)
}

# Means, variances and quantiles of an attribute that stands for numbers.
number_rows <- function(numbers, schema) {
    one <- function(quantity, fields) c(list(quantity = quantity), fields)
    quantile <- function(at) {
        list(quantity = "quantile", share = at$share, category = or_na(at$category), low_category = or_na(at$low),
             high_category = or_na(at$high))
    }
    found <- c(if (!is.null(numbers$mean)) list(one("mean", numbers$mean)),
               if (!is.null(numbers$variance)) list(one("variance", numbers$variance)), lapply(numbers$quantiles, quantile))
    frame <- rows(found)
    cbind(as_columns(list(table = rep(numbers$attribute, length(found))), length(found)),
          category_columns(character(), found, numbers$group, schema), frame)
}

difference_rows <- function(comparison, schema) {
    known <- function(cell, what) !is.null(cell[[what]])
    of <- function(what) {
        cells <- Filter(function(cell) known(cell, what), comparison$cells)
        numbers <- rows(lapply(cells, `[[`, what))
        labels <- list(table = table_name(comparison), quantity = what, compared = or_na(comparison$compared), first = comparison$first,
                       second = comparison$second)
        cbind(as_columns(lapply(labels, rep, length(cells)), length(cells)),
              category_columns(comparison$attributes, cells, comparison$group, schema), numbers)
    }
    bind(list(of("difference"), of("ratio")))
}

# Data frames below each other; columns that one does not have are missing there.
bind <- function(frames) {
    frames <- Filter(function(frame) nrow(frame) > 0, frames)
    fields <- unique(unlist(lapply(frames, names)))
    column <- function(field) {
        values <- lapply(frames, function(frame) {
            if (field %in% names(frame)) frame[[field]] else rep(NA, nrow(frame))
        })
        like <- Filter(is.factor, values)
        if (length(like) == 0) {
            return(unlist(values))
        }
        factor(unlist(lapply(values, as.character)), levels(like[[1]]), ordered = is.ordered(like[[1]]))
    }
    as_columns(stats::setNames(lapply(fields, column), fields), sum(vapply(frames, nrow, 0L)))
}

table_summary <- function(estimates) {
    group <- function(table) paste(names(table$group), unlist(table$group), sep = "=", collapse = ",")
    asked <- c(estimates$tables, estimates$numbers)
    name <- function(table) if (is.null(table$attributes)) table$attribute else table_name(table)
    fields <- lapply(asked, function(table) {
        list(table = name(table), group = group(table), respondents = or_na(table$respondents), identifiable = or_na(table$identifiable),
             implausible = or_na(table$implausible), condition = or_na(table$condition), reason = or_na(table$reason))
    })
    rows(fields)
}

#' @export
print.candor_estimate <- function(x, ...) {
    if (nrow(x) > 0) {
        NextMethod()
    }
    missing <- attr(x, "tables")
    missing <- missing[!is.na(missing$reason), ]
    cat(sprintf("%s: %s\n", missing$table, missing$reason), sep = "")
    invisible(x)
}

#' @export
summary.candor_estimate <- function(object, ...) {
    attr(object, "tables")
}
