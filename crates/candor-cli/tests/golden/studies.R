# Data and golden numbers of three surveys: Rscript studies.R writes the tables beside this file, and studies.json.
suppressPackageStartupMessages(library(survey))
data(api); data(yrbs); data(nhanes)
put <- function(table, name) {
  file <- if (grepl("gz$", name)) gzfile(name, compression = 9) else name
  write.csv(table, file, row.names = FALSE, quote = FALSE, na = "")
}
yes <- function(x) ifelse(x, "yes", "no")
put(with(apiclus1, data.frame(awards = yes(awards == "Yes"), type = stype, learners = ell, district = dnum, weight = pw, districts = 757)),
    "api_clus1.csv")
put(with(yrbs, data.frame(helmet = c("rarely", "mostly")[qn8], stratum, psu, weight)), "yrbs.csv.gz")
put(with(nhanes, data.frame(cholesterol = c("normal", "high")[HI_CHOL + 1], race = c("hispanic", "white", "black", "other")[race],
                            sex = c("male", "female")[RIAGENDR], age = c("0-19", "20-39", "40-59", "60+")[as.integer(agecat)],
                            stratum = SDMVSTRA, psu = SDMVPSU, weight = WTMEC2YR)), "nhanes.csv.gz")
numbers <- function(x) paste0("[", paste(format(as.vector(unlist(x)), digits = 15, trim = TRUE), collapse = ", "), "]")
lines <- character()
say <- function(name, ...) lines <<- c(lines, paste0('  "', name, '": ', numbers(list(...))))
share <- function(name, formula, design, ...) {
  found <- svymean(formula, design, ...)
  say(name, coef(found), SE(found), attr(svyciprop(formula, design, method = "beta", ...), "ci"), degf(design))
}
regression <- function(name, fit, ...) {
  table <- summary(fit)$coefficients; own <- confint(fit, ddf = fit$df.residual)
  for (i in seq_len(nrow(table))) say(paste(name, i - 1), table[i, c(1, 2)], own[i, ], table[i, 4], fit$df.residual)
}
met <- update(svydesign(id = ~dnum, weights = ~pw, data = apiclus1), met = awards == "Yes")
met_fpc <- update(svydesign(id = ~dnum, weights = ~pw, data = apiclus1, fpc = ~fpc), met = awards == "Yes")
share("api", ~I(met * 1), met)
share("api fpc", ~I(met * 1), met_fpc)
for (type in c("E", "H", "M")) share(paste("api", type), ~I(met * 1), subset(met, stype == type))
fit <- svyglm(met ~ ell + stype, met, family = quasibinomial)
regression("api glm", fit)
test <- regTermTest(fit, ~stype); say("api glm stype", test$Ftest, test$df, test$ddf, test$p)
regression("api E glm", svyglm(met ~ ell, subset(met, stype == "E"), family = quasibinomial))
jack <- as.svrepdesign(met, type = "JK1", mse = TRUE)
share("api jk1", ~I(met * 1), jack)
youth <- update(svydesign(id = ~psu, weight = ~weight, strata = ~stratum, data = yrbs, nest = TRUE), rarely = 2 - qn8)
share("yrbs", ~rarely, youth, na.rm = TRUE)
health <- svydesign(id = ~SDMVPSU, strata = ~SDMVSTRA, weights = ~WTMEC2YR, nest = TRUE, data = nhanes)
share("nhanes", ~HI_CHOL, health, na.rm = TRUE)
for (code in 1:4) share(paste("nhanes", code), ~HI_CHOL, subset(health, race == code), na.rm = TRUE)
regression("nhanes glm", svyglm(HI_CHOL ~ factor(race) + factor(RIAGENDR) + agecat, health, family = quasibinomial))
writeLines(c("{", paste(lines, collapse = ",\n"), "}"), "studies.json")
