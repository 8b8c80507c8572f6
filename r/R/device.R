#' Randomization devices: dice, coins, cards, wheels
#'
#' Runs `candor device`: which devices keep to an epsilon, the plan of a survey without computers, and its instruction cards.
#'
#' @param schema A schema of [candor_schema()], the path of one (TOML), or numbers of categories: `c(2, 3)`.
#' @param epsilon The largest epsilon of one answer.
#' @param device A device of your own, such as `"die: 1-4 truth, 5 yes, 6 no"`.
#' @param card Where to write the instruction cards (HTML), a page for a printer.
#' @param ... Further options of the command, such as `margin = 0.03`, `language = "de"` or `compliance_check = TRUE`.
#' @return A data frame of class `candor_device`, one row per question and device: `attribute`, `categories`, `chosen`, `device`,
#'   `ratio`, `epsilon`, `slope`, `efficiency`, `respondents`. `attr(x, "plan")` is the plan by the chosen devices.
#' @examples
#' candor_device(2, epsilon = 1.61)
#' @export
candor_device <- function(schema, epsilon = NULL, device = NULL, card = NULL, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    file <- file.path(folder, "plan.json")
    about <- if (is.numeric(schema)) flags(categories = schema) else schema_file(schema, folder)
    listed <- run_json(c("device", about, flags(output = file, epsilon = epsilon, device = device, card = card, ...)))
    for (words in listed$warnings) warning(words, call. = FALSE)
    of_question <- function(question) {
        devices <- rows(question$devices)
        chosen <- seq_len(nrow(devices)) - 1 == or_na(question$chosen)
        cbind(attribute = question$attribute, categories = question$categories, chosen = chosen, devices)
    }
    sentence <- paste0("Devices; the whole response has epsilon ", format(listed$record_epsilon, digits = 4))
    result(bind(lapply(listed$questions, of_question)), "candor_device", sentence, listed, plan = candor_plan(file))
}
