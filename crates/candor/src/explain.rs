//! The page for respondents: what is sent, and how much it can reveal.
//!
//! All numbers are about everything that is sent, including the assigned channel. Tests compare them with brute
//! force.

use candor_base::channel::{Channel, Epsilon};
use candor_base::plan::{Block, Plan};
use candor_privacy::certain_disclosure::{Exclusion, exclusion};
use candor_privacy::{AuditRequest, audit, belief_bounds, times};
use serde::Serialize;

use crate::example::{Example, example};
use crate::guarantee::{CertifiedAttribute, certified};
use crate::locale::Language;
use crate::page::{Page, Part, Picture};

/// Maximum number of questions listed by name in a sentence.
const NAMED: usize = 3;

/// Maximum number of questions listed in full.
const LISTED: usize = 6;

/// Maximum number of items that are shown of a reported list.
const SHOWN: usize = 5;

/// The page for respondents, and the numbers on it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Sheet {
    /// Language code.
    pub language: String,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Certified epsilons and guess accuracy of each question.
    pub attributes: Vec<CertifiedAttribute>,
    /// The typical example; `None` if responses reveal nothing.
    pub example: Option<Example>,
    /// The page. Not in JSON.
    #[serde(skip)]
    pub page: Page,
}

/// Creates the page for respondents.
///
/// It says what is sent and how much that can reveal, with an example, and what the plan does not protect.
///
/// ```
/// # use candor::prelude::*;
/// #
/// # let schema = Schema::with_sizes(&[2, 3])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// use candor::locale::Language;
///
/// let page = explain(&plan, &Language::new(Some("en"), None, plan.schema())?).page;
/// std::fs::write(std::env::temp_dir().join("for-respondents.html"), page.html())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explain(plan: &Plan, language: &Language) -> Sheet {
    let (attributes, example, settled) = (certified(plan), example(plan, language), exclusion(plan));
    let say = |name: &str| language.say(name, &[]);
    let opening = if settled == Exclusion::AllButOne { "chance_telling" } else { "chance" };
    let mut parts = vec![Part::Paragraph(format!("{} {}", say(opening), say("many")))];
    parts.extend([Part::Heading(say("what_is_sent")), Part::List(sent(plan, language))]);
    let public: Vec<&str> = plan.schema().attributes().iter().filter(|a| a.is_public()).map(|a| a.name()).collect();
    if !public.is_empty() {
        parts.push(Part::Paragraph(language.say("public", &[("questions", &all_named(&public, language))])));
    }
    parts.push(Part::Heading(say("find_out")));
    parts.extend(found_out(plan, &attributes, language));
    parts.extend(limits(plan, settled, language).into_iter().map(Part::Paragraph));
    parts.extend(example.iter().flat_map(|example| worked(example, language)));
    parts.push(Part::Heading(say("not_done")));
    parts.push(Part::List(["took_part", "again", "elsewhere"].map(say).to_vec()));
    parts.push(Part::Paragraph(language.say("rules", &[("fingerprint", plan.fingerprint().as_str())])));
    Sheet {
        language: language.code().to_owned(),
        fingerprint: plan.fingerprint().as_str().to_owned(),
        attributes,
        example,
        page: Page { title: say("title"), parts, language: language.clone(), sheet: true },
    }
}

/// Lists all questions.
fn all_named(names: &[&str], language: &Language) -> String {
    names.iter().map(|name| language.quoted(language.asked(name))).collect::<Vec<String>>().join(", ")
}

/// Lists the first few questions and counts the others.
fn named(plan: &Plan, attributes: &[usize], language: &Language) -> String {
    let names: Vec<&str> = attributes.iter().map(|&a| plan.schema().name(a)).collect();
    match names.len() {
        n if n <= NAMED + 1 => all_named(&names, language),
        n => {
            let more = language.say("more", &[("n", &language.whole((n - NAMED) as u64))]);
            format!("{} {more}", all_named(&names[..NAMED], language))
        }
    }
}

/// Formats a probability as a count out of 100, or out of more if that is too coarse. `up` rounds up.
fn of_many(p: f64, up: bool) -> (u64, u64) {
    let mut all = 100u64;
    loop {
        let exact = p * all as f64;
        let n = if up { (exact - 1e-9).ceil() } else { exact.round() } as u64;
        let says_enough = (n >= 10 || p <= 0.0) && (n < all || p >= 1.0);
        if says_enough || all >= 1_000_000_000 {
            return (n.min(all), all);
        }
        all *= 10;
    }
}

