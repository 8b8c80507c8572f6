//! Suggestions for mistyped words.

/// Longest word that is compared, in characters.
const MAX_COMPARED_LENGTH: usize = 64;

/// Maximum number of candidates that are compared.
const MAX_COMPARED: usize = 1000;

/// Returns the candidate closest to an unknown word, for error messages, or `None` if none is similar.
///
/// The work is bounded: words of more than 64 characters have no suggestion, and only the first 1,000 candidates are
/// compared.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (folded, candidates) = compared(word, candidates)?;
    let score = |candidate: &str| strsim::normalized_damerau_levenshtein(&folded, &candidate.trim().to_lowercase());
    candidates
        .map(|candidate| (score(candidate), candidate))
        .filter(|(score, _)| *score >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Returns the word and the candidates in the form they are compared in, or `None` if the word is too long.
fn compared<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<(String, impl Iterator<Item = &'a str>)> {
    let short = |word: &str| word.len() <= 4 * MAX_COMPARED_LENGTH && word.chars().count() <= MAX_COMPARED_LENGTH;
    let word = word.trim();
    let candidates = candidates.take(MAX_COMPARED).filter(move |candidate| short(candidate));
    short(word).then(|| (word.to_lowercase(), candidates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_named_only_if_it_is_near() {
        let nearest = |word: &str| nearest(word, ["Bachelors", "Masters", "HS-grad"].into_iter());
        assert_eq!(nearest(" bachelor"), Some("Bachelors"));
        assert_eq!(nearest("1234"), None);
    }

    #[test]
    fn work_is_bounded_whatever_the_words() {
        let long = "x".repeat(2_000_000);
        let endless = || std::iter::repeat_n("category", 1_000_000);
        let looked_at = |word: &str| compared(word, endless()).map(|(_, candidates)| candidates.count());
        assert_eq!(looked_at("categorie"), Some(MAX_COMPARED));
        assert_eq!(looked_at(&long), None);
        assert_eq!(compared("x", std::iter::repeat_n(long.as_str(), 50)).map(|(_, c)| c.count()), Some(0));
        assert_eq!(looked_at(&"é".repeat(MAX_COMPARED_LENGTH)), Some(MAX_COMPARED));
        assert_eq!(looked_at(&"é".repeat(MAX_COMPARED_LENGTH + 1)), None);
    }
}
