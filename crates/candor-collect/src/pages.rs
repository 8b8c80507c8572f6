//! The pages, their scripts and their style.
//!
//! All code that runs in a browser is the same for every survey: a page names its script and style by hash, and the
//! script names its part for tokens by hash. So the hash of the page covers all code; texts and plan are data.

use std::sync::LazyLock;

use axum::http::StatusCode;
use candor::explain::explain;
use candor::format::capital;
use candor::guarantee::{CertifiedAttribute, certified};
use candor::locale::{Language, OwnTexts, languages, sheet_texts, texts};
use candor_base::channel::Channel;
use serde_json::{Value, json};

use crate::random::{hash, integrity};
use crate::survey::{Survey, Words};

/// The JavaScript client: a link to `clients/javascript`, because a package of this crate has its own copy.
pub const CLIENT: &str = include_str!("../client/candor.js");
/// The part of the client for tokens, as in the repository.
const TOKENS: &str = include_str!("../client/tokens.js");
/// The cryptographic functions for tokens.
const NOBLE: &str = include_str!("../client/noble.js");
/// The script of the survey page.
const SURVEY_SCRIPT: &str = include_str!("../assets/survey.js");

/// The files for browsers, the same for every survey.
pub struct Pages {
    /// The survey page.
    pub survey: String,
    /// Its script.
    pub script: String,
    /// The part of the script for tokens.
    pub tokens: String,
    /// The page of the results.
    pub results: String,
    /// Its script.
    pub results_script: &'static str,
    /// The style of all pages.
    pub style: &'static str,
    /// The SHA-256 of the survey page.
    pub hash: String,
    /// The SHA-256 of a saved page without the line that holds its data.
    pub saved_hash: String,
}

/// The pages of this version.
pub static PAGES: LazyLock<Pages> = LazyLock::new(|| {
    let style = include_str!("../assets/style.css");
    let results_script = include_str!("../assets/results.js");
    let tokens = token_script();
    let script = survey_script(&tokens);
    let sheet = format!("<link rel=\"stylesheet\" href=\"/style.css\" integrity=\"{}\">", integrity(style));
    let runs = |path: &str, text: &str| {
        format!("<script type=\"module\" src=\"{path}\" integrity=\"{}\"></script>", integrity(text))
    };
    let survey = page(&sheet, &runs("/survey.js", &script));
    let results = filled(
        include_str!("../assets/results.html"),
        &[("style", &sheet), ("script", &runs("/results.js", results_script))],
    );
    let saved = saved(&script, &tokens, style, "");
    let (hash, saved_hash) = (hash(&survey), hash(&saved));
    Pages { survey, script, tokens, results, results_script, style, hash, saved_hash }
});