fn rate(name: &str, p: f64, up: bool, language: &Language) -> String {
    let (n, all) = of_many(p, up);
    language.say(name, &[("n", &language.whole(n)), ("all", &language.whole(all))])
}

/// Describes what is sent, block by block. Many blocks of a single question share a line.
fn sent(plan: &Plan, language: &Language) -> Vec<String> {
    let alone = |block: &&Block| block.attributes().len() == 1 && !block.has_tag();
    let (single, others): (Vec<&Block>, Vec<&Block>) = plan.blocks().iter().partition(alone);
    let mut lines: Vec<String> = match single.len() > LISTED {
        false => single.iter().map(|block| sent_alone(plan, block, language)).collect(),
        true => {
            let attributes: Vec<usize> = single.iter().map(|block| block.attributes()[0]).collect();
            let text = if single.iter().any(|block| answers_with_lists(block)) { "list_each" } else { "one_each" };
            vec![language.say(text, &[("questions", &named(plan, &attributes, language))])]
        }
    };
    lines.extend(others.iter().flat_map(|block| sent_together(plan, block, language)));
    lines
}

/// Returns whether a channel of the block reports more than one category.
fn answers_with_lists(block: &Block) -> bool {
    let lists = |channel: &Channel| match channel {
        Channel::Pattern(pattern) => pattern.axes().iter().any(|axis| axis.answer > 1),
        Channel::Strip(_) => true,
        Channel::Matrix(_) => false,
    };
    block.channels().iter().any(|(_, channel)| lists(channel))
}

/// Describes what is sent about the only question of a block with one channel.
fn sent_alone(plan: &Plan, block: &Block, language: &Language) -> String {
    let question = named(plan, block.attributes(), language);
    match &block.channels()[0].1 {
        Channel::Matrix(matrix) => replies(matrix.labels().len(), &question, language),
        Channel::Strip(_) => language.say("list_each", &[("questions", &question)]),
        Channel::Pattern(pattern) => {
            let (axis, kept) = (pattern.axes()[0], pattern.keep_probability(0));
            let text = match axis.answer {
                1 => "one",
                n if n == axis.categories => "nothing",
                _ if kept >= 1.0 => "list_sure",
                _ => "list",
            };
            let (size, all) = (language.whole(axis.answer as u64), language.whole(axis.categories as u64));
            let kept = rate("rate", kept, false, language);
            language.say(text, &[("question", &question), ("kept", &kept), ("size", &size), ("all", &all)])
        }
    }
}

fn replies(outputs: usize, questions: &str, language: &Language) -> String {
    language.say("reply", &[("questions", questions), ("replies", &language.whole(outputs as u64))])
}

/// Describes what is sent about several questions, or about one with several channels.
fn sent_together(plan: &Plan, block: &Block, language: &Language) -> Vec<String> {
    let questions = named(plan, block.attributes(), language);
    let mut lines = Vec::new();
    if block.has_tag() {
        let ways = language.whole(block.channels().len() as u64);
        lines.push(language.say("way", &[("questions", &questions), ("ways", &ways)]));
    }
    let asked: Vec<usize> = block.strips().map(|strip| strip.places().len()).collect();
    match (asked.iter().min(), asked.iter().max()) {
        (Some(&least), Some(&most)) => {
            let whole = |n: usize| language.whole(n as u64);
            let few = match least == most {
                true => whole(most),
                false => language.say("to", &[("least", &whole(least)), ("most", &whole(most))]),
            };
            let text = if most == 1 { "combinations_one" } else { "combinations" };
            lines.push(language.say(text, &[("few", &few)]));
            if asked.len() < block.channels().len() {
                lines.push(language.say("otherwise", &[]));
            }
        }
        _ => lines.push(match &block.channels()[0].1 {
            Channel::Matrix(matrix) => replies(matrix.labels().len(), &questions, language),
            _ if answers_with_lists(block) => language.say("list_each", &[("questions", &questions)]),
            _ => language.say("one_each", &[("questions", &questions)]),
        }),
    }
    lines
}

