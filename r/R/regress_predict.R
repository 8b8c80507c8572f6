# What a fitted model says of people: its model matrix, predictions, and what emmeans needs.

#' @importFrom stats vcov predict anova model.matrix terms
#' @export
vcov.candor_regress <- function(object, ...) {
    details <- candor_details(object)
    covariance <- do.call(rbind, lapply(details$covariance, unlist))
    dimnames(covariance) <- list(details$terms, details$terms)
    covariance
}

# Where the plan's attributes of a model have their categories.
model_levels <- function(object) {
    attr(object, "levels")
}

# The parts of a term such as `Sex=Male:age`: names of columns, and categories of attributes. Names may hold any character.
term_parts <- function(term, known) {
    if (term %in% known) {
        return(term)
    }
    for (place in gregexpr(":", term, fixed = TRUE)[[1]]) {
        first <- substr(term, 1, place - 1)
        if (place > 0 && first %in% known) {
            return(c(first, term_parts(substr(term, place + 1, nchar(term)), known)))
        }
    }
    failed("the term `", term, "` cannot be computed from the columns of `newdata`")
}

# A column for each part that terms are made of: 1 where an attribute has the category, else 0; numbers as they are.
part_columns <- function(object, newdata) {
    levels <- model_levels(object)
    columns <- list()
    for (name in intersect(names(newdata), names(levels))) {
        values <- as.character(newdata[[name]])
        wrong <- setdiff(values[!is.na(values)], levels[[name]])
        if (length(wrong) > 0) {
            failed("`", name, "` has no category \"", wrong[1], "\"; expected one of ", paste(levels[[name]], collapse = ", "))
        }
        columns[paste0(name, "=", levels[[name]])] <- lapply(levels[[name]], function(label) as.numeric(values == label))
    }
    numbers <- setdiff(names(newdata), names(levels))
    columns[numbers] <- lapply(newdata[numbers], function(column) suppressWarnings(as.numeric(column)))
    columns
}

# Columns that the formula computes, such as log(age), with the basis that it had when the model was fitted.
computed_columns <- function(object, newdata) {
    for (variable in attr(object, "computed")) {
        values <- as.matrix(eval(variable$call, as.list(newdata), baseenv_of_stats()))
        newdata[variable$columns] <- lapply(seq_along(variable$columns), function(place) as.numeric(values[, place]))
    }
    newdata
}

is_constant <- function(terms) {
    terms %in% c("(constant)", "(intercept)", "(threshold)")
}

#' Predictions, tests and model matrix of a fitted regression
#'
#' A fit of [candor_regress()] holds no data, so that these take `newdata`: true values of the predictors, whose categories are those of
#' the plan. `emmeans::emmeans(fit, ~ Sex)` works for all families but the multinomial.
#'
#' @param object A fit of [candor_regress()].
#' @param newdata A data frame with the predictors of the model.
#' @param type `"response"`: probabilities (of several categories a matrix), or of a linear or log-linear model means. `"link"`: log odds or log means; of an
#'   ordinal model without the thresholds.
#' @param se.fit Whether standard errors of the linear predictor are wanted, too; not of probabilities.
#' @param ... Further fits for `anova`; else nothing.
#' @return `predict` a vector or a matrix, with `se.fit` a list of `fit` and `se.fit`. `anova` of one fit tests each term (Wald), of several
#'   nested ones each against the one before: by the likelihood ratio if all have a likelihood and a simple random sample, else by Wald's
#'   test of the coefficients that are added. `model.matrix` has a column for each coefficient; broom's `augment` gives `newdata` with
#'   `.fitted` and, of the linear predictor, `.se.fit`.
#' @examples
#' people <- as.data.frame(UCBAdmissions)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Admit", "Gender", "Dept")]
#' plan <- candor_design(candor_schema(people, public = c("Gender", "Dept")), epsilon = 4)
#' responses <- candor_randomize(plan, people)
#' fit <- candor_regress(Admit ~ Gender + Dept, plan, responses)
#' predict(fit, data.frame(Gender = c("Male", "Female"), Dept = "B"))
#' anova(candor_regress(Admit ~ Gender, plan, responses), fit)
#' @export
predict.candor_regress <- function(object, newdata, type = c("response", "link"), se.fit = FALSE, ...) {
    type <- match.arg(type)
    if (missing(newdata) || !is.data.frame(newdata)) {
        failed("a fit holds no data: give `newdata`, a data frame with the predictors of the model")
    }
    family <- candor_details(object)$family
    matrix <- stats::model.matrix(object, newdata)
    estimates <- stats::coef(object)
    if (family %in% c("multinomial", "ordinal") && se.fit) {
        failed("`se.fit` is about one linear predictor; a ", family, " model has several")
    }
    if (family == "multinomial") {
        return(multinomial_predictions(object, matrix, type))
    }
    link <- drop(matrix %*% estimates[colnames(matrix)])
    if (family == "ordinal" && type == "response") {
        return(ordinal_predictions(object, link))
    }
    counts <- family %in% c("poisson", "quasi-poisson")
    fitted <- if (type == "link") link else if (family == "binary") stats::plogis(link) else if (counts) exp(link) else link
    if (!se.fit) {
        return(fitted)
    }
    covariance <- stats::vcov(object)[colnames(matrix), colnames(matrix), drop = FALSE]
    error <- sqrt(rowSums((matrix %*% covariance) * matrix))
    if (family == "binary" && type == "response") error <- error * fitted * (1 - fitted)
    if (counts && type == "response") error <- error * fitted
    list(fit = fitted, se.fit = error)
}

