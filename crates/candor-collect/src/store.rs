//! Storage of responses and, separately, of used invitations and IDs, totals by day, and counts.
//!
//! A row of responses holds the answer and a random position, nothing else. No other table refers to it. No row is
//! written when its response arrives, because SQLite's write-ahead log and PostgreSQL's system columns would reveal the
//! order. New responses [wait](crate::waiting) for a batch, which is settled in one transaction.

use std::path::PathBuf;

use serde::Serialize;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions, AnyRow};
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyPool, Row, Transaction};

use crate::random::secret;
pub use crate::tables::{CountScope, StoreError, hold};
use crate::tables::{VERSION, list, owner_only, steps, unfolded};
use crate::tallies::KeptRow;
use crate::waiting::{Key, KeyFile, Waiting, new_key, opened, sealed};

/// The database of a survey.
#[derive(Clone)]
pub struct Store {
    pool: AnyPool,
    /// File of a SQLite database; `None` with PostgreSQL.
    file: Option<PathBuf>,
}

/// Exclusive right to change the waiting set, until it is dropped. In PostgreSQL the lock of [`stay`] suffices, and old
/// versions are out of reach of SQL.
pub(crate) struct Hold(Option<(KeyFile, Option<Key>)>);

impl Store {
    /// Opens the database of a survey, a SQLite file or a PostgreSQL URL, with a maximum number of connections; creates
    /// its tables if there are none.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, or holds another survey.
    pub async fn open(database: &str, fingerprint: &str, connections: u32) -> Result<Store, StoreError> {
        sqlx::any::install_default_drivers();
        let postgres = database.starts_with("postgres:") || database.starts_with("postgresql:");
        let file = (!postgres).then(|| PathBuf::from(database));
        if let Some(path) = &file {
            owner_only(path).map_err(|error| StoreError::File { path: path.clone(), error })?;
        }
        let url = if postgres { database.to_owned() } else { format!("sqlite://{database}?mode=rwc") };
        let options: AnyConnectOptions = url.parse()?;
        let pool = AnyPoolOptions::new().max_connections(connections).after_connect(move |connection, _| {
            Box::pin(async move {
                // Acknowledged data are on disk, and deleted data are overwritten.
                let pragmas = [
                    "journal_mode = WAL",
                    "synchronous = FULL",
                    "secure_delete = ON",
                    "busy_timeout = 10000",
                    "cache_size = -32000",
                    "wal_autocheckpoint = 16000",
                ];
                for pragma in pragmas.iter().filter(|_| !postgres) {
                    sqlx::query(&format!("PRAGMA {pragma}")).execute(&mut *connection).await?;
                }
                Ok(())
            })
        });
        let store = Store { pool: pool.connect_with(options).await?, file };
        if store.migrate(fingerprint).await? {
            store.forget().await?;
        }
        Ok(store)
    }

