//! Running examples in a folder of their own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, OnceLock};

use super::document::{Example, agrees, examples, to_show};
use super::sandbox::{CANDOR, Sandbox};

/// Programs that examples may begin with beside `candor`.
const PROGRAMS: [&str; 7] = ["awk", "cat", "cp", "echo", "gunzip", "head", "printf"];

/// Examples that are not run: they build the project, run all its tests, or need a program that may not be there.
const NOT_RUN: [&str; 7] = [
    "cargo run --release -- demo",
    "cargo test --workspace",
    "cargo install --path crates/candor-cli",
    "cargo install cargo-fuzz",
    "cargo +nightly fuzz run",
    "python3 fuzz/attack.py",
    "duckdb -csv",
];

/// What takes long in an example, and what is run instead.
const SHORTENED: [(&str, &str); 4] = [
    ("pareto --normal-prior 10", "pareto --normal-prior 10 --generations 20 --points 5"),
    ("--attribute Education --respondents 30000", "--attribute Education --generations 20 --points 5"),
    ("--generations 20000", "--generations 20"),
    ("reproduce optimized-rr -o", "reproduce optimized-rr figure-5 --repeats 1 -o"),
];

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The bundled data, compressed, as named in a copy of the repository.
const DATA: &str = "data/people/people.csv.gz";

/// A folder with the bundled data as `people.csv`.
pub fn with_data() -> Sandbox {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut text = Vec::new();
        let file = std::fs::File::open(root().join(DATA)).unwrap();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(file), &mut text).unwrap();
        text
    });
    let sandbox = Sandbox::new();
    sandbox.write("people.csv", table);
    sandbox
}

/// The same, with the compressed data at their place in the repository.
pub fn like_the_repository() -> Sandbox {
    let sandbox = with_data();
    std::fs::create_dir_all(sandbox.path(DATA).parent().unwrap()).unwrap();
    sandbox.write(DATA, std::fs::read(root().join(DATA)).unwrap());
    sandbox
}

/// A folder with every file that the examples of `--help` name, made by candor itself.
pub fn with_files() -> Sandbox {
    let sandbox = with_data();
    let gzip = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, text).unwrap();
        encoder.finish().unwrap()
    };
    let table = sandbox.read("people.csv");
    let (header, rows) = table.split_once('\n').unwrap();
    let region = |name: &str| {
        let rows = rows.lines().filter(|row| row.starts_with(name)).map(|row| format!("{row}\n"));
        format!("{header}\n{}", rows.collect::<String>())
    };
    sandbox.write("people.csv.gz", gzip(table.as_bytes()));
    sandbox.write("north.csv", region("north"));
    sandbox.write("south.csv.gz", gzip(region("south").as_bytes()));
    sandbox.write("M.csv", "0.7,0.2,0.1\n0.2,0.6,0.3\n0.1,0.2,0.6\n");
    sandbox.write("texts.toml", "[questions.Income]\ntext = \"What do you earn?\"\n");
    let grid = "[[attribute]]\nname = \"Age\"\nkind = \"ordinal\"\ngrid = [0, 50, 100]\ncategories = \
                [\"0\", \"50\", \"100\"]\n";
    sandbox.write("numbers.toml", grid);
    let record = "{\"Region\": \"north\", \"Education\": \"bachelor\", \"Sex\": \"Female\", \"Income\": \">50K\"}\n";
    sandbox.write("people.jsonl", record.repeat(3));
    for command in [
        "schema infer people.csv --public Region --drop weight -o schema.toml",
        "design schema.toml --method independent --epsilon 4 -o plan.json",
        "design schema.toml --method independent --epsilon 2 -o first.json",
        "design schema.toml --method joint --epsilon 2 -o second.json",
        "design schema.toml --only Education,Income --method joint --epsilon 2 -o education.json",
        "design schema.toml --only Sex --method warner --p 0.7 -o sex.json",
        "cluster schema.toml people.csv --max-cells 10 --min-dependence 0.1 -o clusters.json",
        "design --categories 4 --method warner --p 0.7 -o warner.json",
        "design --categories 4,4 --method heuristic --attribute-epsilon 3,3 -o heuristic.json",
        "design schema.toml --cross-with Income --method independent --epsilon 8 -o crossed.json",
        "randomize crossed.json people.csv --seed 1 -o crossed.csv",
        "randomize plan.json people.csv --keep weight --seed 1 -o responses.csv",
        "randomize plan.json people.csv --keep weight --seed 1 -o responses.parquet",
        "randomize first.json people.csv --keep weight --seed 2 -o earlier.parquet",
    ] {
        sandbox.run(command).fine();
    }
    // A program of somebody else, which tells the truth.
    let client = sandbox.write("client", "#!/bin/sh\nexec cat\n");
    std::fs::set_permissions(client, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let responses = sandbox.read("responses.csv");
    // As interviewers would have written it down: nothing beside it says what it is.
    sandbox.write("answers.csv", &responses);
    let (header, rows) = responses.split_once('\n').unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for row in rows.lines() {
        *counts.entry(row.rsplit_once(',').unwrap().0).or_insert(0) += 1;
    }
    let header = header.rsplit_once(',').unwrap().0;
    let mark = sandbox.read("responses.csv.candor.json");
    let mark = mark.split('"').find(|text| text.starts_with("sha256:")).unwrap().to_owned();
    let counted: String = counts.iter().map(|(row, count)| format!("{row},{mark},{count}\n")).collect();
    sandbox.write("counts.csv", format!("{header},candor_fingerprint,count\n{counted}"));
    exchange(&sandbox);
    let public = sandbox.run("sign --new-key survey.key").fine().out;
    sandbox.write("survey.pub", public);
    sandbox.run("sign plan.json --key survey.key").fine();
    sandbox
}