multinomial_predictions <- function(object, matrix, type) {
    categories <- unique(object$category)
    links <- vapply(categories, function(category) {
        rows <- object$category == category
        drop(matrix[, object$term[rows], drop = FALSE] %*% object$estimate[rows])
    }, numeric(nrow(matrix)))
    links <- cbind(0, matrix(links, nrow(matrix)))
    colnames(links) <- c(candor_details(object)$reference, categories)
    if (type == "link") links else exp(links) / rowSums(exp(links))
}

# A threshold is the log odds of a category above it; what a linear predictor adds raises the odds of the higher ones.
ordinal_predictions <- function(object, link) {
    thresholds <- object$estimate[is_constant(object$term)]
    labels <- model_levels(object)[[candor_details(object)$response]]
    above <- cbind(1, outer(link, thresholds, function(link, threshold) stats::plogis(link - threshold)), 0)
    probabilities <- above[, -ncol(above), drop = FALSE] - above[, -1, drop = FALSE]
    colnames(probabilities) <- labels
    probabilities
}

#' @rdname predict.candor_regress
#' @export
model.matrix.candor_regress <- function(object, newdata, ...) {
    newdata <- computed_columns(object, newdata)
    columns <- part_columns(object, newdata)
    wanted <- unique(if (length(unique(object$category)) > 1) object$term else coefficient_names(object))
    if (candor_details(object)$family == "ordinal") wanted <- object$term[!is_constant(object$term)]
    column <- function(term) {
        if (is_constant(term)) rep(1, nrow(newdata)) else Reduce(`*`, columns[term_parts(term, names(columns))])
    }
    matrix <- vapply(wanted, column, numeric(nrow(newdata)))
    matrix(matrix, nrow(newdata), dimnames = list(NULL, wanted))
}

#' @rdname predict.candor_regress
#' @export
anova.candor_regress <- function(object, ...) {
    others <- list(...)
    if (length(others) == 0) {
        return(term_tests(object))
    }
    fits <- c(list(object), others)
    if (!all(vapply(fits, inherits, NA, "candor_regress"))) {
        failed("anova compares fits of candor_regress() with each other")
    }
    fits <- fits[order(vapply(fits, nrow, 0L))]
    tests <- lapply(seq_along(fits)[-1], function(place) nested_test(fits[[place - 1]], fits[[place]]))
    of <- function(field) c(NA, vapply(tests, `[[`, 0, field))
    table <- data.frame(Coefficients = vapply(fits, nrow, 0L), logLik = vapply(fits, attr, 0, "log_likelihood"), Df = of("added"),
                        Chisq = of("statistic"), `Pr(>Chisq)` = of("p_value"), check.names = FALSE)
    models <- paste0("Model ", seq_along(fits), ": ", vapply(fits, model_text, ""))
    by <- unique(vapply(tests, `[[`, "", "by"))
    structure(table, heading = c(models, paste0("Each tested against the one before, by ", paste(by, collapse = " or "), "\n")),
              class = c("anova", "data.frame"))
}

model_text <- function(fit) {
    candor_details(fit)$model
}