    /// Creates the tables or migrates them to the current version. Returns whether an earlier version may have left
    /// traces.
    async fn migrate(&self, fingerprint: &str) -> Result<bool, StoreError> {
        sqlx::query("CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
            .execute(&self.pool)
            .await?;
        let mut transaction = self.pool.begin().await?;
        let version = meta(&mut transaction, "version").await?.and_then(|text| text.parse().ok()).unwrap_or(0);
        if version > VERSION {
            return Err(StoreError::Version(version));
        }
        for statement in steps(self.file.is_none()).iter().skip(version).flatten() {
            sqlx::query(statement).execute(&mut *transaction).await?;
        }
        set_meta(&mut transaction, "version", &VERSION.to_string()).await?;
        match meta(&mut transaction, "fingerprint").await? {
            Some(found) if found != fingerprint => {
                return Err(StoreError::OtherSurvey { found, expected: fingerprint.to_owned() });
            }
            Some(_) => {}
            None => {
                set_meta(&mut transaction, "fingerprint", fingerprint).await?;
                set_meta(&mut transaction, "server", "nobody").await?;
            }
        }
        transaction.commit().await?;
        Ok((1..VERSION).contains(&version))
    }

    /// Acquires the exclusive right to change the waiting set.
    ///
    /// # Errors
    /// Returns [`StoreError::File`] if the key file of a SQLite database cannot be used.
    pub(crate) fn hold(&self) -> Result<Hold, StoreError> {
        let Some(path) = &self.file else { return Ok(Hold(None)) };
        let held = KeyFile::hold(path).map_err(|error| StoreError::File { path: KeyFile::of(path), error })?;
        Ok(Hold(Some((held, None))))
    }

    /// Removes the traces of deleted and rewritten rows: in SQLite the write-ahead log and free pages, in PostgreSQL
    /// transaction IDs and row positions.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn forget(&self) -> Result<(), StoreError> {
        if self.file.is_some() {
            sqlx::query("VACUUM").execute(&self.pool).await?;
            return self.truncate_log().await;
        }
        let mut transaction = self.begin().await?;
        sqlx::query("UPDATE meta SET value = value WHERE name = 'server'").execute(&mut *transaction).await?;
        for (table, order) in [("responses", "place"), ("invitations", "hash"), ("spent", "hash")] {
            for statement in [
                format!("CREATE TEMPORARY TABLE rewritten ON COMMIT DROP AS SELECT * FROM {table}"),
                format!("TRUNCATE {table}"),
                format!("INSERT INTO {table} SELECT * FROM rewritten ORDER BY {order}"),
                "DROP TABLE rewritten".to_owned(),
            ] {
                sqlx::query(&statement).execute(&mut *transaction).await?;
            }
        }
        Ok(transaction.commit().await?)
    }

