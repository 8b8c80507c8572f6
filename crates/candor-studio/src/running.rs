//! `candor-collect` as a child process.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use candor::shell::program_file;

use crate::problem::Problem;

/// A survey that is being served.
pub struct Running {
    child: Child,
    address: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

/// Maximum time for a survey to stop by itself.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks the program to stop, which it does after answering all requests. Acknowledged responses are stored in any case.
fn stop(child: &mut Child) {
    #[cfg(unix)]
    {
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        let began = std::time::Instant::now();
        while began.elapsed() < PATIENCE && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Message if the program is missing.
const NOT_INSTALLED: &str = "candor-collect is not installed on this computer; it serves surveys. Install it as the \
    guide \"Install candor\" says (for example: cargo install candor-collect), then press the button again.";

/// Returns the program that serves surveys.
///
/// # Errors
/// Returns an error if it is not installed.
pub fn program() -> Result<Command, Problem> {
    program_file("candor-collect").map(Command::new).ok_or_else(|| Problem::first(NOT_INSTALLED))
}

impl Running {
    /// Serves the survey in a subfolder on this computer.
    ///
    /// # Errors
    /// Returns an error if the program is missing, or the survey cannot be served.
    pub fn serve(folder: &Path, survey: &str) -> Result<Running, Problem> {
        let mut command = program()?;
        command.args(["serve", survey, "--listen", "127.0.0.1:0"]).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |error: String| Problem::input(format!("The survey cannot be served: {error}"));
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            // Further output is not needed.
            let _ = BufReader::new(out).read_line(&mut line);
        }
        let address = line.split_whitespace().find(|word| word.starts_with("http://")).map(str::to_owned);
        match address {
            Some(address) => {
                if let Some(mut log) = child.stderr.take() {
                    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
                }
                Ok(Running { child, address })
            }
            None => {
                let mut said = String::new();
                stop(&mut child);
                let _ = child.stderr.take().map(|mut error| error.read_to_string(&mut said));
                Err(failed(said.trim().to_owned()))
            }
        }
    }

    /// Returns the address of the survey.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns whether the program has stopped by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}
