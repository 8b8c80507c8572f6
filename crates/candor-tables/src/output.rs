//! Writing files: complete or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::{NamedTempFile, TempPath};

use crate::TableError;

/// Where output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file, replaced when the output is complete.
    File(PathBuf),
    /// Standard output, written as it comes.
    Stdout,
}

impl Target {
    /// A path, with `-` for standard output.
    pub fn new(path: &str) -> Target {
        if path == "-" { Target::Stdout } else { Target::File(path.into()) }
    }

    /// The name to use in messages.
    pub fn name(&self) -> String {
        match self {
            Target::File(path) => path.display().to_string(),
            Target::Stdout => "standard output".to_owned(),
        }
    }

    /// Whether the name ends like this, before `.gz` if it ends so.
    pub(crate) fn ends_with(&self, ending: &str) -> bool {
        let name = self.name().to_lowercase();
        name.strip_suffix(".gz").unwrap_or(&name).ends_with(ending)
    }
}

/// Unfinished files, to be removed if the program is interrupted.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all unfinished files; for a signal handler, just before the program ends.
pub fn abandon_unfinished() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for path in unfinished.iter() {
        let _ = std::fs::remove_file(path);
    }
}

/// An output under way: nothing is at its place until [`Pending::finish`]. Dropped before that, it
/// leaves nothing behind. What is not a regular file (a device or a pipe) is written directly.
pub struct Pending {
    target: Target,
    sink: Sink,
}

enum Sink {
    Stdout(BufWriter<io::Stdout>),
    Direct(BufWriter<File>),
    Beside(BufWriter<File>, TempPath),
}

impl Pending {
    /// Begins an output; fails at once where its folder cannot be written to.
    ///
    /// # Errors
    /// If the place cannot be written to.
    pub fn new(target: &Target) -> Result<Pending, TableError> {
        let open = || -> io::Result<Sink> {
            let Target::File(path) = target else { return Ok(Sink::Stdout(BufWriter::new(io::stdout()))) };
            match path.metadata() {
                Ok(metadata) if metadata.is_dir() => return Err(io::Error::other("it is a folder")),
                Ok(metadata) if !metadata.is_file() => {
                    return Ok(Sink::Direct(BufWriter::new(File::options().write(true).open(path)?)));
                }
                Ok(_) => {
                    // A file that may not be written must not be replaced either.
                    File::options().append(true).open(path)?;
                }
                Err(_) => {}
            }
            // A link stays a link, and a file keeps its permissions.
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            let (file, temporary) = beside(&real)?.into_parts();
            if let Ok(metadata) = real.metadata() {
                file.set_permissions(metadata.permissions())?;
            }
            UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(temporary.to_path_buf());
            Ok(Sink::Beside(BufWriter::with_capacity(1 << 18, file), temporary))
        };
        let sink = open().map_err(|error| TableError::Write { file: target.name(), error })?;
        Ok(Pending { target: target.clone(), sink })
    }

    /// Puts the output in its place.
    ///
    /// # Errors
    /// If it cannot be written to the end; then nothing is at its place.
    pub fn finish(self) -> Result<(), TableError> {
        let done = match self.sink {
            Sink::Stdout(mut out) => out.flush(),
            Sink::Direct(mut out) => out.flush(),
            Sink::Beside(out, temporary) => {
                let place = match &self.target {
                    Target::File(path) => path.canonicalize().unwrap_or_else(|_| path.clone()),
                    Target::Stdout => unreachable!("standard output has no file beside it"),
                };
                let file = out.into_inner().map_err(io::IntoInnerError::into_error);
                let forget = temporary.to_path_buf();
                let moved = file
                    .and_then(|file| file.sync_all())
                    .and_then(|()| temporary.persist(place).map_err(|failed| failed.error));
                UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).retain(|path| *path != forget);
                moved
            }
        };
        done.map_err(|error| TableError::Write { file: self.target.name(), error })
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Stdout(out) => out.write(bytes),
            Sink::Direct(out) | Sink::Beside(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(out) => out.flush(),
            Sink::Direct(out) | Sink::Beside(out, _) => out.flush(),
        }
    }
}

fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".candor-").suffix(".unfinished");
    #[cfg(unix)]
    {
        // The usual permissions, which the user's mask then restricts, not a temporary file's.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Writes a small file, complete or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write(target: &Target, content: &[u8]) -> Result<(), TableError> {
    let mut pending = Pending::new(target)?;
    let failed = |error| TableError::Write { file: target.name(), error };
    pending.write_all(content).map_err(failed)?;
    pending.finish()
}

/// Text output, compressed if the name ends in `.gz`.
pub(crate) enum TextWriter {
    Plain(Pending),
    Gzip(GzEncoder<Pending>),
}

impl TextWriter {
    pub(crate) fn new(target: &Target) -> Result<TextWriter, TableError> {
        let pending = Pending::new(target)?;
        Ok(match target.name().to_lowercase().ends_with(".gz") {
            true => TextWriter::Gzip(GzEncoder::new(pending, Compression::default())),
            false => TextWriter::Plain(pending),
        })
    }

    pub(crate) fn finish(self, target: &Target) -> Result<(), TableError> {
        let pending = match self {
            TextWriter::Plain(pending) => pending,
            TextWriter::Gzip(encoder) => {
                encoder.finish().map_err(|error| TableError::Write { file: target.name(), error })?
            }
        };
        pending.finish()
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
