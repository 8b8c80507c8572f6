test_that("factors keep all levels, in their order", {
    people <- data.frame(education = factor(c("school", "none"), c("none", "school", "university"), ordered = TRUE),
                         sex = factor(c("m", "f"), c("m", "f", "x")))
    schema <- candor_schema(people)
    expect_s3_class(schema, "data.frame")
    expect_equal(schema$categories, list(c("none", "school", "university"), c("m", "f", "x")))
    expect_equal(schema$kind, c("ordinal", "nominal"))
    plan <- candor_design(schema, epsilon = 1)
    expect_equal(plan$schema$categories, schema$categories)
    expect_equal(plan$schema$kind, schema$kind)
})

test_that("columns without levels are described by the command, at their places", {
    people <- data.frame(age = c(17, 20, 70, NA), sex = factor(c("m", "f", "f", "m")), smokes = c(TRUE, FALSE, TRUE, TRUE),
                         town = c("b", "a", "b", "b"))
    schema <- quietly(candor_schema(people, bins = c(age = "edges:18,65"), public = "town", drop = "smokes"))
    expect_equal(schema$name, c("age", "sex", "town"))
    expect_equal(schema$public, c(FALSE, FALSE, TRUE))
    expect_equal(schema$edges[[1]], c(18, 65))
    expect_equal(schema$categories[[1]], c("below 18", "18 to below 65", "65 or more", ""))
    expect_equal(schema$categories[[3]], c("a", "b"))
    expect_equal(candor_schema(people["smokes"])$categories[[1]], c("FALSE", "TRUE"))
    plan <- candor_design(schema, epsilon = 1)
    expect_equal(plan$schema$edges[[1]], c(18, 65))
    expect_equal(plan$schema$public, schema$public)
})

test_that("missing values of a factor are a category of their own", {
    people <- data.frame(smokes = factor(c("no", NA, "yes")))
    schema <- candor_schema(people)
    expect_equal(schema$categories[[1]], c("no", "yes", ""))
    responses <- candor_randomize(candor_design(schema, epsilon = 40), people)
    expect_equal(as.character(responses$smokes), c("no", "", "yes"))
})

test_that("labels of any signs arrive as they are", {
    labels <- c("it's \"so\"", "back\\slash", "Größe 大小", "tab\tand\nline", "#[x] = 'y'")
    people <- data.frame(`a "name" = 1` = factor(labels, labels), check.names = FALSE)
    plan <- candor_design(candor_schema(people), epsilon = 40)
    expect_equal(plan$schema$categories[[1]], labels)
    expect_equal(plan$schema$name, names(people))
    expect_equal(as.character(candor_randomize(plan, people)[[1]]), labels)
})

test_that("what is no table of people is refused", {
    expect_error(candor_schema(HairEyeColor), "of class table, not a data frame", class = "candor_error")
    expect_error(candor_schema(data.frame(a = 1:3), drop = "b"), "no column `b`; the columns are: a", class = "candor_error")
    expect_error(candor_schema(data.frame(a = factor(1:2)), bins = c(a = "width:1")), "all columns are factors", class = "candor_error")
    expect_error(candor_schema(data.frame(a = stats::runif(500))), "a", class = "candor_error")
    twice <- data.frame(a = 1:2, a = 1:2, check.names = FALSE)
    expect_error(candor_schema(twice), "no two of the same name", class = "candor_error")
    one <- candor_schema(data.frame(a = factor("x")))
    expect_error(candor_design(one, epsilon = 1), "at least two categories|categor", class = "candor_error")
    expect_error(candor_design(list(1), epsilon = 1), "make it by candor_schema", class = "candor_error")
})

test_that("a schema prints one line per attribute", {
    expect_output(print(candor_schema(warpbreaks[c("wool", "tension")])), "tension nominal FALSE  3          L \\| M \\| H")
})
