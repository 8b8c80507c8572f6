//! One page that tells a participant what is sent and what it reveals at most.

use candor::channel::{Channel, Epsilon, Pattern, Strip};
use candor::plan::{AttributeGuarantee, Block, Plan};
use candor::privacy::{Finding, Question, audit, belief_bounds, times};
use candor_analysis::exclusion::{Exclusion, exclusion};

use crate::page::{Page, Part, isolated};
use crate::words::capital;

/// The page for those who are asked: what is sent, what it reveals at most, an example, and what the plan does not do.
pub fn explain(plan: &Plan) -> Page {
    let (findings, exclusion) = (audit(&Question::new(plan)), exclusion(plan));
    let public: Vec<String> =
        plan.schema().attributes().iter().filter(|a| a.is_public()).map(|a| quoted(a.name())).collect();
    let mut parts = vec![
        Part::Paragraph(format!(
            "Before anything is sent, chance changes your answers or mixes others in with them. {} From the answers of many people \
             together those who ask can work out how common each answer is, because they know the rules of the chance.",
            match exclusion {
                Exclusion::Nothing | Exclusion::Some => {
                    "Nobody, not even those who ask, can be sure from what arrives what you answered."
                }
                Exclusion::AllButOne => "But not always: some of what may be sent gives your answer away.",
            }
        )),
        Part::Heading("What is sent".to_owned()),
        Part::List(plan.blocks().iter().flat_map(|block| sent(plan, block)).collect()),
    ];
    if !public.is_empty() {
        parts.push(Part::Paragraph(format!("Sent exactly as it is, without any protection: {}.", public.join(", "))));
    }
    parts.push(Part::Heading("What it reveals at most".to_owned()));
    parts.extend(revealed(plan, &findings, exclusion).into_iter().map(Part::Paragraph));
    parts.push(Part::Heading("An example".to_owned()));
    parts.extend(example(plan));
    parts.push(Part::Heading("What this does not do".to_owned()));
    parts.push(Part::List(vec![
        "It does not hide that you took part.".to_owned(),
        "It does not cover what you say elsewhere. If you are asked the same again, each time reveals a little more."
            .to_owned(),
        "It cannot take back what somebody already knows about you.".to_owned(),
    ]));
    parts.push(Part::Paragraph(format!(
        "The rules of the chance are public and fixed before you answer. They have the number {}; anybody can check them.",
        plan.fingerprint()
    )));
    Page { title: "What happens to your answers".to_owned(), parts }
}

fn quoted(name: &str) -> String {
    format!("\u{201c}{}\u{201d}", isolated(name))
}

/// A probability as so many times in a hundred (or a thousand, ...).
fn chances(p: f64) -> String {
    match p {
        p if p >= 1.0 => "always".to_owned(),
        p if p >= 0.9995 => "nearly always".to_owned(),
        p if p >= 0.1 => format!("{} times in 100", trimmed(100.0 * p)),
        p if p >= 0.01 => format!("{} times in 1,000", (1000.0 * p).round()),
        _ => "less than once in 100 times".to_owned(),
    }
}

/// One decimal, unless it is a zero.
fn trimmed(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn name(plan: &Plan, block: &Block, place: usize) -> String {
    quoted(plan.schema().name(block.attributes()[place]))
}

fn categories<'a>(plan: &'a Plan, block: &Block, place: usize) -> &'a [String] {
    plan.schema().attributes()[block.attributes()[place]].categories()
}

/// What is sent about the questions of one block.
fn sent(plan: &Plan, block: &Block) -> Vec<String> {
    let mut lines = Vec::new();
    let names: Vec<String> = (0..block.attributes().len()).map(|place| name(plan, block, place)).collect();
    if block.has_tag() {
        lines.push(format!(
            "About {}: chance first draws one of {} ways of changing the answers. The way drawn does not depend on what you \
             answer, and is sent along.{}",
            names.join(", "),
            block.channels().len(),
            if block.strips().next().is_none() { " The chances below are those of all ways together." } else { "" }
        ));
    }
    if block.strips().next().is_some() {
        lines.extend(sent_by_strips(plan, block));
        return lines;
    }
    if let Channel::Matrix(matrix) = &block.channels()[0].1 {
        lines.push(sent_by_matrix(block, matrix.labels().len(), &names));
        return lines;
    }
    if names.len() > 1 {
        lines.push(format!(
            "The answers about {} are changed together: one draw decides which of them stay.",
            names.join(", ")
        ));
    }
    lines.extend(names.iter().enumerate().map(|(place, about)| sent_about(plan, block, place, about)));
    lines
}

