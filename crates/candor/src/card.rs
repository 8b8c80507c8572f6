//! Instruction cards for respondents, ready to print: one for each question and channel.

use candor_base::plan::Plan;
use candor_design::device::{Action, Device, DeviceKind};
use candor_privacy::times;
use candor_tables::import::card_letter;

use crate::error::StudyError;
use crate::html_escape::{attribute, escaped, name};
use crate::locale::{Direction, Language, Texts};

/// Style for large print, with two cards to cut out on an A4 page.
const STYLE: &str = "\
@page { size: A4; margin: 12mm; }
body { font: 15pt/1.4 system-ui, sans-serif; color: #000; background: #fff; margin: 0 auto; max-width: 186mm; }
.card { border: 1.5pt solid #000; border-radius: 4mm; padding: 6mm 8mm; margin: 0 0 6mm; break-inside: avoid; \
min-height: 116mm; box-sizing: border-box; overflow-wrap: anywhere; }
.card header { display: flex; justify-content: space-between; gap: 1em; align-items: baseline; border-bottom: 1pt \
solid #000; margin-bottom: 3mm; }
h2 { font-size: 20pt; margin: 0 0 1mm; }
.letter { font-size: 20pt; font-weight: bold; white-space: nowrap; }
p { margin: 0 0 2.5mm; }
dl { display: grid; grid-template-columns: minmax(30mm, max-content) 1fr; gap: 1.5mm 6mm; margin: 0 0 3mm; }
dt { font-weight: bold; max-width: 70mm; }
dd { margin: 0; }
.answers, .interviewer { font-size: 11.5pt; }
.interviewer { border-top: 1pt solid #000; padding-top: 1.5mm; margin: 0; }";

/// Renders the instruction cards of a plan with these devices as a page for printing.
///
/// Questions and categories are worded as in `language`.
///
/// # Errors
/// Returns [`StudyError::Texts`] if the language has no texts of instruction cards.
pub fn cards(plan: &Plan, devices: &[Device], language: &Language) -> Result<String, StudyError> {
    let texts = language.card()?;
    let mut body = String::new();
    for (block, device) in plan.blocks().iter().zip(devices) {
        let asked = &plan.schema().attributes()[block.attributes()[0]];
        for (tag, (_, channel)) in block.channels().iter().enumerate() {
            let card = Card {
                texts,
                question: language.asked(asked.name()),
                categories: asked.categories().iter().map(|label| language.label(asked.name(), label)).collect(),
                device: device.shifted(tag),
                letter: block.has_tag().then(|| card_letter(tag)),
                times: times(channel.record_epsilon()),
            };
            body += &card.html();
        }
    }
    let title =
        attribute(&plan.schema().randomized().iter().map(|&a| plan.schema().name(a)).collect::<Vec<_>>().join(", "));
    let turned = if language.direction() == Direction::RightToLeft { " dir=\"rtl\"" } else { "" };
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"{}\"{turned}>\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n\
         <body>\n{body}</body>\n</html>\n",
        attribute(language.code())
    ))
}

struct Card<'a> {
    texts: &'a Texts,
    question: &'a str,
    categories: Vec<String>,
    device: Device,
    /// Letter of the card, if the question has several.
    letter: Option<String>,
    /// Likelihood ratio of one answer; `None` if unbounded.
    times: Option<String>,
}

