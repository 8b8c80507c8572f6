//! `candor regress`: plan + responses -> a regression, corrected for the randomization.

use std::fmt::Write;

use candor::regress::{Coefficient, RegressOptions, Regression, Rows, model, regress};
use candor::words::{p_is, p_value};
use candor_analysis::regress::{Family, IgnoringOptions, Method, Missing};
use clap::{Args, ValueEnum};

use super::estimate::parse_confidence;
use super::survey::DesignArgs;
use super::{MarkArgs, parse_delimiter, read_plan, response_files, tell_provenance};
use crate::failure::Failure;
use crate::progress::{watched, working};
use crate::show::{count, emit, emit_json, label, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
A model is written as \"Response ~ One + Two + One:Two\"; One*Two is short for that, -1 leaves the constant out, and names with other characters
stand in quotes. A name is an attribute of the plan, randomized or public, or a numeric column that was kept.

Examples:
  candor regress plan.json responses.parquet --model \"Income ~ Sex + Region\"
  candor regress plan.json responses.csv --model \"Income ~ Region\" --reference Region=south --weights weight --json
  candor regress plan.json responses.csv --model \"Education ~ Region\" --family multinomial --show-naive
  candor regress plan.json responses.csv --model \"Income ~ Sex\" --method ml")]
pub struct RegressArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip), Parquet or JSON lines; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// The model, such as "Income ~ Education + Sex + age + Education:Sex"
    #[arg(long)]
    model: String,
    /// The kind of response [default: what the schema says of it]
    #[arg(long, value_enum)]
    family: Option<FamilyArg>,
    /// How to fit [default: ml if the outcome alone is randomized, else corrected]
    #[arg(long, value_enum)]
    method: Option<MethodArg>,
    /// Reference categories, where it is not the first
    #[arg(long, value_name = "NAME=CATEGORY", value_parser = parse_reference)]
    reference: Vec<(String, String)>,
    /// Count numeric predictors in standard deviations from their mean
    #[arg(long)]
    standardize: bool,
    /// Confidence of the intervals
    #[arg(long, default_value_t = RegressOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    #[command(flatten)]
    design: DesignArgs,
    /// Subpopulation: only respondents for whom a condition on public attributes holds, such as "Region = north"
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// What becomes of people whose value is missing or who were not asked [default: leave-out]
    #[arg(long, value_enum, value_name = "HOW")]
    missing: Option<MissingArg>,
    /// Tell people apart who ignore the device and say CATEGORY; takes a response behind a lottery of channels
    #[arg(long, value_name = "CATEGORY")]
    says: Option<String>,
    /// Only people whose true category is this one ignore it; everybody alike by default
    #[arg(long, value_name = "CATEGORY", requires = "says")]
    only_if: Option<String>,
    /// Show beside it what taking the answers for the truth would have given
    #[arg(long)]
    show_naive: bool,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    #[command(flatten)]
    marks: MarkArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum FamilyArg {
    /// Two categories: logistic regression
    Binary,
    /// Several categories: logits against the reference
    Multinomial,
    /// Several categories in order: proportional odds
    Ordinal,
    /// A numeric column that was kept
    Linear,
}

