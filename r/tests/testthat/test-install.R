test_that("the command is installed only if its checksum is right", {
    cache <- tempfile("cache-")
    before <- Sys.getenv("R_USER_CACHE_DIR", NA)
    Sys.setenv(R_USER_CACHE_DIR = cache)
    on.exit({
        if (is.na(before)) Sys.unsetenv("R_USER_CACHE_DIR") else Sys.setenv(R_USER_CACHE_DIR = before)
        unlink(cache, recursive = TRUE)
    })
    binary <- tempfile("a 'binary' ")
    writeBin(charToRaw("abc"), binary)
    # FIPS 180-2, appendix B.1.
    right <- "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    expect_error(candor_install(binary, sub("ba", "bb", right)), "nothing was installed", class = "candor_error")
    expect_false(file.exists(candor:::installed()))
    expect_error(candor_install(binary, "abc"), "64 hexadecimal", class = "candor_error")
    expect_error(candor_install("none", right), "no file", class = "candor_error")
    path <- candor_install(binary, toupper(right))
    expect_identical(readBin(path, "raw", 10), charToRaw("abc"))
    expect_true(file.access(path, 1) == 0)
})