    /// Moves SQLite's write-ahead log into the database and empties it, unless a reader is active.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub(crate) async fn truncate_log(&self) -> Result<(), StoreError> {
        if self.file.is_some() {
            sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&self.pool).await?;
        }
        Ok(())
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn begin(&self) -> Result<Transaction<'static, Any>, StoreError> {
        Ok(self.pool.begin().await?)
    }

    /// Returns a connection. After a failed transaction, [detach](PoolConnection::detach) and drop it, because it is
    /// left in an unknown state.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub(crate) async fn connection(&self) -> Result<PoolConnection<Any>, StoreError> {
        Ok(self.pool.acquire().await?)
    }

    /// Makes this server the active one and returns its name; later writes of other servers are rejected.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn take_over(&self) -> Result<String, StoreError> {
        let server = secret();
        let mut hold = self.hold()?;
        let mut transaction = self.begin().await?;
        set_meta(&mut transaction, "server", &server).await?;
        let waits = waiting(&mut transaction, &hold).await?;
        put_waiting(&mut transaction, &mut hold, &waits).await?;
        transaction.commit().await?;
        hold.commit()?;
        Ok(server)
    }

    /// Ensures that all tokens of the survey are issued under one key.
    ///
    /// # Errors
    /// Returns an error if an earlier key was different.
    pub async fn hold_key(&self, public: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        match meta(&mut transaction, "token key").await? {
            Some(before) if before != public => return Err(StoreError::OtherKey(before)),
            Some(_) => {}
            None => set_meta(&mut transaction, "token key", public).await?,
        }
        Ok(transaction.commit().await?)
    }

    /// Returns whether the server of this name is the active one.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub(crate) async fn is_served_by(&self, server: &str) -> Result<bool, StoreError> {
        Ok(meta(&mut self.begin().await?, "server").await?.as_deref() == Some(server))
    }

    /// Returns whether the survey is closed.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn is_closed(&self) -> Result<bool, StoreError> {
        Ok(meta(&mut self.begin().await?, "closed").await?.is_some())
    }

    /// Closes the survey: no more responses are accepted, waiting ones are settled, and the order of writing is erased.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn close(&self) -> Result<(), StoreError> {
        {
            let hold = self.hold()?;
            let mut transaction = self.begin().await?;
            set_meta(&mut transaction, "closed", "yes").await?;
            settle_waiting(&mut transaction, &hold).await?;
            transaction.commit().await?;
        }
        self.forget().await
    }

    /// Returns what is acknowledged but not settled yet.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn waiting(&self) -> Result<Waiting, StoreError> {
        let hold = self.hold()?;
        waiting(&mut self.begin().await?, &hold).await
    }

    /// Adds invitations, by the hashes of their codes.
    ///
    /// # Errors
    /// Returns an error if they cannot be stored; then none is added.
    pub async fn invite(&self, hashes: &[String]) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let statement = format!("INSERT INTO invitations (hash, used) SELECT value, 0 FROM {}", unfolded(&transaction));
        for_all(&mut transaction, &statement, hashes).await?;
        Ok(transaction.commit().await?)
    }

    /// Returns the number of invitations, and the number of used ones.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn invitations(&self) -> Result<(u64, u64), StoreError> {
        let query = "SELECT CAST(COUNT(*) AS BIGINT), CAST(COALESCE(SUM(used), 0) AS BIGINT) FROM invitations";
        let row = sqlx::query(query).fetch_one(&self.pool).await?;
        Ok((row.get::<i64, _>(0) as u64, row.get::<i64, _>(1) as u64))
    }

    /// Returns the number of settled responses of each day with any.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn days(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let rows = sqlx::query("SELECT day, responses FROM days ORDER BY day").fetch_all(&self.pool).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get::<i64, _>(1) as u64)).collect())
    }

    /// Returns the number of settled responses.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn responses(&self) -> Result<u64, StoreError> {
        Ok(self.days().await?.iter().map(|(_, responses)| responses).sum())
    }

    /// Returns the next settled responses after a position, in the order of their random positions.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn page(&self, after: i64, length: i64) -> Result<Vec<(i64, String)>, StoreError> {
        let query = "SELECT place, response FROM responses WHERE place > $1 ORDER BY place LIMIT $2";
        let rows = sqlx::query(query).bind(after).bind(length).fetch_all(&self.pool).await?;
        Ok(rows.iter().map(|row: &AnyRow| (row.get(0), row.get(1))).collect())
    }

    /// Returns the most frequent settled responses with their counts.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn most_repeated(&self, length: i64) -> Result<Vec<(String, u64)>, StoreError> {
        let query = "SELECT response, CAST(COUNT(*) AS BIGINT) FROM responses GROUP BY response HAVING COUNT(*) > 1 \
                     ORDER BY 2 DESC, 1 LIMIT $1";
        let rows = sqlx::query(query).bind(length).fetch_all(&self.pool).await?;
        Ok(rows.iter().map(|row: &AnyRow| (row.get(0), row.get::<i64, _>(1) as u64)).collect())
    }

    /// Returns the stored counts and their numbers, if there are any.
    ///
    /// # Errors
    /// Returns an error if the database is not available.
    pub async fn kept(&self, kept: CountScope) -> Result<(Option<String>, Vec<KeptRow>), StoreError> {
        let mut transaction = self.begin().await?;
        let (table, name) = kept.names();
        let numbers = meta(&mut transaction, name).await?;
        let query = format!("SELECT number, tags, total, counts FROM {table}");
        let rows = sqlx::query(&query).fetch_all(&mut *transaction).await?;
        let row = |row: &AnyRow| (row.get::<i64, _>(0) as usize, row.get(1), row.get::<i64, _>(2) as u64, row.get(3));
        Ok((numbers, rows.iter().map(row).collect()))
    }

    /// Closes all connections and waits for the last one. A connection that is being returned would be put back while
    /// the pool closes, so closing is repeated until the pool is empty.
    pub async fn end(&self) {
        self.pool.close().await;
        while self.pool.size() > 0 {
            tokio::task::yield_now().await;
            self.pool.close().await;
        }
    }
}

/// Returns a value from the table of metadata.
pub(crate) async fn meta(transaction: &mut Transaction<'_, Any>, name: &str) -> Result<Option<String>, StoreError> {
    let query = sqlx::query("SELECT value FROM meta WHERE name = $1").bind(name.to_owned());
    Ok(query.fetch_optional(&mut **transaction).await?.map(|row| row.get(0)))
}

