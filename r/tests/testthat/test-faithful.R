# Nothing that the command prints may be lost on the way to R.

people <- people_of(Titanic, c("Class", "Sex", "Age", "Survived"))
people$income <- rep_len(c(10, 20, 45), nrow(people))
plan <- candor_design(candor_schema(people[1:4], public = "Age"), "joint", epsilon = 6)
responses <- simulated(plan, people, keep = "income")

expect_nothing_lost <- function(shown, printed) {
    # As text, because R makes one vector of numbers and labels.
    text <- function(object) sort(unique(unlist(rapply(object, function(leaf) {
        leaf <- if (is.factor(leaf)) as.character(leaf) else leaf
        if (is.numeric(leaf)) sprintf("%.15g", leaf) else as.character(leaf)
    }, how = "unlist"))))
    expect_setequal(setdiff(names(candor_details(shown)), "seconds"), names(printed))
    missing <- setdiff(text(printed), c(if (is.data.frame(shown)) text(unclass(as.data.frame(shown))), text(candor_details(shown))))
    expect_equal(missing, character())
    expect_gt(length(text(printed)), 3)
}

# What the command prints about the same plan and responses.
printed <- function(verb, ..., responses_too = TRUE) {
    folder <- tempfile()
    dir.create(folder)
    candor_save(plan, file.path(folder, "plan.json"))
    file <- file.path(folder, "responses.csv")
    utils::write.csv(as.data.frame(responses), file, row.names = FALSE, na = "")
    arguments <- c(verb, file.path(folder, "plan.json"), if (responses_too) c(file, "--unmarked"), "--json", ...)
    output <- system2(candor_command(), shQuote(arguments), stdout = TRUE, stderr = FALSE)
    # Also where the locale is another.
    Encoding(output) <- "UTF-8"
    json <- jsonlite::fromJSON(paste(output, collapse = "\n"), simplifyVector = FALSE)
    json$seconds <- NULL
    json
}

test_that("no number of a verb is lost", {
    lost <- function(shown, ...) expect_nothing_lost(quietly(shown), printed(...))
    lost(candor_estimate(plan, responses, tables = "pairs"), "estimate", "--tables=pairs")
    lost(candor_estimate(plan, responses, tables = "Survived | Sex", by = "Age"), "estimate", "--tables=Survived | Sex", "--by=Age")
    lost(candor_estimate(plan, responses, tables = "Survived", compare_groups = "Age"), "estimate", "--tables=Survived", "--compare-groups=Age")
    values <- "Class:1,2,3,4"
    lost(candor_estimate(plan, responses, mean = "Class", values = values, quantile = "Class:0.25,0.5"),
         "estimate", "--mean=Class", paste0("--values=", values), "--quantile=Class:0.25,0.5")
    lost(candor_test(plan, responses, "Sex", "Survived", by = "Age"), "test", "--independence=Sex,Survived", "--by=Age")
    lost(candor_test(plan, responses, tables = "Survived", compare_groups = "Age"), "test", "--tables=Survived", "--compare-groups=Age")
    lost(candor_query(plan, responses, "Sex = Female", by = "Age"), "query", "--where=Sex = Female", "--by=Age")
    lost(candor_regress(Survived ~ Sex + income, plan, responses), "regress", "--model=Survived ~ Sex + income")
    lost(candor_compliance(plan, responses), "compliance")
    lost(candor_associations(plan, responses), "associations", "--protocol=attribute")
    expect_nothing_lost(candor_audit(plan), printed("audit", responses_too = FALSE))
    expect_nothing_lost(candor_explain(plan), printed("explain", responses_too = FALSE))
    expect_nothing_lost(candor_sample_size(plan, margin = 0.04), printed("sample-size", "--margin=0.04", responses_too = FALSE))
})

