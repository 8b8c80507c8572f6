//! `candor front`: one attribute, every trade-off of privacy and utility.

use std::fmt::Write;
use std::path::PathBuf;

use candor_design::front::evolve::polishing::{fill_in, polish_front};
use candor_design::front::evolve::{Evolved, Parameters, evolve};
use candor_design::front::exact::{self, ExactPoint};
use candor_design::front::hypervolume::hypervolume;
use candor_design::front::measure::Measures;
use candor_design::front::outputs::with_outputs;
use candor_design::front::polish::Polished;
use candor_design::front::warner::{self, STEPS, WarnerPoint};
use candor_design::front::{FrontError, Goal};
use candor_experiments::optrr::front_plot;
use candor_tables::output::{self, Target};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::parse_respondents;
use super::prior::PriorArgs;
use crate::draw;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::show::{count, emit, emit_json, paragraph, remark, table};

/// How many further privacies are polished between two that are shown.
const BETWEEN: usize = 3;

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
    #[arg(long, default_value_t = 1.0, value_name = "D", allow_negative_numbers = true)]
    posterior_bound: f64,
    /// How many privacies, spread over the reachable range
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
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
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOL")]
    polish: bool,
    /// How often polishing tries neighbours and shaken copies
    #[arg(long, default_value_t = 6, value_name = "N")]
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

/// What the search found: one matrix, or none, for each privacy, and all that it kept.
struct Searched {
    at: Vec<Option<Measures>>,
    kept: Vec<Measures>,
    evolved: Evolved,
}

/// All methods at one privacy, by utility.
struct Row {
    privacy: f64,
    warner: Option<f64>,
    evolved: Option<f64>,
    exact: Option<f64>,
    lower_bound: Option<f64>,
    worst_posterior: Option<f64>,
    outputs: Option<usize>,
}

/// Everything that is shown.
struct Fronts {
    goal: Goal,
    respondents: f64,
    privacies: Vec<f64>,
    warner: Vec<WarnerPoint>,
    exact: Option<Vec<ExactPoint>>,
    searched: Option<Searched>,
}

pub fn run(args: FrontArgs) -> Result<(), Failure> {
    if args.json && args.output.as_deref() == Some("-") {
        return Err(Failure::Usage("--json and -o - would both go to standard output".to_owned()));
    }
    if args.outputs.is_some() && args.method == Method::Evolve {
        return Err(Failure::Usage(
            "--outputs does not go with --method evolve, which searches square matrices".to_owned(),
        ));
    }
    if let Some(file) = args.plot.iter().find(|file| ending(file).is_none()) {
        return Err(Failure::Usage(format!("--plot {}: a plot is a file that ends in .svg or .png", file.display())));
    }
    let prior = args.prior.read(None)?;
    if prior.left_out() > 0 {
        remark(&format!("note: categories with share 0, which never occur, are left out: {}", prior.left_out()));
    }
    let goal = Goal::new(prior, args.posterior_bound).map_err(|error| Failure::about("--posterior-bound", error))?;
    let privacies = args.privacy.clone().unwrap_or_else(|| goal.spread(usize::from(args.points)));
    for &privacy in &privacies {
        goal.check_privacy(privacy).map_err(candor_design::DesignError::from)?;
    }
    let wrong = |error: FrontError| Failure::from(candor_design::DesignError::from(error));
    let searched = match args.method {
        Method::Exact => None,
        Method::All | Method::Evolve => Some(search(&args, &goal, &privacies).map_err(wrong)?),
    };
    let exact = match (args.method, args.outputs) {
        (Method::Evolve, _) => None,
        (_, None) => Some(exact::front(&goal, &privacies).into_iter().collect::<Result<_, _>>().map_err(wrong)?),
        (_, Some(outputs)) => {
            let point = |&privacy: &f64| with_outputs(&goal, privacy, outputs, args.search.seed);
            Some(privacies.iter().map(point).collect::<Result<_, _>>().map_err(wrong)?)
        }
    };
    let warner = warner::front(&goal, STEPS);
    let fronts = Fronts { goal, respondents: args.respondents, privacies, warner, exact, searched };
    for file in &args.plot {
        let plot = fronts.plot();
        let bytes = if ending(file) == Some("png") { draw::png(&plot) } else { draw::svg(&plot).into_bytes() };
        output::write(&Target::new(&file.to_string_lossy()), &bytes)?;
    }
    if let Some(path) = &args.output {
        output::write(&Target::new(path), fronts.csv().as_bytes())?;
    }
    match args.json {
        true => emit_json(&fronts.json()),
        false if args.output.as_deref() == Some("-") => Ok(()),
        false => emit(&fronts.describe(&args.plot)),
    }
}

fn ending(file: &std::path::Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "svg" => Some("svg"),
        "png" => Some("png"),
        _ => None,
    }
}

