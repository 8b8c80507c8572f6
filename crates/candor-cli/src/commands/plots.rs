//! Plots as files: SVG or PNG, by extension.

use std::path::{Path, PathBuf};

use candor_tables::existing::write_document;
use candor_tables::output::Target;

use crate::failure::Failure;

/// Rejects files that are not plots before anything is computed.
pub fn check(files: &[PathBuf]) -> Result<(), Failure> {
    match files.iter().find(|file| ending(file).is_none()) {
        Some(file) => {
            Err(Failure::Usage(format!("--plot {}: expected a file name that ends in .svg or .png", file.display())))
        }
        None => Ok(()),
    }
}

/// Writes each file.
pub fn write(files: &[PathBuf], svg: impl Fn() -> String, png: impl Fn() -> Vec<u8>) -> Result<(), Failure> {
    for file in files {
        let bytes = if ending(file) == Some("png") { png() } else { svg().into_bytes() };
        write_document(&Target::new(&file.to_string_lossy()), &bytes)?;
    }
    Ok(())
}

fn ending(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "svg" => Some("svg"),
        "png" => Some("png"),
        _ => None,
    }
}