impl From<FamilyArg> for Family {
    fn from(family: FamilyArg) -> Family {
        match family {
            FamilyArg::Binary => Family::Binary,
            FamilyArg::Multinomial => Family::Multinomial,
            FamilyArg::Ordinal => Family::Ordinal,
            FamilyArg::Linear => Family::Linear,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum MethodArg {
    /// Maximum likelihood; if a predictor is randomized, with an assumption about it, which is printed
    Ml,
    /// Maximum likelihood with the Jeffreys penalty; for a randomized outcome alone
    Jeffreys,
    /// The score with unbiased weights; assumes nothing of the predictors
    Corrected,
}

#[derive(Clone, Copy, ValueEnum)]
enum MissingArg {
    /// Not in the model, neither as outcome nor as predictor
    LeaveOut,
    /// A category like any other; not of an ordinal outcome
    Category,
}

pub fn parse_reference(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, label)| (name.to_owned(), label.to_owned()));
    pair.ok_or_else(|| "a reference is NAME=CATEGORY".to_owned())
}

pub fn run(args: RegressArgs) -> Result<(), Failure> {
    args.marks.apply();
    let plan = read_plan(&args.plan)?;
    let options = options(&args);
    let asked = model(&plan, &args.model, &options)?;
    let survey = args.design.survey_of(&plan, args.condition.as_deref())?;
    let inputs = response_files(&args.responses, args.delimiter)?;
    let rows = watched(|watch| Rows::read(&plan, &asked, &survey, inputs, watch))?;
    tell_provenance(rows.provenance());
    let found = working("fitting the model", || regress(&asked, &rows, &options))?;
    match args.json {
        true => emit_json(&found),
        false => {
            found.notes.iter().for_each(|note| remark(note));
            emit(&describe(&found))
        }
    }
}

fn options(args: &RegressArgs) -> RegressOptions {
    RegressOptions {
        family: args.family.map(Into::into),
        method: args.method.map(|method| match method {
            MethodArg::Ml => Method::MaximumLikelihood,
            MethodArg::Jeffreys => Method::Jeffreys,
            MethodArg::Corrected => Method::CorrectedScore,
        }),
        references: args.reference.clone(),
        standardize: args.standardize,
        confidence: args.confidence,
        show_naive: args.show_naive,
        ignoring: args.says.clone().map(|says| IgnoringOptions { says, only: args.only_if.clone() }),
        missing: match args.missing {
            Some(MissingArg::Category) => Missing::Category,
            _ => Missing::LeaveOut,
        },
    }
}

fn describe(found: &Regression) -> String {
    let percent = 100.0 * found.confidence;
    let method = match found.method {
        "ml" => "maximum likelihood",
        "jeffreys" => "penalized likelihood (Jeffreys)",
        _ => "corrected score",
    };
    let tests = match found.test {
        "wald-replicates" => "the estimates over their standard errors",
        "fieller" => "the score (Fieller)",
        "one-step-cr2" => "the score (CR2 of the clusters, Student's t)",
        _ => "the score",
    };
    let mut text = format!(
        "{}\n{} responses, {} regression by {method}, p-values and {percent}% confidence intervals of {tests}\n",
        found.model,
        count(found.respondents),
        found.family
    );
    text += &modelled(found);
    if let Some(design) = &found.design {
        let _ = writeln!(text, "{design}");
    }
    // Thresholds have categories of their own.
    let together = |a: &Coefficient, b: &Coefficient| found.family == "ordinal" || a.category == b.category;
    for own in found.coefficients.chunk_by(together) {
        let category = own[0].category.as_ref().filter(|_| found.family != "ordinal");
        let heading =
            category.map_or(String::new(), |own| format!("Log odds of {} = {}\n", found.response, label(own)));
        let _ = write!(text, "\n{heading}");
        text += &coefficient_table(own, found);
    }
    text += &averages(found);
    text += &fit_lines(found);
    text
}

/// Whom the model is about, if it is not everybody.
fn modelled(found: &Regression) -> String {
    if found.left_out.is_empty() && found.subpopulation.is_none() {
        return String::new();
    }
    let people = count(found.people_modelled.round().max(0.0) as u64);
    let condition = found.subpopulation.as_ref().map_or(String::new(), |text| format!(", where {text}"));
    let names = found.left_out.join(", ");
    let left_out = if names.is_empty() { names } else { format!(", without those who have no answer about {names}") };
    format!("People modeled: about {people}{condition}{left_out}\n")
}

fn coefficient_table(own: &[Coefficient], found: &Regression) -> String {
    let (odds, naive) = (found.family != "linear", own.iter().any(|one| one.naive.is_some()));
    let mut header = vec!["term", "estimate", "standard error", "low", "high", "p"];
    if odds {
        header.push("odds ratio");
    }
    header.push("design effect");
    if naive {
        header.push("naive");
    }
    let row = |one: &Coefficient| {
        let between = one.category.as_ref().filter(|_| one.term == "(threshold)");
        let mut row = vec![between.map_or_else(|| term(&one.term), |between| format!("{} {between}", one.term))];
        let mark = if one.estimate_kind == "penalised" && found.method != "jeffreys" { "*" } else { "" };
        row.push(format!("{}{mark}", four_digits(one.estimate)));
        row.push(one.standard_error.map_or(String::new(), four_digits));
        row.push(one.low.map_or("no limit".to_owned(), four_digits));
        row.push(one.high.map_or("no limit".to_owned(), four_digits));
        row.push(one.p_value.map_or(String::new(), p_value));
        if odds {
            row.push(one.odds_ratio.map_or(String::new(), |ratio| format!("{ratio:.3}")));
        }
        row.push(one.design_effect.map_or(String::new(), |effect| format!("{effect:.2}")));
        if naive {
            row.push(one.naive.map_or(String::new(), four_digits));
        }
        row
    };
    table(&header, &own.iter().map(row).collect::<Vec<_>>())
}

/// Average shares and effects.
fn averages(found: &Regression) -> String {
    let of = |category: &Option<String>| label(category.as_ref().unwrap_or(&found.response));
    let numbers = |values: [f64; 4]| values.map(four_digits);
    let share = |one: &candor::regress::Share| {
        let numbers = numbers([one.estimate, one.standard_error, one.low, one.high]);
        [of(&one.category)].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let effect = |one: &candor::regress::Effect| {
        let numbers = numbers([one.estimate, one.standard_error, one.low, one.high]);
        [term(&one.term), of(&one.category)].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let what = if found.family == "linear" { "mean" } else { "share" };
    // Of two categories one says it all.
    let modelled = found.coefficients.first().map(|one| &one.category);
    let told = |category: &Option<String>| found.family != "binary" || Some(category) == modelled;
    let shares = found.shares.iter().filter(|one| told(&one.category));
    let effects: Vec<_> = found.effects.iter().filter(|one| told(&one.category)).map(effect).collect();
    let mut text = format!("\nAverage predicted {what}\n");
    let header = [&found.response[..], "estimate", "standard error", "low", "high"];
    text += &table(&header, &shares.map(share).collect::<Vec<_>>());
    if !effects.is_empty() {
        let _ = writeln!(text, "\nAverage change of the {what} with each predictor, all else as it is");
        let header = ["predictor", &found.response[..], "estimate", "standard error", "low", "high"];
        text += &table(&header, &effects);
    }
    text
}

fn fit_lines(found: &Regression) -> String {
    let mut text = String::from("\n");
    if let Some(value) = found.log_likelihood {
        let null = found.null_log_likelihood.map_or(String::new(), |null| format!(", of constants alone {null:.3}"));
        text += &paragraph(&format!("Log-likelihood {value:.3}{null}."));
    }
    if let Some(deviation) = found.residual_deviation {
        text += &paragraph(&format!("Standard deviation of what is left: {deviation:.4}."));
    }
    if let Some(hausman) = found.hausman {
        let p = p_is(hausman.p_value);
        text += &paragraph(&format!(
            "Against the corrected score (Hausman): chi-square {:.3} with {} degrees of freedom, {p}.",
            hausman.statistic, hausman.degrees
        ));
    }
    if let Some(share) = &found.ignoring {
        let who = share.only.as_ref().map_or(String::new(), |only| format!(" among those whose true answer is {only}"));
        text += &paragraph(&format!(
            "Share{who} that ignores the device and says {}: {:.4}{}; against everybody following it: likelihood ratio {:.3}, {}.",
            share.says,
            share.estimate,
            share.standard_error.map_or(String::new(), |error| format!(" (standard error {error:.4})")),
            share.likelihood_ratio,
            p_is(share.p_value)
        ));
    }
    let asked = found.coefficients.iter().filter(|one| one.odds_ratio.is_some() || found.family == "linear");
    let worst = asked.filter_map(|one| Some((one, one.directly_asked?))).min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((one, people)) = worst {
        text += &paragraph(&format!(
            "About {} directly asked people would have told as much about {}, of which these answers tell least.",
            count(people.round() as u64),
            term(&one.term)
        ));
    }
    text
}

/// A term with categories as people read them.
fn term(name: &str) -> String {
    let named = |part: &str| if part.ends_with('=') { format!("{part}{}", label("")) } else { part.to_owned() };
    name.split(':').map(named).collect::<Vec<_>>().join(":")
}

/// Without a sign for what rounds to nothing.
fn four_digits(value: f64) -> String {
    let text = format!("{value:.4}");
    if text == "-0.0000" { text.replace('-', "") } else { text }
}
