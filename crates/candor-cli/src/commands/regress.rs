//! `candor regress`: plan + responses -> a regression, corrected for the randomization.

use std::fmt::Write;

use candor::format::{p_is, p_value};
use candor::regress::{
    Average, Coefficient, DegreesOfFreedom, Family, GroupRegression, IgnoringOptions, Method, Missing, Prediction,
    Questions, RegressOptions, Regression, Rows, THRESHOLD, Test, model, profiles, regress_with_progress,
};
use candor_base::channel::rounded_up;
use candor_runtime::names;
use candor_tables::input::{Input, Location};
use clap::Args;

use super::estimate::parse_confidence;
use super::survey::DesignArgs;
use super::{MarkArgs, parse_delimiter, read_plan, response_files, tell_provenance};
use crate::failure::Failure;
use crate::flags::{choice, with_flags};
use crate::progress::watched;
use crate::show::{count, emit, emit_json, label, lead, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
A model is written as \"Outcome ~ A + B + A:B\"; A*B is short for A + B + A:B, and -1 removes the intercept. A name
is an attribute of the plan, randomized or public, or a numeric kept column. Quote names with special characters.
A sum of randomized attributes, such as A + B + C ~ D, is a score: labels that are numbers count as such, two
categories as 0 and 1, ordinal ones as 0, 1, 2, ..

Examples:
  candor regress plan.json responses.parquet --model \"Income ~ Sex + Region\"
  candor regress plan.json responses.csv --model \"Income ~ Region\" --reference Region=south --weights weight --json
  candor regress plan.json responses.csv --model \"Education ~ Region\" --family multinomial --show-uncorrected
  candor regress plan.json responses.csv --model \"Income ~ Sex\" --method ml")]
pub struct RegressArgs {
    /// Plan (JSON) of the responses
    plan: String,
    /// Response files: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// Model, such as "Income ~ Education + Sex + age + Education:Sex"
    #[arg(long)]
    model: String,
    /// Type of the outcome [default: as in the schema]
    #[arg(long, value_parser = choice::<Family>())]
    family: Option<Family>,
    /// Estimation method [default: ml if only the outcome is randomized, else corrected]
    #[arg(long, value_parser = choice::<Method>())]
    method: Option<Method>,
    /// Reference category of an attribute [default: the first]; may be repeated
    #[arg(long, value_name = "NAME=CATEGORY", value_parser = parse_reference)]
    reference: Vec<(String, String)>,
    /// Standardize numeric predictors
    #[arg(long)]
    standardize: bool,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = RegressOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    #[command(flatten)]
    design: DesignArgs,
    /// Subpopulation: a condition on public or randomized attributes, such as "Region = north and Smokes = yes"
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Public attributes; the model is also fitted within each of their groups
    #[arg(long, value_name = "NAME,..")]
    by: Option<String>,
    /// Treatment of missing values and people not asked [default: leave-out]
    #[arg(long, value_parser = choice::<Missing>(), value_name = "HOW")]
    missing: Option<Missing>,
    /// Degrees of freedom of tests with sampling clusters [default: satterthwaite]
    #[arg(long, value_parser = choice::<DegreesOfFreedom>(), value_name = "WHICH")]
    df: Option<DegreesOfFreedom>,
    /// Self-protective answer: model noncompliers who give this category; requires an outcome with randomly assigned
    /// channels
    #[arg(long = "self-protective", alias = "says", value_name = "CATEGORY")]
    says: Option<String>,
    /// True category of the noncompliers [default: all categories alike]
    #[arg(long = "self-protective-if", alias = "only-if", value_name = "CATEGORY", requires = "says")]
    only_if: Option<String>,
    /// Contrast of coefficients, such as "Education=higher - Education=primary"; may be repeated
    #[arg(long, value_name = "TERM - TERM", allow_hyphen_values = true)]
    contrast: Vec<String>,
    /// Table (CSV or Parquet) of profiles to predict for: a column for each predictor that is given
    #[arg(long, value_name = "FILE")]
    predict: Option<String>,
    /// Show the fit without correction for the randomization as well
    #[arg(long = "show-uncorrected", alias = "show-naive")]
    show_naive: bool,
    /// Delimiter of CSV responses: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    #[command(flatten)]
    marks: MarkArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn parse_reference(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, label)| (name.to_owned(), label.to_owned()));
    pair.ok_or_else(|| "a reference is NAME=CATEGORY".to_owned())
}

