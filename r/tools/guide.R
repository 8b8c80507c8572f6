# Runs the guide: every ```r block, in order, in one session. Where a ```text block follows, what is printed must be what stands
# there; with CANDOR_WRITE_DOCS=1 it is written there instead.
#
# Rscript guide.R docs/tutorials/r.md

library(candor)
options(width = 110, warn = 1)
set.seed(1)

guide <- normalizePath(commandArgs(TRUE)[1])
lines <- readLines(guide, encoding = "UTF-8")
fences <- grep("^```", lines)
stopifnot(length(fences) %% 2 == 0)
blocks <- data.frame(first = fences[c(TRUE, FALSE)], last = fences[c(FALSE, TRUE)])
blocks$kind <- sub("^```", "", lines[blocks$first])
inside <- function(block) lines[seq_len(blocks$last[block] - blocks$first[block] - 1) + blocks$first[block]]

printed <- function(code) {
    show <- function(expression) {
        value <- withVisible(eval(expression, globalenv()))
        if (value$visible) print(value$value)
    }
    sub(" +$", "", utils::capture.output(for (expression in parse(text = code, keep.source = FALSE)) show(expression)))
}

setwd(tempdir())
said <- list()
wrong <- 0
for (block in which(blocks$kind == "r")) {
    output <- suppressMessages(printed(inside(block)))
    answered <- block < nrow(blocks) && blocks$kind[block + 1] == "text" && blocks$first[block + 1] - blocks$last[block] <= 2
    if (answered && !identical(output, inside(block + 1))) {
        said[[as.character(block + 1)]] <- output
        wrong <- wrong + 1
        if (!nzchar(Sys.getenv("CANDOR_WRITE_DOCS"))) {
            cat("line ", blocks$first[block + 1], " of the guide: this is said instead\n", paste0(output, "\n"), sep = "")
        }
    }
}
if (nzchar(Sys.getenv("CANDOR_WRITE_DOCS"))) {
    for (block in rev(as.integer(names(said)))) {
        lines <- c(lines[seq_len(blocks$first[block])], said[[as.character(block)]], lines[blocks$last[block]:length(lines)])
    }
    writeLines(lines, guide, useBytes = TRUE)
} else if (wrong > 0) {
    quit(status = 1)
}
