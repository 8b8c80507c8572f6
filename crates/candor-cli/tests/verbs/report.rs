//! `candor report` as a user runs it: one page, complete, honest, and safe whatever the labels are.

use crate::sandbox::Sandbox;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Every tag that is opened is closed, in order; attributes are quoted; no bare `<` or `&`.
fn assert_well_formed(html: &str) {
    let body = html.strip_prefix("<!DOCTYPE html>\n").expect("a doctype");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        assert!(open.last() == Some(&"style") || entities_are_fine(&rest[..at]), "{}", &rest[..at]);
        if rest[at..].starts_with("<script") {
            rest = rest.split_once("</script>").expect("a script ends").1;
            continue;
        }
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closes what was opened last");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "<{tag}>");
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        if !tag.ends_with('/') && name != "meta" {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

fn entities_are_fine(text: &str) -> bool {
    let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
    !text.contains('>') && text.split('&').skip(1).all(|rest| known.iter().any(|entity| rest.starts_with(entity)))
}

/// The page as it reads where all text runs one way.
fn without_isolation(html: &str) -> String {
    html.replace("<bdi>", "").replace("</bdi>", "")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// A survey about two attributes that depend on each other, and a third.
fn survey(sandbox: &Sandbox, rows: usize) {
    sandbox.write(
        "schema.toml",
        "[[attribute]]\nname = \"region\"\npublic = true\ncategories = [\"north\", \"south\"]\n\n\
         [[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"yes\"]\n\n\
         [[attribute]]\nname = \"coughs\"\ncategories = [\"no\", \"at times\", \"yes\"]\n\n\
         [[attribute]]\nname = \"age\"\nkind = \"ordinal\"\ncategories = [\"young\", \"old\"]\n",
    );
    let mut text = String::from("region,smokes,coughs,age\n");
    for i in 0..rows {
        let smokes = usize::from(i % 3 == 0);
        let coughs = if i % 7 == 0 { 1 } else { 2 * smokes };
        let (region, age) = (["north", "south"][i % 2], ["young", "old"][i / 5 % 2]);
        text += &format!("{region},{},{},{age}\n", ["no", "yes"][smokes], ["no", "at times", "yes"][coughs]);
    }
    sandbox.write("people.csv", text);
    sandbox.run("design schema.toml --method workload --epsilon 3 --tables pairs -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 3").fine();
}

/// How a list writes a share: in percent, as far as it is precise enough.
fn graded(cell: &Value) -> Vec<String> {
    let number = |name: &str| 100.0 * cell[name].as_f64().unwrap();
    let limits = ["low", "high"].map(|name| format!(">{:.1}<", number(name).clamp(0.0, 100.0)));
    match cell["reliability"].as_str().unwrap() {
        "shown" | "rough" => {
            let margin = (number("high").min(100.0) - number("low").max(0.0)) / 2.0;
            let shown = [format!(">{:.1}<", number("shown_estimate")), format!(">±{margin:.1}<")];
            shown.into_iter().chain(limits).collect()
        }
        "under" => [format!(">≤{}<", number("high").ceil())].into_iter().chain(limits).collect(),
        _ => vec![">–<".to_owned()],
    }
}

#[test]
fn the_page_holds_everything_that_the_other_verbs_say() {
    let sandbox = Sandbox::new();
    survey(&sandbox, 20_000);
    let tables = "--tables marginals;smokes,coughs;region,smokes --confidence 0.9";
    let said = sandbox.run(&format!("report plan.json responses.csv {tables} -o report.html")).fine();
    assert_eq!(said.out, "The report is in report.html.\n");
    let html = sandbox.read("report.html");
    assert_well_formed(&html);
    assert!(html.contains("<dt><bdi>smokes</bdi></dt><dd><bdi>no</bdi> · <bdi>yes</bdi></dd>"), "names are isolated");
    let html = without_isolation(&html);
    let rows: Vec<&str> = html.split("<tr").map(|row| row.split_once('>').map_or(row, |(_, cells)| cells)).collect();
    let estimated = json(&sandbox.run(&format!("estimate plan.json responses.csv {tables} --json")).fine().out);
    let mut found = 0;
    for table in estimated["tables"].as_array().unwrap() {
        for cell in table["cells"].as_array().unwrap() {
            let heading = |label: &Value| format!("<th scope=\"row\">{}</th>", escaped(label.as_str().unwrap()));
            let categories: String = cell["categories"].as_array().unwrap().iter().map(heading).collect();
            let parts = graded(cell);
            let one = |row: &&str| row.contains(&categories) && parts.iter().all(|part| row.contains(part.as_str()));
            assert!(rows.iter().any(one), "{cell}");
            found += 1;
        }
    }
    assert_eq!(found, 2 + 3 + 2 + 6 + 4);
    assert_eq!(html.matches("<svg role=\"img\"").count(), 2 + 3 + 2, "one interval for each cell of one attribute");
    assert_eq!(html.matches("<title>").count(), 1 + 2 + 3 + 2, "and each can be read");
    assert_eq!(html.matches("<svg class=\"axis\"").count(), 3, "each on an axis");

    // Tables of two attributes as rows and columns: percent of each row, as estimate says them.
    let among = "--tables coughs|smokes;smokes|region --confidence 0.9 --json";
    let among = json(&sandbox.run(&format!("estimate plan.json responses.csv {among}")).fine().out);
    let mut crossed = 0;
    for cell in among["tables"].as_array().unwrap().iter().flat_map(|table| table["cells"].as_array().unwrap()) {
        let number = |name: &str| 100.0 * cell[name].as_f64().unwrap();
        let row = format!("<th scope=\"row\">{}</th><td", cell["categories"][0].as_str().unwrap());
        // What is imprecise is marked, or not shown as a number.
        let part = match cell["reliability"].as_str().unwrap() {
            grade @ ("shown" | "rough") => {
                let (percent, margin) = (number("shown_estimate"), (number("high") - number("low")) / 2.0);
                let mark = if grade == "shown" { "" } else { " class=\"rough\"" };
                assert!(rows.iter().any(|one| one.contains(&format!("<td{mark} data-e="))), "{cell}");
                format!("<b>{percent:.1}</b> ±{margin:.1}</td>")
            }
            "under" => format!("<b>≤{}</b> </td>", number("high").ceil()),
            _ => "<b>–</b> </td>".to_owned(),
        };
        assert!(rows.iter().any(|one| one.contains(&row) && one.contains(&part)), "{cell} {part}");
        crossed += 1;
    }
    assert_eq!(crossed, 6 + 4);
    let smokes = &estimated["tables"][0]["cells"][1];
    let total = format!(" class=\"total\">{:.1} ", 100.0 * smokes["estimate"].as_f64().unwrap());
    assert!(html.contains(&total) && html.contains("<th scope=\"row\">everybody</th>"), "{total}");

    // Dependences as cluster and test say them.
    let clustered =
        json(&sandbox.run("cluster plan.json responses.csv --protocol attribute --measure cramer --json").fine().out);
    for pair in clustered["dependences"].as_array().unwrap() {
        let [a, b] = ["a", "b"].map(|side| pair[side].as_str().unwrap());
        let test =
            json(&sandbox.run(&format!("test plan.json responses.csv --independence {a},{b} --json")).fine().out);
        let p = test["p_value"].as_f64().unwrap();
        let p = match p {
            p if p < 0.001 => "&lt; 0.001".to_owned(),
            p if p < 0.1 => format!("{p:.3}"),
            p => format!("{p:.2}"),
        };
        let v = pair["value"].as_f64().unwrap();
        let row = rows.iter().find(|row| row.starts_with(&format!("<th scope=\"row\">{a} and {b}</th>"))).unwrap();
        assert!(row.contains(&format!("<td>{v:.2}</td>")) && row.contains(&format!("<td>{p}</td>")), "{row} {v} {p}");
        assert!(html.contains(&format!(">{v:.2}*")) || html.contains(&format!(">({v:.2})<")), "{v}");
    }
    assert!(html.contains("***</td>"), "smoking and coughing go together");
    assert!(html.contains("0.00)\">("), "what may be chance is in parentheses and not shaded");

    // The guarantee in the words of the audit.
    let audit = json(&sandbox.run("audit plan.json --json").fine().out);
    let sentence = audit["criteria"][0]["sentence"].as_str().unwrap();
    assert!(html.contains(&escaped(sentence)), "{sentence}");
    for part in [
        "20,000 responses about 3 randomized attributes",
        "Published as it is, without any protection: region.",
        "times as likely under your answer as under any other",
        "The conditional epsilon bounds what the whole response reveals",
        "no · at times · yes",
        "young · old (in this order)",
        "north · south (public, not changed)",
        audit["fingerprint"].as_str().unwrap(),
        "candor estimate plan.json responses.csv --tables &#39;marginals;smokes,coughs;region,smokes&#39; --confidence \
         0.9",
        "These responses are a simulation (seed 3).",
        "About one in 10 of these intervals misses the true value",
    ] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn eight_attributes_and_all_their_pairs_are_a_small_file() {
    let sandbox = Sandbox::new();
    let sizes = [2, 3, 4, 5, 6, 5, 4, 6];
    let mut text = (1..=8).map(|i| format!("a{i}")).collect::<Vec<_>>().join(",") + "\n";
    for i in 0..2_000usize {
        let row = sizes.iter().enumerate().map(|(at, size)| (i * (at + 3) / 7 % size).to_string());
        text += &(row.collect::<Vec<_>>().join(",") + "\n");
    }
    sandbox.write("people.csv", text);
    sandbox.run("design --categories 2,3,4,5,6,5,4,6 --method independent --epsilon 8 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 1").fine();
    let html = sandbox.run("report plan.json responses.csv --tables marginals;pairs -o -").fine().out;
    assert_well_formed(&html);
    assert_eq!(html.matches("<table class=\"cross\"").count(), 28);
    // With all tables as a file.
    assert!(html.len() < 500_000, "{} bytes", html.len());
}

#[test]
fn one_file_the_same_every_time() {
    let sandbox = Sandbox::new();
    survey(&sandbox, 2_000);
    let first = sandbox.run("report plan.json responses.csv -o -").fine().out;
    assert_eq!(first, sandbox.run("report plan.json responses.csv -o -").fine().out);
    // One script of ours, which sorts and switches; it loads nothing and makes no code of text.
    assert_eq!((first.matches("<script").count(), first.matches("</script>").count()), (1, 1));
    for part in ["eval", "Function(", "import", "fetch", "XMLHttp", "document.write", "insertAdjacent"] {
        assert!(!first.split("<script").nth(1).unwrap().contains(part), "{part}");
    }
    for part in ["http:", "https:", "<link", "url(", "@import", "src=", "NaN"] {
        assert!(!first.contains(part), "{part}");
    }
    for part in
        ["<html lang=\"en\">", "viewport", "@media print", "<main>", "<h1>", "<h2>", "<caption>", "scope=\"col\""]
    {
        assert!(first.contains(part), "{part}");
    }
    // Where the files were is not told.
    let folder = sandbox.path("");
    let here = folder.to_str().unwrap();
    let page = sandbox.run(&format!("report {here}plan.json {here}responses.csv -o -")).fine().out;
    assert_eq!(page, first);
}

#[test]
fn labels_are_text_and_never_markup() {
    let sandbox = Sandbox::new();
    let nasty = ["<script>alert(1)</script>", "</title><h1>x", "a\\\" onload=\\\"x", "&lt;b&gt; & 'c'", ""];
    let categories: Vec<String> = nasty.iter().map(|label| format!("\"{label}\"")).collect();
    let attribute =
        |name: &str| format!("[[attribute]]\nname = \"{name}\"\ncategories = [{}]\n\n", categories.join(", "));
    sandbox.write("schema.toml", attribute("<img src=x>") + &attribute("</th>&\\\"'"));
    sandbox.run("design schema.toml --method independent --epsilon 4 -o plan.json").fine();
    let mut table = String::from("<img src=x>,\"</th>&\"\"'\"\n");
    for i in 0..600 {
        let value = |i: usize| format!("\"{}\"", nasty[i % 5].replace("\\\"", "\"\""));
        table += &format!("{},{}\n", value(i), value(i / 5));
    }
    sandbox.write("people.csv", table);
    sandbox.run("randomize plan.json people.csv -o responses.csv").fine();
    let words = [
        "report",
        "plan.json",
        "responses.csv",
        "-o",
        "-",
        "--tables",
        "marginals;pairs",
        "--title",
        "<script>&\"'</title>",
    ];
    let html = sandbox.run_words(&words).fine().out;
    assert_well_formed(&html);
    assert_eq!(html.matches("<script").count(), 1, "our own, at the end");
    for part in ["<script>", "<img", "</title><h1>x", "\" onload=\"x", "<b>&"] {
        assert!(!html.contains(part), "{part}");
    }
    assert!(html.contains("<title>&lt;script&gt;&amp;&quot;&#39;&lt;/title&gt;</title>"));
    assert!(html.contains("&amp;lt;b&amp;gt; &amp; &#39;c&#39;"));
}

#[test]
fn what_a_reader_must_know_comes_first() {
    let sandbox = Sandbox::new();
    survey(&sandbox, 150);
    let first = |command: &str| {
        let html = sandbox.run(command).fine().out;
        assert_well_formed(&html);
        let html = without_isolation(&html);
        let warned = html.split("Read this first").nth(1).unwrap_or("").split("</ul>").next().unwrap().to_owned();
        (warned, html)
    };
    let (warned, _) = first("report plan.json responses.csv -o -");
    assert!(warned.contains("There are only 150 responses"), "{warned}");
    sandbox.run("randomize plan.json people.csv -o unmarked.csv --force").fine();
    std::fs::remove_file(sandbox.path("unmarked.csv.candor.json")).unwrap();
    let (warned, _) = first(&format!("report plan.json {}unmarked.csv -o - --unmarked", sandbox.path("").display()));
    assert!(warned.contains("The file unmarked.csv does not name the plan"), "{warned}");
    assert!(!warned.contains("simulation"));

    // The truth itself can hardly have come from the plan; sampling one attribute tells nothing about pairs.
    survey(&sandbox, 20_000);
    sandbox.run("design schema.toml --method sampling --epsilon 1 --tables marginals -o sampling.json").fine();
    sandbox.run("randomize sampling.json people.csv -o sampled.csv").fine();
    let (warned, html) = first("report sampling.json sampled.csv --tables smokes,coughs;age -o -");
    assert!(warned.contains("smokes and coughs: not identifiable"), "{warned}");
    assert!(html.contains("<h3>age</h3>") && !html.contains("smokes and coughs</th>"), "no pair of them can be told");
    assert!(html.contains("region and smokes</th>"), "but each with the public attribute");
    sandbox.run("design schema.toml --method independent --epsilon 1 -o alone.json").fine();
    let (warned, _) = first("report alone.json people.csv -o - --unmarked");
    assert!(warned.contains("can hardly have come from this plan"), "{warned}");
    let (warned, html) = {
        sandbox.run("design --categories 5,6 --method l-diversity --l 3 -o l.json").fine();
        let rows: String = (0..3_000).map(|i| format!("{},{}\n", i % 5, i % 6)).collect();
        sandbox.write("sets.csv", format!("a1,a2\n{rows}"));
        sandbox.run("randomize l.json sets.csv -o lists.csv").fine();
        first("report l.json lists.csv -o -")
    };
    assert!(warned.contains("There is no finite epsilon"), "{warned}");
    assert!(html.contains("at least 3 answers fit what we receive equally well"));

    // A plan for a prior is told with it.
    let front = "design --categories 3 --method front --prior 0.5,0.3,0.2 --map-privacy 0.4 --posterior-bound 0.8 -o \
                 front.json";
    sandbox.run(front).fine();
    sandbox.write("three.csv", format!("a1\n{}", "0\n1\n0\n2\n".repeat(500)));
    sandbox.run("randomize front.json three.csv -o three-responses.csv").fine();
    let (_, html) = first("report front.json three-responses.csv -o -");
    assert!(
        html.contains("For the stated prior of &quot;a1&quot; only (certified):") && html.contains("MAP privacy 0.4")
    );
}

#[test]
fn mistakes_are_told_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    survey(&sandbox, 300);
    let before = sandbox.files();
    for (words, code, part) in [
        ("plan.json responses.csv", 2, "--output"),
        ("plan.json -o report.html", 2, "<RESPONSES>"),
        ("plan.json responses.csv -o plan.json", 1, "both an input and the output"),
        ("plan.json responses.csv -o responses.csv", 1, "both an input and the output"),
        ("plan.json responses.csv -o report.html --tables smoke", 1, "did you mean \"smokes\"?"),
        ("plan.json responses.csv -o report.html --confidence 2", 2, "above 0 and below 1"),
        ("plan.json none.csv -o report.html", 1, "none.csv"),
        ("none.json responses.csv -o report.html", 1, "cannot read none.json"),
        ("plan.json responses.csv -o no/folder/report.html", 1, "cannot write no/folder/report.html"),
    ] {
        sandbox.run(&format!("report {words}")).refused(code, &[part]);
    }
    assert_eq!(sandbox.files(), before);
}

/// Tables within groups have findings, too: the largest share of each group.
#[test]
fn the_headline_names_the_largest_share_of_each_group() {
    let sandbox = Sandbox::new();
    survey(&sandbox, 20_000);
    sandbox.run("design schema.toml --method independent --epsilon 9 -o alone.json").fine();
    sandbox.run("randomize alone.json people.csv --seed 1 -o r.csv").fine();
    sandbox.run("report alone.json r.csv --tables smokes|region -o report.html").fine();
    let html = without_isolation(&sandbox.read("report.html"));
    let headline = html.split("<h2>In short</h2>").nth(1).unwrap().split("<h2>").next().unwrap();
    assert_eq!(headline.matches("<li>").count(), 2, "{headline}");
    assert!(headline.contains("<li>smokes (north): ") && headline.contains("<li>smokes (south): "), "{headline}");
}

/// Answers by region, of 20,000 people: 60% vote in the north, and 30% in the south; the other questions are answered
/// alike.
fn by_region(sandbox: &Sandbox) {
    let attribute = |name: &str, public: bool, labels: &str| {
        format!("[[attribute]]\nname = \"{name}\"\npublic = {public}\ncategories = [{labels}]\n\n")
    };
    let questions = ["votes", "drives", "rests"].map(|name| attribute(name, false, "\"no\", \"yes\""));
    sandbox.write("schema.toml", attribute("region", true, "\"north\", \"south\"") + &questions.concat());
    let yes = |holds: bool| if holds { "yes" } else { "no" };
    let row = |i: usize| {
        let (north, at) = (i.is_multiple_of(2), i / 2 % 10);
        let answers =
            [at < if north { 6 } else { 3 }, (i / 20).is_multiple_of(2), (i / 40).is_multiple_of(2)].map(yes).join(",");
        format!("{},{answers}\n", if north { "north" } else { "south" })
    };
    sandbox.write("people.csv", "region,votes,drives,rests\n".to_owned() + &(0..20_000).map(row).collect::<String>());
}

/// The headline names the groups that certainly differ, once, and no others.
#[test]
fn the_headline_names_groups_that_differ() {
    let sandbox = Sandbox::new();
    by_region(&sandbox);
    sandbox.run("design schema.toml --method independent --epsilon 9 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv --seed 1 -o r.csv").fine();
    for (tables, told) in [
        ("region,votes;region,drives", 1),
        ("votes|region;drives|region", 3),
        ("region,votes;votes|region", 1),
        ("region,drives", 0),
    ] {
        sandbox.run(&format!("report plan.json r.csv --tables {tables} -o report.html")).fine();
        let html = without_isolation(&sandbox.read("report.html"));
        let headline = html.split("<h2>In short</h2>").nth(1).map_or("", |rest| rest.split("<h2>").next().unwrap());
        assert_eq!(headline.matches("<li>").count(), told, "{tables}: {headline}");
        let difference = "<li>votes: 60% yes for region = north (±2 points), 30% for south (±2).</li>";
        assert_eq!(headline.matches(difference).count(), usize::from(tables.contains("votes")), "{headline}");
        assert!(!headline.contains("drives: 50% yes for"), "{headline}");
    }
}

/// Attributes that a plan leaves out share one warning, and have no section each.
#[test]
fn what_a_plan_leaves_out_is_told_once() {
    let sandbox = Sandbox::new();
    by_region(&sandbox);
    sandbox.run("design schema.toml --tables region,votes --epsilon 3 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv --seed 1 -o r.csv").fine();
    sandbox.run("report plan.json r.csv -o report.html").fine();
    let html = without_isolation(&sandbox.read("report.html"));
    assert_eq!(html.matches("carry no information about them: drives, rests.").count(), 1, "{html}");
    assert!(html.contains("<h3>votes</h3>") && !html.contains("<h3>drives</h3>"), "{html}");
    assert!(!html.contains("ot identifiable"), "{html}");
}
