test_that("tables come back as they were written", {
    frame <- data.frame(text = c("a \"b\", c", "Größe", "line\nbreak", "'", ""), number = c("1", "2", "", "4", "5"), check.names = FALSE)
    names(frame)[2] <- "a, \"b\""
    file <- tempfile()
    write_csv(frame, file, rows_at_once = 2)
    expect_equal(read_csv(file), frame)
    write_csv(frame[0, ], file)
    expect_equal(nrow(read_csv(file)), 0)
    write_csv(frame[2], file)
    expect_equal(read_csv(file)[[1]], frame[[2]])
})

test_that("values are written by their digits", {
    expect_equal(value_text(c(100000, 0.1, NA, 1 / 3, -2)), c("100000", "0.1", NA, "0.33333333333333331", "-2"))
    expect_equal(as.numeric(value_text(pi * 10^(-9:9))), pi * 10^(-9:9))
    expect_equal(value_text(c(3L, NA)), c("3", NA))
    expect_equal(value_text(as.Date("2020-02-29")), "2020-02-29")
    expect_equal(value_text(as.POSIXct("2020-02-29 12:34:56", tz = "UTC")), "2020-02-29T12:34:56Z")
    expect_error(value_text(list(1), "pets"), "column `pets` is of class list", class = "candor_error")
})
