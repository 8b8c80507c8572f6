//! A zip archive of a few files, the same bytes for the same files.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::problem::Problem;

/// The date of every entry, 1980-01-01, in the format of the archive.
const DATE: u16 = 0x21;

/// Version 2.0: folders and deflate.
const VERSION: u16 = 20;

/// Names are UTF-8.
const UTF8: u16 = 1 << 11;

const DEFLATE: u16 = 8;

/// Returns an archive of these files, by name; those that end with `.sh` can be executed.
///
/// # Errors
/// If they are too large together for the format.
pub fn zip(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Problem> {
    let large = || Problem::input("These files are too large for one zip file; copy the folder instead.");
    let size = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| large());
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(content).and_then(|()| encoder.finish()).map_err(Problem::input)?;
        let mut sum = flate2::Crc::new();
        sum.update(content);
        let length = u16::try_from(name.len()).map_err(|_| large())?;
        let mut entry = Vec::new();
        for number in [VERSION, UTF8, DEFLATE, 0, DATE] {
            entry.extend(number.to_le_bytes());
        }
        for number in [sum.sum(), size(&packed)?, size(content)?] {
            entry.extend(number.to_le_bytes());
        }
        entry.extend(length.to_le_bytes());
        entry.extend([0, 0]);
        let start = size(&all)?;
        all.extend(b"PK\x03\x04");
        all.extend(&entry);
        all.extend(name.as_bytes());
        all.extend(packed);
        let mode: u32 = if name.ends_with(".sh") { 0o100_755 } else { 0o100_644 };
        directory.extend(b"PK\x01\x02");
        // Made on Unix, so that the mode counts.
        directory.extend([20, 3]);
        directory.extend(&entry);
        directory.extend([0; 6]);
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (count, start) = (u16::try_from(files.len()).map_err(|_| large())?.to_le_bytes(), size(&all)?);
    all.extend(&directory);
    all.extend(b"PK\x05\x06\0\0\0\0");
    all.extend(count);
    all.extend(count);
    all.extend(size(&directory)?.to_le_bytes());
    all.extend(start.to_le_bytes());
    all.extend([0, 0]);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Another program unpacks it.
    #[test]
    fn archives_are_unpacked_as_they_were() {
        let files = [
            ("a study/report.html".to_owned(), b"<p>one</p>".repeat(1000)),
            ("a study/commands.sh".to_owned(), b"#!/bin/sh\necho done\n".to_vec()),
            ("a study/größe.csv".to_owned(), Vec::new()),
        ];
        let folder = tempfile::tempdir().unwrap();
        let archive = zip(&files).unwrap();
        assert_eq!(zip(&files).unwrap(), archive);
        std::fs::write(folder.path().join("a.zip"), archive).unwrap();
        let unpack = "import sys, zipfile\nz = zipfile.ZipFile('a.zip')\nassert z.testzip() is None\n\
                      z.extractall()\nprint(oct(z.getinfo('a study/commands.sh').external_attr >> 16))";
        let run = Command::new("python3").args(["-c", unpack]).current_dir(folder.path()).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(run.stdout, b"0o100755\n");
        for (name, content) in &files {
            assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), *content, "{name}");
        }
    }
}