/// The evolutionary search, and its polish.
fn search(args: &FrontArgs, goal: &Goal, privacies: &[f64]) -> Result<Searched, FrontError> {
    let n = goal.prior().len();
    let volume = |points: &mut dyn Iterator<Item = Measures>| {
        hypervolume(points.map(|m| (m.privacy, m.utility(args.respondents, n))))
    };
    let progress = Progress::search("generations", args.search.generations as u64);
    let evolved = evolve(goal, &args.search.parameters(), |generation, front| {
        progress.tell(generation as u64, &format!("{:.4}", volume(&mut front.iter().map(|c| c.measures))));
    })?;
    progress.clear();
    let mut kept: Vec<Measures> = evolved.front.iter().map(|candidate| candidate.measures).collect();
    let fit = |m: &Measures, privacy: f64| m.privacy >= privacy - 1e-12;
    if args.search.polish {
        let progress = Progress::search("rounds of polishing", args.search.rounds as u64);
        let measures = |found: &Option<Polished>| found.as_ref().map(|found| found.measures);
        let mut sorted = privacies.to_vec();
        sorted.sort_by(f64::total_cmp);
        let best = polish_front(goal, &evolved, &sorted, args.search.rounds, args.search.seed, |round, best| {
            let all = best.iter().filter_map(measures).chain(kept.iter().copied());
            progress.tell(round as u64, &format!("{:.4}", volume(&mut all.into_iter())));
        });
        let between = fill_in(goal, &sorted, &best, BETWEEN);
        progress.clear();
        kept.extend(best.iter().filter_map(measures).chain(between.iter().map(|found| found.measures)));
    }
    // What is at least as private serves as well.
    let at = privacies
        .iter()
        .map(|&privacy| {
            let serves = kept.iter().filter(|m| fit(m, privacy));
            serves.min_by(|a, b| a.variance.total_cmp(&b.variance)).copied()
        })
        .collect();
    let undominated = |m: &&Measures| !kept.iter().any(|other| other.dominates(m));
    let mut front: Vec<Measures> = kept.iter().filter(undominated).copied().collect();
    front.sort_by(|a, b| a.privacy.total_cmp(&b.privacy));
    Ok(Searched { at, kept: front, evolved })
}

impl Fronts {
    fn utility(&self, measures: &Measures) -> f64 {
        measures.utility(self.respondents, self.goal.prior().len())
    }

    fn volume(&self, points: impl Iterator<Item = Measures>) -> f64 {
        hypervolume(points.map(|m| (m.privacy, self.utility(&m))))
    }

    fn exact_volume(&self) -> Option<f64> {
        self.exact.as_ref().map(|exact| self.volume(exact.iter().map(|point| point.measures)))
    }

    /// The hypervolume of the rows that are shown, by one of their columns.
    fn shown_volume(&self, column: fn(&Row) -> Option<f64>) -> f64 {
        hypervolume(self.rows().iter().filter_map(|row| Some((row.privacy, column(row)?))))
    }

    fn searched_volume(&self) -> Option<f64> {
        self.searched.as_ref().map(|searched| self.volume(searched.kept.iter().copied()))
    }

    fn warner_volume(&self) -> f64 {
        self.volume(self.warner.iter().map(|point| point.measures))
    }

    /// The most useful classical scheme that is at least as private.
    fn warner_at(&self, privacy: f64) -> Option<f64> {
        let serving = self.warner.iter().filter(|point| point.measures.privacy >= privacy - 1e-12);
        serving.map(|point| self.utility(&point.measures)).min_by(f64::total_cmp)
    }

    fn plot(&self) -> candor_experiments::exhibit::Plot {
        let points = |measures: &Measures| (measures.privacy, self.utility(measures));
        let title = format!(
            "{} categories, posterior bound {}, {} respondents",
            self.goal.prior().len(),
            self.goal.bound(),
            count(self.respondents as u64)
        );
        front_plot(
            "front",
            &title,
            self.warner.iter().map(|point| points(&point.measures)).collect(),
            self.searched.as_ref().map(|searched| searched.kept.iter().map(points).collect()),
            self.exact.as_ref().map(|exact| exact.iter().map(|point| points(&point.measures)).collect()),
        )
    }

    /// All methods side by side, for each privacy.
    fn rows(&self) -> Vec<Row> {
        let scale = 1.0 / (self.respondents * self.goal.prior().len() as f64);
        let row = |(i, &privacy): (usize, &f64)| {
            let evolved = self.searched.as_ref().and_then(|searched| searched.at[i]);
            let exact = self.exact.as_ref().map(|exact| &exact[i]);
            let worst = exact.map(|point| point.measures.worst_posterior).or(evolved.map(|m| m.worst_posterior));
            Row {
                privacy,
                warner: self.warner_at(privacy),
                evolved: evolved.map(|m| self.utility(&m)),
                exact: exact.map(|point| self.utility(&point.measures)),
                lower_bound: exact.map(|point| point.lower_bound * scale),
                worst_posterior: worst,
                outputs: exact.map(|point| point.channel.outputs()).or(evolved.map(|_| self.goal.prior().len())),
            }
        };
        self.privacies.iter().enumerate().map(row).collect()
    }

