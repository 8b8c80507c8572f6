//! Signed plans: a detached Ed25519 signature (RFC 8032) that a device checks against a pinned public key.
//!
//! The signature covers the fingerprint of a plan and the version of its format. They determine schema, channels
//! and, from version 2 on, the prior. Guarantees follow from these and are recomputed whenever a plan is read. The
//! formats of keys and signatures are in docs/reference/formats.md.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

use candor_base::plan::Plan;
use candor_base::randomness::{EntropyError, Source};
use ed25519_dalek::Signer;
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::hex::{hex, unhex};
use crate::platform::owner_only_file;

/// Value of the field `format` of a signature file.
const SIGNATURE_FORMAT: &str = "candor signature";

/// Value of the field `format` of a private key file.
const KEY_FORMAT: &str = "candor private key";

/// Version of both formats.
const VERSION: u64 = 1;

/// A private key that signs plans. Its `Debug` form shows the public key only.
///
/// ```
/// use candor_base::channel::{Axis, Pattern};
/// use candor_base::plan::{Block, Plan};
/// use candor_base::schema::Schema;
/// use candor::signature::{PrivateKey, Signature};
///
/// let channel = Pattern::k_ary(vec![Axis::single(4)], 1.0)?;
/// let plan = Plan::new(Schema::with_sizes(&[4])?, vec![Block::new(vec![0], channel)])?;
/// let key = PrivateKey::generate()?;
/// let signature = key.sign(&plan);
/// signature.verify(&plan, &key.public())?;
/// assert_eq!(Signature::from_json(&signature.to_json())?, signature);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PrivateKey(ed25519_dalek::SigningKey);

/// A public key that signatures are checked against, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(ed25519_dalek::VerifyingKey);

/// A signature of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    fingerprint: String,
    public_key: PublicKey,
    signature: ed25519_dalek::Signature,
}

/// Reason why a key or a signature is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The text is not a private key file of candor.
    #[error("not a private key of candor: {0}")]
    PrivateKey(String),
    /// The text is not a public key.
    #[error("not a public key: expected 64 hexadecimal digits of an Ed25519 key")]
    PublicKey,
    /// The text is not a signature file of candor.
    #[error("not a signature of candor: {0}")]
    Format(String),
    /// The signature was made with another key.
    #[error("wrong key: the signature was made with {found}, expected {expected}")]
    OtherKey {
        /// Public key in the signature.
        found: Box<PublicKey>,
        /// Expected public key.
        expected: Box<PublicKey>,
    },
    /// The signature belongs to another plan.
    #[error("wrong plan: the signature is of the plan {signed}, but this plan is {found}")]
    OtherPlan {
        /// Fingerprint in the signature.
        signed: String,
        /// Fingerprint of the given plan.
        found: String,
    },
    /// The file exists and is not replaced.
    #[error("this file exists and is not replaced; delete it or choose another name")]
    Exists,
    /// The file could not be written.
    #[error("cannot write it: {0}")]
    Write(String),
    /// The signature does not match the plan and the key.
    #[error("invalid signature: the plan or its signature was changed; do not trust this plan")]
    Invalid,
}

/// Serialized form of a signature.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureJson {
    format: String,
    version: u64,
    fingerprint: String,
    public_key: String,
    signature: String,
}

/// Serialized form of a private key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyJson {
    format: String,
    version: u64,
    private_key: String,
    public_key: String,
}

impl PrivateKey {
    /// Generates a key with randomness from the operating system.
    ///
    /// # Errors
    /// Returns [`EntropyError`] if the operating system provides no randomness.
    pub fn generate() -> Result<PrivateKey, EntropyError> {
        let mut seed = [0; 32];
        Source::from_os()?.stream(0).fill_bytes(&mut seed);
        Ok(PrivateKey(ed25519_dalek::SigningKey::from_bytes(&seed)))
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Serializes the private key for a key file, which must be kept secret.
    pub fn to_json(&self) -> String {
        let (private_key, public_key) = (hex(self.0.as_bytes()), self.public().to_string());
        pretty(&KeyJson { format: KEY_FORMAT.to_owned(), version: VERSION, private_key, public_key })
    }

    /// Parses a key file.
    ///
    /// # Errors
    /// Returns [`SignatureError::PrivateKey`] if the text has another format, or its two keys do not match.
    /// No error message contains the key.
    pub fn from_json(text: &str) -> Result<PrivateKey, SignatureError> {
        let wrong = |why: &str| SignatureError::PrivateKey(why.to_owned());
        // Errors of the JSON parser may quote the input.
        let file: KeyJson = serde_json::from_str(text).map_err(|_| wrong("missing, unknown or mistyped fields"))?;
        if file.format != KEY_FORMAT || file.version != VERSION {
            return Err(wrong("expected the format \"candor private key\", version 1"));
        }
        let seed = bytes(&file.private_key).ok_or_else(|| wrong("`private_key` must be 64 hexadecimal digits"))?;
        let key = PrivateKey(ed25519_dalek::SigningKey::from_bytes(&seed));
        match key.public().to_string() == file.public_key {
            true => Ok(key),
            false => Err(wrong("`public_key` does not belong to `private_key`; the file was changed")),
        }
    }

    /// Writes the key to a new file that, on Unix, only its owner can read.
    ///
    /// # Errors
    /// Returns [`SignatureError::Exists`] if the file exists: a key is never replaced.
    /// Returns [`SignatureError::Write`] if the file cannot be written.
    pub fn create(&self, path: &Path) -> Result<(), SignatureError> {
        create(owner_only_file(), path, &self.to_json())
    }

    /// Signs a plan. The signature is deterministic.
    pub fn sign(&self, plan: &Plan) -> Signature {
        let signature = self.0.sign(&message(plan));
        Signature { fingerprint: plan.fingerprint().to_string(), public_key: self.public(), signature }
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey of {}", self.public())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.0.as_bytes()))
    }
}

impl FromStr for PublicKey {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<PublicKey, SignatureError> {
        let key = bytes(text.trim()).and_then(|bytes| ed25519_dalek::VerifyingKey::from_bytes(&bytes).ok());
        key.filter(|key| !key.is_weak()).map(PublicKey).ok_or(SignatureError::PublicKey)
    }
}

impl Signature {
    /// Returns the public key that the signature states.
    ///
    /// It proves nothing by itself: [`Signature::verify`] compares it with a trusted key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public_key
    }

