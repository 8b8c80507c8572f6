//! The files of the page, as they are built into the program.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

/// The files of the page: path, type and content.
pub const FILES: &[(&str, &str, &str)] = &[
    ("/", HTML, include_str!("../assets/index.html")),
    ("/style.css", CSS, include_str!("../assets/style.css")),
    ("/main.js", SCRIPT, include_str!("../assets/main.js")),
    ("/api.js", SCRIPT, include_str!("../assets/api.js")),
    ("/dom.js", SCRIPT, include_str!("../assets/dom.js")),
    ("/words.js", SCRIPT, include_str!("../assets/words.js")),
    ("/numbers.js", SCRIPT, include_str!("../assets/numbers.js")),
    ("/parts.js", SCRIPT, include_str!("../assets/parts.js")),
    ("/chart.js", SCRIPT, include_str!("../assets/chart.js")),
    ("/sort.js", SCRIPT, include_str!("../assets/sort.js")),
    ("/steps/open.js", SCRIPT, include_str!("../assets/steps/open.js")),
    ("/steps/columns.js", SCRIPT, include_str!("../assets/steps/columns.js")),
    ("/steps/column.js", SCRIPT, include_str!("../assets/steps/column.js")),
    ("/steps/tables.js", SCRIPT, include_str!("../assets/steps/tables.js")),
    ("/steps/margins.js", SCRIPT, include_str!("../assets/steps/margins.js")),
    ("/steps/trade.js", SCRIPT, include_str!("../assets/steps/trade.js")),
    ("/steps/promise.js", SCRIPT, include_str!("../assets/steps/promise.js")),
    ("/steps/collect.js", SCRIPT, include_str!("../assets/steps/collect.js")),
    ("/steps/results.js", SCRIPT, include_str!("../assets/steps/results.js")),
    ("/steps/publish.js", SCRIPT, include_str!("../assets/steps/publish.js")),
];

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Texts of the page by language code; English is complete by definition.
const TEXTS: &[(&str, &str)] = &[("en", include_str!("../texts/en.toml"))];

static TABLES: LazyLock<BTreeMap<&'static str, Value>> = LazyLock::new(|| {
    let table = |text: &str| toml::from_str::<Value>(text).expect("a table of texts, as tested");
    TEXTS.iter().map(|&(code, text)| (code, table(text))).collect()
});

/// Returns the texts of the page as JSON, in the first of these languages that exists.
pub fn texts(wanted: &str) -> String {
    let codes = wanted.split([',', ';']).map(|code| code.trim().split('-').next().unwrap_or_default());
    let found = codes.filter_map(|code| TABLES.get(code)).next();
    found.unwrap_or(&TABLES["en"]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text that a script names is in the table, and every text in the table is used.
    #[test]
    fn scripts_and_texts_go_together() {
        let table = &TABLES["en"];
        let mut known: Vec<String> = Vec::new();
        for (section, texts) in table.as_object().unwrap() {
            known.extend(texts.as_object().unwrap().keys().map(|name| format!("{section}.{name}")));
        }
        let scripts: String = FILES.iter().filter(|(_, kind, _)| *kind == SCRIPT).map(|(.., text)| *text).collect();
        // What stands before a part that is put in.
        let families: Vec<&str> = scripts.split('`').filter_map(|text| Some(text.split_once("${")?.0)).collect();
        for name in &known {
            let named = scripts.contains(&format!("'{name}'"));
            let one = name.strip_suffix("_one").is_some_and(|base| scripts.contains(&format!("several('{base}'")));
            let family = families.iter().any(|family| family.contains('.') && name.starts_with(*family));
            assert!(named || one || family, "{name} is used nowhere");
        }
        for used in scripts.split(['(', ' ', '?']).filter_map(|rest| rest.strip_prefix('\'')?.split('\'').next()) {
            let is_text = used.split_once('.').is_some_and(|(section, _)| table.get(section).is_some());
            assert!(!is_text || known.iter().any(|name| name == used), "{used} is missing in en.toml");
        }
        assert!(known.len() > 100);
    }

    #[test]
    fn languages_are_chosen() {
        assert_eq!(texts("de-AT, en;q=0.8"), texts("en"));
        assert_eq!(texts(""), texts("en"));
    }
}
