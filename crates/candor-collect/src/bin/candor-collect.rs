//! `candor-collect`: a survey at an address, whose respondents' browsers randomize before anything is sent.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use candor_collect::collector::{CollectError, Serving, collect, export, invite, open_store, secret_file, write_lines};
use candor_collect::demo;
use candor_collect::pages::PAGES;
use candor_collect::random::hash;
use candor_collect::store::Store;
use candor_collect::survey::Survey;
use candor_tables::output::Target;
use candor_tables::responses::Format;
use clap::{Args, Parser, Subcommand, ValueEnum};
use tokio::sync::Notify;

#[derive(Parser)]
#[command(
    name = "candor-collect",
    version,
    about = "Collect randomized responses: each respondent's browser randomizes, so nobody ever holds a true answer"
)]
struct Command {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Create a survey folder with the plan and a survey.toml to edit
    #[command(alias = "new")]
    Init {
        /// Survey folder
        survey: PathBuf,
        /// Plan (JSON)
        #[arg(long)]
        plan: PathBuf,
        /// Accept responses from invited people only
        #[arg(long)]
        invited: bool,
        /// Last day on which invited people receive tokens, such as 2026-11-30; they answer after that day. Nobody
        /// can link a token to an invitation. Recommended for invited people
        #[arg(long, requires = "invited")]
        tokens_until: Option<String>,
    },
    /// Serve a survey over HTTP until stopped
    Serve(ServeArgs),
    /// Print single-use invitation links (CSV)
    Invite {
        #[command(flatten)]
        at: At,
        /// Number of links
        #[arg(long)]
        count: usize,
        /// Base URL of the survey, such as https://survey.example [default: address in survey.toml, or
        /// http://localhost:8080]
        #[arg(long, alias = "address")]
        base_url: Option<String>,
    },
    /// Write the files that browsers receive, exactly as served, and print their SHA-256
    Pages {
        /// Output folder, created if missing
        folder: PathBuf,
    },
    /// Print the number of responses
    Status(At),
    /// Close a survey: reject further responses
    Close(At),
    /// Export all responses in random order, with the plan's fingerprint
    Export {
        #[command(flatten)]
        at: At,
        /// Output file: .parquet, .csv, .tsv or .jsonl; - for standard output
        #[arg(short, long)]
        output: String,
        /// Output format [default: by the file name; JSON Lines on standard output]
        #[arg(long, value_enum)]
        format: Option<FormatArg>,
    },
    /// Run a demo survey on this machine, with simulated respondents and a dashboard
    Demo {
        /// Number of simulated respondents
        #[arg(long, default_value_t = 5_000)]
        respondents: usize,
        /// Address and port to listen on
        #[arg(long, default_value = "127.0.0.1:8080")]
        listen: SocketAddr,
        /// Exit when all respondents have answered
        #[arg(long, alias = "once")]
        exit_when_done: bool,
    },
}

#[derive(Args)]
struct At {
    /// Survey folder
    survey: PathBuf,
    /// SQLite file, or URL of a PostgreSQL database [default: responses.sqlite in the survey folder]
    #[arg(long)]
    database: Option<String>,
}

#[derive(Args)]
struct ServeArgs {
    #[command(flatten)]
    at: At,
    /// Address and port to listen on
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Serve other machines too: a proxy in front terminates TLS
    #[arg(long)]
    behind_proxy: bool,
    /// Show results to holders of the token in the file "token" of the folder, created if missing
    #[arg(long)]
    results: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Csv,
    Parquet,
    Jsonl,
}

fn main() -> ExitCode {
    let command = Command::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.to_string()),
    };
    match runtime.block_on(run(command.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::FAILURE
}

async fn run(command: Subcommands) -> Result<(), CollectError> {
    match command {
        Subcommands::Init { survey, plan, invited, tokens_until } => {
            let (made, notes) = Survey::create_for(&survey, &plan, invited, tokens_until)?;
            notes.iter().for_each(|note| eprintln!("note: {note}"));
            say(&format!(
                "Edit {}, then: candor-collect serve {}\n",
                made.folder.join("survey.toml").display(),
                survey.display()
            ))
        }
        Subcommands::Serve(args) => serve(args).await,
        Subcommands::Invite { at, count, base_url } => {
            let survey = Survey::read(&at.survey)?;
            if !survey.wording.invitations {
                return Err(CollectError::Other(
                    "survey.toml: invitations is not true, so the survey is open to everybody".to_owned(),
                ));
            }
            let own = survey.wording.address.as_deref();
            let address = base_url.as_deref().or(own).unwrap_or("http://localhost:8080");
            let codes = invite(&open_store(&survey, at.database.as_deref()).await?, count).await?;
            let lines: String =
                codes.iter().map(|code| format!("{}/#{code}\n", address.trim_end_matches('/'))).collect();
            say(&format!("link\n{lines}"))
        }
        Subcommands::Pages { folder } => write_pages(&folder),
        Subcommands::Status(at) => status(&at).await,
        Subcommands::Close(at) => {
            let survey = Survey::read(&at.survey)?;
            open_store(&survey, at.database.as_deref()).await?.close().await?;
            say("The survey is closed.\n")
        }
        Subcommands::Export { at, output, format } => write_out(&at, &output, format).await,
        Subcommands::Demo { respondents, listen, exit_when_done } => {
            demo::run(listen, respondents, exit_when_done, |text| drop(say(text))).await
        }
    }
}

/// Writes to standard output.
fn say(text: &str) -> Result<(), CollectError> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| CollectError::Other(format!("cannot write to standard output: {error}")))
}

