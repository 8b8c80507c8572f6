#' Learn associations between parties who show their records to nobody
#'
#' Run `candor party`: rounds of files between parties. Each party has the file of the session and its own records; the guide
#' docs/how-to/learn-between-parties.md says who sends what to whom. A share must reach its collector so that nobody else can read it.
#'
#' @param schema As in [candor_design()].
#' @param parties The names of the parties, in order.
#' @param file The file to be written: it is never replaced for a session.
#' @param session The path of the session's file.
#' @param data A data frame of the party's true records.
#' @param party The name of the party, or of the collector.
#' @param folder A new folder for the messages.
#' @param messages The paths of messages: for `candor_party_sum()` the shares for the collector, for `candor_party_finish()` all
#'   announcements and sums, for `candor_party_check()` these and the shares that a collector shows.
#' @param ... Further options of the command, such as `collectors = 3` and `epsilon = 12` for `candor_party_init()`, or
#'   `max_cells = 50` for `candor_party_finish()`.
#' @return `candor_party_finish()` gives a data frame as [candor_associations()]; its `candor_details(x)` has the `totals` of all pairs
#'   and the `clusters`. `candor_party_check()` gives the names of the collectors whose sums are right. The others give the paths of the
#'   files they wrote.
#' @examples
#' people <- as.data.frame(UCBAdmissions)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Admit", "Gender")]
#' folder <- tempfile()
#' dir.create(folder)
#' session <- candor_party_init(candor_schema(people), c("North", "South"), file.path(folder, "session.json"))
#' north <- candor_party_share(session, people[1:2000, ], "North", file.path(folder, "north"))
#' south <- candor_party_share(session, people[2001:4526, ], "South", file.path(folder, "south"))
#' sent <- c(north, south)
#' sums_of <- function(name) {
#'     shares <- grep(paste0("-to-", name), sent, value = TRUE)
#'     candor_party_sum(session, shares, name, file.path(folder, paste0("sums-", name, ".json")))
#' }
#' sums <- c(sums_of("North"), sums_of("South"))
#' candor_party_finish(session, c(grep("announcement", sent, value = TRUE), sums))
#' @name candor_party
NULL

#' @rdname candor_party
#' @export
candor_party_init <- function(schema, parties, file, ...) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    made <- run_json(c("party", "init", schema_file(schema, folder), flags(parties = parties, output = file, ...)))
    unlist(made$files)
}

#' @rdname candor_party
#' @export
candor_party_share <- function(session, data, party, folder, ...) {
    check_frame(data)
    made <- run_json(c("party", "share", session, "-", flags(as = party, output = folder, ...)), data)
    unlist(made$files)
}

#' @rdname candor_party
#' @export
candor_party_sum <- function(session, messages, party, file) {
    made <- run_json(c("party", "sum", session, messages, flags(as = party, output = file)))
    unlist(made$files)
}

#' @rdname candor_party
#' @export
candor_party_finish <- function(session, messages, ...) {
    found <- run_json(c("party", "finish", session, messages, flags(...)))
    about <- paste0("Association of each pair, from ", number(found$records), " records of ", length(found$parties), " parties")
    result(rows(found$dependences), "candor_associations", about, found)
}

#' @rdname candor_party
#' @export
candor_party_check <- function(session, messages) {
    unlist(run_json(c("party", "check", session, messages))$checked)
}
