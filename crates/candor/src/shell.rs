//! Quotes words of suggested commands for a shell, and finds installed programs.

use std::path::PathBuf;

use candor_runtime::escape_control::is_hidden;

/// Quotes a word for a shell.
///
/// Hidden characters become octal escapes within `$'...'`, which bash, zsh, ksh and POSIX 2024 shells read.
///
/// ```
/// use candor::shell::word;
///
/// assert_eq!(word("it's"), r"'it'\''s'");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+".contains(c);
    match () {
        () if word.chars().all(plain) && !word.is_empty() => word.to_owned(),
        () if word.chars().any(is_hidden) => format!("$'{}'", word.chars().map(escaped).collect::<String>()),
        () => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Quotes a file name for a shell, so that a leading dash is not read as an option.
///
/// `-` stays as it is: it stands for standard input or output.
pub fn file(path: &str) -> String {
    match path.starts_with('-') && path != "-" {
        true => word(&format!("./{path}")),
        false => word(path),
    }
}

/// Formats an option with its value, joined by `=` if the value begins with a dash.
pub fn flag(name: &str, value: &str) -> String {
    let between = if value.starts_with('-') { "=" } else { " " };
    format!("{name}{between}{}", word(value))
}

/// Finds a program next to this one or on the path; `None` if it is not installed.
pub fn program_file(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = beside.into_iter().chain(std::env::split_paths(&path)).collect();
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    folders.into_iter().map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// Escapes a character within `$'...'`.
fn escaped(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\'' | '\\' => format!("\\{c}"),
        c if is_hidden(c) => c.to_string().bytes().map(|byte| format!("\\{byte:03o}")).collect(),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Splits a line as a shell does, into words of plain, quoted and dollar-quoted pieces.
    fn read(line: &str) -> Vec<String> {
        let mut words = vec![Vec::new()];
        let mut bytes = line.bytes().peekable();
        while let Some(byte) = bytes.next() {
            let word = words.last_mut().expect("there is a word");
            match byte {
                b' ' => words.push(Vec::new()),
                b'\\' => word.extend(bytes.next()),
                b'\'' => word.extend(bytes.by_ref().take_while(|&byte| byte != b'\'')),
                b'$' => {
                    assert_eq!(bytes.next(), Some(b'\''));
                    while let Some(byte) = bytes.next().filter(|&byte| byte != b'\'') {
                        word.push(match (byte, byte == b'\\') {
                            (_, false) => byte,
                            (_, true) => match bytes.next().expect("something is escaped") {
                                b'n' => b'\n',
                                octal @ b'0'..=b'7' => {
                                    let digit = |byte: u8| u32::from(byte - b'0');
                                    let (second, third) = (bytes.next().unwrap(), bytes.next().unwrap());
                                    (64 * digit(octal) + 8 * digit(second) + digit(third)) as u8
                                }
                                other => other,
                            },
                        });
                    }
                }
                byte => word.push(byte),
            }
        }
        words.into_iter().map(|word| String::from_utf8(word).unwrap()).collect()
    }

    #[test]
    fn each_kind_of_word() {
        assert_eq!(word("plan.json"), "plan.json");
        assert_eq!(word("my plan.json"), "'my plan.json'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
        assert_eq!(word("a\nb'c\\d"), r"$'a\nb\'c\\d'");
        assert_eq!(word("a\u{202e}b\u{1b}"), r"$'a\342\200\256b\033'");
        assert_eq!(word("~/$(reboot)"), "'~/$(reboot)'");
        assert_eq!([file("-x"), file("-"), file("- x"), file("a")], ["./-x", "-", "'./- x'", "a"]);
        assert_eq!([flag("--by", "-x"), flag("--by", "a b")], ["--by=-x", "--by 'a b'"]);
    }

    proptest! {
        #[test]
        fn a_shell_reads_back_what_was_meant(words in prop::collection::vec(any::<String>(), 1..4)) {
            let line = words.iter().map(|text| word(text)).collect::<Vec<_>>().join(" ");
            prop_assert!(!line.chars().any(is_hidden));
            prop_assert_eq!(read(&line), words);
        }
    }

    /// Splits a line with the installed shell, if there is one.
    #[cfg(unix)]
    #[test]
    fn bash_reads_back_what_was_meant() {
        let words = ["a b", "it's", "-x", "a\nb", "\u{202e}\u{1b}[0m", "$(echo no)", "*", "~", "a\\nb", "!!", ""];
        let script = format!("printf '%s\\0' {}", words.map(word).join(" "));
        if let Ok(said) = std::process::Command::new("bash").args(["-c", &script]).output() {
            let read: Vec<&[u8]> = said.stdout.split(|&byte| byte == 0).collect();
            assert_eq!(read[..words.len()], words.map(str::as_bytes));
        }
    }
}
