people <- people_of(UCBAdmissions, c("Admit", "Gender", "Dept"))
schema <- candor_schema(people, public = c("Gender", "Dept"))

test_that("with hardly any randomization it is glm's fit", {
    plan <- candor_design(schema, epsilon = 25)
    responses <- simulated(plan, people)
    fit <- quietly(candor_regress(Admit ~ Gender + Dept, plan, responses))
    direct <- stats::glm(Admit ~ Gender + Dept, stats::binomial, people)
    expect_s3_class(fit, "candor_regress")
    expect_equal(unname(coef(fit)), unname(stats::coef(direct)), tolerance = 1e-4)
    expect_equal(fit$standard_error, unname(sqrt(diag(stats::vcov(direct)))), tolerance = 1e-3)
    expect_equal(as.numeric(stats::logLik(fit)), as.numeric(stats::logLik(direct)), tolerance = 1e-4)
    expect_true(attr(fit, "converged"))
    expect_output(print(fit), "Regression of Admit \\(binary")
})

test_that("randomized answers give estimates with larger errors, near the truth", {
    plan <- candor_design(schema, epsilon = 2)
    fit <- quietly(candor_regress(Admit ~ Gender + Dept, plan, simulated(plan, people)))
    direct <- summary(stats::glm(Admit ~ Gender + Dept, stats::binomial, people))$coefficients
    expect_true(all(fit$standard_error > direct[, 2]))
    # Seven standard scores of a fixed seed.
    expect_true(all(abs(fit$estimate - direct[, 1]) / fit$standard_error < 6))
    expect_false("naive" %in% names(summary(fit)) && !all(is.na(fit$naive)))
})

test_that("names and references are the command's", {
    people$`Dept of choice` <- people$Dept
    plan <- candor_design(candor_schema(people[c("Admit", "Dept of choice")], public = "Dept of choice"), epsilon = 25)
    responses <- simulated(plan, people)
    fit <- quietly(candor_regress(Admit ~ `Dept of choice`, plan, responses, reference = c(`Dept of choice` = "F")))
    expect_equal(nrow(fit), 6)
    expect_false(any(grepl("=F", fit$term)))
    expect_error(candor_regress(Admit ~ Age, plan, responses), "Age", class = "candor_error")
    expect_error(candor_regress(Admit ~ log(Dept), plan, responses), class = "candor_error")
})
