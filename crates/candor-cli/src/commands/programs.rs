//! `candor studio` and `candor collect`: separate programs, started if they are installed.

use std::ffi::OsString;
use std::process::Command;

use candor::shell::program_file;
use clap::Args;

use crate::failure::Failure;

#[derive(Args)]
#[command(
    after_help = "This starts a separate program, candor-studio or candor-collect, if it is installed. Its help: \
                  candor-studio --help"
)]
pub struct ProgramArgs {
    /// Arguments of the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Replaces this process by `candor-NAME`.
pub fn run(name: &str, args: ProgramArgs) -> Result<(), Failure> {
    let program = format!("candor-{name}");
    let file = program_file(&program).ok_or_else(|| {
        Failure::Input(format!(
            "{program} is not installed; candor {name} starts this separate program. It is part of the archive and the \
             Debian package of a release; with Rust, install it with: cargo install {program}"
        ))
    })?;
    let mut command = Command::new(&file);
    command.args(args.arguments);
    start(&mut command).map_err(|error| Failure::Input(format!("cannot start {}: {error}", file.display())))
}

#[cfg(unix)]
fn start(command: &mut Command) -> std::io::Result<()> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn start(command: &mut Command) -> std::io::Result<()> {
    let ended = command.status()?;
    std::process::exit(ended.code().unwrap_or(1));
}
