//! Measures the coverage of intervals, tests and predictions of regressions, and the power that `sample-size`
//! predicts.
//!
//! `cargo run --release -p candor-analysis --example regression_coverage FILE [surveys] [setting,..]` prints the table
//! of benches/results/*-coverage-regress.md. Surveys are simulated in parts on all cores, each with its own seeds. The
//! result of a part is a line of the file, so that an interrupted run can be continued.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use candor_analysis::regress::{
    Anticipated, Batch, DISPERSION, Effect, Family, Fitting, Formula, INTERCEPT, Layout, Model, ModelOptions,
    ModelRows, Profile, Questions, SamplingColumns, anticipate, regress_with_progress,
};
use candor_analysis::tally::answer_codes;
use candor_base::channel::{Axis, Channel, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_bulk::Randomizer;
use candor_runtime::progress::ProgressSink;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Returns k-ary randomized response over the table of some attributes.
fn k_ary(sizes: &[usize], epsilon: f64) -> Channel {
    let cells: usize = sizes.iter().product();
    let only = (1e6 * epsilon.exp_m1() / cells as f64).round() as u64;
    let parts =
        vec![Part { set: PatternSet::no_miss(), weight: only }, Part { set: PatternSet::All, weight: 1_000_000 }];
    Channel::Pattern(Pattern::new(sizes.iter().map(|&size| Axis::single(size)).collect(), parts).unwrap())
}

/// Returns the channels of a list experiment: the control group's and the treatment group's.
fn list(controls: usize) -> Vec<(u64, Channel)> {
    let (counts, answers) = (controls + 1, controls + 2);
    let of_group = |treated: usize| {
        let counted = |input: usize| input % counts + treated * (input / counts);
        let column = |input: usize| (0..answers).map(|answer| if answer == counted(input) { 2 } else { 0 }).collect();
        let labels = (0..answers).map(|answer| answer.to_string()).collect();
        let matrix = Matrix::with_total(vec![2, counts], labels, 2u8.into(), (0..2 * counts).map(column).collect());
        (1, Channel::Matrix(matrix.unwrap()))
    };
    [0, 1].map(of_group).to_vec()
}

/// Distribution of the number of control items that apply.
const CONTROLS: [f64; 4] = [0.1, 0.4, 0.4, 0.1];

fn logistic(eta: f64) -> f64 {
    1.0 / (1.0 + (-eta).exp())
}

fn log_odds(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

/// Returns the log odds of 1, 2 and 3 against 0 in each group.
fn of_four(group: u16) -> Vec<f64> {
    [[0.25f64, 0.15, 0.1], [0.3, 0.3, 0.2]][usize::from(group)]
        .map(|share| (share / [0.5, 0.2][usize::from(group)]).ln())
        .to_vec()
}

const OF_FOUR: [f64; 2] = [0.25 + 0.3 + 0.3, 0.3 + 0.6 + 0.6];

/// Kind of outcome.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    /// The attribute `y`.
    Category,
    /// A public count with the mean `exp(eta)` and this dispersion.
    Count(f64),
    /// The attribute `y`, asked by a list experiment with three control items.
    List,
    /// Sum of this many binary attributes with the log odds `eta`.
    Items(usize),
}

/// Sampling of the respondents.
#[derive(Clone, Copy)]
enum Drawn {
    Simply,
    /// This number of clusters, with a random effect of this deviation on log odds; half of them have `z` 1.
    Clusters(usize, f64),
    /// Oversampling of people with the trait by this factor, with weights that correct for it.
    Informatively(f64),
}

/// A kind of survey.
struct Setting {
    name: &'static str,
    hidden: Vec<usize>,
    public: usize,
    epsilon: f64,
    formula: &'static str,
    family: Option<Family>,
    respondents: usize,
    /// Shares of randomized predictors and `z`, with the first varying slowest.
    predictors: Vec<f64>,
    /// Log odds of each category of `y` but the first, or of each item, by the codes of the predictors.
    eta: fn(&[u16]) -> Vec<f64>,
    drawn: Drawn,
    outcome: Outcome,
    /// A contrast and its true value.
    contrast: Option<(&'static str, f64)>,
    /// The tested coefficient, its category and its true value.
    term: &'static str,
    category: Option<&'static str>,
    value: f64,
}

fn settings() -> Vec<Setting> {
    let two = |name, shares: [f64; 2], epsilon, respondents, first: f64, eta: fn(&[u16]) -> Vec<f64>| Setting {
        name,
        hidden: vec![2],
        public: 2,
        epsilon,
        formula: "y ~ z",
        family: None,
        respondents,
        predictors: vec![first, 1.0 - first],
        eta,
        drawn: Drawn::Simply,
        outcome: Outcome::Category,
        contrast: None,
        term: "z=1",
        category: None,
        value: log_odds(shares[1]) - log_odds(shares[0]),
    };
    let hidden = |name, epsilon, respondents, rare: f64, value, eta: fn(&[u16]) -> Vec<f64>| Setting {
        name,
        hidden: vec![2, 2],
        public: 2,
        epsilon,
        formula: "y ~ x",
        family: None,
        respondents,
        predictors: vec![(1.0 - rare) / 2.0, (1.0 - rare) / 2.0, rare / 2.0, rare / 2.0],
        eta,
        drawn: Drawn::Simply,
        outcome: Outcome::Category,
        contrast: None,
        term: "x=1",
        category: None,
        value,
    };
    // A public count, and a randomized group with twice the mean.
    let counts = |name, family, rare, dispersion, respondents| Setting {
        hidden: vec![2],
        formula: "count ~ x",
        family: Some(family),
        outcome: Outcome::Count(dispersion),
        eta: |codes| vec![0.3 + 0.7 * f64::from(codes[0])],
        ..hidden(name, 2.0, respondents, rare, 0.7, |_| Vec::new())
    };
    let of_three = |codes: &[u16]| {
        let x = f64::from(codes[0]);
        vec![-0.5 + 0.6 * x, -1.0 + 0.9 * x]
    };
    vec![
        two("2 and 2%, epsilon 1, 1,000", [0.02, 0.02], 1.0, 1000, 0.5, |_| vec![log_odds(0.02)]),
        two("5 and 5%, epsilon 2, 2,000", [0.05, 0.05], 2.0, 2000, 0.5, |_| vec![log_odds(0.05)]),
        two("5 and 15%, epsilon 2, 300", [0.05, 0.15], 2.0, 300, 0.5, |codes| {
            vec![log_odds([0.05, 0.15][usize::from(codes[0])])]
        }),
        two("10 and 10%, groups 7:3, epsilon 1, 5,000", [0.1, 0.1], 1.0, 5000, 0.7, |_| vec![log_odds(0.1)]),
        Setting {
            formula: "y ~ z",
            public: 3,
            predictors: vec![0.4, 0.4, 0.2],
            eta: |_| vec![log_odds(0.1)],
            contrast: Some(("z=1 - z=2", 0.0)),
            ..two("three groups alike, 10%, epsilon 2, 1,500", [0.1, 0.1], 2.0, 1500, 0.5, |_| Vec::new())
        },
        hidden("hidden group of 4%, no effect, epsilon 3, 1,000", 3.0, 1000, 0.04, 0.0, |_| vec![log_odds(0.1)]),
        hidden(
            "hidden group of 10%, 10 and 25%, epsilon 4, 1,000",
            4.0,
            1000,
            0.1,
            log_odds(0.25) - log_odds(0.1),
            |codes| vec![log_odds([0.1, 0.25][usize::from(codes[0])])],
        ),
        Setting {
            hidden: vec![3, 2],
            family: Some(Family::Multinomial),
            category: Some("2"),
            ..hidden("multinomial, hidden predictor, epsilon 4, 2,000", 4.0, 2000, 0.3, 0.9, of_three)
        },
        Setting {
            hidden: vec![3, 2],
            family: Some(Family::Ordinal),
            ..hidden("ordinal, hidden predictor, epsilon 4, 2,000", 4.0, 2000, 0.3, 0.8, |codes| {
                let x = 0.8 * f64::from(codes[0]);
                let (first, second) = (logistic(0.2 - x), logistic(1.4 - x));
                vec![((second - first) / first).ln(), ((1.0 - second) / first).ln()]
            })
        },
        Setting {
            hidden: vec![2, 2, 2],
            formula: "y ~ x + w",
            predictors: [0.5, 0.2, 0.1, 0.2].into_iter().flat_map(|share| [share / 2.0, share / 2.0]).collect(),
            ..hidden("two hidden predictors, epsilon 4, 2,000", 4.0, 2000, 0.3, 0.7, |codes| {
                vec![-1.2 + 0.7 * f64::from(codes[0]) + 0.4 * f64::from(codes[1])]
            })
        },
        Setting {
            drawn: Drawn::Clusters(20, 0.5),
            ..two("20 clusters of 30, 30%, no effect between them, epsilon 2", [0.3, 0.3], 2.0, 600, 0.5, |_| {
                vec![log_odds(0.3)]
            })
        },
        Setting {
            drawn: Drawn::Informatively(4.0),
            ..two("informative weights 4:1, 10 and 20%, epsilon 2, 2,000", [0.1, 0.2], 2.0, 2000, 0.5, |codes| {
                vec![log_odds([0.1, 0.2][usize::from(codes[0])])]
            })
        },
        counts("Poisson, hidden group of 10%, epsilon 2, 1,000", Family::Poisson, 0.1, 1.0, 1000),
        Setting {
            eta: |codes| vec![-2.5 + 0.7 * f64::from(codes[0])],
            ..counts("Poisson, rare events, hidden group of 5%, epsilon 2, 1,000", Family::Poisson, 0.05, 1.0, 1000)
        },
        counts(
            "quasi-Poisson, overdispersed, hidden group of 10%, epsilon 2, 1,000",
            Family::QuasiPoisson,
            0.1,
            1.9,
            1000,
        ),
        counts("quasi-Poisson, hidden group of 5%, epsilon 2, 400", Family::QuasiPoisson, 0.05, 1.9, 400),
        Setting {
            hidden: vec![4],
            family: Some(Family::QuasiPoisson),
            // The mean of 0, 1, 2, 3 with these odds.
            value: (OF_FOUR[1] / OF_FOUR[0]).ln(),
            eta: |codes| of_four(codes[0]),
            ..two("randomized count 0 to 3, epsilon 2, 1,000", [0.1, 0.1], 2.0, 1000, 0.5, |_| Vec::new())
        },
        Setting {
            hidden: vec![4],
            family: Some(Family::Linear),
            value: OF_FOUR[1] - OF_FOUR[0],
            eta: |codes| of_four(codes[0]),
            ..two("randomized number 0 to 3, linear, epsilon 2, 1,000", [0.1, 0.1], 2.0, 1000, 0.5, |_| Vec::new())
        },
        Setting {
            drawn: Drawn::Clusters(20, 0.5),
            ..hidden("20 clusters of 30, hidden predictor, epsilon 4", 4.0, 600, 0.3, 0.0, |_| vec![log_odds(0.3)])
        },
        Setting {
            drawn: Drawn::Informatively(4.0),
            ..hidden("informative weights 4:1, hidden predictor, epsilon 4, 2,000", 4.0, 2000, 0.3, 0.7, |codes| {
                vec![-1.5 + 0.7 * f64::from(codes[0])]
            })
        },
        counts(
            "Poisson by the model, overdispersed, hidden group of 10%, epsilon 2, 1,000",
            Family::Poisson,
            0.1,
            1.9,
            1000,
        ),
        Setting {
            outcome: Outcome::List,
            ..two("list of 3 control items, 10 and 30%, 1,500", [0.1, 0.3], 2.0, 1500, 0.5, |codes| {
                vec![log_odds([0.1, 0.3][usize::from(codes[0])])]
            })
        },
        Setting {
            outcome: Outcome::List,
            ..two("list of 3 control items, no effect, 5%, 1,000", [0.05, 0.05], 2.0, 1000, 0.5, |_| {
                vec![log_odds(0.05)]
            })
        },
        Setting {
            outcome: Outcome::Items(3),
            hidden: vec![2, 2, 2],
            formula: "a + b + c ~ z",
            family: Some(Family::Linear),
            value: ITEMS[1].iter().sum::<f64>() - ITEMS[0].iter().sum::<f64>(),
            eta: |codes| ITEMS[usize::from(codes[0])].map(log_odds).to_vec(),
            ..two("sum of three items, linear, epsilon 3, 1,000", [0.1, 0.1], 3.0, 1000, 0.5, |_| Vec::new())
        },
        Setting {
            outcome: Outcome::Items(3),
            hidden: vec![2, 2, 2],
            formula: "a + b + c ~ z",
            family: Some(Family::QuasiPoisson),
            value: (ITEMS[1].iter().sum::<f64>() / ITEMS[0].iter().sum::<f64>()).ln(),
            eta: |codes| ITEMS[usize::from(codes[0])].map(log_odds).to_vec(),
            ..two("sum of three items, quasi-Poisson, epsilon 3, 1,000", [0.1, 0.1], 3.0, 1000, 0.5, |_| Vec::new())
        },
        Setting {
            outcome: Outcome::Items(2),
            hidden: vec![2, 2, 2],
            formula: "a + b ~ x",
            family: Some(Family::Linear),
            value: ITEMS[1][..2].iter().sum::<f64>() - ITEMS[0][..2].iter().sum::<f64>(),
            eta: |codes| ITEMS[usize::from(codes[0])].map(log_odds)[..2].to_vec(),
            ..hidden("sum of two items, hidden predictor, linear, epsilon 4, 1,000", 4.0, 1000, 0.2, 0.0, |_| {
                Vec::new()
            })
        },
        Setting {
            drawn: Drawn::Informatively(4.0),
            formula: "y ~ z",
            public: 3,
            predictors: vec![0.4, 0.4, 0.2],
            contrast: Some(("z=1 - z=2", 0.0)),
            ..two(
                "informative weights 4:1, three groups alike, 20%, epsilon 2, 2,000",
                [0.2, 0.2],
                2.0,
                2000,
                0.5,
                |_| vec![log_odds(0.2)],
            )
        },
        Setting {
            drawn: Drawn::Informatively(4.0),
            formula: "y ~ x + z",
            public: 3,
            predictors: vec![0.28, 0.28, 0.14, 0.12, 0.12, 0.06],
            contrast: Some(("x=1 + z=2", 0.7)),
            ..hidden(
                "informative weights 4:1, hidden predictor, three groups alike, epsilon 4, 2,000",
                4.0,
                2000,
                0.3,
                0.7,
                |codes| vec![-1.5 + 0.7 * f64::from(codes[0])],
            )
        },
        counts("quasi-Poisson, not overdispersed, hidden group of 10%, 1,000", Family::QuasiPoisson, 0.1, 1.0, 1000),
        Setting {
            eta: |codes| vec![-2.5 + 0.7 * f64::from(codes[0])],
            ..counts("quasi-Poisson, rare events, hidden group of 5%, 1,000", Family::QuasiPoisson, 0.05, 1.0, 1000)
        },
    ]
}

/// Shares of the items in each of two groups.
const ITEMS: [[f64; 3]; 2] = [[0.1, 0.2, 0.3], [0.2, 0.3, 0.3]];

/// Results of the surveys of one kind.
#[derive(Clone, Copy, Default)]
struct Found {
    surveys: u32,
    covers: u32,
    rejects: u32,
    one_sided: u32,
    joint: [u32; 2],
    predicted: [u32; 2],
    contrasts: [u32; 2],
}

impl Found {
    fn numbers(&mut self) -> [&mut u32; 10] {
        let Found { surveys, covers, rejects, one_sided, joint, predicted, contrasts } = self;
        let ([tested, found], [told, right], [sums, inside]) = (joint, predicted, contrasts);
        [surveys, covers, rejects, one_sided, tested, found, told, right, sums, inside]
    }

    fn add(&mut self, mut other: Found) {
        self.numbers().into_iter().zip(other.numbers()).for_each(|(sum, more)| *sum += *more);
    }
}

impl Setting {
    /// Returns a plan with the outcome and the randomized predictors `x` and `w` in one block, and a public `z`.
    fn plan(&self) -> Plan {
        let labels = |n: usize| (0..n).map(|code| code.to_string()).collect::<Vec<_>>();
        let of_outcome = match self.outcome {
            Outcome::Count(_) => &[][..],
            Outcome::Category | Outcome::List => &["y"],
            Outcome::Items(count) => &["a", "b", "c"][..count],
        };
        let named = of_outcome.iter().chain(&["x", "w"]).zip(&self.hidden);
        let mut attributes: Vec<Attribute> =
            named.map(|(name, &size)| Attribute::new(*name, labels(size)).unwrap()).collect();
        let lottery = match self.outcome {
            Outcome::List => {
                attributes.push(Attribute::new("controls", labels(CONTROLS.len())).unwrap());
                list(CONTROLS.len() - 1)
            }
            _ => vec![(1, k_ary(&self.hidden, self.epsilon))],
        };
        let block = Block::lottery((0..attributes.len()).collect(), lottery);
        attributes.push(Attribute::new_public("z", labels(self.public)).unwrap());
        Plan::new(Schema::new(attributes).unwrap(), vec![block]).unwrap()
    }

    /// Returns the number of randomized attributes of the outcome.
    fn outcomes(&self) -> usize {
        match self.outcome {
            Outcome::Count(_) => 0,
            Outcome::Category | Outcome::List => 1,
            Outcome::Items(count) => count,
        }
    }

    fn hidden_predictors(&self) -> &[usize] {
        &self.hidden[self.outcomes()..]
    }

    fn sizes(&self) -> Vec<usize> {
        self.hidden_predictors().iter().copied().chain([self.public]).collect()
    }

    /// Returns the codes of the randomized predictors and `z` of a cell.
    fn codes(&self, mut cell: usize) -> Vec<u16> {
        let mut codes = vec![0; self.sizes().len()];
        for (code, size) in codes.iter_mut().zip(self.sizes()).rev() {
            *code = (cell % size) as u16;
            cell /= size;
        }
        codes
    }

    fn shares(&self, codes: &[u16], moved: f64) -> Vec<f64> {
        let odds: Vec<f64> = [1.0].into_iter().chain((self.eta)(codes).iter().map(|eta| (eta + moved).exp())).collect();
        let total: f64 = odds.iter().sum();
        odds.iter().map(|one| one / total).collect()
    }

    /// Draws a count for a person with these predictors: Poisson with a mean that varies between people.
    fn count(&self, codes: &[u16], dispersion: f64, mut uniform: impl FnMut() -> f64) -> f64 {
        let mean = (self.eta)(codes)[0].exp();
        let varying = ((dispersion - 1.0) / mean).sqrt();
        let mean = if uniform() < 0.5 { mean * (1.0 - varying) } else { mean * (1.0 + varying) };
        let (mut number, mut share) = (0.0, (-mean).exp());
        let mut left = uniform() - share;
        while left > 0.0 && number < 1e3 {
            number += 1.0;
            share *= mean / number;
            left -= share;
        }
        number
    }

    /// Draws the true codes of everybody, with weights, clusters and counts.
    fn people(&self, rng: &mut ChaCha20Rng) -> (Vec<Vec<u16>>, Vec<f64>, Vec<String>, Vec<f64>) {
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut columns = vec![Vec::new(); self.plan().schema().attributes().len()];
        let (mut weights, mut names, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut moved = 0.0;
        while columns[0].len() < self.respondents {
            let number = columns[0].len();
            let mut codes = self.codes(drawn(&self.predictors, uniform()));
            if let Drawn::Clusters(count, deviation) = self.drawn {
                let size = self.respondents / count;
                if number % size == 0 {
                    // The sum of twelve uniform numbers is practically normal.
                    moved = deviation * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0);
                }
                *codes.last_mut().unwrap() = (number / size % 2) as u16;
                names.push((number / size).to_string());
            }
            let mut own = match self.outcome {
                Outcome::Count(dispersion) => {
                    counts.push(self.count(&codes, dispersion, &mut uniform));
                    Vec::new()
                }
                Outcome::Items(_) => {
                    (self.eta)(&codes).into_iter().map(|eta| u16::from(uniform() < logistic(eta))).collect()
                }
                Outcome::Category | Outcome::List => vec![drawn(&self.shares(&codes, moved), uniform()) as u16],
            };
            let mut weight = 1.0;
            if let Drawn::Informatively(times) = self.drawn {
                if own[0] == 0 && uniform() > 1.0 / times {
                    continue;
                }
                weight = if own[0] == 0 { times } else { 1.0 };
            }
            weights.push(weight);
            if self.outcome == Outcome::List {
                own.push(drawn(&CONTROLS, uniform()) as u16);
            }
            own.extend(codes);
            columns.iter_mut().zip(own).for_each(|(column, code)| column.push(code));
        }
        (columns, weights, names, counts)
    }

    fn run(&self, surveys: Range<u32>) -> Found {
        let plan = self.plan();
        let options = ModelOptions::default().family(self.family);
        let model = Model::new(&plan, &self.formula.parse::<Formula>().unwrap(), &options).unwrap();
        let layout = Layout::new(&plan, &model).unwrap();
        let names: Vec<&str> = ["x", "w", "z"].into_iter().filter(|name| self.formula.contains(name)).collect();
        // People with the highest category of every predictor.
        let profile: BTreeMap<&str, String> = names.iter().map(|&name| (name, "1".to_owned())).collect();
        let questions = Questions::default()
            .contrasts(self.contrast.iter().map(|(text, _)| text.to_string()).collect())
            .profiles(vec![profile.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()]);
        let in_profile = |name: &str| u16::from(names.contains(&name));
        let hidden = self.hidden_predictors().len();
        let codes: Vec<u16> = ["x", "w"][..hidden].iter().copied().chain(["z"]).map(in_profile).collect();
        let truth = match (self.outcome, self.family) {
            (Outcome::Count(_), _) => vec![(self.eta)(&codes)[0].exp()],
            (Outcome::Items(_), _) => vec![(self.eta)(&codes).into_iter().map(logistic).sum()],
            (_, Some(family)) if family.is_of_numbers() => vec![OF_FOUR[1]],
            _ => self.shares(&codes, 0.0),
        };
        let mut found = Found { surveys: surveys.end - surveys.start, ..Found::default() };
        for survey in surveys {
            let mut rng = ChaCha20Rng::seed_from_u64(u64::from(survey));
            let (columns, weights, clusters, counts) = self.people(&mut rng);
            let mut stream = Source::from_seed(34).stream(u64::from(survey));
            let answers = Randomizer::new(&plan).batch(&columns, &mut stream).unwrap();
            let columns = answer_codes(&plan, &answers);
            let mut rows = ModelRows::new(layout.clone());
            let clusters = (!clusters.is_empty()).then_some(&clusters[..]);
            let weights = matches!(self.drawn, Drawn::Informatively(_)).then_some(&weights[..]);
            let sample = SamplingColumns { clusters, ..SamplingColumns::default() };
            let numbers = if counts.is_empty() { Vec::new() } else { vec![counts] };
            rows.add(&Batch { columns: &columns, numbers: &numbers, weights, sample, rows: self.respondents });
            let fit =
                regress_with_progress(&rows, &model, &questions, &Fitting::default(), ProgressSink::none()).unwrap();
            let is = |category: &Option<String>| self.category.is_none_or(|own| category.as_deref() == Some(own));
            let own = fit.coefficients.iter().find(|one| one.term == self.term && is(&one.category)).unwrap();
            let inside = |low: Option<f64>, high: Option<f64>, value: f64| {
                low.is_none_or(|low| low <= value) && high.is_none_or(|high| value <= high)
            };
            found.covers += u32::from(inside(own.low, own.high, self.value));
            found.rejects += u32::from(own.p_value.is_some_and(|p| p < 0.05));
            found.one_sided += u32::from(own.low.is_none() || own.high.is_none());
            for joint in &fit.joint {
                found.joint[0] += 1;
                found.joint[1] += u32::from(joint.p_value < 0.05);
            }
            for (one, (_, value)) in fit.contrasts.iter().zip(&self.contrast) {
                found.contrasts[0] += 1;
                found.contrasts[1] += u32::from(inside(one.low, one.high, *value));
            }
            // With clusters, the population has no single share.
            for one in fit.predictions.iter().filter(|_| !matches!(self.drawn, Drawn::Clusters(..))) {
                let code: usize = one.category.as_ref().map_or(0, |category| category.parse().unwrap());
                found.predicted[0] += 1;
                found.predicted[1] += u32::from(inside(one.low, one.high, truth[code]));
            }
        }
        found
    }

    /// Returns a row of the table.
    fn row(&self, found: &Found) -> String {
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.name,
            found.surveys,
            share(found.covers, found.surveys),
            share(found.rejects, found.surveys),
            self.power().map_or("-".to_owned(), |power| format!("{:.1}%", 100.0 * power)),
            share(found.one_sided, found.surveys),
            share(found.joint[1], found.joint[0]),
            share(found.predicted[1], found.predicted[0]),
            share(found.contrasts[1], found.contrasts[0]),
        )
    }

    /// Returns the power that `sample-size` predicts for the coefficient, if it supports such surveys.
    fn power(&self) -> Option<f64> {
        let planned = self.family != Some(Family::Multinomial);
        if !matches!(self.drawn, Drawn::Simply) || !planned || self.value == 0.0 {
            return None;
        }
        let plan = self.plan();
        let options = ModelOptions::default().family(self.family);
        let model = Model::new(&plan, &self.formula.parse::<Formula>().unwrap(), &options).unwrap();
        let layout = Layout::new(&plan, &model).unwrap();
        let items = matches!(self.outcome, Outcome::Items(_));
        let outcomes: usize = self.hidden[..self.outcomes()].iter().product();
        let (mut response, mut profiles) = (vec![0.0; outcomes], Vec::new());
        for (cell, share) in self.predictors.iter().enumerate() {
            let codes = self.codes(cell);
            let shares = if items { of_items(&(self.eta)(&codes)) } else { self.shares(&codes, 0.0) };
            shares.iter().zip(&mut response).for_each(|(own, sum)| *sum += share * own);
            let (randomized, public) = codes.split_at(self.hidden_predictors().len());
            let public = if model.public().is_empty() { Vec::new() } else { public.to_vec() };
            profiles.push(Profile { randomized: randomized.to_vec(), public, numbers: Vec::new(), share: *share });
        }
        let effect = |term: &str, value: f64| Effect { term: term.to_owned(), category: None, value };
        let mut effects = vec![effect(self.term, self.value)];
        if self.formula.contains('w') {
            effects.push(effect("w=1", 0.4));
        }
        if let Outcome::Count(dispersion) = self.outcome {
            effects.push(effect(INTERCEPT, (self.eta)(&[0; 2])[0]));
            effects.extend((self.family == Some(Family::QuasiPoisson)).then(|| effect(DISPERSION, dispersion)));
        }
        let companions = if self.outcome == Outcome::List { CONTROLS.to_vec() } else { Vec::new() };
        let people = Anticipated { profiles, response, companions, effects };
        let (_, found) = anticipate(&model, &layout, &people).unwrap();
        let first = found.iter().find(|one| one.effect.term == self.term)?;
        Some(first.test.zero.power(0.05, self.respondents as f64))
    }
}

/// Formats a share with twice its Monte Carlo error.
fn share(part: u32, of: u32) -> String {
    let (part, of) = (f64::from(part), f64::from(of));
    let share = part / of;
    match of > 0.0 {
        true => format!("{:.1} ± {:.1}%", 100.0 * share, 200.0 * (share * (1.0 - share) / of).sqrt()),
        false => "-".to_owned(),
    }
}

/// Returns the shares of all combinations of independent items, with the first varying slowest.
fn of_items(log_odds: &[f64]) -> Vec<f64> {
    let with = |shares: Vec<f64>, eta: &f64| -> Vec<f64> {
        shares.iter().flat_map(|share| [1.0 - logistic(*eta), logistic(*eta)].map(|own| share * own)).collect()
    };
    log_odds.iter().fold(vec![1.0], with)
}

/// Returns the index of a number among cumulative shares.
fn drawn(shares: &[f64], mut at: f64) -> usize {
    for (place, share) in shares.iter().enumerate() {
        at -= share;
        if at < 0.0 {
            return place;
        }
    }
    shares.len() - 1
}

/// Number of surveys in a part.
const PART: u32 = 100;

/// Reads earlier results, by setting and first survey of a part.
fn read(file: &str) -> BTreeMap<(usize, u32), Found> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = |line: &str| {
        let numbers: Vec<u32> = line.split(' ').map_while(|number| number.parse().ok()).collect();
        let (&[setting, first], counts) = numbers.split_first_chunk::<2>()?;
        let mut found = Found::default();
        let own = found.numbers();
        let whole = own.len() == counts.len();
        own.into_iter().zip(counts).for_each(|(number, count)| *number = *count);
        whole.then_some(((setting as usize, first), found))
    };
    text.lines().filter_map(line).collect()
}

