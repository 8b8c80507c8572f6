//! The pages, their script and their style.

use candor_study::explain::explain;
use candor_study::texts::{Language, OwnTexts, sheet_texts};
use serde_json::{Value, json};

use crate::random::hash;
use crate::survey::{Survey, Words};

/// The client, as it stands in the repository.
pub const CLIENT: &str = include_str!("../../../clients/javascript/candor.js");
/// The client's part for tokens, and what it uses.
pub const TOKENS: &str = include_str!("../../../clients/javascript/tokens.js");
/// The cryptography of tokens.
pub const NOBLE: &str = include_str!("../../../clients/javascript/noble.js");
/// The script of the survey page.
pub const SURVEY_SCRIPT: &str = include_str!("../assets/survey.js");
/// The script of the dashboard.
pub const RESULTS_SCRIPT: &str = include_str!("../assets/results.js");
/// The style of all pages.
pub const STYLE: &str = include_str!("../assets/style.css");

/// Text within HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Puts values into a page. Each place is filled once, so that no value can hold another's place.
fn filled(page: &str, values: &[(&str, &str)]) -> String {
    let mut parts = page.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.split_once('}').and_then(|(name, rest)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| format!("{value}{rest}"))
        });
        filled.push_str(&value.unwrap_or_else(|| format!("{{{part}")));
    }
    filled
}

/// The sheet for respondents, part by part, in a language that candor comes with.
fn sheet(survey: &Survey, language: &str, words: &Words) -> Option<Value> {
    let summary = sheet_texts(language)?.get("find_out")?;
    let own = OwnTexts { questions: words.questions.clone(), ..OwnTexts::default() };
    let language = Language::new(Some(language), Some(&own), survey.plan.schema()).ok()?;
    Some(json!({"summary": summary, "parts": explain(&survey.plan, &language).page.parts}))
}

/// What the survey page says, in all its languages. `key` is the public key of tokens, if there are any.
pub fn survey_json(survey: &Survey, key: Option<&str>) -> Value {
    let wording = &survey.wording;
    let words = wording.languages.iter().filter_map(|language| {
        let (words, texts) = survey.words(language)?;
        let shown = json!({
            "title": words.title, "introduction": words.introduction, "consent": words.consent,
            "contact": words.contact, "questions": words.questions, "texts": texts,
            "sheet": sheet(survey, language, words),
        });
        Some((language.clone(), shown))
    });
    let order: Vec<&str> = match wording.order.is_empty() {
        true => survey.plan.schema().attributes().iter().map(|attribute| attribute.name()).collect(),
        false => wording.order.iter().map(String::as_str).collect(),
    };
    json!({
        "languages": wording.languages,
        "words": words.collect::<serde_json::Map<String, Value>>(),
        "order": order,
        "invitations": wording.invitations,
        "shared_devices": wording.shared_devices,
        "client_sha256": hash(CLIENT),
        "tokens": key.map(|key| json!({"key": key, "until": wording.tokens_until})),
    })
}

fn page(survey: &Survey, style: &str, script: &str) -> String {
    let languages = &survey.wording.languages;
    let why = languages.iter().filter_map(|language| {
        let (_, texts) = survey.words(language)?;
        Some(format!(
            "<noscript><p lang=\"{}\">{}</p></noscript>",
            escaped(language),
            escaped(texts.get("why_script")?)
        ))
    });
    filled(
        include_str!("../assets/survey.html"),
        &[
            ("lang", &escaped(languages.first().map_or("en", String::as_str))),
            ("title", &escaped(&survey.wording.first.title)),
            ("style", style),
            ("noscript", &why.collect::<String>()),
            ("script", script),
        ],
    )
}

/// The survey page.
pub fn survey_page(survey: &Survey) -> String {
    page(
        survey,
        "<link rel=\"stylesheet\" href=\"/style.css\">",
        "<script type=\"module\" src=\"/survey.js\"></script>",
    )
}

