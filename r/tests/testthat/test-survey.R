# Public attributes are not randomized, so that what candor estimates of them must be what the survey package does.

skip_if_not_installed("survey")
api <- new.env()
utils::data("api", package = "survey", envir = api)

plan_about <- function(data) {
    suppressMessages(candor_design(candor_schema(data[c("stype", "sch.wide", "awards")], public = c("stype", "sch.wide")), epsilon = 3))
}

expect_shares <- function(found, wanted) {
    expect_equal(found$estimate, as.numeric(stats::coef(wanted)), tolerance = 1e-9)
    expect_equal(found$standard_error, as.numeric(survey::SE(wanted)), tolerance = 1e-7)
}

test_that("stratified and clustered designs have the standard errors of the survey package", {
    strat <- api$apistrat
    plan <- plan_about(strat)
    responses <- simulated(plan, strat)
    design <- survey::svydesign(id = ~1, strata = ~stype, weights = ~pw, data = strat, fpc = ~fpc)
    expect_shares(quietly(candor_estimate(plan, responses, tables = "sch.wide", design = design)), survey::svymean(~sch.wide, design))
    by_area <- survey::svydesign(id = ~1, weights = ~pw, data = strat)
    expect_shares(quietly(candor_estimate(plan, responses, tables = "stype", design = by_area)), survey::svymean(~stype, by_area))
    clus <- api$apiclus1
    plan <- plan_about(clus)
    responses <- simulated(plan, clus)
    design <- survey::svydesign(id = ~dnum, weights = ~pw, data = clus, fpc = ~fpc)
    expect_shares(quietly(candor_estimate(plan, responses, tables = "stype", design = design)), survey::svymean(~stype, design))
    expect_error(candor_estimate(plan, responses, design = design, weights = "pw"), "part of `design`", class = "candor_error")
    expect_error(candor_estimate(plan, responses[1:10, ], design = design), "183 people", class = "candor_error")
    expect_error(candor_estimate(plan, responses, design = list()), "class list", class = "candor_error")
})

test_that("replicate weights have their scale", {
    clus <- api$apiclus1
    plan <- plan_about(clus)
    responses <- simulated(plan, clus)
    design <- survey::svydesign(id = ~dnum, weights = ~pw, data = clus, fpc = ~fpc)
    for (type in c("JK1", "bootstrap")) {
        set.seed(11)
        replicated <- survey::as.svrepdesign(design, type = type, mse = type == "JK1")
        expect_shares(quietly(candor_estimate(plan, responses, tables = "stype", design = replicated)), survey::svymean(~stype, replicated))
    }
})
