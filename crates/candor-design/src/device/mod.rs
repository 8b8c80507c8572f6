//! Randomization devices: respondents use a die, coins, cards, a wheel or an unrelated question, without a computer.
//!
//! A device prescribes an action for each outcome: answer truthfully, give the opposite or a forced response, or answer
//! an unrelated question. It is a channel whose integers are numbers of outcomes. [`offers`] lists common devices for
//! an epsilon, [`parse`] reads the description of any device, and [`plan`] makes the plan. The mathematics is in
//! docs/mathematics/devices.md.

mod kind;
mod plan;
mod offers;
mod parse;

pub use kind::DeviceKind;
pub use offers::{Offer, offers, recommended};
pub use parse::{DeviceError, parse};
pub use plan::{channel, plan};

/// The action that an outcome prescribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Answer truthfully, or with the answer that is `shift` places after the true one, in circular order.
    ///
    /// With two categories, a shift of one gives the opposite.
    Truth {
        /// Number of places.
        shift: usize,
    },
    /// Give this answer, by its number.
    Say(usize),
    /// Answer an unrelated question; only for two categories.
    ///
    /// `yes` out of `of` people answer it with the second category.
    Other {
        /// Number of people who answer with the second category.
        yes: u64,
        /// Number of people.
        of: u64,
    },
}

const TRUTH: Action = Action::Truth { shift: 0 };
const SAY_YES: Action = Action::Say(1);

/// A randomization device, with an action for each outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    categories: usize,
    gadget: DeviceKind,
    /// One action for each outcome of the device.
    actions: Vec<Action>,
}

impl Device {
    /// Creates a device with `forced` outcomes for each category; all other outcomes prescribe the true answer.
    ///
    /// The first outcomes prescribe the true answer, then come the categories in order. Returns `None` unless at least
    /// one outcome is left for the true answer.
    pub fn symmetric(categories: usize, gadget: DeviceKind, forced: usize) -> Option<Device> {
        let truth = gadget.ways().len().checked_sub(categories * forced).filter(|&truth| truth > 0)?;
        let told = vec![Action::Truth { shift: 0 }; truth];
        let said = (0..categories).flat_map(|category| vec![Action::Say(category); forced]);
        Some(Device { categories, gadget, actions: told.into_iter().chain(said).collect() })
    }

    /// Creates the crosswise model, for two categories.
    ///
    /// Respondents report only whether their answers to the sensitive and to an unrelated question agree (second
    /// answer) or differ (first answer). `yes` out of `of` people answer the unrelated question with yes.
    pub fn crosswise(yes: u64, of: u64) -> Device {
        let actions = vec![Action::Truth { shift: 0 }, Action::Truth { shift: 1 }];
        Device { categories: 2, gadget: DeviceKind::Question { yes, of }, actions }
    }

    /// Creates the triangular model (Yu, Tian and Tang 2008), for two categories.
    ///
    /// Respondents report only whether both answers are no (first answer) or not (second answer). `yes` out of `of`
    /// people answer the unrelated question with yes. The first category must not be sensitive, because the first
    /// answer reveals it.
    pub fn triangular(yes: u64, of: u64) -> Device {
        Device { categories: 2, gadget: DeviceKind::Question { yes, of }, actions: vec![SAY_YES, TRUTH] }
    }

    /// Returns the number of categories of the question.
    pub fn categories(&self) -> usize {
        self.categories
    }

    /// Returns the kind of device.
    pub fn gadget(&self) -> DeviceKind {
        self.gadget
    }

    /// Returns the action for each outcome.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Returns whether it is the crosswise model, whose answers are not categories.
    pub fn is_crosswise(&self) -> bool {
        !self.gadget.is_secret() && !self.is_triangular()
    }

    /// Returns whether it is the triangular model, whose answers are not categories.
    pub fn is_triangular(&self) -> bool {
        !self.gadget.is_secret() && self.actions == [SAY_YES, TRUTH]
    }

    /// Returns the device with true answers shifted by `places` more, for the channels of a lottery.
    #[must_use]
    pub fn shifted(&self, places: usize) -> Device {
        let shifted = |action: &Action| match *action {
            Action::Truth { shift } => Action::Truth { shift: (shift + places) % self.categories },
            other => other,
        };
        Device { actions: self.actions.iter().map(shifted).collect(), ..self.clone() }
    }

    /// Returns whether only the respondent can know its outcomes; others may know birthdays or house numbers.
    pub fn is_secret(&self) -> bool {
        self.gadget.is_secret() && !self.actions.iter().any(|action| matches!(action, Action::Other { .. }))
    }