impl Pages {
    /// Returns the files as they are served, by name.
    pub fn files(&self) -> [(&'static str, &str); 7] {
        [
            ("index.html", &self.survey),
            ("survey.js", &self.script),
            ("tokens.js", &self.tokens),
            ("style.css", self.style),
            ("results.html", &self.results),
            ("results.js", self.results_script),
            ("client.js", CLIENT),
        ]
    }
}

/// Returns the client and the survey as one script, which loads only this part for tokens.
fn survey_script(tokens: &str) -> String {
    // The page checks no signatures and loads nothing that it does not name.
    let signature = "const { checkSignature } = await import('./signature.js');";
    let client =
        CLIENT.replace("\nexport ", "\n").replace(signature, "const checkSignature = () => { throw new Error(); };");
    let (_, own) = SURVEY_SCRIPT.split_once("'./client.js';\n").unwrap_or_default();
    format!("{client}\n{}", own.replace("{tokens_integrity}", &integrity(tokens)))
}

/// Returns the modules for tokens as one script.
fn token_script() -> String {
    let noble = NOBLE.replace("\nexport {\n  ed25519,\n  ristretto255_oprf\n};", "");
    let own = TOKENS.replace("import { ristretto255_oprf } from './noble.js';\n", "").replace("\nexport ", "\n");
    format!(
        "globalThis.candorTokens = (() => {{\n{noble}\n{own}\nreturn {{ drawToken, finishToken, tokenTags }};\n}})();\n"
    )
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Fills values into a page. Each placeholder is filled once, so no value can contain another placeholder.
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

/// Returns the sheet for respondents, part by part, in a bundled language.
fn sheet(survey: &Survey, language: &str, words: &Words) -> Option<Value> {
    let summary = sheet_texts(language)?.get("title")?;
    let own = OwnTexts { questions: words.questions.clone(), ..OwnTexts::default() };
    let language = Language::new(Some(language), Some(&own), survey.plan.schema()).ok()?;
    Some(json!({"summary": summary, "parts": explain(&survey.plan, &language).page.parts}))
}

/// Returns the picture of the promise, about the question with the weakest protection. It shows how many of 100 people
/// send their own answer if that number is the same for all questions, else how many guesses are right in the worst
/// case.
fn picture(survey: &Survey) -> Option<Value> {
    let attributes = certified(&survey.plan);
    let of_hundred = |p: f64| (100.0 * p - 1e-9).ceil().min(100.0);
    let worst = |share: fn(&CertifiedAttribute) -> f64| attributes.iter().max_by(|a, b| share(a).total_cmp(&share(b)));
    let single = survey.plan.blocks().iter().all(|block| !block.has_tag() && answers_with_one(&block.channels()[0].1));
    if single && attributes.iter().all(|attribute| attribute.keep_probability.is_some_and(|kept| kept < 0.99)) {
        let least = worst(|attribute| attribute.keep_probability.unwrap_or(1.0))?;
        let kept = of_hundred(least.keep_probability.unwrap_or(1.0));
        return Some(json!({"kind": "picture_kept", "name": least.name, "n": kept}));
    }
    let least = worst(|attribute| attribute.worst_posterior)?;
    let luck = (100.0 / least.categories as f64).round();
    Some(json!({"kind": "picture_guess", "name": least.name, "n": of_hundred(least.worst_posterior), "luck": luck}))
}

/// Returns whether every attribute is answered with one category.
fn answers_with_one(channel: &Channel) -> bool {
    matches!(channel, Channel::Pattern(pattern) if pattern.axes().iter().all(|axis| axis.answer == 1))
}

/// Returns the contents of the survey page in all its languages. `key` is the public key of tokens, if there are any.
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
        "ranges": wording.ranges,
        "picture": picture(survey),
        "page_sha256": PAGES.hash,
        "tokens": key.map(|key| json!({"key": key, "until": wording.tokens_until})),
    })
}

/// Returns the survey page, which states in every bundled language why it needs a script.
fn page(style: &str, script: &str) -> String {
    let why = languages().filter_map(|language| {
        let text = texts(language)?.get("why_script")?;
        Some(format!("<noscript><p lang=\"{}\">{}</p></noscript>\n", escaped(language), escaped(text)))
    });
    let values = [("style", style), ("noscript", &why.collect::<String>()), ("script", script)];
    filled(include_str!("../assets/survey.html"), &values)
}

/// Returns a page with everything in it; its data are one line that ends with a line feed.
fn saved(script: &str, tokens: &str, style: &str, data: &str) -> String {
    let style = format!("<style>\n{style}</style>");
    let script = format!("{data}<script>\n{tokens}</script>\n<script>\n(async () => {{\n{script}}})();\n</script>");
    page(&style, &script)
}

/// Returns the survey page as one file that works from any place and sends to this address.
pub fn offline_page(survey: &Survey, key: Option<&str>, address: &str) -> String {
    let data = json!({"survey": survey_json(survey, key), "plan": survey.plan_text, "address": address});
    // Data within a script must not contain its end tag.
    let data = data.to_string().replace('<', "\\u003c");
    let data = format!("<script type=\"application/json\" id=\"candor-survey\">{data}</script>\n");
    let Pages { script, tokens, style, .. } = &*PAGES;
    saved(script, tokens, style, &data)
}

/// Returns a page that says in a language of the survey that the address is wrong. `accepted` is the header with the
/// preferred languages.
pub fn missing_page(survey: &Survey, accepted: &str) -> String {
    let known = &survey.wording.languages;
    let code = |range: &str| range.trim().split(['-', ';']).next().unwrap_or_default().to_ascii_lowercase();
    let preferred = accepted.split(',').map(code).find(|code| known.contains(code)).or_else(|| known.first().cloned());
    let language = preferred.unwrap_or_default();
    let words = survey.words(&language).map(|(_, words)| words).unwrap_or_default();
    let say = |name: &str| words.get(name).or_else(|| texts("en")?.get(name)).cloned().unwrap_or_default();
    message_page(&language, &say("no_page"), &say("no_page_text"), &say("to_survey"), StatusCode::NOT_FOUND)
}

