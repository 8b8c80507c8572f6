//! The tables of a survey's database, its files, and their errors.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use candor::platform::{owner_only_file, restrict_to_owner};
use serde::Serialize;
use sqlx::{Any, Transaction};

/// Version of the tables; each step of [`steps`] leads to the next one.
pub(crate) const VERSION: usize = 4;

/// Reasons why something cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database failed.
    #[error("the database: {0}")]
    Database(#[from] sqlx::Error),
    /// The database belongs to another survey.
    #[error("the database belongs to another survey: it was started with the plan {found}, not {expected}")]
    OtherSurvey {
        /// Fingerprint in the database.
        found: String,
        /// Fingerprint of this survey's plan.
        expected: String,
    },
    /// The database was written by a later version of candor.
    #[error("the database has version {0}, from a later candor; this one supports versions up to {VERSION}")]
    Version(usize),
    /// Another server is active.
    #[error("another server is collecting for this survey")]
    TakenOver,
    /// The key of the tokens has changed.
    #[error(
        "tokens were issued with the key {0}, but the file token-key in the folder has another; restore the old file"
    )]
    OtherKey(String),
    /// Another server holds the file.
    #[error("{} is in use: another server is collecting for this survey", .0.display())]
    InUse(PathBuf),
    /// A file cannot be created or locked.
    #[error("cannot use {}: {error}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the file system.
        error: std::io::Error,
    },
    /// The key of the waiting responses is missing.
    #[error(
        "{} is not the key file of this database, so pending responses cannot be read; restore the key file that \
         belongs to it", .0.display()
    )]
    OtherWaitingKey(PathBuf),
    /// The database holds data that candor-collect never writes.
    #[error("the database holds {0}, which candor-collect never wrote")]
    Damaged(String),
}

/// The counts that are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountScope {
    /// Counts of all responses.
    All,
    /// Counts of the public batches.
    Public,
}

impl CountScope {
    /// Returns the table of the counts, and the name of their numbers.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            CountScope::All => ("tallies", "tallied"),
            CountScope::Public => ("published", "published"),
        }
    }
}

/// Returns the statements that create the current tables, version by version.
pub(crate) fn steps(postgres: bool) -> [Vec<String>; VERSION] {
    // Positions are random. In SQLite they are the key of the file itself, so that no hidden row ID reveals the order.
    let (place, no_order) = if postgres { ("BIGINT", "") } else { ("INTEGER", " WITHOUT ROWID") };
    let counts = "(number BIGINT, tags TEXT, total BIGINT NOT NULL, counts TEXT NOT NULL, PRIMARY KEY (number, tags))";
    let first = vec![
        format!("CREATE TABLE responses (place {place} PRIMARY KEY, response TEXT NOT NULL)"),
        format!("CREATE TABLE spent (hash TEXT PRIMARY KEY){no_order}"),
        format!("CREATE TABLE invitations (hash TEXT PRIMARY KEY, used BIGINT NOT NULL){no_order}"),
        "CREATE TABLE days (day TEXT PRIMARY KEY, responses BIGINT NOT NULL)".to_owned(),
        format!("CREATE TABLE tallies {counts}"),
    ];
    // From this version on more tables are counted, so the counts are made anew.
    let second = vec!["DELETE FROM tallies".to_owned(), format!("CREATE TABLE published {counts}")];
    let arrivals =
        format!("CREATE TABLE arrivals (place {place} PRIMARY KEY, spent TEXT NOT NULL, responses TEXT NOT NULL)");
    // Earlier versions stored responses by commit, which revealed their order. They are settled; from here on a batch
    // waits in `waiting`.
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

/// Makes the file of a SQLite database readable by its owner only; SQLite gives its other files the same permissions.
pub(crate) fn owner_only(path: &Path) -> std::io::Result<()> {
    owner_only_file().write(true).create(true).truncate(false).open(path)?;
    for path in ["", "-wal", "-shm"].map(|end| format!("{}{end}", path.display())) {
        match restrict_to_owner(Path::new(&path)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Locks the file of a database for one server, until the result is dropped.
///
/// # Errors
/// Returns an error if another server holds it.
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

/// Unfolds a JSON list into a table with the column `value`. Passing many values as one list makes the statement the
/// same for any number of them, so it is prepared once.
pub(crate) fn unfolded(transaction: &Transaction<'_, Any>) -> &'static str {
    match transaction.backend_name() {
        "PostgreSQL" => "json_array_elements_text(CAST($1 AS JSON))",
        _ => "json_each($1)",
    }
}

/// Formats a JSON list.
pub(crate) fn list<T: Serialize>(values: &[T]) -> String {
    serde_json::to_string(values).expect("text and numbers are JSON")
}
