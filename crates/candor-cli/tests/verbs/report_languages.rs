//! The report in every language: each sentence comes from the tables of texts, and no place is left open.

use crate::sandbox::Sandbox;
use candor::locale::{Texts, report_texts, sheet_texts};

/// Names and labels without a letter of English, so that any other word on a page is ours.
const SCHEMA: &str = "[[attribute]]\nname = \"Ω\"\npublic = true\ncategories = [\"1\", \"2\"]\n\n\
                      [[attribute]]\nname = \"Δ\"\ncategories = [\"0\", \"1\", \"2\"]\n\n\
                      [[attribute]]\nname = \"Σ\"\nkind = \"ordinal\"\ncategories = [\"0\", \"1\", \"\"]\n";

/// Two waves of a survey, the second under a plan of its own, and a plan that cannot answer pairs.
fn survey(sandbox: &Sandbox) {
    sandbox.write("schema.toml", SCHEMA);
    let mut text = String::from("Ω,Δ,Σ,Φ\n");
    for i in 0..3_000usize {
        let sigma = ["0", "1", ""][if i % 4 == 0 { 2 } else { i % 3 % 2 }];
        text += &format!("{},{},{sigma},{}\n", i % 2 + 1, i % 3, 1 + i % 5);
    }
    sandbox.write("people.csv", text);
    sandbox.run("design schema.toml --method workload --tables pairs --epsilon 3 -o plan.json").fine();
    sandbox.run("design schema.toml --method independent --epsilon 4 -o first.json").fine();
    sandbox.run("design schema.toml --method sampling --epsilon 1 --tables marginals -o sampling.json").fine();
    sandbox.run("randomize plan.json people.csv --keep Φ --seed 1 -o responses.csv").fine();
    sandbox.run("randomize first.json people.csv --keep Φ --seed 2 -o earlier.csv").fine();
    sandbox.run("randomize sampling.json people.csv --keep Φ --seed 3 -o sampled.csv").fine();
    sandbox.run("device schema.toml --epsilon 2 --compliance-check -o cards.json").fine();
    sandbox.run("randomize cards.json people.csv --seed 4 -o cards.csv").fine();
    sandbox.run("design --categories 4,5 --method l-diversity --l 3 -o lists.json").fine();
    let rows: String = (0..100).map(|i| format!("{},{}\n", i % 4, i % 5)).collect();
    sandbox.write("lists-people.csv", format!("a1,a2\n{rows}"));
    sandbox.run("randomize lists.json lists-people.csv -o lists.csv").fine();
}

/// Reports that between them say nearly everything that a report can say.
const REPORTS: [&str; 6] = [
    "plan.json responses.csv --tables marginals;pairs;Δ|Σ --baseline 2024=earlier.csv --baseline-plan first.json \
     --wave 2025",
    "plan.json responses.csv --tables Δ --compare-groups Ω --mean Δ --quantile Δ:0.5,0.25 --by Ω --weights Φ",
    "plan.json responses.csv --tables Δ;Δ,Σ --weights Φ --strata Ω --where Ω=1",
    "sampling.json sampled.csv --tables Δ,Σ;Σ",
    "cards.json cards.csv --tables marginals",
    "plan.json responses.csv --tables Δ --model Δ~Ω",
];

/// What is read on a page, and what is read out: text and the attributes that hold text.
fn words_of(html: &str) -> String {
    let body = html.split("</style>").nth(1).unwrap();
    let (page, script) = body.split_once("<script").unwrap();
    let mut read = script.split('>').next().unwrap().replace("data-", "").replace("=", " ");
    for name in ["sort", "rows", "shares", "counts", "thousands", "decimal"] {
        read = read.replacen(&format!(" {name} "), " ", 1);
    }
    // The script fills this place itself.
    read = read.replacen("{column}", "", 1);
    let mut rest = page;
    while let Some((text, tag)) = rest.split_once('<') {
        let (tag, after) = tag.split_once('>').unwrap();
        read += text;
        read += tag.split("aria-label=\"").nth(1).map_or("", |rest| rest.split('"').next().unwrap());
        rest = if tag == "pre" { after.split_once("</pre>").unwrap().1 } else { after };
        read.push(' ');
    }
    read
}

