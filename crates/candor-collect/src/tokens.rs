//! Tokens that cannot be linked to an invitation: a verifiable oblivious pseudorandom function (RFC 9497, ristretto255
//! and SHA-512).
//!
//! A browser draws a token, blinds it, and has it evaluated for its invitation; a proof shows that the published key
//! was used. The blinded element is independent of the token, so nobody can link tokens to invitations, even with the
//! key and all messages. Later the browser sends the token and its value with the response. Only the holder of the key
//! can compute such a value.

use candor_base::plan::{Block, Plan};
use candor_base::randomness::below_u64;
use rand_core::{TryCryptoRng, TryRng};
use rand_core_06::OsRng;
use sha2::{Digest, Sha256};
use voprf::{BlindedElement, Group, Ristretto255, VoprfServer};

use crate::random::{hex, same_secret, unhex};

/// Size of a token in bytes.
const TOKEN_BYTES: usize = 32;

/// The key of a survey's tokens.
pub struct TokenKey(VoprfServer<Ristretto255>);

/// Result of evaluating a blinded token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The evaluated element, in hexadecimal digits.
    pub evaluated: String,
    /// The proof that it was evaluated under the published key.
    pub proof: String,
}

impl TokenKey {
    /// Derives the key from a secret, for a plan; `None` with negligible probability.
    pub fn new(secret: &str, fingerprint: &str) -> Option<TokenKey> {
        let seed = Sha256::digest(secret.as_bytes());
        VoprfServer::new_from_seed(&seed, fingerprint.as_bytes()).ok().map(TokenKey)
    }

    /// Returns the public key for checking proofs.
    pub fn public(&self) -> String {
        hex(&Ristretto255::serialize_elem(self.0.get_public_key()))
    }

    /// Evaluates a blinded token; `None` if it is invalid.
    pub fn evaluate(&self, blinded: &str) -> Option<Evaluation> {
        let element = BlindedElement::<Ristretto255>::deserialize(&unhex(blinded)?).ok()?;
        let made = self.0.blind_evaluate(&mut OsRng, &element);
        Some(Evaluation { evaluated: hex(&made.message.serialize()), proof: hex(&made.proof.serialize()) })
    }

    /// Returns the value of a token under this key, in hexadecimal; `None` if it is not a token.
    pub fn value(&self, token: &str) -> Option<String> {
        let token = unhex(token).filter(|token| token.len() == TOKEN_BYTES)?;
        self.0.evaluate(&token).ok().map(|value| hex(&value))
    }

    /// Returns whether this is the value of a token under this key.
    pub fn is_value(&self, token: &str, value: &str) -> bool {
        self.value(token).is_some_and(|own| same_secret(&own, value))
    }
}

/// Number of 32-byte parts that a token provides for the channel of a block: more than ever needed.
const TAG_PARTS: u32 = 32;

/// Returns the channel of each block of a plan that follows from the value of a token; `None` for a block with one
/// channel.
///
/// Neither side can choose the value of a token, so nobody can choose the channel. The bytes for block `b` are SHA-256
/// of `candor tag b 0 value`, then of `candor tag b 1 value`, and so on; they draw the channel as random bytes do.
pub fn token_tags(plan: &Plan, value: &str) -> Vec<Option<u16>> {
    let tag = |(number, block): (usize, &Block)| {
        let weights: Vec<u64> = block.channels().iter().map(|&(weight, _)| weight).collect();
        if weights.len() == 1 {
            return None;
        }
        let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        let mut ball = u128::from(below_u64(total, &mut TokenBytes::new(number, value)).unwrap_or(0));
        let chosen = weights.iter().position(|&weight| match ball.checked_sub(u128::from(weight)) {
            Some(rest) => {
                ball = rest;
                false
            }
            None => true,
        });
        chosen.map(|chosen| chosen as u16)
    };
    plan.blocks().iter().enumerate().map(tag).collect()
}

/// The bytes that a token provides for a block.
struct TokenBytes {
    bytes: Vec<u8>,
    used: usize,
}

impl TokenBytes {
    fn new(block: usize, value: &str) -> TokenBytes {
        let part = |counter| Sha256::digest(format!("candor tag {block} {counter} {value}").as_bytes()).to_vec();
        TokenBytes { bytes: (0..TAG_PARTS).flat_map(part).collect(), used: 0 }
    }
}

/// A token that yields no channel. This never happens: each of at least 128 tries fails with probability below one
/// half.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the token gives no channel")]
struct NoMoreBytes;

impl TryRng for TokenBytes {
    type Error = NoMoreBytes;

    fn try_next_u32(&mut self) -> Result<u32, NoMoreBytes> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, NoMoreBytes> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_be_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), NoMoreBytes> {
        let end = self.used + out.len();
        out.copy_from_slice(self.bytes.get(self.used..end).ok_or(NoMoreBytes)?);
        self.used = end;
        Ok(())
    }
}

impl TryCryptoRng for TokenBytes {}

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

    /// The same numbers as in clients/javascript/test/tokens.test.js, in proportion to the weights: a chi-squared value
    /// with one degree of freedom exceeds 24 with probability 1e-6.
    #[test]
    fn tags_follow_from_tokens_by_the_law_of_the_plan() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/lotteries.json");
        let plan = Plan::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
        let written = |n: u32| -> String {
            let tags = token_tags(&plan, &format!("value {n}"));
            tags.into_iter().map(|tag| tag.unwrap_or(0).to_string()).collect::<Vec<_>>().join(",")
        };
        assert_eq!(
            (0..20).map(written).collect::<Vec<_>>().join(" "),
            "0,1 1,0 0,0 0,1 1,0 1,1 0,1 1,1 1,1 1,0 0,0 1,0 1,1 1,0 0,1 0,0 1,1 0,1 0,0 1,1"
        );
        for (number, block) in plan.blocks().iter().enumerate().filter(|(_, block)| block.channels().len() > 1) {
            let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
            let expected = block.channels()[0].0 as f64 / total;
            let n = 4_000;
            let zeros = (0..n).filter(|n| token_tags(&plan, &format!("value {n}"))[number] == Some(0)).count() as f64;
            let n = f64::from(n);
            let chi = (zeros - n * expected).powi(2) / (n * expected * (1.0 - expected));
            assert!(chi < 24.0, "block {number}: {zeros} of {n}, expected {expected}");
        }
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
