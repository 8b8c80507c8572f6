//! Numbers in sentences.

/// A whole number with separators: 32,561.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 attribute", "2 attributes".
pub fn plural(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_nouns() {
        assert_eq!([7, 999, 1_000, 32_561, 1_000_000].map(count), ["7", "999", "1,000", "32,561", "1,000,000"]);
        assert_eq!([0, 1, 2].map(|n| plural(n, "sweep")), ["0 sweeps", "1 sweep", "2 sweeps"]);
    }
}
