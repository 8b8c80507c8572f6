people <- people_of(UCBAdmissions, c("Admit", "Gender", "Dept"))
people$age <- seq_len(nrow(people)) / 7
people$day <- as.Date("2020-01-01") + seq_len(nrow(people)) %% 50
people$region <- factor(rep_len(c("north", "south"), nrow(people)), c("west", "south", "north"))
plan <- candor_design(candor_schema(people[c("Admit", "Gender", "Dept")]), "independent", epsilon = 90, max_epsilon = 100)

test_that("rows stay in order and kept columns unchanged", {
    responses <- candor_randomize(plan, people, keep = c("age", "day", "region"))
    expect_equal(dim(responses), c(4526, 6))
    # With epsilon 90, 30 for each attribute, an answer is not the truth once in 10^12.
    expect_equal(responses$Dept, people$Dept)
    expect_equal(responses$age, people$age)
    expect_equal(responses$day, people$day)
    expect_equal(as.character(responses$region), as.character(people$region))
    expect_equal(levels(responses$region), c("south", "north"))
    expect_equal(attr(responses, "fingerprint"), plan$fingerprint)
    expect_null(attr(responses, "simulation"))
    expect_output(print(responses), "4,526 responses; sha256")
    expect_equal(attr(responses[1:10, ], "fingerprint"), plan$fingerprint)
})

test_that("responses of one plan are bound, others are not taken for them", {
    responses <- candor_randomize(plan, people)
    both <- rbind(responses[1:1000, ], responses[1001:4526, ])
    expect_equal(both, responses)
    expect_equal(nrow(suppressMessages(candor_estimate(plan, both, tables = "Dept"))), 6)
    other <- candor_randomize(candor_design(candor_schema(people[c("Admit", "Gender", "Dept")]), "independent", epsilon = 1), people)
    expect_error(rbind(responses, other), "different plans", class = "candor_error")
    bare <- as.data.frame(lapply(other, identity))
    expect_error(rbind(responses, bare), "unmarked ones", class = "candor_error")
    # Past our method the mark stays, but it is not about these rows.
    mixed <- rbind.data.frame(responses, bare)
    expect_error(candor_estimate(plan, mixed), "does not name the plan", class = "candor_error")
    expect_error(candor_estimate(plan, mixed[1:5000, ]), "does not name the plan", class = "candor_error")
})

test_that("what cannot be randomized is refused in the command's words", {
    expect_error(candor_randomize(plan, people, keep = "Admit"), "cannot be kept", class = "candor_error")
    expect_error(candor_randomize(plan, people[1:2]), "the data frame has no column \"Dept\"", class = "candor_error")
    expect_error(candor_randomize(plan, people, keep = "wages"), "wages", class = "candor_error")
    expect_error(candor_randomize(plan, as.matrix(people)), "of class matrix", class = "candor_error")
    wrong <- transform(people, Gender = ifelse(seq_along(Gender) == 4000, "Unsaid", as.character(Gender)))
    expect_error(candor_randomize(plan, wrong), "row 4000, column \"Gender\": \"Unsaid\"", class = "candor_error")
    early <- wrong[rep(4000:4526, 500), ]
    expect_error(candor_randomize(plan, early), "row 1, column \"Gender\": \"Unsaid\"", class = "candor_error")
    listed <- people
    listed$Gender <- as.list(people$Gender)
    expect_error(candor_randomize(plan, listed), "column `Gender` is of class list", class = "candor_error")
})

test_that("a simulation repeats, is marked, and warns", {
    expect_warning(responses <- candor_randomize(plan, people, seed = 3), "simulations")
    expect_equal(attr(responses, "simulation"), 3)
    expect_equal(suppressWarnings(candor_randomize(plan, people, seed = 3)), responses)
    expect_message(candor_estimate(plan, responses), "simulation \\(seed 3\\)")
    expect_output(print(responses), "protect nobody")
})

test_that("randomness is that of the operating system, whatever R's seed is", {
    half <- candor_design(candor_schema(people["Gender"]), epsilon = 1)
    set.seed(1)
    first <- candor_randomize(half, people)
    set.seed(1)
    expect_false(identical(first, candor_randomize(half, people)))
})

test_that("true records are in no file", {
    flag <- tempfile()
    script <- tempfile()
    writeLines(c("#!/bin/sh", paste("grep -rq planted[-]value", shQuote(tempdir()), "&& touch", flag),
                 paste("exec", shQuote(candor_command()), "\"$@\"")), script)
    Sys.chmod(script, "755")
    before <- options(candor.command = script)
    on.exit(options(before))
    secret <- transform(people, note = paste0("planted", "-value"))
    responses <- candor_randomize(plan, secret, keep = "note")
    expect_equal(responses$note[1], "planted-value")
    expect_false(file.exists(flag))
    # The same look finds it where there is such a file.
    writeLines(responses$note[1], tempfile())
    candor_randomize(plan, secret)
    expect_true(file.exists(flag))
})

test_that("answers that are sets are text, and read back", {
    sets <- candor_design(candor_schema(people["Dept"]), "l-diversity", l = 2)
    responses <- simulated(sets, people)
    expect_type(responses$Dept, "character")
    expect_match(responses$Dept, "^[A-F];[A-F]$")
    expect_equal(nrow(quietly(candor_estimate(sets, responses))), 6)
})

test_that("what a lottery did not ask is missing, and said to be", {
    asked <- people[c("Admit", "Gender", "Dept")]
    plan <- candor_design(candor_schema(asked), "workload", epsilon = 2, tables = "pairs")
    drawn <- simulated(plan, asked)
    missing <- vapply(drawn[names(asked)], function(column) sum(is.na(column)), 0L)
    expect_true(all(missing > 1000))
    expect_equal(vapply(drawn[names(asked)], attr, 0L, "not_asked"), missing)
    expect_equal(sum(quietly(candor_estimate(plan, drawn, tables = "Admit"))$estimate), 1)
})