/// What is sent where some ways answer with combinations of answers to a few questions.
fn sent_by_strips(plan: &Plan, block: &Block) -> Vec<String> {
    let total: f64 = block.channels().iter().map(|(weight, _)| *weight as f64).sum();
    let share = |wanted: &dyn Fn(&Channel) -> bool| -> f64 {
        let weights = block.channels().iter().filter(|(_, channel)| wanted(channel)).map(|(weight, _)| *weight as f64);
        weights.sum::<f64>() / total
    };
    let asked: Vec<usize> = block.strips().map(|strip| strip.places().len()).collect();
    let questions = match (asked.iter().min(), asked.iter().max()) {
        (Some(1), Some(1)) => "one of the questions".to_owned(),
        (Some(least), Some(most)) if least == most => format!("{most} of the questions"),
        (least, most) => format!("{} to {} of the questions", least.unwrap_or(&1), most.unwrap_or(&1)),
    };
    let held: Vec<f64> = block.strips().map(held).collect();
    let (least, most) = (held.iter().copied().fold(1.0, f64::min), held.iter().copied().fold(0.0, f64::max));
    let strips = share(&|channel| matches!(channel, Channel::Strip(_)));
    let mut lines = vec![format!(
        "{} only {questions} matter, as the way drawn says, and nothing is sent about the others. What is sent is a list of \
         combinations of answers. Your own combination is on it {}; all else on it is drawn at random.",
        capital(&chances(strips)),
        match chances(least) == chances(most) {
            true => chances(most),
            false => format!("between {} and {}, depending on the way", chances(least), chances(most)),
        }
    )];
    if strips < 1.0 {
        let names: Vec<String> = (0..block.attributes().len()).map(|place| name(plan, block, place)).collect();
        lines.push(format!(
            "Otherwise an answer to every question is sent ({}), changed together: one draw decides which of them stay.",
            names.join(", ")
        ));
    }
    lines
}

/// How often the list of a strip has the truth on it.
fn held(strip: &Strip) -> f64 {
    strip.density() * (1.0 + strip.excess()) / (1.0 + strip.excess() * strip.density())
}

/// What is sent where a table of chances decides.
fn sent_by_matrix(block: &Block, replies: usize, names: &[String]) -> String {
    let joined = names.join(" and ");
    match block.channels()[0].1.keep_probability(0) {
        Some(kept) if names.len() == 1 && !block.has_tag() => format!(
            "About {joined}: one of {replies} possible replies. At least {} it is your own answer, otherwise another one, by a fixed \
             table of chances.",
            chances(kept)
        ),
        _ => format!(
            "About {joined}: one of {replies} possible replies, drawn by a fixed table of chances that depends on your answer."
        ),
    }
}

/// What is sent about one question of a block whose answers hit or miss the truth.
fn sent_about(plan: &Plan, block: &Block, place: usize, about: &str) -> String {
    let attribute = block.attributes()[place];
    let guarantee = plan.guarantee().attributes().iter().find(|a| a.attribute == attribute);
    let kept = guarantee.and_then(|a| a.keep_probability).unwrap_or(0.0);
    let all = categories(plan, block, place).len();
    let size = |(_, channel): &(u64, Channel)| match channel {
        Channel::Pattern(pattern) => Some(pattern.axes()[place].answer),
        Channel::Matrix(_) | Channel::Strip(_) => None,
    };
    let sizes: Vec<usize> = block.channels().iter().filter_map(size).collect();
    match (sizes.iter().min(), sizes.iter().max()) {
        (Some(&1), Some(&1)) => format!(
            "About {about}: one of {all} answers. {} it is your own, otherwise another one at random.",
            capital(&chances(kept))
        ),
        (Some(least), Some(most)) if least == most && *most == all => {
            format!("About {about}: nothing that depends on your answer.")
        }
        (Some(least), Some(most)) if least == most && kept >= 1.0 => format!(
            "About {about}: a list of {most} of the {all} answers. Yours is on it; the other {} are drawn at random.",
            most - 1
        ),
        (Some(least), Some(most)) if least == most => format!(
            "About {about}: a list of {most} of the {all} answers. {} yours is on it; all else on it is drawn at random.",
            capital(&chances(kept))
        ),
        _ => format!("About {about}: a list of some of the {all} answers. {} yours is on it.", capital(&chances(kept))),
    }
}