pub fn run(args: RegressArgs) -> Result<(), Failure> {
    args.marks.apply();
    let plan = read_plan(&args.plan)?;
    let options = options(&args)?;
    let asked = model(&plan, &args.model, &options)?;
    let survey = args.design.survey_of(&plan)?;
    let inputs = response_files(&args.responses, args.delimiter)?;
    let rows = watched(|progress| Rows::read(&plan, inputs, &asked, &survey, progress))?;
    tell_provenance(rows.provenance());
    let found = watched(|progress| regress_with_progress(&rows, &asked, &options, progress))?;
    match args.json {
        true => emit_json(&found),
        false => {
            found.notes.iter().for_each(|note| remark(&with_flags(note)));
            emit(&(describe(&found) + &in_groups(&found)))
        }
    }
}

fn options(args: &RegressArgs) -> Result<RegressOptions, Failure> {
    let read = |file: &String| Ok::<_, Failure>(profiles(Input::open(&Location::new(file), None)?)?);
    let profiles = args.predict.as_ref().map_or(Ok(Vec::new()), read)?;
    let questions = Questions::default().contrasts(args.contrast.clone()).profiles(profiles);
    let by = args.by.as_deref().map_or(Ok(Vec::new()), names::list).map_err(|error| Failure::about("--by", error))?;
    Ok(RegressOptions::default()
        .family(args.family)
        .method(args.method)
        .references(args.reference.clone())
        .standardize(args.standardize)
        .confidence(args.confidence)
        .show_naive(args.show_naive)
        .ignoring(args.says.clone().map(|says| IgnoringOptions::new(says).only(args.only_if.clone())))
        .missing(args.missing.unwrap_or_default())
        .condition(args.condition.clone())
        .by(by)
        .df(args.df.unwrap_or_default())
        .questions(questions))
}

/// Formats the same model in each group.
fn in_groups(found: &Regression) -> String {
    let one = |own: &GroupRegression| {
        let names: Vec<String> =
            own.group.iter().map(|(name, category)| format!("{name} = {}", label(category))).collect();
        let heading = format!("\n{}\n{}\n", names.join(", "), "=".repeat(names.join(", ").chars().count()));
        let notes = own
            .regression
            .iter()
            .flat_map(|fit| &fit.notes)
            .map(|note| paragraph(&with_flags(note)))
            .collect::<String>();
        match (&own.regression, &own.reason) {
            (Some(fit), _) => heading + &notes + &describe(fit),
            (None, reason) => heading + &paragraph(reason.as_deref().unwrap_or_default()),
        }
    };
    found.groups.iter().map(one).collect()
}

fn describe(found: &Regression) -> String {
    let percent = 100.0 * found.confidence;
    let method = match found.method {
        Method::MaximumLikelihood => "maximum likelihood",
        Method::Jeffreys => "penalized likelihood (Jeffreys)",
        _ => "corrected score",
    };
    let tests = match found.test {
        Test::WaldReplicates => "Wald tests (standard errors of the replicates, Student's t)",
        Test::Fieller => "the score (Fieller)",
        Test::OneStepCr2 => "the score (CR2 of the PSUs, Student's t)",
        _ if found.coefficients.iter().any(|one| one.df.is_some()) => "the score (variance of the PSUs, Student's t)",
        _ => "the score",
    };
    let mut text = format!(
        "{}\n{} responses, {} regression by {method}, p-values and {percent}% confidence intervals of {tests}\n",
        found.model,
        count(found.respondents),
        match found.family {
            Family::Poisson => "Poisson",
            Family::QuasiPoisson => "quasi-Poisson",
            other => other.name(),
        }
    );
    text += &modelled(found);
    text += &variables(found);
    if let Some(design) = &found.sampling_note {
        let _ = writeln!(text, "{design}");
    }
    // Thresholds have categories of their own.
    let together = |a: &Coefficient, b: &Coefficient| found.family == Family::Ordinal || a.category == b.category;
    for own in found.coefficients.chunk_by(together) {
        let _ = writeln!(text, "\n{}", explained(own[0].category.as_deref(), found));
        text += &coefficient_table(own, found);
    }
    text += &questions(found);
    text += &averages(found);
    text += &fit_lines(found);
    text
}

