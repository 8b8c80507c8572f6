# One row per person of a contingency table.
people_of <- function(table, columns) {
    counts <- as.data.frame(table)
    people <- counts[rep(seq_len(nrow(counts)), counts$Freq), columns]
    row.names(people) <- NULL
    people
}

# Responses of a simulation, without its warning.
simulated <- function(...) suppressWarnings(candor_randomize(..., seed = 7))

quietly <- suppressMessages
