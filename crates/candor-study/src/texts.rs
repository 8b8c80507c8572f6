//! What respondents read: one table of texts for each language, outside the fingerprint of a plan.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Texts by their names. Words in braces are put in where they are shown: `{times}`.
pub type Texts = BTreeMap<String, String>;

/// The languages that come with candor, by their codes; the first is complete by definition.
const WRITTEN: [(&str, &str); 2] = [("en", include_str!("../texts/en.toml")), ("de", include_str!("../texts/de.toml"))];

/// What stands on the cards of devices, in the same languages.
const CARDS: [(&str, &str); 2] =
    [("en", include_str!("../texts/card.en.toml")), ("de", include_str!("../texts/card.de.toml"))];

static CARD_TABLES: LazyLock<BTreeMap<&'static str, Texts>> = LazyLock::new(|| {
    CARDS.iter().map(|&(code, table)| (code, toml::from_str(table).expect("a table of texts, as tested"))).collect()
});

/// What stands on the cards of devices, by the code of a language; `None` if candor does not come with it.
pub fn card_texts(code: &str) -> Option<&'static Texts> {
    CARD_TABLES.get(code)
}

/// The codes of the languages that candor comes with.
pub fn languages() -> impl Iterator<Item = &'static str> {
    TABLES.keys().copied()
}

static TABLES: LazyLock<BTreeMap<&'static str, Texts>> = LazyLock::new(|| {
    WRITTEN.iter().map(|&(code, table)| (code, toml::from_str(table).expect("a table of texts, as tested"))).collect()
});

/// The texts in a language, by its code such as `en`; `None` if candor does not come with it.
pub fn texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code)
}

/// The names that every table of texts has.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES["en"].keys().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words in braces, in order of the alphabet.
    fn places(text: &str) -> Vec<&str> {
        let mut places: Vec<&str> = text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn all_languages_say_the_same_things() {
        let english = texts("en").unwrap();
        assert!(languages().eq(CARD_TABLES.keys().copied()));
        for tables in [texts, card_texts] {
            let english = tables("en").unwrap();
            for code in languages() {
                let table = tables(code).unwrap();
                assert!(table.keys().eq(english.keys()), "{code}");
                for (name, text) in table {
                    assert_eq!(places(text), places(&english[name]), "{code}: {name}");
                    assert!(!text.trim().is_empty());
                }
            }
        }
        assert!(texts("xx").is_none());
        assert_eq!(names().count(), english.len());
    }
}
