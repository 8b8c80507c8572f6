//! `candor man`: manual pages, from the same definitions as the help.

use std::path::Path;

use candor::shell;
use candor_tables::existing::write_document;
use candor_tables::output::Target;
use clap::{Args, CommandFactory};
use clap_mangen::Man;

use crate::Command;
use crate::failure::Failure;
use crate::show::{emit, emit_data, plural};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor man > candor.1                         the main page; read it with: man -l candor.1
  candor man --folder man1                      all pages, one per command")]
pub struct ManArgs {
    /// Output folder for all pages, created if missing [default: print the main page]
    #[arg(long)]
    folder: Option<String>,
}

pub fn run(args: ManArgs) -> Result<(), Failure> {
    let mut command = Command::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.folder else { return emit_data(&String::from_utf8_lossy(&render(&command))) };
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Input(format!("cannot create the folder {folder}: {error}")))?;
    let mut pages = Vec::new();
    collect(&command, &mut pages);
    for (name, page) in &pages {
        write_document(&Target::new(&Path::new(folder).join(name).to_string_lossy()), page)?;
    }
    let first = shell::file(&format!("{folder}/candor.1"));
    emit(&format!("{} in {folder}; read the first with: man -l {first}\n", plural(pages.len(), "page")))
}

/// Collects the pages of a command and of all its subcommands, by file name.
fn collect(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) {
    pages.push((Man::new(command.clone()).get_filename(), render(command)));
    for subcommand in command.get_subcommands() {
        collect(subcommand, pages);
    }
}

fn render(command: &clap::Command) -> Vec<u8> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page).expect("memory takes every page");
    page
}