/// The strongest thing that can be said to hold, for somebody who knows all other answers.
fn revealed(plan: &Plan, findings: &[Finding], exclusion: Exclusion) -> Vec<String> {
    let worst = plan.guarantee().conditional();
    let find = |name: &str| findings.iter().find(|finding| finding.name == name);
    let number = |name: &str| find(name).and_then(|finding| finding.value);
    let mut lines = Vec::new();
    match times(worst) {
        _ if worst == Epsilon::ZERO => lines.push("What is sent does not depend on your answers at all.".to_owned()),
        Some(times) => {
            lines.push(format!(
                "Whatever you answer to a question, what is sent is at most {times} times as likely under your answer as under any \
                 other. This holds even for somebody who knows all your other answers."
            ));
            let (_, after) = belief_bounds(worst, 0.1);
            lines.push(format!(
                "For example: somebody who thinks beforehand that the chance of a certain answer being yours is 10 in 100 can, after \
                 reading what was sent, think it is {} in 100 at most.",
                trimmed((1000.0 * after - 1e-9).ceil() / 10.0)
            ));
        }
        None => {
            let l = number("l-diversity").unwrap_or(1.0);
            lines.push(match l >= 2.0 {
                true => format!(
                    "Whoever reads what was sent about a question cannot tell which of at least {l} answers is yours: all of them \
                     fit equally well."
                ),
                false => "There is no limit to what can be revealed.".to_owned(),
            });
            lines.extend(exclusion.sentence().map(str::to_owned));
            lines.push(
                "Somebody who already knows that some of the answers that fit cannot be yours is left with the others, and if \
                 only one is left, knows it."
                    .to_owned(),
            );
        }
    }
    if let Some(guess) = number("guessing").filter(|_| worst != Epsilon::ZERO) {
        lines.push(format!(
            "Somebody who knows nothing else about you and guesses your answer to a question from what was sent is right {} at \
             most.",
            chances(guess)
        ));
    }
    lines
}

/// A worked example about the first question that is changed.
fn example(plan: &Plan) -> Vec<Part> {
    let telling = |block: &&Block| {
        let tells = |a: &AttributeGuarantee| block.attributes()[0] == a.attribute && a.conditional != Epsilon::ZERO;
        plan.guarantee().attributes().iter().any(tells)
    };
    let Some(block) = plan.blocks().iter().find(telling).or(plan.blocks().first()) else { return Vec::new() };
    let labels = categories(plan, block, 0);
    let about = name(plan, block, 0);
    let truth = labels.len() / 2;
    // A way of its own for every lottery: the chances of all ways together are those of none of them.
    let drawn = match block.channels().len() {
        1 => String::new(),
        ways => format!("chance has drawn the first of the {ways} ways, and that "),
    };
    let suppose = format!("Suppose {drawn}your true answer about {about} is {}.", quoted(&labels[truth]));
    match &block.channels()[0].1 {
        Channel::Matrix(matrix) => {
            let input = if matrix.sizes().len() == 1 { truth } else { 0 };
            let suppose = match matrix.sizes().len() {
                1 => suppose,
                _ => format!(
                    "Suppose {drawn}your true answers about {} are the first of each.",
                    (0..matrix.sizes().len()).map(|place| name(plan, block, place)).collect::<Vec<_>>().join(" and ")
                ),
            };
            let row = |(z, label): (usize, &String)| vec![label.clone(), chances(matrix.probability(z, input))];
            let rows = matrix.labels().iter().enumerate().take(20).map(row).collect();
            let header = vec!["what is sent".to_owned(), "how often".to_owned()];
            vec![Part::Paragraph(suppose), Part::Table { caption: "Then this is sent:".to_owned(), header, rows }]
        }
        Channel::Pattern(pattern) if pattern.axes()[0].answer == 1 => one_category(pattern, &suppose, labels, truth),
        Channel::Pattern(pattern) => set_of_categories(pattern, &suppose, labels, truth),
        Channel::Strip(strip) => list_of_combinations(plan, block, strip, &drawn),
    }
}