/// Returns an error page for people that begins with a short summary.
pub fn problem_page(status: StatusCode, detail: &str) -> String {
    let title = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "This is not open to you",
        StatusCode::METHOD_NOT_ALLOWED => "This address is not for browsers",
        status if status.is_server_error() => "Something went wrong here",
        _ => "This did not work",
    };
    message_page("en", title, &format!("{}.", capital(detail)), "To the survey", status)
}

fn message_page(language: &str, title: &str, detail: &str, link: &str, status: StatusCode) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"{5}\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n<link rel=\"stylesheet\" \
         href=\"/style.css\" integrity=\"{2}\">\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n<p>{1}</p>\n<p><a \
         href=\"/\">{4}</a></p>\n<p class=\"small\">{3}</p>\n</main>\n</body>\n</html>\n",
        escaped(title),
        escaped(detail),
        integrity(PAGES.style),
        status,
        escaped(link),
        escaped(language)
    )
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
        let plan = include_str!("../../candor-base/tests/plans/good/public.json");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.json"), plan).unwrap();
        let (mut survey, _) = Survey::create(&folder.path().join("survey"), &folder.path().join("plan.json")).unwrap();
        survey.wording.first.questions.get_mut("answer").unwrap().text = "Do you?".to_owned();
        let said = survey_json(&survey, None)["words"]["en"]["sheet"].clone();
        assert_eq!(said["summary"], "What happens to your answers");
        assert!(said["parts"].to_string().contains("\u{2068}Do you?\u{2069}"), "{said}");
        assert!(sheet(&survey, "eo", &survey.wording.first).is_none());
    }

    #[test]
    fn the_guide_states_the_hashes_of_what_runs() {
        let guide = include_str!("../../../docs/how-to/operate-a-collector.md");
        for hash in [&PAGES.hash, &PAGES.saved_hash] {
            assert!(guide.contains(hash.as_str()), "docs/how-to/operate-a-collector.md does not state {hash}");
        }
    }

    /// The page names its script and style by hash, and the script names the part for tokens: nothing else runs.
    #[test]
    fn the_hash_of_the_page_covers_everything_that_runs() {
        let Pages { survey, script, tokens, results, results_script, style, .. } = &*PAGES;
        for page in [survey, results] {
            assert_eq!(page.matches("<script").count(), 1, "{page}");
            assert_eq!(page.matches("src=").count() + page.matches("href=").count(), 2, "{page}");
            assert!(page.contains(&integrity(style)), "{page}");
        }
        assert!(survey.contains(&integrity(script)) && results.contains(&integrity(results_script)));
        assert!(script.contains(&integrity(tokens)) && !script.contains("{tokens_integrity}"));
        assert!([script, tokens].iter().all(|text| !text.contains("import(") && !text.contains("\nimport ")));
    }

    /// The guide's check of a saved page covers all lines but the one with the data.
    #[test]
    fn a_saved_page_without_its_data_is_the_same_for_every_survey() {
        let plan = include_str!("../../candor-base/tests/plans/good/public.json");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.json"), plan).unwrap();
        let (survey, _) = Survey::create(&folder.path().join("survey"), &folder.path().join("plan.json")).unwrap();
        for key in [None, Some("00")] {
            let page = offline_page(&survey, key, "https://survey.example");
            let lines = page.split_inclusive('\n').filter(|line| !line.contains("id=\"candor-survey\""));
            assert_eq!(hash(&lines.collect::<String>()), PAGES.saved_hash);
        }
    }

    /// In the saved copy both scripts share one scope.
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
    fn the_scripts_have_no_module_left() {
        for script in [&PAGES.script, &PAGES.tokens] {
            assert!(!script.contains("\nexport") && !script.contains("\nimport") && !script.contains("</script"));
        }
        assert_eq!(SURVEY_SCRIPT.matches("import ").count(), 1);
        assert!(SURVEY_SCRIPT.contains("'./client.js';\n") && !PAGES.style.contains("</style"));
    }
}
