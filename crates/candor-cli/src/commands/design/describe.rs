//! Description of a plan as text and tables.

use std::fmt::Write;

use candor::guarantee::{ATTRIBUTE_HEADER, attribute_rows, prior_sentences};
use candor::verdict::{points, table_margin, worst_reply};
use candor_base::channel::Epsilon;
use candor_base::plan::Plan;
use candor_design::expectation::Expectation;
use candor_design::pairs::Pairs;
use candor_privacy::{AuditRequest, audit};

use crate::show::{count, paragraph, plural, short_table, verbose};

/// Smallest difference between requested and certified epsilon that is reported.
const WORTH_MENTIONING: f64 = 1e-9;

/// With a larger standard error of a share, a table of pairs is of no use.
const USELESS: f64 = 0.5;

pub fn describe(plan: &Plan, asked: Option<f64>) -> String {
    let guarantee = plan.guarantee();
    let mut text = format!(
        "{} of {}: record-level epsilon {} (certified)\n",
        plan.origin().method,
        plural(guarantee.attributes().len(), "attribute"),
        guarantee.epsilon()
    );
    if let Some((asked, certified)) = asked.zip(guarantee.epsilon().finite())
        && asked - certified > WORTH_MENTIONING
    {
        let _ =
            writeln!(text, "  requested {asked}; with integer weights of 64 bits it is {:.3e} less", asked - certified);
    }
    text.push('\n');
    // Without the last column, which is for audits.
    let shown = ATTRIBUTE_HEADER.len() - 1;
    let rows = attribute_rows(plan).into_iter().zip(guarantee.attributes());
    // Attributes of which nothing is learned come last.
    let (asked, silent): (Vec<_>, Vec<_>) = rows.partition(|(_, one)| one.conditional != Epsilon::ZERO);
    let rows: Vec<Vec<String>> = asked.iter().chain(&silent).map(|(row, _)| row[..shown].to_vec()).collect();
    text += &short_table(&ATTRIBUTE_HEADER[..shown], &rows);
    text += &worst_reply(plan).map_or(String::new(), |sentence| paragraph(&sentence));
    if verbose() && guarantee.attributes().iter().any(|a| a.marginal != Some(a.conditional)) {
        text += &paragraph(
            "The marginal epsilon bounds what one answer reveals by itself; the conditional epsilon bounds what the \
             whole response reveals about it to an adversary who knows all other answers that are not tied to it. \
             Respondents are told the conditional one.",
        );
    }
    if guarantee.epsilon().finite().is_none() {
        let findings = audit(&AuditRequest::new(plan));
        for finding in findings.iter().filter(|finding| finding.name() == "l-diversity") {
            text += &paragraph(&finding.sentence);
        }
    }
    text += &describe_prior(plan);
    let _ = write!(text, "\n  fingerprint {}\n", plan.fingerprint());
    text
}

/// Describes the guarantee for the prior that the plan was made for; empty if there is none.
pub fn describe_prior(plan: &Plan) -> String {
    prior_sentences(plan, str::to_owned).map_or(String::new(), |(heading, sentences)| {
        let sentences: String = sentences.iter().map(|sentence| paragraph(sentence)).collect();
        format!("\n{heading}\n{sentences}")
    })
}

/// Errors of tables if the truth is uniform, as anticipated where something is, and whatever it is; the largest first.
pub fn describe_expectations(expected: &[Expectation], respondents: f64, anticipated: bool) -> String {
    let mut text = format!("\nStandard errors to expect from {} respondents\n", count(respondents as u64));
    let mut expected: Vec<&Expectation> = expected.iter().collect();
    expected.sort_by(|a, b| table_margin(b).unwrap_or(f64::MAX).total_cmp(&table_margin(a).unwrap_or(f64::MAX)));
    // The errors of answers are for who asks.
    let others = if verbose() { 3 } else { 1 };
    let shown = |e: &&Expectation| {
        let error = e.standard_error.map_or("not identifiable".to_owned(), |error| format!("{error:.4}"));
        let number = |error: Option<f64>| error.map_or("-".to_owned(), |error| format!("{error:.4}"));
        let anticipated = anticipated.then(|| number(e.anticipated_error));
        let margin = table_margin(e).map_or("-".to_owned(), |margin| format!("±{} points", points(margin)));
        let others = [e.worst_error, e.absolute_error, e.relative_error].map(number).into_iter().take(others);
        let first = [e.attributes.join(","), e.cells.to_string(), margin, error];
        first.into_iter().chain(anticipated).chain(others).collect()
    };
    let as_anticipated = anticipated.then_some("as expected");
    let names = ["worst case", "e_abs of answers", "e_rel of answers"].into_iter().take(others);
    let header: Vec<&str> = ["table", "cells", "margin of error", "standard error"]
        .into_iter()
        .chain(as_anticipated)
        .chain(names)
        .collect();
    text += &widest_first(&header, &expected.iter().map(shown).collect::<Vec<Vec<String>>>());
    text += &paragraph(&format!(
        "Margin of error: half of the 95% interval of a percentage; of tables of several attributes, of one within a \
         group of average size (the last attribute given the others), at most. Standard errors are of shares of \
         everybody: root mean square over the cells for a uniform population{}, and the largest of any cell in the \
         worst case.",
        if anticipated { " or one as expected" } else { "" }
    ));
    if verbose() {
        text += &paragraph(
            "e_abs and e_rel are how far the observed shares of answers may be off, all at once with confidence 0.95, \
             before the randomization is taken out.",
        );
    }
    text
}

/// So many tables fit on a screen with what else is known of a plan.
const TABLES: usize = 5;

/// The table of errors, with the first rows only unless everything is to be shown.
fn widest_first(header: &[&str], rows: &[Vec<String>]) -> String {
    match rows.len().saturating_sub(TABLES) {
        more if more > 2 && !verbose() => {
            let (rows, more) = (short_table(header, &rows[..TABLES]), count(more as u64));
            format!("{rows}  and {more} more precise ones: --verbose\n")
        }
        _ => short_table(header, rows),
    }
}

pub fn describe_pairs(pairs: &Pairs, respondents: f64) -> String {
    let (people, pair) = (count(respondents as u64), pairs.attributes.join(","));
    let among = match pairs.looked_at == pairs.all {
        true => format!("Of {}", plural(pairs.all, "pair")),
        false => format!("Of the {} looked at, out of {},", plural(pairs.looked_at, "pair"), pairs.all),
    };
    let sentence = match (pairs.largest_standard_error, pairs.not_identifiable) {
        (Some(error), _) if pairs.all == 1 && error <= USELESS => {
            format!("With {people} respondents the table of {pair} has a standard error of {error:.4}.")
        }
        (None, unknown) if unknown == pairs.looked_at => {
            format!("{among} this plan can answer none; --method workload --tables pairs makes one that can.")
        }
        (None, unknown) => format!(
            "{among} this plan cannot answer {unknown}, such as {pair}; --method workload --tables pairs makes one \
             that can."
        ),
        (Some(error), _) if error > USELESS => format!(
            "{among} the least precise is {pair}. With {people} respondents the share in a cell of a pair table would \
             have a standard error of up to {error:.2}: this plan cannot answer all pairs in practice; --method \
             workload --tables pairs makes one that can."
        ),
        (Some(error), _) => format!(
            "{among} the least precise is {pair}; with {people} respondents none has a larger standard error than \
             {error:.4}."
        ),
    };
    "\n".to_owned() + &paragraph(&sentence)
}
