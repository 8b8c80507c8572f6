//! Acknowledged submissions that are not settled yet, stored so that nothing reveals their order.
//!
//! Everything here is a function of the *set* of waiting submissions and of fresh randomness: IDs and invitations are
//! sorted, and responses are in the order of random positions. In SQLite, older versions of the set survive in the
//! write-ahead log, and two versions would reveal what arrived between them. So each version is encrypted under a key
//! of its own, and all keys share one place in a small file next to the database. Writing the next key there commits
//! the next version and destroys the last one, in one step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use candor::platform::owner_only_file;
use chacha20::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::random::fresh;

/// Versions are padded to a power of two bytes, at least this many, so that their length reveals nothing about the
/// responses.
const MIN_BYTES: usize = 1 << 14;

/// Size of the prefix of the ciphertext: a nonce, and a checksum under the key.
const NONCE: usize = 8;
const CHECK: usize = 16;

/// The set of waiting submissions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Hashes of the used IDs.
    pub ids: BTreeSet<String>,
    /// Hashes of the used invitations.
    pub invitations: BTreeSet<String>,
    /// Responses by random position.
    pub responses: BTreeMap<i64, String>,
    /// Number of responses of each day.
    pub days: BTreeMap<String, u64>,
}

impl Waiting {
    /// Returns the number of waiting submissions.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Formats the set as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers are JSON")
    }

    /// Parses the JSON of [`to_json`](Waiting::to_json); `None` for any other text.
    pub fn from_json(text: &str) -> Option<Waiting> {
        serde_json::from_str(text).ok()
    }
}

/// Key that encrypts one version.
pub type Key = [u8; 32];

/// Returns a fresh key.
pub fn new_key() -> Key {
    fresh()
}

/// The file with the one valid key, locked until it is dropped.
#[derive(Debug)]
pub struct KeyFile {
    file: File,
    place: PathBuf,
    key: Key,
}

impl KeyFile {
    /// Returns the path of the key file of a SQLite database.
    pub fn of(database: &Path) -> PathBuf {
        let mut name = database.as_os_str().to_owned();
        name.push("-waiting-key");
        PathBuf::from(name)
    }

    /// Locks the key file of a SQLite database, creating it if it is missing.
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub fn hold(database: &Path) -> io::Result<KeyFile> {
        let place = KeyFile::of(database);
        let mut file = owner_only_file().read(true).write(true).create(true).truncate(false).open(&place)?;
        file.lock()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        match Key::try_from(&bytes[..]) {
            Ok(key) => Ok(KeyFile { file, place, key }),
            Err(_) => {
                let mut made = KeyFile { file, place, key: new_key() };
                made.replace(new_key())?;
                Ok(made)
            }
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// Returns the valid key.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Makes another key the valid one on disk and destroys the last one.
    ///
    /// # Errors
    /// Returns the error of the file system; then either key may be valid.
    pub fn replace(&mut self, key: Key) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&key)?;
        self.file.set_len(key.len() as u64)?;
        self.file.sync_data()?;
        self.key = key;
        Ok(())
    }
}

/// Encrypts a text under a key.
pub fn sealed(key: &Key, text: &str) -> Vec<u8> {
    let nonce: [u8; NONCE] = fresh();
    let length = (text.len() + 1).next_power_of_two().max(MIN_BYTES);
    let mut plain = text.as_bytes().to_vec();
    // JSON may end in spaces.
    plain.resize(length, b' ');
    let check = checksum(key, &nonce, &plain);
    crypt(key, nonce, &mut plain);
    [&nonce[..], &check, &plain].concat()
}

/// Decrypts the result of [`sealed`]; `None` under any other key.
pub fn opened(key: &Key, sealed: &[u8]) -> Option<String> {
    let (nonce, rest) = sealed.split_first_chunk::<NONCE>()?;
    let (check, encrypted) = rest.split_first_chunk::<CHECK>()?;
    let mut plain = encrypted.to_vec();
    crypt(key, *nonce, &mut plain);
    (checksum(key, nonce, &plain) == *check).then_some(())?;
    String::from_utf8(plain).ok()
}

/// Applies the keystream of ChaCha12 under this key and nonce.
fn crypt(key: &Key, nonce: [u8; NONCE], bytes: &mut [u8]) {
    let mut stream = ChaCha12Rng::from_seed(*key);
    stream.set_stream(u64::from_be_bytes(nonce));
    let mut mask = vec![0; bytes.len()];
    stream.fill_bytes(&mut mask);
    bytes.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
}

/// Returns a checksum that verifies the key. Without the key it reveals nothing about the text.
fn checksum(key: &Key, nonce: &[u8], plain: &[u8]) -> [u8; CHECK] {
    let digest = Sha256::new().chain_update(key).chain_update(nonce).chain_update(plain).finalize();
    std::array::from_fn(|at| digest[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_under_its_own_key_only_and_its_length_tells_nothing() {
        let (one, other) = (new_key(), new_key());
        let mut waiting = Waiting::default();
        waiting.ids.insert("an id".to_owned());
        waiting.responses.insert(7, "{\"answer\":\"é\"}".to_owned());
        let made = sealed(&one, &waiting.to_json());
        assert_eq!(opened(&one, &made).and_then(|text| Waiting::from_json(&text)), Some(waiting.clone()));
        assert_eq!(opened(&other, &made), None);
        assert_eq!(made.len(), sealed(&one, "{}").len());
        assert_ne!(made, sealed(&one, &waiting.to_json()), "the nonce is fresh");
        for length in [0, 7, 23, 24, made.len() - 1] {
            assert_eq!(opened(&one, &made[..length]), None);
        }
        assert!(!made.windows(5).any(|bytes| bytes == b"an id"));
    }

    #[test]
    fn the_key_file_holds_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("x.sqlite");
        let mut held = KeyFile::hold(&database).unwrap();
        let (first, next) = (*held.key(), new_key());
        held.replace(next).unwrap();
        drop(held);
        assert_eq!(std::fs::read(KeyFile::of(&database)).unwrap(), next);
        assert_eq!(KeyFile::hold(&database).unwrap().key(), &next);
        assert_ne!(first, next);
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(KeyFile::of(&database)).unwrap());
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