impl Card<'_> {
    fn html(&self) -> String {
        let letter = self.letter.as_ref().map(|letter| self.with("card", &[("letter", letter)]));
        let letter = letter.map_or(String::new(), |text| format!("<div class=\"letter\">{}</div>", escaped(&text)));
        let rule = |(action, runs): &(Action, Vec<(usize, usize)>)| {
            format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&self.outcomes(runs)), self.action(*action))
        };
        let rules: String = match self.device.answers() {
            Some(answers) if self.device.is_triangular() => self.triangular_rules(answers),
            Some(answers) => self.crosswise_rules(answers),
            None => self.device.rules().iter().map(rule).collect(),
        };
        let promise = self.times.as_ref().map(|times| self.with("promise", &[("times", times)]));
        let mut said = vec![self.texts["always"].clone()];
        said.extend(promise);
        said.extend(self.device.is_triangular().then(|| self.texts["triangular_promise"].clone()));
        said.extend((!self.device.is_secret()).then(|| self.texts["known"].clone()));
        let said: String = said.iter().map(|sentence| format!("<p>{}</p>\n", escaped(sentence))).collect();
        let answers = self.categories.iter().map(|category| name(category)).collect::<Vec<String>>().join(" · ");
        let interviewer = &self.texts[if self.letter.is_some() { "interviewer" } else { "interviewer_one" }];
        format!(
            "<section class=\"card\">\n<header><h2>{}: {}</h2>{letter}</header>\n<p class=\"answers\">{}: \
             {answers}</p>\n<p>{}</p>\n\
             <dl>\n{rules}</dl>\n{said}<p class=\"interviewer\">{}</p>\n</section>\n",
            escaped(&self.texts["question"]),
            name(self.question),
            escaped(&self.texts["answers"]),
            escaped(&self.gadget()),
            escaped(interviewer)
        )
    }

    /// Returns a text with its placeholders filled.
    fn with(&self, text: &str, words: &[(&str, &str)]) -> String {
        words.iter().fold(self.texts[text].clone(), |text, (place, word)| text.replace(&format!("{{{place}}}"), word))
    }

    fn gadget(&self) -> String {
        match self.device.gadget() {
            DeviceKind::Coins(1) => self.texts["coin"].clone(),
            DeviceKind::Coins(n) => self.with("coins", &[("n", &n.to_string())]),
            DeviceKind::Die(_) => self.texts["die"].clone(),
            DeviceKind::TwoDice(_) => self.texts["two_dice"].clone(),
            DeviceKind::Sum => self.texts["sum"].clone(),
            DeviceKind::Card | DeviceKind::Suit | DeviceKind::Rank => self.texts["deck"].clone(),
            DeviceKind::Wheel(_) => self.texts["wheel"].clone(),
            DeviceKind::Question { .. } if self.device.is_triangular() => self.texts["triangular"].clone(),
            DeviceKind::Question { .. } => self.texts["crosswise"].clone(),
        }
    }

    fn action(&self, action: Action) -> String {
        let text = match action {
            Action::Truth { shift: 0 } => "truth",
            Action::Truth { .. } if self.categories.len() == 2 => "opposite",
            Action::Truth { shift } => return escaped(&self.with("shift", &[("places", &shift.to_string())])),
            Action::Say(category) => {
                return escaped(&self.texts["say"]).replace("{answer}", &name(&self.categories[category]));
            }
            Action::Other { .. } => "other",
        };
        escaped(&self.texts[text])
    }

    /// Renders the rules of the crosswise model: whether both statements or only one is true; reversed on a
    /// shifted card.
    fn crosswise_rules(&self, answers: [&str; 2]) -> String {
        let turned = usize::from(self.device.actions()[0] != Action::Truth { shift: 0 });
        let rule = |text: &str, answer: usize| {
            let say = escaped(&self.texts["same"]).replace("{answer}", &name(answers[answer]));
            format!("<dt>{}</dt><dd>{say}</dd>\n", escaped(&self.texts[text]))
        };
        rule("yes_same", 1 - turned) + &rule("no_same", turned)
    }

    /// Renders the rules of the triangular model: whether at least one of the statements is true.
    fn triangular_rules(&self, answers: [&str; 2]) -> String {
        let rule = |text: &str, number: usize| {
            let when = escaped(&self.texts[text]).replace("{answer}", &name(&self.categories[number]));
            let say = escaped(&self.texts["same"]).replace("{answer}", &name(answers[number]));
            format!("<dt>{when}</dt><dd>{say}</dd>\n")
        };
        rule("one_yes", 1) + &rule("both_no", 0)
    }

    /// Formats ranges of outcomes; short ranges are listed one by one.
    fn outcomes(&self, runs: &[(usize, usize)]) -> String {
        let mut words = Vec::new();
        for &(first, last) in runs {
            match last - first {
                0..=3 => words.extend((first..=last).map(|outcome| self.outcome(outcome))),
                _ => words.push(self.with("range", &[("from", &self.outcome(first)), ("to", &self.outcome(last))])),
            }
        }
        match words.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} {} {last}", others.join(", "), self.texts["or"]),
            None => String::new(),
        }
    }

    fn outcome(&self, outcome: usize) -> String {
        let listed = |text: &str, place: usize| self.texts[text].split(',').nth(place).unwrap_or_default().to_owned();
        match self.device.gadget() {
            DeviceKind::Coins(coins) => {
                let side = |coin: u32| match outcome >> (coins - 1 - coin) & 1 {
                    0 => self.texts["heads"].as_str(),
                    _ => self.texts["tails"].as_str(),
                };
                (0..coins).map(side).collect::<Vec<&str>>().join(" + ")
            }
            DeviceKind::Suit => listed("suits", outcome),
            DeviceKind::Rank => listed("ranks", outcome),
            DeviceKind::Card => {
                let (rank, suit) = (listed("ranks", outcome % 13), listed("suits", outcome / 13));
                self.with("playing_card", &[("rank", &rank), ("suit", &suit)])
            }
            gadget => gadget.label(outcome),
        }
    }
}
