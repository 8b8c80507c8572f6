//! Signatures of plans: as files of the command have them.

use std::path::PathBuf;

use candor::signature::{self, PublicKey, SignatureError as Unsigned};
use pyo3::prelude::*;

use crate::errors::{Error, SignatureError};
use crate::plan::Plan;

fn wrong(error: Unsigned) -> PyErr {
    SignatureError::new_err(error.to_string())
}

/// A private key.
#[pyclass(frozen, module = "candor._candor")]
pub struct PrivateKey(signature::PrivateKey);

#[pymethods]
impl PrivateKey {
    #[staticmethod]
    fn generate() -> PyResult<PrivateKey> {
        let key = signature::PrivateKey::generate().map_err(|error| Error::new_err(error.to_string()))?;
        Ok(PrivateKey(key))
    }

    #[staticmethod]
    fn loads(text: &str) -> PyResult<PrivateKey> {
        signature::PrivateKey::from_json(text).map(PrivateKey).map_err(wrong)
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.0.create(&path).map_err(|error| SignatureError::new_err(format!("{}: {error}", path.display())))
    }

    #[getter]
    fn public_key(&self) -> String {
        self.0.public().to_string()
    }

    fn sign(&self, plan: &Plan) -> Signature {
        Signature(self.0.sign(&plan.0))
    }
}

/// A signature of a plan.
#[pyclass(frozen, module = "candor._candor")]
pub struct Signature(signature::Signature);

#[pymethods]
impl Signature {
    #[staticmethod]
    fn loads(text: &str) -> PyResult<Signature> {
        signature::Signature::from_json(text).map(Signature).map_err(wrong)
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.0.create(&path).map_err(|error| SignatureError::new_err(format!("{}: {error}", path.display())))
    }

    #[getter]
    fn public_key(&self) -> String {
        self.0.public_key().to_string()
    }

    /// Whether this key signed this plan: an error if not.
    fn verify(&self, plan: &Plan, public_key: &str) -> PyResult<()> {
        let key: PublicKey = public_key.parse().map_err(wrong)?;
        self.0.verify(&plan.0, &key).map_err(wrong)
    }
}
