//! `candor front`: one attribute, every trade-off of privacy and utility.

use std::fmt::Write;
use std::path::PathBuf;

use candor::front::{FrontMethod, FrontOptions, FrontRow, Fronts, front};
use candor_analysis::watch::SECONDS;
use candor_design::front::evolve::Parameters;
use candor_design::front::search::Search;
use candor_tables::output::{self, Target};
use clap::{Args, ValueEnum};

use super::prior::PriorArgs;
use super::{parse_limit, parse_respondents, plots, refuse_both};
use crate::failure::Failure;
use crate::progress::watched;
use crate::show::{count, emit, emit_json, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
Privacy is how often the best guess of a truth from its answer is wrong (Huang and Du 2008, eq. 8); utility is the average mean squared
error of the estimated shares (eq. 10): smaller is better. All of it holds for the stated prior only.

Examples:
  candor front --normal-prior 10 --posterior-bound 0.75 --plot front.svg
  candor front --prior 0.4,0.3,0.2,0.1 --privacy 0.4,0.5 --method exact
  candor front --from people.csv --attribute Education --respondents 30000
  candor front --uniform-prior 10 --method evolve --generations 20000 --islands 1 --polish false")]
pub struct FrontArgs {
    #[command(flatten)]
    prior: PriorArgs,
    /// Respondents whose answers are estimated from
    #[arg(long, default_value = "10000", value_name = "N", value_parser = parse_respondents)]
    respondents: f64,
    /// No answer may make any truth likelier than this (delta)
    #[arg(long, default_value_t = FrontOptions::default().posterior_bound, value_name = "D", allow_negative_numbers = true)]
    posterior_bound: f64,
    /// How many privacies, spread over the reachable range
    #[arg(long, default_value_t = FrontOptions::default().points as u16, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    points: u16,
    /// Given privacies instead
    #[arg(long, value_delimiter = ',', value_name = "P,..", conflicts_with = "points", allow_negative_numbers = true)]
    privacy: Option<Vec<f64>>,
    /// What is computed beside the classical front
    #[arg(long, value_enum, default_value_t = Method::All)]
    method: Method,
    /// Channels with at most so many outputs (heuristic; shown with the bound that holds for any number) [exact]
    #[arg(long, value_name = "M")]
    outputs: Option<usize>,
    /// Draw the fronts: a file that ends in .svg or .png; may be repeated
    #[arg(long, value_name = "FILE")]
    plot: Vec<PathBuf>,
    /// Write the table as CSV; - for standard output
    #[arg(short, long, value_name = "front.csv")]
    output: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Look for no further channel after so many seconds; what there is until then is shown
    #[arg(long, value_name = "SECONDS", default_value_t = SECONDS, value_parser = parse_limit, allow_negative_numbers = true)]
    time_limit: f64,
    #[command(flatten)]
    search: SearchArgs,
}

#[derive(Args)]
#[command(next_help_heading = "The evolutionary search (Huang and Du 2008, section V)")]
struct SearchArgs {
    /// N_Q, the size of the population
    #[arg(long, default_value_t = Parameters::default().population, value_name = "N")]
    population: usize,
    /// N_V, the size of the archive
    #[arg(long, default_value_t = Parameters::default().archive, value_name = "N")]
    archive: usize,
    /// N_Omega, the size of the optimal set
    #[arg(long, default_value_t = Parameters::default().omega, value_name = "N")]
    omega: usize,
    /// L, the largest number of generations
    #[arg(long, default_value_t = Parameters::default().generations, value_name = "N")]
    generations: usize,
    /// Stop after so many generations that do not change Omega
    #[arg(long, value_name = "N")]
    patience: Option<usize>,
    /// Probability that a child is mutated
    #[arg(long, default_value_t = Parameters::default().mutation, value_name = "P", allow_negative_numbers = true)]
    mutation: f64,
    /// Probability that a pair exchanges columns
    #[arg(long, default_value_t = Parameters::default().crossover, value_name = "P", allow_negative_numbers = true)]
    crossover: f64,
    /// The largest value that a mutation adds or subtracts
    #[arg(long, default_value_t = Parameters::default().step, value_name = "S", allow_negative_numbers = true)]
    step: f64,
    /// Which nearest neighbour measures density
    #[arg(long, default_value_t = Parameters::default().neighbour, value_name = "K")]
    neighbour: usize,
    /// Populations side by side; 1 is the paper's algorithm
    #[arg(long, default_value_t = Parameters::default().islands, value_name = "N")]
    islands: usize,
    /// Improve every kept matrix until a local optimiser cannot
    #[arg(long, default_value_t = Search::default().polish, action = clap::ArgAction::Set, value_name = "BOOL")]
    polish: bool,
    /// How often polishing tries neighbours and shaken copies
    #[arg(long, default_value_t = Search::default().rounds, value_name = "N")]
    rounds: usize,
    /// Where randomness comes from; the same seed gives the same front on any number of cores
    #[arg(long, default_value_t = Parameters::default().seed)]
    seed: u64,
}

impl SearchArgs {
    fn parameters(&self) -> Parameters {
        Parameters {
            population: self.population,
            archive: self.archive,
            omega: self.omega,
            generations: self.generations,
            patience: self.patience,
            mutation: self.mutation,
            crossover: self.crossover,
            step: self.step,
            neighbour: self.neighbour,
            islands: self.islands,
            seed: self.seed,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Both of the following
    All,
    /// The best channels there are, with any number of outputs, each with a proven lower bound
    Exact,
    /// The paper's search over square matrices, polished
    Evolve,
}

impl From<Method> for FrontMethod {
    fn from(method: Method) -> FrontMethod {
        match method {
            Method::All => FrontMethod::All,
            Method::Exact => FrontMethod::Exact,
            Method::Evolve => FrontMethod::Evolve,
        }
    }
}

impl FrontArgs {
    fn options(&self) -> FrontOptions {
        let SearchArgs { polish, rounds, .. } = self.search;
        FrontOptions {
            respondents: self.respondents,
            posterior_bound: self.posterior_bound,
            points: usize::from(self.points),
            privacy: self.privacy.clone(),
            method: self.method.into(),
            outputs: self.outputs,
            search: Search { parameters: self.search.parameters(), polish, rounds },
            time_limit: Some(self.time_limit),
        }
    }
}

pub fn run(args: FrontArgs) -> Result<(), Failure> {
    refuse_both(args.json, args.output.as_deref())?;
    plots::check(&args.plot)?;
    let prior = args.prior.read(None)?;
    if prior.left_out() > 0 {
        remark(&format!("note: categories with share 0, which never occur, are left out: {}", prior.left_out()));
    }
    let fronts = watched(|watch| front(prior, &args.options(), watch))?;
    plots::write(&args.plot, || fronts.plot().svg(), || fronts.plot().png())?;
    if let Some(path) = &args.output {
        output::write(&Target::new(path), fronts.csv().as_bytes())?;
    }
    match args.json {
        true => emit_json(&fronts),
        false if args.output.as_deref() == Some("-") => Ok(()),
        false => emit(&describe(&fronts, &args.plot)),
    }
}

/// A gap in two digits that it does not exceed.
fn rounded_up(gap: f64) -> String {
    let unit = 10f64.powf(gap.max(f64::MIN_POSITIVE).log10().floor() - 1.0);
    format!("{:.1e}", (gap.max(0.0) / unit - 1e-9).ceil() * unit)
}

fn describe(fronts: &Fronts, plots: &[PathBuf]) -> String {
    let (least, most) = fronts.range;
    let largest = fronts.prior.iter().copied().fold(0.0, f64::max);
    let (searched, exact) = (fronts.evolved.is_some(), fronts.is_exact());
    let mut text = format!(
        "{} categories, the commonest with share {:.4}; posterior bound {}; {} respondents\n",
        fronts.prior.len(),
        largest,
        fronts.posterior_bound,
        count(fronts.respondents as u64)
    );
    let _ = writeln!(text, "  privacy can be from {least:.4} to {most:.4}; utility is an error, smaller is better\n");
    let number = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{x:.4e}"));
    let (mut header, mut rows) = (vec!["privacy", "Warner"], Vec::new());
    if searched {
        header.push("evolved");
    }
    if exact {
        header.extend(["exact", "gap at most"]);
    }
    header.extend(["worst posterior", "outputs"]);
    for FrontRow { privacy, warner, evolved, exact: best, lower_bound, worst_posterior, outputs, .. } in &fronts.rows {
        let mut row = vec![format!("{privacy:.4}"), number(*warner)];
        if searched {
            row.push(number(*evolved));
        }
        if exact {
            let gap = best.zip(*lower_bound);
            let gap = gap.map(|(value, bound)| rounded_up(1.0 - bound / value));
            row.extend([number(*best), gap.unwrap_or_default()]);
        }
        row.push(worst_posterior.map_or("-".to_owned(), |worst| format!("{worst:.4}")));
        row.push(outputs.map_or("-".to_owned(), |n| n.to_string()));
        rows.push(row);
    }
    text += &table(&header, &rows);
    let _ = write!(text, "\n  hypervolume at these points: Warner {:.4}", fronts.row_hypervolume(|row| row.warner));
    if searched {
        let _ = write!(text, ", evolved {:.4}", fronts.row_hypervolume(|row| row.evolved));
    }
    if exact {
        let _ = write!(text, ", exact {:.4}", fronts.row_hypervolume(|row| row.exact));
    }
    let _ = write!(text, "\n  and of whole fronts: Warner {:.4}", fronts.warner_hypervolume);
    if let (Some(volume), Some(evaluations)) = (fronts.evolved_hypervolume, fronts.evaluations) {
        let evaluations = count(evaluations as u64);
        let _ = write!(text, ", evolved {volume:.4} ({evaluations} matrices tried)");
    }
    text.push('\n');
    text + &remarks(fronts, plots)
}

/// What the numbers mean, what is missing, and what was drawn.
fn remarks(fronts: &Fronts, plots: &[PathBuf]) -> String {
    let mut text = paragraph(
        "Privacy is how often the best guess at a person's truth is wrong. Utility is the average squared error of the estimated \
         shares. The hypervolume sums a front up in one number, larger is better: the area that its points beat, with the error \
         in powers of ten. All of it holds for this prior only. The gap is the most by which any channel whatever could be better than the exact one. \
         Next: candor design --method front with one of these privacies.",
    );
    if fronts.out_of_time {
        text += &paragraph("The time limit was reached: points are missing, or less good than they could be.");
    }
    if fronts.interrupted {
        text += &paragraph("It was interrupted: points are missing, or less good than they could be.");
    }
    for file in plots {
        let _ = writeln!(text, "  drawn: {}", file.display());
    }
    text
}
