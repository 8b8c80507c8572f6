//! Writes files atomically.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::TableError;
use crate::publish::{place, publish};
use crate::sidecar::Sidecar;
use crate::temporary_file::Unfinished;

pub use crate::publish::Existing;
pub(crate) use crate::publish::is_taken;
pub use crate::temporary_file::abandon_unfinished;

/// Destination of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file, which is replaced when the output is complete.
    File(PathBuf),
    /// Standard output, written incrementally.
    Stdout,
}

impl Target {
    /// Creates a destination from a path; `-` is standard output.
    pub fn new(path: &str) -> Target {
        if path == "-" { Target::Stdout } else { Target::File(path.into()) }
    }

    /// Returns the name for messages.
    pub fn name(&self) -> String {
        match self {
            Target::File(path) => path.display().to_string(),
            Target::Stdout => "standard output".to_owned(),
        }
    }

    /// Returns the error that it could not be written, which says what state it is in.
    pub(crate) fn failed(&self, error: io::Error) -> TableError {
        let file = self.name();
        match self.is_replaced() {
            true => TableError::Write { file, error },
            false => TableError::Stream { file, error },
        }
    }

    /// Returns whether the output is a file that appears when complete; devices and pipes are written
    /// incrementally.
    fn is_replaced(&self) -> bool {
        match self {
            Target::File(path) => path.metadata().map_or(true, |metadata| metadata.is_file() || metadata.is_dir()),
            Target::Stdout => false,
        }
    }

    /// Returns whether the name has this ending, apart from a final `.gz`.
    pub(crate) fn ends_with(&self, ending: &str) -> bool {
        let name = self.name().to_lowercase();
        name.strip_suffix(".gz").unwrap_or(&name).ends_with(ending)
    }
}

/// An output in progress, which takes its place in [`Pending::finish`].
///
/// If dropped before, it leaves nothing behind. Devices and pipes are written directly.
pub struct Pending {
    target: Target,
    sink: Sink,
}

enum Sink {
    Stdout(BufWriter<io::Stdout>),
    Direct(BufWriter<File>),
    Beside { out: BufWriter<File>, unfinished: Unfinished, place: PathBuf },
}

impl Sink {
    fn open(target: &Target) -> io::Result<Sink> {
        let Target::File(path) = target else { return Ok(Sink::Stdout(BufWriter::new(io::stdout()))) };
        let old = path.metadata().ok();
        match &old {
            Some(metadata) if metadata.is_dir() => return Err(io::Error::other("it is a folder")),
            Some(metadata) if !metadata.is_file() => {
                return Ok(Sink::Direct(BufWriter::new(File::options().write(true).open(path)?)));
            }
            Some(_) => {
                // A file that is not writable must not be replaced either.
                File::options().append(true).open(path)?;
            }
            None => {}
        }
        // A link remains a link, and a file keeps its permissions.
        let place = place(path)?;
        let (file, unfinished) = Unfinished::beside(&place)?;
        if let Some(metadata) = old {
            file.set_permissions(metadata.permissions())?;
        }
        Ok(Sink::Beside { out: BufWriter::with_capacity(1 << 18, file), unfinished, place })
    }
}

impl Pending {
    /// Starts an output, and fails immediately if its folder is not writable.
    ///
    /// # Errors
    /// Returns [`TableError`] if the destination is not writable.
    pub fn new(target: &Target) -> Result<Pending, TableError> {
        let sink = Sink::open(target).map_err(|error| target.failed(error))?;
        Ok(Pending { target: target.clone(), sink })
    }

    /// Starts an output with a sidecar file, and fails immediately if that is another kind of file.
    pub(crate) fn with_sidecar(target: &Target) -> Result<Pending, TableError> {
        let pending = Pending::new(target)?;
        if let Sink::Beside { place, .. } = &pending.sink {
            Sidecar::find(&Sidecar::path(place))?;
        }
        Ok(pending)
    }

    /// Moves the output to its place, and removes the sidecar file of responses that it replaces.
    ///
    /// # Errors
    /// Returns [`TableError`] if it cannot be written completely; the destination is then unchanged.
    pub fn finish(self) -> Result<(), TableError> {
        self.finish_with(None, Existing::Replace)
    }

    /// Moves the output and its sidecar file to their places; devices and pipes have no sidecar file.
    pub(crate) fn finish_with(self, sidecar: Option<&Sidecar>, existing: Existing) -> Result<(), TableError> {
        let failed = |error| self.target.failed(error);
        match self.sink {
            Sink::Stdout(mut out) => out.flush().map_err(failed),
            Sink::Direct(mut out) => out.flush().map_err(failed),
            Sink::Beside { out, unfinished, place } => {
                let file = out.into_inner().map_err(io::IntoInnerError::into_error);
                file.and_then(|file| file.sync_all()).map_err(failed)?;
                publish(unfinished, &place, sidecar, existing)
            }
        }
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Stdout(out) => out.write(bytes),
            Sink::Direct(out) | Sink::Beside { out, .. } => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(out) => out.flush(),
            Sink::Direct(out) | Sink::Beside { out, .. } => out.flush(),
        }
    }
}

/// Writes a small file atomically.
///
/// # Errors
/// Returns [`TableError`] if it cannot be written.
pub fn write(target: &Target, content: &[u8]) -> Result<(), TableError> {
    let mut pending = Pending::new(target)?;
    pending.write_all(content).map_err(|error| target.failed(error))?;
    pending.finish()
}

/// Text output, compressed if the name ends in `.gz`.
pub(crate) enum TextWriter {
    Plain(Pending),
    Gzip(GzEncoder<Pending>),
}

impl TextWriter {
    pub(crate) fn new(pending: Pending) -> TextWriter {
        match pending.target.name().to_lowercase().ends_with(".gz") {
            true => TextWriter::Gzip(GzEncoder::new(pending, Compression::default())),
            false => TextWriter::Plain(pending),
        }
    }

    /// Completes the text and returns the output, which is not at its place yet.
    pub(crate) fn end(self) -> io::Result<Pending> {
        match self {
            TextWriter::Plain(pending) => Ok(pending),
            TextWriter::Gzip(encoder) => encoder.finish(),
        }
    }
}

impl Write for TextWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            TextWriter::Plain(out) => out.write(bytes),
            TextWriter::Gzip(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            TextWriter::Plain(out) => out.flush(),
            TextWriter::Gzip(out) => out.flush(),
        }
    }
}
