//! Converts bytes to hexadecimal digits and back.

/// Returns two lower-case hexadecimal digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parses lower-case hexadecimal digits; `None` for an odd number of them or any other character.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let digits = text.as_bytes();
    let byte = |pair: &[u8]| Some(16 * digit(pair[0])? + digit(pair[1])?);
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(byte).collect())?
}
