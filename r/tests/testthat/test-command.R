test_that("a command that is not there is an error that says what to do", {
    withr_option <- options(candor.command = "/no/such/candor")
    on.exit(options(withr_option))
    expect_error(candor_command(), "not at `/no/such/candor`", class = "candor_error")
    expect_error(candor_schema(data.frame(a = 1:2)), "not at", class = "candor_error")
})

test_that("options of functions are options of the command", {
    expect_equal(flags(max_epsilon = 100000, one_channel = TRUE, cluster_method = NULL, allow_larger_epsilon = FALSE), c("--max-epsilon=100000", "--one-channel"))
    expect_equal(flags(tables = c("a,b", "c")), "--tables=a,b;c")
    expect_equal(flags(tables = list(c("a", "b"), "c")), "--tables=a,b;c")
    expect_equal(flags(require = c(ldp = 4, rho = "0.1:0.9")), c("--require=ldp=4", "--require=rho=0.1:0.9"))
    expect_equal(flags(prior = list(Sex = c(0.7, 0.3))), "--prior=Sex=0.7,0.3")
    expect_error(flags(3), "need names", class = "candor_error")
})

test_that("an option that the command does not have is refused in its words", {
    schema <- candor_schema(data.frame(a = factor(c("x", "y"))))
    expect_error(candor_design(schema, epsilon = 1, colour = "red"), "unexpected argument '--colour'", class = "candor_error")
})
