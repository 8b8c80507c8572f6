//! Huang and Du 2008, OptRR: Figures 4 and 5, each with the exact front added.
//!
//! The paper prints no numbers but a few in its text: the least privacy that Warner's scheme and its own reach under
//! each bound. It does not say how it made categories of normal and gamma distributions (see `Prior::normal` and
//! `Prior::gamma`), nor its population sizes.

mod iterative;

use std::fmt::Write;

use candor::pareto::front_plot;
use candor_design::pareto::evolve::{Evolved, Parameters, evolve};
use candor_design::pareto::exact::{self, ExactPoint};
use candor_design::pareto::hypervolume::hypervolume;
use candor_design::pareto::measure::Measures;
use candor_design::pareto::prior::Prior;
use candor_design::pareto::warner::{self, STEPS, WarnerPoint};
use candor_design::pareto::{FrontError, FrontProblem};
use candor_runtime::progress::ProgressSink;

use crate::adult::Dataset;
use crate::exhibit::{Exhibit, Outcome, Pace, Paper, Settings, Table};

/// The records of the paper's data sets.
const RECORDS: f64 = 10_000.0;
/// The paper's number of generations.
const GENERATIONS: usize = 20_000;

/// The set-up of Figure 4.
const NORMAL: &str = "\
    We randomly generate a single-dimensional data set of 10,000 records with 10 different category values, from \
    normal distribution; delta = 0.6, 0.7, 0.8, 0.9 is the worst-case bound on privacy.\n\
    For the Warner scheme, p changes from 0 to 1 with a small step length of 0.001 (1001 RR matrices); for our \
    scheme the iteration stops after it loops 20,000 times; the Pareto fronts have privacy as x-axis and utility \
    (Equation (10)) as y-axis.\n\
    The paper does not say how the normal distribution was cut into 10 categories, nor its population sizes: here \
    equal widths on [-3, 3].";

/// The set-up of Figure 5(a).
const GAMMA: &str = "\
    delta = 0.75, gamma distribution with alpha = 1.0 and beta = 2.0; records, categories and matrices as in Figure \
    4.\n\
    The text says that the scheme has about two times larger privacy range than the Warner scheme and a much better \
    performance where the privacy value is larger than 0.62.";

/// The set-up of Figure 5(b).
const UNIFORM: &str = "\
    delta = 0.75, uniform distribution; records, categories and matrices as in Figure 4.\n\
    The text says that the scheme covers the same privacy range as the Warner scheme.";

/// The set-up of Figure 5(c).
const REAL: &str = "\
    The Adult data from the UCI Machine Learning Repository, first attribute, continuous attributes discretized.\n\
    The first attribute, age, is not in the bundled data: here Education, with delta = 0.75.";

/// The set-up of Figure 5(d).
const ITERATIVE: &str = "\
    The same data set and the same optimal set of RR matrices as in Figure 5(a).\n\
    Instead of using the utility defined in Equation (10), we conduct the iterative approach to estimate the \
    original distribution, and then calculate the mean square error (MSE) between the estimation and the original \
    distribution.";

/// Huang and Du 2008.
pub const OPTRR: Paper = Paper {
    name: "optrr",
    title: "OptRR: Optimizing Randomized Response Schemes for Privacy-Preserving Data Mining (2008)",
    exhibits: &[
        Exhibit {
            name: "figure-4a",
            caption: "Normal distribution, posterior bound 0.6 (--repeats: generations)",
            setup: NORMAL,
            pace: Pace::Slow,
            make: |settings| figure(&normal(0.6, (0.6, 0.4)), settings),
        },
        Exhibit {
            name: "figure-4b",
            caption: "Normal distribution, posterior bound 0.7",
            setup: NORMAL,
            pace: Pace::Slow,
            make: |settings| figure(&normal(0.7, (0.5, 0.3)), settings),
        },
        Exhibit {
            name: "figure-4c",
            caption: "Normal distribution, posterior bound 0.8",
            setup: NORMAL,
            pace: Pace::Slow,
            make: |settings| figure(&normal(0.8, (0.4, 0.22)), settings),
        },
        Exhibit {
            name: "figure-4d",
            caption: "Normal distribution, posterior bound 0.9",
            setup: NORMAL,
            pace: Pace::Slow,
            make: |settings| figure(&normal(0.9, (0.22, 0.17)), settings),
        },
        Exhibit {
            name: "figure-5a",
            caption: "Gamma distribution (shape 1, scale 2), posterior bound 0.75",
            setup: GAMMA,
            pace: Pace::Slow,
            make: |settings| figure(&gamma(), settings),
        },
        Exhibit {
            name: "figure-5b",
            caption: "Uniform distribution, posterior bound 0.75",
            setup: UNIFORM,
            pace: Pace::Slow,
            make: |settings| {
                let subject = Subject {
                    name: "uniform distribution".to_owned(),
                    prior: Prior::uniform(10),
                    bound: 0.75,
                    printed: None,
                    points: 40,
                };
                figure(&subject, settings)
            },
        },
        Exhibit {
            name: "figure-5c",
            caption: "Education of the Adult data, posterior bound 0.75 (the paper's first attribute, age, is not in \
            the bundled data)",
            setup: REAL,
            pace: Pace::Slow,
            make: |settings| {
                let subject = Subject {
                    name: "education of the Adult data".to_owned(),
                    prior: education(),
                    bound: 0.75,
                    printed: None,
                    points: 12,
                };
                figure(&subject, settings)
            },
        },
        Exhibit {
            name: "figure-5d",
            caption: "The iterative estimator on the gamma data (--repeats: simulated data sets)",
            setup: ITERATIVE,
            pace: Pace::Slow,
            make: iterative::figure,
        },
    ],
};