/// A session of three parties with all their messages.
fn exchange(sandbox: &Sandbox) {
    sandbox.run("party init schema.toml --parties North,South,West -o session.json").fine();
    let parties = ["North", "South", "West"];
    for party in parties {
        sandbox.run(&format!("party share session.json north.csv --as {party} -o sent")).fine();
        for file in std::fs::read_dir(sandbox.path("sent")).unwrap() {
            let file = file.unwrap();
            std::fs::rename(file.path(), sandbox.path(&file.file_name().to_string_lossy())).unwrap();
        }
        std::fs::remove_dir(sandbox.path("sent")).unwrap();
    }
    for party in parties {
        let shares = parties.map(|from| format!("share-{from}-to-{party}.json")).join(" ");
        sandbox.run(&format!("party sum session.json {shares} --as {party}")).fine();
    }
}

/// What an example said, in the order of output and errors; `None` if it is not one to be run.
fn run(sandbox: &Sandbox, command: &str) -> Result<Option<Vec<String>>, String> {
    if NOT_RUN.iter().any(|known| command.starts_with(known)) {
        return Ok(None);
    }
    let program = command.split_whitespace().next().unwrap_or_default();
    if program != "candor" && !PROGRAMS.contains(&program) {
        return Err(format!("{program} is not a program that examples may use"));
    }
    let command = SHORTENED.iter().fold(command.to_owned(), |command, (long, short)| command.replace(long, short));
    let folder = Path::new(CANDOR).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(folder.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &format!("set -o pipefail; exec 2>&1; {command}")])
        .current_dir(sandbox.path(""))
        .env("PATH", path.unwrap())
        .env("COLUMNS", "120")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("bash: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0) => Ok(Some(text.lines().map(|line| line.trim_end().to_owned()).collect())),
        code => Err(format!("exit code {}:\n{text}", code.unwrap_or(-1))),
    }
}

/// Runs an example of a help text, which is one of several ways, where its output does not exist yet.
pub fn run_alone(name: &str, files: &Sandbox, example: &Example) -> Vec<String> {
    let sandbox = files.copy();
    let words: Vec<&str> = example.command.split_whitespace().collect();
    for pair in words.windows(2).filter(|pair| ["-o", "--new-key"].contains(&pair[0])) {
        for file in [pair[1].to_owned(), format!("{}.candor.json", pair[1])] {
            let _ = std::fs::remove_file(sandbox.path(&file));
        }
    }
    run_examples(name, &sandbox, std::slice::from_ref(example))
}

/// Runs examples one after another in one folder; says what went wrong.
fn run_examples(name: &str, sandbox: &Sandbox, examples: &[Example]) -> Vec<String> {
    let failed = |example: &Example| {
        let error = run(sandbox, &example.command).err()?;
        Some(format!("{name}:{}: {}\n{error}", example.line, example.command))
    };
    examples.iter().filter_map(failed).collect()
}

/// Runs a document of the repository and compares what it shows; rewrites it if `CANDOR_WRITE_DOCS` is set.
pub fn run_document(path: &Path) -> Vec<String> {
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let sandbox = like_the_repository();
    let (mut wrong, mut rewritten, mut copied) = (Vec::new(), Vec::new(), 0);
    for example in examples(&lines) {
        let output = match run(&sandbox, &example.command) {
            Ok(output) => output,
            Err(error) => {
                wrong.push(format!("{name}:{}: {}\n{error}", example.line, example.command));
                continue;
            }
        };
        let (Some(output), Some(shown)) = (output, example.shown) else { continue };
        if agrees(&lines[shown.clone()], &output) {
            continue;
        }
        wrong.push(format!("{name}:{}: {}\nnow says\n{}", example.line, example.command, output.join("\n")));
        rewritten.extend_from_slice(&lines[copied..shown.start]);
        rewritten.extend(to_show(&lines[shown.clone()], &output));
        copied = shown.end;
    }
    rewritten.extend_from_slice(&lines[copied..]);
    if std::env::var_os("CANDOR_WRITE_DOCS").is_some() && rewritten != lines {
        std::fs::write(path, rewritten.join("\n") + "\n").unwrap();
    }
    wrong
}

/// Works through jobs on all cores; gives all complaints, in the order of the jobs.
pub fn all<T: Sync>(jobs: &[T], work: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let next = Mutex::new(0..jobs.len());
    let complaints = Mutex::new(vec![Vec::new(); jobs.len()]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(job) = next.lock().unwrap().next() else { break };
                    let found = work(&jobs[job]);
                    complaints.lock().unwrap()[job] = found;
                }
            });
        }
    });
    complaints.into_inner().unwrap().concat()
}
