//! Files and folders that only their owner can read, on systems where that is a permission.

use std::fs::{DirBuilder, OpenOptions};
use std::path::Path;

/// Returns options that give a new file to its owner only. An existing file keeps its permissions.
///
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let mut options = candor::platform::owner_only_file();
/// options.write(true).create_new(true).open(folder.path().join("key"))?.write_all(b"secret")?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn owner_only_file() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns a builder that gives a new folder to its owner only.
pub fn owner_only_folder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Gives an existing file to its owner only.
///
/// # Errors
/// Returns the error of the file system, for example if there is no such file.
pub fn restrict_to_owner(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_else_can_read_what_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = |name: &str| std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
        owner_only_file().write(true).create_new(true).open(at("new")).unwrap();
        owner_only_folder().create(at("folder")).unwrap();
        std::fs::write(at("old"), "").unwrap();
        std::fs::set_permissions(at("old"), PermissionsExt::from_mode(0o644)).unwrap();
        restrict_to_owner(&at("old")).unwrap();
        assert_eq!([mode("new"), mode("folder"), mode("old")], [0o600, 0o700, 0o600]);
        assert_eq!(restrict_to_owner(&at("none")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    }
}
