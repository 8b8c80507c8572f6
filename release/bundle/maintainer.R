# Writes the maintainer into a DESCRIPTION: maintainer.R FILE "Name <address>".
arguments <- commandArgs(TRUE)
parts <- regmatches(arguments[2], regexec("^(.+) <([^<> ]+@[^<> ]+)>$", arguments[2]))[[1]]
if (length(parts) != 3) stop("the maintainer is \"Name <address>\"")
lines <- readLines(arguments[1])
author <- sprintf("Authors@R: person(\"%s\", role = c(\"aut\", \"cre\"), email = \"%s\")", parts[2], parts[3])
writeLines(sub("^Authors@R:.*", author, lines), arguments[1])
