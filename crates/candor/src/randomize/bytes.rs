//! Random bytes in large pieces: asking a generator for one byte at a time costs more than the byte.

use rand_core::CryptoRng;

const SIZE: usize = 4096;

/// A buffer of random bytes; each is handed out once.
pub(crate) struct Bytes<'a, R: ?Sized> {
    rng: &'a mut R,
    buffer: Box<[u8; SIZE]>,
    at: usize,
}

impl<'a, R: CryptoRng + ?Sized> Bytes<'a, R> {
    pub(crate) fn new(rng: &'a mut R) -> Bytes<'a, R> {
        Bytes { rng, buffer: Box::new([0; SIZE]), at: SIZE }
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        if self.at + N > SIZE {
            self.rng.fill_bytes(&mut self.buffer[..]);
            self.at = 0;
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.buffer[self.at..self.at + N]);
        self.at += N;
        bytes
    }

    /// Fresh bytes past the buffer, for loops that use many.
    #[inline]
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        self.rng.fill_bytes(bytes);
    }

    /// A uniform integer below `n`, which is at most 2^16: the high half of a product with
    /// rejection of the few low halves that would favour some results (Lemire's method).
    #[inline]
    pub(crate) fn below(&mut self, n: usize) -> usize {
        if n <= 256 {
            let n = n as u32;
            loop {
                let product = u32::from(u16::from_be_bytes(self.array())) * n;
                let low = product & 0xffff;
                if low >= n || low >= 65_536 % n {
                    return (product >> 16) as usize;
                }
            }
        }
        let n = n as u64;
        loop {
            let product = u64::from(u32::from_be_bytes(self.array())) * n;
            let low = product & 0xffff_ffff;
            if low >= n || low >= (1 << 32) % n {
                return (product >> 32) as usize;
            }
        }
    }
}

impl<R: CryptoRng + ?Sized> rand_core::TryRng for Bytes<'_, R> {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(u32::from_le_bytes(self.array()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(u64::from_le_bytes(self.array()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.rng.fill_bytes(bytes);
        Ok(())
    }
}

impl<R: CryptoRng + ?Sized> rand_core::TryCryptoRng for Bytes<'_, R> {}
