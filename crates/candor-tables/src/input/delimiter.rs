//! Detects the delimiter of CSV files.

/// Delimiters that are detected.
pub(crate) const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Returns the delimiter that occurs most often in the first line, outside of quotes.
pub(super) fn sniff(start: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [0usize; 4];
    for &byte in start {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            _ if !quoted => {
                if let Some(i) = DELIMITERS.iter().position(|&c| c == byte) {
                    counts[i] += 1;
                }
            }
            _ => {}
        }
    }
    // The first of the most frequent, so that a comma wins ties.
    let best = (0..DELIMITERS.len()).rev().max_by_key(|&i| counts[i]).unwrap_or(0);
    DELIMITERS[best]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_sniffed_outside_quotes() {
        assert_eq!(sniff(b"a,b;c,d\n1;2;3;4"), b',');
        assert_eq!(sniff(b"a;b;c\n"), b';');
        assert_eq!(sniff(b"\"a,b,c,d\"\te\n"), b'\t');
        assert_eq!(sniff(b"a|b"), b'|');
        assert_eq!(sniff(b"alone\n"), b',');
        assert_eq!(sniff(b""), b',');
    }
}
