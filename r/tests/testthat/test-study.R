# A whole study, as a statistician does it from the guide: a national health survey with strata, units and weights. The truth is known
# here, so that what is estimated can be held to it.

skip_if_not_installed("survey")
skip_if_not_installed("emmeans")

nhanes <- local({
    place <- new.env()
    utils::data("nhanes", package = "survey", envir = place)
    place$nhanes[!is.na(place$nhanes$HI_CHOL), ]
})
people <- data.frame(
    cholesterol = factor(nhanes$HI_CHOL, 0:1, c("normal", "high")),
    age = factor(nhanes$agecat, labels = c("to 19", "20 to 39", "40 to 59", "60 and more"), ordered = TRUE),
    sex = factor(nhanes$RIAGENDR, 1:2, c("men", "women")),
    nhanes[c("SDMVPSU", "SDMVSTRA", "WTMEC2YR")]
)
sampling <- c("SDMVPSU", "SDMVSTRA", "WTMEC2YR")
design <- survey::svydesign(~SDMVPSU, strata = ~SDMVSTRA, weights = ~WTMEC2YR, nest = TRUE, data = people)

# Within six standard errors of the truth, for a fixed seed.
expect_near <- function(found, truth) {
    expect_true(all(abs(found$estimate - truth) < 6 * found$standard_error))
}

test_that("a study with a complex sampling design goes from power to report", {
    schema <- candor_schema(people[c("cholesterol", "age", "sex")], public = c("age", "sex"))
    plan <- quietly(candor_design(schema, epsilon = 2, respondents = nrow(people)))
    expect_lte(plan$epsilon, 2)
    # Before: how many people it takes, and what they are told.
    needed <- quietly(candor_sample_size(plan, detect_difference = c(0.1, 0.15)))
    expect_true(all(needed$respondents[needed$attribute == "cholesterol"] < nrow(people)))
    sheet <- tempfile(fileext = ".html")
    candor_explain(plan, sheet)
    expect_gt(file.size(sheet), 3000)
    # The responses, and nothing else, go on.
    responses <- simulated(plan, people, keep = sampling)
    expect_setequal(names(responses)[!grepl("^candor_", names(responses))], c("cholesterol", "age", "sex", sampling))

    share <- quietly(candor_estimate(plan, responses, tables = "cholesterol", design = design))
    truth <- survey::svymean(~cholesterol, design)
    expect_near(share, as.numeric(stats::coef(truth)))
    # Twelve degrees of freedom tell an error within a factor of two, and randomizing adds to it.
    expect_true(all(share$standard_error > 0.5 * as.numeric(survey::SE(truth))))
    among <- quietly(candor_estimate(plan, responses, tables = "cholesterol | age", design = design))
    wanted <- survey::svyby(~cholesterol, ~age, design, survey::svymean)
    expect_near(among[among$cholesterol == "high", ], wanted$cholesterolhigh)
    differences <- quietly(candor_test(plan, responses, tables = "cholesterol", compare_groups = "sex", design = design))
    by_sex <- survey::svyby(~cholesterol, ~sex, design, survey::svymean)$cholesterolhigh
    high <- differences[differences$cholesterol == "high", ]
    expect_lt(abs(high$difference_estimate - (by_sex[2] - by_sex[1])), 6 * high$difference_standard_error)
    expect_true(all(high$p_value >= 0 & high$p_value <= 1))

    fit <- quietly(candor_regress(cholesterol ~ age + sex, plan, responses, reference = c(age = "60 and more"), design = design))
    direct <- survey::svyglm(I(cholesterol == "high") ~ stats::relevel(factor(age, ordered = FALSE), "60 and more") + sex, design, family = stats::quasibinomial())
    known <- !is.na(fit$standard_error)
    expect_true(all(c("(constant)", "age=40 to 59", "sex=women") %in% fit$term[known]))
    expect_true(all(abs(fit$estimate - stats::coef(direct))[known] < 6 * fit$standard_error[known]))
    expect_match(candor_details(fit)$design, "strat")
    predicted <- predict(fit, data.frame(age = "40 to 59", sex = c("men", "women")), type = "response", se.fit = TRUE)
    expect_true(all(predicted$fit > 0 & predicted$fit < 1) && all(predicted$se.fit > 0))
    means <- as.data.frame(emmeans::emmeans(fit, ~sex, type = "response"))
    expect_equal(as.character(means$sex), c("men", "women"))
    expect_true(all(means$prob > 0 & means$prob < 1))

    page <- tempfile(fileext = ".html")
    report <- quietly(suppressWarnings(candor_report(plan, responses, page, tables = c("cholesterol", "cholesterol | age"),
                                                     title = "Cholesterol", design = design, model = "cholesterol ~ age + sex")))
    expect_equal(report$estimate[1:2], share$estimate)
    expect_match(paste(readLines(page, warn = FALSE), collapse = ""), "<title>Cholesterol")
})

test_that("mistakes of a stranger are told in words of R", {
    schema <- candor_schema(people[c("cholesterol", "age", "sex")], public = c("age", "sex"))
    plan <- quietly(candor_design(schema, epsilon = 2))
    responses <- simulated(plan, people, keep = sampling)
    wrong <- function(...) expect_error(quietly(...), class = "candor_error")
    expect_match(conditionMessage(wrong(candor_estimate(plan, responses, tables = "cholesterole"))), "did you mean \"cholesterol\"")
    expect_match(conditionMessage(wrong(candor_estimate(plan, people))), "unmarked")
    expect_match(conditionMessage(wrong(candor_estimate(plan, responses, design = design[1:10, ]))), "10 people")
    expect_match(conditionMessage(wrong(candor_randomize(plan, people["sex"]))), "cholesterol")
    expect_match(conditionMessage(wrong(candor_regress(cholesterol ~ weight, plan, responses))), "weight")
})