/// Returns a heading that explains the coefficients of a category.
fn explained(category: Option<&str>, found: &Regression) -> String {
    let against = found.reference.as_ref().map_or(String::new(), |one| format!(" against {}", label(one)));
    let response = &found.response;
    match (found.family, category) {
        (Family::Ordinal, _) => {
            let all: Vec<String> = found.shares.iter().filter_map(|one| one.category.as_deref()).map(label).collect();
            format!("Log odds of a higher category of {response} ({})", all.join(" < "))
        }
        (Family::Poisson | Family::QuasiPoisson, _) => format!("Logarithm of the mean of {response}"),
        (_, Some(category)) => format!("Log odds of {response} = {}{against}", label(category)),
        _ => format!("Mean of {response}"),
    }
}

/// Returns a line with the randomized attributes, the epsilon of the plan and the reference categories.
fn variables(found: &Regression) -> String {
    let reference = |(name, category): &(String, String)| format!("{name} = {}", label(category));
    let references = found.references.iter().map(reference).collect::<Vec<_>>().join(", ");
    let references = if references.is_empty() { references } else { format!("; reference categories: {references}") };
    let randomized = found.randomized.join(", ");
    let epsilon = found.epsilon.map_or("unbounded".to_owned(), rounded_up);
    lead(&format!("Randomized (record-level epsilon {epsilon}): {randomized}{references}")).trim_end().to_owned() + "\n"
}

/// Describes the modeled subpopulation, if it is not everybody.
fn modelled(found: &Regression) -> String {
    if found.left_out.is_empty() && found.subpopulation.is_none() {
        return String::new();
    }
    let people = count(found.people_modeled.round().max(0.0) as u64);
    let condition = found.subpopulation.as_ref().map_or(String::new(), |text| format!(", where {text}"));
    let names = found.left_out.join(", ");
    let left_out = if names.is_empty() { names } else { format!(", without people with a missing value of {names}") };
    format!("People modeled: about {people}{condition}{left_out}\n")
}

fn coefficient_table(own: &[Coefficient], found: &Regression) -> String {
    let naive = own.iter().any(|one| one.naive.is_some());
    let mut header = vec!["term", "estimate", "standard error", "low", "high"];
    let by_student = own.iter().any(|one| one.df.is_some());
    header.extend(by_student.then_some("df"));
    header.push("p");
    header.extend(ratio_name(found));
    header.push("variance inflation");
    if naive {
        header.push("uncorrected");
    }
    let row = |one: &Coefficient| {
        let between = one.category.as_ref().filter(|_| one.term == THRESHOLD);
        let mut row = vec![between.map_or_else(|| term(&one.term), |between| format!("{} {between}", one.term))];
        let mark = if one.is_shrunk(found) { "*" } else { "" };
        row.push(format!("{}{mark}", four_digits(one.estimate)));
        row.push(one.standard_error.map_or(String::new(), four_digits));
        row.push(one.low.map_or("no limit".to_owned(), four_digits));
        row.push(one.high.map_or("no limit".to_owned(), four_digits));
        row.extend(by_student.then(|| one.df.map_or(String::new(), |df| format!("{df:.1}"))));
        row.push(one.p_value.map_or(String::new(), p_value));
        row.extend(ratio_name(found).map(|_| ratio(one)));
        row.push(one.variance_inflation.map_or(String::new(), |effect| format!("{effect:.2}")));
        if naive {
            row.push(one.naive.map_or(String::new(), four_digits));
        }
        row
    };
    table(&header, &own.iter().map(row).collect::<Vec<_>>())
}