test_that("no number of a verb about plans and schemas is lost", {
    folder <- tempfile()
    dir.create(folder)
    schema <- candor_schema(people[1:4], public = "Age")
    file <- schema_file(schema, folder)
    said <- function(...) {
        output <- system2(candor_command(), shQuote(c(..., "--json")), stdout = TRUE, stderr = FALSE)
        # Also where the locale is another.
        Encoding(output) <- "UTF-8"
        output <- gsub(paste0(folder, "/"), "", output, fixed = TRUE)
        json <- jsonlite::fromJSON(paste(output, collapse = "\n"), simplifyVector = FALSE)
        json$seconds <- NULL
        json
    }
    plan_at <- function(name) file.path(folder, name)
    lost <- function(shown, ...) expect_nothing_lost(quietly(shown), said(...))
    lost(candor_compare(schema, epsilon = 2), "compare", file, "--epsilon=2")
    lost(candor_choose(schema, 20000, tables = "marginals"), "choose", file, "--respondents=20000", "--tables=marginals")
    lost(candor_device(schema, epsilon = 1.2), "device", file, "--epsilon=1.2", paste0("--output=", plan_at("device.json")))
    lost(candor_pareto(c(0.5, 0.3, 0.2), method = "exact", points = 3), "pareto", "--prior=0.5,0.3,0.2", "--method=exact", "--points=3")
    candor_save(plan, plan_at("plan.json"))
    lost(candor_matrix(plan, "Sex", exact = TRUE), "matrix", plan_at("plan.json"), "--attribute=Sex", "--exact")
    lost(candor_sample_size(plan, detect_difference = c(0.1, 0.2)), "sample-size", plan_at("plan.json"), "--detect-difference=0.1,0.2")
    design <- quietly(candor_design(schema, epsilon = 2))
    expect_setequal(setdiff(names(candor_details(design)), "seconds"), names(said("design", file, "--epsilon=2", paste0("--output=", plan_at("d.json")))))
    one <- quietly(candor_design(candor_schema(people["Sex"]), epsilon = 1))
    two <- quietly(candor_design(candor_schema(people["Class"]), epsilon = 1))
    expect_equal(candor_details(candor_combine(one, two))$epsilon, 2, tolerance = 1e-6)
    records <- quietly(candor_rake(plan, responses))
    expect_true(all(c("iterations", "converged", "largest_margin_error", "margins") %in% names(candor_details(records))))
    made <- quietly(candor_synthesize(plan, responses, records = 20))
    expect_true(all(c("links", "left_out", "untold", "largest_margin_error") %in% names(candor_details(made))))
    page <- quietly(suppressWarnings(candor_report(plan, responses, plan_at("page.html"), tables = "pairs", model = "Survived ~ Sex")))
    expect_true(all(c("estimates", "dependences", "regressions", "warnings", "attributes") %in% names(candor_details(page))))
})

test_that("a page repeats itself by names, not by files of a moment", {
    page <- tempfile(fileext = ".html")
    quietly(suppressWarnings(candor_report(plan, responses, page)))
    text <- paste(readLines(page, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
    expect_match(text, "responses.csv", fixed = TRUE)
    expect_false(grepl(basename(tempdir()), text, fixed = TRUE) || grepl("candor-[0-9a-f]{6,}/", text))
})

test_that("a loss would be found", {
    shown <- quietly(candor_test(plan, responses, "Sex", "Survived"))
    shown$p_value <- NULL
    attr(shown, "details")$p_value <- NULL
    lost <- tryCatch(expect_nothing_lost(shown, printed("test", "--independence=Sex,Survived")), expectation_failure = function(e) "lost")
    expect_equal(lost, "lost")
})

test_that("every command has a function, or a reason", {
    help <- system2(candor_command(), "--help", stdout = TRUE)
    verbs <- sub("^  ([a-z-]+) .*", "\\1", grep("^  [a-z][a-z-]+ {2,}[A-Z]", help, value = TRUE))
    expect_gt(length(verbs), 20)
    functions <- c(schema = "candor_schema", `sample-size` = "candor_sample_size")
    # What is a tour of the command, belongs to a shell, handles private keys, or makes the papers' exhibits.
    others <- c("completions", "man", "demo", "reproduce", "help", "sign", "verify", "experiment", "party", "evidence", "studio", "collect")
    wanted <- setdiff(verbs, others)
    named <- ifelse(wanted %in% names(functions), functions[wanted], paste0("candor_", gsub("-", "_", wanted)))
    expect_equal(setdiff(named, getNamespaceExports("candor")), character())
})

test_that("which quantity a row is stands in it", {
    estimate <- quietly(candor_estimate(plan, responses, tables = c("Survived | Sex", "Sex,Survived"), mean = "Class", values = "Class:1,2,3,4",
                                        quantile = "Class:0.5"))
    expect_equal(unique(estimate$quantity), c("conditional share", "share", "mean", "variance", "quantile"))
    expect_equal(unique(estimate$table), c("Survived | Sex", "Sex,Survived", "Class"))
    expect_equal(sum(estimate$estimate[estimate$table == "Sex,Survived"]), 1)
    expect_equal(sum(estimate$estimate[estimate$table == "Survived | Sex"]), 2)
    expect_equal(estimate$category[estimate$quantity == "quantile"], "3rd")
})

test_that("columns of a schema that it cannot have are an error, and conditions are kept", {
    schema <- candor_schema(people[1:4])
    schema$label <- "text"
    expect_error(candor_design(schema, epsilon = 1), "no column `label`", class = "candor_error")
    schema$label <- NULL
    schema$asked_if[4] <- "Sex = Male"
    asked <- quietly(candor_design(schema, epsilon = 1))
    expect_equal(asked$schema$categories[[4]], c("No", "Yes", "(not asked)"))
    expect_equal(asked$schema$asked_if[4], "'Sex' in ('Male')")
    expect_equal(quietly(candor_design(asked$schema, epsilon = 1))$fingerprint, asked$fingerprint)
    grid <- schema[1, ]
    grid$name <- "income"
    grid$grid <- list(c(0, 50, 100))
    grid$kind <- "ordinal"
    grid$categories <- list(c("0", "50", "100"))
    expect_equal(quietly(candor_design(grid, epsilon = 1))$schema$grid[[1]], c(0, 50, 100))
})
