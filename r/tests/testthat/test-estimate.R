people <- people_of(Titanic, c("Class", "Sex", "Age", "Survived"))
people$weight <- rep_len(c(1, 1.5, 0.75), nrow(people))
schema <- candor_schema(people, public = "Age", drop = "weight")
plan <- candor_design(schema, "clusters", clusters = c("Class,Sex", "Survived"), epsilon = 8)
responses <- simulated(plan, people, keep = "weight")

# What the command says by itself about the same plan and responses in files.
said <- function(...) {
    folder <- tempfile()
    dir.create(folder)
    candor_save(plan, file.path(folder, "plan.json"))
    file <- file.path(folder, "responses.csv")
    utils::write.csv(as.data.frame(responses), file, row.names = FALSE, na = "")
    output <- system2(candor_command(), c("estimate", file.path(folder, "plan.json"), file, "--unmarked", "--json", ...), stdout = TRUE, stderr = FALSE)
    jsonlite::fromJSON(paste(output, collapse = "\n"))
}

test_that("estimates are the command's, to the last digit, as factors with levels in order", {
    estimate <- quietly(candor_estimate(plan, responses, tables = list(c("Class", "Survived"), "Sex")))
    cells <- do.call(rbind, said("--tables", "'Class,Survived;Sex'")$tables$cells)
    for (column in c("estimate", "standard_error", "low", "high")) {
        expect_identical(estimate[[column]], cells[[column]])
    }
    expect_equal(levels(estimate$Class), c("1st", "2nd", "3rd", "Crew"))
    expect_equal(as.character(estimate$Class[1:8]), rep(levels(people$Class), each = 2))
    expect_equal(estimate$table, rep(c("Class,Survived", "Sex"), c(8, 2)))
    expect_true(all(is.na(estimate$Class[9:10])))
    expect_equal(dim(xtabs(estimate ~ Class + Survived, estimate)), c(4, 2))
})

test_that("estimates are near the truth", {
    estimate <- quietly(candor_estimate(plan, responses, tables = "Class,Sex", target = "table"))
    truth <- as.data.frame(prop.table(table(Class = people$Class, Sex = people$Sex)))
    both <- merge(as.data.frame(estimate), truth)
    # Eight standard scores of a fixed seed; beyond 6 less often than once in a hundred million.
    expect_true(all(abs(both$estimate - both$Freq) / both$standard_error < 6))
    expect_gt(max(abs(both$estimate - rev(both$Freq)) / both$standard_error), 6)
})

test_that("groups and weights are those of the command", {
    estimate <- quietly(candor_estimate(plan, responses, tables = "Survived", by = "Age", weights = "weight", confidence = 0.9))
    expect_equal(as.character(estimate$Age), c("Child", "Child", "Adult", "Adult"))
    expect_identical(estimate$estimate, unlist(lapply(said("--tables", "Survived", "--by", "Age", "--weights", "weight")$tables$cells, `[[`, "estimate")))
    expect_equal(summary(estimate)$group, c("Age=Child", "Age=Adult"))
    expect_output(print(estimate), "intervals at 90%")
})

test_that("a table that cannot be estimated has a reason", {
    sex <- candor_design(candor_schema(people["Class"]), "l-diversity", l = 2)
    answers <- simulated(sex, people)
    estimate <- quietly(candor_estimate(sex, answers, method = "iterative"))
    expect_s3_class(estimate, "candor_estimate")
    expect_equal(nrow(summary(estimate)), 1)
    workload <- quietly(candor_design(schema, "workload", epsilon = 2, tables = "pairs", respondents = 2201))
    refused <- quietly(candor_estimate(workload, simulated(workload, people), tables = "Class,Sex", method = "iterative"))
    expect_equal(nrow(refused), 0)
    expect_match(summary(refused)$reason, "does not apply")
    expect_output(print(refused), "Class,Sex: this method does not apply")
})

test_that("responses of another plan are refused, also of a part of them, and files are read", {
    other <- candor_design(schema, epsilon = 1)
    rejected <- expect_error(candor_estimate(other, responses), "Wrong plan: ", class = "candor_error")
    expect_identical(rejected$verdict, "wrong-plan")
    expect_error(candor_estimate(other, responses[1:100, ]), "Wrong plan: ", class = "candor_error")
    expect_error(candor_estimate(plan, responses, tables = "Cabin"), "no attribute \"Cabin\"", class = "candor_error")
    expect_error(candor_estimate(plan, responses[0, ]), class = "candor_error")
    expect_equal(attr(quietly(candor_estimate(plan, responses[1:100, ])), "respondents"), 100)
    file <- tempfile(fileext = ".csv")
    utils::write.csv(as.data.frame(responses), file, row.names = FALSE, na = "")
    expect_error(candor_estimate(plan, file), "does not name the plan", class = "candor_error")
    from_file <- quietly(candor_estimate(plan, file, unmarked = TRUE))
    bare <- as.data.frame(lapply(responses, identity))
    expect_null(attr(bare, "fingerprint"))
    expect_error(candor_estimate(plan, bare), "unmarked", class = "candor_error")
    expect_identical(quietly(candor_estimate(plan, bare, unmarked = TRUE))$estimate, from_file$estimate)
    expect_identical(from_file$estimate, quietly(candor_estimate(plan, responses))$estimate)
})

test_that("a test of independence finds what there is, beside the naive one", {
    test <- quietly(candor_test(plan, responses, "Sex", "Survived"))
    expect_equal(nrow(test), 1)
    expect_lt(test$p_value, 1e-6)
    expect_gt(abs(log(test$odds_ratio_estimate)), 1)
    expect_equal(summary(test)$test, c("corrected", "naive"))
    expect_output(print(test), "Are Sex and Survived independent")
    expect_error(candor_test(plan, responses, "Sex", "Sex"), class = "candor_error")
})

test_that("a condition is estimated in several ways", {
    query <- quietly(candor_query(plan, responses, "Sex = Female and Class in (1st, 2nd)"))
    truth <- mean(people$Sex == "Female" & people$Class %in% c("1st", "2nd"))
    joint <- query[query$method == "joint", ]
    expect_lt(abs(joint$estimate - truth), 6 * joint$standard_error)
    expect_output(print(query), "Share of people with Sex = Female")
    expect_error(candor_query(plan, responses, "Sex = Robot"), "Robot", class = "candor_error")
})

test_that("a report is a page, and its estimates a data frame", {
    file <- tempfile(fileext = ".html")
    report <- quietly(suppressWarnings(candor_report(plan, responses, file, tables = "pairs", title = "On board")))
    expect_true(any(grepl("<h1><bdi>On board</bdi></h1>", readLines(file), fixed = TRUE)))
    expect_identical(report$estimate, quietly(candor_estimate(plan, responses, tables = "pairs"))$estimate)
    expect_setequal(names(attr(report, "dependences")), c("a", "b", "cramers_v", "standard_error", "p_value"))
})
