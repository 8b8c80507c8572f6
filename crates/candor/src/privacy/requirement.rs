//! What a user requires of a plan, one threshold per criterion.

use std::fmt;
use std::str::FromStr;

/// A threshold on one criterion, written `name=value`.
///
/// ```
/// use candor::privacy::Requirement;
///
/// assert_eq!("ldp=1".parse(), Ok(Requirement::Ldp(1.0)));
/// assert_eq!("rho=0.1:0.5".parse(), Ok(Requirement::Rho { rho1: 0.1, rho2: 0.5 }));
/// assert!("rho=0.5:0.1".parse::<Requirement>().unwrap_err().to_string().contains("below"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Requirement {
    /// Record epsilon at most this.
    Ldp(f64),
    /// Parity at most this.
    Parity(f64),
    /// No probability grows or shrinks by more than this factor.
    BetaFactor(f64),
    /// Nothing at most `rho1` probable becomes more than `rho2` probable, and the other way round.
    Rho {
        /// The lower probability.
        rho1: f64,
        /// The higher one.
        rho2: f64,
    },
    /// Something of probability `event` stays between `low` and `high`.
    InformationBounds {
        /// The probability before.
        event: f64,
        /// The least probability after.
        low: f64,
        /// The greatest probability after.
        high: f64,
    },
    /// phi-average security at this phi.
    AverageSecurity(f64),
    /// MAP privacy at least this.
    MapPrivacy(f64),
    /// Worst posterior at most this.
    WorstPosterior(f64),
    /// At least so many categories stay equally plausible.
    LDiversity(usize),
    /// Guessing right with probability at most this.
    Guessing(f64),
    /// At most so many bits of information.
    MutualInformation(f64),
}

impl Requirement {
    /// The criterion's name.
    pub fn name(&self) -> &'static str {
        match self {
            Requirement::Ldp(_) => "ldp",
            Requirement::Parity(_) => "parity",
            Requirement::BetaFactor(_) => "beta-factor",
            Requirement::Rho { .. } => "rho",
            Requirement::InformationBounds { .. } => "information-bounds",
            Requirement::AverageSecurity(_) => "average-security",
            Requirement::MapPrivacy(_) => "map-privacy",
            Requirement::WorstPosterior(_) => "worst-posterior",
            Requirement::LDiversity(_) => "l-diversity",
            Requirement::Guessing(_) => "guessing",
            Requirement::MutualInformation(_) => "mutual-information",
        }
    }
}

impl fmt::Display for Requirement {
    /// The value as it is written after the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::Rho { rho1, rho2 } => write!(f, "{rho1}:{rho2}"),
            Requirement::InformationBounds { event, low, high } => write!(f, "{event}:{low}:{high}"),
            Requirement::LDiversity(l) => write!(f, "{l}"),
            Requirement::Ldp(x)
            | Requirement::Parity(x)
            | Requirement::BetaFactor(x)
            | Requirement::AverageSecurity(x)
            | Requirement::MapPrivacy(x)
            | Requirement::WorstPosterior(x)
            | Requirement::Guessing(x)
            | Requirement::MutualInformation(x) => write!(f, "{x}"),
        }
    }
}

/// Why something is no requirement.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// Not `name=value`.
    #[error("\"{0}\" is no requirement; write a criterion, = and a threshold, such as ldp=1 or rho=0.1:0.5")]
    Form(String),
    /// No such criterion.
    #[error("there is no criterion \"{0}\"; there are: {1}")]
    Name(String, String),
    /// The threshold is out of range.
    #[error("{name}={value}: {right}")]
    Value {
        /// The criterion.
        name: &'static str,
        /// What was given.
        value: String,
        /// What would be right.
        right: &'static str,
    },
    /// Two thresholds on one criterion.
    #[error("{0} is required twice; give one threshold for each criterion")]
    Twice(&'static str),
    /// More categories than any attribute has.
    #[error(
        "l-diversity={l}: \"{attribute}\" has only {categories} categories; l is from 2 to the number of categories"
    )]
    TooDiverse {
        /// What was required.
        l: usize,
        /// The attribute with the fewest categories.
        attribute: String,
        /// How many it has.
        categories: usize,
    },
    /// A prior for an attribute that is not randomized, or not there.
    #[error("there is no randomized attribute \"{0}\" to have a prior")]
    NoAttribute(String),
    /// Not a distribution over the attribute's categories.
    #[error("the prior of \"{attribute}\": {problem}")]
    Prior {
        /// Which attribute.
        attribute: String,
        /// What is wrong.
        problem: String,
    },
}