fn write_pages(folder: &Path) -> Result<(), CollectError> {
    let failed = |error: std::io::Error| CollectError::Other(format!("cannot write to {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    for (name, text) in PAGES.files() {
        std::fs::write(folder.join(name), text).map_err(failed)?;
        say(&format!("{}  {name}\n", hash(text)))?;
    }
    say(&format!("{}  a saved page without the line that holds its data\n", PAGES.saved_hash))
}

async fn serve(args: ServeArgs) -> Result<(), CollectError> {
    let token = if args.results { Some(secret_file(&args.at.survey, "token")?) } else { None };
    let shown = token.clone();
    let ServeArgs { at, listen: address, behind_proxy, .. } = args;
    let serving = Serving { address, database: at.database, behind_proxy, token, reload: reloaded() };
    let ready = |bound: SocketAddr, survey: &Survey| {
        let results = shown.map_or(String::new(), |token| format!("Results: http://{bound}/results#{token}\n"));
        let _ = say(&format!("Survey:  http://{bound}/  (plan {})\n{results}", survey.plan.fingerprint()));
    };
    collect(&at.survey, serving, ready, stopped()).await?;
    say("Stopped; everything is stored.\n")
}

/// Told whenever the program gets SIGHUP.
fn reloaded() -> Arc<Notify> {
    let told = Arc::new(Notify::new());
    #[cfg(unix)]
    if let Ok(mut hangup) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()) {
        let told = Arc::clone(&told);
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                told.notify_one();
            }
        });
    }
    told
}

/// When the program is told to stop.
async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
}

async fn status(at: &At) -> Result<(), CollectError> {
    let survey = Survey::read(&at.survey)?;
    let store = open_store(&survey, at.database.as_deref()).await?;
    let (invited, used) = store.invitations().await?;
    let mut text = format!("plan {}\n", survey.plan.fingerprint());
    for (day, responses) in store.days().await? {
        text.push_str(&format!("{day}  {responses}\n"));
    }
    let waiting = store.waiting().await?;
    let (responses, waits) = (store.responses().await?, waiting.responses.len() as u64);
    text.push_str(&format!("{} responses", responses + waits));
    if waits > 0 {
        text.push_str(&format!(" ({waits} wait for their batch)"));
    }
    if survey.wording.invitations {
        let used = used + waiting.invitations.len() as u64;
        text.push_str(&format!("; {used} of {invited} invitations used"));
    }
    text.push_str(if store.is_closed().await? { "; closed\n" } else { "; open\n" });
    say(&text)
}

async fn write_out(at: &At, output: &str, format: Option<FormatArg>) -> Result<(), CollectError> {
    let survey = Survey::read(&at.survey)?;
    let store = open_store(&survey, at.database.as_deref()).await?;
    let target = Target::new(output);
    let by_name = if output == "-" || output.ends_with(".jsonl") { FormatArg::Jsonl } else { FormatArg::Csv };
    let format = match format.unwrap_or(by_name) {
        FormatArg::Jsonl if output == "-" => {
            let written = write_lines(&store, std::io::stdout().lock()).await?;
            return told(&store, written, "standard output").await;
        }
        FormatArg::Jsonl => {
            let file = std::fs::File::create(output)
                .map_err(|error| CollectError::Other(format!("cannot write {output}: {error}")))?;
            let written = write_lines(&store, std::io::BufWriter::new(file)).await?;
            return told(&store, written, output).await;
        }
        FormatArg::Parquet => Format::Parquet,
        FormatArg::Csv => Format::for_target(&target),
    };
    let written = export(&survey, &store, target, format).await?;
    told(&store, written, output).await
}

/// Reports how many responses were written, and how many were not because they still wait.
async fn told(store: &Store, written: u64, output: &str) -> Result<(), CollectError> {
    eprintln!("{written} responses in {output}");
    let waits = store.waiting().await?.responses.len();
    if waits > 0 {
        eprintln!(
            "note: {waits} more wait for their batch, in whose random order they will be; closing the survey settles \
             them"
        );
    }
    Ok(())
}