/// Names the predicted quantity.
fn predicted(found: &Regression) -> &'static str {
    match found.family {
        family if family.is_of_numbers() => "mean",
        _ => "share",
    }
}

/// Names the exponential of the coefficients.
fn ratio_name(found: &Regression) -> Option<&'static str> {
    match found.family {
        Family::Linear => None,
        Family::Poisson | Family::QuasiPoisson => Some("rate ratio"),
        _ => Some("odds ratio"),
    }
}

/// Formats an odds ratio or rate ratio with its limits.
fn ratio(one: &Coefficient) -> String {
    let limit = |limit: Option<f64>| limit.map_or("no limit".to_owned(), |limit| format!("{limit:.3}"));
    let low = limit(one.odds_ratio_low.or(one.rate_ratio_low));
    let high = limit(one.odds_ratio_high.or(one.rate_ratio_high));
    one.odds_ratio.or(one.rate_ratio).map_or(String::new(), |ratio| format!("{ratio:.3} ({low} to {high})"))
}

/// Formats joint tests, contrasts and predictions.
fn questions(found: &Regression) -> String {
    let mut text = String::new();
    if !found.joint_tests.is_empty() {
        let row = |one: &candor::regress::JointTest| {
            let df = one.denominator_df.map_or(one.df.to_string(), |other| format!("{}, {other:.1}", one.df));
            vec![one.term.clone(), format!("{:.3}", one.statistic), df, p_value(one.p_value)]
        };
        let kind = if found.test == Test::WaldReplicates { "Wald" } else { "score" };
        let _ = writeln!(text, "\nJoint {kind} tests: all coefficients of the term are zero");
        text += &table(&["term", "statistic", "df", "p"], &found.joint_tests.iter().map(row).collect::<Vec<_>>());
    }
    for own in found.contrasts.chunk_by(|a, b| a.term == b.term) {
        let _ = writeln!(text, "\nContrast {}", term(&own[0].term));
        text += &contrast_table(own, found);
    }
    if !found.predictions.is_empty() {
        text += &prediction_table(&found.predictions, found);
    }
    text
}

fn contrast_table(own: &[Coefficient], found: &Regression) -> String {
    let mut header = vec![&found.response[..], "estimate", "standard error", "low", "high", "p"];
    header.extend(ratio_name(found));
    let row = |one: &Coefficient| {
        let mark = if one.is_shrunk(found) { "*" } else { "" };
        let mut row = vec![
            label(one.category.as_ref().unwrap_or(&found.response)),
            format!("{}{mark}", four_digits(one.estimate)),
            one.standard_error.map_or(String::new(), four_digits),
            one.low.map_or("no limit".to_owned(), four_digits),
            one.high.map_or("no limit".to_owned(), four_digits),
            one.p_value.map_or(String::new(), p_value),
        ];
        row.extend(ratio_name(found).map(|_| ratio(one)));
        row
    };
    table(&header, &own.iter().map(row).collect::<Vec<_>>())
}

fn prediction_table(all: &[Prediction], found: &Regression) -> String {
    let names: Vec<&str> = all[0].profile.keys().map(String::as_str).collect();
    let response = &found.response[..];
    let header: Vec<&str> =
        names.iter().copied().chain([response, "estimate", "standard error", "low", "high"]).collect();
    let row = |one: &Prediction| {
        let category = one.category.as_ref().unwrap_or(&found.response);
        let limit = |limit: Option<f64>| limit.map_or("no limit".to_owned(), four_digits);
        let numbers = [four_digits(one.estimate), one.standard_error.map_or(String::new(), four_digits)];
        let given = one.profile.values().map(|value| label(value)).chain([label(category)]);
        given.chain(numbers).chain([limit(one.low), limit(one.high)]).collect()
    };
    let what = predicted(found);
    format!("\nPredicted {what}\n{}", table(&header, &all.iter().map(row).collect::<Vec<_>>()))
}

