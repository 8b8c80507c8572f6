//! Response IDs: issued before the respondent answers, and recognized without being stored.
//!
//! An ID is eight random bytes, followed by eight bytes derived from them under the survey's key. So nothing is stored
//! when it is issued, and a client cannot choose it: a modified page has no field in which to hide an answer.

use sha2::{Digest, Sha256};

use crate::random::{fresh, hex, same_secret};

/// Number of random hexadecimal digits; as many are derived from them.
const RANDOM_DIGITS: usize = 16;

/// The key for the IDs of a survey.
pub struct IdKey([u8; 32]);

impl IdKey {
    /// Derives the key from a secret.
    pub fn new(secret: &str) -> IdKey {
        IdKey(Sha256::digest(secret.as_bytes()).into())
    }

    /// Draws an ID.
    pub fn draw(&self) -> String {
        self.of(u64::from_be_bytes(fresh()))
    }

    /// Returns the ID with these random bytes.
    pub fn of(&self, random: u64) -> String {
        let bytes = random.to_be_bytes();
        let digest = Sha256::new().chain_update(self.0).chain_update(b"candor id").chain_update(bytes).finalize();
        hex(&bytes) + &hex(&digest[..bytes.len()])
    }

    /// Returns whether an ID was issued under this key.
    pub fn is_own(&self, id: &str) -> bool {
        let random = id.get(..RANDOM_DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok());
        random.is_some_and(|random| same_secret(&self.of(random), id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_were_handed_out_are_recognized() {
        let (key, other) = (IdKey::new("one"), IdKey::new("two"));
        let id = key.draw();
        assert!(key.is_own(&id) && !other.is_own(&id) && id.len() == 32 && id != key.draw());
        for at in 0..id.len() {
            let mut changed = id.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            assert!(!key.is_own(&String::from_utf8(changed).unwrap()), "digit {at}");
        }
        for wrong in ["", "ä", &id[..31], &format!("{id}0"), &format!("+{}", &id[1..])] {
            assert!(!key.is_own(wrong), "{wrong}");
        }
    }
}
