# Plans: what is randomized, how, and with which guarantee.

#' Make a plan
#'
#' Runs `candor design`: what is randomized, how, and with which certified guarantee.
#'
#' @param schema A schema of [candor_schema()], or the path of one (TOML).
#' @param method How to randomize, such as `"workload"` (the least error of `tables` at a total `epsilon`) or `"independent"`
#'   (every attribute on its own, the default); `candor design --help` lists all.
#' @param epsilon The total epsilon of a record.
#' @param tables The tables that matter: `"marginals"`, `"pairs"`, or names: `c("Sex,Income", "Age")`, or
#'   `list(c("Sex", "Income"), "Age")`.
#' @param respondents How many people will answer.
#' @param ... Further options of the command, with `_` for `-`: `attribute_epsilon = c(1, 0.5)`, `clusters = c("a,b", "c")`.
#' @return A plan of class `candor_plan`: a list with `text` (the plan, JSON, as it is published), `fingerprint`, `epsilon`,
#'   `attributes` (a data frame with the epsilons of each), `schema` and `design` (all that the command says). Its `summary` is the data frame.
#' @examples
#' schema <- candor_schema(warpbreaks[c("wool", "tension")])
#' plan <- candor_design(schema, "workload", epsilon = 2, tables = "pairs", respondents = 5000)
#' plan
#' @export
candor_design <- function(schema, method = NULL, epsilon = NULL, tables = NULL, respondents = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    file <- file.path(folder, "plan.json")
    options <- flags(output = file, method = method, epsilon = epsilon, tables = tables, respondents = respondents, ...)
    design <- run_json(c("design", schema_file(schema, folder), options))
    for (note in design$notes) message(note)
    plan_of(utf8_lines(file), design$epsilon$certified, design$attributes, attr(design, "details"))
}

#' Read and save plans
#'
#' A plan is public, and everybody who answers or analyses uses the same. `candor_plan` reads one and checks all that it says;
#' `candor_save` writes it for others, as the command would.
#'
#' @param file The path of a plan (JSON).
#' @param plan A plan.
#' @param force Replace another plan that exists at `file`; responses made with it cannot be analyzed without it.
#' @return `candor_plan` a plan, as [candor_design()] does, without `design`; `candor_save` the path, invisibly.
#' @examples
#' plan <- candor_design(candor_schema(warpbreaks[c("wool", "tension")]), epsilon = 2)
#' file <- tempfile(fileext = ".json")
#' candor_save(plan, file)
#' identical(candor_plan(file)$fingerprint, plan$fingerprint)
#' @export
candor_plan <- function(file) {
    audit <- run_json(c("audit", file))
    plan_of(utf8_lines(file), audit$epsilon, audit$attributes, NULL)
}

#' @rdname candor_plan
#' @export
candor_save <- function(plan, file, force = FALSE) {
    check_plan(plan)
    if (!force) check_place(file, plan$fingerprint)
    writeLines(plan$text, file, useBytes = TRUE)
    invisible(file)
}

# A plan that responses depend on is not replaced by another.
check_place <- function(file, fingerprint) {
    if (!file.exists(file) || file.size(file) == 0) {
        return(invisible())
    }
    found <- tryCatch(jsonlite::fromJSON(file, simplifyVector = FALSE), error = function(e) NULL)
    if (!is.list(found) || !identical(found$format, "candor plan")) {
        failed(file, " already exists: it is not a plan. Choose another file, or say `force = TRUE`")
    }
    if (!identical(found$fingerprint, fingerprint)) {
        failed("Different plan exists at ", file, "; responses made with it need it (its fingerprint is ", found$fingerprint,
               "). Choose another file, or say `force = TRUE` if there are no such responses", verdict = "plan-in-use")
    }
}

plan_of <- function(text, epsilon, attributes, design) {
    content <- jsonlite::fromJSON(paste(text, collapse = "\n"), simplifyVector = FALSE)
    attributes <- rows(attributes)
    plan <- list(text = text, fingerprint = content$fingerprint, epsilon = or_na(epsilon), attributes = attributes,
                 schema = plan_schema(content), design = design)
    structure(plan, class = "candor_plan")
}

check_plan <- function(plan) {
    if (!inherits(plan, "candor_plan")) {
        failed("`plan` is of class ", class(plan)[1], ": make it by candor_design(), or read it by candor_plan()")
    }
}

# Where the command finds a plan.
plan_file <- function(plan, folder) {
    check_plan(plan)
    candor_save(plan, file.path(folder, "plan.json"))
}

#' @export
print.candor_plan <- function(x, ...) {
    cat("A plan", if (!is.null(x$design)) paste0(" by the method ", x$design$method), " with ",
        if (is.na(x$epsilon)) "no finite epsilon" else paste("epsilon", format(x$epsilon, digits = 4)), "\n", sep = "")
    cat(x$fingerprint, "\n", sep = "")
    shown <- c("name", "categories", "requested", "marginal_epsilon", "conditional_epsilon")
    print(x$attributes[intersect(shown, names(x$attributes))], digits = 4, row.names = FALSE)
    invisible(x)
}

#' @export
summary.candor_plan <- function(object, ...) {
    object$attributes
}
