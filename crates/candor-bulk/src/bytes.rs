//! Random bytes for a batch of records, generated in large blocks, because single calls cost more than the bytes.

use aes::Aes256;
use aes::cipher::{Block, BlockCipherEncrypt, KeyInit};
use rand_core::CryptoRng;

const SIZE: usize = 4096;

/// A random key, expanded by AES-256 in counter mode, which is twice as fast as the generator of the key.
///
/// Each byte is returned once.
pub(crate) struct Bytes {
    cipher: Aes256,
    /// Counter of the next block; it would take centuries to wrap around.
    counter: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl Bytes {
    /// Creates a stream of bytes whose key is 32 bytes of a generator.
    ///
    /// The key is used for nothing else, so blocks may be counted from zero.
    pub(crate) fn new<R: CryptoRng + ?Sized>(rng: &mut R) -> Bytes {
        let mut key = [0; 32];
        rng.fill_bytes(&mut key);
        Bytes { cipher: Aes256::new(&key.into()), counter: 0, buffer: vec![0; SIZE], at: SIZE }
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        if self.at + N > SIZE {
            self.refill();
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.buffer[self.at..self.at + N]);
        self.at += N;
        bytes
    }

    #[cold]
    fn refill(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.fill(&mut buffer);
        (self.buffer, self.at) = (buffer, 0);
    }

    /// Fills a slice with new bytes, bypassing the buffer. Excess bytes of the last block are discarded.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        let (blocks, rest) = Block::<Aes256>::slice_as_chunks_mut(bytes);
        let mut last = [Block::<Aes256>::default()];
        blocks.iter_mut().chain(&mut last).for_each(|block| {
            *block = u128::from(self.counter).to_le_bytes().into();
            self.counter += 1;
        });
        self.cipher.encrypt_blocks(blocks);
        self.cipher.encrypt_blocks(&mut last);
        rest.copy_from_slice(&last[0][..rest.len()]);
    }

    /// Returns a uniform integer below `n`, which is at most 2^16 (Lemire's method).
    ///
    /// It is the high half of a product. The few low halves that would favor some results are rejected.
    #[inline]
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        loop {
            let product = u64::from(u32::from_le_bytes(self.array())) * n;
            let low = product & 0xffff_ffff;
            if low >= n || low >= (1 << 32) % n {
                return (product >> 32) as usize;
            }
        }
    }
}

impl rand_core::TryRng for Bytes {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(u32::from_le_bytes(self.array()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(u64::from_le_bytes(self.array()))
    }

    /// Takes bytes from the buffer, because few are needed at a time.
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        bytes.iter_mut().for_each(|byte| [*byte] = self.array());
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Bytes {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of zeros: the key of NIST's known answers (AESAVS, appendix B, for a key of zeros).
    struct Zeros;

    impl rand_core::TryRng for Zeros {
        type Error = std::convert::Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            Ok(0)
        }

        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(0)
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
            bytes.fill(0);
            Ok(())
        }
    }

    impl rand_core::TryCryptoRng for Zeros {}

    /// The first block is that of zeros under a key of zeros, from the standard. No block occurs twice, for any
    /// sequence of requests.
    #[test]
    fn bytes_are_the_encrypted_counter() {
        let mut bytes = Bytes::new(&mut Zeros);
        let first = [0xdc, 0x95, 0xc0, 0x78, 0xa2, 0x40, 0x89, 0x89, 0xad, 0x48, 0xa2, 0x14, 0x92, 0x84, 0x20, 0x87];
        assert_eq!(bytes.array(), first);
        let mut seen = std::collections::HashSet::from([first]);
        for length in [16, 40, 16 * 70, 5, 3 * SIZE] {
            let mut more = vec![0; length];
            bytes.fill(&mut more);
            assert!(more.as_chunks::<16>().0.iter().all(|block| seen.insert(*block)), "{length}");
            for _ in 0..SIZE / 16 {
                assert!(seen.insert(bytes.array()), "{length}");
            }
        }
    }
}
