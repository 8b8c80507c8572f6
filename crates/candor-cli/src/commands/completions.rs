//! `candor completions`: completion scripts for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Command;
use crate::failure::Failure;
use crate::show::emit_data;

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor completions bash > candor.bash        then: source candor.bash
  candor completions zsh > _candor             in a folder of $fpath
  candor completions fish > candor.fish        in ~/.config/fish/completions")]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Command::command(), "candor", &mut script);
    emit_data(&String::from_utf8_lossy(&script))
}