/// What a figure is about.
pub(crate) struct Subject {
    name: String,
    prior: Result<Prior, FrontError>,
    bound: f64,
    /// The least privacies that the text names, of Warner's scheme and of the paper's search.
    printed: Option<(f64, f64)>,
    points: usize,
}

fn normal(bound: f64, printed: (f64, f64)) -> Subject {
    Subject {
        name: "normal distribution".to_owned(),
        prior: Prior::normal(10),
        bound,
        printed: Some(printed),
        points: 40,
    }
}

fn gamma() -> Subject {
    Subject {
        name: "gamma distribution".to_owned(),
        prior: Prior::gamma(10, 1.0, 2.0),
        bound: 0.75,
        printed: None,
        points: 40,
    }
}

/// The shares of education in the Adult data.
fn education() -> Result<Prior, FrontError> {
    let adult = Dataset::adult();
    shares(&adult, adult.schema.position("Education").expect("an attribute of Adult"))
}

/// The shares of an attribute's categories.
fn shares(data: &Dataset, place: usize) -> Result<Prior, FrontError> {
    let mut counts = vec![0.0; data.schema.size(place)];
    data.columns[place].iter().for_each(|&code| counts[usize::from(code)] += 1.0);
    Prior::from_counts(&counts)
}

/// The figure of an attribute of one's own data.
pub(crate) fn of_attribute(data: &Dataset, place: usize, bound: f64, settings: &Settings) -> Outcome {
    let (name, prior) = (data.schema.name(place).to_owned(), shares(data, place));
    figure(&Subject { name, prior, bound, printed: None, points: 12 }, settings)
}

/// The fronts of one subject.
struct Fronts {
    goal: FrontProblem,
    warner: Vec<WarnerPoint>,
    evolved: Evolved,
    exact: Vec<ExactPoint>,
}

impl Fronts {
    fn of(subject: &Subject, generations: usize, seed: u64) -> Result<Fronts, FrontError> {
        let goal = FrontProblem::new(subject.prior.clone()?, subject.bound)?;
        let parameters = Parameters { generations, islands: 1, seed, ..Parameters::default() };
        let evolved = evolve(&goal, &parameters, |_, _| Ok(()))?;
        let exact = exact::front(&goal, &goal.spread(subject.points), ProgressSink::default())
            .into_iter()
            .collect::<Result<_, _>>()?;
        Ok(Fronts { warner: warner::front(&goal, STEPS), goal, evolved, exact })
    }

    fn mse(&self, measures: &Measures) -> f64 {
        measures.mse(RECORDS, self.goal.prior().len())
    }

    fn points(&self, measures: impl Iterator<Item = Measures>) -> Vec<(f64, f64)> {
        measures.map(|m| (m.privacy, self.mse(&m))).collect()
    }

    /// The three fronts as points.
    fn all(&self) -> [Vec<(f64, f64)>; 3] {
        [
            self.points(self.warner.iter().map(|point| point.measures)),
            self.points(self.evolved.front.iter().map(|candidate| candidate.measures)),
            self.points(self.exact.iter().map(|point| point.measures)),
        ]
    }
}

/// The most useful point that is at least as private.
fn serving(points: &[(f64, f64)], privacy: f64) -> Option<f64> {
    points.iter().filter(|p| p.0 >= privacy - 1e-12).map(|p| p.1).min_by(f64::total_cmp)
}

fn figure(subject: &Subject, settings: &Settings) -> Outcome {
    match Fronts::of(subject, settings.repeats.unwrap_or(GENERATIONS), settings.seed) {
        Ok(fronts) => shown(subject, &fronts),
        Err(error) => Outcome { verdict: format!("Nothing could be computed: {error}"), ..Outcome::default() },
    }
}