pub(crate) async fn set_meta(
    transaction: &mut Transaction<'_, Any>,
    name: &str,
    value: &str,
) -> Result<(), StoreError> {
    let query =
        "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    sqlx::query(query).bind(name.to_owned()).bind(value.to_owned()).execute(&mut **transaction).await?;
    Ok(())
}

/// Checks that this server is the active one, and locks that fact for the transaction.
pub(crate) async fn stay(transaction: &mut Transaction<'_, Any>, server: &str) -> Result<(), StoreError> {
    let update =
        sqlx::query("UPDATE meta SET value = value WHERE name = 'server' AND value = $1").bind(server.to_owned());
    match update.execute(&mut **transaction).await?.rows_affected() {
        1 => Ok(()),
        _ => Err(StoreError::TakenOver),
    }
}

/// Runs a statement for a list of values.
async fn for_all<T: Serialize>(
    transaction: &mut Transaction<'_, Any>,
    statement: &str,
    values: &[T],
) -> Result<(), StoreError> {
    sqlx::query(statement).bind(list(values)).execute(&mut **transaction).await?;
    Ok(())
}

/// Returns those of the given hashes that are stored, with their values.
pub(crate) async fn find(
    transaction: &mut Transaction<'_, Any>,
    select: &str,
    hashes: &[&str],
) -> Result<Vec<AnyRow>, StoreError> {
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    let statement = format!("{select} WHERE hash IN (SELECT value FROM {})", unfolded(transaction));
    Ok(sqlx::query(&statement).bind(list(hashes)).fetch_all(&mut **transaction).await?)
}

impl Hold {
    /// Makes the last stored version the valid one, once its transaction is committed. Before that, it cannot be read.
    pub(crate) fn commit(&mut self) -> Result<(), StoreError> {
        let Some((held, key)) = self.0.as_mut().and_then(|(held, next)| Some((held, next.take()?))) else {
            return Ok(());
        };
        held.replace(key).map_err(|error| StoreError::File { path: held.path().to_owned(), error })
    }
}

/// Returns what is acknowledged but not settled yet.
pub(crate) async fn waiting(transaction: &mut Transaction<'_, Any>, hold: &Hold) -> Result<Waiting, StoreError> {
    Ok(current(transaction, hold).await?.1)
}

/// Returns the slot and the contents of the valid version.
async fn current(transaction: &mut Transaction<'_, Any>, hold: &Hold) -> Result<(i32, Waiting), StoreError> {
    let rows = sqlx::query("SELECT slot, version FROM waiting").fetch_all(&mut **transaction).await?;
    if rows.is_empty() {
        return Ok((0, Waiting::default()));
    }
    let read = |row: &AnyRow| {
        let version: Vec<u8> = row.get(1);
        let text = match &hold.0 {
            Some((held, _)) => opened(held.key(), &version)?,
            None => String::from_utf8(version).ok()?,
        };
        Some((row.get::<i64, _>(0) as i32, Waiting::from_json(&text)?))
    };
    rows.iter().find_map(read).ok_or_else(|| match &hold.0 {
        Some((held, _)) => StoreError::OtherWaitingKey(held.path().to_owned()),
        None => StoreError::Damaged("something else where responses wait".to_owned()),
    })
}

/// Replaces the stored waiting set; in SQLite [`Hold::commit`] makes it valid.
pub(crate) async fn put_waiting(
    transaction: &mut Transaction<'_, Any>,
    hold: &mut Hold,
    waits: &Waiting,
) -> Result<(), StoreError> {
    let (slot, _) = current(transaction, hold).await?;
    match &mut hold.0 {
        Some((_, next)) => {
            let key = new_key();
            put_version(transaction, 1 - slot, sealed(&key, &waits.to_json())).await?;
            *next = Some(key);
        }
        None => {
            // Not an update, which would leave the last version in the table's file.
            sqlx::query("TRUNCATE waiting").execute(&mut **transaction).await?;
            put_version(transaction, 0, waits.to_json().into_bytes()).await?;
        }
    }
    Ok(())
}

