//! Tokens that nobody can link to an invitation: a verifiable oblivious pseudorandom function (RFC 9497, ristretto255 and SHA-512).
//!
//! A browser draws a token, blinds it and has it evaluated for its invitation; the proof says that the key was the published one.
//! What was blinded is independent of the token, so that nobody, with the key and all that was sent, can tell which token an
//! invitation became. Later the token and its value are sent with the response. Only who has the key can make such a value.

use rand_core_06::OsRng;
use sha2::{Digest, Sha256};
use voprf::{BlindedElement, Group, Ristretto255, VoprfServer};

use crate::random::{hex, same_secret, unhex};

/// How many bytes a token has.
const TOKEN_BYTES: usize = 32;

/// The key of a survey's tokens.
pub struct TokenKey(VoprfServer<Ristretto255>);

/// What a blinded token becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The evaluated element, in hexadecimal digits.
    pub evaluated: String,
    /// The proof that it was evaluated under the published key.
    pub proof: String,
}

impl TokenKey {
    /// The key that follows from a secret, for a plan; `None` with a probability that never happens.
    pub fn new(secret: &str, fingerprint: &str) -> Option<TokenKey> {
        let seed = Sha256::digest(secret.as_bytes());
        VoprfServer::new_from_seed(&seed, fingerprint.as_bytes()).ok().map(TokenKey)
    }

    /// The key by which proofs are checked, to be published.
    pub fn public(&self) -> String {
        hex(&Ristretto255::serialize_elem(self.0.get_public_key()))
    }

    /// Evaluates a blinded token; `None` if it is none.
    pub fn evaluate(&self, blinded: &str) -> Option<Evaluation> {
        let element = BlindedElement::<Ristretto255>::deserialize(&unhex(blinded)?).ok()?;
        let made = self.0.blind_evaluate(&mut OsRng, &element);
        Some(Evaluation { evaluated: hex(&made.message.serialize()), proof: hex(&made.proof.serialize()) })
    }

    /// Whether this is the value of a token under this key.
    pub fn is_value(&self, token: &str, value: &str) -> bool {
        let token = unhex(token).filter(|token| token.len() == TOKEN_BYTES);
        let own = token.and_then(|token| self.0.evaluate(&token).ok());
        own.is_some_and(|own| same_secret(&hex(&own), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voprf::{EvaluationElement, Proof, VoprfClient};

    #[test]
    fn a_token_is_evaluated_blindly_and_known_again() {
        let key = TokenKey::new("a secret", "sha256:1").unwrap();
        let token = [7; TOKEN_BYTES];
        let blind = VoprfClient::<Ristretto255>::blind(&token, &mut OsRng).unwrap();
        let made = key.evaluate(&hex(&blind.message.serialize())).unwrap();
        let finish = |key: &TokenKey| {
            let message = EvaluationElement::deserialize(&unhex(&made.evaluated).unwrap()).unwrap();
            let proof = Proof::deserialize(&unhex(&made.proof).unwrap()).unwrap();
            blind.state.finalize(&token, &message, &proof, key.0.get_public_key())
        };
        let value = hex(&finish(&key).unwrap());
        assert!(key.is_value(&hex(&token), &value));
        assert!(!key.is_value(&hex(&[8; TOKEN_BYTES]), &value) && !key.is_value(&hex(&token), &value[2..]));
        let other = TokenKey::new("a secret", "sha256:2").unwrap();
        assert!(finish(&other).is_err(), "the proof is for the published key");
        assert!(!other.is_value(&hex(&token), &value));
        assert_eq!(key.public(), TokenKey::new("a secret", "sha256:1").unwrap().public());
    }

    #[test]
    fn what_is_no_element_is_not_evaluated() {
        let key = TokenKey::new("a secret", "").unwrap();
        for bad in ["", "00", "xy", &"00".repeat(32), &"ff".repeat(32), &"ä".repeat(32), &"0".repeat(63)] {
            assert_eq!(key.evaluate(bad), None, "{bad}");
            assert!(!key.is_value(bad, bad), "{bad}");
        }
    }
}
