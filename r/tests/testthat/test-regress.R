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

test_that("contrasts, joint tests and predictions are glm's where hardly anything is randomized", {
    plan <- candor_design(schema, epsilon = 25)
    profiles <- data.frame(Gender = c("Male", "Female"), Dept = c("A", "C"))
    fit <- quietly(candor_regress(Admit ~ Gender + Dept, plan, simulated(plan, people), predict = profiles,
                                  contrast = c("Dept=B - Dept=C", "Dept=D - Dept=E")))
    direct <- stats::glm(Admit ~ Gender + Dept, stats::binomial, people)
    details <- candor_details(fit)
    beta <- stats::coef(direct)
    expect_equal(details$contrasts$estimate, unname(c(beta["DeptB"] - beta["DeptC"], beta["DeptD"] - beta["DeptE"])),
                 tolerance = 1e-4)
    rao <- stats::anova(stats::update(direct, . ~ . - Dept), direct, test = "Rao")
    expect_equal(details$joint_tests$statistic[1], rao$Rao[2], tolerance = 1e-4)
    expect_equal(details$joint_tests$df[1], 5)
    expect_equal(details$predictions$estimate, unname(stats::predict(direct, profiles, type = "response")),
                 tolerance = 1e-4)
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
    expect_error(fit(replicate_weights = "rep_*"), "require each other", class = "candor_error")
})

# With hardly any randomization, what follows from the fit is what follows from glm's.
predicting <- function() {
    people$score <- seq_len(nrow(people)) %% 17
    plan <- candor_design(schema, epsilon = 25)
    list(people = people, plan = plan, responses = simulated(plan, people, keep = "score"))
}

test_that("predictions, tests and likelihoods are glm's", {
    with(predicting(), {
        fit <- quietly(candor_regress(Admit ~ Gender * Dept + poly(score, 2), plan, responses))
        direct <- stats::glm(Admit ~ Gender * Dept + poly(score, 2), stats::binomial, people)
        new <- people[c(1, 1500, 3000, 4500), ]
        expect_equal(predict(fit, new), unname(stats::predict(direct, new, type = "response")), tolerance = 1e-4)
        links <- predict(fit, new, type = "link", se.fit = TRUE)
        expect_equal(links$se.fit, unname(stats::predict(direct, new, se.fit = TRUE)$se.fit), tolerance = 1e-3)
        expect_equal(unname(sqrt(diag(vcov(fit)))), fit$standard_error, tolerance = 1e-8)
        smaller <- quietly(candor_regress(Admit ~ Gender + Dept, plan, responses))
        larger <- quietly(candor_regress(Admit ~ Gender * Dept, plan, responses))
        compared <- stats::anova(stats::glm(Admit ~ Gender + Dept, stats::binomial, people),
                                 stats::glm(Admit ~ Gender * Dept, stats::binomial, people), test = "LRT")
        expect_equal(anova(larger, smaller)$Chisq[2], compared$Deviance[2], tolerance = 1e-3)
        expect_equal(anova(larger, smaller)$Df[2], 5)
        expect_equal(rownames(anova(larger)), c("Gender", "Dept", "Gender:Dept"))
        expect_equal(stats::AIC(smaller, larger)$AIC, c(stats::AIC(smaller), stats::AIC(larger)))
        other <- quietly(candor_regress(Admit ~ Dept, plan, responses))
        expect_error(anova(quietly(candor_regress(Admit ~ Gender, plan, responses)), other), "is not nested", class = "candor_error")
        expect_error(predict(fit), "give `newdata`", class = "candor_error")
        expect_error(predict(fit, data.frame(Gender = "Man", Dept = "A", score = 1)), "no category \"Man\"", class = "candor_error")
        expect_error(predict(fit, data.frame(Gender = "Male", Dept = "A")), class = "error")
    })
})

test_that("probabilities of several categories add up, and those of a multinomial model agree with the shares", {
    with(predicting(), {
        expect_equal(schema$kind, rep("nominal", 3))
        fit <- quietly(candor_regress(Admit ~ Gender, plan, responses))
        expect_equal(mean(predict(fit, people)), mean(people$Admit == fit$category[1]), tolerance = 1e-3)
        several <- candor_design(candor_schema(people[c("Dept", "Gender")], public = "Gender"), epsilon = 25)
        answers <- simulated(several, people)
        found <- predict(quietly(candor_regress(Dept ~ Gender, several, answers)), people)
        expect_equal(rowSums(found), rep(1, nrow(people)))
        expect_equal(colMeans(found)[levels(people$Dept)], c(prop.table(table(people$Dept))), tolerance = 1e-3)
        people$Dept <- factor(people$Dept, ordered = TRUE)
        ordinal <- candor_design(candor_schema(people[c("Dept", "Gender")], public = "Gender"), epsilon = 25)
        fit <- quietly(candor_regress(Dept ~ Gender, ordinal, simulated(ordinal, people)))
        probabilities <- predict(fit, data.frame(Gender = c("Male", "Female")))
        expect_equal(rowSums(probabilities), c(1, 1))
        # Most women applied to the later departments.
        expect_gt(probabilities[2, "F"], probabilities[1, "F"])
        expect_equal(colMeans(predict(fit, people)), c(prop.table(table(people$Dept))), tolerance = 0.1)
    })
})

test_that("emmeans has the means that it has of glm", {
    skip_if_not_installed("emmeans")
    with(predicting(), {
        fit <- quietly(candor_regress(Admit ~ Gender * Dept + score, plan, responses))
        direct <- stats::glm(Admit ~ Gender * Dept + score, stats::binomial, people)
        of <- function(model) as.data.frame(emmeans::emmeans(model, ~ Gender | Dept, type = "response"))
        expect_equal(of(fit)$prob, of(direct)$prob, tolerance = 1e-4)
        expect_equal(of(fit)$SE, of(direct)$SE, tolerance = 1e-3)
        contrasts <- function(model) as.data.frame(pairs(suppressMessages(emmeans::emmeans(model, ~ Gender))))
        expect_equal(contrasts(fit)$estimate, contrasts(direct)$estimate, tolerance = 1e-4)
    })
})

test_that("augment adds what is predicted", {
    skip_if_not_installed("generics")
    with(predicting(), {
        fit <- quietly(candor_regress(Admit ~ Gender, plan, responses))
        found <- generics::augment(fit, newdata = people[1:3, ])
        expect_equal(found$.fitted, predict(fit, people[1:3, ]))
        expect_true(all(found$.se.fit > 0))
    })
})
