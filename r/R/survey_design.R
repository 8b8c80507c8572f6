# Design objects of the survey package, in the words of the command: columns beside the responses, and the options that name them.

# `design` is a survey.design of the same people, in the same order. Its weights, strata, primary sampling units and population sizes
# become columns.
with_design <- function(responses, design, options) {
    if (is.null(design)) {
        return(list(responses = responses, options = options))
    }
    if (!is.data.frame(responses)) {
        failed("`design` describes the rows of a data frame: give the responses as one, not as files")
    }
    twice <- intersect(names(Filter(Negate(is.null), options)), c("weights", "strata", "psu", "fpc", "replicate_weights"))
    if (length(twice) > 0) {
        failed("`", twice[1], "` is part of `design`: give one of them")
    }
    columns <- if (inherits(design, "svyrep.design")) replicate_columns(design) else design_columns(design)
    if (nrow(columns$table) != nrow(responses)) {
        failed("`design` is about ", nrow(columns$table), " people, and there are ", nrow(responses), " responses")
    }
    responses[names(columns$table)] <- columns$table
    list(responses = responses, options = c(options[setdiff(names(options), names(columns$options))], columns$options))
}

design_columns <- function(design) {
    if (!inherits(design, "survey.design2")) {
        failed("`design` is of class ", class(design)[1], ": make it by svydesign() or svrepdesign() of the package survey")
    }
    stages <- ncol(design$cluster)
    if (stages > 1) {
        message("the design has ", stages, " stages: variances take the primary sampling units of the first")
    }
    units <- design$cluster[[1]]
    table <- list(design_weight = as.numeric(stats::weights(design)))
    options <- list(weights = "design_weight")
    if (isTRUE(design$has.strata)) {
        table$design_stratum <- as.character(design$strata[[1]])
        options$strata <- "design_stratum"
    }
    table$design_psu <- as.character(units)
    options$psu <- "design_psu"
    if (!is.null(design$fpc$popsize)) {
        table$design_population <- as.numeric(design$fpc$popsize[, 1])
        options$fpc <- "design_population"
    }
    list(table = as_columns(table, length(units)), options = options)
}

replicate_columns <- function(design) {
    kinds <- c(JK1 = "jk1", JK2 = "jk2", JKn = "jkn", BRR = "brr", Fay = "fay", bootstrap = "bootstrap", subbootstrap = "bootstrap",
               mrbbootstrap = "bootstrap", successive.difference = "sdr", ACS = "sdr")
    method <- kinds[design$type]
    if (is.na(method)) {
        failed("replicate weights of type ", design$type, " are not known; expected one of ", paste(names(kinds), collapse = ", "))
    }
    replicates <- as.matrix(stats::weights(design, "analysis"))
    table <- c(list(design_weight = as.numeric(stats::weights(design, "sampling"))),
               stats::setNames(lapply(seq_len(ncol(replicates)), function(place) as.numeric(replicates[, place])),
                               paste0("design_replicate_", seq_len(ncol(replicates)))))
    options <- list(weights = "design_weight", replicate_weights = "design_replicate_*", replicate_method = unname(method),
                    replicate_scale = design$scale, replicate_rscales = design$rscales,
                    replicate_about = if (isTRUE(design$mse)) "estimate" else "mean")
    list(table = as_columns(table, nrow(replicates)), options = options)
}