fn shown(subject: &Subject, fronts: &Fronts) -> Outcome {
    let [warner, evolved, exact] = fronts.all();
    let (rows, better) = compared(fronts, &warner, &evolved);
    let least = |points: &[(f64, f64)]| points.first().map_or(f64::NAN, |p| p.0);
    let printed = |which: fn((f64, f64)) -> f64| subject.printed.map_or("-".to_owned(), |p| format!("{}", which(p)));
    let row = |name: &str, ours: f64, printed: String| vec![name.to_owned(), format!("{ours:.4}"), printed];
    let reach = vec![
        row("Warner, UP, FRAPP", least(&warner), printed(|p| p.0)),
        row("evolutionary search", least(&evolved), printed(|p| p.1)),
        row("any channel (1 - bound)", 1.0 - subject.bound, "-".to_owned()),
    ];
    let volume = |points: &[(f64, f64)]| hypervolume(points.iter().copied());
    let mut verdict = match better {
        true => "As in the paper, the search beats Warner's scheme at every privacy compared".to_owned(),
        false => {
            "Other than in the paper, the search does not beat Warner's scheme at every privacy compared".to_owned()
        }
    };
    let below = if least(&evolved) < least(&warner) - 1e-3 { " and reaches less privacy" } else { "" };
    let _ = write!(verdict, "{below}.");
    if let Some((by_warner, by_search)) = subject.printed {
        let off = (least(&warner) - by_warner).abs();
        let _ = write!(
            verdict,
            "\nWarner's least privacy is within {off:.3} of the printed {by_warner}; the text says \"close to \
             {by_search}\" for the search, which here reaches {:.4}.",
            least(&evolved)
        );
    }
    let most = |points: &[(f64, f64)]| points.last().map_or(f64::NAN, |p| p.0);
    let width = |points: &[(f64, f64)]| most(points) - least(points);
    let range = |points: &[(f64, f64)]| format!("{:.4} to {:.4}", least(points), most(points));
    let gap = fronts.exact.iter().map(ExactPoint::gap).fold(0.0, f64::max);
    let _ = write!(
        verdict,
        "\nThe search covers a range of privacy {:.1} times as wide as Warner's: {} against {}.\n\
         The exact front, which the paper could not compute, allows answers of any number and is certified to a \
         relative gap of {gap:.1e}; hypervolumes are {:.4} (Warner), {:.4} (search), {:.4} (exact).",
        width(&evolved) / width(&warner),
        range(&evolved),
        range(&warner),
        volume(&warner),
        volume(&evolved),
        volume(&exact)
    );
    let title = format!("{}, posterior bound {}", subject.name, subject.bound);
    let table = |name: &str, columns: &[&str], rows| {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        Table { name: name.to_owned(), columns, rows }
    };
    Outcome {
        tables: vec![
            table("least-privacy", &["scheme", "least privacy", "printed"], reach),
            table("front", &["privacy", "Warner", "search", "exact", "Warner/exact", "search/exact"], rows),
        ],
        plots: vec![front_plot("front", &title, warner, Some(evolved), Some(exact))],
        verdict,
    }
}

/// The schemes side by side at a few privacies, and whether the search is always better than Warner's.
fn compared(fronts: &Fronts, warner: &[(f64, f64)], evolved: &[(f64, f64)]) -> (Vec<Vec<String>>, bool) {
    let number = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{x:.4e}"));
    let ratio = |x: Option<f64>, exact: f64| x.map_or("-".to_owned(), |x| format!("{:.3}", x / exact));
    let (mut rows, mut better) = (Vec::new(), true);
    let step = fronts.exact.len().div_ceil(8).max(1);
    for point in fronts.exact.iter().skip(step / 2).step_by(step) {
        let (ours, theirs) = (serving(warner, point.asked), serving(evolved, point.asked));
        let exact = fronts.mse(&point.measures);
        better &= theirs.unwrap_or(f64::INFINITY) < ours.unwrap_or(f64::INFINITY);
        rows.push(vec![
            format!("{:.4}", point.asked),
            number(ours),
            number(theirs),
            number(Some(exact)),
            ratio(ours, exact),
            ratio(theirs, exact),
        ]);
    }
    (rows, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_computes_and_the_search_wins() {
        let settings = Settings { seed: 1, repeats: Some(300) };
        for exhibit in OPTRR.exhibits.iter().filter(|exhibit| ["figure-4b", "figure-5b"].contains(&exhibit.name)) {
            let outcome = (exhibit.make)(&settings);
            assert_eq!((outcome.tables.len(), outcome.plots.len()), (2, 1));
            assert_eq!(outcome.plots[0].series.len(), 3);
            assert!(outcome.plots[0].series.iter().all(|series| series.points.len() > 5));
            assert!(outcome.verdict.contains("certified"), "{}", outcome.verdict);
        }
    }

    #[test]
    fn the_adult_data_have_sixteen_degrees() {
        let prior = education().unwrap();
        assert_eq!(prior.len(), 16);
        assert!((prior.largest() - 10_501.0 / 32_561.0).abs() < 1e-12);
    }
}
