//! `candor pareto`: the privacy–error trade-off of one attribute.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use candor::choice::Choice;
use candor::pareto::{FrontMethod, FrontOptions, FrontRow, Fronts, pareto};
use candor_design::pareto::evolve::Parameters;
use candor_design::pareto::search::Search;
use candor_runtime::progress::DEFAULT_TIME_LIMIT_SECS;
use candor_tables::existing::write_document;
use candor_tables::output::Target;
use clap::Args;

use super::prior::{PriorArgs, read_loss};
use super::{parse_limit, parse_respondents, plots, refuse_both};
use crate::failure::Failure;
use crate::flags::choice;
use crate::progress::watched;
use crate::show::{count, emit, emit_json, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
Privacy is the probability that the best guess of the true category is wrong (Huang and Du 2008, eq. 8); with
--loss, its expected loss as a share of the largest (eqs. 4 and 5). The error is the mean squared error of the
estimated shares, averaged over categories (eq. 10). Both hold for the stated prior only.

Examples:
  candor pareto --normal-prior 10 --posterior-bound 0.75 --plot front.svg
  candor pareto --prior 0.4,0.3,0.2,0.1 --map-privacy 0.4,0.5 --method exact
  candor pareto --prior 0.4,0.3,0.2,0.1 --points 5 --generations 200 --matrices matrices
  candor pareto --prior 0.4,0.3,0.2,0.1 --loss ordinal --method exact --points 5
  candor pareto --from people.csv --attribute Education --respondents 30000
  candor pareto --uniform-prior 10 --method evolve --generations 20000 --islands 1 --polish false")]
pub struct ParetoArgs {
    #[command(flatten)]
    prior: PriorArgs,
    /// Sample size
    #[arg(long, default_value = "10000", value_name = "N", value_parser = parse_respondents)]
    respondents: f64,
    /// Largest posterior of any category given any answer (delta in the paper)
    #[arg(
        long,
        default_value_t = FrontOptions::default().posterior_bound,
        value_name = "D",
        allow_negative_numbers = true
    )]
    posterior_bound: f64,
    /// Number of privacy levels, spread over the reachable range
    #[arg(
        long,
        default_value_t = FrontOptions::default().points as u16,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=10_000)
    )]
    points: u16,
    /// Privacy levels instead: probabilities that the best guess is wrong
    #[arg(
        long = "map-privacy",
        alias = "privacy",
        value_delimiter = ',',
        value_name = "P,..",
        conflicts_with = "points",
        allow_negative_numbers = true
    )]
    privacy: Option<Vec<f64>>,
    /// Fronts to compute besides those of Warner, UP and FRAPP
    #[arg(long, value_parser = choice::<FrontMethod>(), default_value = FrontOptions::default().method.name())]
    method: FrontMethod,
    /// Loss of a wrong guess: ordinal (the number of categories between guess and truth), or a CSV file with a row for
    /// each guess and a column for each true category; privacy is then the expected loss of the best guess as a share
    /// of the largest loss [default: every wrong guess costs the same]
    #[arg(long, value_name = "L.csv")]
    loss: Option<String>,
    /// Maximum number of outputs of a channel; a heuristic, shown with the bound for any number [exact]
    #[arg(long, value_name = "M")]
    outputs: Option<usize>,
    /// Plot of the fronts: a .svg or .png file; may be repeated
    #[arg(long, value_name = "FILE")]
    plot: Vec<PathBuf>,
    /// Output folder for the matrix of every point (CSV), with an index.csv of privacy and utility; design --method
    /// matrix reads them
    #[arg(long, value_name = "FOLDER")]
    matrices: Option<PathBuf>,
    /// Output file for the table (CSV); - for standard output
    #[arg(short, long, value_name = "front.csv")]
    output: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Search time limit in seconds; prints the channels found so far
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = DEFAULT_TIME_LIMIT_SECS,
        value_parser = parse_limit,
        allow_negative_numbers = true
    )]
    time_limit: f64,
    #[command(flatten)]
    search: SearchArgs,
}