    /// Serializes the signature.
    pub fn to_json(&self) -> String {
        pretty(&SignatureJson {
            format: SIGNATURE_FORMAT.to_owned(),
            version: VERSION,
            fingerprint: self.fingerprint.clone(),
            public_key: self.public_key.to_string(),
            signature: hex(&self.signature.to_bytes()),
        })
    }

    /// Writes the signature to a new file. A file that already contains this signature stays as it is.
    ///
    /// # Errors
    /// Returns [`SignatureError::Exists`] if the file contains anything else.
    /// Returns [`SignatureError::Write`] if it cannot be written.
    pub fn create(&self, path: &Path) -> Result<(), SignatureError> {
        match std::fs::read_to_string(path) {
            Ok(text) if text == self.to_json() => Ok(()),
            _ => create(File::options(), path, &self.to_json()),
        }
    }

    /// Parses a signature file without checking the signature; [`Signature::verify`] does.
    ///
    /// # Errors
    /// Returns [`SignatureError::Format`] if the text has another format.
    /// Returns [`SignatureError::PublicKey`] if its public key is invalid.
    pub fn from_json(text: &str) -> Result<Signature, SignatureError> {
        let wrong = |why: String| SignatureError::Format(why);
        let file: SignatureJson = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if file.format != SIGNATURE_FORMAT || file.version != VERSION {
            return Err(wrong(format!("expected the format \"{SIGNATURE_FORMAT}\", version {VERSION}")));
        }
        let signature = bytes(&file.signature).ok_or_else(|| {
            wrong("`signature` must be 128 hexadecimal digits; it is truncated or changed".to_owned())
        })?;
        Ok(Signature {
            fingerprint: file.fingerprint,
            public_key: file.public_key.parse()?,
            signature: ed25519_dalek::Signature::from_bytes(&signature),
        })
    }

    /// Checks that this key signed this plan.
    ///
    /// # Errors
    /// Returns [`SignatureError::OtherKey`] if it states another public key.
    /// Returns [`SignatureError::OtherPlan`] if it is for another plan.
    /// Returns [`SignatureError::Invalid`] if the signature itself is wrong.
    pub fn verify(&self, plan: &Plan, key: &PublicKey) -> Result<(), SignatureError> {
        if self.public_key != *key {
            let (found, expected) = (Box::new(self.public_key.clone()), Box::new(key.clone()));
            return Err(SignatureError::OtherKey { found, expected });
        }
        let found = plan.fingerprint().as_str();
        if self.fingerprint != found {
            return Err(SignatureError::OtherPlan { signed: self.fingerprint.clone(), found: found.to_owned() });
        }
        key.0.verify_strict(&message(plan), &self.signature).map_err(|_| SignatureError::Invalid)
    }
}

/// Returns the bytes that are signed.
fn message(plan: &Plan) -> Vec<u8> {
    format!("candor plan signature 1\n{}\n{}\n", plan.version(), plan.fingerprint()).into_bytes()
}

/// Creates a file and writes it to disk.
fn create(mut options: std::fs::OpenOptions, path: &Path, text: &str) -> Result<(), SignatureError> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => SignatureError::Exists,
        _ => SignatureError::Write(error.to_string()),
    };
    let mut file = options.write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}

fn pretty(file: &impl Serialize) -> String {
    serde_json::to_string_pretty(file).expect("plain data") + "\n"
}

/// Parses `N` bytes of lower-case hexadecimal digits; `None` for any other text.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    unhex(text)?.try_into().ok()
}
