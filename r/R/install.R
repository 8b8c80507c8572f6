# Installing the command for one user.

#' Install the command of a release
#'
#' Copies or downloads the binary of a release into the user's cache, after its SHA-256 was found to be the one that is stated.
#' Nothing is installed otherwise, and nothing without being asked for.
#'
#' @param source Path or URL of the binary `candor` of a release.
#' @param sha256 Its SHA-256, as in the file `SHA256SUMS` of the release: 64 hexadecimal digits.
#' @return The path of the command, invisibly.
#' @examples
#' \dontrun{
#' candor_install("candor-0.2.0-x86_64-linux", sha256 = "...")
#' }
#' @export
candor_install <- function(source, sha256) {
    if (!is.character(sha256) || length(sha256) != 1 || !grepl("^[0-9a-fA-F]{64}$", sha256)) {
        failed("`sha256` must be 64 hexadecimal digits, as in the file SHA256SUMS of the release")
    }
    file <- source
    if (grepl("^https?://", source)) {
        file <- tempfile("candor-")
        on.exit(unlink(file))
        utils::download.file(source, file, mode = "wb", quiet = TRUE)
    }
    if (!file.exists(file)) {
        failed("there is no file ", source)
    }
    found <- checksum(file)
    if (!identical(tolower(found), tolower(sha256))) {
        failed("the SHA-256 of ", source, " is ", found, ", not ", sha256, ": nothing was installed")
    }
    target <- installed()
    dir.create(dirname(target), recursive = TRUE, showWarnings = FALSE)
    beside <- paste0(target, ".new")
    if (!file.copy(file, beside, overwrite = TRUE)) {
        failed("cannot write ", beside)
    }
    Sys.chmod(beside, "0755")
    if (!file.rename(beside, target)) {
        failed("cannot write ", target)
    }
    invisible(target)
}

# Where the command of this user is, if it was installed.
installed <- function() {
    name <- if (.Platform$OS.type == "windows") "candor.exe" else "candor"
    file.path(tools::R_user_dir("candor", "cache"), name)
}

# The SHA-256 of a file, by R from version 4.5 on, else by the system.
checksum <- function(file) {
    if (exists("sha256sum", envir = asNamespace("tools"), inherits = FALSE)) {
        return(unname(get("sha256sum", envir = asNamespace("tools"))(file)))
    }
    for (command in list(c("sha256sum", ""), c("shasum", "-a 256"))) {
        if (nzchar(Sys.which(command[1]))) {
            said <- system(paste(command[1], command[2], shQuote(file)), intern = TRUE)
            return(sub("^\\\\?([0-9a-f]{64}).*", "\\1", said[1]))
        }
    }
    failed("nothing here computes SHA-256: install R 4.5, sha256sum or shasum")
}