#[derive(Args)]
#[command(next_help_heading = "The evolutionary search (Huang and Du 2008, section V)")]
struct SearchArgs {
    /// Population size (N_Q)
    #[arg(long, default_value_t = Parameters::default().population, value_name = "N")]
    population: usize,
    /// Archive size (N_V)
    #[arg(long, default_value_t = Parameters::default().archive, value_name = "N")]
    archive: usize,
    /// Size of the optimal set (N_Omega)
    #[arg(long, default_value_t = Parameters::default().omega, value_name = "N")]
    omega: usize,
    /// Maximum number of generations (L)
    #[arg(long, default_value_t = Parameters::default().generations, value_name = "N")]
    generations: usize,
    /// Number of generations without change of Omega after which the search stops
    #[arg(long, value_name = "N")]
    patience: Option<usize>,
    /// Mutation probability
    #[arg(long, default_value_t = Parameters::default().mutation, value_name = "P", allow_negative_numbers = true)]
    mutation: f64,
    /// Crossover probability
    #[arg(long, default_value_t = Parameters::default().crossover, value_name = "P", allow_negative_numbers = true)]
    crossover: f64,
    /// Largest step of a mutation
    #[arg(long, default_value_t = Parameters::default().step, value_name = "S", allow_negative_numbers = true)]
    step: f64,
    /// Rank of the nearest neighbor that measures density
    #[arg(long, default_value_t = Parameters::default().neighbour, value_name = "K")]
    neighbour: usize,
    /// Number of populations; 1 is the algorithm of the paper
    #[arg(long, default_value_t = Parameters::default().islands, value_name = "N")]
    islands: usize,
    /// Improve every kept matrix by local optimization
    #[arg(long, default_value_t = Search::default().polish, action = clap::ArgAction::Set, value_name = "BOOL")]
    polish: bool,
    /// Rounds of local optimization
    #[arg(long, default_value_t = Search::default().rounds, value_name = "N")]
    rounds: usize,
    /// Seed; gives the same front on any number of cores
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

impl ParetoArgs {
    fn options(&self) -> Result<FrontOptions, Failure> {
        let SearchArgs { polish, rounds, .. } = self.search;
        let loss = self.loss.as_deref().map(read_loss).transpose()?;
        Ok(FrontOptions::default()
            .respondents(self.respondents)
            .posterior_bound(self.posterior_bound)
            .points(usize::from(self.points))
            .privacy(self.privacy.clone())
            .method(self.method)
            .loss(loss)
            .outputs(self.outputs)
            .search(Search { parameters: self.search.parameters(), polish, rounds })
            .time_limit(Some(self.time_limit)))
    }
}

pub fn run(args: ParetoArgs) -> Result<(), Failure> {
    refuse_both(args.json, args.output.as_deref())?;
    plots::check(&args.plot)?;
    let prior = args.prior.read(None)?;
    if prior.left_out() > 0 {
        remark(&format!("note: categories with share 0, which never occur, are left out: {}", prior.left_out()));
    }
    let options = args.options()?;
    let fronts = watched(|progress| pareto(prior, &options, progress))?;
    plots::write(&args.plot, || fronts.plot().svg(), || fronts.plot().png())?;
    if let Some(path) = &args.output {
        write_document(&Target::new(path), fronts.csv().as_bytes())?;
    }
    if let Some(folder) = &args.matrices {
        write_matrices(folder, &fronts)?;
    }
    match args.json {
        true => emit_json(&fronts),
        false if args.output.as_deref() == Some("-") => Ok(()),
        false => emit(&describe(&fronts, &args.plot)),
    }
}

/// Writes the matrix of every point into a folder, in place of those that its index lists.
fn write_matrices(folder: &Path, fronts: &Fronts) -> Result<(), Failure> {
    let failed = |error| Failure::Input(format!("cannot create the folder {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let listed = std::fs::read_to_string(folder.join("index.csv")).unwrap_or_default();
    let earlier = listed.lines().filter_map(|line| line.split(',').next()).filter(|name| Fronts::is_matrix_file(name));
    for path in earlier.map(|name| folder.join(name)).filter(|path| path.exists()) {
        let failed = |error| Failure::Input(format!("cannot replace {}: {error}", path.display()));
        std::fs::remove_file(&path).map_err(failed)?;
    }
    for (name, text) in fronts.matrices() {
        write_document(&Target::new(&folder.join(name).to_string_lossy()), text.as_bytes())?;
    }
    Ok(())
}

/// Number of steps of an entry of a matrix in the example after Fact 1 of Huang and Du 2008.
const BRUTE_FORCE_STEPS: usize = 100;

/// Formats a power of ten with three digits.
fn power_of_ten(exponent: f64) -> String {
    format!("{:.2}e{}", 10f64.powf(exponent - exponent.floor()), exponent.floor())
}

/// Formats a gap with two digits, rounded up.
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
    let _ = writeln!(text, "  privacy can be from {least:.4} to {most:.4}; the columns are mean squared errors\n");
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
        let all = power_of_ten(fronts.brute_force_log10(BRUTE_FORCE_STEPS));
        let _ = write!(
            text,
            ", evolved {volume:.4}\n  {evaluations} matrices tried; with entries in steps of 1/{BRUTE_FORCE_STEPS} \
             there are {all}"
        );
    }
    text.push('\n');
    text + &remarks(fronts, plots)
}

/// Explains the numbers, what is missing, and the plots.
fn remarks(fronts: &Fronts, plots: &[PathBuf]) -> String {
    let privacy = match fronts.largest_loss {
        Some(largest) => format!(
            "Privacy is the expected loss of the best guess of a person's true category, as a share of the largest \
             loss, {largest}."
        ),
        None => "Privacy is the probability that the best guess of a person's true category is wrong.".to_owned(),
    };
    let mut text = paragraph(
        &(privacy
            + " Errors are mean squared \
         errors of the shares, averaged over categories. The hypervolume is the area that the points of a front \
         dominate, with the error in powers of ten; larger is better. All of it holds for this prior only. No channel \
         is better than the exact one by more than the gap. Next: candor design --method front --map-privacy with one \
         of these values."),
    );
    if fronts.out_of_time {
        text += &paragraph("Time limit reached: points may be missing or not optimal.");
    }
    if fronts.interrupted {
        text += &paragraph("Interrupted: points may be missing or not optimal.");
    }
    for file in plots {
        let _ = writeln!(text, "  drawn: {}", file.display());
    }
    text
}