/// Every letter of a text but for its places becomes one of no language.
fn masked(text: &str) -> String {
    let mut inside = false;
    let mask = |c: char| {
        inside = c == '{' || (inside && c != '}');
        if !inside && c.is_alphabetic() { 'ж' } else { c }
    };
    text.chars().map(mask).collect()
}

#[test]
fn every_word_of_a_report_comes_from_the_texts() {
    let sandbox = Sandbox::new();
    survey(&sandbox);
    let section = |name: &str, texts: &Texts| {
        let texts = texts.iter().map(|(name, text)| format!("{name} = {:?}\n", masked(text)));
        format!("[{name}]\n{}", texts.collect::<String>())
    };
    let (sheet, page) = (sheet_texts("en").unwrap(), report_texts("en").unwrap());
    sandbox.write("xx.toml", format!("language = \"xx\"\n{}{}", section("sheet", sheet), section("report", page)));
    for report in REPORTS {
        let html = sandbox.run(&format!("report {report} --texts xx.toml -o -")).fine().out;
        let read =
            words_of(&html).replace("candor", "").replace("sha256", "").replace("&quot;", "").replace("&lt;", "");
        let fingerprint = |word: &&str| word.len() >= 12 && word.chars().all(|c| c.is_ascii_hexdigit());
        let words = read.split(|c: char| !c.is_alphanumeric()).filter(|word| !fingerprint(word));
        let english: Vec<&str> =
            words.filter(|word| word.chars().filter(char::is_ascii_alphabetic).count() > 1).collect();
        assert!(english.is_empty(), "{report}: {english:?}");
        assert!(!html.split("<script").next().unwrap().contains("NaN"), "{report}");
        assert!(read.contains("жжж") && !read.contains(['{', '}']), "{report}: {read}");
    }
}

#[test]
fn no_language_leaves_english_or_an_open_place() {
    let sandbox = Sandbox::new();
    survey(&sandbox);
    let english = report_texts("en").unwrap();
    for code in ["de", "es", "fr"] {
        let own = report_texts(code).unwrap();
        for report in REPORTS {
            let html = sandbox.run(&format!("report {report} --language {code} -o -")).fine().out;
            assert!(html.contains(&format!("<html lang=\"{code}\">")), "{code}");
            let read = words_of(&html).split_whitespace().collect::<Vec<_>>().join(" ").replace("&#39;", "'");
            assert!(!read.contains(['{', '}']), "{code}: {read}");
            for (name, text) in english {
                // What stands between two places, if it is a sentence or a part of one, and not the same in both.
                let pieces =
                    text.split(['{', '}']).step_by(2).map(str::trim).filter(|piece| piece.split(' ').count() > 2);
                for piece in pieces.filter(|piece| !own[name].contains(piece)) {
                    assert!(!read.contains(piece), "{code} {name}: {piece}");
                }
            }
            let title = &own["title"];
            assert!(read.contains(title.as_str()), "{code}: {title}");
        }
        // Numbers are written as the language writes them.
        let html = sandbox.run(&format!("report plan.json responses.csv --tables Δ --language {code} -o -")).fine().out;
        assert!(
            html.contains("<b>3") && html.split('±').skip(2).all(|rest| !rest.chars().take(4).any(|c| c == '.')),
            "{code}"
        );
    }
}

