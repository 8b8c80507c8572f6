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
    expect_error(candor_design(schema, epsilon = 1, colour = "red"), "unexpected argument '`colour`'", class = "candor_error")
})

test_that("a command of other formats is refused, with what to do", {
    expect_null(check_version("0.1.7", "0.1.0", "candor"))
    expect_error(check_version("0.0.9", "0.1.0", "candor"), "update the command, with candor_install", class = "candor_error")
    expect_error(check_version("1.0.0", "0.1.0", "candor"), "update this package", class = "candor_error")
    expect_error(check_version(NA, "0.1.0", "candor"), "is not the command candor", class = "candor_error")
})

test_that("options are named as arguments", {
    expect_equal(as_arguments("give --max-epsilon, or --seed; a--b and -- stay"), "give `max_epsilon`, or `seed`; a--b and -- stay")
})

test_that("an interrupt ends the command", {
    skip_on_os("windows")
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    begun <- Sys.time()
    setTimeLimit(elapsed = 1, transient = TRUE)
    tryCatch(wait_for("sleep 60", folder), error = function(e) NULL)
    setTimeLimit()
    expect_false(file.exists(file.path(folder, "status")) && readLines(file.path(folder, "status")) == "0")
    id <- readLines(file.path(folder, "id"))
    Sys.sleep(0.5)
    expect_false(suppressWarnings(tools::pskill(as.integer(id), 0)))
    expect_equal(wait_for("true", scratch()), 0L)
    expect_equal(wait_for("exit 3", scratch()), 3L)
})
