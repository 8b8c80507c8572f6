#' The experiments of the papers on your own data
#'
#' Runs `candor experiment`: simulations on true records, with the parameters of each paper under its names and symbols. What they
#' give protects nobody.
#'
#' @param name `"multidimensional"`, `"optimized-rr"`, `"optrr"` or `"l-diversity"`.
#' @param data A data frame of true records.
#' @param schema A schema of [candor_schema()], or the path of one (TOML); by default that of `data`.
#' @param ... Further options of the command, such as `p = 0.7`, `coverage = c(0.1, 0.3)`, `repeats = 20`, `epsilon_i = c(1, 8)`,
#'   `delta = 0.9` or `gamma = c(10, 20)`.
#' @return A data frame of class `candor_experiment`, one row per plotted point: `plot`, `series`, `x`, `y`. `candor_details(x)` has the
#'   `verdict` and the `tables` of the experiment.
#' @examples
#' candor_experiment("l-diversity", warpbreaks[c("wool", "tension")], gamma = c(3, 5), l = 2)
#' @export
candor_experiment <- function(name, data, schema = NULL, ...) {
    check_frame(data)
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    if (is.null(schema)) schema <- candor_schema(data)
    made <- run_json(c("experiment", name, "-", flags(schema = schema_file(schema, folder), ...)), data)
    points <- function(plot) {
        each <- function(series) lapply(series$points, function(at) list(plot = plot$name, series = series$name, x = at[[1]], y = at[[2]]))
        unlist(lapply(plot$series, each), recursive = FALSE)
    }
    result(rows(unlist(lapply(made$plots, points), recursive = FALSE)), "candor_experiment", made$verdict, made)
}