#[test]
fn waves_are_drawn_and_their_differences_are_those_of_estimate() {
    let sandbox = Sandbox::new();
    survey(&sandbox);
    let against = "--baseline-plan first.json --tables Δ;Δ,Σ";
    let said = format!(
        "report plan.json responses.csv {against} --baseline 2023=earlier.csv --baseline 2024=earlier.csv --wave 2025 \
         -o report.html --json"
    );
    let report: serde_json::Value = serde_json::from_str(&sandbox.run(&said).fine().out).unwrap();
    let estimate =
        sandbox.run(&format!("estimate plan.json responses.csv {against} --baseline earlier.csv --json")).fine();
    let estimate: serde_json::Value = serde_json::from_str(&estimate.out).unwrap();
    let (changes, expected) = (&report["changes"], &estimate["comparisons"]);
    assert_eq!(changes.as_array().unwrap().len(), 2);
    for (change, expected) in changes.as_array().unwrap().iter().zip(expected.as_array().unwrap()) {
        assert_eq!(change["cells"], expected["cells"]);
        assert_eq!((&change["first"], &change["second"]), (&"2023".into(), &"2025".into()));
    }
    assert_eq!(report["waves"].as_array().unwrap().len(), 2);
    let html = sandbox.read("report.html");
    assert_eq!(html.matches("<table class=\"trend\"").count(), 1, "the table of one attribute");
    let row = html.split("<table class=\"trend\"").nth(1).unwrap().split("<tr>").nth(2).unwrap();
    assert_eq!(row.matches("<circle").count(), 3, "a dot for each wave: {row}");
    let difference = changes[0]["cells"][0]["difference"]["estimate"].as_f64().unwrap() * 100.0;
    let written = format!("<td>{}{difference:.1}</td>", if difference > 0.0 { "+" } else { "" });
    assert!(row.contains(&written), "{written}: {row}");
    assert!(html.contains("clients repeat a stored response show no change"));
    let html = html.replace("<bdi>", "").replace("</bdi>", "");
    assert!(
        html.contains("--baseline 2023=earlier.csv --baseline 2024=earlier.csv --baseline-plan first.json --wave 2025")
    );
    // The wave of another study has other tables.
    sandbox
        .run("report plan.json responses.csv --baseline lists.csv --baseline-plan lists.json -o other.html")
        .refused(1, &["--baseline", "\"lists\" has different tables"]);
    sandbox
        .run("report plan.json responses.csv --baseline a.csv b.csv c.csv --baseline-plan p.json q.json -o other.html")
        .refused(2, &["2 plans for 3 waves"]);
    sandbox.run("report plan.json responses.csv --wave 2025 -o other.html").refused(2, &["--baseline"]);
}

#[test]
fn a_language_of_ones_own_needs_the_texts_of_the_page() {
    let sandbox = Sandbox::new();
    survey(&sandbox);
    let english = include_str!("../../../candor/texts/en.toml");
    let sheet = english.split("[sheet]").nth(1).unwrap().split("[report]").next().unwrap();
    sandbox.write("it.toml", format!("language = \"it\"\n[sheet]{sheet}"));
    sandbox.run("explain plan.json --texts it.toml").fine();
    sandbox
        .run("report plan.json responses.csv --texts it.toml -o report.html")
        .refused(1, &["candor has no texts in \"it\", and the given texts have no [report]"]);
    sandbox
        .run("device schema.toml --epsilon 2 --card card.html --texts it.toml")
        .refused(1, &["the given texts have no [card]"]);
    sandbox.write("it.toml", format!("language = \"it\"\n[sheet]{sheet}\n[report]\ntitle = \"x\"\n"));
    sandbox
        .run("report plan.json responses.csv --texts it.toml -o report.html")
        .refused(1, &["[report]", "these texts are missing: about_marginal, about_survey, among,"]);
    sandbox.write("texts.toml", "[questions.\"Δ\"]\ntext = \"Wie geht es?\"\nanswers = { \"0\" = \"gut\" }\n");
    sandbox.run("device schema.toml --epsilon 2 --card card.html --language de --texts texts.toml").fine();
    let card = sandbox.read("card.html");
    assert!(
        card.contains("<bdi>Wie geht es?</bdi>") && card.contains("<bdi>gut</bdi>") && card.contains("lang=\"de\"")
    );
    sandbox.write("bad.toml", "[report]\nlow = 5\n");
    sandbox
        .run("report plan.json responses.csv --texts bad.toml -o report.html")
        .refused(1, &["bad.toml", "[report] low is 5, a number; it is a text in quotation marks"]);
}
