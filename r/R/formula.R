# Formulas of R in the words of the command.

formula_text <- function(formula) {
    if (is.character(formula)) formula else paste(deparse(formula, width.cutoff = 500), collapse = " ")
}

# The model as text, and the responses with a column for each transformed one. A formula of plain names is handed on as it is.
expanded <- function(formula, plan, responses) {
    if (!inherits(formula, "formula") || (!has_calls(formula) && !"." %in% all.vars(formula))) {
        return(list(text = formula_text(formula), responses = responses, computed = list()))
    }
    check_plan(plan)
    attributes <- structure(rep(list(character()), nrow(plan$schema)), names = plan$schema$name)
    terms <- stats::terms(formula, data = as.data.frame(attributes, check.names = FALSE))
    variables <- as.list(attr(terms, "variables"))[-1]
    if (is.call(variables[[1]])) {
        failed("the outcome must be an attribute or a kept column, not `", deparse(variables[[1]]), "`")
    }
    columns <- list()
    for (variable in variables) {
        label <- paste(deparse(variable, width.cutoff = 500), collapse = " ")
        columns[[label]] <- if (is.call(variable)) transformed(variable, label, plan, responses) else label
    }
    for (made in Filter(is.data.frame, columns)) responses[names(made)] <- made
    names_of <- function(label) if (is.data.frame(columns[[label]])) paste0("`", names(columns[[label]]), "`") else columns[[label]]
    factors <- attr(terms, "factors")
    term <- function(place) {
        parts <- lapply(rownames(factors)[factors[, place] > 0], names_of)
        apply(expand.grid(parts, stringsAsFactors = FALSE), 1, paste, collapse = ":")
    }
    right <- c(if (length(factors) > 0) unlist(lapply(seq_len(ncol(factors)), term)), if (attr(terms, "intercept") == 0) "-1")
    text <- paste(names(columns)[1], "~", if (length(right) > 0) gsub("+ -1", "- 1", paste(right, collapse = " + "), fixed = TRUE) else "1")
    computed <- lapply(names(Filter(is.data.frame, columns)), function(label) {
        list(call = attr(columns[[label]], "call"), columns = names(columns[[label]]))
    })
    list(text = text, responses = responses, computed = computed)
}

# Whether a variable of the formula is a call, such as log(age).
has_calls <- function(formula) {
    names <- setdiff(all.names(formula), c("~", "+", "-", "*", ":", "(", all.vars(formula)))
    length(names) > 0
}

# The columns of a transformed one, and the call that makes them of other data: of `poly(age, 2)` there are two. Answers that were randomized cannot be transformed.
transformed <- function(variable, label, plan, responses) {
    about <- all.vars(variable)
    if (!is.data.frame(responses)) {
        failed("`", label, "` is computed from a column of the responses: give them as a data frame, not as files")
    }
    wrong <- about[!vapply(about, function(name) is.numeric(responses[[name]]) && !name %in% plan$schema$name, NA)]
    if (length(wrong) > 0) {
        failed("`", label, "` cannot be computed: `", wrong[1], "` is not a numeric column that was kept")
    }
    evaluated <- eval(variable, as.list(responses), baseenv_of_stats())
    values <- as.matrix(evaluated)
    if (!is.numeric(values) || nrow(values) != nrow(responses) || !all(is.finite(values))) {
        failed("`", label, "` must be a finite number for each response")
    }
    names <- if (ncol(values) == 1) label else paste0(label, seq_len(ncol(values)))
    made <- as_columns(stats::setNames(lapply(seq_len(ncol(values)), function(place) as.numeric(values[, place])), names), nrow(values))
    # Of other data the same basis is computed, as by predict.lm().
    structure(made, call = stats::makepredictcall(evaluated, variable))
}

# Where functions such as log and poly are found.
baseenv_of_stats <- function() {
    asNamespace("stats")
}
