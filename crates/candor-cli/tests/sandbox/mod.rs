//! A folder to run the command in, and what it said.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub const CANDOR: &str = env!("CARGO_BIN_EXE_candor");

pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// What a command said.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

#[allow(dead_code)]
impl Said {
    fn new(output: &Output) -> Said {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The command succeeded.
    pub fn fine(self) -> Said {
        assert_eq!(self.code, 0, "{}\n{}", self.out, self.err);
        self
    }

    /// The command failed with this exit code and said all of these.
    pub fn refused(self, code: i32, parts: &[&str]) -> Said {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        for part in parts {
            assert!(self.err.contains(part), "\"{part}\" is not in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }
}

#[allow(dead_code)]
impl Sandbox {
    pub fn new() -> Sandbox {
        Sandbox { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(CANDOR);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs `candor` with words separated by spaces.
    pub fn run(&self, words: &str) -> Said {
        self.run_words(&words.split_whitespace().collect::<Vec<_>>())
    }

    pub fn run_words(&self, words: &[&str]) -> Said {
        Said::new(&self.command().args(words).output().unwrap())
    }

    /// Runs `candor` with something on standard input.
    pub fn run_with(&self, words: &str, input: impl AsRef<[u8]>) -> Said {
        let mut command = self.command();
        command.args(words.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The command may stop reading early; that is not what is tested here.
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        Said::new(&child.wait_with_output().unwrap())
    }

    /// Every verb of the command, as words: "design", "schema", "schema infer", ...
    pub fn verbs(&self) -> Vec<String> {
        let mut all = Vec::new();
        for verb in listed(&self.run("--help").fine().out) {
            let nested = listed(&self.run(&format!("{verb} --help")).fine().out);
            all.extend(nested.into_iter().map(|inner| format!("{verb} {inner}")));
            all.push(verb);
        }
        all
    }

    /// Another folder with the same files.
    pub fn copy(&self) -> Sandbox {
        let copy = Sandbox::new();
        for name in self.files() {
            fs::copy(self.path(&name), copy.path(&name)).unwrap();
        }
        copy
    }

    /// The Adult data as a table.
    pub fn adult(&self, name: &str) -> PathBuf {
        self.write(name, candor_experiments::adult::csv())
    }

    /// A table of `rows` people with a public region, a sensitive answer, an age and an id.
    pub fn people(&self, name: &str, rows: usize) -> PathBuf {
        let mut text = String::from("id,region,smokes,age\n");
        for i in 0..rows {
            let (region, smokes) = (["north", "south"][i % 2], ["no", "sometimes", "yes"][i * 7 % 3]);
            text += &format!("{i},{region},{smokes},{}\n", 18 + i * 13 % 60);
        }
        self.write(name, text)
    }

    /// The schema and an independent plan for those people.
    pub fn plan(&self) {
        self.write(
            "schema.toml",
            "[[attribute]]\nname = \"region\"\npublic = true\ncategories = [\"north\", \"south\"]\n\n\
             [[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"sometimes\", \"yes\"]\n\n\
             [[attribute]]\nname = \"age\"\nkind = \"ordinal\"\nedges = [30, 50]\n\
             categories = [\"below 30\", \"30 to below 50\", \"50 or more\"]\n",
        );
        self.run("design schema.toml --method independent --epsilon 2 -o plan.json").fine();
    }
}

/// The verbs that a help text lists.
fn listed(help: &str) -> Vec<String> {
    // The main help has groups of verbs, from the first to its options.
    let list = match (help.split_once("Commands:\n"), help.split_once("\nPlan:\n")) {
        (Some((_, rest)), _) => rest.split("\n\n").next().unwrap_or_default(),
        (None, Some((_, rest))) => rest.split("\nOptions:\n").next().unwrap_or_default(),
        (None, None) => return vec![],
    };
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

/// The rows of a CSV text without quotes.
#[allow(dead_code)]
pub fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}
