//! Randomization devices: coins, dice, cards, wheels and unrelated questions.

/// A randomization device with known probabilities, which respondents use unobserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// This number of coins, one after another.
    Coins(u32),
    /// A die with this number of sides.
    Die(u32),
    /// Two dice with this number of sides, read in order, such as a red and a white one.
    TwoDice(u32),
    /// Sum of two six-sided dice, whose outcomes are not equally likely.
    Sum,
    /// One of 52 cards.
    Card,
    /// The suit of a card.
    Suit,
    /// The rank of a card.
    Rank,
    /// A wheel with this number of equal, numbered sectors.
    Wheel(u32),
    /// An unrelated question that `yes` out of `of` people answer with yes, such as one about a birthday.
    Question {
        /// Number of people who answer yes.
        yes: u64,
        /// Number of people.
        of: u64,
    },
}

/// The suits, in order.
const SUITS: [&str; 4] = ["clubs", "diamonds", "hearts", "spades"];

/// Ranks with names instead of numbers.
const RANKS: [(u64, &str); 4] = [(1, "ace"), (11, "jack"), (12, "queen"), (13, "king")];

/// Maximum number of sectors of a wheel.
pub const MAX_SECTORS: u32 = 1_000;

/// Names of devices without a number.
const NAMED: [(&str, DeviceKind); 12] = [
    ("coin", DeviceKind::Coins(1)),
    ("two coins", DeviceKind::Coins(2)),
    ("three coins", DeviceKind::Coins(3)),
    ("die", DeviceKind::Die(6)),
    ("ten-sided die", DeviceKind::Die(10)),
    ("twenty-sided die", DeviceKind::Die(20)),
    ("two dice", DeviceKind::TwoDice(6)),
    ("two ten-sided dice", DeviceKind::TwoDice(10)),
    ("sum of two dice", DeviceKind::Sum),
    ("card", DeviceKind::Card),
    ("suit", DeviceKind::Suit),
    ("rank", DeviceKind::Rank),
];

impl DeviceKind {
    /// Parses a device name such as `die`, `two coins` or `wheel of 12`.
    pub fn parse(text: &str) -> Option<DeviceKind> {
        let name = text.trim().to_lowercase();
        let wheel = || {
            let sectors = name.strip_prefix("wheel of ")?.trim().parse().ok()?;
            (2..=MAX_SECTORS).contains(&sectors).then_some(DeviceKind::Wheel(sectors))
        };
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, gadget)| *gadget).or_else(wheel)
    }

    /// Returns the names that [`DeviceKind::parse`] accepts.
    pub fn names() -> String {
        let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
        format!("{} or wheel of 12", names.join(", "))
    }

    /// Returns the name of the device.
    pub fn name(self) -> String {
        match (NAMED.iter().find(|(_, gadget)| *gadget == self), self) {
            (Some((name, _)), _) => (*name).to_owned(),
            (None, DeviceKind::Question { yes, of }) => format!("a question that {yes} in {of} answer with yes"),
            (None, DeviceKind::Wheel(n)) => format!("wheel of {n}"),
            (None, DeviceKind::Coins(n)) => format!("{n} coins"),
            (None, DeviceKind::Die(n)) => format!("die with {n} sides"),
            (None, DeviceKind::TwoDice(n)) => format!("two dice with {n} sides"),
            (None, _) => unreachable!("all others are named"),
        }
    }

    /// Returns the number of equally likely ways to each distinct outcome, in order.
    ///
    /// The numbers sum to [`DeviceKind::total`].
    pub fn ways(self) -> Vec<u64> {
        match self {
            DeviceKind::Sum => (2..=12u64).map(|sum| 6 - sum.abs_diff(7)).collect(),
            DeviceKind::Question { yes, of } => vec![yes, of - yes],
            DeviceKind::Coins(n) => vec![1; 1 << n],
            DeviceKind::Die(n) | DeviceKind::Wheel(n) => vec![1; n as usize],
            DeviceKind::TwoDice(n) => vec![1; (n * n) as usize],
            DeviceKind::Card => vec![1; 52],
            DeviceKind::Suit => vec![1; 4],
            DeviceKind::Rank => vec![1; 13],
        }
    }

    /// Returns the total number of equally likely ways.
    pub fn total(self) -> u64 {
        self.ways().iter().sum()
    }

    /// Returns whether only the respondent can know the outcome. Others may know birthdays and house numbers.
    pub fn is_secret(self) -> bool {
        !matches!(self, DeviceKind::Question { .. })
    }

    /// Returns the English label of an outcome.
    pub fn label(self, outcome: usize) -> String {
        let n = outcome as u64;
        match self {
            DeviceKind::Coins(coins) => {
                let side = |coin: u32| if n >> (coins - 1 - coin) & 1 == 0 { "heads" } else { "tails" };
                (0..coins).map(side).collect::<Vec<&str>>().join("+")
            }
            DeviceKind::Die(_) | DeviceKind::Wheel(_) => (n + 1).to_string(),
            // Ten-sided dice are numbered from 0.
            DeviceKind::TwoDice(10) => format!("{n:02}"),
            DeviceKind::TwoDice(sides) => format!("{}{}", n / u64::from(sides) + 1, n % u64::from(sides) + 1),
            DeviceKind::Sum => (n + 2).to_string(),
            // C1 is the ace of clubs, S13 the king of spades.
            DeviceKind::Card => format!("{}{}", ["C", "D", "H", "S"][outcome / 13], n % 13 + 1),
            DeviceKind::Suit => SUITS[outcome].to_owned(),
            DeviceKind::Rank => rank(n + 1),
            DeviceKind::Question { .. } => ["yes", "no"][outcome].to_owned(),
        }
    }
}

fn rank(number: u64) -> String {
    let named = RANKS.iter().find(|(known, _)| *known == number).map(|(_, name)| (*name).to_owned());
    named.unwrap_or_else(|| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for (name, gadget) in NAMED {
            assert_eq!((DeviceKind::parse(name), gadget.name()), (Some(gadget), name.to_owned()));
        }
        assert_eq!(DeviceKind::parse("Wheel of 12"), Some(DeviceKind::Wheel(12)));
        for wrong in ["dice", "wheel of 1", "wheel of 100000", "", "wheel"] {
            assert_eq!(DeviceKind::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn outcomes_are_told_apart() {
        let gadgets = NAMED.iter().map(|(_, gadget)| *gadget).chain([DeviceKind::Wheel(7)]);
        for gadget in gadgets {
            let mut labels: Vec<String> = (0..gadget.ways().len()).map(|outcome| gadget.label(outcome)).collect();
            labels.sort();
            labels.dedup();
            assert_eq!(labels.len(), gadget.ways().len(), "{}", gadget.name());
        }
        assert_eq!(DeviceKind::Sum.ways(), [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]);
        assert_eq!(DeviceKind::TwoDice(6).label(35), "66");
        assert_eq!(DeviceKind::Card.label(51), "S13");
        assert_eq!(DeviceKind::Coins(2).label(1), "heads+tails");
    }
}
