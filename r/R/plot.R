#' Plot estimates
#'
#' Dots with their confidence intervals, one row per cell. Shares are in percent, clipped to 0 and 100; hidden cells are left out, and
#' of cells marked `under` only the interval is drawn.
#'
#' @param x Estimates of [candor_estimate()], or a fit of [candor_regress()].
#' @param table Which of the tables, as in `x$table`; the first by default.
#' @param ... Further arguments of [graphics::plot()].
#' @return `x`, invisibly.
#' @examples
#' people <- as.data.frame(HairEyeColor)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Hair", "Eye", "Sex")]
#' plan <- candor_design(candor_schema(people), "workload", epsilon = 4, tables = "marginals")
#' plot(candor_estimate(plan, candor_randomize(plan, people)), table = "Eye")
#' @export
plot.candor_estimate <- function(x, table = x$table[1], ...) {
    if (nrow(x) == 0 || !all(table %in% x$table)) {
        failed("there is no table `", table, "` among the estimates; expected one of ", paste(unique(x$table), collapse = ", "))
    }
    cells <- as.data.frame(x)
    cells <- cells[cells$table == table & cells$quantity %in% c("share", "conditional share") & cells$reliability != "hidden", ]
    if (nrow(cells) == 0) {
        failed("no share of `", table, "` is precise enough to plot")
    }
    labels <- do.call(paste, c(unname(lapply(known_columns(cells[vapply(cells, is.factor, NA)]), as.character)), sep = ", "))
    within <- function(shares) 100 * pmin(1, pmax(0, shares))
    dots <- ifelse(cells$reliability == "under", NA, within(cells$shown_estimate))
    dot_plot(labels, dots, within(cells$low), within(cells$high), paste0(table, ", %"), ...)
    invisible(x)
}

#' @rdname plot.candor_estimate
#' @export
plot.candor_regress <- function(x, ...) {
    shown <- x$term != "(constant)" & x$term != "(intercept)"
    known <- c(x$low, x$high, x$estimate)
    ends <- range(known[is.finite(known)], 0)
    low <- ifelse(is.na(x$low), ends[1], x$low)
    high <- ifelse(is.na(x$high), ends[2], x$high)
    dot_plot(coefficient_names(x)[shown], x$estimate[shown], low[shown], high[shown], "coefficient", ...)
    graphics::abline(v = 0, lty = 3)
    invisible(x)
}

dot_plot <- function(labels, dots, low, high, about, ...) {
    rows <- rev(seq_along(labels))
    room <- max(4, min(20, 0.55 * max(nchar(labels))))
    before <- graphics::par(mar = c(4, room, 1, 1))
    on.exit(graphics::par(before))
    graphics::plot(dots, rows, xlim = range(low, high, 0), ylim = c(0.5, length(labels) + 0.5), yaxt = "n", xlab = about, ylab = "",
                   type = "n", ...)
    graphics::axis(2, at = rows, labels = labels, las = 1, tick = FALSE)
    graphics::segments(low, rows, high, rows, col = "#A9CBE8", lwd = 6, lend = 1)
    graphics::points(dots, rows, pch = 19, col = "#0B5C9C")
}
