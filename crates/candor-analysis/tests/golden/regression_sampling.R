# Golden numbers of regressions under survey designs: Rscript regression_sampling.R > regression_sampling.json (R's package survey).
# The people of sampling.R; x = 1 by region and sex. Replicate weights: half of the clusters, draws of clusters, one cluster left out.
suppressPackageStartupMessages(library(survey))
i <- 0:89
people <- data.frame(
  stratum = i %/% 30, cluster = i %/% 6, weight = 1 + (i * 7) %% 5 / 2, clusters = c(40, 25, 12)[i %/% 30 + 1],
  x = (i * 5 + i %/% 10) %% 2, regions = factor((i * 3 + i %/% 4) %% 3), sexes = factor((i + i %/% 7) %% 2)
)
one <- function(ids, ...) svydesign(ids = ids, weights = ~weight, data = people, ...)
designs <- list(
  strata = one(~1, strata = ~stratum), clusters = one(~cluster), both = one(~cluster, strata = ~stratum),
  fpc = one(~cluster, strata = ~stratum, fpc = ~clusters)
)
known <- sum(people$weight) * c(1, 0.5, 0.3, 0.6); names(known) <- c("(Intercept)", "regions1", "regions2", "sexes1")
designs$raked <- calibrate(designs$both, ~regions + sexes, known, calfun = "raking", epsilon = 1e-13, maxit = 200)
designs$raked_fpc <- calibrate(designs$fpc, ~regions + sexes, known, calfun = "raking", epsilon = 1e-13, maxit = 200)
odd <- function(k) sapply(k, function(k) sum(as.integer(intToBits(k))) %% 2)
half <- sapply(2:9, function(r) people$weight * ifelse(odd(bitwAnd(people$cluster, r)) == 0, 2, 0))
boot <- sapply(0:9, function(r) people$weight * ((people$cluster * 7 + r * 5 + people$cluster %/% 4 * r) %% 3))
left <- sapply(0:14, function(out) people$weight * ifelse(people$cluster == out, 0, 15 / 14))
again <- function(weights, type, ...) {
  svrepdesign(data = people, weights = ~weight, repweights = weights, type = type, combined.weights = TRUE, mse = TRUE, ...)
}
designs$brr <- again(half, "BRR"); designs$bootstrap <- again(boot, "bootstrap")
designs$jackknife <- again(left, "JK1", scale = 14 / 15)
number <- function(x) paste0("[", paste(format(as.vector(x), digits = 15), collapse = ", "), "]")
fitted <- function(name) {
  fit <- svyglm(x ~ regions, designs[[name]], family = quasibinomial(), control = glm.control(epsilon = 1e-14, maxit = 100))
  paste0('  "', name, '": {"estimates": ', number(coef(fit)), ', "errors": ', number(SE(fit)), "}")
}
columns <- function(m) paste0("[", paste(apply(m, 2, number), collapse = ", "), "]")
cat("{\n", paste(sapply(names(designs), fitted), collapse = ",\n"), ",\n", sep = "")
cat('  "weights": {"brr": ', columns(half), ',\n    "bootstrap": ', columns(boot), ',\n    "jackknife": ', columns(left), "}\n}\n", sep = "")
