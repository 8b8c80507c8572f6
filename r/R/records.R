#' Records made from estimates: weighted answers, and synthetic people
#'
#' `candor_rake` runs `candor rake`: weights for the responses, so that weighted counts of answers agree with the estimates.
#' `candor_synthesize` runs `candor synthesize`: records of people who do not exist, drawn from the estimates.
#'
#' @param plan,responses As in [candor_estimate()].
#' @param records How many records to make; as many as there are responses by default.
#' @param ... Further options of the command, such as `method = "tree"`.
#' @return A data frame of class `candor_records` with the attributes as factors, and of `candor_rake` the column `candor_weight`.
#'   `candor_details(x)` says how well it went, such as `converged` and `largest_margin_error`.
#' @examples
#' people <- as.data.frame(Titanic)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Class", "Sex", "Survived")]
#' plan <- candor_design(candor_schema(people), "joint", epsilon = 4)
#' responses <- candor_randomize(plan, people)
#' xtabs(candor_weight ~ Class + Survived, candor_rake(plan, responses))
#' head(candor_synthesize(plan, responses, records = 100))
#' @export
candor_rake <- function(plan, responses, ...) {
    records_of("rake", plan, responses, "Weighted answer records", ...)
}

#' @rdname candor_rake
#' @export
candor_synthesize <- function(plan, responses, records = NULL, ...) {
    records_of("synthesize", plan, responses, "Synthetic records: these people do not exist", records = records, ...)
}

records_of <- function(verb, plan, responses, about, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    file <- file.path(folder, "records.csv")
    done <- run_json(c(verb, plan_file(plan, folder), response_files(responses, folder), flags(output = file, ...)))
    if (!is.null(done$reason)) warning(done$reason, call. = FALSE)
    frame <- answers_of(read_csv(file), plan$schema)
    numbers <- grepl("^candor_(weight|count)$", names(frame))
    frame[numbers] <- lapply(frame[numbers], as.numeric)
    result(frame, "candor_records", about, done)
}
