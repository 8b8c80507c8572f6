//! Stochastic rounding follows docs/reference/sampling-algorithm.md to the byte, with the vectors of the
//! JavaScript client.

use std::convert::Infallible;

use candor_base::schema::Schema;
use candor_tables::stochastic_rounding::dithered;
use rand_core::{TryCryptoRng, TryRng};
use serde_json::Value;

/// Returns given bytes as randomness, and counts them.
struct Given {
    bytes: Vec<u8>,
    used: usize,
}

impl TryRng for Given {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("only bytes are read")
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("only bytes are read")
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.copy_from_slice(&self.bytes[self.used..self.used + out.len()]);
        self.used += out.len();
        Ok(())
    }
}

impl TryCryptoRng for Given {}

#[test]
fn rounding_is_as_specified() {
    let vectors: Vec<Value> =
        serde_json::from_str(include_str!("../../../../clients/javascript/test/dither.json")).unwrap();
    assert!(vectors.len() > 10);
    for vector in &vectors {
        let points: Vec<&str> =
            vector["grid"].as_array().unwrap().iter().map(|point| point.as_str().unwrap()).collect();
        let labels: Vec<String> = (0..points.len()).map(|at| format!("\"point {at}\"")).collect();
        let lists = format!("grid = [{}]\ncategories = [{}]\n", points.join(", "), labels.join(", "));
        let schema = Schema::from_toml(&format!("[[attribute]]\nname = \"x\"\n{lists}")).unwrap();
        let digits = vector["bytes"].as_str().unwrap();
        let byte = |at: usize| u8::from_str_radix(&digits[2 * at..][..2], 16).unwrap();
        let mut given = Given { bytes: (0..digits.len() / 2).map(byte).collect(), used: 0 };
        let place = schema.attributes()[0].place_of_value(vector["value"].as_str().unwrap()).unwrap();
        assert_eq!(u64::from(dithered(place, &mut given)), vector["code"].as_u64().unwrap(), "{vector}");
        assert_eq!(given.used, given.bytes.len(), "{vector}");
    }
}
