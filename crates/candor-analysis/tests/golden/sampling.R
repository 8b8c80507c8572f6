# Golden numbers of survey designs: Rscript sampling.R > sampling.json (R's package survey).
# A made-up sample of 90 people: 3 strata, 5 clusters in each, weights, and how many clusters the strata have.
suppressPackageStartupMessages(library(survey))
i <- 0:89
people <- data.frame(
  stratum = i %/% 30, cluster = i %/% 6, weight = 1 + (i * 7) %% 5 / 2, clusters = c(40, 25, 12)[i %/% 30 + 1],
  y = (i * i + i %/% 6) %% 3, x = (i * 5 + i %/% 10) %% 2
)
people$y1 <- factor(people$y); people$yx <- interaction(people$y, people$x, sep = "")
designs <- list(
  weights = svydesign(ids = ~1, weights = ~weight, data = people),
  strata = svydesign(ids = ~1, strata = ~stratum, weights = ~weight, data = people),
  clusters = svydesign(ids = ~cluster, weights = ~weight, data = people),
  both = svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, data = people),
  fpc = svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, fpc = ~clusters, data = people)
)
number <- function(x) paste0("[", paste(format(as.vector(x), digits = 15), collapse = ", "), "]")
one <- function(name) {
  d <- designs[[name]]
  m <- svymean(~yx, d); r <- svyratio(~I((y == 1) * (x == 1)), ~I(x == 1), d)
  paste0('  "', name, '": {"shares": ', number(coef(m)), ', "errors": ', number(SE(m)),
         ', "ratio": ', number(c(coef(r), SE(r))), "}")
}
jack <- as.svrepdesign(designs$clusters, type = "JK1", mse = TRUE)
m <- svymean(~yx, jack)
cat("{\n", paste(sapply(names(designs), one), collapse = ",\n"), ",\n", sep = "")
cat('  "jackknife": {"shares": ', number(coef(m)), ', "errors": ', number(SE(m)), "},\n", sep = "")
cat('  "people": {"stratum": ', number(people$stratum), ', "cluster": ', number(people$cluster), ', "weight": ', number(people$weight),
    ', "y": ', number(people$y), ', "x": ', number(people$x), "}\n}\n", sep = "")