/// Simulates the parts that are missing in the file.
fn simulate(settings: &[Setting], asked: &BTreeSet<usize>, surveys: u32, file: &str) {
    let known = read(file);
    let parts = (0..surveys).step_by(PART as usize);
    let all = parts.flat_map(|first| asked.iter().map(move |&setting| (setting, first)));
    let missing: Vec<(usize, u32)> = all.filter(|part| !known.contains_key(part)).collect();
    let file = Mutex::new(OpenOptions::new().create(true).append(true).open(file).expect("a file to write"));
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&(setting, first)) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut found = settings[setting].run(first..surveys.min(first + PART));
            let numbers = found.numbers().map(|number| number.to_string()).join(" ");
            writeln!(file.lock().expect("no panic"), "{setting} {first} {numbers}").expect("room for a line");
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, |cores| cores.get())).for_each(|_| {
            scope.spawn(work);
        });
    });
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().expect("a file for what parts found");
    let surveys = arguments.get(1).map_or(4000, |text| text.parse().expect("a number of surveys"));
    let settings = settings();
    let asked: BTreeSet<usize> = match arguments.get(2) {
        Some(list) => list.split(',').map(|text| text.parse().expect("the number of a setting")).collect(),
        None => (0..settings.len()).collect(),
    };
    simulate(&settings, &asked, surveys, file);
    println!(
        "| survey | surveys | coefficient covers | rejects 0 | predicted | no limit | joint test rejects | prediction \
         covers | contrast covers |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let known = read(file);
    for (number, setting) in settings.iter().enumerate().filter(|(number, _)| asked.contains(number)) {
        let mut found = Found::default();
        known.iter().filter(|((own, _), _)| *own == number).for_each(|(_, part)| found.add(*part));
        println!("{}", setting.row(&found));
    }
}
