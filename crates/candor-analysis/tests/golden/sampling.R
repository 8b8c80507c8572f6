# Golden numbers of survey designs: Rscript sampling.R > sampling.json (R's package survey).
# A made-up sample of 90 people: 3 strata, 5 clusters in each, weights, and how many clusters the strata have.
suppressPackageStartupMessages(library(survey))
i <- 0:89
people <- data.frame(
  stratum = i %/% 30, cluster = i %/% 6, weight = 1 + (i * 7) %% 5 / 2, clusters = c(40, 25, 12)[i %/% 30 + 1],
  y = (i * i + i %/% 6) %% 3, x = (i * 5 + i %/% 10) %% 2, region = (i * 3 + i %/% 4) %% 3, sex = (i + i %/% 7) %% 2
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
# Raking to margins of region and sex; the total is that of the weights.
total <- sum(people$weight)
people$regions <- factor(people$region); people$sexes <- factor(people$sex)
known <- total * c(1, 0.5, 0.3, 0.6); names(known) <- c("(Intercept)", "regions1", "regions2", "sexes1")
raked <- function(name) {
  d <- update(designs[[name]], regions = factor(region), sexes = factor(sex))
  calibrate(d, ~regions + sexes, known, calfun = "raking", epsilon = 1e-13, maxit = 200)
}
designs$raked <- raked("both"); designs$raked_people <- raked("weights")
# Region 1 only: the other units of the sample still count.
designs$region <- subset(designs$both, region == 1)
designs$region_raked <- subset(designs$raked, region == 1)
# Replicates that somebody else made: half samples, and so many draws of clusters.
half <- sapply(0:7, function(r) people$weight * ifelse((people$cluster + (people$cluster * r) %/% 3) %% 2 == 0, 2, 0))
boot <- sapply(0:9, function(r) people$weight * ((people$cluster * 7 + r * 5 + people$cluster %/% 4 * r) %% 3))
designs$brr <- svrepdesign(data = people, weights = ~weight, repweights = half, type = "BRR", combined.weights = TRUE, mse = TRUE)
designs$bootstrap <- svrepdesign(data = people, weights = ~weight, repweights = boot, type = "bootstrap", combined.weights = TRUE, mse = TRUE)
test <- svychisq(~x + y, designs$both)
jack <- as.svrepdesign(designs$clusters, type = "JK1", mse = TRUE)
m <- svymean(~yx, jack)
cat("{\n", paste(sapply(names(designs), one), collapse = ",\n"), ",\n", sep = "")
cat('  "jackknife": {"shares": ', number(coef(m)), ', "errors": ', number(SE(m)), "},\n", sep = "")
cat('  "test": {"F": ', format(test$statistic, digits = 15), ', "p": ', format(test$p.value, digits = 15), "},\n", sep = "")
columns <- function(m) paste0("[", paste(apply(m, 2, number), collapse = ", "), "]")
cat('  "half": ', columns(half), ',\n  "boot": ', columns(boot), ",\n", sep = "")
cat('  "people": {"stratum": ', number(people$stratum), ', "cluster": ', number(people$cluster), ', "weight": ', number(people$weight),
    ', "region": ', number(people$region), ', "sex": ', number(people$sex),
    ', "y": ', number(people$y), ', "x": ', number(people$x), "}\n}\n", sep = "")
