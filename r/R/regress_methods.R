# What R expects of a fitted model.

#' @export
coef.candor_regress <- function(object, ...) {
    stats::setNames(object$estimate, coefficient_names(object))
}

coefficient_names <- function(object) {
    several <- length(unique(object$category)) > 1
    ifelse(several & !is.na(object$category), paste0(object$category, ": ", object$term), object$term)
}

#' @export
confint.candor_regress <- function(object, parm = NULL, level = NULL, ...) {
    stated <- candor_details(object)$confidence
    if (!is.null(level) && !isTRUE(all.equal(level, stated))) {
        failed("these limits are of confidence ", stated, "; fit again with confidence = ", level)
    }
    limits <- cbind(ifelse(is.na(object$low), -Inf, object$low), ifelse(is.na(object$high), Inf, object$high))
    dimnames(limits) <- list(coefficient_names(object), paste(format(100 * c(1 - stated, 1 + stated) / 2, trim = TRUE), "%"))
    if (is.null(parm)) limits else limits[parm, , drop = FALSE]
}

#' @export
logLik.candor_regress <- function(object, ...) {
    structure(attr(object, "log_likelihood"), df = nrow(object), nobs = stats::nobs(object), class = "logLik")
}

#' @export
nobs.candor_regress <- function(object, ...) {
    attr(object, "respondents")
}

#' @export
formula.candor_regress <- function(x, ...) {
    attr(x, "formula")
}

#' @importFrom stats coef confint formula getCall logLik nobs
#' @export
getCall.candor_regress <- function(x, ...) {
    attr(x, "call")
}

#' @rawNamespace S3method(generics::tidy, candor_regress)
tidy.candor_regress <- function(x, conf.int = FALSE, exponentiate = FALSE, ...) {
    scale <- if (exponentiate) exp else identity
    level <- if (length(unique(x$category)) > 1) x$category
    frame <- data.frame(term = x$term, estimate = scale(x$estimate), std.error = x$standard_error, statistic = x$statistic,
                        p.value = x$p_value)
    if (!is.null(level)) frame <- cbind(y.level = level, frame)
    if (conf.int) {
        limits <- stats::confint(x)
        frame$conf.low <- scale(unname(limits[, 1]))
        frame$conf.high <- scale(unname(limits[, 2]))
    }
    tibble_like(frame)
}

#' @rawNamespace S3method(generics::glance, candor_regress)
glance.candor_regress <- function(x, ...) {
    likelihood <- stats::logLik(x)
    tibble_like(data.frame(method = attr(x, "method"), converged = attr(x, "converged"), boundary = attr(x, "boundary"),
                           logLik = as.numeric(likelihood), AIC = stats::AIC(likelihood), nobs = stats::nobs(x)))
}

# What broom returns, if the package is there.
tibble_like <- function(frame) {
    if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(frame) else frame
}
