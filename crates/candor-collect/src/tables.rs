//! The tables of a survey's database, its files, and what can be wrong with them.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sqlx::{Any, Transaction};

/// The version of the tables; each step of [`steps`] leads to the next.
pub(crate) const VERSION: usize = 4;

/// Why something could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database does not do what it should.
    #[error("the database: {0}")]
    Database(#[from] sqlx::Error),
    /// A database that holds another survey.
    #[error("the database belongs to another survey: it was started with the plan {found}, not {expected}")]
    OtherSurvey {
        /// The fingerprint in the database.
        found: String,
        /// That of this survey's plan.
        expected: String,
    },
    /// A database of a later candor.
    #[error("the database has version {0}, from a later candor; this one supports versions up to {VERSION}")]
    Version(usize),
    /// Another server uses the database.
    #[error("another server is collecting for this survey")]
    TakenOver,
    /// The key of the tokens is not the one that the survey was begun with.
    #[error(
        "tokens were issued with the key {0}, but the file token-key in the folder has another; restore the old file"
    )]
    OtherKey(String),
    /// Another server holds the file.
    #[error("{} is in use: another server is collecting for this survey", .0.display())]
    InUse(PathBuf),
    /// A file that cannot be made or locked.
    #[error("cannot use {}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Responses that wait under a key that is not there.
    #[error(
        "{} is not the key file of this database, so pending responses cannot be read; restore the key file that \
         belongs to it", .0.display()
    )]
    OtherWaitingKey(PathBuf),
    /// What the database holds is not what was written.
    #[error("the database holds {0}, which candor-collect never wrote")]
    Damaged(String),
}

/// Which counts are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountScope {
    /// Those of all responses.
    All,
    /// Those of the batches that are public.
    Public,
}

impl CountScope {
    /// The table they are kept in, and under which name their numbers are.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            CountScope::All => ("tallies", "tallied"),
            CountScope::Public => ("published", "published"),
        }
    }
}

/// The statements that lead from nothing to the tables of today.
pub(crate) fn steps(postgres: bool) -> [Vec<String>; VERSION] {
    // A place is random. In SQLite it is the key of the file itself, so that no hidden number tells the order.
    let (place, no_order) = if postgres { ("BIGINT", "") } else { ("INTEGER", " WITHOUT ROWID") };
    let counts = "(number BIGINT, tags TEXT, total BIGINT NOT NULL, counts TEXT NOT NULL, PRIMARY KEY (number, tags))";
    let first = vec![
        format!("CREATE TABLE responses (place {place} PRIMARY KEY, response TEXT NOT NULL)"),
        format!("CREATE TABLE spent (hash TEXT PRIMARY KEY){no_order}"),
        format!("CREATE TABLE invitations (hash TEXT PRIMARY KEY, used BIGINT NOT NULL){no_order}"),
        "CREATE TABLE days (day TEXT PRIMARY KEY, responses BIGINT NOT NULL)".to_owned(),
        format!("CREATE TABLE tallies {counts}"),
    ];
    // More tables are counted from here on: the old counts are made again.
    let second = vec!["DELETE FROM tallies".to_owned(), format!("CREATE TABLE published {counts}")];
    let arrivals =
        format!("CREATE TABLE arrivals (place {place} PRIMARY KEY, spent TEXT NOT NULL, responses TEXT NOT NULL)");
    // What arrived lay together by commits, which told the order: it is settled, and from here on a batch waits in
    // `waiting`.
    let (ids, rows, row, bytes) = match postgres {
        true => (
            "json_array_elements_text(CAST(spent AS JSON)) AS id(value)",
            "json_array_elements(CAST(responses AS JSON)) AS one(value)",
            "CAST(one.value ->> 0 AS BIGINT), one.value ->> 1",
            "BYTEA",
        ),
        false => ("json_each(spent) AS id", "json_each(responses) AS one", "one.value ->> 0, one.value ->> 1", "BLOB"),
    };
    let waiting = vec![
        format!("INSERT INTO spent (hash) SELECT id.value FROM arrivals, {ids} ORDER BY 1"),
        format!("INSERT INTO responses (place, response) SELECT {row} FROM arrivals, {rows} ORDER BY 1"),
        "DROP TABLE arrivals".to_owned(),
        format!("CREATE TABLE waiting (slot INTEGER PRIMARY KEY, version {bytes} NOT NULL)"),
    ];
    [first, second, vec![arrivals], waiting]
}

/// Makes the file of a SQLite database readable to its owner alone; SQLite gives its other files the same rights.
pub(crate) fn owner_only(path: &Path) -> std::io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?;
    #[cfg(unix)]
    for path in ["", "-wal", "-shm"].map(|end| format!("{}{end}", path.display())) {
        let rights = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        match std::fs::set_permissions(path, rights) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Holds the file of a database for one server; it is free again when this is dropped.
///
/// # Errors
/// If another server holds it.
pub fn hold(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("lock");
    let failed = |error| StoreError::File { path: path.clone(), error };
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(StoreError::File { path, error }),
    }
}

/// Many values go to the database as one: a list in JSON, which it unfolds. So a statement is the same for any number
/// of them, and is prepared once. This is the table of a list's members, `value`.
pub(crate) fn unfolded(transaction: &Transaction<'_, Any>) -> &'static str {
    match transaction.backend_name() {
        "PostgreSQL" => "json_array_elements_text(CAST($1 AS JSON))",
        _ => "json_each($1)",
    }
}

/// A list in JSON.
pub(crate) fn list<T: Serialize>(values: &[T]) -> String {
    serde_json::to_string(values).expect("text and numbers are JSON")
}