/// Formats average shares and effects.
fn averages(found: &Regression) -> String {
    let of = |category: &Option<String>| label(category.as_ref().unwrap_or(&found.response));
    let numbers = |values: [f64; 4]| values.map(four_digits);
    let share = |one: &Average| {
        let numbers = numbers([one.estimate, one.standard_error, one.low, one.high]);
        [of(&one.category)].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let effect = |one: &Average| {
        let numbers = numbers([one.estimate, one.standard_error, one.low, one.high]);
        [term(&one.term), of(&one.category)].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let what = predicted(found);
    // Of two categories, one suffices.
    let modelled = found.coefficients.first().map(|one| &one.category);
    let told = |category: &Option<String>| found.family != Family::Binary || Some(category) == modelled;
    let shares = found.shares.iter().filter(|one| told(&one.category));
    let effects: Vec<_> = found.effects.iter().filter(|one| told(&one.category)).map(effect).collect();
    let mut text = format!("\nAverage predicted {what}\n");
    let header = [&found.response[..], "estimate", "standard error", "low", "high"];
    text += &table(&header, &shares.map(share).collect::<Vec<_>>());
    if !effects.is_empty() {
        let _ = writeln!(text, "\nAverage change of the {what} with each predictor, all else equal");
        let header = ["predictor", &found.response[..], "estimate", "standard error", "low", "high"];
        text += &table(&header, &effects);
    }
    text
}

fn fit_lines(found: &Regression) -> String {
    let mut text = String::from("\n");
    let sandwich = found.method == Method::CorrectedScore && found.test != Test::WaldReplicates;
    if sandwich && found.coefficients.iter().any(|one| one.standard_error.is_some()) {
        text += &paragraph("Standard errors: sandwich.");
    }
    if let Some(value) = found.log_likelihood {
        let null = found.null_log_likelihood.map_or(String::new(), |null| format!(", of the null model {null:.3}"));
        let of = found.log_likelihood_of.join(", ");
        let aic = found.aic.map_or(String::new(), |aic| {
            format!(" AIC {aic:.3}, comparable between models about the same randomized attributes ({of})")
        });
        let aic = if aic.is_empty() { aic } else { format!("{aic}.") };
        text += &paragraph(&format!("Log-likelihood {value:.3}{null}.{aic}"));
    }
    if let Some(share) = found.tjur_r2 {
        text +=
            &paragraph(&format!("Tjur's R2 of the true answers, without the noise of the randomization: {share:.3}."));
    }
    if let Some(deviation) = found.residual_deviation {
        text += &paragraph(&format!("Residual standard deviation: {deviation:.4}."));
    }
    if let Some(dispersion) = found.dispersion {
        text += &paragraph(&format!("Dispersion (variance over mean): {dispersion:.3}."));
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
            "Share{who} that ignores the device and says {}: {:.4}{}; against everybody following it: likelihood ratio \
             {:.3}, {}.",
            share.self_protective_answer,
            share.estimate,
            share.standard_error.map_or(String::new(), |error| format!(" (standard error {error:.4})")),
            share.likelihood_ratio,
            p_is(share.p_value)
        ));
    }
    let asked = found
        .coefficients
        .iter()
        .filter(|one| ratio_name(found).is_none() || one.odds_ratio.or(one.rate_ratio).is_some());
    let worst = asked.filter_map(|one| Some((one, one.directly_asked?))).min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((one, people)) = worst {
        text += &paragraph(&format!(
            "Variance inflation: the variance over that of direct answers. About {} direct answers would be as precise \
             for {}, the least precise coefficient.",
            count(people.round() as u64),
            term(&one.term)
        ));
    }
    text
}

/// Formats a term with its categories.
fn term(name: &str) -> String {
    let named = |part: &str| if part.ends_with('=') { format!("{part}{}", label("")) } else { part.to_owned() };
    name.split(':').map(named).collect::<Vec<_>>().join(":")
}

/// Formats a number with four digits, without a sign if it rounds to zero.
fn four_digits(value: f64) -> String {
    let text = format!("{value:.4}");
    if text == "-0.0000" { text.replace('-', "") } else { text }
}