/// Describes the guess accuracy for each question, given everything that is sent.
fn found_out(plan: &Plan, attributes: &[CertifiedAttribute], language: &Language) -> Vec<Part> {
    if plan.guarantee().conditional() == Epsilon::ZERO {
        return Vec::new();
    }
    let worse = attributes.iter().any(|a| a.worst_posterior > a.guess_probability + 1e-9);
    let share = |p: f64, up: bool| rate("share", p, up, language);
    let row = |a: &CertifiedAttribute| {
        let mut row = vec![language.asked(&a.name).to_owned()];
        row.extend(worse.then(|| share(a.worst_posterior, true)));
        row.extend([share(a.guess_probability, true), share(1.0 / a.categories as f64, false)]);
        row
    };
    // The most revealing response comes first.
    let mut header = vec!["question"];
    header.extend(worse.then_some("surest"));
    header.extend(["from_sent", "by_luck"]);
    let table = Part::Table {
        caption: language.say("guessing", &[]),
        header: header.iter().map(|name| language.say(name, &[])).collect(),
        rows: attributes.iter().map(row).collect(),
    };
    if attributes.len() <= LISTED {
        return vec![table];
    }
    let guesses = attributes.iter().map(|a| a.worst_posterior);
    let (least, most) = (guesses.clone().fold(1.0, f64::min), guesses.fold(0.0, f64::max));
    let range = language.say("range", &[("least", &share(least, true)), ("most", &share(most, true))]);
    let opening = Part::Paragraph(format!("{} {range}", language.say("guessing", &[])));
    vec![opening, Part::Folded { summary: language.say("question", &[]), parts: vec![table] }]
}

/// States the strongest guarantee against an adversary who knows all answers not tied to the question.
fn limits(plan: &Plan, settled: Exclusion, language: &Language) -> Vec<String> {
    let worst = plan.guarantee().conditional();
    if worst == Epsilon::ZERO {
        return vec![language.say("independent", &[])];
    }
    if let Some(times) = times(worst) {
        let (_, after) = belief_bounds(worst, 0.1);
        let after = tenths((1000.0 * after - 1e-9).ceil() / 10.0);
        let even = language.say("even", &[("times", &language.decimal(&times))]);
        return vec![format!("{even} {}", language.say("raise", &[("after", &language.decimal(&after))]))];
    }
    let mut said = language.say("no_limit", &[]);
    let findings = audit(&AuditRequest::new(plan));
    let l = findings.iter().find(|finding| finding.name() == "l-diversity").and_then(|finding| finding.value);
    if let Some(l) = l.filter(|&l| l >= 2.0) {
        said += &format!(" {}", language.say("fits", &[("l", &language.whole(l as u64))]));
    }
    let settles = match settled {
        Exclusion::Nothing => None,
        Exclusion::Some => Some("excludes"),
        Exclusion::AllButOne => Some("proves"),
    };
    let more = settles.into_iter().chain(["left"]).map(|text| language.say(text, &[]));
    vec![said, more.collect::<Vec<String>>().join(" ")]
}

/// Formats a number with one decimal, or without if the decimal is zero.
fn tenths(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Renders the example with its picture.
fn worked(example: &Example, language: &Language) -> Vec<Part> {
    let mut list: Vec<String> = example.sent.iter().take(SHOWN).map(|text| language.quoted(text)).collect();
    if example.sent.len() > SHOWN {
        let more = language.whole((example.sent.len() - SHOWN) as u64);
        list.push(language.say("more", &[("n", &more)]));
    }
    let question = language.quoted(language.asked(&example.attribute));
    let sent = language.say("sent", &[("question", &question), ("sent", &list.join(", "))]);
    let drawn = example.way.map(|way| {
        let [way, ways] = [way, example.ways].map(|n| language.whole(n as u64));
        language.say("drawn", &[("way", &way), ("ways", &ways)])
    });
    // Out of a hundred, unless that rounds to nobody.
    let hundred = (100.0 * example.posterior).round() as u64;
    let (n, all) = if hundred > 0 { (hundred, 100) } else { of_many(example.posterior, false) };
    let [shown, all_shown, rest] = [n, all, all - n].map(|n| language.whole(n));
    let guess = language.quoted(&example.guess);
    let words = [("all", all_shown.as_str()), ("n", &shown), ("guess", &guess), ("rest", &rest)];
    let mean = language.say("mean", &words);
    let mut parts = vec![
        Part::Heading(language.say("example", &[])),
        Part::Paragraph(drawn.into_iter().chain([sent]).collect::<Vec<String>>().join(" ")),
        Part::Paragraph(format!("{mean} {}", language.say("equal", &[]))),
    ];
    if all == 100 {
        let key = ["key_mean", "key_other"].map(|name| language.say(name, &words));
        parts.push(Part::Picture(Picture { marked: n as usize, name: mean, key }));
    }
    parts
}
