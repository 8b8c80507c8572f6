//! What respondents throw, draw or spin.

/// Something with outcomes of known chances that a respondent can use where nobody sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gadget {
    /// So many coins, one after another.
    Coins(u32),
    /// A die with so many sides.
    Die(u32),
    /// Two dice with so many sides each, read in order: a red and a white one.
    TwoDice(u32),
    /// The sum of two dice with six sides, whose outcomes are not equally likely.
    Sum,
    /// One of 52 cards.
    Card,
    /// The suit of a card.
    Suit,
    /// The rank of a card.
    Rank,
    /// A wheel with so many equal sectors, numbered.
    Wheel(u32),
    /// The answer to another question that so many out of so many people answer with yes: a birthday, the digit of a house.
    Question {
        /// So many say yes.
        yes: u64,
        /// Out of so many.
        of: u64,
    },
}

/// The suits, in order.
const SUITS: [&str; 4] = ["clubs", "diamonds", "hearts", "spades"];

/// The ranks that have no number.
const RANKS: [(u64, &str); 4] = [(1, "ace"), (11, "jack"), (12, "queen"), (13, "king")];

/// The most sectors of a wheel.
pub const MAX_SECTORS: u32 = 1_000;

/// The names of gadgets that take no number, as they are written.
const NAMED: [(&str, Gadget); 12] = [
    ("coin", Gadget::Coins(1)),
    ("two coins", Gadget::Coins(2)),
    ("three coins", Gadget::Coins(3)),
    ("die", Gadget::Die(6)),
    ("ten-sided die", Gadget::Die(10)),
    ("twenty-sided die", Gadget::Die(20)),
    ("two dice", Gadget::TwoDice(6)),
    ("two ten-sided dice", Gadget::TwoDice(10)),
    ("sum of two dice", Gadget::Sum),
    ("card", Gadget::Card),
    ("suit", Gadget::Suit),
    ("rank", Gadget::Rank),
];

impl Gadget {
    /// The gadget of a name such as `die`, `two coins` or `wheel of 12`.
    pub fn parse(text: &str) -> Option<Gadget> {
        let name = text.trim().to_lowercase();
        let wheel = || {
            let sectors = name.strip_prefix("wheel of ")?.trim().parse().ok()?;
            (2..=MAX_SECTORS).contains(&sectors).then_some(Gadget::Wheel(sectors))
        };
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, gadget)| *gadget).or_else(wheel)
    }

    /// The names that [`Gadget::parse`] knows.
    pub fn names() -> String {
        let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
        format!("{} or wheel of 12", names.join(", "))
    }

    /// Its name.
    pub fn name(self) -> String {
        match (NAMED.iter().find(|(_, gadget)| *gadget == self), self) {
            (Some((name, _)), _) => (*name).to_owned(),
            (None, Gadget::Question { yes, of }) => format!("a question that {yes} in {of} answer with yes"),
            (None, Gadget::Wheel(n)) => format!("wheel of {n}"),
            (None, Gadget::Coins(n)) => format!("{n} coins"),
            (None, Gadget::Die(n)) => format!("die with {n} sides"),
            (None, Gadget::TwoDice(n)) => format!("two dice with {n} sides"),
            (None, _) => unreachable!("all others are named"),
        }
    }

    /// The outcomes that can be told apart, in order: how many of [`Gadget::total`] equally likely ways lead to each.
    pub fn ways(self) -> Vec<u64> {
        match self {
            Gadget::Sum => (2..=12u64).map(|sum| 6 - sum.abs_diff(7)).collect(),
            Gadget::Question { yes, of } => vec![yes, of - yes],
            Gadget::Coins(n) => vec![1; 1 << n],
            Gadget::Die(n) | Gadget::Wheel(n) => vec![1; n as usize],
            Gadget::TwoDice(n) => vec![1; (n * n) as usize],
            Gadget::Card => vec![1; 52],
            Gadget::Suit => vec![1; 4],
            Gadget::Rank => vec![1; 13],
        }
    }

    /// The number of equally likely ways.
    pub fn total(self) -> u64 {
        self.ways().iter().sum()
    }

    /// Whether only the respondent can know what came up: others know birthdays and houses.
    pub fn is_secret(self) -> bool {
        !matches!(self, Gadget::Question { .. })
    }

    /// What an outcome is called, in English.
    pub fn label(self, outcome: usize) -> String {
        let n = outcome as u64;
        match self {
            Gadget::Coins(coins) => {
                let side = |coin: u32| if n >> (coins - 1 - coin) & 1 == 0 { "heads" } else { "tails" };
                (0..coins).map(side).collect::<Vec<&str>>().join("-")
            }
            Gadget::Die(_) | Gadget::Wheel(_) => (n + 1).to_string(),
            // Ten-sided dice are numbered from 0.
            Gadget::TwoDice(10) => format!("{n:02}"),
            Gadget::TwoDice(sides) => format!("{}{}", n / u64::from(sides) + 1, n % u64::from(sides) + 1),
            Gadget::Sum => (n + 2).to_string(),
            Gadget::Card => format!("{} of {}", rank(n % 13 + 1), SUITS[outcome / 13]),
            Gadget::Suit => SUITS[outcome].to_owned(),
            Gadget::Rank => rank(n + 1),
            Gadget::Question { .. } => ["yes", "no"][outcome].to_owned(),
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
            assert_eq!((Gadget::parse(name), gadget.name()), (Some(gadget), name.to_owned()));
        }
        assert_eq!(Gadget::parse("Wheel of 12"), Some(Gadget::Wheel(12)));
        for wrong in ["dice", "wheel of 1", "wheel of 100000", "", "wheel"] {
            assert_eq!(Gadget::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn outcomes_are_told_apart() {
        let gadgets = NAMED.iter().map(|(_, gadget)| *gadget).chain([Gadget::Wheel(7)]);
        for gadget in gadgets {
            let mut labels: Vec<String> = (0..gadget.ways().len()).map(|outcome| gadget.label(outcome)).collect();
            labels.sort();
            labels.dedup();
            assert_eq!(labels.len(), gadget.ways().len(), "{}", gadget.name());
        }
        assert_eq!(Gadget::Sum.ways(), [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]);
        assert_eq!(Gadget::TwoDice(6).label(35), "66");
        assert_eq!(Gadget::Card.label(51), "king of spades");
        assert_eq!(Gadget::Coins(2).label(1), "heads-tails");
    }
}
