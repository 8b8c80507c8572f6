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

test_that("how people were drawn is an argument", {
    plan <- candor_design(schema, epsilon = 25)
    people$heavy <- 1 + seq_len(nrow(people)) %% 3
    people$house <- seq_len(nrow(people)) %/% 4
    people$houses <- 2000
    for (unit in 0:3) people[[paste0("rep_", unit)]] <- people$heavy * ifelse(people$house %% 4 == unit, 0, 4 / 3)
    responses <- simulated(plan, people, keep = c("heavy", "house", "houses", paste0("rep_", 0:3)))
    fit <- function(...) quietly(candor_regress(Admit ~ Gender, plan, responses, weights = "heavy", ...))
    plain <- fit()
    clustered <- fit(psu = "house", fpc = "houses")
    again <- fit(replicate_weights = "rep_*", replicate_method = "jk1")
    expect_equal(clustered$estimate, plain$estimate)
    expect_equal(again$estimate, plain$estimate)
    expect_false(any(again$standard_error == plain$standard_error))
    expect_lt(clustered$standard_error[2], fit(psu = "house")$standard_error[2])
    expect_output(print(again), "errors by 4 replicates")
    expect_error(fit(replicate_weights = "rep_*"), "go together", class = "candor_error")
})
