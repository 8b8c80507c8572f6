test_that("the transition matrix is a matrix", {
    people <- as.data.frame(UCBAdmissions)[c("Admit", "Gender")]
    plan <- candor_design(candor_schema(people), "independent", epsilon = 2)
    one <- candor_matrix(plan, "Admit")
    expect_equal(dimnames(one), list(c("Admitted", "Rejected"), c("Admitted", "Rejected")))
    expect_equal(one[1, 1], exp(1) / (1 + exp(1)), tolerance = 1e-9)
    expect_equal(Re(attr(one, "eigenvalues")), c(1, 2 * one[1, 1] - 1), tolerance = 1e-9)
    whole <- candor_matrix(plan)
    expect_equal(candor_details(whole)$fingerprint, plan$fingerprint)
    expect_equal(unname(colSums(whole)), rep(1, 4), tolerance = 1e-12)
    other <- candor_matrix(plan, "Gender")
    attr(one, "eigenvalues") <- attr(other, "eigenvalues") <- attr(whole, "eigenvalues") <- NULL
    expect_equal(unname(whole), unname(kronecker(one, other)), tolerance = 1e-12, ignore_attr = TRUE)
    expect_error(candor_matrix(plan, "Dept"), class = "candor_error")
})