/// A list that a strip may send: its own, with the middle answers as the truth.
fn list_of_combinations(plan: &Plan, block: &Block, strip: &Strip, drawn: &str) -> Vec<Part> {
    let number = plan.blocks().iter().position(|other| std::ptr::eq(other, block)).unwrap_or(0);
    let labels = plan.cell_labels(number, strip);
    let names: Vec<String> = strip.places().iter().map(|&place| name(plan, block, place)).collect();
    let middle: Vec<usize> = strip.table().sizes().iter().map(|size| size / 2).collect();
    let truth = strip.table().cell(&middle);
    // The strip, moved along each question so that it holds the truth.
    let first = strip.table().codes(usize::from(strip.members()[0]));
    let moved = |&cell: &u16| {
        let codes = strip.table().codes(cell.into());
        let code = |axis: usize| {
            let size = strip.table().sizes()[axis];
            (codes[axis] + middle[axis] + size - first[axis]) % size
        };
        strip.table().cell(&(0..codes.len()).map(code).collect::<Vec<usize>>())
    };
    let mut list: Vec<usize> = strip.members().iter().map(moved).collect();
    list.sort_unstable();
    let shown: Vec<String> = list.iter().take(8).map(|&cell| quoted(&labels[cell])).collect();
    let more = if list.len() > 8 { format!(" and {} more", list.len() - 8) } else { String::new() };
    let size = list.len();
    vec![
        Part::Paragraph(format!(
            "Suppose {drawn}your true answers about {} are {}. {} they are on the list of {size} of the {} combinations that is sent.",
            names.join(" and "),
            quoted(&labels[truth]),
            capital(&chances(held(strip))),
            labels.len()
        )),
        Part::Paragraph(format!(
            "This may be sent: {}{more}; always in the order of the questionnaire, so that the order tells nothing.",
            shown.join(", ")
        )),
        Part::Paragraph(format!(
            "Whoever reads the list does not know whether yours is on it; to guess one of the {size} is right {}.",
            chances(held(strip) / size as f64)
        )),
    ]
}

fn one_category(pattern: &Pattern, suppose: &str, labels: &[String], truth: usize) -> Vec<Part> {
    let (n, kept) = (labels.len(), pattern.keep_probability(0));
    let other = (1.0 - kept) / (n - 1) as f64;
    let mut rows = vec![vec![format!("{} (the truth)", isolated(&labels[truth])), chances(kept)]];
    if n <= 6 {
        rows.extend((0..n).filter(|&c| c != truth).map(|c| vec![labels[c].clone(), chances(other)]));
    } else {
        rows.push(vec![format!("each of the {} others", n - 1), chances(other)]);
    }
    let right = kept / (kept + (n - 1) as f64 * other);
    vec![
        Part::Paragraph(suppose.to_owned()),
        Part::Table {
            caption: "Then this is sent:".to_owned(),
            header: vec!["what is sent".to_owned(), "how often".to_owned()],
            rows,
        },
        Part::Paragraph(format!(
            "Now suppose that {} arrives, and that all answers are equally common. Of 1,000 people who send {}, about {} mean it; \
             the other {} answered something else, and chance sent this.",
            quoted(&labels[truth]),
            quoted(&labels[truth]),
            (1000.0 * right).round(),
            1000.0 - (1000.0 * right).round()
        )),
    ]
}

fn set_of_categories(pattern: &Pattern, suppose: &str, labels: &[String], truth: usize) -> Vec<Part> {
    let (n, size, kept) = (labels.len(), pattern.axes()[0].answer, pattern.keep_probability(0));
    // Others spread evenly, to look drawn without being.
    let mut list: Vec<usize> = (1..n).map(|step| (truth + step * 7919) % n).filter(|&c| c != truth).collect();
    list.dedup();
    let mut seen = vec![false; n];
    list.retain(|&c| !std::mem::replace(&mut seen[c], true));
    let rest: Vec<usize> = (0..n).filter(|&c| c != truth && !seen[c]).collect();
    list.extend(rest);
    list.truncate(size - 1);
    list.push(truth);
    list.sort_unstable();
    let shown: Vec<String> = list.iter().take(12).map(|&c| quoted(&labels[c])).collect();
    let more = if list.len() > 12 { format!(" and {} more", list.len() - 12) } else { String::new() };
    let drawn = match kept >= 1.0 {
        true => format!("{suppose} Chance draws {} others to go with it.", size - 1),
        false => format!(
            "{suppose} {} it goes on the list, with {} others drawn by chance.",
            capital(&chances(kept)),
            size - 1
        ),
    };
    let mut parts = vec![
        Part::Paragraph(drawn),
        Part::Paragraph(format!(
            "This may be sent: {}{more}; always in the order of the questionnaire, so that the order tells nothing.",
            shown.join(", ")
        )),
    ];
    parts.push(Part::Paragraph(match kept >= 1.0 {
        true => format!(
            "Whoever reads the list knows that one of the {size} is yours, and nothing about which. A guess is right once in {size} \
             times."
        ),
        false => format!(
            "Otherwise, {size} other answers are sent. Whoever reads the list does not know whether yours is on it; to guess one of \
             the {size} is right {}.",
            chances(kept / size as f64)
        ),
    }));
    parts
}