nested_test <- function(smaller, larger) {
    added <- setdiff(coefficient_names(larger), coefficient_names(smaller))
    same <- candor_details(smaller)$response == candor_details(larger)$response && stats::nobs(smaller) == stats::nobs(larger)
    if (!same || length(added) == 0 || !all(coefficient_names(smaller) %in% coefficient_names(larger))) {
        failed("`", model_text(smaller), "` is not nested in `", model_text(larger), "` of the same responses")
    }
    likelihoods <- c(attr(smaller, "log_likelihood"), attr(larger, "log_likelihood"))
    by_likelihood <- !anyNA(likelihoods) && is.null(candor_details(larger)$design)
    statistic <- if (by_likelihood) 2 * diff(likelihoods) else wald(larger, added)
    list(by = if (by_likelihood) "the likelihood ratio" else "Wald's test", added = length(added), statistic = statistic,
         p_value = stats::pchisq(statistic, length(added), lower.tail = FALSE))
}

wald <- function(fit, names) {
    estimates <- stats::coef(fit)[names]
    drop(estimates %*% solve(stats::vcov(fit)[names, names, drop = FALSE], estimates))
}

# Wald's test of each term: of all its coefficients together.
term_tests <- function(object) {
    about <- !is_constant(object$term)
    known <- unlist(Map(function(name, labels) paste0(name, "=", labels), names(model_levels(object)), model_levels(object)))
    origin <- rep(names(model_levels(object)), lengths(model_levels(object)))
    name <- function(term) {
        parts <- term_parts(term, c(known, attr(object, "columns")))
        paste(ifelse(parts %in% known, origin[match(parts, known)], parts), collapse = ":")
    }
    of <- vapply(object$term[about], name, "")
    names <- split(coefficient_names(object)[about], factor(of, unique(of)))
    statistic <- vapply(names, function(some) wald(object, some), 0)
    table <- data.frame(Df = lengths(names), Chisq = statistic, `Pr(>Chisq)` = stats::pchisq(statistic, lengths(names), lower.tail = FALSE),
                        check.names = FALSE)
    structure(table, heading = paste0("Wald tests of the terms of ", model_text(object), "\n"), class = c("anova", "data.frame"))
}

#' @rawNamespace S3method(generics::augment, candor_regress)
augment.candor_regress <- function(x, data = NULL, newdata = data, ...) {
    if (is.null(newdata)) {
        failed("a fit holds no data: give `newdata`, a data frame with the predictors of the model")
    }
    predicted <- stats::predict(x, newdata, type = "response")
    if (is.matrix(predicted)) {
        colnames(predicted) <- paste0(".fitted.", colnames(predicted))
        return(tibble_like(cbind(newdata, predicted)))
    }
    link <- stats::predict(x, newdata, type = "link", se.fit = TRUE)
    tibble_like(cbind(newdata, data.frame(.fitted = predicted, .se.fit = link$se.fit)))
}

# emmeans asks for the predictors, then for a basis. The grid is of the categories of the plan and of the means of numeric columns.

#' @rawNamespace S3method(emmeans::recover_data, candor_regress)
recover_data.candor_regress <- function(object, data = NULL, ...) {
    formula <- attr(object, "formula")
    if (is.null(data)) data <- attr(object, "grid")
    if (anyNA(data)) {
        failed("the means of numeric columns of files are not known: give `data`, a data frame with the predictors")
    }
    # Terms of plain names: what the formula computes of them is computed from the grid.
    if (length(attr(object, "computed")) > 0) formula <- stats::reformulate(paste0("`", names(data), "`"))
    call <- as.call(list(as.name("candor_regress"), formula = formula))
    emmeans::recover_data(call, stats::delete.response(stats::terms(formula, data = data)), na.action = NULL, data = data)
}

#' @rawNamespace S3method(emmeans::emm_basis, candor_regress)
emm_basis.candor_regress <- function(object, trms, xlev, grid, ...) {
    family <- candor_details(object)$family
    if (family == "multinomial") {
        failed("emmeans is not available for multinomial models: predict() gives the probabilities")
    }
    matrix <- stats::model.matrix(object, grid)
    names <- colnames(matrix)
    log <- list(tran = "log", inv.lbl = "rate", estName = "log mean")
    logit <- list(tran = "logit", inv.lbl = "prob", estName = "logit")
    misc <- switch(family, binary = logit, poisson = log, "quasi-poisson" = log, list())
    list(X = matrix, bhat = unname(stats::coef(object)[names]), nbasis = matrix(NA), V = unname(stats::vcov(object)[names, names]),
         dffun = function(k, dfargs) Inf, dfargs = list(), misc = misc)
}
