//! `candor-studio`: the whole study in a local page.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, ExitCode, Stdio};

use candor::platform::owner_only_file;
use candor_studio::server::serve;
use clap::Parser;

#[derive(Parser)]
#[command(
    name = "candor-studio",
    version,
    about = "Open the studio: a study in a page of the browser, from a table or questions to a published report"
)]
struct Command {
    /// Folder of studies, created if missing [default: candor-studies in the home folder]
    folder: Option<PathBuf>,
    /// Port on this computer [default: any free port]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Print the address, but do not open a browser
    #[arg(long)]
    no_browser: bool,
}

fn main() -> ExitCode {
    let command = Command::parse();
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), String> {
    let home = || std::env::home_dir().map(|home| home.join("candor-studies"));
    let folder = command.folder.or_else(home).ok_or("name a folder for studies: no home folder is known")?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
    let ready = |address: &str| {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "candor studio: {address}");
        let _ = writeln!(out, "Open this address in a browser on this computer. Ctrl-C ends it; everything is saved.");
        let _ = out.flush();
        if !command.no_browser {
            open_browser(&folder, address);
        }
    };
    let done = runtime.block_on(serve(&folder, command.port, ready, stopped()));
    let _ = std::fs::remove_file(folder.join(DOOR));
    // A computation behind the page may be abandoned.
    runtime.shutdown_background();
    done.map_err(|problem| problem.text)
}

/// The file that leads a browser to the page.
const DOOR: &str = "open-studio.html";

/// Writes the file, for its owner only.
fn write_door(path: &Path, address: &str) -> std::io::Result<()> {
    let _ = std::fs::remove_file(path);
    let page = format!(
        "<!DOCTYPE html><title>candor studio</title><meta http-equiv=\"refresh\" content=\"0;url={address}\">\n"
    );
    owner_only_file().write(true).create_new(true).open(path)?.write_all(page.as_bytes())
}

/// Opens the page by a file that leads there: others on this computer can see the arguments of programs, and the
/// address holds the secret. Where that fails, the address was printed.
fn open_browser(folder: &Path, address: &str) {
    let path = folder.join(DOOR);
    if write_door(&path, address).is_err() {
        return;
    }
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut opener = Program::new(program);
    let _ = opener.args(arguments).arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

/// Waits until the program is asked to stop.
async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