    fn csv(&self) -> String {
        let mut text = "privacy,warner,evolved,exact,lower_bound,worst_posterior,outputs\n".to_owned();
        for row in self.rows() {
            let cells = [row.warner, row.evolved, row.exact, row.lower_bound, row.worst_posterior];
            let cells = cells.map(|x| x.map_or(String::new(), |x| x.to_string()));
            let outputs = row.outputs.map_or(String::new(), |n| n.to_string());
            let _ = writeln!(text, "{},{},{outputs}", row.privacy, cells.join(","));
        }
        text
    }

    fn json(&self) -> Value {
        let scale = 1.0 / (self.respondents * self.goal.prior().len() as f64);
        let exact = |point: &ExactPoint| {
            json!({
                "privacy": point.measures.privacy,
                "utility": self.utility(&point.measures),
                "lower_bound": point.lower_bound * scale,
                "worst_posterior": point.measures.worst_posterior,
                "outputs": point.channel.outputs(),
            })
        };
        let evolved = |m: &Measures| {
            json!({
                "privacy": m.privacy,
                "utility": self.utility(m),
                "lower_bound": null,
                "worst_posterior": m.worst_posterior,
                "outputs": self.goal.prior().len(),
            })
        };
        let found = self.searched.as_ref().map(|searched| searched.kept.iter().map(evolved).collect::<Vec<_>>());
        let at = self.searched.as_ref().map(|searched| searched.at.iter().flatten().map(evolved).collect::<Vec<_>>());
        let points = self.exact.as_ref().map(|points| points.iter().map(exact).collect::<Vec<_>>()).or(at);
        let warner =
            |point: &WarnerPoint| json!({"privacy": point.measures.privacy, "utility": self.utility(&point.measures)});
        json!({
            "points": points,
            "warner": self.warner.iter().map(warner).collect::<Vec<_>>(),
            "evolved": found,
            "hypervolume": self.exact_volume().or(self.searched_volume()),
            "warner_hypervolume": self.warner_volume(),
            "evolved_hypervolume": self.searched_volume(),
            "prior": self.goal.prior().shares(),
            "posterior_bound": self.goal.bound(),
            "respondents": self.respondents,
        })
    }

    fn describe(&self, plots: &[PathBuf]) -> String {
        let prior = self.goal.prior();
        let (least, most) = self.goal.range();
        let mut text = format!(
            "{} categories, the commonest with share {:.4}; posterior bound {}; {} respondents\n",
            prior.len(),
            prior.largest(),
            self.goal.bound(),
            count(self.respondents as u64)
        );
        let _ =
            writeln!(text, "  privacy can be from {least:.4} to {most:.4}; utility is an error: smaller is better\n");
        let number = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{x:.4e}"));
        let (mut header, mut rows) = (vec!["privacy", "Warner"], Vec::new());
        if self.searched.is_some() {
            header.push("evolved");
        }
        if self.exact.is_some() {
            header.extend(["exact", "gap at most"]);
        }
        header.extend(["worst posterior", "outputs"]);
        for Row { privacy, warner, evolved, exact, lower_bound, worst_posterior, outputs } in self.rows() {
            let mut row = vec![format!("{privacy:.4}"), number(warner)];
            if self.searched.is_some() {
                row.push(number(evolved));
            }
            if self.exact.is_some() {
                let gap =
                    exact.zip(lower_bound).map(|(value, bound)| format!("{:.1e}", (1.0 - bound / value).max(0.0)));
                row.extend([number(exact), gap.unwrap_or_default()]);
            }
            row.push(worst_posterior.map_or("-".to_owned(), |worst| format!("{worst:.4}")));
            row.push(outputs.map_or("-".to_owned(), |n| n.to_string()));
            rows.push(row);
        }
        text += &table(&header, &rows);
        let _ = write!(text, "\n  hypervolume at these points: Warner {:.4}", self.shown_volume(|row| row.warner));
        if self.searched.is_some() {
            let _ = write!(text, ", evolved {:.4}", self.shown_volume(|row| row.evolved));
        }
        if self.exact.is_some() {
            let _ = write!(text, ", exact {:.4}", self.shown_volume(|row| row.exact));
        }
        let _ = write!(text, "\n  and of whole fronts: Warner {:.4}", self.warner_volume());
        if let (Some(volume), Some(searched)) = (self.searched_volume(), &self.searched) {
            let evaluations = count(searched.evolved.evaluations as u64);
            let _ = write!(text, ", evolved {volume:.4} ({evaluations} matrices tried)");
        }
        text.push('\n');
        text += &paragraph(
            "All of it holds for this prior only. The gap is the most by which any channel whatever could be better than the exact one. \
             Next: candor design --method front with one of these privacies.",
        );
        for file in plots {
            let _ = writeln!(text, "  drawn: {}", file.display());
        }
        text
    }
}
