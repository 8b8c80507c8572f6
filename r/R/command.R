# The command `candor`: where it is, what is said to it, what it says.

#' The command that does the work
#'
#' Everything is computed by the command `candor`, which this package runs. It is taken from the option `candor.command`, else
#' from the environment variable `CANDOR`, else from the path, else from where [candor_install()] put it.
#'
#' @return The path of the command; an error if there is none.
#' @examples
#' candor_command()
#' @export
candor_command <- function() {
    given <- getOption("candor.command", Sys.getenv("CANDOR"))
    found <- unname(Sys.which(if (nzchar(given)) given else "candor"))
    if (nzchar(found)) {
        return(found)
    }
    if (!nzchar(given) && file.exists(installed())) {
        return(installed())
    }
    if (nzchar(given)) {
        failed("the command candor is not at `", given, "`, as the option candor.command or the variable CANDOR says")
    }
    failed("the command candor is not on the path: install it with candor_install(), or say where it is by options(candor.command = \"...\")")
}

# An error that callers can tell from others by its class, and rejections of some kinds by the code of their verdict.
failed <- function(..., verdict = NULL) {
    stop(errorCondition(paste0(...), class = "candor_error", verdict = verdict))
}

# Runs the command. `input` is a data frame that it reads as CSV from a pipe, so that true records are in no file. Gives its standard
# output, one string per line. Notes become messages, warnings become warnings, and a failure is an error with the command's words.
run <- function(arguments, input = NULL) {
    folder <- scratch()
    on.exit(unlink(folder, recursive = TRUE))
    output <- file.path(folder, "output")
    said <- file.path(folder, "said")
    line <- paste(shell_words(c(checked_command(), arguments)), collapse = " ")
    line <- as_bytes(paste(line, ">", shell_words(output), "2>", shell_words(said)))
    status <- if (is.null(input)) wait_for(line, folder) else feed(line, input)
    words <- for_people(utf8_lines(said), input)
    if (status != 0) {
        message <- sub("^error: ", "", sub("\n\n.*", "", paste(words, collapse = "\n")))
        failed(message, verdict = verdict_of(utf8_lines(output)))
    }
    pass_on(words)
    utf8_lines(output)
}

# The code that the command printed of a rejection, if it did.
verdict_of <- function(lines) {
    rejection <- tryCatch(jsonlite::fromJSON(lines, simplifyVector = FALSE), error = function(e) NULL)
    if (is.list(rejection)) rejection$verdict
}

# The command, if it speaks the formats of this package: the first two parts of both versions are the same. Asked once in a session.
checked_command <- function() {
    command <- candor_command()
    known <- c(command, file.mtime(command))
    if (!identical(session$checked, known)) {
        said <- suppressWarnings(system2(command, "--version", stdout = TRUE, stderr = FALSE))
        check_version(sub("^candor ", "", said[1]), as.character(utils::packageVersion("candor")), command)
        session$checked <- known
    }
    command
}

session <- new.env()

check_version <- function(found, own, command) {
    formats <- function(version) sub("^([0-9]+[.][0-9]+).*", "\\1", version)
    if (is.na(found) || !grepl("^[0-9]+[.][0-9]+", found)) {
        failed(command, " does not say its version: it is not the command candor")
    }
    if (formats(found) != formats(own)) {
        older <- package_version(formats(found)) < package_version(formats(own))
        failed("the command ", command, " is version ", found, " and this package is version ", own, ": ",
               if (older) "update the command, with candor_install()" else "update this package")
    }
}

# Runs a line, and gives its exit status. It runs in the background, so that an interrupt ends both the wait and the command.
wait_for <- function(line, folder) {
    if (.Platform$OS.type == "windows") {
        return(system(line))
    }
    place <- function(name) file.path(folder, name)
    q <- function(name) shell_words(place(name))
    system(paste0("{ ", line, " & echo $! > ", q("id"), "; wait $!; echo $? > ", q("ending"), "; mv ", q("ending"), " ", q("status"),
                  "; } &"))
    on.exit(if (!file.exists(place("status"))) tools::pskill(as.integer(readLines(place("id")))))
    begun <- Sys.time()
    pause <- 0.005
    told <- FALSE
    while (!file.exists(place("status"))) {
        Sys.sleep(pause)
        pause <- min(1.5 * pause, 0.25)
        elapsed <- as.numeric(Sys.time() - begun, units = "secs")
        if (interactive() && elapsed > 2) {
            cat(sprintf("\rcandor: %.0f s", elapsed), file = stderr())
            told <- TRUE
        }
    }
    if (told) cat("\r                \r", file = stderr())
    as.integer(readLines(place("status")))
}

# The same for verbs that say what they did as JSON. Of a table that was given, all rows must have arrived.
run_json <- function(arguments, input = NULL) {
    text <- without_folders(paste(run(c(arguments, "--json"), input), collapse = "\n"))
    done <- jsonlite::fromJSON(text, simplifyVector = FALSE)
    details <- jsonlite::fromJSON(text, simplifyMatrix = FALSE, flatten = TRUE)
    if (!is.null(input) && done$records != nrow(input)) {
        failed("the command read ", done$records, " rows of ", nrow(input), ": the table did not reach it whole")
    }
    structure(done, details = details)
}

# Writes a table into a command, and gives its exit status. A command that ends before it has read all breaks the pipe; its own words
# say why, so that R's are not needed.
feed <- function(line, table) {
    check_columns(table)
    pipe <- pipe(line, "wb")
    suppressWarnings(try(write_csv(table, pipe), silent = TRUE))
    status <- suppressWarnings(close(pipe))
    if (is.null(status)) 0 else status
}

# Files of this session, which nobody knows, by their names alone.
without_folders <- function(words) {
    gsub(paste0(tempdir(), "/candor-[^/]*/"), "", words)
}

# What the command says, with its files as the caller knows them.
for_people <- function(words, input) {
    words <- as_arguments(without_folders(words))
    if (is.null(input)) words else gsub("standard input", "the data frame", words, fixed = TRUE)
}

# Options of the command as arguments of a function: `--max-epsilon` is `max_epsilon`.
as_arguments <- function(words) {
    places <- gregexpr("(?<![A-Za-z0-9-])--[a-z][a-z-]*[a-z]", words, perl = TRUE)
    regmatches(words, places) <- lapply(regmatches(words, places), function(found) {
        if (length(found) == 0) character() else paste0("`", gsub("-", "_", sub("^--", "", found)), "`")
    })
    words
}

# What the command says beside its result.
pass_on <- function(words) {
    for (word in words[nzchar(words)]) {
        if (startsWith(word, "warning: ")) {
            warning(sub("^warning: ", "", word), call. = FALSE)
        } else {
            message(sub("^note: ", "", word))
        }
    }
}

shell_words <- function(words) {
    shQuote(enc2utf8(words))
}

# UTF-8 that R hands on as it is, whatever the locale.
as_bytes <- function(text) {
    text <- enc2utf8(text)
    Encoding(text) <- "unknown"
    text
}

utf8_lines <- function(file) {
    readLines(file, warn = FALSE, encoding = "UTF-8")
}

# A folder for what the command reads and writes; whoever makes it removes it.
scratch <- function() {
    folder <- tempfile("candor-")
    dir.create(folder)
    folder
}