/// The survey page as one file that works wherever it is opened, and sends to this address.
pub fn offline_page(survey: &Survey, key: Option<&str>, address: &str) -> String {
    let data = json!({"survey": survey_json(survey, key), "plan": survey.plan_text, "address": address});
    // Within a script nothing may look like its end.
    let data = data.to_string().replace('<', "\\u003c");
    let client = CLIENT.replace("\nexport ", "\n");
    let (_, script) = SURVEY_SCRIPT.split_once("'./client.js';\n").unwrap_or_default();
    let tokens = if key.is_some() { inlined_tokens() } else { String::new() };
    let script = script.replace("await import('./tokens.js')", "candorTokens");
    let style = format!("<style>\n{STYLE}</style>");
    let script = format!(
        "<script type=\"application/json\" id=\"candor-survey\">{data}</script>\n<script>\n(async () => {{\n{client}\n{tokens}\n{script}}})();\n</script>"
    );
    page(survey, &style, &script)
}

/// The modules for tokens as one value within a script.
fn inlined_tokens() -> String {
    let noble = NOBLE.replace("\nexport {\n  ristretto255_oprf\n};", "");
    let own = TOKENS.replace("import { ristretto255_oprf } from './noble.js';\n", "").replace("\nexport ", "\n");
    format!("const candorTokens = (() => {{\n{noble}\n{own}\nreturn {{ drawToken, finishToken }};\n}})();")
}

/// The dashboard.
pub fn results_page(survey: &Survey) -> String {
    filled(include_str!("../assets/results.html"), &[("title", &escaped(&survey.wording.first.title))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once() {
        assert_eq!(filled("{a} {b} {c}", &[("a", "{b}"), ("b", "x")]), "{b} x {c}");
        assert_eq!(escaped("<b a=\"x\">&"), "&lt;b a=&quot;x&quot;&gt;&amp;");
    }

    #[test]
    fn the_survey_has_the_sheet_in_its_own_words() {
        let plan = include_str!("../../candor/tests/plans/good/public.json");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.json"), plan).unwrap();
        let (mut survey, _) = Survey::create(&folder.path().join("survey"), &folder.path().join("plan.json")).unwrap();
        survey.wording.first.questions.get_mut("answer").unwrap().text = "Do you?".to_owned();
        let said = survey_json(&survey, None)["words"]["en"]["sheet"].clone();
        assert_eq!(said["summary"], "What somebody can find out");
        assert!(said["parts"].to_string().contains("\u{2068}Do you?\u{2069}"), "{said}");
        assert!(sheet(&survey, "eo", &survey.wording.first).is_none());
    }

    #[test]
    fn the_guide_states_the_hash_of_the_client() {
        assert!(include_str!("../../../docs/guide/collect.md").contains(&hash(CLIENT)), "{}", hash(CLIENT));
    }

    /// In the saved copy both scripts are in one scope.
    #[test]
    fn the_survey_and_the_client_declare_different_names() {
        const WORDS: [&str; 5] = ["const ", "function ", "async function ", "class ", "let "];
        let declared = |script: &str| -> Vec<String> {
            let name = |line: &str| {
                let rest = WORDS.iter().find_map(|word| line.strip_prefix(word))?;
                rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
            };
            script.lines().filter_map(name).filter(|name| !name.is_empty()).collect()
        };
        let client = declared(&CLIENT.replace("\nexport ", "\n"));
        let (imported, own) = SURVEY_SCRIPT.split_once("} from './client.js';").unwrap();
        for name in imported.split_once("import {").unwrap().1.split(',').map(str::trim) {
            assert!(client.iter().any(|known| known == name), "{name} is imported under its own name");
        }
        let own = declared(own);
        assert!(own.len() > 10 && client.len() > 10);
        assert!(own.iter().all(|name| !client.contains(name)), "{own:?} {client:?}");
    }

    #[test]
    fn the_offline_page_has_no_module_left() {
        let client = CLIENT.replace("\nexport ", "\n");
        assert!(!client.contains("\nexport") && !client.contains("\nimport"));
        let tokens = inlined_tokens();
        assert!(!tokens.contains("\nexport") && !tokens.contains("\nimport") && !tokens.contains("</script"));
        assert_eq!(SURVEY_SCRIPT.matches("import ").count(), 1);
        assert_eq!(SURVEY_SCRIPT.matches("await import('./tokens.js')").count(), 1);
        assert!(
            SURVEY_SCRIPT.contains("'./client.js';\n")
                && !CLIENT.contains("</script")
                && !SURVEY_SCRIPT.contains("</script")
        );
    }
}
