//! Devices: how somebody answers by a die, coins, cards, a wheel or another question, without a computer.
//!
//! A device says for each outcome what to do: tell the truth, the opposite, or a given answer, or answer a question
//! without a secret. It is a channel with the outcomes for its integers. [`offers`] lists what common gadgets can do
//! within an epsilon, [`parse`] reads somebody's own device, [`plan`] makes the plan. The mathematics:
//! docs/mathematics/devices.md.

mod kind;
mod plan;
mod offers;
mod parse;

pub use kind::DeviceKind;
pub use offers::{Offer, offers, recommended};
pub use parse::{DeviceError, parse};
pub use plan::{channel, plan};

/// What to do if an outcome comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Answer truthfully, or with the answer that stands so many places after the true one; after the last comes the
    /// first. With two categories one place further is the opposite.
    Truth {
        /// How many places further.
        shift: usize,
    },
    /// Give this answer, by its number.
    Say(usize),
    /// Answer another question, which so many out of so many people answer with the second category. For two
    /// categories.
    Other {
        /// So many.
        yes: u64,
        /// Out of so many.
        of: u64,
    },
}

const TRUTH: Action = Action::Truth { shift: 0 };
const SAY_YES: Action = Action::Say(1);

/// A gadget, and what to do with its outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    categories: usize,
    gadget: DeviceKind,
    /// One for each outcome of the gadget.
    actions: Vec<Action>,
}

impl Device {
    /// Forced answers, equally often for each category: the first outcomes tell the truth, then come the categories in
    /// order. `None` unless the outcomes are enough for one truth.
    pub fn symmetric(categories: usize, gadget: DeviceKind, forced: usize) -> Option<Device> {
        let truth = gadget.ways().len().checked_sub(categories * forced).filter(|&truth| truth > 0)?;
        let told = vec![Action::Truth { shift: 0 }; truth];
        let said = (0..categories).flat_map(|category| vec![Action::Say(category); forced]);
        Some(Device { categories, gadget, actions: told.into_iter().chain(said).collect() })
    }

    /// The crosswise model: with a question that `yes` out of `of` people answer with yes, say only whether both
    /// answers are the same (the second answer) or differ (the first). For two categories.
    pub fn crosswise(yes: u64, of: u64) -> Device {
        let actions = vec![Action::Truth { shift: 0 }, Action::Truth { shift: 1 }];
        Device { categories: 2, gadget: DeviceKind::Question { yes, of }, actions }
    }

    /// The triangular model (Yu, Tian and Tang 2008): with a question that `yes` out of `of` people answer with yes,
    /// say only whether both answers are no (the first answer) or not (the second).
    ///
    /// For two categories, of which the first is not sensitive: the first answer reveals it.
    pub fn triangular(yes: u64, of: u64) -> Device {
        Device { categories: 2, gadget: DeviceKind::Question { yes, of }, actions: vec![SAY_YES, TRUTH] }
    }

    /// How many categories the question has.
    pub fn categories(&self) -> usize {
        self.categories
    }

    /// What is thrown, drawn or asked.
    pub fn gadget(&self) -> DeviceKind {
        self.gadget
    }

    /// What to do, by outcome.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Whether it is the crosswise model, whose answers are not categories.
    pub fn is_crosswise(&self) -> bool {
        !self.gadget.is_secret() && !self.is_triangular()
    }

    /// Whether it is the triangular model, whose answers are not categories.
    pub fn is_triangular(&self) -> bool {
        !self.gadget.is_secret() && self.actions == [SAY_YES, TRUTH]
    }

    /// The same with true answers shifted by so many places further: for the tags of a lottery.
    #[must_use]
    pub fn shifted(&self, places: usize) -> Device {
        let shifted = |action: &Action| match *action {
            Action::Truth { shift } => Action::Truth { shift: (shift + places) % self.categories },
            other => other,
        };
        Device { actions: self.actions.iter().map(shifted).collect(), ..self.clone() }
    }

    /// Whether all that it rests on is known to the respondent alone: no birthdays, no houses.
    pub fn is_secret(&self) -> bool {
        self.gadget.is_secret() && !self.actions.iter().any(|action| matches!(action, Action::Other { .. }))
    }

    /// What to do, each with the runs of outcomes that lead to it, first and last of each, in the order of the
    /// outcomes.
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

    /// The rules as [`parse`] reads them, for these categories.
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

    /// The likelihoods as integers: one column for each truth, which all sum to the second number.
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

    /// By how much the share of an answer rises with that of its category: `c`, negative if the device leans away from
    /// the truth. `None` if answers are shifted in different ways, so that there is no one number.
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

    /// The number of respondents times the variance of the estimated share of a category whose share is `share`: `l
    /// (1-l)/c^2`, `l` the share of its answer. `None` where there is no slope, or none but 0.
    pub fn variance(&self, category: usize, share: f64) -> Option<f64> {
        let slope = self.slope().filter(|slope| *slope != 0.0)?;
        let (columns, total) = self.columns();
        let other = columns[(category + 1) % self.categories][category] as f64 / total as f64;
        let answer = other + slope * share;
        Some(answer * (1.0 - answer) / (slope * slope))
    }

    /// What is left of the information that the best device of this epsilon gives: `(c/c*)^2`.
    pub fn efficiency(&self, epsilon: f64) -> Option<f64> {
        Some((self.slope()? / best_slope(self.categories, epsilon)).powi(2))
    }
}

/// The largest slope at an epsilon: `(e^E - 1)/(e^E + K - 1)`.
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