    /// Returns the distinct actions, in the order of outcomes, each with the first and last outcome of its runs.
    pub fn rules(&self) -> Vec<(Action, Vec<(usize, usize)>)> {
        let mut rules: Vec<(Action, Vec<(usize, usize)>)> = Vec::new();
        for (outcome, &action) in self.actions.iter().enumerate() {
            match rules.iter_mut().find(|(known, _)| *known == action) {
                Some((_, runs)) => match runs.last_mut() {
                    Some((_, last)) if *last + 1 == outcome => *last = outcome,
                    _ => runs.push((outcome, outcome)),
                },
                None => rules.push((action, vec![(outcome, outcome)])),
            }
        }
        rules
    }

    /// Returns the rules in the form that [`parse`] reads, for these categories.
    pub fn written(&self, categories: &[String]) -> String {
        if let DeviceKind::Question { yes, of } = self.gadget {
            return format!("{}: {yes}/{of}", if self.is_triangular() { "triangular" } else { "crosswise" });
        }
        let run = |&(first, last): &(usize, usize)| match first == last {
            true => self.gadget.label(first),
            false => format!("{}-{}", self.gadget.label(first), self.gadget.label(last)),
        };
        let rule = |(action, runs): &(Action, Vec<(usize, usize)>)| {
            let outcomes: Vec<String> = runs.iter().map(run).collect();
            let action = match *action {
                Action::Truth { shift: 0 } => "truth".to_owned(),
                Action::Truth { .. } if self.categories == 2 => "opposite".to_owned(),
                Action::Truth { shift } => format!("truth + {shift}"),
                Action::Say(category) => categories[category].clone(),
                Action::Other { yes, of } => format!("other {yes}/{of}"),
            };
            format!("{} {action}", outcomes.join(" "))
        };
        format!("{}: {}", self.gadget.name(), self.rules().iter().map(rule).collect::<Vec<String>>().join(", "))
    }

    /// Returns the likelihoods as integers, one column for each true category, and the sum of every column.
    pub fn columns(&self) -> (Vec<Vec<u64>>, u128) {
        let of = |action: &Action| if let Action::Other { of, .. } = action { *of } else { 1 };
        let scale = self.actions.iter().map(of).fold(1, lcm);
        let mut columns = vec![vec![0; self.categories]; self.categories];
        for (truth, column) in columns.iter_mut().enumerate() {
            for (action, ways) in self.actions.iter().zip(self.gadget.ways()) {
                match *action {
                    Action::Truth { shift } => column[(truth + shift) % self.categories] += ways * scale,
                    Action::Say(category) => column[category] += ways * scale,
                    Action::Other { yes, of } => {
                        column[1] += ways * (scale / of) * yes;
                        column[0] += ways * (scale / of) * (of - yes);
                    }
                }
            }
        }
        (columns, u128::from(self.gadget.total()) * u128::from(scale))
    }

    /// Returns the slope `c`: how much the share of an answer rises with the share of its category.
    ///
    /// It is negative if the device favors other categories over the true one. Returns `None` if different shifts are
    /// mixed, so that there is no single slope.
    pub fn slope(&self) -> Option<f64> {
        let (columns, total) = self.columns();
        let own = |category: usize| columns[category][category] as f64;
        let other = |category: usize| columns[(category + 1) % self.categories][category] as f64;
        let slope = (own(0) - other(0)) / total as f64;
        let alike = (0..self.categories).all(|z| {
            (0..self.categories).filter(|&truth| truth != z).all(|truth| columns[truth][z] as f64 == other(z))
                && (own(z) - other(z)) / total as f64 == slope
        });
        alike.then_some(slope)
    }

    /// Returns the variance of the estimated share of a category, times the number of respondents.
    ///
    /// It is `l (1-l)/c^2`, where `l` is the share of its answer. Returns `None` if the slope is 0 or not defined.
    pub fn variance(&self, category: usize, share: f64) -> Option<f64> {
        let slope = self.slope().filter(|slope| *slope != 0.0)?;
        let (columns, total) = self.columns();
        let other = columns[(category + 1) % self.categories][category] as f64 / total as f64;
        let answer = other + slope * share;
        Some(answer * (1.0 - answer) / (slope * slope))
    }

    /// Returns the information relative to the best device of this epsilon, `(c/c*)^2`.
    pub fn efficiency(&self, epsilon: f64) -> Option<f64> {
        Some((self.slope()? / best_slope(self.categories, epsilon)).powi(2))
    }
}

/// Returns the largest slope at an epsilon, `(e^E - 1)/(e^E + K - 1)`.
pub fn best_slope(categories: usize, epsilon: f64) -> f64 {
    epsilon.exp_m1() / (epsilon.exp() + categories as f64 - 1.0)
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
