//! Failures of the command: what is wrong, where, and what would be right. Exit code 1 for invalid input, 2 for wrong
//! usage.

use std::io::Write;
use std::process::ExitCode;

use candor::verdict::Verdict;
use candor::{StudyError, rejection};
use candor_analysis::adjust::AdjustError;
use candor_design::DesignError;
use candor_runtime::escape_control::visible;
use candor_tables::TableError;
use candor_tables::output::Target;

use crate::flags::with_flags;
use crate::json::{expects_json, json_text};

/// Writes to standard error; a failure to write there, such as a full disk, is ignored.
pub fn tell(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Reasons why a command failed.
pub enum Failure {
    /// The input is invalid.
    Input(String),
    /// The input is invalid; the reason has a code.
    Rejected(Verdict),
    /// The options cannot be combined.
    Usage(String),
    /// The reader of the output has gone, so nobody is left to tell.
    NobodyReads,
}

impl Failure {
    /// Creates an input error with its file.
    pub fn about(file: &str, error: impl std::fmt::Display) -> Failure {
        Failure::Input(format!("{file}: {error}"))
    }

    fn rejected(mut verdict: Verdict) -> Failure {
        verdict.text = with_flags(&verdict.text);
        Failure::Rejected(verdict)
    }

    /// Prints the error and returns the exit code; with `--json` also the verdict of a rejection, as JSON.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Input(message) => {
                tell(&format!("error: {}", visible(&message)));
                ExitCode::from(1)
            }
            Failure::Rejected(verdict) => {
                tell(&format!("error: {}", visible(&verdict.text)));
                // Programs also read the exit code, so a failure to write the verdict is ignored.
                let text = if expects_json() { json_text(&verdict) } else { String::new() };
                let _ = std::io::stdout().lock().write_all(text.as_bytes());
                ExitCode::from(1)
            }
            Failure::Usage(message) => {
                tell(&format!("error: {}\n\nFor more information, try '--help'.", visible(&message)));
                ExitCode::from(2)
            }
            Failure::NobodyReads => ExitCode::SUCCESS,
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Failure {
        if let Some(verdict) = rejection::of_table(&error) {
            return Failure::rejected(verdict);
        }
        match &error {
            TableError::Stream { file, error }
                if error.kind() == std::io::ErrorKind::BrokenPipe && *file == Target::Stdout.name() =>
            {
                Failure::NobodyReads
            }
            TableError::NoCounts { .. } => {
                Failure::Input(format!("{error}; candor sql prints the query that makes them"))
            }
            TableError::ReadTwice => Failure::Usage(error.to_string()),
            _ => Failure::Input(with_flags(&error.to_string())),
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Failure {
        if let Some(verdict) = rejection::of_study(&error) {
            return Failure::rejected(verdict);
        }
        let told = with_flags(&error.to_string());
        match error {
            StudyError::InvalidParameter(_)
            | StudyError::InTable(_)
            | StudyError::Design(DesignError::MissingParameter(_)) => Failure::Usage(told),
            StudyError::Adjust(
                AdjustError::Lottery | AdjustError::Sets(_) | AdjustError::Crossed(_) | AdjustError::OtherAnswers(_),
            ) => {
                Failure::Input(format!("{told} (see candor estimate, or candor synthesize --method tree for records)"))
            }
            _ => Failure::Input(told),
        }
    }
}