async fn put_version(transaction: &mut Transaction<'_, Any>, slot: i32, version: Vec<u8>) -> Result<(), StoreError> {
    let statement = "INSERT INTO waiting (slot, version) VALUES ($1, $2) \
                     ON CONFLICT (slot) DO UPDATE SET version = excluded.version";
    sqlx::query(statement).bind(slot).bind(version).execute(&mut **transaction).await?;
    Ok(())
}

/// Settles everything that waits, and nothing else: exactly the contents of the last version.
pub(crate) async fn settle_waiting(transaction: &mut Transaction<'_, Any>, hold: &Hold) -> Result<Waiting, StoreError> {
    let waits = waiting(transaction, hold).await?;
    if waits.is_empty() {
        return Ok(waits);
    }
    settle(transaction, &waits).await?;
    let nothing = Waiting::default().to_json();
    let (clear, version) = match &hold.0 {
        Some((held, _)) => ("DELETE FROM waiting", sealed(held.key(), &nothing)),
        None => ("TRUNCATE waiting", nothing.into_bytes()),
    };
    sqlx::query(clear).execute(&mut **transaction).await?;
    put_version(transaction, 0, version).await?;
    Ok(waits)
}

/// Inserts a batch at its positions: the result depends on the set and on random positions, not on the order of
/// arrival.
pub(crate) async fn settle(transaction: &mut Transaction<'_, Any>, batch: &Waiting) -> Result<(), StoreError> {
    let (rows, row) = match transaction.backend_name() {
        "PostgreSQL" => {
            ("json_array_elements(CAST($1 AS JSON)) AS one(value)", "CAST(one.value ->> 0 AS BIGINT), one.value ->> 1")
        }
        _ => ("json_each($1) AS one", "one.value ->> 0, one.value ->> 1"),
    };
    let placed: Vec<(&i64, &String)> = batch.responses.iter().collect();
    let insert = format!("INSERT INTO responses (place, response) SELECT {row} FROM {rows} ORDER BY 1");
    for_all(transaction, &insert, &placed).await?;
    let ids: Vec<&String> = batch.ids.iter().collect();
    let insert = format!("INSERT INTO spent (hash) SELECT value FROM {} ORDER BY 1", unfolded(transaction));
    for_all(transaction, &insert, &ids).await?;
    let invitations: Vec<&String> = batch.invitations.iter().collect();
    if !invitations.is_empty() {
        let list = unfolded(transaction);
        let update = format!("UPDATE invitations SET used = 1 WHERE hash IN (SELECT value FROM {list})");
        for_all(transaction, &update, &invitations).await?;
    }
    for (day, responses) in &batch.days {
        count_day(transaction, day, *responses).await?;
    }
    Ok(())
}

/// Adds to the number of responses of a day.
async fn count_day(transaction: &mut Transaction<'_, Any>, day: &str, responses: u64) -> Result<(), StoreError> {
    let statement = "INSERT INTO days (day, responses) VALUES ($1, $2) \
                     ON CONFLICT (day) DO UPDATE SET responses = days.responses + excluded.responses";
    sqlx::query(statement).bind(day.to_owned()).bind(responses as i64).execute(&mut **transaction).await?;
    Ok(())
}

/// Stores counts and their numbers.
pub(crate) async fn keep(
    transaction: &mut Transaction<'_, Any>,
    kept: CountScope,
    numbers: &str,
    rows: Vec<KeptRow>,
) -> Result<(), StoreError> {
    let (table, name) = kept.names();
    let statement = format!(
        "INSERT INTO {table} (number, tags, total, counts) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (number, tags) DO UPDATE SET total = excluded.total, counts = excluded.counts"
    );
    for (number, tags, total, counts) in rows {
        let query = sqlx::query(&statement).bind(number as i64).bind(tags).bind(total as i64).bind(counts);
        query.execute(&mut **transaction).await?;
    }
    set_meta(transaction, name, numbers).await
}
