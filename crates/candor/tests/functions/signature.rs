//! Signatures agree with the vectors of the JavaScript client's tests, which were made with WebCrypto.

use candor::signature::{PrivateKey, PublicKey, Signature, SignatureError};
use candor_base::plan::Plan;
use serde::Deserialize;

#[derive(Deserialize)]
struct Vectors {
    private_key: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    plan: String,
    public_key: String,
    signature: String,
    /// Part of the error message; `None` if the signature is valid.
    error: Option<String>,
}

impl Case {
    fn plan(&self) -> Plan {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good");
        Plan::from_json(&std::fs::read_to_string(format!("{folder}/{}", self.plan)).unwrap()).unwrap()
    }

    fn verdict(&self) -> Result<(), SignatureError> {
        let key: PublicKey = self.public_key.parse()?;
        Signature::from_json(&self.signature)?.verify(&self.plan(), &key)
    }
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../signatures.json")).unwrap()
}

/// Returns the key of the vectors.
fn key() -> PrivateKey {
    let (secret, public) = (vectors().private_key, vectors().cases[0].public_key.clone());
    let file = serde_json::json!({
        "format": "candor private key", "version": 1, "private_key": secret, "public_key": public,
    });
    PrivateKey::from_json(&file.to_string()).unwrap()
}

#[test]
fn vectors_have_their_verdicts() {
    let cases = vectors().cases;
    assert!(cases.len() >= 17 && cases.iter().filter(|case| case.error.is_none()).count() >= 2);
    for case in &cases {
        match (&case.error, case.verdict()) {
            (None, verdict) => assert_eq!(verdict, Ok(()), "{}", case.name),
            (Some(part), Err(error)) => assert!(error.to_string().contains(part), "{}: {error}", case.name),
            (Some(_), Ok(())) => panic!("{} is accepted", case.name),
        }
    }
}

#[test]
fn the_same_key_makes_the_same_signatures() {
    for case in vectors().cases.iter().filter(|case| case.error.is_none()) {
        assert_eq!(key().sign(&case.plan()).to_json(), case.signature, "{}", case.name);
    }
}

#[test]
fn generated_keys_differ_and_read_back() {
    let (one, other) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
    assert_ne!(one.public(), other.public());
    let read = PrivateKey::from_json(&one.to_json()).unwrap();
    assert_eq!(read.public(), one.public());
    let plan = vectors().cases[0].plan();
    assert_eq!(read.sign(&plan).verify(&plan, &one.public()), Ok(()));
    assert!(matches!(read.sign(&plan).verify(&plan, &other.public()), Err(SignatureError::OtherKey { .. })));
}

#[test]
fn private_keys_are_not_shown() {
    let key = key();
    let secret = vectors().private_key;
    assert!(!format!("{key:?}").contains(&secret));
    for text in [
        key.to_json().replace("private_key\"", "private_kez\""),
        key.to_json().replace(&secret, &format!("{secret}00")),
        key.to_json().replace(&key.public().to_string(), &"0".repeat(64)),
        secret.clone(),
        key.to_json().replace("candor private key", "key"),
    ] {
        let error = PrivateKey::from_json(&text).unwrap_err();
        assert!(matches!(error, SignatureError::PrivateKey(_)) && !error.to_string().contains(&secret), "{error}");
    }
}

#[test]
fn key_files_are_private_and_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let key = key();
    key.create(&path).unwrap();
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }
    let other = PrivateKey::generate().unwrap();
    assert_eq!(other.create(&path), Err(SignatureError::Exists));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), key.to_json());
    assert!(matches!(key.create(&folder.path().join("none/key")), Err(SignatureError::Write(_))));
    let plan = vectors().cases[0].plan();
    let signature = folder.path().join("plan.json.sig");
    key.sign(&plan).create(&signature).unwrap();
    key.sign(&plan).create(&signature).unwrap();
    assert_eq!(other.sign(&plan).create(&signature), Err(SignatureError::Exists));
}