/// How thresholds of several numbers are written.
const RHO_FORM: &str = "write rho1:rho2, two probabilities above 0 and below 1, rho1 below rho2, such as 0.1:0.5";
const BOUNDS_FORM: &str = "write event:low:high, the probability before and its bounds after, with 0 <= low <= event <= high \
                           <= 1, such as 0.1:0.02:0.4";

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Requirement, RequirementError> {
        let form = || RequirementError::Form(text.to_owned());
        let (name, value) = text.split_once('=').ok_or_else(form)?;
        let (name, value) = (name.trim(), value.trim());
        let numbers: Vec<f64> =
            value.split(':').map(|part| part.trim().parse::<f64>().map_err(|_| form())).collect::<Result<_, _>>()?;
        let criterion = super::CRITERIA.iter().find(|criterion| criterion.name == name).ok_or_else(|| {
            let names: Vec<&str> = super::CRITERIA.iter().map(|criterion| criterion.name).collect();
            RequirementError::Name(name.to_owned(), names.join(", "))
        })?;
        Requirement::of(criterion.name, &numbers).map_err(|right| RequirementError::Value {
            name: criterion.name,
            value: value.to_owned(),
            right,
        })
    }
}

impl Requirement {
    /// What these numbers require of a criterion; else what would be right.
    fn of(criterion: &str, numbers: &[f64]) -> Result<Requirement, &'static str> {
        let one = |fits: fn(f64) -> bool, right| match numbers {
            &[x] if fits(x) => Ok(x),
            _ => Err(right),
        };
        let amount = |right| one(|x| x.is_finite() && x >= 0.0, right);
        let factor = |right| one(|x| x.is_finite() && x >= 1.0, right);
        let probability = |right| one(|p| (0.0..=1.0).contains(&p), right);
        Ok(match criterion {
            "ldp" => Requirement::Ldp(amount("an epsilon is a finite number, 0 or more")?),
            "parity" => Requirement::Parity(factor(
                "a parity is a ratio of a larger likelihood to a smaller one, so 1 or more",
            )?),
            "beta-factor" => {
                Requirement::BetaFactor(factor("a beta is a factor by which probabilities may grow, so 1 or more")?)
            }
            "rho" => match *numbers {
                [rho1, rho2] if 0.0 < rho1 && rho1 < rho2 && rho2 < 1.0 => Requirement::Rho { rho1, rho2 },
                _ => return Err(RHO_FORM),
            },
            "information-bounds" => match *numbers {
                [event, low, high] if 0.0 <= low && low <= event && event <= high && high <= 1.0 => {
                    Requirement::InformationBounds { event, low, high }
                }
                _ => return Err(BOUNDS_FORM),
            },
            "average-security" => Requirement::AverageSecurity(one(
                |phi| 1.0 < phi && phi < 2.0,
                "phi is above 1 and below 2: a guess between two cannot get better than twice as often right",
            )?),
            "map-privacy" => Requirement::MapPrivacy(probability("MAP privacy is a probability, from 0 to 1")?),
            "worst-posterior" => Requirement::WorstPosterior(one(
                |p| 0.0 < p && p < 1.0,
                "a bound on posteriors is a probability above 0 and below 1",
            )?),
            "l-diversity" => Requirement::LDiversity(one(
                |l| l >= 2.0 && l.fract() == 0.0 && l <= 65_535.0,
                "l is a whole number of categories, 2 or more",
            )? as usize),
            "guessing" => Requirement::Guessing(probability("a probability of guessing right is from 0 to 1")?),
            _ => Requirement::MutualInformation(amount("information is a number of bits, 0 or more")?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_takes_a_threshold_and_shows_it() {
        for text in [
            "ldp=1",
            "parity=14.19",
            "beta-factor=3",
            "rho=0.1:0.5",
            "information-bounds=0.1:0.02:0.4",
            "average-security=1.5",
            "map-privacy=0.3",
            "worst-posterior=0.75",
            "l-diversity=5",
            "guessing=0.2",
            "mutual-information=0.5",
        ] {
            let requirement: Requirement = text.parse().unwrap();
            assert_eq!(format!("{}={requirement}", requirement.name()), text);
        }
    }

    #[test]
    fn wrong_thresholds_are_explained() {
        for (text, part) in [
            ("ldp", "no requirement"),
            ("ldp=", "no requirement"),
            ("ldp=x", "no requirement"),
            ("ldp=-1", "0 or more"),
            ("ldp=NaN", "0 or more"),
            ("ldp=1:2", "0 or more"),
            ("secrecy=1", "there is no criterion \"secrecy\"; there are: ldp, parity"),
            ("parity=0.5", "so 1 or more"),
            ("beta-factor=0", "so 1 or more"),
            ("rho=0.5:0.1", "rho1 below rho2"),
            ("rho=0.5:0.5", "rho1 below rho2"),
            ("rho=0.5", "rho1 below rho2"),
            ("rho=0:1", "above 0 and below 1"),
            ("information-bounds=0.1:0.2:0.4", "low <= event"),
            ("average-security=1", "above 1 and below 2"),
            ("average-security=2", "above 1 and below 2"),
            ("map-privacy=1.5", "from 0 to 1"),
            ("worst-posterior=1", "below 1"),
            ("l-diversity=1", "2 or more"),
            ("l-diversity=2.5", "2 or more"),
            ("guessing=-0.1", "from 0 to 1"),
            ("mutual-information=inf", "0 or more"),
        ] {
            let error = text.parse::<Requirement>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
